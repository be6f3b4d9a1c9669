"""Engines: call one function for blocks of samples, and return the results in their order."""

from kernelmeans.engines.sums import tree_sum
from kernelmeans.engines.threads import Threads

__all__ = ["Threads", "tree_sum"]
