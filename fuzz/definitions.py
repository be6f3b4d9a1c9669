"""The definitions, in NumPy's long double and without the package's code.

The equations are those of Paul, Chakraborty, Das and Xu (2020), "Kernel k-Means, By All Means".
"""

from typing import Any

import numpy as np

from fuzz import Rng
from fuzz.judge import require

Long = np.longdouble
#: A comparison tells something if it allows no more than this part of the number.
TELLING = 0.3
#: Steps from distances that are rounded at random, by which the effect of rounding is measured.
DRAWS = 8
#: Fewest products of the Lanczos iterations, as the package says, and the part of a random vector
#: in one direction that is no smaller than one over this.
FEWEST_PRODUCTS, UNLIKELY = 8, 1e8


def kernel(name: str, X: Any, gamma: float = 0, degree: float = 0, coef0: float = 0) -> Any:
    """Kernel values between all rows, from the differences and products themselves."""
    products = X @ X.T
    norms = np.sqrt(np.diagonal(products))
    match name:
        case "rbf":
            return np.exp(-Long(gamma) * ((X[:, None] - X[None]) ** 2).sum(axis=-1))
        case "laplacian":
            return np.exp(-Long(gamma) * np.abs(X[:, None] - X[None]).sum(axis=-1))
        case "poly":
            return (Long(gamma) * products + Long(coef0)) ** Long(degree)
        case "sigmoid":
            return np.tanh(Long(gamma) * products + Long(coef0))
        case "cosine":
            return products / np.outer(norms, norms)
        case "geodesic":
            cosines = np.clip(products / np.outer(norms, norms), -1, 1)
            np.fill_diagonal(cosines, 1)
            return np.exp(-Long(gamma) * np.arccos(cosines))
        case _:
            return products


def mean_square(X: Any, v: Any) -> Any:
    """Mean squared distance between two different rows, by weights."""
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=-1)
    pairs = np.outer(v, v)
    np.fill_diagonal(pairs, 0)
    return Long((pairs * squares).sum() / pairs.sum())


def means(labels: Any, v: Any, k: int) -> Any:
    """Coefficients of the weighted means of the clusters, shape (k, n)."""
    A = (labels[None, :] == np.arange(k)[:, None]) * v
    return A / A.sum(axis=1, keepdims=True)


def distances(K: Any, A: Any) -> Any:
    """d_ij = K_ii - 2 (A K)_ji + (A K A^T)_jj, shape (n, k)."""
    return np.diagonal(K)[:, None] - 2 * (A @ K).T + np.einsum("ji,il,jl->j", A, K, A)[None, :]


def silhouettes(K: Any, labels: Any, small: Any) -> tuple[Any, Any]:
    """(b - a) / max(a, b) of each row, and how much it moves with this rounding of squares.

    a is the mean distance to the others of its cluster, b the least mean distance to another one.
    """
    squares = np.maximum(np.diagonal(K)[:, None] + np.diagonal(K) - 2 * K, 0)
    D = np.sqrt(squares)
    # The rounding of a root, which is largest at 0.
    moved = np.sqrt(squares + small) - np.sqrt(np.maximum(squares - small, 0))
    found, allowed = np.zeros((2, len(K)), Long)
    for i, label in enumerate(labels):
        others = {name: np.flatnonzero(labels == name) for name in set(labels.tolist())}
        own = np.setdiff1d(others.pop(label), i)
        if len(own):
            a, b = D[i, own].mean(), min(D[i, rows].mean() for rows in others.values())
            largest = max(a, b)
            found[i] = (b - a) / largest if largest > 0 else 0
            allowed[i] = 4 * moved[i].max() / largest if largest > 0 else np.inf
    return found, allowed


def power_mean(d: Any, s: float) -> Any:
    """M_s(d_1..d_k) = (1/k sum_j d_j^s)^(1/s); the least for s = -inf."""
    least = d.min(axis=1, keepdims=True)
    if np.isneginf(s):
        return least[:, 0]
    return (least * np.mean((d / least) ** Long(s), axis=1, keepdims=True) ** (1 / Long(s)))[:, 0]


def power_weights(d: Any, s: Any) -> Any:
    """w_ij = 1/k d_ij^(s-1) (1/k sum_l d_il^s)^(1/s - 1); 1 for the nearest if s = -inf."""
    if np.isneginf(s):
        return (d.argmin(axis=1)[:, None] == np.arange(d.shape[1])).astype(Long)
    r, s = d / d.min(axis=1, keepdims=True), Long(s)
    return r ** (s - 1) * np.mean(r**s, axis=1, keepdims=True) ** (1 / s - 1) / d.shape[1]


def power_rounding(s: Any, k: int) -> Any:
    """How often the rounding of a distance counts in the power mean of k distances.

    A power mean of k distances is up to k^(1/t) times the least, and so is its rounding.
    """
    return min(Long(1e3), Long(k) ** (-1 / Long(s)))


def undefined_step(d: Any, w: Any, s: Any, small: Any) -> bool:
    """Whether the step that follows these weights is not defined, or by rounding alone.

    Ties and empty clusters of hard steps have no definition. The weights of a row that lies at
    several centroids are rounding.
    """
    if d.shape[1] == 1:
        return False
    two = np.sort(d, axis=1)[:, :2]
    if np.isneginf(s) and (not w.sum(axis=0).all() or (np.ptp(two, axis=1) < 2 * small).any()):
        return True
    return bool((two[:, 1] < 100 * small).any())


def rounded(d: Any, small: Any, rng: Rng) -> Any:
    """Distances as rounding may change them; a package holds them above 0."""
    return np.maximum(d + small * rng.uniform(-1, 1, d.shape), 1e-3 * small)


def spread(values: Any) -> Any:
    """What rounding changes of a number, of which the first value is exact, the others rounded."""
    return 4 * max(abs(value - values[0]) for value in values)


def tells(exact: Any, allowed: Any) -> bool:
    """Whether a comparison can fail: what is allowed is little of the number."""
    return bool(allowed < TELLING * abs(exact))


def relative_rounding(eps: Any) -> Any:
    """What the powers of ratios are off by, relatively; weights below 1e-25 = exp(-58) are zero."""
    return max(Long(1e-6), 200 * eps)


def check_critical(model: Any, K: Any, v: Any, small: Any) -> bool:
    """Compare the critical power with s* = 1 - 1 / (2 lambda) of the centred kernel.

    Returns whether rounding leaves something to compare.
    """
    p = v / v.sum()
    centred = K - (K @ p)[:, None] - (K @ p)[None, :] + p @ K @ p
    least = np.diagonal(centred).min()
    if least < 100 * small:
        return False  # samples at the mean have no direction
    scale = np.sqrt(p / np.diagonal(centred))
    values = np.linalg.eigvalsh((scale[:, None] * centred * scale).astype(float))
    first = np.maximum(values[-1], 1e-9)
    second = first if surely_first(values) else np.maximum(values[-2], 1e-9)
    # Rounding moves the matrix, and the scales at both its sides.
    moved = 4 * small / least * (1 + first) / (2 * second**2)
    low, top = 1 - 1 / (2 * second), 1 - 1 / (2 * first)
    allowed, found = 2e-2 * abs(top) + 1e-6 + moved, model.critical_power_
    require(low - allowed <= found <= top + allowed, f"critical_power_: {found} is not {top}")
    return tells(top, allowed)


def surely_first(values: Any) -> bool:
    """Whether Lanczos iterations from a random vector cannot end at the second eigenvalue.

    In m products the part of the first eigenvector in the best vector grows T_(m-1)(1 + 2 g) times
    against the others, where T is Chebyshev's polynomial and g the relative gap. The iterations go
    on while that part of the residual is above 1e-3 of the eigenvalue. So they end too early only
    from a vector with less of the first eigenvector than one in `UNLIKELY` has.
    """
    if len(values) < 2 or values[-1] <= 0:
        return True
    gap = values[-1] - values[-2]
    if gap <= 1e-9 * values[-1]:
        return False
    inside = 1 + 2 * gap / max(values[-2] - values[0], 1e-9 * gap)
    products = min(FEWEST_PRODUCTS, len(values))
    growth = np.cosh(min((products - 1) * np.arccosh(inside), 600))
    return bool(growth * gap / values[-1] * 1e3 > UNLIKELY)


def close(name: str, value: Any, exact: Any, allowed: Any) -> None:
    """Fail unless two numbers or arrays differ by no more than this."""
    error = np.max(np.abs(np.asarray(value, Long) - exact))
    require(error <= allowed, f"{name}: {value} is not {exact} (off by {error} > {allowed})")


def agree(name: str, value: Any, exact: Any, relative: float) -> None:
    """Fail unless two numbers have a relative difference of no more than this."""
    close(name, value, exact, relative * (np.abs(exact) + 1e-9))
