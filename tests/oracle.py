"""Naive answers straight from the equations of the method, to compare the package with.

Everything here is plain float64 NumPy or exact decimal arithmetic on dense matrices: the direct
formulas with their powers, centroids as explicit combinations of the samples, full
eigen-decompositions. Nothing of the package is imported.
"""

import math
from decimal import Decimal, localcontext

import numpy as np
import scipy.linalg


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


def variance(K, v=None):
    """Weighted mean of the squared distances of the samples from their weighted mean."""
    p = np.full(len(K), 1 / len(K)) if v is None else v / v.sum()
    return float(p @ np.diagonal(centred(K, v)))


def multi_distances(Ks, A, multipliers):
    """D_ij = sum_l m_l d_ijl for the same coefficients A in every space; shape (n, k)."""
    return sum(m * distances(K, A) for m, K in zip(multipliers, Ks, strict=True))


def kernel_costs(Ks, A, w, v):
    """c_l = sum_ij v_i w_ij d_ijl, kernel by kernel from all its distances."""
    return np.array([(v[:, None] * w * distances(K, A)).sum() for K in Ks])


def entropy_weights(costs, strength):
    """a_l proportional to exp(-c_l / strength): uniform at infinity, the cheapest alone at 0."""
    if strength == 0:
        return (costs == costs.min()) / (costs == costs.min()).sum()
    weights = np.exp(-(costs - costs.min()) / strength)
    return weights / weights.sum()


def multi_run(Ks, A, powers, entropy_weight, factors, v=None, relaxation=1.0):
    """Steps of multi-kernel power k-means: centroids, then kernel weights.

    Returns the centroids and kernel weights at the end, and the objective, penalty included, and
    the kernel weights before each step. All steps but the first are over-relaxed.
    """
    v = np.ones(len(Ks[0])) if v is None else v
    factors = np.asarray(factors, float)
    unit = v.sum() * np.mean([f * variance(K, v) for f, K in zip(factors, Ks, strict=True)])
    strength = entropy_weight * unit
    a = np.full(len(Ks), 1 / len(Ks))
    objectives, weights = [], []
    for number, s in enumerate(powers):
        scale = a @ (factors * [variance(K, v) for K in Ks])
        D = np.maximum(multi_distances(Ks, A, a * factors), 1e-15 * scale)
        penalty = strength * np.sum(a * np.log(len(a) * a)) if 0 < strength < np.inf else 0.0
        objectives.append(objective(D, s, v) + penalty)
        weights.append(a)
        if np.isneginf(s):
            w = np.eye(len(A))[D.argmin(axis=1)]
        else:
            w = D ** (s - 1) / D.shape[1] * np.mean(D**s, axis=1, keepdims=True) ** (1 / s - 1)
        new = (v[:, None] * w).T
        new /= new.sum(axis=1, keepdims=True)
        A = new if number == 0 else A + relaxation * (new - A)
        a = entropy_weights(factors * kernel_costs(Ks, A, w, v), strength)
    return A, a, np.array(objectives), np.array(weights)


def alternate(Ks, A, a, steps, update, multiply, v=None, robust=False):
    """Turns of hard multi-kernel methods: centroids, kernel weights by `update`, clusters.

    `robust` takes roots of the distances, so that samples weigh 1 / (2 sqrt(D)) but in the first
    turn. Returns centroids and kernel weights at the end, and objectives and kernel weights
    before each turn.
    """
    v = np.ones(len(Ks[0])) if v is None else v
    objectives, weights = [], []
    for number in range(steps):
        D = np.maximum(multi_distances(Ks, A, multiply(a)), 1e-300)
        labels, nearest = D.argmin(axis=1), D.min(axis=1)
        objectives.append(v @ (np.sqrt(nearest) if robust else nearest))
        weights.append(a)
        slope = 0.5 / np.sqrt(nearest) if robust and number > 0 else np.ones(len(v))
        w = slope[:, None] * np.eye(len(A))[labels]
        A = (v[:, None] * w).T
        A = A / A.sum(axis=1, keepdims=True)
        a = update(kernel_costs(Ks, A, w, v))
    return A, a, np.array(objectives), np.array(weights)


def intrinsic_dimension(D):
    """1 / mean_i sum_{j<m} log(T_m / T_j) / (m - 1), T the distances to the ten nearest others."""
    inverses = []
    for i, row in enumerate(D):
        T = [x for x in sorted(np.delete(row, i).tolist())[:10] if 0 < x < np.inf]
        if len(T) > 1 and T[-1] > T[0]:
            inverses.append(sum(math.log(T[-1] / x) for x in T) / (len(T) - 1))
    return len(inverses) / sum(inverses) if inverses else None


def neighbor_graph(D, n_neighbors, density="auto"):
    """(B + B^T) / 2 of the nearest rows, each row itself included, weighted by density.

    D are distances between distinct rows, infinite where they are not known. The length of an edge
    is that distance, or the one to the fifth neighbour of an end if that is larger. The distance to
    the last of a hundredth of the rows, from 5 to 80, counts instead where it is larger in units of
    the median. The diagonal does not count.
    """
    n = len(D)
    near = [sorted((D[i, j], j) for j in range(n) if j != i and D[i, j] < np.inf) for i in range(n)]
    core, wide = (
        np.array([own[:last][-1][0] if own else np.inf for own in near])
        for last in (5, min(max(5, n // 100), 80))
    )
    median = np.median(core)
    power = density
    if density == "auto":
        dimension = intrinsic_dimension(D)
        power = 0 if dimension is None else min(dimension / 2 + 2, 16)
    flat = power == 0 or not 0 < median < np.inf
    if not flat:
        core = np.maximum(core, median * (wide / np.median(wide)))

    def weight(length):
        if flat:
            return 1
        return min(max((length / median) ** -power, 1e-4), 1e3) if length > 0 else 1e3

    B = np.zeros((n, n))
    for i, own in enumerate(near):
        B[i, i] = weight(core[i])
        for distance, j in own[: n_neighbors - 1]:
            B[i, j] = weight(max(distance, core[i], core[j]))
    return (B + B.T) / 2


def kernel_of_new_rows(A, W, t):
    """Cosines between the ends of random walks: from new rows by edges W, and from training rows.

    From a training row a walk goes on for the time t: D^-1/2 expm(-t (I - S)). From a new row it
    takes one step to training rows before.
    """
    roots = np.sqrt(A.sum(axis=1))
    S = A / roots[:, None] / roots
    walks = scipy.linalg.expm(-t * (np.eye(len(A)) - S)) / roots[:, None]
    new, own = (ends / np.linalg.norm(ends, axis=1)[:, None] for ends in (W @ walks, walks))
    return new @ own.T
