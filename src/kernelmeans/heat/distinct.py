"""The distinct rows of a table, which are the nodes of graphs."""

from typing import NamedTuple

import numpy as np

from kernelmeans._memory import remembered
from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.heat.digests import Digests, digests, find
from kernelmeans.heat.metric import DIRECTIONS, has_direction
from kernelmeans.heat.neighbors import IN_ONE_COLUMN, MOST_NEIGHBORS, NearestRows
from kernelmeans.heat.pieces import FAR, WHOLE

#: Most rows that stand far away many times. Answers to a few questions are all repeated.
FEW_REPEATED = 50
#: Most copies of such a row: twice as many as ``n_neighbors="auto"`` takes, so that they need no
#: other neighbours.
COPIES = 2 * MOST_NEIGHBORS
#: Distance beyond which a few strays near such a row do not count, in units of that of most rows,
#: and how many are most. Rows repeated by chance are at the rim of clusters too, but nearer.
TIMES, MOST = 3, 0.95
#: Rows that tell how far neighbours are.
SOME_ROWS = 1000


def counting_rows(X: Data, sample_weight: Array | None) -> Data:
    """The rows of positive weight: X itself if these are all."""
    return X if sample_weight is None or sample_weight.all() else X[np.flatnonzero(sample_weight)]


class DistinctRows(NamedTuple):
    """The distinct training rows, which are the nodes of graphs.

    A row that stands `far_away` many times is many nodes.

    Attributes
    ----------
    nearest : NearestRows
        The rows in the order of their digests, so that graphs do not depend on the order of X.
    known : ndarray of shape (n_rows,)
        Their digests.
    """

    nearest: NearestRows
    known: Digests

    def places(self, X: Data, nodes: IntArray | None = None) -> IntArray:
        """The node of each row; -1 for rows that equal none. Nodes of equal rows take turns.

        Copies up to rounding share ``nodes``, if these are given.
        """
        rows = self.nearest.read(X, self.nearest.rows.dtype)
        places = find(self.known, self.nearest.digests(rows))
        first, copies = self._repeated
        for place, count in zip(first, copies, strict=True):
            equal = np.flatnonzero(places == place)
            places[equal] += np.arange(len(equal)) % count
        return places if nodes is None else np.where(places < 0, -1, nodes[places])

    def once(self) -> "DistinctRows":
        """The same with one node for each row."""
        if not len(self._repeated[0]):
            return self
        first = self._first
        nearest = NearestRows(self.nearest.rows[first], self.nearest.metric)
        return DistinctRows(nearest, self.known[first])

    def repeated(self, count: int) -> Data:
        """So many copies of each row that is many nodes."""
        return self.nearest.rows[np.repeat(self._repeated[0], count)]

    @property
    def _first(self) -> IntArray:
        """The first node of each row."""
        return np.flatnonzero(np.append(True, self.known[1:] != self.known[:-1]))

    @property
    def _repeated(self) -> tuple[IntArray, IntArray]:
        """The first node of each row that is many nodes, and how many it is."""
        first = self._first
        copies = np.diff(first, append=len(self.known))
        return first[copies > 1], copies[copies > 1]

    @classmethod
    def of(cls, X: Data, sample_weight: Array | None, metric: str) -> "DistinctRows":
        """Find the distinct rows among the training rows of positive weight."""
        rows = counting_rows(X, sample_weight)
        known, first, counts = np.unique(digests(rows), return_index=True, return_counts=True)
        distinct = cls._kept(rows, first, known, metric)
        far = far_away(distinct.nearest, counts)
        if len(far) and metric in DIRECTIONS:
            far = far[has_direction(distinct.nearest.rows[far], metric)]
        if not len(far):
            return distinct
        most = COPIES * IN_ONE_COLUMN if rows.shape[1] == 1 else COPIES
        counts = np.where(np.isin(np.arange(len(counts)), far), np.minimum(counts, most), 1)
        return cls._kept(rows, np.repeat(first, counts), np.repeat(known, counts), metric)

    @classmethod
    def _kept(cls, rows: Data, kept: IntArray, known: Digests, metric: str) -> "DistinctRows":
        nearest = remembered(
            lambda: NearestRows(rows[kept], metric),
            lambda: ("rows", known, type(rows), rows.dtype.str, rows.shape[1], metric),
        )
        return cls(nearest, known)


def far_away(nearest: NearestRows, counts: IntArray) -> IntArray:
    """Rows that stand many times far from all others: groups without a neighbour that differs.

    As one node each, they would join the cluster that is nearest, however far it is. Many times is
    ten times or more. The other rows stand fewer times. Each of them is at some distance from the
    tenth nearest of them. Such a group is far if all of them are farther than this distance is for
    99 of 100. Up to nine may be nearer. Then the tenth has to be three times as far as for 95 of
    100.

    Parameters
    ----------
    nearest : NearestRows
        Distinct rows, in an order that has nothing to do with their places.
    counts : ndarray of int of shape (n_rows,)
        How many times each stands in the table.

    Returns
    -------
    ndarray of int
        Their indices; none if more than 50 rows, or most, stand many times.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat.distinct import far_away
    >>> from kernelmeans.heat.neighbors import NearestRows
    >>> rows = np.r_[np.linspace(0, 1, 50), 9.0][:, None]
    >>> far_away(NearestRows(rows, "euclidean"), np.repeat([1, 40], [50, 1]))
    array([50])
    """
    often, others = np.flatnonzero(counts >= WHOLE), np.flatnonzero(counts < WHOLE)
    if not 0 < len(often) <= min(FEW_REPEATED, len(others)) or len(others) < WHOLE:
        return often[:0]
    # Among so many at least ten stand fewer times.
    places = np.append(often, others[:SOME_ROWS])
    distances, columns = nearest.of(nearest.rows[places], len(often) + WHOLE)
    to_others = np.sort(np.where(counts[columns] < WHOLE, distances, np.inf), axis=1)
    ours, usual = to_others[: len(often)], to_others[len(often) :, WHOLE - 1]
    reach = np.quantile(usual, FAR)
    farther = TIMES * np.quantile(usual, MOST)
    # Some metrics put a row of zeros at a distance from itself.
    is_near_itself = distances[: len(often), 0] < reach
    far: IntArray = often[is_near_itself & ((ours[:, 0] > reach) | (ours[:, WHOLE - 1] > farther))]
    return far
