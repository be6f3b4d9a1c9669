"""Methods that kernel power k-means is compared with, as other rules for the same driver."""

from kernelmeans.baselines.mkkm import MKKM
from kernelmeans.baselines.rkkm import RKKM
from kernelmeans.baselines.rmkkm import RMKKM

__all__ = ["MKKM", "RKKM", "RMKKM"]
