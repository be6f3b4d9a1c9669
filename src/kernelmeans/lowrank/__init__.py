"""Low rank: landmarks and features whose inner products approximate a kernel."""

from kernelmeans.lowrank.approximate import (
    METHODS,
    approximate,
    auto_components,
    check_method,
)
from kernelmeans.lowrank.maps import Explicit, FeatureMap, Fourier, Nystroem
from kernelmeans.lowrank.sampling import (
    chosen_rows,
    row_width,
    subsample,
    subsample_rows,
    subsample_size,
)

__all__ = [
    "METHODS",
    "Explicit",
    "FeatureMap",
    "Fourier",
    "Nystroem",
    "approximate",
    "auto_components",
    "check_method",
    "chosen_rows",
    "row_width",
    "subsample_rows",
    "subsample_size",
    "subsample",
]
