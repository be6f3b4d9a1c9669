"""Nearest rows, and graphs of neighbours."""

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from sklearn import config_context
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors

from kernelmeans._dialect import option
from kernelmeans._memory import cached_property, content_hash, remembered
from kernelmeans._typing import Array, BoolArray, Data, IntArray
from kernelmeans.engines.threads import (
    ForkableLock,
    forkable_openmp,
    in_this_process,
    single_threaded_blas,
    single_threaded_openmp,
)
from kernelmeans.heat.cells import Cells
from kernelmeans.heat.density import FLAT, Density, core_distances
from kernelmeans.heat.digests import Digests, digests
from kernelmeans.heat.metric import (
    BOOLEAN,
    DIRECTIONS,
    NORMS,
    RATIOS,
    as_directions,
    check_rows,
)
from kernelmeans.kernels.formulas import largest_entries

#: Fewest and most neighbours that ``n_neighbors="auto"`` takes in two columns or more.
FEWEST_NEIGHBORS, MOST_NEIGHBORS = 2, 25
#: Length of an edge that leaves a group, in units of the distance to the fifth neighbour, at both
#: ends. Of 341 data sets two have edges of more than 5 times this distance, and none of 12 times.
FARTHER = 20
#: Length of the vectors that rows without a direction get. Two directions are 2 apart at most.
ASIDE = 4.0
#: Factor on their number for rows of a single column.
IN_ONE_COLUMN = 2
#: Neighbours that messages say to store for it: more than ``MOST_NEIGHBORS``.
AMPLE = 30
#: Most edges in the search for the fewest neighbours that connect pieces; they take some 40 MB.
MOST_EDGES = 2**20
#: One search at a time: scikit-learn's sets warning filters, which belong to all threads.
_SEARCHING = ForkableLock()
#: Mebibytes of distances that scikit-learn holds at a time, where it holds any.
HELD_MIB = 64
#: Columns up to which trees are faster than cells.
TREE_COLUMNS = 4
#: Rows up to which too large a part of the cells would be searched.
FEW_ROWS = 20_000
#: Products for a comparison of all pairs of rows that takes some seconds, and products for each
#: pair in addition to one for each column.
ALL_PAIRS, PRODUCTS = 1e11, 50


def auto_neighbors(n_samples: int, n_clusters: int, n_features: int = 2) -> int:
    """Neighbours of a row, itself included, for ``n_neighbors="auto"``.

    They grow with the rows per cluster. Clusters of ten rows take few, because more would join
    clusters; those of thousands take more, because few would break flat clusters into pieces.
    Numbers on a line take twice as many. There no edge crosses a gap that is longer than the m gaps
    before it, added up, and than the m gaps after it. With so few neighbours as in a plane, m, a
    line often has such a gap by chance.

    Parameters
    ----------
    n_samples : int
        Number of distinct rows.
    n_clusters : int
        Number of clusters.
    n_features : int, default=2
        Number of columns. A constant one counts too.

    Returns
    -------
    int
        1 + log2(n_samples / n_clusters), rounded, between 2 and 25. In one column twice that, as
        far as the mean cluster has so many rows.

    Examples
    --------
    >>> from kernelmeans.heat import auto_neighbors
    >>> auto_neighbors(6, 2), auto_neighbors(400, 40), auto_neighbors(1797, 10)
    (3, 4, 8)
    >>> auto_neighbors(1797, 10, n_features=1)
    16
    """
    count = round(1 + math.log2(n_samples / n_clusters))
    count = int(np.clip(count, FEWEST_NEIGHBORS, MOST_NEIGHBORS))
    if n_features == 1:
        count = max(count, min(IN_ONE_COLUMN * count, n_samples // n_clusters))
    return count


class Neighbors(NamedTuple):
    """What one search finds: `NearestRows.near`, their recall, and `NearestRows.surroundings`."""

    columns: IntArray
    distances: Array
    recall: float
    surroundings: Array
    #: The neighbour at the end of the surroundings.
    end: int


class NearestRows:
    """Rows that others are compared with; the search tree is not pickled.

    Parameters
    ----------
    rows : {ndarray, CSR matrix} of shape (n_rows, n_features)
        The rows.
    metric : str
        Distance, one of ``kernelmeans.heat.metric.METRICS``. For ``"cosine"`` it is the Euclidean
        distance of rows scaled to norm 1, which has the same order; rows of zeros are far from all
        others. For ``"correlation"`` the mean of each row is subtracted first.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat.neighbors import NearestRows
    >>> nearest = NearestRows(np.array([[0.0], [1.0], [5.0]]), "euclidean")
    >>> nearest.of(np.array([[0.9]]), 2)[1]
    array([[1, 0]])
    """

    #: What the widest search so far has found.
    _found: Neighbors | None = None
    #: Whether rows are sought in cells; never in older model files.
    by_cells: bool = False
    #: Whether rows without a direction are far from all others; in older model files they are at
    #: the origin, and nearer to most rows than their neighbours are.
    puts_aside: bool = False

    def __init__(self, rows: Data, metric: str) -> None:
        self.rows = rows
        self.metric = metric
        self.by_cells = are_sought_in_cells(rows, metric)
        self.puts_aside = metric in DIRECTIONS

    def __getstate__(self) -> dict[str, Any]:
        kept = ("rows", "metric", "by_cells", "puts_aside")
        return {name: getattr(self, name) for name in kept}

    @property
    def recall(self) -> float:
        """The fraction of the true neighbours that `near` has found: 1 unless rows are in cells."""
        return 1.0 if self._found is None else self._found.recall

    @property
    def n_sought(self) -> int:
        """Other rows for each row that the widest search so far has sought."""
        return 0 if self._found is None else int(self._found.columns.shape[1])

    def auto_neighbors(self, n_clusters: int) -> int:
        """`auto_neighbors` of these rows, but not more than there are."""
        n_rows, n_features = map(int, self.rows.shape)
        return min(auto_neighbors(n_rows, n_clusters, n_features), n_rows)

    @cached_property
    def _cells(self) -> Cells:
        return Cells(lambda indices: self._placed(self.rows[indices]), self.rows.shape[0])

    @cached_property
    def content(self) -> str:
        """A hash of the rows and the metric."""
        return content_hash(self)

    @cached_property
    def _origin_and_scale(self) -> tuple[Any, Any]:
        return origin_and_scale(self.rows)

    @cached_property
    def _exponent(self) -> int:
        """Exponent of the power of two next to the largest entry."""
        entries = self.rows.data if scipy.sparse.issparse(self.rows) else self.rows
        return int(np.frexp(np.abs(entries).max(initial=0))[1])

    def _placed(self, X: Data) -> Data:
        """Rows as they are searched. They may be overwritten."""
        check_rows(X, self.metric)
        if self.metric in DIRECTIONS:
            return self._put_aside(as_directions(X, self.metric))
        if self.metric in BOOLEAN:
            return X.astype(bool)
        if scipy.sparse.issparse(X):
            # A power of two costs no digit, and squares do not vanish. If they overflow, the search
            # refuses them.
            np.ldexp(X.data, max(0, -self._exponent), out=X.data)
            return X
        if self.metric in RATIOS:
            # Sums do not overflow then.
            np.ldexp(X, -self._exponent, out=X)
        if self.metric not in NORMS:
            return X
        origin, scale = self._origin_and_scale
        X -= origin
        X /= scale
        return X

    def _put_aside(self, directions: Data) -> Data:
        """Directions, and far from them what has none, in the direction of the most typical row."""
        none = largest_entries(directions) == 0
        if not (self.puts_aside and none.any()):
            return directions
        aside = self._typical * directions.dtype.type(ASIDE)
        if scipy.sparse.issparse(directions):
            return directions + scipy.sparse.csr_array(none[:, None].astype(aside.dtype)) @ aside
        directions[none] = aside
        return directions

    @cached_property
    def _typical(self) -> Data:
        """The direction (1, n_features) that has the largest mean cosine with all rows."""
        directions = as_directions(self.rows, self.metric)
        nearest = int(np.argmax(directions @ np.asarray(directions.mean(axis=0)).ravel()))
        return directions[[nearest]]

    @cached_property
    def _sought(self) -> Data:
        """The rows as they are searched, and the first of them again.

        The number of threads decides which of several equally near rows scikit-learn finds, unless
        it gets more rows than it searches.
        """
        n = self.rows.shape[0]
        return self._placed(self.rows[np.arange(n + 1) % n])

    @property
    def _sought_metric(self) -> str:
        return "euclidean" if self.metric in DIRECTIONS else self.metric

    @cached_property
    def _search(self) -> NearestNeighbors:
        metric = self._sought_metric
        # Trees are exact for metrics with the triangle inequality alone, which "dice" has not, and
        # no faster where differences do not add up along columns.
        search = "auto" if metric in NORMS else "brute"
        return NearestNeighbors(metric=metric, algorithm=search).fit(self._sought[:-1])

    def read(self, X: Data, dtype: Any) -> Data:
        """New rows in a dtype, sparse or dense as the rows."""
        X = X.astype(dtype, copy=False)
        if scipy.sparse.issparse(X) == scipy.sparse.issparse(self.rows):
            return X
        return X.toarray() if scipy.sparse.issparse(X) else scipy.sparse.csr_array(X)

    def with_rows(self, more: Data) -> "NearestRows":
        """These rows and more of them."""
        if not more.shape[0]:
            return self
        stack = scipy.sparse.vstack if scipy.sparse.issparse(more) else np.vstack
        return NearestRows(stack([self.rows, more], dtype=self.rows.dtype), self.metric)

    def part(self, places: IntArray) -> "NearestRows":
        """Some of the rows, with the same factor on distances."""
        own = NearestRows(self.rows[places], self.metric)
        for name in ("_origin_and_scale", "_exponent"):
            if name in vars(self):
                vars(own)[name] = vars(self)[name]
        return own

    def near(self, n_neighbors: int) -> tuple[IntArray, Array]:
        """The other rows that are nearest to each row, and their distances up to a factor.

        They are kept, so that fewer need no second search.

        Parameters
        ----------
        n_neighbors : int
            How many of them, less than the number of rows.

        Returns
        -------
        columns : ndarray of int of shape (n_rows, n_neighbors)
            Their indices.
        distances : ndarray of shape (n_rows, n_neighbors)
            Their distances, ascending.
        """
        if self._found is None or self.n_sought < n_neighbors:
            # What is known of surroundings is found again.
            self._seek(n_neighbors, max(n_neighbors, self._found.end if self._found else 0))
        assert self._found is not None
        return self._found.columns[:, :n_neighbors], self._found.distances[:, :n_neighbors]

    def surroundings(self, end: int, n_neighbors: int) -> Array:
        """Distances (n_rows,) to the neighbour of rank `end`, up to the same factor.

        The same search finds so many neighbours for `near`.
        """
        n_neighbors = max(n_neighbors, self.n_sought)
        if end <= n_neighbors:
            return core_distances(self.near(n_neighbors)[1], end)
        if self._found is None or self.n_sought < n_neighbors or self._found.end != end:
            self._seek(n_neighbors, end)
        assert self._found is not None
        return self._found.surroundings

    def distances(self, n_neighbors: int, end: int) -> tuple[Array, Array]:
        """The distances of `near`, and those of `surroundings`, by one search."""
        surroundings = self.surroundings(end, n_neighbors)
        return self.near(n_neighbors)[1], surroundings

    def others(self, n_neighbors: int) -> IntArray:
        """Indices (n_rows, n_neighbors) of the other rows that are nearest to each row."""
        return self.near(n_neighbors)[0]

    def _seek(self, n_neighbors: int, end: int) -> None:
        self._found = remembered(
            lambda: self._find_near(n_neighbors, end), lambda: (self.content, n_neighbors, end)
        )

    def _find_near(self, n_neighbors: int, end: int) -> Neighbors:
        n, recall = self.rows.shape[0], 1.0
        held = config_context(working_memory=HELD_MIB)
        with _SEARCHING, single_threaded_blas(), forkable_openmp(), in_this_process(), held:
            if self.by_cells:
                distances, found, surroundings = self._cells.neighbors(n_neighbors + 1, end + 1)
                recall = self._cells.recall(n_neighbors + 1, end + 1)
            else:
                distances, found = self._search.kneighbors(self._sought, end + 1)
                surroundings = distances[:n, end]
        _refuse_overflow(distances)
        distances, found = distances[:n, : n_neighbors + 1], found[:n, : n_neighbors + 1]
        itself = found == np.arange(n)[:, None]
        # A row may not find itself if others equal it up to rounding. Then one of these is left
        # out.
        itself[~itself.any(axis=1), 0] = True
        # Short indices, because they make products with the graph faster.
        columns: IntArray = found[~itself].reshape(n, n_neighbors).astype(np.int32)
        distances = distances[~itself].reshape(n, n_neighbors)
        return Neighbors(columns, distances, recall, surroundings.astype(np.float64), end)

    def graph(
        self,
        n_neighbors: int,
        density: Density = FLAT,
        *,
        keeps_far: bool = True,
        links: Data | None = None,
    ) -> Data:
        """The graph of `SpectralClustering(affinity="nearest_neighbors")`, or a weighted one.

        Parameters
        ----------
        n_neighbors : int
            Neighbours of a row, itself included; at most the number of rows.
        density : Density, default=FLAT
            The density of the rows, which weighs the edges.
        keeps_far : bool, default=True
            Whether very long edges stay. They are 20 times as long as the distance to the fifth
            neighbour of either end, and as that of most rows to their last neighbour.
        links : CSR array of shape (n_rows, n_rows), default=None
            Distances of more edges.

        Returns
        -------
        CSR array of shape (n_rows, n_rows)
            (B + B.T) / 2, where B_ij is the weight if row j is one of the nearest to row i, or i
            itself. All weights are 1 where density does not count.
        """
        columns, distances = self.near(n_neighbors - 1)
        edges = csr_of(distances.ravel(), columns, len(columns))
        if not keeps_far and n_neighbors > 1:
            are_far = self._are_far(columns, distances)
            edges = only(edges, ~are_far.ravel()) if are_far.any() else edges
        return both_ways(edges if links is None else _joined(edges, links), density)

    @staticmethod
    def _are_far(columns: IntArray, distances: Array) -> BoolArray:
        """Which edges are very long."""
        # Rows with several copies, which differ a little, are no groups.
        core = np.maximum(core_distances(distances), np.median(distances[:, -1:]))
        are_far = np.zeros(distances.shape, np.bool_)
        for row in np.flatnonzero(distances.max(axis=1, initial=0) > FARTHER * core):
            are_far[row] = distances[row] > FARTHER * np.maximum(core[row], core[columns[row]])
        return are_far

    def ranks(self) -> tuple[Data, None]:
        """For each pair of rows, the fewest neighbours with which one is a neighbour of the other.

        `MOST_EDGES` limits how many are tried. A search for fewer may rank rows at equal distance
        differently. There are no node weights, because all rows count alike.
        """
        n = self.rows.shape[0]
        columns = self.others(min(n, max(1, MOST_EDGES // n)) - 1)
        # A row is the first of its own neighbours.
        ranks = np.broadcast_to(2.0 + np.arange(columns.shape[1]), columns.shape)
        return csr_of(ranks.ravel(), columns, n), None

    def of(self, X: Data, n_neighbors: int) -> tuple[Array, IntArray]:
        """Distances, up to a factor, and indices of the rows nearest to new rows."""
        return remembered(
            lambda: self._find(X, n_neighbors), lambda: (self.content, X, n_neighbors)
        )

    def _find(self, X: Data, n_neighbors: int) -> tuple[Array, IntArray]:
        # To find the same of those at equal distance for any number of threads: see `_sought`.
        few = X.shape[0] <= self.rows.shape[0]
        threads = single_threaded_openmp() if few else forkable_openmp()
        overflow = np.errstate(over="ignore", invalid="ignore")
        held = config_context(working_memory=HELD_MIB)
        with _SEARCHING, single_threaded_blas(), threads, in_this_process(), overflow, held:
            placed = self._placed(X.copy())
            search = self._cells if self.by_cells else self._search
            distances, found = search.kneighbors(placed, n_neighbors)
        _refuse_overflow(distances)
        return distances, found

    def among(self, places: IntArray) -> Array:
        """Distances (m, m) between some of the rows, up to the same factor."""
        placed = self._placed(self.rows[places])
        if self.metric in (*NORMS, *DIRECTIONS) and not scipy.sparse.issparse(placed):
            # Squares of rows that are near each other, and far from the origin, lose all digits.
            placed = placed - placed[0]
        with single_threaded_blas():
            return np.asarray(pairwise_distances(placed, metric=self._sought_metric), np.float64)

    def digests(self, rows: Data) -> Digests:
        """A digest of each row; those of equal rows are equal."""
        return digests(rows)

    def weights(self, rows: Data, n_neighbors: int) -> Data:
        """Equal weights (n_new, n_rows) of new rows on the rows nearest to them."""
        _, near = self.of(rows, n_neighbors)
        return csr_of(np.full(near.size, 1 / n_neighbors, rows.dtype), near, self.rows.shape[0])


def are_sought_in_cells(rows: Data, metric: str) -> bool:
    """Whether all pairs of rows would take long, and cells can be used.

    Trees are fast in few columns. Cells are for Euclidean distances of dense rows.

    Parameters
    ----------
    rows : {ndarray, CSR matrix} of shape (n_rows, n_features)
        Rows.
    metric : str
        One of ``kernelmeans.heat.metric.METRICS``.

    Returns
    -------
    bool
        Whether it is so.
    """
    if scipy.sparse.issparse(rows) or not (metric == "euclidean" or metric in DIRECTIONS):
        return False
    n_rows, n_columns = map(int, rows.shape)
    return (
        n_columns > TREE_COLUMNS
        and n_rows > FEW_ROWS
        and n_rows**2 * (n_columns + PRODUCTS) > ALL_PAIRS
    )


def _refuse_overflow(distances: Array) -> None:
    """Refuse infinite distances, in whose place scikit-learn may put the largest number."""
    if not (distances < np.finfo(distances.dtype).max).all():
        raise ValueError(
            f"X has rows so far from the training rows of {option('kernel', 'heat')} that their "
            "distances overflow: leave them out, or scale all rows."
        )


def origin_and_scale(rows: Array) -> tuple[Any, Any]:
    """An origin and a scale with which squares of rows neither lose digits nor overflow."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    scale = (high / 2 - low / 2).max()
    return low / 2 + high / 2, scale if scale > 0 else scale.dtype.type(1)


def nearest_stored(distances: Data, count: int) -> Data:
    """The smallest stored entries of each row.

    Parameters
    ----------
    distances : CSR array of shape (n_rows, n_columns)
        Distances. Entries that are not stored are no neighbours; stored zeros are the nearest.
    count : int
        Number of neighbours of a row; a row with fewer entries keeps all.

    Returns
    -------
    CSR array of shape (n_rows, n_columns)
        These entries, in ascending order within each row.

    Examples
    --------
    >>> import numpy as np, scipy.sparse
    >>> from kernelmeans.heat.neighbors import nearest_stored
    >>> D = scipy.sparse.csr_array(np.array([[3.0, 1.0, 2.0], [0.0, 5.0, 0.0]]))
    >>> nearest_stored(D, 2).data
    array([1., 2., 5.])
    """
    stored = distances.tocoo()
    order = np.lexsort((stored.data, stored.row))
    rank = np.arange(stored.nnz) - distances.indptr[stored.row[order]]
    kept = order[rank < count]
    ends = np.append(0, np.bincount(stored.row[kept], minlength=distances.shape[0]).cumsum())
    parts = stored.data[kept], stored.col[kept], ends.astype(distances.indptr.dtype)
    return scipy.sparse.csr_array(parts, distances.shape)


def nearest_distances(distances: Data, count: int) -> Array:
    """The values of `nearest_stored`, shape (n_rows, count); infinite where a row has fewer."""
    nearest = nearest_stored(distances, count)
    n_stored = np.diff(nearest.indptr)
    found = np.full((len(n_stored), count), np.inf)
    found[np.arange(count) < n_stored[:, None]] = nearest.data
    return found


def csr_of(values: Array, columns: IntArray, n_columns: int) -> Data:
    """A CSR array with one value for each of the columns (n_rows, count) of its rows."""
    ends = np.arange(len(columns) + 1, dtype=columns.dtype) * columns.shape[1]
    return scipy.sparse.csr_array((values, columns.ravel(), ends), (len(columns), n_columns))


def both_ways(distances: Data, density: Density = FLAT) -> Data:
    """(B + B.T) / 2, where B has the weights of these edges, and of rows to themselves."""
    B, own = density.weights(distances)
    B = scipy.sparse.diags_array(own, format="csr") + B
    return ((B + B.T) / 2).tocsr()


def _joined(edges: Data, others: Data) -> Data:
    """The edges of two CSR arrays, which share none. A sum would lose those of length 0."""
    both = [array.tocoo() for array in (edges, others)]
    rows, columns = np.hstack([array.coords for array in both])
    data = np.concatenate([array.data for array in both])
    return scipy.sparse.csr_array((data, (rows, columns)), edges.shape)


def without_loops(graph: Data) -> Data:
    """The edges between different rows, as CSR array of floats."""
    edges = graph.tocsr()
    between = edges.indices != np.repeat(np.arange(edges.shape[0]), np.diff(edges.indptr))
    found = only(edges, between).astype(np.float64)
    found.sum_duplicates()
    return found


def only(edges: Data, kept: BoolArray) -> Data:
    """Some of the entries of a CSR array."""
    ends = np.append(0, np.cumsum(kept))[edges.indptr].astype(edges.indptr.dtype)
    return scipy.sparse.csr_array((edges.data[kept], edges.indices[kept], ends), edges.shape)
