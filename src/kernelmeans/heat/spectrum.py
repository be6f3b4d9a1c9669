"""Leading eigenpairs of a graph, piece by piece."""

from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse
from scipy.sparse.linalg import eigsh

from kernelmeans._typing import Array, Data, IntArray

#: Rows of a piece up to which all its eigenpairs are computed at once, and pairs of a larger one
#: beyond which that is the faster way too.
DENSE_ROWS, DENSE_SHARE = 400, 0.2
#: Residuals of pairs of larger pieces: eigenvalues, and leading pairs, are far more accurate.
TOLERANCE = 1e-5
#: Leading pairs of all pieces that count, for each cluster and beside that: labels of more are
#: the same (``benchmarks/heat_time.py``), and pairs that no gap parts from the next are dear.
PAIRS_PER_CLUSTER, PAIRS_BESIDE = 2, 10
#: Restarts of Lanczos' method for a slow spectrum.
MOST_RESTARTS = 10_000


class Pairs(NamedTuple):
    """Leading eigenpairs of one piece of a graph.

    Attributes
    ----------
    rows : ndarray of int of shape (n_rows,)
        Its rows.
    values : ndarray of shape (r,)
        Largest eigenvalues of D^-1/2 A D^-1/2, in descending order, the first of them 1.
    vectors : ndarray of shape (n_rows, r)
        Their eigenvectors.
    """

    rows: IntArray
    values: Array
    vectors: Array


def symmetric_normalised(graph: Data) -> Data:
    """D^-1/2 A D^-1/2 of a graph without isolated rows, as CSR array."""
    roots = scipy.sparse.diags_array(1 / np.sqrt(graph.sum(axis=1)))
    return (roots @ graph @ roots).tocsr()


def leading_pairs(S: Data, rows: IntArray, count: int) -> Pairs:
    """Largest eigenvalues of one piece, and their eigenvectors.

    Parameters
    ----------
    S : CSR array of shape (n_samples, n_samples)
        The normalised graph.
    rows : ndarray of int of shape (n_rows,)
        Rows of one connected component.
    count : int
        Pairs that are wanted; all of a small piece are computed anyway.

    Returns
    -------
    Pairs
        At least ``min(count, n_rows)`` of them.

    Examples
    --------
    >>> import numpy as np, scipy.sparse
    >>> from kernelmeans.heat.spectrum import leading_pairs
    >>> S = scipy.sparse.csr_array(np.full((2, 2), 0.5))
    >>> leading_pairs(S, np.arange(2), 1).values.round(12) + 0.0
    array([1., 0.])
    """
    own = S[rows][:, rows] if len(rows) < S.shape[0] else S
    n = len(rows)
    if n <= DENSE_ROWS or count > DENSE_SHARE * n:
        values, vectors = scipy.linalg.eigh(own.toarray())
    else:
        # One start for all, so that equal graphs have equal pairs; not the first eigenvector,
        # which would be all that is found.
        start = np.random.default_rng(0).uniform(0.5, 1.5, n)
        options = {"which": "LA", "v0": start, "tol": TOLERANCE, "maxiter": MOST_RESTARTS}
        values, vectors = eigsh(own, count, ncv=min(n, 2 * count + 20), **options)
        # ARPACK promises no order.
        order = np.argsort(values, kind="stable")
        values, vectors = values[order], vectors[:, order]
    values = np.minimum(values[::-1], 1)
    # Else long times would multiply its rounding until no heat is left.
    values[0] = 1
    return Pairs(rows, values, vectors[:, ::-1])


def pair_count(n_clusters: int) -> int:
    """Leading eigenpairs that heat kernels for so many clusters are made of."""
    return PAIRS_PER_CLUSTER * n_clusters + PAIRS_BESIDE


def pairs_bytes(n_rows: int, n_neighbors: int, n_clusters: int) -> int:
    """Bytes that a graph and the search for its eigenpairs take."""
    # Both directions of each edge, in the sum and in what it is the sum of: value and place.
    graph = 4 * n_rows * n_neighbors * 12
    # Lanczos' vectors, and those that are kept, as they are and as features.
    return graph + 8 * n_rows * 5 * pair_count(n_clusters)
