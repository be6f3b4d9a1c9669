"""Engines: run one function over blocks of samples and hand back the results in order."""

from kernelmeans.engines.cluster import tree_sum
from kernelmeans.engines.threads import Threads

__all__ = ["Threads", "tree_sum"]
