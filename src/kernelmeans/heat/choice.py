"""The time of heat, chosen by how well the clusters that it leads to keep their neighbours."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.stats

from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.engines import Threads
from kernelmeans.kernels import Kernel
from kernelmeans.lowrank import Explicit
from kernelmeans.solver import annealed, solve
from kernelmeans.solver.seeding import greedy_kmeans_plusplus
from kernelmeans.spaces.features import FeatureSpace

#: Times that are tried, in units of the one with as many states as clusters. Longer times find
#: clusters of very different sizes, and lose others.
FACTORS = (1.0, 2.0, 4.0)
#: Cut for the entropy of the clusters, as a fraction of that at the first time, below which a
#: longer time is better. Of 200 tables nearly all gain below it, and as many lose as gain above.
BETTER = 0.68
#: The method of the estimators, by default.
DEFAULTS: Any = {
    "s0": "auto",
    "eta": "auto",
    "anneal_every": 1,
    "max_iter": 1000,
    "tol": 1e-6,
    "n_swaps": "auto",
}
#: Fewest rows for each cluster with which a time is chosen. With fewer, the cut is a handful of
#: edges, and a search has hundreds of such fits.
FEWEST_ROWS = 20
#: Restarts at each time: a partition that does not have the least cost would be judged in vain.
RESTARTS = 3
#: Most rows that are clustered at each time; the others follow the nearest centroid.
MOST_ROWS = 4096


def choose_time(
    first: float, features_at: Callable[[float], Array], graph: Data, n_clusters: int
) -> tuple[float, dict[str, Array]]:
    """The time whose clusters keep their neighbours best.

    That is the fraction of all edges that they cut, divided by the entropy of the clusters: one
    large cluster and a few crumbs cut little, and say little. The shortest time is left for a
    longer one only if this falls by a third, because clusters of similar times hardly differ.

    Parameters
    ----------
    first : float
        The shortest time.
    features_at : callable
        Returns the features of rows at a time.
    graph : CSR array of shape (n_rows, n_rows)
        The graph of these rows whose edges are counted, by their weights.
    n_clusters : int
        Number of clusters.

    Returns
    -------
    t : float
        The best time.
    times : dict
        What was tried: arrays ``"t"``, ascending; ``"cut"``, the fraction of all edges that connect
        clusters at each time; and ``"entropy"``, that of the fractions of all edges that clusters
        have, or 0 where a cluster is empty.
    """
    times = first * np.array(FACTORS)
    labels = [_clusters(features_at(float(t)), n_clusters) for t in times]
    judged = [_judged(graph, each, n_clusters) for each in labels]
    cut, entropy = np.transpose(judged)
    worth = np.divide(cut, entropy, out=np.full(len(cut), np.inf), where=entropy > 0)
    best = int(np.argmin(np.append(BETTER * worth[0], worth[1:])))
    return float(times[best]), {"t": times, "cut": cut, "entropy": entropy}


def _judged(graph: Data, labels: IntArray, n_clusters: int) -> tuple[float, float]:
    """The fraction of all edges that connect clusters, and the entropy of the clusters."""
    edges = graph.tocoo()
    volumes = np.bincount(labels[edges.row], edges.data, n_clusters)
    if not volumes.all():
        return 1.0, 0.0
    between = labels[edges.row] != labels[edges.col]
    return edges.data[between].sum() / volumes.sum(), float(scipy.stats.entropy(volumes))


def _clusters(features: Array, n_clusters: int) -> IntArray:
    """Labels of rows by their features of norm 1: annealed, without swap moves."""
    n = len(features)
    sample = features
    if n > MOST_ROWS:
        sample = features[np.random.default_rng(0).permutation(n)[:MOST_ROWS]]
    kernel = Explicit(Kernel("linear", {}))
    with Threads() as threads:
        space = FeatureSpace.hold(kernel, sample, np.ones(len(sample)), threads)
        generators = [np.random.RandomState(seed) for seed in range(RESTARTS)]
        seeds = greedy_kmeans_plusplus(space, n_clusters, generators)
        method = annealed(space, n_clusters, **DEFAULTS)
        result = solve(space, space.at(seeds), method, list(range(RESTARTS)))
    labels: IntArray = result.labels[result.best]
    if n == len(sample):
        return labels
    ends = np.arange(n_clusters)[:, None] == labels
    centroids = ends @ sample / np.maximum(ends.sum(axis=1, keepdims=True), 1)
    nearest: IntArray = (features @ centroids.T - (centroids**2).sum(axis=1) / 2).argmax(axis=1)
    return nearest
