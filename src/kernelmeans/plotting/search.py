"""The picture of a search for the number of clusters, and its panels."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from sklearn.utils.validation import check_is_fitted

from kernelmeans._text import counted
from kernelmeans._typing import Array, IntArray
from kernelmeans.plotting.flow import draw_flow
from kernelmeans.plotting.lines import lines_of, with_choice
from kernelmeans.search.results import column_of, name_of
from kernelmeans.search.rules import FOUND_AGAIN, PREDICTIVE

#: For a page: 16 cm wide, letters of 8 points.
WIDTH = 6.3
PAGE: Any = {
    "font.size": 8,
    "axes.titlesize": "medium",
    "legend.fontsize": "medium",
    "axes.linewidth": 0.6,
}
_RED, _DARK = "#D55E00", "0.3"
# Lines differ in mark and stroke too, and can be told apart without colours.
_LOOKS: list[dict[str, Any]] = [
    {"color": "#0072B2", "marker": "o", "linestyle": "-"},
    {"color": "0.15", "marker": "s", "linestyle": "--"},
    {"color": "#009E73", "marker": "^", "linestyle": "-."},
    {"color": "0.55", "marker": "D", "linestyle": "-"},
    {"color": "#A8507F", "marker": "v", "linestyle": "--"},
    {"color": "#8A7300", "marker": "P", "linestyle": ":"},
]
_BARS: dict[str, Any] = {"markersize": 3.5, "linewidth": 1, "elinewidth": 0.7, "capsize": 0}
_MARK: dict[str, Any] = {"color": _DARK, "linewidth": 0.8, "zorder": 1}
# Most candidates of one number of clusters that are drawn, and most numbers on an axis.
_MOST_ROWS, _MOST_TICKS = 24, 16
# Below, between and above these a cluster is as the words say (Hennig 2007).
_JACCARD_MARKS = (0.6, FOUND_AGAIN, 0.85)
_JACCARD_WORDS = ("no cluster", "doubtful", "valid", "highly stable")


class Score(NamedTuple):
    """A column of scores, and the threshold that is marked."""

    name: str
    column: str
    threshold: float | None = None


_STABILITY = Score("Stability", "mean_stability")
_CONSISTENCY = Score("Near neighbours\nin one cluster", "neighbor_consistency")
_NAMES = {
    "jaccard": "Jaccard of the\nleast stable cluster",
    "neighbor_consistency": _CONSISTENCY.name,
}
_THRESHOLDS = {"jaccard": FOUND_AGAIN, "prediction_strength": PREDICTIVE}


def plot_search(search: Any) -> Figure:
    """Draw the scores of a search, the flow of rows from k to k + 1, and the chosen clusters.

    The flow is left out if all candidates have one number of clusters. If no clusters would be
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
    """
    check_is_fitted(search, "results_")
    chosen, flows = search.best_index_ is not None, _n_numbers(search) > 1
    # Room for the scores is the same with any number of lines in the legend.
    heights = [2.4 + 0.06 * len(lines_of(search))] + [2.8] * (chosen and flows) + [2.2] * chosen
    with rc_context(PAGE):
        figure = Figure(figsize=(WIDTH, sum(heights)), dpi=150, layout="constrained")
        panels = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
        scores, *others = panels.tolist()
        axes = scores.subplots(1, len(_scores(search)), squeeze=False, sharey=not flows)[0]
        draw_scores(axes, search)
        if not chosen:
            scores.suptitle("No clusters that would be found again", fontsize="large")
        handles, names = axes[0].get_legend_handles_labels()
        if handles:
            scores.legend(handles, names, loc="outside upper center", ncols=3, frameon=False)
        if chosen and flows:
            draw_flow(others[0].subplots(), search)
        if chosen:
            clusters = others[-1].subplots(2, 1, sharex=True, height_ratios=[2, 1])
            draw_stability(clusters, search)
    return figure


def draw_scores(axes: Sequence[Axes], search: Any) -> None:
    """Draw scores against the number of clusters, a line for each kernel or other parameter.

    Bars reach one standard deviation over the splits up and down. Dashes are the stability of data
    without clusters, where the search looked at them. The chosen candidate has a ring. Candidates
    of one number of clusters stand in rows, the best on top.

    Parameters
    ----------
    axes : sequence of matplotlib.axes.Axes
        Where to draw: one for each score. With ``scoring="jaccard"`` there are two: stability, and
        the Jaccard overlap of the least stable cluster. If kernels or other parameters compete,
        the third is near-neighbour consistency, where that is known.
    search : ClusterSearch
        A fitted search.
    """
    check_is_fitted(search, "results_")
    draw = _draw_lines if _n_numbers(search) > 1 else _draw_rows
    for ax, score in zip(axes, _scores(search), strict=True):
        draw(ax, search, score)
        ax.grid(alpha=0.25, linewidth=0.6)


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
    ValueError
        If no candidate was chosen or given.
    """
    check_is_fitted(search, "results_")
    line, found = with_choice(search, candidate)
    above, below = axes
    jaccard = np.asarray(search.results_["jaccard"][found], dtype=float)
    clusters, sizes = np.unique(search.labels_by_candidate_[found], return_counts=True)
    valid = jaccard >= _JACCARD_MARKS[1]
    lowest = min(0.4, np.floor(10 * np.nanmin(jaccard, initial=1)) / 10)
    above.vlines(clusters, lowest, jaccard, color="0.6", linewidth=1)
    for which, fill in ((valid, _DARK), (~valid, "white")):
        above.scatter(clusters[which], jaccard[which], 22, fill, edgecolors=_DARK, zorder=3)
    edges = [lowest, *_JACCARD_MARKS, 1.0]
    for low, high, word in zip(edges[:-1], edges[1:], _JACCARD_WORDS, strict=True):
        place: Any = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
        middle = (1.0, (low + high) / 2)
        above.annotate(word, middle, xytext=(4, 0), va="center", color=_DARK, **place)
    for mark in _JACCARD_MARKS:
        above.axhline(mark, **_MARK)
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
    _number(below, clusters)


def _scores(search: Any) -> list[Score]:
    """The scores that decide."""
    name = name_of(search.scoring)
    title = _NAMES.get(name, name.replace("_", " ").capitalize())
    score = Score(title, column_of(search.scoring), _THRESHOLDS.get(name))
    if name != "jaccard":
        return [score]
    competing = len(np.unique(search.results_["group"])) > 1
    known = not np.isnan(search.results_[_CONSISTENCY.column]).all()
    return [_STABILITY, score] + [_CONSISTENCY] * (competing and known)


def _n_numbers(search: Any) -> int:
    """How many numbers of clusters the candidates have."""
    return len(np.unique(search.results_["n_clusters"]))


def _draw_lines(ax: Axes, search: Any, score: Score) -> None:
    results, best = search.results_, search.best_index_
    lines = lines_of(search)
    # Side by side, so that their bars do not hide each other.
    places = np.linspace(-0.12, 0.12, len(lines)) if len(lines) > 1 else np.zeros(1)
    for number, (line, place) in enumerate(zip(lines, places, strict=True)):
        at, look = line.candidates, _LOOKS[number % len(_LOOKS)]
        k, values = results["n_clusters"][at] + place, results[score.column][at]
        ax.errorbar(k, values, _spread(results, score, at), label=line.name, **look, **_BARS)
        if score.column == _STABILITY.column:
            _dashes(ax, k, _reference(results, at), "_")
        if best in at:
            n_chosen = int(results["n_clusters"][best])
            _ring(ax, k[at == best], values[at == best], f"chosen: {counted(n_chosen, 'cluster')}")
            ax.axvline(n_chosen, color=_RED, linestyle="--", linewidth=0.9, zorder=1)
    _mark(ax.axhline, ax, score)
    ax.set_xlabel("number of clusters")
    _number(ax, np.unique(results["n_clusters"]))
    lowest = np.nanmin(results[score.column])
    ax.set_ylim(min(0, 1.1 * lowest), None if np.nanmax(results[score.column]) > 1.05 else 1.05)


def _draw_rows(ax: Axes, search: Any, score: Score) -> None:
    """Candidates of one number of clusters below each other, the best on top."""
    results, best = search.results_, search.best_index_
    first = np.argsort(-results[_scores(search)[-1].column], kind="stable")[:_MOST_ROWS]
    names = {one: line.name for line in lines_of(search) for one in line.candidates}
    values, places = results[score.column][first], np.arange(len(first))
    look = {**_LOOKS[0], "linestyle": "none"}
    ax.errorbar(values, places, xerr=_spread(results, score, first), **look, **_BARS)
    if score.column == "mean_stability":
        _dashes(ax, _reference(results, first), places, "|")
    if best in first:
        _ring(ax, values[first == best], places[first == best], "chosen")
    _mark(ax.axvline, ax, score)
    ax.set_yticks(places, [names[one] for one in first], parse_math=False)
    ax.set_ylim(len(first) - 0.4, -0.6)
    ax.set_xlim(min(0, 1.1 * np.nanmin(values)), None if np.nanmax(values) > 1.05 else 1.05)


def _spread(results: Any, score: Score, candidates: IntArray) -> Array | None:
    """Standard deviations over the splits, of scores that have them."""
    found = results.get(f"std_{score.column.removeprefix('mean_')}")
    return None if found is None else np.asarray(found[candidates])


def _reference(results: Any, candidates: IntArray) -> Array:
    """The stability of data without clusters, NaN where the search did not look."""
    unknown = np.full(len(results["params"]), np.nan)
    return np.asarray(results.get("mean_reference", unknown)[candidates], dtype=float)


def _ring(ax: Axes, x: Array, y: Array, text: str) -> None:
    ax.scatter(x, y, 90, "none", edgecolors=_RED, linewidths=1.4, zorder=4, label=text)


def _dashes(ax: Axes, x: Any, y: Any, mark: str) -> None:
    """The stability of data without clusters, where it is known; named once."""
    known = np.isfinite(x) & np.isfinite(y)
    if known.any():
        text: str | None = "data without clusters"
        text = None if text in ax.get_legend_handles_labels()[1] else text
        ax.scatter(x[known], y[known], 50, _RED, marker=mark, linewidths=1.8, zorder=3, label=text)


def _mark(line: Any, ax: Axes, score: Score) -> None:
    """The title, and a line at the threshold."""
    ax.set_title(score.name)
    if score.threshold is not None:
        line(score.threshold, **_MARK)
        ax.set_title(f"{score.name} (line: {score.threshold:g})")


def _number(ax: Axes, values: Array) -> None:
    """Name whole numbers on the horizontal axis, all if there is room."""
    grid = ax.get_gridspec()
    columns = grid.ncols if grid else 1
    if len(values) <= _MOST_TICKS // max(1, columns - 1):
        ax.set_xticks(values)
    else:
        ax.xaxis.set_major_locator(MaxNLocator(2 * _MOST_TICKS // columns, integer=True))
