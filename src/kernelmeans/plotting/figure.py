"""The picture of a fit, and its panels: how the annealing went, the spectrum, kernel weights."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter
from sklearn.utils.validation import check_is_fitted

from kernelmeans._text import counted, shortened
from kernelmeans.heat.basis import states
from kernelmeans.plotting.scatter import draw_clusters

_BLUE = "#0072B2"
_RED = "#D55E00"
_GREY, _DARK = "0.75", "0.3"
_DASHED: dict[str, Any] = {"color": _RED, "linestyle": "--", "linewidth": 1.1}
_STEPS: dict[str, Any] = {"color": _BLUE, "marker": ".", "markersize": 4, "linewidth": 1.2}
# Eigenvalues that are drawn for each cluster, and at least.
_PER_CLUSTER, _MIN_EIGENVALUES = 3, 12
# The times that are drawn, relative to the one in use: the shortest, the longest, their number.
_SHORTER, _LONGER = 10, 100
_TIMES = 200
# Most bars with room for their names, bars that fill the axes, and most letters of a name.
_MAX_BARS = 24
_MIN_BARS = 8
_MAX_LETTERS = 20


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
        Most rows that are drawn: a random subsample, if there are more.
    random_state : int
        Seed of the subsample.
    kernel_names : sequence of str, default=None
        Names of the kernels of an estimator of several; when None their index and kernel.

    Returns
    -------
    matplotlib.figure.Figure
        Not tied to pyplot: call its ``savefig``, or display it in a notebook.

    Raises
    ------
    NotFittedError
        If the estimator has not been fitted.

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
    check_is_fitted(estimator)
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


def draw_trace(axes: Sequence[Axes], estimator: Any) -> None:
    """Draw the objective over the steps, and below it the size of the power.

    Hard steps, whose power is minus infinity, are shaded. A dashed line marks the critical power,
    above which (nearer to 0) all centroids would collapse onto the mean.

    Parameters
    ----------
    axes : sequence of two matplotlib.axes.Axes
        Where to draw, the objective first.
    estimator : KernelPowerKMeans or KernelKMeans
        A fitted estimator.
    """
    above, below = axes
    objective = np.asarray(estimator.objective_history_, dtype=float)
    powers = np.asarray(estimator.power_history_, dtype=float)
    steps = np.arange(1, len(objective) + 1)
    soft = np.isfinite(powers)

    above.plot(steps, objective, **_STEPS)
    above.set_title("Annealing trace")
    above.set_ylabel("objective")
    below.set_ylabel("|power|")
    below.set_xlabel("step")
    if soft.any():
        _draw_power(below, steps[soft], -powers[soft], getattr(estimator, "critical_power_", None))
    else:
        below.set_yticks([])
    if not soft.all():
        _shade_hard_steps(axes, steps[~soft])
    for ax in axes:
        ax.set_xlim(0.5, len(steps) + 0.5)
        ax.grid(alpha=0.25, linewidth=0.6)
        ax.tick_params(labelsize=8)
    below.xaxis.set_major_locator(MaxNLocator(integer=True))


def _draw_power(ax: Axes, steps: Any, sizes: Any, critical: float | None) -> None:
    ax.plot(steps, sizes, **_STEPS)
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(NullFormatter())
    low, high = sizes.min(), sizes.max()
    if critical is not None and np.isfinite(critical) and critical < 0:
        low, high = min(low, -critical), max(high, -critical)
        ax.axhline(-critical, **_DASHED)
        place = (1.0, -critical), ("axes fraction", "data"), (-4, 4)
        _write(ax, f"critical power {critical:.3g}", *place, color=_RED, ha="right")
    ax.set_ylim(low / 1.2, high * 1.25)


def _shade_hard_steps(axes: Sequence[Axes], steps: Any) -> None:
    """Shade the last steps; their number stands at the upper right, above a falling objective."""
    for ax in axes:
        ax.axvspan(steps[0] - 0.5, steps[-1] + 0.5, color="0.88", linewidth=0, zorder=0)
    place = (1.0, 0.93), "axes fraction", (-4, 0)
    _write(axes[0], counted(len(steps), "hard step"), *place, color=_DARK, ha="right", va="top")


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
    _draw_eigenvalues(above, values[: max(_MIN_EIGENVALUES, _PER_CLUSTER * k)], k)
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
        ax.axvline(t, **_DASHED)
        place = (t, 1.0), ("data", "axes fraction"), (4, -4)
        _write(ax, f"t = {t:.3g}", *place, color=_RED, va="top")
    ax.axhline(k, color="0.5", linewidth=0.8, zorder=1)
    ax.set_ylim(0, 2.5 * k)


def draw_kernel_weights(ax: Axes, estimator: Any, names: Sequence[str] | None = None) -> None:
    """Draw the weight of each kernel as a bar, in the order of the kernels, the first on top.

    If the weights sum to 1, a dashed line marks equal weights. Of more than 24 kernels, those with
    the largest weights are drawn.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    estimator : MultiKernelPowerKMeans
        A fitted estimator; any with ``kernel_weights_``.
    names : sequence of str, default=None
        Names of the kernels; when None their index and kernel.
    """
    weights = np.asarray(estimator.kernel_weights_, dtype=float)
    n_kernels = len(weights)
    names = _default_names(estimator) if names is None else names
    if len(names) != n_kernels:
        raise ValueError(f"names has {len(names)} items; give one for each of {n_kernels} kernels.")
    shown = np.sort(np.argsort(-weights, kind="stable")[:_MAX_BARS])
    places = np.arange(len(shown))
    ax.barh(places, weights[shown], height=0.7, color=_BLUE)
    labels = [shortened(names[index], _MAX_LETTERS) for index in shown]
    ax.set_yticks(places, labels, fontsize=8, parse_math=False)
    # Free room, so that few bars are no thicker than many.
    spare = max(0, _MIN_BARS - len(shown)) / 2
    ax.set_ylim(len(shown) - 0.4 + spare, -0.6 - spare)
    ax.set_xlim(0, 1.22 * weights.max())
    ax.set_title(
        "Kernel weights"
        if len(shown) == n_kernels
        else f"{_MAX_BARS} of {n_kernels} kernel weights"
    )
    ax.set_xlabel("weight")
    if np.isclose(weights.sum(), 1):
        ax.axvline(1 / n_kernels, **_DASHED)
        ax.set_xlabel(f"weight (dashed: 1/{n_kernels})")
    # At the right edge, which neither bars nor the dashed line reach.
    for place, weight in zip(places, weights[shown], strict=True):
        coords = ("axes fraction", "data")
        text = f"{100 * weight:.1f}"
        _write(ax, text, (1.0, place), coords, (-4, 0), color=_DARK, ha="right", va="center")
    _style(ax)


def _style(ax: Axes) -> None:
    ax.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    ax.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    ax.tick_params(axis="x", labelsize=8)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", alpha=0.25, linewidth=0.6)
    ax.set_axisbelow(True)


def _write(
    ax: Axes, text: str, place: Any, coords: Any, offset: tuple[int, int], **settings: Any
) -> None:
    """Write a remark beside a place; the coordinates of the place are named as in matplotlib."""
    ax.annotate(
        text,
        place,
        xycoords=coords,
        xytext=offset,
        textcoords="offset points",
        fontsize=8,
        **settings,
    )


def _default_names(estimator: Any) -> list[str]:
    """Index and kernel; the model has no kernel that is constant on the data."""
    settled = iter(estimator.kernel_.kernels)
    return [
        f"{index}: {next(settled).name if factor else 'constant'}"
        for index, factor in enumerate(estimator.kernel_factors_)
    ]
