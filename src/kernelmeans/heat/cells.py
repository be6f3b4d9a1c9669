"""Nearest rows among many: rows in cells, of which those near a row are searched."""

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors

from kernelmeans._typing import Array, IntArray
from kernelmeans.engines import Threads
from kernelmeans.engines.threads import single_threaded_openmp
from kernelmeans.lowrank.landmarks import kmeans_centroids
from kernelmeans.spaces.kernel_rows import slices

#: Rows of the subsample in which the centroids are found, for each cell.
ROWS_PER_CELL = 50
#: Recall that is enough: with more of the true neighbours most labels are the same.
ENOUGH = 0.9
#: Rows whose true neighbours are found to estimate the recall, and such rows in one block.
SAMPLED, AT_ONCE = 256, 32
#: Most cells that are searched for a row, whatever the recall: without clusters it would be all.
MOST_SEARCHED = 64
#: Factor on the number of cells where those of a row have too few rows.
WIDER = 4
#: Rows that are compared with centroids at once, candidates that are held at once, entries of rows
#: that are read at once, and rows whose candidates are sorted at once.
BLOCK_ROWS, CANDIDATES, ENTRIES, SORTED_ROWS = 2**12, 2**23, 2**25, 2**8


class Cells:
    """Rows in the cells of a short k-means, as many as the square root of their number.

    A row is compared with the rows of the cells whose centroids are nearest to it. Their number
    follows from the true neighbours of some rows.

    Parameters
    ----------
    rows_at : callable
        Returns a copy of the rows with some indices, whose Euclidean distances count.
    n_rows : int
        Number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat.cells import Cells
    >>> X = np.random.default_rng(0).standard_normal((2000, 3))
    >>> cells = Cells(lambda indices: X[indices], len(X))
    >>> cells.recall(n_neighbors=5) >= 0.9
    True
    >>> cells.kneighbors(X[:3], n_neighbors=2)[1][:, 0].tolist()
    [0, 1, 2]
    """

    def __init__(self, rows_at: Callable[[IntArray], Array], n_rows: int) -> None:
        n_cells = int(np.sqrt(n_rows))
        drawn = np.random.default_rng(0).permutation(n_rows)[: ROWS_PER_CELL * n_cells]
        sample = rows_at(drawn)
        self._centroids = kmeans_centroids(sample, n_cells, np.ones(len(sample), sample.dtype), 0)
        parts = np.array_split(np.arange(n_rows), -(-n_rows * sample.shape[1] // ENTRIES))
        own = np.concatenate([self._nearest_cells(rows_at(part), 1)[:, 0] for part in parts])
        self._order = np.argsort(own, kind="stable")
        self._rows = rows_at(self._order)
        self._cell_of = own[self._order]
        self._ends = np.searchsorted(self._cell_of, np.arange(len(self._centroids) + 1))
        #: The cells that are searched for such neighbours, and the recall.
        self._settled: dict[tuple[int, int], tuple[int, float]] = {}

    def recall(self, n_neighbors: int, end: int = 0) -> float:
        """The fraction of the true neighbours that `neighbors` finds; a row is none of its own."""
        return self._searched(n_neighbors, end)[1]

    def neighbors(self, n_neighbors: int, end: int = 0) -> tuple[Array, IntArray, Array]:
        """The rows nearest to each row, itself among them.

        Parameters
        ----------
        n_neighbors : int
            How many of them.
        end : int, default=0
            Rank of a row that is farther away. Enough cells are searched to find most rows as far
            as this one.

        Returns
        -------
        distances : ndarray of shape (n_rows, n_neighbors)
            Their distances.
        found : ndarray of int of shape (n_rows, n_neighbors)
            Their indices.
        last : ndarray of shape (n_rows,)
            The distance to the row of rank `end`.
        """
        # In the order of cells, few cells are near the rows that are compared together.
        distances, found, last = self._in_blocks(self._rows, n_neighbors, max(end, n_neighbors))
        back = np.argsort(self._order)
        return distances[back], found[back], last[back]

    def kneighbors(self, X: Array, n_neighbors: int) -> tuple[Array, IntArray]:
        """Distances and indices of the rows nearest to new rows."""
        distances, found, _ = self._in_blocks(X, n_neighbors, n_neighbors)
        return distances, found

    def _in_blocks(self, X: Array, n_neighbors: int, end: int) -> tuple[Array, IntArray, Array]:
        n_searched, _ = self._searched(n_neighbors, end)
        distances = np.empty((len(X), n_neighbors), X.dtype)
        found = np.empty((len(X), n_neighbors), np.int32)
        last = np.empty(len(X), X.dtype)
        at_once = max(1, CANDIDATES // (n_searched * end))
        for rows in slices(len(X), at_once):
            apart, nearest = self._compared(X[rows], n_searched, end)
            distances[rows], found[rows] = apart[:, :n_neighbors], nearest[:, :n_neighbors]
            last[rows] = apart[:, -1]
        return distances, found, last

    def _compared(self, X: Array, n_searched: int, end: int) -> tuple[Array, IntArray]:
        """The nearest rows, as far as `end`, among those of the nearest cells."""
        near = self._nearest_cells(X, n_searched)
        places = np.argsort(near, axis=None, kind="stable")
        ends = np.searchsorted(near.ravel()[places], np.arange(len(self._centroids) + 1))
        distances: Array = np.full((near.size, end), np.inf, X.dtype)
        found: IntArray = np.zeros((near.size, end), np.int32)

        def search(cell: int) -> None:
            members = slice(self._ends[cell], self._ends[cell + 1])
            asking = places[ends[cell] : ends[cell + 1]]
            few = min(end, members.stop - members.start)
            apart, nearest = _nearest(self._rows[members], X[asking // n_searched], few)
            distances[asking, :few] = apart
            found[asking, :few] = self._order[members][nearest]

        _side_by_side(search, np.flatnonzero((np.diff(ends) > 0) & (np.diff(self._ends) > 0)))
        distances, found = _first(distances.reshape(len(X), -1), found.reshape(len(X), -1), end)
        if n_searched == len(self._centroids):  # what is infinite now has overflowed
            return distances, found
        # The nearest cells of a row may have too few rows.
        lacking = np.flatnonzero(np.isinf(distances[:, -1]))
        more = min(WIDER * n_searched, len(self._centroids))
        for some in slices(len(lacking), max(1, CANDIDATES // (more * end))):
            rows = lacking[some]
            distances[rows], found[rows] = self._compared(X[rows], more, end)
        return distances, found

    def _nearest_cells(self, X: Array, count: int) -> IntArray:
        """The cells whose centroids are nearest to each row, the nearest first."""
        found = np.empty((len(X), count), np.int32)

        def search(rows: slice) -> None:
            found[rows] = _nearest(self._centroids, X[rows], count)[1]

        _side_by_side(search, slices(len(X), BLOCK_ROWS))
        return found

    def _searched(self, n_neighbors: int, end: int) -> tuple[int, float]:
        """Cells that are searched for rows as far as rank `end`, and the recall of the first."""
        n_neighbors, end = max(n_neighbors, 2), max(n_neighbors, end, 2)
        if (n_neighbors, end) not in self._settled:
            n_cells = len(self._centroids)
            drawn = np.random.default_rng(1).permutation(len(self._rows))[:SAMPLED]
            order = self._nearest_cells(self._rows[drawn], n_cells).argsort(axis=1)
            rank = np.empty((len(drawn), end), np.intp)

            def search(rows: slice) -> None:
                _, places = _nearest(self._rows, self._rows[drawn[rows]], end)
                rank[rows] = np.take_along_axis(order[rows], self._cell_of[places], axis=1)

            _side_by_side(search, slices(len(drawn), AT_ONCE))
            # Each is its own nearest row, which is always found.
            others = np.sort(rank[:, 1:], axis=None)
            enough = int(others[int(np.ceil(ENOUGH * others.size)) - 1]) + 1
            count = min(enough, MOST_SEARCHED, n_cells)
            recall = float((rank[:, 1:n_neighbors] < count).mean())
            self._settled[n_neighbors, end] = count, recall
        return self._settled[n_neighbors, end]


def _nearest(rows: Array, X: Array, n_neighbors: int) -> tuple[Array, IntArray]:
    """Distances and places of the rows nearest to those of X, all of them compared."""
    search = NearestNeighbors(n_neighbors=n_neighbors, algorithm="brute").fit(rows)
    # Of rows at equal distance, more threads would find others.
    with single_threaded_openmp():
        distances, places = search.kneighbors(X)
    return distances, places


def _first(distances: Array, found: IntArray, count: int) -> tuple[Array, IntArray]:
    """The candidates of each row with the least distances, in ascending order."""
    least = np.empty((len(distances), count), distances.dtype)
    first = np.empty((len(distances), count), found.dtype)

    def sort(rows: slice) -> None:
        best = np.argsort(distances[rows], axis=1, kind="stable")[:, :count]
        least[rows] = np.take_along_axis(distances[rows], best, axis=1)
        first[rows] = np.take_along_axis(found[rows], best, axis=1)

    _side_by_side(sort, slices(len(distances), SORTED_ROWS))
    return least, first


def _side_by_side(search: Callable[[Any], None], parts: Iterable[Any]) -> None:
    # Each call of scikit-learn sets the filters of warnings, which belong to all threads.
    with warnings.catch_warnings(), Threads() as threads:
        threads.run(search, parts)
