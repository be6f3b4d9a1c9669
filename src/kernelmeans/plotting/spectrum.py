"""The graph of a fit with the heat kernel: eigenvalues, and how many groups heat has not mixed."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from kernelmeans._fitted import parts
from kernelmeans.heat.basis import states
from kernelmeans.plotting.style import BLUE, DASHED, GREY, RED, REMARK, finish, slide

# Eigenvalues that are drawn for each cluster, and at least.
_PER_CLUSTER, _MIN_EIGENVALUES = 3, 12
# The times that are drawn, relative to the one in use: the shortest, the longest, their number.
_SHORTER, _LONGER = 10, 100
_TIMES = 200


def plot_spectrum(estimator: Any) -> Figure:
    """Draw the leading eigenvalues of a fit's graph, and the number of states over the time.

    See `draw_spectrum`.

    Parameters
    ----------
    estimator : KernelPowerKMeans, KernelKMeans, Pipeline or ClusterSearch
        Fitted with the heat kernel.

    Returns
    -------
    matplotlib.figure.Figure
        Not tied to pyplot: call its ``savefig``, or display it in a notebook.

    Raises
    ------
    NotFittedError
        If the estimator has not been fitted.
    TypeError
        If it is no clusterer that can label rows.
    ValueError
        If it has no graph, or several kernels.

    Examples
    --------
    >>> from kernelmeans import KernelPowerKMeans
    >>> from kernelmeans.plotting import plot_spectrum
    >>> from sklearn.datasets import load_iris
    >>> figure = plot_spectrum(KernelPowerKMeans(3, random_state=0).fit(load_iris().data))
    >>> [ax.get_ylabel() for ax in figure.axes]
    ['eigenvalue', 'states apart']
    """
    figure = slide()
    draw_spectrum(figure.subplots(1, 2), estimator)
    return figure


def draw_spectrum(axes: Sequence[Axes], estimator: Any) -> None:
    """Draw the leading eigenvalues of a fit's graph, and the number of states over the time.

    A state is a part of the graph that heat has not yet mixed with the others. If their number is
    the same over a long time, the data have so many clusters. A dashed line marks the time in use.

    Parameters
    ----------
    axes : sequence of two matplotlib.axes.Axes
        Where to draw, the eigenvalues first.
    estimator : KernelPowerKMeans, KernelKMeans, Pipeline or ClusterSearch
        Fitted with the heat kernel. What cannot be drawn raises as in `plot_spectrum`.
    """
    model = parts(estimator)[1]
    if hasattr(model, "kernels_"):
        raise ValueError(
            f"estimator={type(model).__name__} has several kernels, and the picture is of one; "
            "see kernels_[i].eigenvalues of its heat kernels, or fit KernelPowerKMeans."
        )
    if getattr(model, "eigenvalues_", None) is None:
        raise ValueError(
            f"estimator={type(model).__name__} has no graph; fit one with kernel='heat' or 'graph'."
        )
    above, below = axes
    values, t, k = np.asarray(model.eigenvalues_), float(model.t_), model._n_centroids
    _draw_eigenvalues(above, values[: max(_MIN_EIGENVALUES, _PER_CLUSTER * k)], k)
    _draw_states(below, values, t, k)
    for ax in axes:
        finish(ax)


def _draw_eigenvalues(ax: Axes, values: Any, k: int) -> None:
    places = np.arange(1, len(values) + 1)
    colors = np.where(places <= k, BLUE, GREY)
    ax.scatter(places, values, s=14, c=colors, zorder=3)
    ax.set_title("Eigenvalues")
    ax.set_xlabel(f"number (blue: first {k})")
    ax.set_ylabel("eigenvalue")
    ax.ticklabel_format(axis="y", useOffset=False)  # of clusters far apart they are all near 1
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def _draw_states(ax: Axes, values: Any, t: float, k: int) -> None:
    ax.set_title("Unmixed groups")
    ax.set_xlabel("time")
    ax.set_ylabel("states apart")
    if t > 0:
        times = t * np.geomspace(1 / _SHORTER, _LONGER, _TIMES)
        ax.plot(times, [states(values, time) for time in times], color=BLUE, linewidth=1.2)
        ax.set_xscale("log")
        ax.axvline(t, **DASHED)
        text, coords = f"t = {float(f'{t:.3g}'):g}", ("data", "axes fraction")
        ax.annotate(text, (t, 1.0), (4, -4), coords, color=RED, va="top", **REMARK)
    ax.axhline(k, color="0.5", linewidth=0.8, zorder=1)
    ax.set_ylim(0, 2.5 * k)
