"""The graph of a heat kernel: its eigenvalues, and its states over the time."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from kernelmeans.heat.basis import states

_BLUE = "#0072B2"
_RED = "#D55E00"
_GREY = "0.75"

# Eigenvalues that are drawn for each cluster, and the fewest.
_PER_CLUSTER, _LEAST = 3, 12
# The times that are drawn, relative to the one in use: the shortest, the longest, their number.
_SHORTER, _LONGER = 10, 100
_TIMES = 200


def draw_spectrum(axes: Sequence[Axes], estimator: Any) -> None:
    """Draw the leading eigenvalues of a fit's graph, and the number of states over the time.

    A state is a part of the graph that heat has not yet mixed with the others. If their number is
    the same over a long time, the data have so many clusters. A dashed line marks the time in use.

    Parameters
    ----------
    axes : sequence of two matplotlib.axes.Axes
        Where to draw, the eigenvalues first.
    estimator : KernelPowerKMeans or KernelKMeans
        An estimator fitted with ``kernel="heat"``; any with ``eigenvalues_`` and ``t_``.
    """
    above, below = axes
    values, t, k = np.asarray(estimator.eigenvalues_), float(estimator.t_), estimator.n_clusters
    _draw_eigenvalues(above, values[: max(_LEAST, _PER_CLUSTER * k)], k)
    _draw_states(below, values, t, k)
    for ax in axes:
        ax.grid(alpha=0.25, linewidth=0.6)
        ax.tick_params(labelsize=8)


def _draw_eigenvalues(ax: Axes, values: Any, k: int) -> None:
    places = np.arange(1, len(values) + 1)
    colors = np.where(places <= k, _BLUE, _GREY)
    ax.scatter(places, values, s=14, c=colors, zorder=3)
    ax.set_title("Graph")
    ax.set_xlabel(f"number (blue: the first {k})")
    ax.set_ylabel("eigenvalue")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def _draw_states(ax: Axes, values: Any, t: float, k: int) -> None:
    ax.set_xlabel("time")
    ax.set_ylabel("states apart")
    if t > 0:
        times = t * np.geomspace(1 / _SHORTER, _LONGER, _TIMES)
        ax.plot(times, [states(values, time) for time in times], color=_BLUE, linewidth=1.2)
        ax.set_xscale("log")
        ax.axvline(t, color=_RED, linestyle="--", linewidth=1.1)
        ax.annotate(
            f"t = {t:.3g}",
            (t, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(4, -4),
            textcoords="offset points",
            va="top",
            fontsize=8,
            color=_RED,
        )
    ax.axhline(k, color="0.5", linewidth=0.8, zorder=1)
    ax.set_ylim(0, 2.5 * k)
