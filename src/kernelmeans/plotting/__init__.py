"""Pictures of a fit or a search, as matplotlib figures that need no display."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernelmeans.plotting.bifurcation import plot_bifurcation
    from kernelmeans.plotting.flow import draw_flow
    from kernelmeans.plotting.palette import cluster_colors
    from kernelmeans.plotting.scatter import draw_clusters, plot_fit
    from kernelmeans.plotting.search import draw_scores, draw_stability, plot_search
    from kernelmeans.plotting.spectrum import draw_spectrum, plot_spectrum
    from kernelmeans.plotting.trace import draw_trace, plot_trace
    from kernelmeans.plotting.tree import draw_tree, plot_tree
    from kernelmeans.plotting.weights import draw_kernel_weights, plot_kernel_weights

__all__ = [
    "plot_fit",
    "plot_tree",
    "plot_trace",
    "plot_spectrum",
    "plot_kernel_weights",
    "plot_search",
    "plot_bifurcation",
    "draw_clusters",
    "draw_tree",
    "draw_trace",
    "draw_spectrum",
    "draw_kernel_weights",
    "draw_scores",
    "draw_flow",
    "draw_stability",
    "cluster_colors",
]
_MODULES = (
    *("palette", "scatter", "tree", "trace", "spectrum"),
    *("weights", "search", "flow", "bifurcation"),
)


def __getattr__(name: str) -> Any:
    # The report uses the places and colours of this package where matplotlib is not installed.
    if name in __all__:
        modules = (import_module(f"{__name__}.{module}") for module in _MODULES)
        globals()[name] = found = next(vars(one)[name] for one in modules if name in vars(one))
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
