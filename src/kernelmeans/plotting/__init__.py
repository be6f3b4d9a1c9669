"""Pictures of a fit, as matplotlib figures that need no display."""

from kernelmeans.plotting.figure import plot_fit
from kernelmeans.plotting.scatter import draw_clusters
from kernelmeans.plotting.spectrum import draw_spectrum
from kernelmeans.plotting.trace import draw_trace
from kernelmeans.plotting.weights import draw_kernel_weights

__all__ = ["plot_fit", "draw_clusters", "draw_trace", "draw_spectrum", "draw_kernel_weights"]
