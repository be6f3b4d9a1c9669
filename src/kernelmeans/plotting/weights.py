"""The weights of several kernels."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from kernelmeans._fitted import parts
from kernelmeans._given import checked_names
from kernelmeans._text import shortened
from kernelmeans.plotting.style import BLUE, DARK, DASHED, REMARK, slide

# Most bars with room for their names, bars that fill the axes, and most letters of a name.
_MAX_BARS = 24
_MIN_BARS = 8
_MAX_LETTERS = 20


def plot_kernel_weights(estimator: Any, names: Sequence[str] | None = None) -> Figure:
    """Draw the weight of each kernel as a bar.

    See `draw_kernel_weights`.

    Parameters
    ----------
    estimator : MultiKernelPowerKMeans, Pipeline or ClusterSearch
        Fitted with several kernels.
    names : sequence of str, default=None
        Names of the kernels; when None those of the model.

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
        If it has one kernel, or there is not a name for each.

    Examples
    --------
    >>> from kernelmeans import MultiKernelPowerKMeans
    >>> from kernelmeans.plotting import plot_kernel_weights
    >>> from sklearn.datasets import load_iris
    >>> model = MultiKernelPowerKMeans(3, kernels=["rbf", "linear"], random_state=0)
    >>> figure = plot_kernel_weights(model.fit(load_iris().data))
    >>> figure.axes[0].get_title()
    'Kernel weights'
    """
    figure = slide()
    draw_kernel_weights(figure.subplots(), estimator, names)
    return figure


def draw_kernel_weights(ax: Axes, estimator: Any, names: Sequence[str] | None = None) -> None:
    """Draw the weight of each kernel as a bar, in the order of the kernels, the first on top.

    If the weights sum to 1, a dashed line marks equal weights. Of more than 24 kernels, those with
    the largest weights are drawn.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    estimator : MultiKernelPowerKMeans, Pipeline or ClusterSearch
        Fitted with several kernels. What cannot be drawn raises as in `plot_kernel_weights`.
    names : sequence of str, default=None
        Names of the kernels; when None those of the model.
    """
    model = parts(estimator)[1]
    if not hasattr(model, "kernel_weights_"):
        raise ValueError(
            f"estimator={type(model).__name__} has one kernel; kernel weights are those of "
            "MultiKernelPowerKMeans and others with several kernels."
        )
    weights = np.asarray(model.kernel_weights_, dtype=float)
    n_kernels = len(weights)
    names = checked_names(names, _default_names(model), "kernel")
    shown = np.sort(np.argsort(-weights, kind="stable")[:_MAX_BARS])
    places = np.arange(len(shown))
    ax.barh(places, weights[shown], height=0.7, color=BLUE)
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
        ax.axvline(1 / n_kernels, **DASHED)
        ax.set_xlabel(f"weight (dashed: 1/{n_kernels})")
    # At the right edge, which neither bars nor the dashed line reach.
    for place, weight in zip(places, weights[shown], strict=True):
        text, coords = f"{100 * weight:.1f}", ("axes fraction", "data")
        where = (1.0, place), (-4, 0), coords
        ax.annotate(text, *where, color=DARK, ha="right", va="center", **REMARK)
    ax.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    ax.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    ax.tick_params(axis="x", labelsize=8)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", alpha=0.25, linewidth=0.6)
    ax.set_axisbelow(True)


def _default_names(model: Any) -> list[str]:
    pairs = zip(model.kernel_names_, model.kernel_factors_, strict=True)
    return [name if factor else f"{name} (constant)" for name, factor in pairs]
