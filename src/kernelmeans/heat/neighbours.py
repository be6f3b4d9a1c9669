"""Nearest rows, and the graph that they make."""

import math
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.neighbors import NearestNeighbors

from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.kernels.formulas import unit_rows

#: Fewest and most neighbours that ``n_neighbors="auto"`` takes.
FEWEST, MOST = 2, 25
#: Neighbours to store for it, as messages say: more than ``MOST``.
AMPLE = 30

#: scikit-learn's search sets filters of warnings, which all threads share: one at a time.
_SEARCHING = Lock()


def auto_neighbours(n_samples: int, n_clusters: int) -> int:
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
    >>> from kernelmeans.heat import auto_neighbours
    >>> auto_neighbours(6, 2), auto_neighbours(400, 40), auto_neighbours(1797, 10)
    (3, 4, 8)
    """
    return int(np.clip(round(1 + math.log2(n_samples / n_clusters)), FEWEST, MOST))


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
    >>> from kernelmeans.heat.neighbours import NearestRows
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
        return (X - origin) / scale

    @cached_property
    def _search(self) -> NearestNeighbors:
        return NearestNeighbors().fit(self._placed(self.rows))

    def in_form(self, X: Data) -> Data:
        """New rows sparse or dense, as these are."""
        if scipy.sparse.issparse(X) == scipy.sparse.issparse(self.rows):
            return X
        return X.toarray() if scipy.sparse.issparse(X) else scipy.sparse.csr_array(X)

    def others(self, n_neighbors: int) -> IntArray:
        """Indices (n_rows, n_neighbors) of the rows that are nearest to each, without itself.

        They are kept: fewer of them need no second search.
        """
        if self._others is None or self._others.shape[1] < n_neighbors:
            with _SEARCHING:
                found = self._search.kneighbors(None, n_neighbors, return_distance=False)
            # Short indices: products with a graph of them are the faster.
            self._others = found.astype(np.int32)
        return self._others[:, :n_neighbors]

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


def origin_and_scale(rows: Array) -> tuple[Any, Any]:
    """What rows are moved and divided by, that their squares neither lose digits nor overflow."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    scale = (high / 2 - low / 2).max()
    return low / 2 + high / 2, scale if scale > 0 else scale.dtype.type(1)


def neighbour_graph(nearest: NearestRows, n_neighbors: int) -> Data:
    """The graph of `SpectralClustering(affinity="nearest_neighbors")`.

    Parameters
    ----------
    nearest : NearestRows
        Rows, all different.
    n_neighbors : int
        Neighbours of a row, itself included; at most the number of rows.

    Returns
    -------
    CSR array of shape (n_rows, n_rows)
        (B + B.T) / 2, where B_ij is 1 if row j is one of the nearest of row i, or i itself.
    """
    n = nearest.rows.shape[0]
    B = scipy.sparse.eye_array(n, format="csr")
    if n_neighbors > 1:
        columns = nearest.others(n_neighbors - 1)
        ends = np.arange(0, columns.size + 1, n_neighbors - 1, dtype=np.int32)
        B += scipy.sparse.csr_array((np.ones(columns.size), columns.ravel(), ends), shape=(n, n))
    return ((B + B.T) / 2).tocsr()


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
    >>> from kernelmeans.heat.neighbours import nearest_stored
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
    """As `neighbour_graph`, of distances to other rows that are given.

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
    B = nearest_stored(distances.astype(np.float64), n_neighbors - 1)
    B += scipy.sparse.eye_array(B.shape[0], format="csr")
    return ((B + B.T) / 2).tocsr()
