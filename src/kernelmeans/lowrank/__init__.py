"""Low rank: landmarks and features whose inner products come close to a kernel."""

from kernelmeans.lowrank.choose import (
    Approximation,
    approximate,
    check_method,
    draw_rows,
    left_out,
)
from kernelmeans.lowrank.draw import draw_size, drawn
from kernelmeans.lowrank.maps import Explicit, FeatureMap, Fourier, Nystroem, nystroem

__all__ = [
    "Approximation",
    "Explicit",
    "FeatureMap",
    "Fourier",
    "Nystroem",
    "approximate",
    "check_method",
    "draw_rows",
    "draw_size",
    "drawn",
    "left_out",
    "nystroem",
]
