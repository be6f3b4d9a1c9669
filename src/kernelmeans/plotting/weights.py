"""The weights of several kernels, as bars."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from kernelmeans._text import shortened

_BLUE = "#0072B2"
_RED = "#D55E00"

# Most bars with room for their names, bars that fill the axes, and most letters of a name.
_MOST = 24
_LEAST = 8
_LETTERS = 20


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
    shown = np.sort(np.argsort(-weights, kind="stable")[:_MOST])
    places = np.arange(len(shown))
    ax.barh(places, weights[shown], height=0.7, color=_BLUE)
    labels = [shortened(names[index], _LETTERS) for index in shown]
    ax.set_yticks(places, labels, fontsize=8, parse_math=False)
    # Free room, so that few bars are no thicker than many.
    spare = max(0, _LEAST - len(shown)) / 2
    ax.set_ylim(len(shown) - 0.4 + spare, -0.6 - spare)
    ax.set_xlim(0, 1.22 * weights.max())
    ax.set_title(
        "Kernel weights" if len(shown) == n_kernels else f"{_MOST} of {n_kernels} kernel weights"
    )
    ax.set_xlabel("weight")
    if np.isclose(weights.sum(), 1):
        ax.axvline(1 / n_kernels, color=_RED, linestyle="--", linewidth=1.1)
        ax.set_xlabel(f"weight (dashed: 1/{n_kernels})")
    _write_percentages(ax, places, weights[shown])
    _style(ax)


def _write_percentages(ax: Axes, places: Any, weights: Any) -> None:
    """Write the weights at the right edge, which neither bars nor the dashed line reach."""
    for place, weight in zip(places, weights, strict=True):
        ax.annotate(
            f"{100 * weight:.1f}",
            (1.0, place),
            xycoords=("axes fraction", "data"),
            xytext=(-4, 0),
            textcoords="offset points",
            ha="right",
            va="center",
            fontsize=8,
            color="0.3",
        )


def _style(ax: Axes) -> None:
    ax.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    ax.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    ax.tick_params(axis="x", labelsize=8)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", alpha=0.25, linewidth=0.6)
    ax.set_axisbelow(True)


def _default_names(estimator: Any) -> list[str]:
    """Index and kernel; the model has no kernel that is constant on the data."""
    settled = iter(estimator.kernel_.kernels)
    return [
        f"{index}: {next(settled).name if factor else 'constant'}"
        for index, factor in enumerate(estimator.kernel_factors_)
    ]
