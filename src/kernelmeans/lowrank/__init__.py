"""Low rank: landmarks and features whose inner products approximate a kernel."""

from kernelmeans.lowrank.approximate import METHODS, approximate, auto_components, check_method
from kernelmeans.lowrank.maps import Explicit, FeatureMap, Fourier, Nystroem
from kernelmeans.lowrank.sampling import subsample

__all__ = [
    "METHODS",
    "Explicit",
    "FeatureMap",
    "Fourier",
    "Nystroem",
    "approximate",
    "auto_components",
    "check_method",
    "subsample",
]
