"""The annealing trace: objective and power at each step."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

_BLUE = "#0072B2"
_RED = "#D55E00"


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

    above.plot(steps, objective, color=_BLUE, marker=".", markersize=4, linewidth=1.2)
    above.set_title("Annealing trace")
    above.set_ylabel("objective")
    below.set_ylabel("|power|")
    below.set_xlabel("step")
    if soft.any():
        _draw_power(below, steps[soft], -powers[soft], getattr(estimator, "critical_power_", None))
    else:
        below.set_yticks([])
    if not soft.all():
        _shade_hard_steps(axes, steps[~soft], at_left=not soft.any())
    for ax in axes:
        ax.set_xlim(0.5, len(steps) + 0.5)
        ax.grid(alpha=0.25, linewidth=0.6)
        ax.tick_params(labelsize=8)
    below.xaxis.set_major_locator(MaxNLocator(integer=True))


def _draw_power(ax: Axes, steps: Any, sizes: Any, critical: float | None) -> None:
    ax.plot(steps, sizes, color=_BLUE, marker=".", markersize=4, linewidth=1.2)
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(NullFormatter())
    low, high = sizes.min(), sizes.max()
    if critical is not None and np.isfinite(critical) and critical < 0:
        low, high = min(low, -critical), max(high, -critical)
        ax.axhline(-critical, color=_RED, linestyle="--", linewidth=1.1)
        ax.annotate(
            f"critical power {critical:.3g}",
            (1.0, -critical),
            xycoords=("axes fraction", "data"),
            xytext=(-4, 4),
            textcoords="offset points",
            ha="right",
            fontsize=8,
            color=_RED,
        )
    ax.set_ylim(low / 1.2, high * 1.25)


def _shade_hard_steps(axes: Sequence[Axes], steps: Any, *, at_left: bool) -> None:
    for ax in axes:
        ax.axvspan(steps[0] - 0.5, steps[-1] + 0.5, color="0.88", linewidth=0, zorder=0)
    axes[0].annotate(
        f"{len(steps)} hard step{'s' * (len(steps) > 1)}",
        (steps[0] - 0.5, 0.93),
        xycoords=("data", "axes fraction"),
        xytext=(4 if at_left else -4, 0),
        textcoords="offset points",
        ha="left" if at_left else "right",
        va="top",
        fontsize=8,
        color="0.3",
    )
