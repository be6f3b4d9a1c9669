"""Spaces as tests hold them."""

from kernelmeans.engines import Threads
from kernelmeans.lowrank import Explicit
from kernelmeans.spaces import FeatureSpace


def feature_space(kernel, X, weight):
    """The space of a kernel with explicit features."""
    return FeatureSpace.hold(Explicit(kernel), X, weight, Threads(1))
