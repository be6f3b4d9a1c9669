"""The one picture of a fit: where the clusters lie, and how the annealing found them."""

from typing import Any

from matplotlib.figure import Figure

from kernelmeans.plotting.scatter import draw_clusters
from kernelmeans.plotting.trace import draw_trace


def plot_fit(estimator: Any, X: Any, *, max_points: int = 2000, random_state: int = 0) -> Figure:
    """Draw the clusters in kernel PCA coordinates beside the annealing trace.

    Parameters
    ----------
    estimator : KernelPowerKMeans or KernelKMeans
        A fitted estimator.
    X : array-like or sparse matrix
        The data it was fitted to; the kernel matrix if the kernel is precomputed.
    max_points : int
        At most so many rows are drawn, a random sample of the data.
    random_state : int
        Seed of that sample.

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
    3
    """
    figure = Figure(figsize=(11.0, 5.2), dpi=150, layout="constrained")
    panels: Any = figure.subfigures(1, 2, width_ratios=[1.45, 1.0])
    left, right = panels
    draw_clusters(left.subplots(), estimator, X, max_points=max_points, random_state=random_state)
    traces = right.subplots(2, 1, sharex=True)
    draw_trace(traces, estimator)
    right.align_ylabels(traces)
    return figure
