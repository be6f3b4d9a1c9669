"""From a graph to coordinates of its rows: leading eigenpairs, the time of heat, features."""

import math
from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse
from scipy.sparse.linalg import eigsh

from kernelmeans._typing import Array, BoolArray, Data, IntArray
from kernelmeans.heat.pieces import Pieces
from kernelmeans.kernels.formulas import unit_rows

#: Rows of a piece up to which its graph is a dense matrix, and pairs of a larger one beyond which
#: that is the faster way too.
DENSE_ROWS, DENSE_SHARE = 400, 0.2
#: Lanczos vectors beside the pairs that are wanted: to keep more orthogonal takes longer than the
#: steps that it saves.
VECTORS_BESIDE = 20
#: Residuals of pairs of larger pieces: eigenvalues, and leading pairs, are far more accurate.
TOLERANCE = 1e-5
#: Leading pairs of all pieces that count, for each cluster and beside that: labels of more are
#: the same (``benchmarks/heat_time.py``), and pairs that no gap parts from the next are dear.
PAIRS_PER_CLUSTER, PAIRS_BESIDE = 2, 10
#: Restarts of Lanczos' method for a slow spectrum.
MOST_RESTARTS = 10_000
#: States, beside those that stay apart for ever, that are left when all else counts as forgotten.
FORGOTTEN = 1e-3
#: Relative accuracy of a time.
ACCURACY = 1e-9
#: Share of a state below which an eigenpair is left out.
NEGLIGIBLE = 1e-2


class Basis(NamedTuple):
    """Coordinates whose inner products are the cosine form of a heat kernel.

    Attributes
    ----------
    features : ndarray of shape (n_rows, r)
        Rows of length 1; zeros for rows of pieces that are not kept.
    values : ndarray of shape (r,)
        The eigenvalue of each column, in descending order.
    t : float
        The time.
    """

    features: Array
    values: Array
    t: float


def heat_basis(graph: Data, pieces: Pieces, n_clusters: int, t: float | str = "auto") -> Basis:
    """Rows of U exp(-(1 - lambda) t), scaled to length 1.

    Parameters
    ----------
    graph : CSR array of shape (n_rows, n_rows)
        Edges A, with eigenvalues lambda and eigenvectors U of D^-1/2 A D^-1/2.
    pieces : Pieces
        Its connected components.
    n_clusters : int
        Clusters looked for.
    t : "auto" or float, default="auto"
        The time; ``"auto"`` is `solve_time`.

    Returns
    -------
    Basis
        Features, eigenvalues and time.

    Examples
    --------
    >>> import numpy as np, scipy.sparse
    >>> from kernelmeans.heat.basis import heat_basis
    >>> from kernelmeans.heat.pieces import find_pieces
    >>> graph = scipy.sparse.csr_array(np.kron(np.eye(2), np.ones((3, 3))))
    >>> features = heat_basis(graph, find_pieces(graph, 2), 2).features
    >>> (features @ features.T).round(2)[0] + 0.0
    array([1., 1., 1., 0., 0., 0.])
    """
    count, S = pair_count(n_clusters), normalized(graph)
    rows = [np.flatnonzero(pieces.labels == piece) for piece in range(pieces.n_kept)]
    found = [leading_pairs(S, own, count) for own in rows]
    piece = np.repeat(np.arange(len(found)), [len(own) for own, _ in found])
    place = np.concatenate([np.arange(len(own)) for own, _ in found])
    values = np.concatenate([own for own, _ in found])
    # The largest of all pieces; that of each piece is the same, 1, and comes before all others.
    order = np.lexsort((-values, place > 0))[:count]
    values, piece, place = values[order], piece[order], place[order]
    time, weights, kept = heat_weights(values, n_clusters, pieces.n_kept, t)
    kept |= place == 0
    features = np.zeros((S.shape[0], np.count_nonzero(kept)))
    for column, index in enumerate(np.flatnonzero(kept)):
        own = piece[index]
        features[rows[own], column] = found[own][1][:, place[index]] * weights[index]
    return Basis(unit_rows(features), values[kept], time)


def heat_weights(
    values: Array, n_clusters: int, n_pieces: int, t: float | str
) -> tuple[float, Array, BoolArray]:
    """The time, how much of each eigenvector is left then, and whether that counts.

    Parameters
    ----------
    values : ndarray of shape (r,)
        Eigenvalues lambda, of which the ``n_pieces`` largest are 1.
    n_clusters, n_pieces, t
        As for `solve_time`, or the time itself.

    Returns
    -------
    t : float
        The time.
    weights : ndarray of shape (r,)
        What is left, exp(-(1 - lambda) t).
    kept : ndarray of bool of shape (r,)
        Whether it is not negligible.
    """
    time = solve_time(values, n_clusters, n_pieces) if isinstance(t, str) else t
    weights = np.exp(-time * (1 - values))
    return time, weights, weights**2 > NEGLIGIBLE


def normalized(graph: Data) -> Data:
    """D^-1/2 A D^-1/2 of a graph without isolated rows, as CSR array."""
    roots = scipy.sparse.diags_array(1 / np.sqrt(graph.sum(axis=1)))
    return (roots @ graph @ roots).tocsr()


def leading_pairs(S: Data, rows: IntArray, count: int) -> tuple[Array, Array]:
    """Largest eigenvalues of one piece, and their eigenvectors.

    Parameters
    ----------
    S : CSR array of shape (n_samples, n_samples)
        The normalised graph.
    rows : ndarray of int of shape (n_rows,)
        Rows of one connected component.
    count : int
        Pairs that are wanted.

    Returns
    -------
    values : ndarray of shape (r,)
        In descending order, the first of them 1; r is ``min(count, n_rows)``.
    vectors : ndarray of shape (n_rows, r)
        Eigenvectors.

    Examples
    --------
    >>> import numpy as np, scipy.sparse
    >>> from kernelmeans.heat.basis import leading_pairs
    >>> S = scipy.sparse.csr_array(np.full((2, 2), 0.5))
    >>> leading_pairs(S, np.arange(2), 1)[0].round(12)
    array([1.])
    """
    own = S[rows][:, rows] if len(rows) < S.shape[0] else S
    n = len(rows)
    if n <= DENSE_ROWS or count > DENSE_SHARE * n:
        leading = [max(0, n - count), n - 1]
        values, vectors = scipy.linalg.eigh(own.toarray(), subset_by_index=leading)
    else:
        # One start for all, so that equal graphs have equal pairs; not the first eigenvector,
        # which would be all that is found.
        start = np.random.default_rng(0).uniform(0.5, 1.5, n)
        options = {"which": "LA", "v0": start, "tol": TOLERANCE, "maxiter": MOST_RESTARTS}
        values, vectors = eigsh(own, count, ncv=min(n, count + VECTORS_BESIDE), **options)
        # ARPACK promises no order.
        order = np.argsort(values, kind="stable")
        values, vectors = values[order], vectors[:, order]
    values = np.minimum(values[::-1], 1)
    # Else long times would multiply its rounding until no heat is left.
    values[0] = 1
    return values, vectors[:, ::-1]


def pair_count(n_clusters: int) -> int:
    """Leading eigenpairs that heat kernels for so many clusters are made of."""
    return PAIRS_PER_CLUSTER * n_clusters + PAIRS_BESIDE


def pairs_bytes(n_rows: int, n_neighbors: int, n_clusters: int) -> int:
    """Bytes that a graph and the search for its eigenpairs take."""
    # Both directions of each edge, in the sum and in what it is the sum of: value and place.
    graph = 4 * n_rows * n_neighbors * 12
    # Lanczos' vectors, and those that are kept, as they are and as features.
    return graph + 8 * n_rows * 5 * pair_count(n_clusters)


def states(values: Array, t: float) -> float:
    """States that are apart at a time: the trace sum_j exp(-2 (1 - lambda_j) t) of the kernel.

    Parameters
    ----------
    values : ndarray of shape (r,)
        Eigenvalues of the normalised graph.
    t : float
        The time.

    Returns
    -------
    float
        Their number: all at first, the number of pieces of the graph in the end.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat.basis import states
    >>> states(np.array([1.0, 0.5, 0.0]), 0.0)
    3.0
    """
    return float(np.exp(-2 * t * (1 - values)).sum())


def solve_time(values: Array, n_clusters: int, n_pieces: int) -> float:
    """The time at which as many states are apart as there are clusters.

    Pieces of the graph stay apart for ever. Where they are as many as the clusters, or more, it is
    the time at which all else is forgotten.

    Parameters
    ----------
    values : ndarray of shape (r,)
        Eigenvalues, of which the ``n_pieces`` largest are 1.
    n_clusters : int
        Clusters looked for.
    n_pieces : int
        Pieces of the graph.

    Returns
    -------
    float
        The time; 0 if there are not as many states to begin with.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat.basis import solve_time, states
    >>> values = np.array([1.0, 0.9, 0.5, 0.1])
    >>> round(states(values, solve_time(values, n_clusters=2, n_pieces=1)), 6)
    2.0
    """
    mortal = np.sort(values)[::-1][n_pieces:]
    left = max(n_clusters - n_pieces, FORGOTTEN)
    if len(mortal) <= left:
        return 0.0
    # At the first of these times more are left, and at the second fewer.
    low, high = 0.0, math.log(len(mortal) / left) / (2 * max(1 - float(mortal[0]), 1e-15))
    while high - low > ACCURACY * high:
        middle = (low + high) / 2
        low, high = (middle, high) if states(mortal, middle) > left else (low, middle)
    return high
