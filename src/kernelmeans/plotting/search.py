"""The picture of a search for the number of clusters, and its panels."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from sklearn.utils.validation import check_is_fitted

from kernelmeans._text import counted
from kernelmeans._typing import Array
from kernelmeans.plotting.flow import columns_of, draw_flow
from kernelmeans.plotting.lines import lines_of, with_choice
from kernelmeans.plotting.style import BLUE, DARK, PAGE, RED, WIDTH, Picture
from kernelmeans.search.results import column_of
from kernelmeans.search.rules import FOUND_AGAIN, THRESHOLDS

# Lines differ in mark and stroke too, and can be told apart without colours.
_COLORS = BLUE, "0.15", "#009E73", "0.55", "#A8507F", "#8A7300"
_MARKS, _STROKES = "os^DvP", ("-", "--", "-.", ":", (0, (6, 1)), (0, (1, 1)))
_BARS: dict[str, Any] = {"markersize": 3.5, "linewidth": 1, "elinewidth": 0.7}
_LINE: dict[str, Any] = {"color": DARK, "linewidth": 0.8, "zorder": 1}
# Most numbers on an axis.
_MOST_TICKS = 16
_TITLES = {
    "mean_stability": "Stability",
    "min_jaccard": "Jaccard of the\nleast stable cluster",
    "neighbor_consistency": "Near neighbours\nin one cluster",
    "mean_prediction_strength": "Prediction strength",
    "mean_score": "Score",
}
# Below, between and above these a cluster is as the words say (Hennig 2007).
_JACCARD_MARKS = (0.6, FOUND_AGAIN, 0.85)
_JACCARD_WORDS = ("no cluster", "doubtful", "valid", "highly stable")


def plot_search(search: Any) -> Figure:
    """Draw the scores of a search, the flow of rows between numbers of clusters, and the choice.

    The flow is left out if there is only one number of clusters. If no clusters would be
    found again, there are only the scores. Each panel can be drawn alone: `draw_scores`,
    `draw_flow` and `draw_stability`.

    Parameters
    ----------
    search : ClusterSearch
        A fitted search.

    Returns
    -------
    matplotlib.figure.Figure
        Not tied to pyplot: call its ``savefig``, or display it in a notebook. It is 16 cm wide, as
        the text on a page.

    Raises
    ------
    NotFittedError
        If the search has not been fitted.

    Examples
    --------
    >>> from kernelmeans import ClusterSearch, KernelPowerKMeans
    >>> from kernelmeans.plotting import plot_search
    >>> from sklearn.datasets import load_iris
    >>> grid = {"n_clusters": [2, 3]}
    >>> search = ClusterSearch(KernelPowerKMeans(kernel="rbf"), grid, n_splits=5, random_state=0)
    >>> figure = plot_search(search.fit(load_iris().data))
    >>> figure.axes[0].get_xlabel()
    'number of clusters'
    """
    check_is_fitted(search, "results_")
    chosen = search.best_index_ is not None
    flows = chosen and len(columns_of(search, with_choice(search, None)[0])) > 1
    # Room for the scores is the same with any number of lines in the legend.
    heights = [2.4 + 0.06 * len(lines_of(search))] + [2.8] * flows + [2.2] * chosen
    with rc_context(PAGE):
        figure: Figure = Picture(figsize=(WIDTH, sum(heights)), dpi=150, layout="constrained")
        panels = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
        axes = panels[0].subplots(1, len(_columns(search)), squeeze=False)[0]
        draw_scores(axes, search)
        handles, names = axes[0].get_legend_handles_labels()
        if handles:
            # A title stands above without a choice.
            place = "outside upper center" if chosen else "outside lower center"
            panels[0].legend(handles, names, loc=place, ncols=3, frameon=False)
        if not chosen:
            panels[0].suptitle("No clusters that would be found again", fontsize="large")
            return figure
        if flows:
            draw_flow(panels[1].subplots(), search)
        draw_stability(panels[-1].subplots(2, 1, sharex=True, height_ratios=[2, 1]), search)
    return figure


def draw_scores(axes: Sequence[Axes], search: Any) -> None:
    """Draw scores against the number of clusters, a line for each kernel or other parameter.

    Bars reach one standard deviation over the splits up and down. Dashes are the stability of data
    without clusters, where the search looked at them. The chosen candidate has a ring.

    Parameters
    ----------
    axes : sequence of matplotlib.axes.Axes
        Where to draw: one for each score. With ``scoring="jaccard"`` there are two: stability, and
        the Jaccard overlap of the least stable cluster. If kernels or other parameters compete,
        the third is near-neighbour consistency, where that is known.
    search : ClusterSearch
        A fitted search.

    Raises
    ------
    NotFittedError
        If the search has not been fitted.
    """
    check_is_fitted(search, "results_")
    results, best, lines = search.results_, search.best_index_, lines_of(search)
    # Side by side, so that their bars do not hide each other.
    places = 0.24 * ((np.arange(len(lines)) + 0.5) / len(lines) - 0.5)
    for ax, column in zip(axes, _columns(search), strict=True):
        spread = results.get(f"std_{column.removeprefix('mean_')}")
        for number, (line, place) in enumerate(zip(lines, places, strict=True)):
            at, look = line.candidates, _look(number)
            k, values = results["n_clusters"][at] + place, results[column][at]
            bars = None if spread is None else spread[at]
            ax.errorbar(k, values, bars, label=line.name, **look, **_BARS)
            if column == "mean_stability":
                _mark_reference(ax, k, results["mean_reference"][at])
            if best in at:
                n_chosen = int(results["n_clusters"][best])
                look = {"label": f"chosen: {counted(n_chosen, 'cluster')}", "edgecolors": RED}
                look |= {"zorder": 4, "clip_on": False}
                ax.scatter(k[at == best], values[at == best], 90, "none", **look)
                if np.ptp(results["n_clusters"]):
                    ax.axvline(n_chosen, color=RED, linestyle="--", linewidth=0.9, zorder=1)
        _finish(ax, column, results, _MOST_TICKS // max(1, len(axes) - 1))


def draw_stability(axes: Sequence[Axes], search: Any, candidate: int | None = None) -> None:
    """Draw how well each cluster of a candidate is found again, and below it the cluster's size.

    The stability is the mean Jaccard overlap of `kernelmeans.metrics.jaccard_stability`. Marks are
    filled from 0.75 on, where a cluster is valid (Hennig 2007).

    Parameters
    ----------
    axes : sequence of two matplotlib.axes.Axes
        Where to draw, the stability first.
    search : ClusterSearch
        A fitted search.
    candidate : int, default=None
        The index of a candidate; when None the chosen one.

    Raises
    ------
    NotFittedError
        If the search has not been fitted.
    ValueError
        If no candidate was chosen or given.
    """
    check_is_fitted(search, "results_")
    line, found = with_choice(search, candidate)
    above, below = axes
    jaccard = np.asarray(search.results_["jaccard"][found], dtype=float)
    labels = search.labels_by_candidate_[found]
    clusters, sizes = np.unique(labels[labels >= 0], return_counts=True)  # without noise
    valid = jaccard >= _JACCARD_MARKS[1]
    lowest = min(0.4, np.floor(10 * np.nanmin(jaccard, initial=1)) / 10)
    above.vlines(clusters, lowest, jaccard, color="0.6", linewidth=1)
    for which, fill in ((valid, DARK), (~valid, "white")):
        above.scatter(clusters[which], jaccard[which], 22, fill, edgecolors=DARK, zorder=3)
    edges = [lowest, *_JACCARD_MARKS, 1.0]
    for low, high, word in zip(edges[:-1], edges[1:], _JACCARD_WORDS, strict=True):
        place: Any = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
        place |= {"xy": (1, (low + high) / 2), "xytext": (4, 0), "va": "center"}
        above.annotate(word, color=DARK, **place)
    for mark in _JACCARD_MARKS:
        above.axhline(mark, **_LINE)
    above.set_ylim(lowest, 1.04)
    above.set_yticks([lowest, *_JACCARD_MARKS, 1])
    above.yaxis.set_major_formatter("{x:g}")
    above.set_ylabel("Jaccard")
    k = len(clusters)
    where = f", {line.name}" if line.name else ""
    above.set_title(f"How well each of the {k} clusters is found again{where}")
    below.bar_label(below.bar(clusters, sizes, 0.6, color="0.75"), padding=1)
    below.set_ylim(0, 1.8 * sizes.max())
    below.set_ylabel("rows")
    below.set_xlabel("cluster")
    below.set_xlim(-0.6, clusters[-1] + 0.6)
    below.xaxis.set_major_locator(MaxNLocator(_MOST_TICKS, integer=True))


def _columns(search: Any) -> list[str]:
    """The scores that decide."""
    column = column_of(search.scoring)
    if column != "min_jaccard":
        return [column]
    consistency = search.results_["neighbor_consistency"]
    competing = search.results_["group"].any() and not np.isnan(consistency).all()
    return ["mean_stability", column] + ["neighbor_consistency"] * bool(competing)


def _look(number: int) -> dict[str, Any]:
    """How a line looks; later ones have hollow marks."""
    rounds, place = divmod(number, len(_COLORS))
    look = {"color": _COLORS[place], "marker": _MARKS[place], "linestyle": _STROKES[place]}
    return {**look, "markerfacecolor": "white"} if rounds % 2 else look


def _mark_reference(ax: Axes, k: Array, stability: Array) -> None:
    """The stability of data without clusters, where it is known; named once."""
    known, text = ~np.isnan(stability), "data without clusters"
    if known.any():
        named = text in ax.get_legend_handles_labels()[1]
        look: Any = {"color": RED, "marker": "_", "linewidths": 1.8, "zorder": 3}
        ax.scatter(k[known], stability[known], 50, label=None if named else text, **look)


def _finish(ax: Axes, column: str, results: Any, n_ticks: int) -> None:
    """Title, threshold and limits."""
    title, threshold = _TITLES[column], THRESHOLDS.get(column)
    if threshold is not None:
        ax.axhline(threshold, **_LINE)
        title += f" (line: {threshold:g})"
    ax.set_title(title)
    ax.set_xlabel("number of clusters")
    ax.xaxis.set_major_locator(MaxNLocator(n_ticks, integer=True, min_n_ticks=1))
    low, high = np.nanmin(results[column], initial=0), np.nanmax(results[column], initial=1)
    ax.set_ylim(1.1 * low, 1.05 * high)
    ax.grid(alpha=0.25, linewidth=0.6)
