"""The methods that are compared with one kernel, each from the same starts."""

import warnings
from collections.abc import Callable, Container, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import k_means
from sklearn.manifold import spectral_embedding
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from kernelmeans import KernelKMeans, KernelPowerKMeans, PowerKMeans
from kernelmeans.simulate import NOISE
from kernelmeans_paper.arrays import Array, IntArray
from kernelmeans_paper.problems import Problem

#: The paper's annealing; the automatic one is what an estimator has by default.
PAPER_SCHEDULE: Mapping[str, Any] = {"s0": -1.0, "eta": 1.04, "anneal_every": 5}
#: The same in every cell, so that how restarts are batched does not depend on free memory.
MEMORY_BUDGET = "4GB"
#: Given to all estimators. Without swap moves: what the methods themselves make of their starts.
COMMON: Mapping[str, Any] = {"n_swaps": 0, "random_state": 0, "memory_budget": MEMORY_BUDGET}


class Runs(NamedTuple):
    """Labels (n_starts, n_samples) of all runs, and the steps of each."""

    labels: IntArray
    steps: IntArray


def fitted(estimator: Any, problem: Problem, **parameters: Any) -> Any:
    """An estimator fitted to the kernel matrix, or to the rows if it is one without a kernel."""
    if estimator is PowerKMeans:
        return estimator(problem.k, **{**COMMON, **parameters}).fit(problem.X)
    chosen = {**COMMON, "kernel": "precomputed", **parameters}
    return estimator(problem.k, **chosen).fit(problem.K)


def restarts(estimator: Any, problem: Problem, **parameters: Any) -> Runs:
    """All restarts of one fit."""
    result = fitted(estimator, problem, **parameters).result_
    return Runs(result.labels, result.n_iter)


def _matched(estimator: Any, problem: Problem, **schedule: Any) -> Runs:
    # Their number is given, because k starts of k rows could be taken for something else.
    starts = problem.starts
    return restarts(estimator, problem, init=starts, n_init=len(starts), **schedule)


def _spectral(problem: Problem) -> Runs:
    labels = spectral_labels(problem.K, problem.k, len(problem.starts))
    return Runs(labels, np.zeros(len(labels), int))


def spectral_labels(K: Array, k: int, runs: int) -> IntArray:
    """Cluster by the two parts of scikit-learn's SpectralClustering, its k-means once per run.

    The embedding, which takes nearly all the time, is that of `SpectralClustering` and the same
    for all runs; they differ by the seed of the k-means. Some entries of polynomial kernels are
    negative, which an affinity cannot be. Narrow kernels are nearly the identity, which is not
    connected and on which the eigenvalue solver stumbles, noisily.
    """
    affinity = np.maximum(K, 0).astype(np.float64)
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
        embedding = spectral_embedding(affinity, n_components=k, random_state=0, drop_first=False)
        return np.array(
            [k_means(embedding, k, n_init=1, random_state=seed)[1] for seed in range(runs)]
        )


#: What follows the paper's name of a method that anneals. The automatic schedule is the library's.
PAPERS, AUTOMATIC = SCHEDULES = ("paper's schedule", "automatic schedule")
#: By title; both schedules without swap moves.
METHODS: dict[str, Callable[[Problem], Runs]] = {
    f"Kernel power k-means, {PAPERS}": partial(_matched, KernelPowerKMeans, **PAPER_SCHEDULE),
    f"Kernel power k-means, {AUTOMATIC}": partial(_matched, KernelPowerKMeans),
    "Kernel k-means": partial(_matched, KernelKMeans),
    f"Power k-means, {PAPERS}": partial(_matched, PowerKMeans, **PAPER_SCHEDULE),
    f"Power k-means, {AUTOMATIC}": partial(_matched, PowerKMeans),
    "Spectral": _spectral,
}


def scheduled(name: str, schedule: str, titles: Container[str] = METHODS) -> str:
    """Title of a method of the paper with a schedule, or without one if it does not anneal."""
    title = f"{name}, {schedule}"
    return title if title in titles else name


def paper_name(title: str) -> str:
    """What the paper calls a method, whatever its schedule."""
    name, _, schedule = title.rpartition(", ")
    return name if schedule in SCHEDULES else title


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
    >>> from kernelmeans_paper.methods import kernel_cost
    >>> x = np.array([0.0, 2.0, 5.0])
    >>> kernel_cost(np.outer(x, x), np.array([0, 0, 1]))
    2.0
    """
    K = K.astype(np.float64)
    clusters = np.unique(labels)
    member = (labels == clusters[:, None]).astype(np.float64)
    within = np.einsum("ci,ci->c", member @ K, member) / member.sum(axis=1)
    return float(np.trace(K) - within.sum())
