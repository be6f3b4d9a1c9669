"""How far clusters keep neighbours together."""

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike
from sklearn.neighbors import NearestNeighbors, sort_graph_by_row_values
from sklearn.utils import check_array

from kernelmeans._given import is_integer, received
from kernelmeans._labels import encoded
from kernelmeans._memory import remembered
from kernelmeans._typing import IntArray
from kernelmeans.engines.threads import (
    in_this_process,
    single_threaded_blas,
    single_threaded_openmp,
)
from kernelmeans.lowrank.landmarks import near_one


def neighbor_consistency(
    X: Any, labels: ArrayLike, *, n_neighbors: int = 25, metric: str = "minkowski"
) -> float:
    """Fraction of the nearest neighbours of all rows that are in the cluster of their row.

    It is the index WCNN of Gagolewski, Bartoszuk and Cena (2021), for clusters of any size. It
    looks at near rows alone, and so favours no shape of clusters. Fewer clusters have a higher one:
    use it to compare clusterings with the same number of clusters.

    Parameters
    ----------
    X : {array-like, CSR matrix} of shape (n_rows, n_features)
        The rows. For ``metric="precomputed"`` X holds the distances between them, of shape
        (n_rows, n_rows); a CSR matrix holds those to at least ``n_neighbors`` others and, as 0, to
        the row itself, as `sklearn.neighbors.KNeighborsTransformer` makes it.
    labels : array-like of shape (n_rows,)
        The clusters.
    n_neighbors : int, default=25
        Neighbours of each row, itself excluded; all others if there are fewer.
    metric : str, default="minkowski"
        The distance, as `sklearn.neighbors.NearestNeighbors` takes it; ``"minkowski"`` is
        Euclidean.

    Returns
    -------
    neighbor_consistency : float
        Between 0 and 1; 1 for a single cluster.

    Raises
    ------
    ValueError
        If X or labels cannot be used, if there is a single row, or if ``n_neighbors`` is no
        positive integer.

    References
    ----------
    Gagolewski, Bartoszuk and Cena (2021), Are cluster validity measures (in)valid?

    Examples
    --------
    >>> from kernelmeans.metrics import neighbor_consistency
    >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]]
    >>> neighbor_consistency(X, [0, 0, 0, 1, 1, 1], n_neighbors=2)
    1.0
    >>> neighbor_consistency(X, [0, 0, 1, 1, 1, 1], n_neighbors=2)
    0.6666666666666666
    """
    if not is_integer(n_neighbors) or n_neighbors < 1:
        raise ValueError(f"n_neighbors={n_neighbors!r} must be a positive integer, such as 25.")
    rows = received(X)
    if metric == "minkowski":
        dtypes = [np.float64, np.float32]
        rows = near_one(check_array(rows, accept_sparse="csr", dtype=dtypes, input_name="X"))
    elif metric == "precomputed" and scipy.sparse.issparse(X):
        # As given if no entry is repeated: the order of the entries decides among equal distances.
        rows = sort_graph_by_row_values(rows, warn_when_not_sorted=False) if X.nnz > rows.nnz else X
    search = NearestNeighbors(n_neighbors=n_neighbors, metric=metric).fit(rows)
    n_rows = int(search.n_samples_fit_)
    _, codes = encoded("labels", labels, n_rows)
    if n_rows == 1:
        raise ValueError("X has 1 row, and so no neighbours: give at least 2 rows.")
    count = min(n_neighbors, n_rows - 1)
    near = remembered(lambda: _nearest(search, count), lambda: ("nearest", rows, metric, count))
    return float(np.mean(codes[near] == codes[:, None]))


def _nearest(search: NearestNeighbors, count: int) -> IntArray:
    """The nearest other rows of each row."""
    # Of rows at equal distance, several threads find others.
    with single_threaded_blas(), single_threaded_openmp(), in_this_process():
        found: IntArray = search.kneighbors(n_neighbors=count, return_distance=False)
    return found
