"""The flow of rows from each number of clusters to the next."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.patheffects import withStroke
from sklearn.metrics.cluster import contingency_matrix
from sklearn.utils.validation import check_is_fitted

from kernelmeans._typing import Array, IntArray
from kernelmeans.plotting.lines import Line, with_choice
from kernelmeans.plotting.palette import GREY

# Width of a column of clusters in steps of k, and the room between clusters as a part of all rows.
_COLUMN, _GAP = 0.14, 0.02
# Smallest distance between two numbers, as a fraction of the axes.
_ROOM = 0.06
# Greys of a band whose clusters have nothing else, and all else, in common.
_LIGHT, _DARK = 0.9, 0.45
# Points on the edge of a band, and rounds of reordering.
_POINTS, _ROUNDS = 24, 30


def draw_flow(ax: Axes, search: Any, candidate: int | None = None) -> None:
    """Draw how rows flow from the clusters of one number of clusters to those of the next.

    Each column has the clusters of one k, as bars whose heights are their numbers of rows. A band
    is the rows that two clusters have in common. It is the darker, the more alike the two are
    (Jaccard): a chain of dark bands is a cluster that stays the same. Clusters are numbered where
    k is the chosen one.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    search : ClusterSearch
        A fitted search.
    candidate : int, default=None
        The index of a candidate. Those with the same other parameters are drawn. When None the
        chosen one.

    Raises
    ------
    NotFittedError
        If the search has not been fitted.
    ValueError
        If there are not two numbers of clusters to draw, or no candidate was chosen.
    """
    check_is_fitted(search, "results_")
    line, marked = with_choice(search, candidate)
    labels = search.labels_by_candidate_
    drawn = columns_of(search, line)
    if len(drawn) < 2:
        raise ValueError("A flow needs candidates that differ in n_clusters alone; got one.")
    tables = [contingency_matrix(labels[a], labels[b]) for a, b in pairwise(drawn)]
    orders = ordered(tables)
    n_rows = int(tables[0].sum())
    sizes = [tables[0].sum(axis=1), *(table.sum(axis=0) for table in tables)]
    bottoms = [_bottoms(*pair, _GAP * n_rows) for pair in zip(sizes, orders, strict=True)]
    for column, table in enumerate(tables):
        ax.add_collection(_bands(column, table, orders, bottoms))
    for column, (bottom, size) in enumerate(zip(bottoms, sizes, strict=True)):
        colors = np.where(np.unique(labels[drawn[column]]) < 0, GREY, "0.15").tolist()
        ax.bar(column, size, _COLUMN, bottom, color=colors, linewidth=0, zorder=3)
    names = [str(search.results_["n_clusters"][one]) for one in drawn]
    ax.set_xticks(range(len(drawn)), names)
    ax.set_yticks([])
    ax.set_xlim(-0.5, len(drawn) - 0.5)
    ax.margins(y=0.04)
    at = drawn.index(marked)
    ax.get_xticklabels()[at].set_fontweight("bold")
    _write_numbers(ax, at, np.unique(labels[marked]), bottoms[at] + sizes[at] / 2)
    ax.set_xlabel("number of clusters")
    ax.set_ylabel(f"{n_rows:,} rows")
    where = f", {line.name}" if line.name else ""
    ax.set_title(f"Rows from each k to the next{where} (dark: the cluster stays the same)")
    ax.spines[["top", "right", "left"]].set_visible(False)


def columns_of(search: Any, line: Line) -> list[int]:
    """The candidates of a line that have clusters to draw; the others have failed."""
    labels = search.labels_by_candidate_
    return [one for one in line.candidates.tolist() if (labels[one] >= 0).any()]


def ordered(tables: Sequence[Array]) -> list[IntArray]:
    """Orders of the clusters in each column in which bands cross little, from the bottom up.

    Each column is sorted by the mean place of its rows in the column before and then, backwards, in
    the column after. The best order of all rounds is kept (Sugiyama, Tagawa and Toda 1981).

    Parameters
    ----------
    tables : sequence of ndarray of shape (k, k_next)
        The rows that clusters of neighbouring columns have in common.

    Returns
    -------
    list of ndarray of int
        For each column its clusters in their order.
    """
    start = np.argsort(-tables[0].sum(axis=1), kind="stable")
    orders: list[IntArray] = [start, *(np.arange(table.shape[1]) for table in tables)]
    best, least = list(orders), np.inf
    last = len(tables)
    for _ in range(_ROUNDS):
        for column in range(1, last + 1):
            orders[column] = _sorted_by(tables[column - 1].T, orders[column - 1])
        if (now := sum(map(crossings, tables, orders, orders[1:]))) < least:
            best, least = list(orders), now
        for column in range(last - 1, -1, -1):
            orders[column] = _sorted_by(tables[column], orders[column + 1])
    return best


def _sorted_by(table: Array, order: IntArray) -> IntArray:
    """The clusters of the rows of a table, sorted by their mean place in the other column."""
    sizes = table.sum(axis=0)[order]
    places = np.empty(len(order))
    places[order] = np.cumsum(sizes) - sizes / 2
    return np.argsort(table @ places / table.sum(axis=1), kind="stable")


def crossings(table: Array, before: IntArray, after: IntArray) -> float:
    """Pairs of rows whose bands cross."""
    sorted_table = table[np.ix_(before, after)].astype(float)
    # The rows that begin lower and end higher.
    lower = np.cumsum(sorted_table, axis=0) - sorted_table
    higher = np.cumsum(lower[:, ::-1], axis=1)[:, ::-1] - lower
    return float((sorted_table * higher).sum())


def _bottoms(sizes: Array, order: IntArray, gap: float) -> Array:
    """Where each cluster begins, about a common middle."""
    bottoms = np.empty(len(order))
    above = sizes[order] + gap
    bottoms[order] = np.cumsum(above) - above - above.sum() / 2
    return bottoms


def _bands(
    column: int, table: Array, orders: Sequence[IntArray], bottoms: Sequence[Array]
) -> PolyCollection:
    """The bands between a column and the next, from the bottom up in both."""
    before, after = orders[column], orders[column + 1]
    inverse = np.argsort(before), np.argsort(after)
    arranged = table[np.ix_(before, after)]
    left = (np.cumsum(arranged, axis=1) - arranged)[np.ix_(*inverse)] + bottoms[column][:, None]
    right = (np.cumsum(arranged, axis=0) - arranged)[np.ix_(*inverse)] + bottoms[column + 1]
    likeness = table / (table.sum(axis=1)[:, None] + table.sum(axis=0) - table)
    t = np.linspace(0, 1, _POINTS)
    x = column + _COLUMN / 2 + (1 - _COLUMN) * t
    bend = t**2 * (3 - 2 * t)
    # Bands of like clusters are drawn last, on top of what crosses them.
    a, b = np.nonzero(table)
    bands = np.argsort(likeness[a, b], kind="stable")
    outlines, greys = [], []
    for i, j in zip(a[bands], b[bands], strict=True):
        low = left[i, j] + (right[i, j] - left[i, j]) * bend
        edges = np.concatenate([low, (low + table[i, j])[::-1]])
        outlines.append(np.column_stack([np.concatenate([x, x[::-1]]), edges]))
        greys.append(str(_LIGHT + (_DARK - _LIGHT) * likeness[i, j]))
    return PolyCollection(outlines, facecolors=greys, linewidths=0)


def _write_numbers(ax: Axes, column: int, clusters: IntArray, middles: Array) -> None:
    """Write each cluster's number beside its bar, apart where clusters are small."""
    look: Any = {"ha": "right", "va": "center", "fontweight": "bold", "zorder": 4}
    look["path_effects"] = [withStroke(linewidth=2, foreground="white")]
    order = np.argsort(middles)
    places = _spread(middles[order], _ROOM * float(np.ptp(ax.get_ylim())))
    for cluster, place in zip(clusters[order], places, strict=True):
        at, offset = (column - _COLUMN / 2, place), (-2, 0)
        name = "none" if cluster < 0 else str(cluster)
        ax.annotate(name, at, xytext=offset, textcoords="offset points", **look)


def _spread(places: Array, room: float) -> Array:
    """Places in ascending order, with room between any two.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.plotting.flow import _spread
    >>> _spread(np.array([0.0, 5.0, 5.0, 20.0]), 2.0)
    array([ 0.,  4.,  6., 20.])
    """
    steps = room * np.arange(len(places))
    pushed_up = np.maximum.accumulate(places - steps) + steps
    pushed_down = np.minimum.accumulate((places - steps)[::-1])[::-1] + steps
    return np.asarray((pushed_up + pushed_down) / 2)
