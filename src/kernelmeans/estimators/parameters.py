"""What the parameters of the estimators may be."""

from numbers import Integral, Real
from typing import Any

from kernelmeans._sklearn import Interval, StrOptions
from kernelmeans.kernels import PARAMETERS
from kernelmeans.lowrank import METHODS

#: Names that stand for several kernels at once.
FAMILIES = ("widths", "du2015", "neighbors")
COMMON: dict[str, Any] = {
    "n_clusters": [Interval(Integral, 1, None, closed="left")],
    "init": [StrOptions({"k-means++", "random"}), callable, "array-like"],
    "n_init": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
    "n_swaps": [StrOptions({"auto"}), Interval(Integral, 0, None, closed="left")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "memory_budget": [Interval(Real, 0, None, closed="neither"), str, None],
    "random_state": ["random_state"],
}
DEVICE: dict[str, Any] = {"device": [str, None]}
#: Of estimators that have neither annealing nor swap moves, and end on ``tol``.
ALTERNATING: dict[str, Any] = {
    **{name: allowed for name, allowed in COMMON.items() if name != "n_swaps"},
    "tol": [Interval(Real, 0, None, closed="left")],
}
APPROXIMATION: dict[str, Any] = {
    "approximation": [StrOptions({"auto", *METHODS}), None],
    "n_components": [
        StrOptions({"auto"}),
        Interval(Integral, 1, None, closed="left"),
        Interval(Real, 0, 1, closed="neither"),
    ],
}
KERNEL: dict[str, Any] = {
    "kernel": [StrOptions(set(PARAMETERS)), callable],
    "gamma": [
        StrOptions({"rms", "median", "scale"}),
        Interval(Real, 0, None, closed="neither"),
    ],
    "degree": [Interval(Real, 0, None, closed="left")],
    "coef0": [Interval(Real, None, None, closed="neither")],
    "kernel_params": [dict, None],
    "n_neighbors": [StrOptions({"auto"}), Interval(Integral, 2, None, closed="left")],
    "t": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
    "metric": [StrOptions({"euclidean", "cosine", "precomputed"})],
    "cache_kernel": ["boolean"],
    **APPROXIMATION,
}
ANNEALING: dict[str, Any] = {
    "s0": [StrOptions({"auto"}), Interval(Real, None, 0, closed="neither")],
    "eta": [StrOptions({"auto"}), Interval(Real, 1, None, closed="left")],
    "anneal_every": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left")],
}
#: Of several kernels.
KERNELS: dict[str, Any] = {
    "kernels": [StrOptions({*FAMILIES, "precomputed"}), list, tuple],
    "kernel_scaling": [StrOptions({"unit-variance", "cosine", "min-max"}), None],
    "cache_kernel": ["boolean"],
}
