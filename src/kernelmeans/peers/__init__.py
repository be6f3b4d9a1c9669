"""Methods that kernel power k-means is compared with, as other rules for the same driver."""

from kernelmeans.peers.mkkm import MKKM
from kernelmeans.peers.rkkm import RKKM
from kernelmeans.peers.rmkkm import RMKKM

__all__ = ["MKKM", "RKKM", "RMKKM"]
