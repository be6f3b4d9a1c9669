"""Pictures of a fit, as matplotlib figures that need no display."""

from kernelmeans.plotting.figure import draw_kernel_weights, draw_spectrum, draw_trace, plot_fit
from kernelmeans.plotting.scatter import draw_clusters

__all__ = ["plot_fit", "draw_clusters", "draw_trace", "draw_spectrum", "draw_kernel_weights"]
