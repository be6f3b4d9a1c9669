"""The picture of a fit: the clusters, and how the annealing found them."""

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from kernelmeans.plotting.scatter import draw_clusters
from kernelmeans.plotting.spectrum import draw_spectrum
from kernelmeans.plotting.trace import draw_trace
from kernelmeans.plotting.weights import draw_kernel_weights


def plot_fit(
    estimator: Any,
    X: Any,
    *,
    max_points: int = 2000,
    random_state: int = 0,
    kernel_names: Sequence[str] | None = None,
) -> Figure:
    """Draw the clusters in kernel PCA coordinates and the annealing trace.

    A third panel has the spectrum of the graph of a heat kernel, or the weights of several kernels.

    Parameters
    ----------
    estimator : KernelPowerKMeans, KernelKMeans or MultiKernelPowerKMeans
        A fitted estimator.
    X : array or sparse matrix
        The data it was fitted to; the kernel matrix, or the stack of them, if precomputed.
    max_points : int
        Most rows that are drawn; of more, a random subsample is.
    random_state : int
        Seed of the subsample.
    kernel_names : sequence of str, default=None
        Names of the kernels of an estimator of several; when None their index and kernel.

    Returns
    -------
    matplotlib.figure.Figure
        Not tied to pyplot: call its ``savefig``, or display it in a notebook.

    Examples
    --------
    >>> from kernelmeans import KernelPowerKMeans
    >>> from kernelmeans.plotting import plot_fit
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> figure = plot_fit(KernelPowerKMeans(3, random_state=0).fit(X), X)
    >>> len(figure.get_axes())
    5
    """
    weighs_kernels = hasattr(estimator, "kernel_weights_")
    has_graph = getattr(estimator, "eigenvalues_", None) is not None
    widths = [6.5, 4.5, 4.0] if weighs_kernels or has_graph else [6.5, 4.5]
    figure = Figure(figsize=(sum(widths), 5.2), dpi=150, layout="constrained")
    panels: Any = figure.subfigures(1, len(widths), width_ratios=widths)
    scatter, trace, *others = panels
    draw_clusters(
        scatter.subplots(), estimator, X, max_points=max_points, random_state=random_state
    )
    traces = trace.subplots(2, 1, sharex=True)
    draw_trace(traces, estimator)
    trace.align_ylabels(traces)
    for other in others:
        if has_graph:
            draw_spectrum(other.subplots(2, 1), estimator)
        else:
            draw_kernel_weights(other.subplots(), estimator, kernel_names)
    return figure
