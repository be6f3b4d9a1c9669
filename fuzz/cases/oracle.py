"""Small problems of one kernel against the definitions of `fuzz.definitions`."""

from typing import Any

import numpy as np

from fuzz import Case, Rng
from fuzz.definitions import (
    Long,
    agree,
    check_critical,
    close,
    distances,
    kernel,
    mean_square,
    means,
    power_mean,
    power_rounding,
    power_weights,
    undefined_step,
)
from fuzz.draw import pick
from fuzz.judge import require
from kernelmeans import KernelKMeans, KernelPowerKMeans

WEIGHT = 2
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
    n = len(X)
    if precomputed := model.kernel == "precomputed":
        X = np.asarray(X @ X.T, X.dtype)
    model.fit(X, sample_weight=weight)
    v = np.ones(n, Long) if weight is None else weight.astype(X.dtype).astype(Long)
    gamma = None if precomputed else model.gamma_
    of_rows = kernel(model.kernel, rows, gamma or 0, model.degree, model.coef0)
    K = X.astype(Long) if precomputed else of_rows
    # Rounding: of the kernel values themselves, and of sums about the mean.
    scale = Long(np.abs(np.diagonal(K)).max())
    eps = Long(np.finfo(X.dtype).eps)
    exponent = (gamma or 0) * np.abs(rows - rows.mean(axis=0)).max() ** 2
    small = 200 * eps * scale * max(Long(1), exponent)
    if model.kernel == "geodesic":  # the arccosine loses half the digits near 1
        small = Long(1e-6)
    if model.gamma == "rms" and model.kernel == "rbf":
        agree("gamma_", gamma, 1 / (2 * mean_square(rows, v)), 1e-4 if eps > 1e-10 else 1e-9)
    check_fit(model, X, K, v, start, small)


def check_fit(model: Any, X: Any, K: Any, v: Any, start: Any, small: Any) -> None:
    """Compare a fit with what its kernel matrix, the weights and the start define."""
    scale = Long(np.abs(np.diagonal(K)).max())
    positive = np.linalg.eigvalsh(K.astype(float))[0] > -small
    if small < 1e-8 * scale:
        check_steps(model, K, v, start, small)
    k = model.n_clusters
    ended = len(np.unique(model.labels_)) == k and np.isneginf(model.power_history_[-1])
    if ended and positive:
        check_end(model, model.transform(X), distances(K, means(model.labels_, v, k)), v, small)
    if hasattr(model, "critical_power_") and positive:
        check_critical(model, K, v, small)


def check_steps(model: Any, K: Any, v: Any, start: Any, small: Any) -> None:
    """Compare the objectives of the first two steps with those of plain steps."""
    A = np.eye(len(v), dtype=Long)[start]
    steps = zip(model.objective_history_[:2], model.power_history_[:2], strict=True)
    for objective, power in steps:
        d = np.maximum(distances(K, A), Long(model._floor))
        allowed = v.sum() * small * power_rounding(power, model.n_clusters)
        allowed += 1e-6 * np.abs(v @ power_mean(d, power))
        close("objective_history_", objective, v @ power_mean(d, power), allowed)
        w = power_weights(d, power) * v[:, None]
        if undefined_step(d, w, power, small):
            return
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
