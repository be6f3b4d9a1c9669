"""Naive answers straight from the equations of the method, to compare the package with.

Everything here is plain float64 NumPy or exact decimal arithmetic on dense matrices: the direct
formulas with their powers, centroids as explicit combinations of the samples, full
eigen-decompositions. Nothing of the package is imported.
"""

from decimal import Decimal, localcontext

import numpy as np


def power_mean(d, s):
    """M_s(d_1..d_k) = (1/k sum_j d_j^s)^(1/s), in decimal arithmetic without overflow."""
    return float(_decimal_mean([Decimal(float(x)) for x in d], Decimal(float(s))))


def power_weights(d, s):
    """w_j = (1/k) d_j^(s-1) (1/k sum_l d_l^s)^(1/s - 1), in decimal arithmetic."""
    with localcontext() as context:
        _set_precision(context)
        values, power = [Decimal(float(x)) for x in d], Decimal(float(s))
        # The bracket is M_s^s, so that to the power 1/s - 1 it is M_s^(1 - s).
        mean = _decimal_mean(values, power)
        weights = [x ** (power - 1) * mean ** (1 - power) / len(values) for x in values]
        return np.array([float(w) for w in weights])


def _decimal_mean(values, power):
    with localcontext() as context:
        _set_precision(context)
        total = sum((x**power for x in values), Decimal(0))
        return (total / len(values)) ** (1 / power)


def _set_precision(context):
    context.prec = 40
    context.Emax, context.Emin = 10**12, -(10**12)


def distances(K, A):
    """d_ij = K_ii - 2 (A K)_ji + (A K A^T)_jj for centroids A (k x n); shape (n, k)."""
    return np.diagonal(K)[:, None] - 2 * (A @ K).T + np.diagonal(A @ K @ A.T)[None, :]


def at_samples(indices, n):
    """Coefficients of centroids that sit on samples, shape (k, n)."""
    return np.eye(n)[np.asarray(indices)]


def objective(d, s, v):
    """f_s = sum_i v_i M_s(d_i1..d_ik), or the k-means cost for s = -inf."""
    if np.isneginf(s):
        return float(v @ d.min(axis=1))
    return float(v @ np.mean(d**s, axis=1) ** (1 / s))


def step(K, A, s, v):
    """One MM step: the new centroids, and the objective at the old ones."""
    d = np.maximum(distances(K, A), 1e-15 * np.trace(K) / len(K))
    if np.isneginf(s):
        w = np.eye(len(A))[d.argmin(axis=1)]
    else:
        k = d.shape[1]
        w = d ** (s - 1) / k * np.mean(d**s, axis=1, keepdims=True) ** (1 / s - 1)
    A = (v[:, None] * w).T
    return A / A.sum(axis=1, keepdims=True), objective(d, s, v)


def run(K, A, powers, v=None):
    """Centroids after a step at each power, and the objective before each."""
    v = np.ones(len(K)) if v is None else v
    history = []
    for s in powers:
        A, value = step(K, A, s, v)
        history.append(value)
    return A, np.array(history)


def hard_cost(K, labels, v=None):
    """Kernel k-means cost of a partition, cluster by cluster."""
    v = np.ones(len(K)) if v is None else v
    total = 0.0
    for label in np.unique(labels):
        i = np.flatnonzero(labels == label)
        total += v[i] @ np.diagonal(K)[i] - v[i] @ K[np.ix_(i, i)] @ v[i] / v[i].sum()
    return total


def centred(K, v=None):
    """K about the weighted mean of the samples."""
    p = np.full(len(K), 1 / len(K)) if v is None else v / v.sum()
    return K - (K @ p)[:, None] - (K @ p)[None, :] + p @ K @ p


def critical_power(K, v=None):
    """s* = 1 - 1 / (2 lam) by full eigen-decomposition."""
    v = np.ones(len(K)) if v is None else np.asarray(v, float)
    Kc = centred(K, v)
    scale = np.sqrt(v / (v.sum() * np.diagonal(Kc)))
    return 1 - 1 / (2 * np.linalg.eigvalsh(scale[:, None] * Kc * scale)[-1])


def rbf(X, Y, gamma):
    """exp(-gamma ||x - y||^2) from the differences themselves."""
    return np.exp(-gamma * ((X[:, None] - Y[None]) ** 2).sum(axis=-1))


def same_partition(a, b):
    """Whether two labellings are one partition under different names."""
    pairs = set(zip(np.asarray(a).tolist(), np.asarray(b).tolist(), strict=True))
    return len(pairs) == len({x for x, _ in pairs}) == len({y for _, y in pairs})
