"""Small problems of several kernels against the definitions of `fuzz.definitions`."""

from typing import Any, NamedTuple

import numpy as np

from fuzz import Case, Refused, Rng
from fuzz.cases.oracle import check_end
from fuzz.definitions import (
    DRAWS,
    TELLING,
    Long,
    check_critical,
    close,
    distances,
    kernel,
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
from kernelmeans import MultiKernelPowerKMeans

WEIGHT = 1


def case(rng: Rng) -> Case:
    n, p, k = int(rng.integers(3, 16)), int(rng.integers(2, 5)), int(rng.integers(1, 5))
    k = min(k, n)
    X = rng.normal(size=(n, p)) + pick(rng, 0, 0, 4) * rng.integers(3, size=(n, 1))
    X = (X * pick(rng, 1, 1, 1e-3, 1e3) + pick(rng, 0, 0, 10)).astype(pick(rng, "f8", "f8", "f4"))
    views = [view(rng, p) for _ in range(rng.integers(1, 5))]
    if given := pick(rng, False, False, True):
        # Matrices are symmetric to the bit, as the package wants them.
        X = np.stack([kernel_matrix(spec, X[:, columns]) for spec, columns in views])
    start = rng.permutation(n)[:k]
    model = MultiKernelPowerKMeans(
        k,
        kernels="precomputed" if given else views,
        kernel_scaling=pick(rng, "unit-variance", "unit-variance", "cosine", "min-max", None),
        entropy_weight=pick(rng, 2.0, 0.1, 0.5, 10.0, 0.0, np.inf),
        s0=pick(rng, -1.0, -0.5, -3.0, -20.0),
        eta=pick(rng, 1.04, 1.0, 1.5),
        init=start,
        n_swaps=pick(rng, 0, 0, 3),
        random_state=0,
    )
    weight = pick(rng, None, rng.uniform(0.1, 3, n), rng.integers(1, 4, n).astype(float))
    words = f"{model!r}\nX = {X!r}\nsample_weight = {weight!r}"
    return Case(words, lambda: check(model, X, weight, start))


def view(rng: Rng, p: int) -> tuple[dict[str, Any], Any]:
    """A kernel with its parameters, and columns."""
    name = pick(rng, "rbf", "rbf", "laplacian", "poly", "linear", "cosine")
    spec: dict[str, Any] = {"kernel": name}
    if name in ("rbf", "laplacian", "poly"):
        spec["gamma"] = pick(rng, 0.1, 0.3, 2.0)
    if name == "poly":
        spec |= {"degree": pick(rng, 1, 2), "coef0": pick(rng, 0.0, 1.0)}
    # The cosine of single columns is a sign, and constant if they are positive.
    width = int(rng.integers(2 if name == "cosine" else 1, p + 1))
    return spec, sorted(rng.permutation(p)[:width].tolist())


def kernel_matrix(spec: dict[str, Any], X: Any) -> Any:
    """The values of a kernel between all rows, rounded to their type."""
    parameters = {key: value for key, value in spec.items() if key != "kernel"}
    K = kernel(spec["kernel"], X.astype(Long), **parameters).astype(X.dtype)
    return (K + K.T) / 2


def check(model: Any, X: Any, weight: Any, start: Any) -> None:
    """Compare the numbers of a fit with their definitions."""
    model.fit(X, sample_weight=weight)
    n = X.shape[-1] if X.ndim == 3 else len(X)
    v = np.ones(n, Long) if weight is None else weight.astype(X.dtype).astype(Long)
    pairs = [scaled(model, X, index) for index in range(len(model.kernel_weights_))]
    matrices = np.array([K for K, _ in pairs])
    rounding = np.array([small for _, small in pairs])
    p = v / v.sum()
    centred = [np.diagonal(K) - 2 * K @ p + p @ K @ p for K in matrices]
    variances = np.array([d @ p for d in centred])
    if (variances < 100 * rounding).any():
        raise Refused("a kernel is constant, or so by rounding")
    units = np.ones(len(pairs), Long)
    if model.kernel_scaling == "unit-variance":
        units = variances
    if model.kernel_scaling == "min-max":
        units = np.array([np.ptp(K) for K in matrices])
    relative = rounding / np.minimum(units, variances)
    close("kernel_factors_ * units", model.kernel_factors_ * units, 1, relative.max())
    matrices *= model.kernel_factors_[:, None, None]
    rounding *= model.kernel_factors_
    # Lambda has the unit of the mean variance.
    unit = v.sum() * np.mean(model.kernel_factors_ * variances)
    penalty = Penalty(Long(model.entropy_weight) * unit, (rounding / variances).max())
    precision = relative_rounding(Long(np.finfo(X.dtype).eps))
    told = check_steps(model, matrices, v, start, rounding, penalty, precision)
    told |= check_weights(model, X, matrices, v, rounding, penalty, precision)
    told |= check_critical(model, matrices.mean(axis=0), v, rounding.mean())
    if not told:
        raise Refused("rounding leaves nothing to compare")


class Penalty(NamedTuple):
    """The lambda of the penalty on kernel weights.

    Attributes
    ----------
    value : float
        The lambda.
    off : float
        What rounding changes of it, relatively.
    """

    value: Any
    off: Any


def scaled(model: Any, X: Any, index: int) -> tuple[Any, Any]:
    """A kernel matrix, with a diagonal of ones if that is its scale, and its rounding."""
    eps, exponent = Long(np.finfo(X.dtype).eps), Long(1)
    if X.ndim == 3:
        K = X[index].astype(Long)
    else:
        spec, columns = model.kernels[index]
        rows = X[:, columns].astype(Long)
        parameters = {key: value for key, value in spec.items() if key != "kernel"}
        K = kernel(spec["kernel"], rows, **parameters)
        largest = np.abs(rows - rows.mean(axis=0)).max() ** 2
        exponent = max(exponent, spec.get("gamma", 0) * largest)
    if model.kernel_scaling in ("cosine", "min-max"):
        norms = np.sqrt(np.diagonal(K))
        K = K / np.outer(norms, norms)
    return K, 200 * eps * np.abs(np.diagonal(K)).max() * exponent


def check_steps(
    model: Any,
    matrices: Any,
    v: Any,
    start: Any,
    rounding: Any,
    penalty: Penalty,
    relative: Any,
) -> bool:
    """Compare objectives and kernel weights of the first steps with those of plain steps.

    Steps from rounded distances go along, to see what rounding does to them.
    """
    rng, told = np.random.default_rng(0), False
    centroids, costs = [np.eye(len(v), dtype=Long)[start]] * (1 + DRAWS), None
    allowed = Long(0)
    history = model.objective_history_, model.power_history_, model.kernel_weights_history_
    for objective, power, weights in list(zip(*history, strict=True))[:3]:
        if costs is None:
            close("kernel_weights_history_", weights, Long(1) / len(weights), 1e-15)
        elif not follow("kernel_weights_history_", weights, costs, allowed, penalty):
            break
        small = weights @ rounding
        each = [np.array([distances(K, A) for K in matrices]) for A in centroids]
        joined = [np.maximum(np.einsum("l,lij->ij", weights, one), 1e-3 * small) for one in each]
        values = [v @ power_mean(d, power) for d in joined]
        amplified = power_rounding(power, model.n_clusters)
        extra = penalty_of(weights, penalty.value)
        allowed = amplified * v.sum() * small + relative * values[0] + spread(values)
        allowed += (relative + penalty.off) * extra
        close("objective_history_", objective, values[0] + extra, allowed)
        if not tells(values[0], allowed):
            break  # and what rounding does to later steps is not known
        told, d = True, joined[0]
        if undefined_step(d, power_weights(d, power) * v[:, None], power, small):
            break
        joined[1:] = [rounded(other, small, rng) for other in joined[1:]]
        soft = [power_weights(other, power) * v[:, None] for other in joined]
        centroids = [(w / w.sum(axis=0)).T for w in soft]
        every = [
            np.array([(w * distances(K, A)).sum() for K in matrices])
            for w, A in zip(soft, centroids, strict=True)
        ]
        costs = every[0]
        # Costs of all kernels, that of the largest rounding included.
        allowed = soft[0].sum() * rounding.max() + relative * costs.max()
        allowed += max(spread(one) for one in np.transpose(every))
    return told


def follow(name: str, found: Any, costs: Any, allowed: Any, penalty: Penalty) -> bool:
    """Compare kernel weights with the best for costs; False where rounding decides them.

    The weights are a_l = exp(-c_l / lambda) / sum_t exp(-c_t / lambda).
    """
    if penalty.value == 0:
        two = np.sort(costs)[:2]
        if len(two) > 1 and np.ptp(two) <= 2 * allowed:
            return False
        close(name, found, np.arange(len(costs)) == costs.argmin(), 0)
        return True
    exponents = (costs - costs.min()) / penalty.value
    best = np.exp(-exponents)
    # Exponents that are off by more are those of weights that are nearly 0.
    relative = 4 * allowed / penalty.value + 2 * penalty.off * min(exponents.max(), Long(30))
    if relative > TELLING:
        return False
    close(name, found, best / best.sum(), relative + 1e-13)
    return True


def penalty_of(weights: Any, penalty: Any) -> Any:
    """The penalty on kernel weights: lambda sum_l a_l log(L a_l)."""
    if penalty == 0 or np.isinf(penalty):
        return Long(0)
    a = weights[weights > 0].astype(Long)
    return penalty * (a @ np.log(len(weights) * a))


def check_weights(
    model: Any, X: Any, matrices: Any, v: Any, rounding: Any, penalty: Penalty, relative: Any
) -> bool:
    """Compare the last weights with the best for the labels, and distances with theirs."""
    k = model.n_clusters
    if len(np.unique(model.labels_)) < k or not np.isneginf(model.power_history_[-1]):
        return False
    A, own = means(model.labels_, v, k), (np.arange(len(v)), model.labels_)
    each = np.array([distances(K, A) for K in matrices])
    weights, small = model.kernel_weights_, model.kernel_weights_ @ rounding
    exact = np.einsum("l,lij->ij", weights, each)
    two = np.sort(exact, axis=1)[:, :2]
    if k > 1 and (np.ptp(two, axis=1) < 100 * small).any():
        return False  # with ties, steps end at labels of equal cost
    costs = np.array([v @ d[own] for d in each])
    allowed = v.sum() * rounding.max() + relative * costs.max()
    follow("kernel_weights_", weights, costs, allowed, penalty)
    return check_end(model, model.transform(X), exact, v, small, relative)
