"""The definitions of heat kernels, in NumPy's long double and without the package's code.

A is a graph with the degrees D, and S = D^-1/2 A D^-1/2 has the eigenpairs (lambda, u). Features
are the rows of U exp(-(1 - lambda) t), scaled to norm 1.
"""

from typing import Any

import numpy as np

from fuzz.definitions import Long

#: What the documents of the package say: so many leading pairs for k clusters, the weight at which
#: one no longer counts, what remains of states that are mixed, and the rows of a mean cluster that
#: are debris.
PAIRS_PER_CLUSTER, EXTRA_PAIRS, NEGLIGIBLE, MIXED, DEBRIS = 2, 10, 1e-2, 1e-3, 0.05
#: The neighbour that tells the density, the neighbours that tell the dimension, the smallest and
#: the largest weight of an edge, and the largest power for ``density="auto"``.
CORE_NEIGHBOR, DIMENSION_NEIGHBORS, LIGHTEST, HEAVIEST, MOST = 5, 10, Long("1e-4"), Long(1000), 16
#: The most neighbours in surroundings.
SURROUNDINGS = 80
#: Jacobi's method converges quadratically: it takes six or seven rounds for small matrices.
ROUNDS = 20


def eigenpairs(S: Any) -> tuple[Any, Any]:
    """Eigenvalues of a symmetric matrix in descending order, and its eigenvectors, by Jacobi."""
    S, n = S.astype(Long), len(S)
    U = np.eye(n, dtype=Long)
    for _ in range(ROUNDS):
        if np.abs(S - np.diag(np.diagonal(S))).max(initial=0) < np.finfo(Long).eps / 8:
            break
        for i in range(n):
            for j in range(i + 1, n):
                if S[i, j] != 0:
                    # The rotation of the smaller angle that makes S_ij zero; none if it is tiny.
                    with np.errstate(over="ignore"):
                        ratio = (S[j, j] - S[i, i]) / (2 * S[i, j])
                    tangent = (1 if ratio >= 0 else -1) / (np.abs(ratio) + np.hypot(ratio, 1))
                    cosine = 1 / np.hypot(tangent, 1)
                    turn = np.array([[1, tangent], [-tangent, 1]]) * cosine
                    pair = [i, j]
                    S[:, pair] = S[:, pair] @ turn
                    S[pair] = turn.T @ S[pair]
                    U[:, pair] = U[:, pair] @ turn
    values = np.diagonal(S)
    order = np.argsort(-values)
    return values[order], U[:, order]


def rounded_eigenpairs(S: Any) -> tuple[Any, Any]:
    """The same by LAPACK, up to the rounding of float64."""
    values, U = np.linalg.eigh(S.astype(np.float64))
    return values[::-1].astype(Long), U[:, ::-1].astype(Long)


def to_others(far: Any, i: int) -> Any:
    """Distances of row i to others, ascending; none that is infinite."""
    others = np.sort(np.delete(far[i], i))
    return others[np.isfinite(others)]


def intrinsic_dimension(far: Any) -> Any:
    """1 / mean_i sum_(j<m) log(T_m / T_j) / (m - 1), T the distances to the nearest others."""
    inverses = []
    for i in range(len(far)):
        T = to_others(far, i)[:DIMENSION_NEIGHBORS]
        T = T[T > 0]
        if len(T) > 1 and T[0] < T[-1]:
            inverses.append(np.log(T[-1] / T[:-1]).sum() / (len(T) - 1))
    return len(inverses) / np.sum(inverses) if inverses else None


def core_distances(far: Any, rank: int) -> Any:
    """Distances to the other row of this rank, or to the last of fewer."""
    near = [to_others(far, i)[:rank] for i in range(len(far))]
    return np.array([own[-1] if len(own) else np.inf for own in near], Long)


def edge_weights(far: Any, density: Any, per_surrounding: int) -> tuple[Any, Any, Any]:
    """Weights of edges between any two rows, by the density of rows.

    Parameters
    ----------
    far : ndarray of shape (n, n)
        Distances, infinite where they are not known. The diagonal does not count.
    density : "auto" or float
        The power; half the dimension plus 2.
    per_surrounding : int
        Rows for each row of surroundings.

    Returns
    -------
    weights : ndarray of shape (n, n)
        The weights; those of rows to themselves on the diagonal.
    power : float
        The power in use.
    dimension : float or None
        The intrinsic dimension, if it is asked for and known.
    """
    n, dimension, power = len(far), None, density
    if density == "auto":
        dimension = intrinsic_dimension(far)
        power = Long(0) if dimension is None else min(dimension / 2 + 2, Long(MOST))
    core = core_distances(far, CORE_NEIGHBOR)
    unit = np.median(core)
    if power == 0 or not 0 < unit < np.inf:
        return np.ones((n, n), Long), Long(0), dimension
    wide = core_distances(far, min(max(n // per_surrounding, CORE_NEIGHBOR), SURROUNDINGS))
    core = np.maximum(core / unit, wide / np.median(wide))
    lengths = np.maximum(far / unit, np.maximum(core[:, None], core))
    np.fill_diagonal(lengths, core)
    with np.errstate(divide="ignore", over="ignore"):
        return np.clip(lengths ** -Long(power), LIGHTEST, HEAVIEST), power, dimension


def pieces(A: Any) -> list[Any]:
    """The connected components of a graph, the largest first, as arrays of rows."""
    left, found = set(range(len(A))), []
    while left:
        piece = near = {left.pop()}
        while near:
            near = {j for i in near for j in np.flatnonzero(A[i]).tolist()} - piece
            piece = piece | near
        left -= piece
        found.append(np.array(sorted(piece)))
    return sorted(found, key=len, reverse=True)


def count_large(found: list[Any], k: int) -> int:
    """Number of pieces that are not debris; at least one."""
    sizes = np.array([len(piece) for piece in found])
    return max(1, int((sizes >= max(DEBRIS * sizes.sum() / k, 2)).sum()))


def spectrum(A: Any, kept: list[Any], solve: Any = eigenpairs) -> tuple[Any, Any]:
    """Eigenvalues of the pieces that are kept, the first of each first, and eigenvectors."""
    degrees = A.sum(axis=1)
    S = A / np.sqrt(np.outer(degrees, degrees))
    values, firsts, vectors = [], [], []
    for piece in kept:
        own, inside = solve(S[np.ix_(piece, piece)])
        columns = np.zeros((len(A), len(own)), Long)
        columns[piece] = inside
        values.append(own)
        firsts.append(np.arange(len(own)) == 0)
        vectors.append(columns)
    joined = np.concatenate(values)
    order = np.lexsort((-joined, ~np.concatenate(firsts)))
    return joined[order], np.hstack(vectors)[:, order]


def heat(values: Any, vectors: Any, k: int, t: Any) -> tuple[Any, Any, Any] | None:
    """The features of rows after a time, of norm 1 or zeros for rows that are not kept.

    Returns
    -------
    tuple or None
        The features, their norms before that, and what an error of the size 1 in S may change their
        inner products by. None where rounding decides which pairs count.
    """
    weights = np.exp(-Long(t) * (1 - values))
    if (np.abs(weights[k:] ** 2 / NEGLIGIBLE - 1) < 1e-6).any():
        return None
    count = min(pair_count(k), max(k, int((weights**2 > NEGLIGIBLE).sum())), len(values))
    gap = values[count - 1] - values[count] if count < len(values) else Long(1)
    if gap <= 0:
        return None
    features = vectors[:, :count] * weights[:count]
    norms = np.sqrt((features**2).sum(axis=1, keepdims=True))
    # The heat is a function of S, whose slope is that of the exponential or of the cut.
    slope = (1 + 2 * Long(t) + 1 / gap) / norms[norms > 0].min() ** 2
    return features / np.where(norms > 0, norms, 1), norms[:, 0], slope


def pair_count(k: int) -> int:
    """The number of leading pairs for so many clusters."""
    return PAIRS_PER_CLUSTER * k + EXTRA_PAIRS


def solve_time(decaying: Any, target: Any) -> Any:
    """The t at which sum_j exp(-2 t (1 - lambda_j)) of decaying states is as many as wanted."""
    target = max(Long(target), Long(MIXED))
    if len(decaying) <= target:
        return Long(0)
    low, high = Long(0), Long(1)
    while np.exp(-2 * high * (1 - decaying)).sum() > target:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        more = np.exp(-2 * middle * (1 - decaying)).sum() > target
        low, high = (middle, high) if more else (low, middle)
    return high
