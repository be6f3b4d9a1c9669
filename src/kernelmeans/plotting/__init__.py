"""Pictures of a fit or a search, as matplotlib figures that need no display."""

from kernelmeans.plotting.bifurcation import plot_bifurcation
from kernelmeans.plotting.figure import draw_kernel_weights, draw_spectrum, draw_trace, plot_fit
from kernelmeans.plotting.flow import draw_flow
from kernelmeans.plotting.scatter import draw_clusters
from kernelmeans.plotting.search import draw_scores, draw_stability, plot_search

__all__ = [
    "plot_fit",
    "plot_search",
    "plot_bifurcation",
    "draw_clusters",
    "draw_trace",
    "draw_spectrum",
    "draw_kernel_weights",
    "draw_scores",
    "draw_flow",
    "draw_stability",
]
