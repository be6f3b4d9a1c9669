"""Time and density of heat, chosen by how well the clusters keep their neighbours."""

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import scipy.stats
from sklearn.metrics import adjusted_rand_score

from kernelmeans._typing import Array, BoolArray, Data, IntArray
from kernelmeans.engines import Threads
from kernelmeans.heat.pieces import DEBRIS, WHOLE
from kernelmeans.heat.separation import cluster_shares, edges_between
from kernelmeans.kernels import Kernel
from kernelmeans.lowrank import Explicit
from kernelmeans.solver import EdgeWeights, annealed, solve, swap_moves
from kernelmeans.solver.seeding import greedy_kmeans_plusplus
from kernelmeans.spaces.features import FeatureSpace

#: Times that are tried, in units of the one with as many states as clusters. Longer times find
#: clusters of very different sizes, and lose others.
FACTORS = (1.0, 2.0, 4.0, 8.0, 16.0)
#: Score of a longer time, as a fraction of the score of the first time, below which it is better:
#: BETTER / factor ** DECAY. Images lose if the first is larger, small round clusters if the second
#: is smaller.
BETTER, DECAY = 0.8, 0.25
#: Fraction of the bar of each time that a score of the second graph has to stay below.
MUCH_BETTER = 0.7
#: Fraction of the bar of a time with a cluster of so few rows that it would be debris as a piece.
STRANGE = 0.5
#: Times that are tried there, in its own unit. Longer ones find crumbs.
DENSER_FACTORS = (1.0, 4.0)
#: Relative difference of cuts up to which the clusters of two times are the same.
SAME = 1e-9
#: Least adjusted Rand index of the clusters of two times that are alike.
ALIKE = 0.95
#: Exponents of the scores by the number of edges and by their weight, whose product counts. If the
#: second is as large, crumbs win.
EXPONENTS = np.array([2 / 3, 1 / 3])
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
RESTARTS = 2
#: Most rows that are clustered at each time; the others follow the nearest centroid.
MOST_ROWS = 4096


class Trial(NamedTuple):
    """A kernel whose graph is known, and whose time is not.

    Attributes
    ----------
    first : callable
        Returns the time that is given, or the shortest that can be chosen.
    settle : callable
        Gives the kernel its time.
    features_at : callable
        Returns the features of the nodes of the graph at a time.
    graph : CSR array of shape (n_nodes, n_nodes)
        The graph of neighbours, whose edges are counted by their weights.
    nodes : callable
        Returns the node of each training row, or -1 for a row that has none.
    chooses : bool
        Whether the time is to be chosen.
    weighted : CSR array of shape (n_nodes, n_nodes) or None
        The same graph, in which edges count by their weights in the kernel; None where its nodes
        are not those of the kernel.
    denser : callable or None
        Returns the trial of the same nodes in a graph in which density counts more
        (`Density.denser`); None where there is none.
    """

    first: Callable[[], float]
    settle: Callable[[float], None]
    features_at: Callable[[float], Array]
    graph: Data
    nodes: Callable[[], IntArray]
    chooses: bool
    weighted: Data | None = None
    denser: Callable[[], "Trial"] | None = None

    def edges_between(self, nodes: IntArray, labels: IntArray, n_clusters: int) -> list[Array]:
        """The edges between clusters of nodes: those of the graph, and of the weighted one."""
        shares = cluster_shares(nodes, labels, self.graph.shape[0], n_clusters)
        weighted = self.graph if self.weighted is None else self.weighted
        return [edges_between(graph, shares) for graph in (self.graph, weighted)]

    def edge_weights(self, sample_weight: Array, n_clusters: int) -> EdgeWeights | None:
        """What weighs the edges between clusters; None if it cannot, or has few rows."""
        graph, nodes_of = self.weighted, self.nodes
        if graph is None or graph.shape[0] < FEWEST_ROWS * n_clusters:
            return None

        @cache
        def placed() -> tuple[IntArray, IntArray]:
            nodes = nodes_of()
            known = nodes >= 0
            return np.flatnonzero(sample_weight)[known], nodes[known]

        def weigh(labels: IntArray) -> Array:
            rows, nodes = placed()
            shares = cluster_shares(nodes, labels[rows], graph.shape[0], n_clusters)
            return edges_between(graph, shares)

        return weigh


class Choice(NamedTuple):
    """A graph and a factor of times, and what was tried.

    Attributes
    ----------
    is_denser : bool
        Whether it is the graph in which density counts more.
    factors : ndarray of shape (n_factors,)
        Factors of the first time in this graph.
    best : int
        The place of the best one.
    cut : ndarray of shape (n_factors,)
        For each factor in this graph, the fraction of all edges that connect clusters: a geometric
        mean of those by number and by weight.
    entropy : ndarray of shape (n_factors,)
        That of the fractions of all edges that clusters have, or 0 where a cluster is empty: the
        same mean.
    partitions : list of ndarray of int of shape (n_rows,)
        The clusters for each factor in this graph.
    """

    is_denser: bool
    factors: Array
    best: int
    cut: Array
    entropy: Array
    partitions: list[IntArray]

    @property
    def factor(self) -> float:
        """The best factor."""
        return float(self.factors[self.best])


def choose_time_and_density(trials: Sequence[Trial], n_clusters: int) -> Choice | None:
    """The graph and the factor of all times whose clusters keep their neighbours best.

    The score of a time is the fraction of all edges that its clusters cut, divided by the entropy
    of the clusters. Without the entropy, one large cluster and a few crumbs would win, because they
    cut few edges. A longer time replaces the shortest only if the score falls by a third, and more
    for the longest, because clusters of similar times hardly differ. Of times with the same
    clusters the middle one is taken: other rows, such as halves of these, have them too.

    Where density counts more, heat stays within arms of spirals and in rings, and noise counts
    less. Such a graph wins only if scores fall by another third. Edges are always those of the
    first graph.

    Edges of neighbours count twice: alike, and by their weights in the kernel. The score is the
    first to the power 2/3, times the second to the power 1/3. Every partition cuts many edges of
    rows of noise, but they weigh little. Edges of a strange row weigh nearly nothing. So scores
    have to fall by another half where a cluster would be debris as a piece (`find_pieces`). Edges
    of a given graph count by their weights alone. Where anchors make the kernel, edges between rows
    count alike. Several kernels count alike: clusters are those of the mean kernel, and fractions
    the mean of those of all graphs.

    Parameters
    ----------
    trials : sequence of Trial
        Kernels of the same training rows.
    n_clusters : int
        Number of clusters.

    Returns
    -------
    Choice or None
        The choice; None if the kernels have too few rows in common.
    """
    nodes = _common_nodes(trials)
    if len(nodes) < FEWEST_ROWS * n_clusters:
        return None
    settings = [(trials, factor) for factor in FACTORS]
    if all(trial.denser for trial in trials):
        denser = [trial.denser() for trial in trials if trial.denser]
        settings += [(denser, factor) for factor in DENSER_FACTORS]
    judged, partitions = [], []
    for kernels, factor in settings:
        # The shortest time has the most local optima. The swap moves of the fit would leave such an
        # optimum, so it is not judged.
        with_rivals = factor == FACTORS[0]
        labels = _clusters(_features(kernels, nodes, factor), n_clusters, with_rivals)
        between = [
            trial.edges_between(own, labels, n_clusters)
            for trial, own in zip(trials, nodes.T, strict=True)
        ]
        judged.append([_judged(each) for each in np.mean(between, axis=0)])
        partitions.append(labels)
    cut, entropy = np.moveaxis(np.array(judged), -1, 0)
    factors = np.array([factor for _, factor in settings])
    bars = np.where(factors > 1, BETTER / factors**DECAY, 1.0)
    bars[len(FACTORS) :] *= MUCH_BETTER
    smallest = [np.bincount(labels, minlength=n_clusters).min() for labels in partitions]
    is_debris = np.array(smallest) < min(WHOLE, DEBRIS * len(nodes) / n_clusters)
    bars[1:] *= np.where(is_debris[1:], STRANGE, 1.0)
    best = int(np.argmin(_scores(cut, entropy) / bars))
    is_denser = best >= len(FACTORS)
    own = slice(len(FACTORS), None) if is_denser else slice(len(FACTORS))
    best -= own.start or 0
    cut, entropy = (np.prod(one[own] ** EXPONENTS, axis=1) for one in (cut, entropy))
    same = np.isclose(cut, cut[best], rtol=SAME, atol=0)
    same &= np.isclose(entropy, entropy[best], rtol=SAME, atol=0)
    middle = _middle(best, same)
    return Choice(is_denser, factors[own], middle, cut, entropy, partitions[own])


def in_halves(choice: Choice | None) -> Choice | None:
    """What fits to halves of the rows take over: the middle of the times that are alike.

    A time that is just long enough for all rows may be too short for a half.
    """
    if choice is None:
        return None
    best = choice.partitions[choice.best]
    alike = [adjusted_rand_score(best, one) >= ALIKE for one in choice.partitions]
    return choice._replace(best=_middle(choice.best, np.array(alike)), partitions=[])


def _middle(best: int, same: BoolArray) -> int:
    """The middle of the times around the best one whose clusters are the same as its own."""
    others = np.flatnonzero(~same)
    first = others[others < best].max(initial=-1) + 1
    last = others[others > best].min(initial=len(same)) - 1
    return int(first + last) // 2


def _scores(cut: Array, entropy: Array) -> Array:
    """The score of each time as a fraction of that of the first one.

    Cut and entropy (n_factors, 2) are those by number and by weight.
    """
    # Empty clusters are worse than any others.
    worth = np.divide(cut, entropy, out=np.full(cut.shape, 1e100), where=entropy > 0)
    if not worth[0].all():  # nothing is better
        return np.ones(len(worth))
    return np.asarray(np.prod((worth / worth[0]) ** EXPONENTS, axis=1))


def _features(trials: Sequence[Trial], nodes: IntArray, factor: float) -> Array:
    """The features of the mean kernel at a factor of all times."""
    own = [
        trial.features_at(factor * trial.first())[rows]
        for trial, rows in zip(trials, nodes.T, strict=True)
    ]
    # Partitions are only compared: in single precision they are the same, in less time.
    features = np.hstack(own, dtype=np.float32, casting="same_kind")
    features /= math.sqrt(len(trials))
    return features


def _common_nodes(trials: Sequence[Trial]) -> IntArray:
    """The nodes of distinct rows in each graph, shape (n_rows, n_kernels)."""
    if len(trials) == 1:
        return np.arange(trials[0].graph.shape[0])[:, None]
    nodes = [trial.nodes() for trial in trials]
    if len({len(own) for own in nodes}) > 1:
        # Some are those of a subsample.
        return np.empty((0, len(trials)), np.intp)
    rows = np.stack(nodes, axis=1)
    return np.unique(rows[(rows >= 0).all(axis=1)], axis=0)


def _judged(between: Array) -> tuple[float, float]:
    """The fraction of all edges that connect clusters, and the entropy of the clusters."""
    volumes = between.sum(axis=1)
    if not volumes.all():
        return 1.0, 0.0
    cut = between.sum(where=~np.eye(len(between), dtype=bool))
    return float(cut / volumes.sum()), float(scipy.stats.entropy(volumes))


def _clusters(features: Array, n_clusters: int, with_rivals: bool) -> IntArray:
    """Labels of rows by their features of norm 1: annealed, and not swapped.

    Rivals are hard runs from k-means++ seeds, as before the swap moves of a fit.
    """
    n = len(features)
    sample = features
    if n > MOST_ROWS:
        sample = features[np.random.default_rng(0).permutation(n)[:MOST_ROWS]]
    kernel = Explicit(Kernel("linear", {}))
    with Threads() as threads:
        space = FeatureSpace.hold(kernel, sample, np.ones(len(sample), sample.dtype), threads)
        seeds = greedy_kmeans_plusplus(space, n_clusters, range(RESTARTS))
        method = annealed(space, n_clusters, **DEFAULTS)
        result = solve(space, space.at(seeds), method, list(range(RESTARTS)))
        if with_rivals:
            swap_moves(space, result, 0, DEFAULTS["max_iter"], 0)
    labels: IntArray = result.labels[result.best]
    if n == len(sample):
        return labels
    ends = np.arange(n_clusters)[:, None] == labels
    centroids = ends @ sample / np.maximum(ends.sum(axis=1, keepdims=True), 1)
    closeness = features @ centroids.T.astype(features.dtype)
    closeness -= (centroids**2).sum(axis=1) / 2
    return np.asarray(closeness.argmax(axis=1))
