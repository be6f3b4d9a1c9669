"""How the annealing went."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from kernelmeans._fitted import exact, parts
from kernelmeans._text import counted
from kernelmeans._typing import Array
from kernelmeans.plotting.style import BLUE, DASHED, RED, REMARK, finish, slide

# Smaller critical powers are about 0: clear clusters, and rounding.
_LEAST = 1e-3


def plot_trace(estimator: Any) -> Figure:
    """Draw the objective and the power over the steps of all restarts.

    See `draw_trace`.

    Parameters
    ----------
    estimator : KernelPowerKMeans, another estimator of the package, Pipeline or ClusterSearch
        Fitted.

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
        If it keeps no history of its steps, as those of scikit-learn.

    Examples
    --------
    >>> from kernelmeans import KernelPowerKMeans
    >>> from kernelmeans.plotting import plot_trace
    >>> from sklearn.datasets import load_iris
    >>> figure = plot_trace(KernelPowerKMeans(3, random_state=0).fit(load_iris().data))
    >>> [ax.get_ylabel() for ax in figure.axes]
    ['objective', '|power|']
    """
    figure = slide()
    axes = figure.subplots(2, 1, sharex=True)
    draw_trace(axes, estimator)
    figure.align_ylabels(axes)
    return figure


def draw_trace(axes: Sequence[Axes], estimator: Any) -> None:
    """Draw the objective over the steps, and below it the size of the power.

    The best restart is drawn in blue, others in grey. Its hard steps, whose power is minus
    infinity, are shaded. A dashed line marks the critical power, above which (nearer to 0) all
    centroids would collapse onto the mean. An objective that is no more than rounding is 0.

    Parameters
    ----------
    axes : sequence of two matplotlib.axes.Axes
        Where to draw, the objective first.
    estimator : KernelPowerKMeans, another estimator of the package, Pipeline or ClusterSearch
        Fitted. What cannot be drawn raises as in `plot_trace`.
    """
    model = parts(estimator)[1]
    if not hasattr(model, "objective_history_"):
        raise ValueError(
            f"estimator={type(model).__name__} keeps no history of its steps; give an estimator of "
            "kernelmeans, or draw its clusters with plot_fit."
        )
    result = model.result_
    objectives = [exact(model, objective) for objective in result.objective_history]
    histories = list(zip(objectives, result.power_history, strict=True))
    best = histories.pop(result.best)
    for objective, power in histories:
        _draw_steps(axes, objective, power, color="0.6", linewidth=0.8)
    _draw_steps(axes, *best, color=BLUE, marker=".", markersize=4, linewidth=1.2, zorder=3)
    hard = np.flatnonzero(np.isinf(best[1])) + 1
    restarts = f", the best of {1 + len(histories)} restarts" * bool(histories)
    shaded = f" (shaded: {counted(len(hard), 'hard step')})" * bool(len(hard))
    axes[0].set(title=f"Trace of the fit{restarts}{shaded}", ylabel="objective")
    axes[1].set(ylabel="|power|", xlabel="step")
    powers = np.concatenate([power[np.isfinite(power)] for _, power in [*histories, best]])
    if len(powers):
        _scale_powers(axes[1], -powers, getattr(model, "critical_power_", -np.inf))
    else:
        axes[1].set_yticks([])
        middle = (0.5, 0.5), (0, 0), "axes fraction"
        axes[1].annotate("all steps are hard", *middle, ha="center", **REMARK)
    if not np.ptp(axes[0].dataLim.intervaly):
        axes[0].set_yticks(axes[0].dataLim.intervaly[:1])
    for ax in axes:
        ax.set_xlim(0.5, max(len(power) for _, power in [*histories, best]) + 0.5)
        if len(hard):
            ax.axvspan(hard[0] - 0.5, hard[-1] + 0.5, color="0.9", linewidth=0, zorder=0)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        finish(ax)


def _draw_steps(axes: Sequence[Axes], objective: Array, power: Array, **style: Any) -> None:
    """Draw one restart: the objective of all steps, the power of soft ones."""
    steps, soft = np.arange(1, len(power) + 1), np.isfinite(power)
    axes[0].plot(steps, objective, **style)
    axes[1].plot(steps[soft], -power[soft], **style)


def _scale_powers(ax: Axes, sizes: Array, critical: float) -> None:
    """Make the axis of powers logarithmic, and mark the critical power unless it is about 0."""
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(NullFormatter())
    low, high = sizes.min(), sizes.max()
    if _LEAST < -critical < np.inf:
        low, high = min(low, -critical), max(high, -critical)
        ax.axhline(-critical, **DASHED)
        text, coords = f"critical power {critical:.3g}", ("axes fraction", "data")
        ax.annotate(text, (1.0, -critical), (-4, 4), coords, color=RED, ha="right", **REMARK)
    ax.set_ylim(low / 1.2, high * 1.25)
