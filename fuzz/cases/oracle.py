"""Small problems of one kernel against the definitions of `fuzz.definitions`."""

from collections.abc import Callable
from typing import Any

import numpy as np

from fuzz import Case, Refused, Rng
from fuzz.definitions import (
    DRAWS,
    TELLING,
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
    relative_rounding,
    rounded,
    spread,
    tells,
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
    if model.kernel == "geodesic":  # the arccosine loses half the digits near 1, in float64
        small = max(small, Long(1e-6))
    if model.gamma == "rms" and model.kernel == "rbf":
        agree("gamma_", gamma, 1 / (2 * mean_square(rows, v)), 1e-4 if eps > 1e-10 else 1e-9)
    if not check_fit(model, K, v, start, small, relative_rounding(eps), lambda: model.transform(X)):
        raise Refused("rounding leaves nothing to compare")


def check_fit(
    model: Any, K: Any, v: Any, start: Any, small: Any, relative: Any, found: Callable[[], Any]
) -> bool:
    """Compare a fit with what its kernel matrix, the weights and the start define.

    ``small`` is the rounding of distances and ``relative`` that of numbers that follow from them.
    Returns whether rounding leaves something to compare.
    """
    positive = np.linalg.eigvalsh(K.astype(float))[0] > -small
    told = check_steps(model, K, v, start, small, relative)
    k = model.n_clusters
    ended = len(np.unique(model.labels_)) == k and np.isneginf(model.power_history_[-1])
    if ended and positive:
        exact = distances(K, means(model.labels_, v, k))
        told |= check_end(model, found(), exact, v, small, relative)
    if hasattr(model, "critical_power_") and positive:
        told |= check_critical(model, K, v, small)
    return told


def check_steps(model: Any, K: Any, v: Any, start: Any, small: Any, relative: Any) -> bool:
    """Compare the objectives of the first two steps with those of plain steps.

    Steps from rounded distances go along, to see what rounding does to the objective.
    """
    rng, told = np.random.default_rng(0), False
    centroids = [np.eye(len(v), dtype=Long)[start]] * (1 + DRAWS)
    steps = zip(model.objective_history_[:2], model.power_history_[:2], strict=True)
    for objective, power in steps:
        each = [np.maximum(distances(K, A), Long(model._floor)) for A in centroids]
        values = [v @ power_mean(d, power) for d in each]
        allowed = v.sum() * small * power_rounding(power, model.n_clusters)
        allowed += relative * abs(values[0]) + spread(values)
        close("objective_history_", objective, values[0], allowed)
        if not tells(values[0], allowed):
            break  # and what rounding does to later steps is not known
        told, d = True, each[0]
        if undefined_step(d, power_weights(d, power) * v[:, None], power, small):
            break
        each[1:] = [rounded(other, small, rng) for other in each[1:]]
        weights = [power_weights(other, power) * v[:, None] for other in each]
        centroids = [(w / w.sum(axis=0)).T for w in weights]
    return told


def check_end(model: Any, found: Any, exact: Any, v: Any, small: Any, relative: Any) -> bool:
    """Compare distances, cost and memberships, once centroids are the means of the clusters."""
    own = exact[np.arange(len(v)), model.labels_]
    close("transform(X)", found**2, np.maximum(exact, 0), 20 * small)
    close("inertia_", model.inertia_, v @ own, v.sum() * small + relative * (v @ own))
    require((own <= exact.min(axis=1) + 2 * small).all(), f"labels_ are not nearest: {exact}")
    soft = model.power_history_[np.isfinite(model.power_history_)]
    if len(soft) and exact.min() > 100 * small:
        # Ratios of distances, each with twice its rounding, to the power s - 1.
        allowed = relative + 4 * (1 - soft[-1]) * small / exact.min()
        w = power_weights(exact, soft[-1])
        w /= w.sum(axis=1, keepdims=True)
        if allowed < TELLING:
            close("memberships_", model.memberships_, w, allowed)
    return tells(exact.max(), 20 * small)
