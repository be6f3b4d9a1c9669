"""Low rank: landmarks and features whose inner products approximate a kernel."""

from kernelmeans.lowrank.approximate import (
    METHODS,
    approximate,
    auto_components,
    check_method,
)
from kernelmeans.lowrank.draw import draw_rows, draw_size, drawn
from kernelmeans.lowrank.maps import Explicit, FeatureMap, Fourier, Nystroem

__all__ = [
    "METHODS",
    "Explicit",
    "FeatureMap",
    "Fourier",
    "Nystroem",
    "approximate",
    "auto_components",
    "check_method",
    "draw_rows",
    "draw_size",
    "drawn",
]
