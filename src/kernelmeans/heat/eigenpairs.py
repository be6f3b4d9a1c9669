"""Leading eigenpairs of a graph, and the memory that they take."""

import math

import numpy as np
import scipy.linalg
import scipy.sparse
from scipy.sparse.linalg import LinearOperator, eigsh

from kernelmeans._typing import Array, Data, IntArray

#: The graph of a piece becomes a dense matrix up to so many rows, or if more than this fraction of
#: its eigenpairs are needed. Lanczos' method takes longer then.
DENSE_ROWS, DENSE_FRACTION = 400, 0.1
#: Largest size of a piece for Lanczos' method: how many numbers its eigenvectors have. For larger
#: pieces coarser graphs are faster, unless there are none. In long chains of rows the gaps fall
#: below the method's tolerance. Vectors of larger pieces are in float32.
LANCZOS_NUMBERS = 2**17
#: Nodes of the coarsest graph for each vector, and at least.
NODES_PER_VECTOR, FEWEST_NODES = 8, 2000
#: Vectors in addition to the pairs that are sought by coarser graphs: as a fraction, and at least.
EXTRA, FEWEST_EXTRA = 1 / 8, 8
#: Lanczos vectors in addition to the pairs: a number of them, and a fraction of the pairs. More of
#: them take longer than the steps that they save.
EXTRA_VECTORS, EXTRA_FRACTION = 20, 1 / 2
#: Largest residual of eigenpairs of larger pieces; eigenvalues and leading pairs are far more
#: accurate.
TOLERANCE = 1e-5
#: Largest residual in the search for a pair that was missed.
GLANCE = 1e-3
#: Number of leading pairs for each cluster, and number of further pairs. More pairs give the same
#: labels (``benchmarks/heat_time.py``), and pairs without a gap to the next take long.
PAIRS_PER_CLUSTER, EXTRA_PAIRS = 2, 10
#: Restarts of Lanczos' method for a slow spectrum.
MOST_RESTARTS = 10_000


def normalized(graph: Data) -> Data:
    """D^-1/2 A D^-1/2 of a graph A without isolated rows, as CSR array."""
    roots = scipy.sparse.diags_array(1 / np.sqrt(graph.sum(axis=1)))
    return (roots @ graph @ roots).tocsr()


def pair_count(n_clusters: int) -> int:
    """The number of leading eigenpairs in a heat kernel for so many clusters."""
    return PAIRS_PER_CLUSTER * n_clusters + EXTRA_PAIRS


def coarsest_size(n_vectors: int) -> int:
    """Nodes of a graph that is not made coarser."""
    return max(FEWEST_NODES, NODES_PER_VECTOR * n_vectors)


def with_extra(count: int) -> int:
    """Vectors in coarser graphs for so many pairs."""
    return count + max(FEWEST_EXTRA, math.ceil(EXTRA * count))


def need_coarser(n_rows: int, count: int) -> bool:
    """Whether so many pairs of a piece come from coarser graphs, and not from Lanczos' method."""
    return n_rows * count > LANCZOS_NUMBERS and n_rows > coarsest_size(with_extra(count))


def pairs_bytes(n_rows: int, n_neighbors: int, n_clusters: int) -> int:
    """Bytes for a graph and its eigenpairs."""
    # Value and column of both directions of each edge, in the sum (B + B.T) / 2 and in its terms,
    # and the distances; with SciPy 1.15 a little more.
    count = pair_count(n_clusters)
    graph, numbers = n_rows * n_neighbors * (6 * 12 + 3), n_rows * count
    if need_coarser(n_rows, count):
        # Coarser graphs; vectors that are filtered, with those in addition, and features.
        return graph + 4 * 7 * numbers
    # Dense matrices or Lanczos' vectors, the eigenvectors, and the features.
    method = 2 * max(numbers, n_rows**2 if count > DENSE_FRACTION * n_rows else 0)
    return graph + 8 * (method + 4 * numbers)


def leading_pairs(S: Data, rows: IntArray, count: int) -> tuple[Array, Array]:
    """Largest eigenvalues of one piece, and their eigenvectors.

    Parameters
    ----------
    S : CSR array of shape (n_samples, n_samples)
        The normalized graph.
    rows : ndarray of int of shape (n_rows,)
        Rows of one connected component.
    count : int
        Number of pairs.

    Returns
    -------
    values : ndarray of shape (r,)
        Eigenvalues in descending order, the first of them 1; r is ``min(count, n_rows)``.
    vectors : ndarray of shape (n_rows, r)
        Eigenvectors.

    Examples
    --------
    >>> import numpy as np, scipy.sparse
    >>> from kernelmeans.heat.eigenpairs import leading_pairs
    >>> S = scipy.sparse.csr_array(np.full((2, 2), 0.5))
    >>> leading_pairs(S, np.arange(2), 1)[0].round(12)
    array([1.])
    """
    block, n = part_of(S, rows), len(rows)
    if n <= DENSE_ROWS or count > DENSE_FRACTION * n:
        leading = [max(0, n - count), n - 1]
        try:
            values, vectors = scipy.linalg.eigh(block.toarray(), subset_by_index=leading)
        except np.linalg.LinAlgError:
            # LAPACK finds some pairs of a complete graph, whose eigenvalues are equal, not at all.
            values, vectors = scipy.linalg.eigh(block.toarray(), driver="evd")
            values, vectors = values[leading[0] :], vectors[:, leading[0] :]
    else:
        values, vectors = _lanczos(block, count)
    values = np.minimum(values[::-1], 1)
    # If it were rounded, no heat would be left after a long time.
    values[0] = 1
    return values, vectors[:, ::-1]


def _lanczos(S: Data, count: int) -> tuple[Array, Array]:
    """Largest eigenvalues of a sparse graph in ascending order, and their eigenvectors.

    Thinly connected parts have nearly equal eigenvalues, and Lanczos' method finds only one of
    them. So it searches again, among vectors orthogonal to those found, until no larger eigenvalue
    is left.
    """
    n = S.shape[0]
    # Fixed starts, so that equal graphs have equal pairs. From the first eigenvector, no other
    # would be found.
    rng = np.random.default_rng(0)
    start = rng.uniform(0.5, 1.5, n)
    options = {"which": "LA", "maxiter": MOST_RESTARTS}
    ncv = min(n, count + EXTRA_VECTORS + int(EXTRA_FRACTION * count))
    values, vectors = eigsh(S, count, ncv=ncv, v0=start, tol=TOLERANCE, **options)
    for _ in range(count):

        def rest(x: Array, values: Array = values, vectors: Array = vectors) -> Array:
            # Pairs that are known get the smallest possible eigenvalue, -1, and come last.
            return np.asarray(S @ x - vectors @ ((values + 1) * (vectors.T @ x)))

        # A new random start. An earlier one has no part in equal eigenvectors that are still
        # missing.
        start = rng.standard_normal(n)
        start -= vectors @ (vectors.T @ start)
        operator = LinearOperator(S.shape, rest, dtype=S.dtype)
        value, vector = eigsh(operator, 1, ncv=EXTRA_VECTORS, v0=start, tol=GLANCE, **options)
        if value[0] <= values.min():
            break
        value, vector = eigsh(operator, 1, ncv=ncv, v0=vector[:, 0], tol=TOLERANCE, **options)
        span, _ = np.linalg.qr(np.column_stack([vectors, vector]))
        # Gaps to 1 keep more digits than eigenvalues near it.
        gaps, turn = scipy.linalg.eigh(span.T @ (span - S @ span))
        values, vectors = 1 - gaps[:count], span @ turn[:, :count]
    # ARPACK promises no order.
    order = np.argsort(values, kind="stable")
    return values[order], vectors[:, order]


def part_of(S: Data, rows: IntArray) -> Data:
    """The part of the graph on the rows of one piece."""
    return S[rows][:, rows] if len(rows) < S.shape[0] else S
