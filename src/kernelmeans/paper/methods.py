"""The methods that are compared with one kernel, each from the same starts."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from kernelmeans import KernelKMeans, KernelPowerKMeans, PowerKMeans
from kernelmeans._typing import Array, IntArray
from kernelmeans.engines import Threads
from kernelmeans.kernels import Kernel
from kernelmeans.simulate import NOISE
from kernelmeans.solver.seeding import greedy_kmeans_plusplus
from kernelmeans.spaces import CachedGramSpace

#: The paper's annealing; that of the library is what an estimator has by default.
PAPER_SCHEDULE: Mapping[str, Any] = {"s0": -1.0, "eta": 1.04, "anneal_every": 5}
#: The same in every cell, so that how restarts are batched does not depend on free memory.
MEMORY_BUDGET = "4GB"


class Problem(NamedTuple):
    """What a method is given.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Rows, for methods without a kernel.
    K : ndarray of shape (n_samples, n_samples)
        Kernel matrix.
    y : ndarray of shape (n_samples,)
        Classes, for the scores only; -1 for rows that do not count.
    k : int
        Number of clusters.
    starts : ndarray of shape (n_starts, k)
        Rows at which each matched run begins; none where a method has starts of its own.
    """

    X: Array
    K: Array
    y: IntArray
    k: int
    starts: IntArray = np.empty((0, 0), int)


class Runs(NamedTuple):
    """Labels (n_starts, n_samples) of all runs, and the steps of each."""

    labels: IntArray
    steps: IntArray


def _fit(model: Any, rows: Array) -> Runs:
    result = model.fit(rows).result_
    return Runs(result.labels, result.n_iter)


def _kernel_power(problem: Problem, **schedule: Any) -> Runs:
    model = KernelPowerKMeans(
        problem.k,
        kernel="precomputed",
        init=problem.starts,
        memory_budget=MEMORY_BUDGET,
        random_state=0,
        **schedule,
    )
    return _fit(model, problem.K)


def _kernel_kmeans(problem: Problem) -> Runs:
    model = KernelKMeans(
        problem.k,
        kernel="precomputed",
        init=problem.starts,
        memory_budget=MEMORY_BUDGET,
        random_state=0,
    )
    return _fit(model, problem.K)


def _power_kmeans(problem: Problem, **schedule: Any) -> Runs:
    model = PowerKMeans(
        problem.k,
        init=problem.starts,
        memory_budget=MEMORY_BUDGET,
        random_state=0,
        **schedule,
    )
    return _fit(model, problem.X)


def _spectral(problem: Problem) -> Runs:
    """One start of its k-means for each seed; it takes no starts of ours."""
    seeds = range(len(problem.starts))
    labels = [spectral_labels(problem.K, problem.k, 1, seed) for seed in seeds]
    return Runs(np.array(labels), np.zeros(len(labels), int))


def spectral_labels(K: Array, k: int, n_init: int, seed: int) -> IntArray:
    """Cluster by scikit-learn's spectral clustering on a kernel matrix, whatever it thinks of it.

    Some entries of polynomial kernels are negative, which an affinity cannot be. Narrow kernels
    are nearly the identity, which is not connected and on which its eigenvalue solver stumbles.
    """
    model = SpectralClustering(k, affinity="precomputed", n_init=n_init, random_state=seed)
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
        return np.asarray(model.fit_predict(np.maximum(K, 0)))


#: By title; the paper's schedule and the library's default of both annealed methods.
METHODS: dict[str, Callable[[Problem], Runs]] = {
    "Kernel power k-means": _kernel_power,
    "Kernel power k-means, paper's schedule": lambda p: _kernel_power(p, **PAPER_SCHEDULE),
    "Kernel k-means": _kernel_kmeans,
    "Power k-means": _power_kmeans,
    "Power k-means, paper's schedule": lambda p: _power_kmeans(p, **PAPER_SCHEDULE),
    "Spectral": _spectral,
}
#: Those that ranks count: the defaults.
RANKED = ("Kernel power k-means", "Kernel k-means", "Power k-means", "Spectral")


def random_starts(n: int, k: int, count: int) -> IntArray:
    """Return rows at which matched runs begin, k different ones for each."""
    rng = np.random.default_rng(0)
    return np.stack([rng.permutation(n)[:k] for _ in range(count)])


def plusplus_starts(K: Array, k: int, count: int) -> IntArray:
    """Return the same by greedy k-means++ in the feature space of a kernel matrix."""
    generators = [np.random.RandomState(seed) for seed in range(count)]
    with Threads() as threads:
        space = CachedGramSpace(Kernel("precomputed", {}), K, np.ones(len(K), K.dtype), threads)
        return np.asarray(greedy_kmeans_plusplus(space, k, generators, threads).T)


def scores(problem: Problem, runs: Runs) -> dict[str, list[float]]:
    """Agreement with the classes, cost in feature space and steps of each run."""
    counts = problem.y != NOISE
    y = problem.y[counts]
    return {
        "nmi": [float(normalized_mutual_info_score(y, labels[counts])) for labels in runs.labels],
        "ari": [float(adjusted_rand_score(y, labels[counts])) for labels in runs.labels],
        "cost": [kernel_cost(problem.K, labels) for labels in runs.labels],
        "steps": runs.steps.tolist(),
    }


def kernel_cost(K: Array, labels: IntArray) -> float:
    """Sum of squared distances to the clusters' means in feature space, whatever the method.

    Parameters
    ----------
    K : ndarray of shape (n_samples, n_samples)
        Kernel matrix.
    labels : ndarray of shape (n_samples,)
        Clusters.

    Returns
    -------
    float
        The cost of kernel k-means.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.paper.methods import kernel_cost
    >>> x = np.array([0.0, 2.0, 5.0])
    >>> kernel_cost(np.outer(x, x), np.array([0, 0, 1]))
    2.0
    """
    K = K.astype(np.float64)
    clusters = np.unique(labels)
    member = (labels == clusters[:, None]).astype(np.float64)
    within = np.einsum("ci,ci->c", member @ K, member) / member.sum(axis=1)
    return float(np.trace(K) - within.sum())
