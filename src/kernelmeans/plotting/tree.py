"""The tree of the clusters of a fit."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernelmeans._fitted import parts
from kernelmeans._given import checked_names
from kernelmeans._numbers import number
from kernelmeans._text import shortened
from kernelmeans.estimators.tree import LEAF
from kernelmeans.plotting.palette import look
from kernelmeans.plotting.style import DARK, slide

# Most letters of a name, points of letters for few clusters, and points that all have together.
_LONGEST, _LETTERS, _POINTS = 30, 9.0, 260.0


def plot_tree(estimator: Any, names: Sequence[str] | None = None) -> Figure:
    """Draw the tree of the clusters of a fit.

    See `draw_tree`.

    Parameters
    ----------
    estimator : KernelPowerKMeans, MultiKernelPowerKMeans, Pipeline or ClusterSearch
        Fitted.
    names : sequence of str, default=None
        Names of the clusters; their numbers when None.

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
        If it has no tree, or there is not a name for each cluster.

    Examples
    --------
    >>> from kernelmeans import KernelPowerKMeans
    >>> from kernelmeans.plotting import plot_tree
    >>> from sklearn.datasets import load_iris
    >>> figure = plot_tree(KernelPowerKMeans(3, random_state=0).fit(load_iris().data))
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['0 (64)', '2 (36)', '1 (50)']
    """
    figure = slide()
    draw_tree(figure.subplots(), estimator, names)
    return figure


def draw_tree(ax: Axes, estimator: Any, names: Sequence[str] | None = None) -> None:
    """Draw the tree of the clusters of a fit, in which clusters that are alike are neighbours.

    Behind the name of each cluster is its number of rows, or the sum of their sample weights.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    estimator : KernelPowerKMeans, MultiKernelPowerKMeans, Pipeline or ClusterSearch
        Fitted. What cannot be drawn raises as in `plot_tree`.
    names : sequence of str, default=None
        Names of the clusters; their numbers when None.
    """
    model = parts(estimator)[1]
    if (tree := getattr(model, "tree_", None)) is None:
        raise ValueError(
            f"estimator={type(model).__name__} has no tree of its clusters: only estimators of "
            "this package have one, and models of older files do not."
        )
    weight, leaves = tree.cluster_weight_.tolist(), tree.leaves
    called = checked_names(names, range(len(weight)), "cluster")
    for branch in tree.branches():
        ax.plot(*branch.T, color=DARK, linewidth=1.2, zorder=1, solid_joinstyle="miter")
    for place, leaf in enumerate(leaves):
        color, marker = look(leaf)
        ax.scatter(0, place, s=40, color=color, marker=marker, clip_on=False, zorder=3)
    labels = [f"{shortened(called[leaf], _LONGEST)} ({number(weight[leaf])})" for leaf in leaves]
    size = min(_LETTERS, _POINTS / len(leaves))
    ax.set_yticks(np.arange(len(leaves)), labels, fontsize=size, parse_math=False)
    ax.tick_params(axis="y", length=0, pad=8)
    ax.set_ylim(len(leaves) - 0.4, -0.6)
    ax.set_xlim(0, 1.02)
    # The scale is linear from the first merge, a little beyond the leaves, to the last one.
    ticks = {}
    if len(leaves) > 1:
        low, high = tree.distances_[[0, -1]]
        ticks = {LEAF: low, 1.0: high} if low < high else {1.0: high}
    ax.set_xticks(list(ticks), [f"{distance:.3g}" for distance in ticks.values()], fontsize=8)
    ax.set_xlabel("distance at which clusters join" * bool(ticks), fontsize=9)
    ax.spines[:].set_visible(False)
    ax.set_title("Tree of the clusters (rows)")
