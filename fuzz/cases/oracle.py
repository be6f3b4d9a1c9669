"""Small problems against the definitions, in NumPy's long double and without the package's code.

The equations are those of Paul, Chakraborty, Das and Xu (2020), "Kernel k-Means, By All Means".
"""

from typing import Any

import numpy as np

from fuzz import Case, Rng
from fuzz.draw import pick
from fuzz.judge import require
from kernelmeans import KernelKMeans, KernelPowerKMeans

WEIGHT = 2
Long = np.longdouble
KERNELS = ("rbf", "laplacian", "poly", "linear", "cosine", "geodesic", "sigmoid", "precomputed")


def case(rng: Rng) -> Case:
    n, p, k = int(rng.integers(2, 16)), int(rng.integers(1, 4)), int(rng.integers(1, 5))
    k = min(k, n)
    X = rng.normal(size=(n, p)) + pick(rng, 0, 0, 4) * rng.integers(3, size=(n, 1))
    X = (X * pick(rng, 1, 1, 1e-3, 1e3) + pick(rng, 0, 0, 10)).astype(pick(rng, "f8", "f8", "f4"))
    given: dict[str, Any] = {"kernel": pick(rng, *KERNELS), "gamma": pick(rng, "rms", 0.3, 2.0)}
    given |= {"degree": pick(rng, 1, 2, 3), "coef0": pick(rng, 0.0, 1.0, 0.5)}
    start = rng.permutation(n)[:k]
    if pick(rng, True, True, False):
        kind: Any = KernelPowerKMeans
        given |= {"s0": pick(rng, -1.0, -0.5, -3.0, -20.0), "eta": pick(rng, 1.04, 1.0, 1.5)}
    else:
        kind = KernelKMeans
    model = kind(k, **given, init=start, n_swaps=pick(rng, 0, 0, 3), random_state=0)
    weight = pick(rng, None, rng.uniform(0.1, 3, n), rng.integers(1, 4, n).astype(float))
    words = f"{model!r}\nX = {X!r}\nsample_weight = {weight!r}"
    return Case(words, lambda: check(model, X, weight, start))


def check(model: Any, X: Any, weight: Any, start: Any) -> None:
    """Compare the numbers of a fit with their definitions."""
    rows = X.astype(Long)
    n, k = len(X), model.n_clusters
    if precomputed := model.kernel == "precomputed":
        X = np.asarray(X @ X.T, X.dtype)
    model.fit(X, sample_weight=weight)
    v = np.ones(n, Long) if weight is None else weight.astype(X.dtype).astype(Long)
    gamma = None if precomputed else model.gamma_
    K = X.astype(Long) if precomputed else kernel(model, rows, gamma)
    # Rounding: of the kernel values themselves, and of sums about the mean.
    scale = Long(np.abs(np.diagonal(K)).max())
    eps = Long(np.finfo(X.dtype).eps)
    exponent = (gamma or 0) * np.abs(rows - rows.mean(axis=0)).max() ** 2
    small = 200 * eps * scale * max(Long(1), exponent)
    if model.kernel == "geodesic":  # the arccosine loses half the digits near 1
        small = Long(1e-6)
    if model.gamma == "rms" and model.kernel == "rbf":
        agree("gamma_", gamma, 1 / (2 * mean_square(rows, v)), 1e-4 if eps > 1e-10 else 1e-9)
    positive = np.linalg.eigvalsh(K.astype(float))[0] > -small
    if small < 1e-8 * scale:
        check_steps(model, K, v, start, small)
    ended = len(np.unique(model.labels_)) == k and np.isneginf(model.power_history_[-1])
    if ended and positive:
        check_end(model, model.transform(X), distances(K, means(model.labels_, v, k)), v, small)
    if hasattr(model, "critical_power_") and positive:
        critical = critical_power(K, v, small)
        if critical is not None:
            close("critical_power_", model.critical_power_, critical, 2e-2 * abs(critical) + 1e-8)


def check_steps(model: Any, K: Any, v: Any, start: Any, small: Any) -> None:
    """Compare the objectives of the first two steps with those of plain steps."""
    A = np.eye(len(v), dtype=Long)[start]
    steps = zip(model.objective_history_[:2], model.power_history_[:2], strict=True)
    for objective, power in steps:
        d = np.maximum(distances(K, A), Long(model._floor))
        # A power mean of k distances is up to k^(1/t) times the least, and so is its rounding.
        amplified = min(Long(1e3), Long(model.n_clusters) ** (-1 / Long(power)))
        allowed = amplified * v.sum() * small + 1e-6 * np.abs(v @ power_mean(d, power))
        close("objective_history_", objective, v @ power_mean(d, power), allowed)
        w = power_weights(d, power) * v[:, None]
        two = np.sort(d, axis=1)[:, :2]
        if np.isneginf(power) and (not w.sum(axis=0).all() or (np.ptp(two, axis=1) < small).any()):
            return  # ties and empty clusters have no definition
        if model.n_clusters > 1 and (two[:, 1] < 1e4 * small).any():
            return  # the weights of a row that lies at several centroids are rounding
        A = (w / w.sum(axis=0)).T


def check_end(model: Any, found: Any, exact: Any, v: Any, small: Any) -> None:
    """Compare distances, cost and memberships, once centroids are the means of the clusters."""
    own = exact[np.arange(len(v)), model.labels_]
    close("transform(X)", found**2, np.maximum(exact, 0), 20 * small)
    close("inertia_", model.inertia_, v @ own, v.sum() * small)
    require((own <= exact.min(axis=1) + 2 * small).all(), f"labels_ are not nearest: {exact}")
    soft = model.power_history_[np.isfinite(model.power_history_)]
    if len(soft) and exact.min() > 1e6 * small:
        w = power_weights(exact, soft[-1])
        w /= w.sum(axis=1, keepdims=True)
        close("memberships_", model.memberships_, w, 1e-3)


def kernel(model: Any, X: Any, gamma: float | None) -> Any:
    """Kernel values between all rows, from the differences and products themselves."""
    products = X @ X.T
    norms = np.sqrt(np.diagonal(products))
    match model.kernel:
        case "rbf":
            return np.exp(-Long(gamma) * ((X[:, None] - X[None]) ** 2).sum(axis=-1))
        case "laplacian":
            return np.exp(-Long(gamma) * np.abs(X[:, None] - X[None]).sum(axis=-1))
        case "poly":
            return (Long(gamma) * products + Long(model.coef0)) ** Long(model.degree)
        case "sigmoid":
            return np.tanh(Long(gamma) * products + Long(model.coef0))
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


def critical_power(K: Any, v: Any, small: Any) -> Any:
    """s* = 1 - 1 / (2 lambda) of the centred kernel; None where samples lie at the mean."""
    p = v / v.sum()
    centred = K - (K @ p)[:, None] - (K @ p)[None, :] + p @ K @ p
    if np.diagonal(centred).min() < 1e4 * small:
        return None
    scale = np.sqrt(p / np.diagonal(centred))
    top = np.linalg.eigvalsh((scale[:, None] * centred * scale).astype(float))[-1]
    return Long(1 - 1 / (2 * top))


def close(name: str, value: Any, exact: Any, allowed: Any) -> None:
    """Fail unless two numbers or arrays differ by no more than this."""
    error = np.max(np.abs(np.asarray(value, Long) - exact))
    require(error <= allowed, f"{name}: {value} is not {exact} (off by {error} > {allowed})")


def agree(name: str, value: Any, exact: Any, relative: float) -> None:
    """Fail unless two numbers have a relative difference of no more than this."""
    close(name, value, exact, relative * (np.abs(exact) + 1e-9))
