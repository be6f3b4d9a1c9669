"""Rows that are equal to others or near them, and the graphs of neighbours."""

import math
from functools import cached_property
from hashlib import blake2b
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from sklearn.neighbors import NearestNeighbors

from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.kernels.formulas import unit_rows

#: Fewest and most neighbours that ``n_neighbors="auto"`` takes.
FEWEST, MOST = 2, 25
#: Neighbours to store for it, as messages say: more than ``MOST``.
AMPLE = 30
#: Edges among which the fewest neighbours that connect pieces are looked for: some 40 MB.
MOST_EDGES = 2**20
#: scikit-learn's search sets filters of warnings, which all threads share: one at a time.
_SEARCHING = Lock()
#: Bytes of a digest: rows that differ share one with a chance of 2^-128.
DIGEST_BYTES = 16
#: Rows that are copied at a time.
DIGESTED_ROWS = 1024

#: Digests, an array of plain bytes that sorts.
Digests = np.ndarray[Any, np.dtype[np.void]]


def auto_neighbors(n_samples: int, n_clusters: int) -> int:
    """Neighbours of a row, itself included, for ``n_neighbors="auto"``.

    They follow the rows per cluster: few where a cluster has ten, for more would join clusters;
    more where it has thousands, for few would break flat clusters into pieces.

    Parameters
    ----------
    n_samples : int
        Different rows.
    n_clusters : int
        Clusters looked for.

    Returns
    -------
    int
        1 + log2(n_samples / n_clusters), rounded, between 2 and 25.

    Examples
    --------
    >>> from kernelmeans.heat import auto_neighbors
    >>> auto_neighbors(6, 2), auto_neighbors(400, 40), auto_neighbors(1797, 10)
    (3, 4, 8)
    """
    return int(np.clip(round(1 + math.log2(n_samples / n_clusters)), FEWEST, MOST))


def digests(X: Data, zeros_count: bool = False) -> Digests:
    """Bytes for each row that are equal where the values of rows are.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_rows, n_features)
        Rows of one dtype. The order of the entries of a CSR matrix does not count.
    zeros_count : bool, default=False
        Whether zeros that a CSR matrix stores are others than those that it does not.

    Returns
    -------
    ndarray of shape (n_rows,)
        16 bytes for each row.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat.neighbors import digests
    >>> found = digests(np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0]]))
    >>> bool(found[0] == found[1]), bool(found[0] == found[2])
    (True, False)
    """
    starts = range(0, X.shape[0], DIGESTED_ROWS)
    joined = b"".join(
        blake2b(row, digest_size=DIGEST_BYTES).digest()
        for start in starts
        for row in _contents(X[start : start + DIGESTED_ROWS], zeros_count)
    )
    return np.frombuffer(joined, dtype=f"V{DIGEST_BYTES}")


def _contents(X: Data, zeros_count: bool) -> list[bytes]:
    if not scipy.sparse.issparse(X):
        # Adding zero makes zeros of -0.0.
        return [row.tobytes() for row in X + X.dtype.type(0)]
    X = scipy.sparse.csr_array(X, copy=True)
    X.sum_duplicates()
    if not zeros_count:
        X.eliminate_zeros()
    columns = X.indices.astype(np.int64)
    bounds = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    return [columns[a:b].tobytes() + X.data[a:b].tobytes() for a, b in bounds]


def find(known: Digests, wanted: Digests) -> IntArray:
    """Places of digests among known ones; -1 where they are not among them.

    Parameters
    ----------
    known : ndarray of shape (n,)
        Different digests in ascending order.
    wanted : ndarray of shape (n_rows,)
        What is looked for.

    Returns
    -------
    ndarray of int of shape (n_rows,)
        The places.
    """
    places = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.where(known[places] == wanted, places, -1)


class NearestRows:
    """Rows that others are compared with; equal in all that pickles, but for the search tree.

    Parameters
    ----------
    rows : {ndarray, CSR matrix} of shape (n_rows, n_features)
        The rows.
    metric : {"euclidean", "cosine"}
        Distance. The cosine's order is that of Euclidean distances between directions; rows of
        zeros have none and stay.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat.neighbors import NearestRows
    >>> nearest = NearestRows(np.array([[0.0], [1.0], [5.0]]), "euclidean")
    >>> nearest.of(np.array([[0.9]]), 2)[1]
    array([[1, 0]])
    """

    #: What the widest search so far has found.
    _others: IntArray | None = None

    def __init__(self, rows: Data, metric: str) -> None:
        self.rows = rows
        self.metric = metric

    def __getstate__(self) -> dict[str, Any]:
        return {"rows": self.rows, "metric": self.metric}

    @cached_property
    def _origin_and_scale(self) -> tuple[Any, Any]:
        return origin_and_scale(self.rows)

    def _placed(self, X: Data) -> Data:
        if self.metric == "cosine":
            return unit_rows(X)
        if scipy.sparse.issparse(X):
            return X
        origin, scale = self._origin_and_scale
        placed = X - origin
        placed /= scale
        return placed

    @cached_property
    def _search(self) -> NearestNeighbors:
        return NearestNeighbors().fit(self._placed(self.rows))

    def read(self, X: Data, dtype: Any) -> Data:
        """New rows in a dtype, sparse or dense as these are."""
        X = X.astype(dtype, copy=False)
        if scipy.sparse.issparse(X) == scipy.sparse.issparse(self.rows):
            return X
        return X.toarray() if scipy.sparse.issparse(X) else scipy.sparse.csr_array(X)

    def others(self, n_neighbors: int) -> IntArray:
        """Indices (n_rows, n_neighbors) of the rows that are nearest to each, without itself.

        They are kept: fewer of them need no second search.
        """
        if n_neighbors == 0:
            return np.empty((self.rows.shape[0], 0), np.int32)
        if self._others is None or self._others.shape[1] < n_neighbors:
            with _SEARCHING:
                found = self._search.kneighbors(None, n_neighbors, return_distance=False)
            # Short indices: products with a graph of them are the faster.
            self._others = found.astype(np.int32)
        return self._others[:, :n_neighbors]

    def graph(self, n_neighbors: int) -> Data:
        """The graph of `SpectralClustering(affinity="nearest_neighbors")`.

        Parameters
        ----------
        n_neighbors : int
            Neighbours of a row, itself included; at most the number of rows.

        Returns
        -------
        CSR array of shape (n_rows, n_rows)
            (B + B.T) / 2, where B_ij is 1 if row j is one of the nearest of row i, or i itself.
        """
        columns = self.others(n_neighbors - 1)
        return both_ways(csr_of(np.ones(columns.size), columns, len(columns)))

    def ranks(self) -> tuple[Data, None]:
        """For each pair, with how many neighbours one is among those of the other.

        As many are tried as `MOST_EDGES` allows. Rows that are equally far may be ranked otherwise
        where fewer are searched for. Rows have no mass: all count alike.
        """
        n = self.rows.shape[0]
        columns = self.others(min(n, max(1, MOST_EDGES // n)) - 1)
        # A row is the first of its own neighbours.
        ranks = np.broadcast_to(2.0 + np.arange(columns.shape[1]), columns.shape)
        return csr_of(ranks.ravel(), columns, n), None

    def of(self, X: Data, n_neighbors: int) -> tuple[Array, IntArray]:
        """Distances, on a scale of their own, and indices of the rows nearest to new rows."""
        placed = self._placed(X)
        with _SEARCHING:
            distances, found = self._search.kneighbors(placed, n_neighbors)
        if not np.isfinite(distances).all():
            raise ValueError(
                "X has rows so far from the training rows of kernel='heat' that their distances "
                "overflow: leave them out, or scale all rows."
            )
        return distances, found

    def digests(self, rows: Data) -> Digests:
        """Bytes that are equal where rows are."""
        return digests(rows)

    def weights(self, rows: Data, n_neighbors: int) -> Data:
        """Equal weights of the rows nearest to new ones, those first, shape (n_new, n_rows)."""
        _, near = self.of(rows, n_neighbors)
        return csr_of(np.full(near.size, 1 / n_neighbors, rows.dtype), near, self.rows.shape[0])


class DistinctRows(NamedTuple):
    """The different training rows, which graphs are made on.

    Attributes
    ----------
    nearest : NearestRows
        Each of them once, in the order of their digests: graphs do not depend on that of the rows.
    known : ndarray of shape (n_rows,)
        The digests.
    """

    nearest: NearestRows
    known: Digests

    @classmethod
    def of(cls, X: Data, sample_weight: Array | None, metric: str) -> "DistinctRows":
        """Find them among the training rows, those of weight 0 left out."""
        rows = X if sample_weight is None else X[np.flatnonzero(sample_weight)]
        known, first = np.unique(digests(rows), return_index=True)
        return cls(NearestRows(rows[first], metric), known)


def origin_and_scale(rows: Array) -> tuple[Any, Any]:
    """What rows are moved and divided by, that their squares neither lose digits nor overflow."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    scale = (high / 2 - low / 2).max()
    return low / 2 + high / 2, scale if scale > 0 else scale.dtype.type(1)


def nearest_stored(distances: Data, count: int) -> Data:
    """Ones where the smallest entries of each row are stored.

    Parameters
    ----------
    distances : CSR array of shape (n_rows, n_columns)
        Distances; those that are not stored are no neighbours, and those of 0 the nearest.
    count : int
        Neighbours of a row; rows that have fewer keep all.

    Returns
    -------
    CSR array of shape (n_rows, n_columns)
        Of ones.

    Examples
    --------
    >>> import numpy as np, scipy.sparse
    >>> from kernelmeans.heat.neighbors import nearest_stored
    >>> D = scipy.sparse.csr_array(np.array([[3.0, 1.0, 2.0], [0.0, 5.0, 0.0]]))
    >>> nearest_stored(D, 2).toarray()
    array([[0., 1., 1.],
           [0., 1., 0.]])
    """
    stored = distances.tocoo()
    order = np.lexsort((stored.data, stored.row))
    rank = np.arange(stored.nnz) - distances.indptr[stored.row[order]]
    kept = order[rank < count]
    places = stored.row[kept], stored.col[kept]
    return scipy.sparse.csr_array((np.ones(len(kept), distances.dtype), places), distances.shape)


def stored_graph(distances: Data, n_neighbors: int) -> Data:
    """As `NearestRows.graph`, of distances to other rows that are given.

    Parameters
    ----------
    distances : CSR array of shape (n_rows, n_rows)
        Of each row to some others.
    n_neighbors : int
        Neighbours of a row, itself included.

    Returns
    -------
    CSR array of shape (n_rows, n_rows)
        (B + B.T) / 2.
    """
    return both_ways(nearest_stored(distances.astype(np.float64), n_neighbors - 1))


def csr_of(values: Array, columns: IntArray, n_columns: int) -> Data:
    """A CSR array of as many values in each row as there are columns given for it."""
    ends = np.arange(len(columns) + 1, dtype=columns.dtype) * columns.shape[1]
    return scipy.sparse.csr_array((values, columns.ravel(), ends), (len(columns), n_columns))


def both_ways(others: Data) -> Data:
    """(B + B.T) / 2, where B_ij is 1 if that is stored, or i is j."""
    B = scipy.sparse.eye_array(others.shape[0], format="csr") + others
    return ((B + B.T) / 2).tocsr()
