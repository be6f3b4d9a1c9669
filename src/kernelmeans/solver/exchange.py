"""Exchanges: samples that leave the nearest centroid for another, because that costs less.

A hard step ignores that a sample pulls its own centroid towards itself. A sample of weight v at
squared distance d saves m d / (m - v) if it leaves its cluster of weight m. It costs m d / (m + v)
in a cluster that it joins. The rule of Hartigan compares both. If it cannot improve a partition,
hard steps cannot either.

First all samples go by this rule at once. This takes half the steps of hard steps and single
exchanges, and ends lower. But samples may hinder each other, although each would save something
alone. So hard steps follow once the cost no longer falls, and then single exchanges.
"""

from typing import NamedTuple

import numpy as np

from kernelmeans._arrays import double, like, namespace, put_first, reduce, smallest
from kernelmeans._typing import Array, BoolArray, IntArray
from kernelmeans.spaces import Centroids, Space

#: Smallest gain per unit of weight that is no rounding, in units of the space's smallest distance.
CERTAIN = 16
#: Fraction of the cost that the single exchanges of a step have to save: among very many samples
#: there is always another one that saves next to nothing.
WORTHWHILE = 1e-7
#: Weight of clusters that take no part in exchanges. With it the rule sends their samples to the
#: nearest centroid.
BOUNDLESS = 1e30


class Exchanges(NamedTuple):
    """Samples that join other clusters in the next step.

    Attributes
    ----------
    restarts, samples, clusters : ndarray of shape (m,)
        Each sample's restart and new cluster.
    """

    restarts: IntArray
    samples: IntArray
    clusters: IntArray

    def within(self, place: slice) -> list[tuple[int, int, int]]:
        """Exchanges in a block, as (restart, sample's place in the block, cluster)."""
        if not len(self.samples):
            return []
        inside = (place.start <= self.samples) & (self.samples < place.stop)
        own = self.restarts[inside], self.samples[inside] - place.start, self.clusters[inside]
        return list(zip(*(part.tolist() for part in own), strict=True))

    def kept(self, restarts: BoolArray) -> "Exchanges":
        """Exchanges of the restarts that go on, under their new numbers."""
        number = np.cumsum(restarts) - 1
        return Exchanges(number[self.restarts], self.samples, self.clusters)


#: No exchanges.
NONE = Exchanges(*np.empty((3, 0), np.intp))


class Exchanging:
    """How far each running restart has come with exchanges.

    Parameters
    ----------
    wanted : bool
        Whether samples are exchanged.
    n_restarts : int
        Restarts.

    Attributes
    ----------
    singly : Exchanges
        The single exchanges of the next step.
    pending : ndarray of shape (R,)
        Restarts whose last exchanges show their gain only in the next step.
    """

    def __init__(self, wanted: bool, n_restarts: int) -> None:
        self.singly = NONE
        self.pending = np.zeros(n_restarts, bool)
        self._at_once = np.full(n_restarts, wanted)
        self._cluster_weight: Array | None = None

    @property
    def cluster_weight(self) -> Array | None:
        """Weights (k, R) for exchanges at once in the next step; None if there are none."""
        if self._cluster_weight is None or not self._at_once.any():
            return None
        exchanging = self._at_once & (self._cluster_weight > 0)
        return np.where(exchanging, self._cluster_weight, BOUNDLESS)

    def go_on(
        self,
        space: Space,
        centroids: Centroids,
        cluster_weight: Array,
        objective: Array,
        ended: BoolArray,
        circles: BoolArray,
        bar: float,
    ) -> None:
        """Look for exchanges in restarts that have ended, because labels stay or go in circles."""
        # A restart above the bar whose labels stay would not get below the bar.
        hindered = ended & self._at_once & (circles | (objective <= bar))
        settled = ended & ~circles & ~self._at_once
        self.singly = find_exchanges(space, centroids, cluster_weight, objective, settled)
        # The first step knows no cluster weights, so the second is the first to exchange.
        self.pending = hindered | (self._at_once & (self._cluster_weight is None))
        self.pending[self.singly.restarts] = True
        self._at_once, self._cluster_weight = self._at_once & ~hindered, cluster_weight

    def keep(self, restarts: BoolArray) -> None:
        """Drop the other restarts."""
        self.singly, self.pending = self.singly.kept(restarts), self.pending[restarts]
        self._at_once = self._at_once[restarts]
        if self._cluster_weight is not None:
            self._cluster_weight = self._cluster_weight[:, restarts]


def find_exchanges(
    space: Space,
    centroids: Centroids,
    cluster_weight: Array,
    objective: Array,
    which: BoolArray,
) -> Exchanges:
    """Single exchanges that lower the cost of some restarts.

    Their gains add up exactly, because no two exchanges of a restart touch the same cluster.

    Parameters
    ----------
    space : Space
        The samples.
    centroids : Centroids
        The means of the clusters of each restart.
    cluster_weight : ndarray of shape (k, R)
        The weights of the clusters.
    objective : ndarray of shape (R,)
        The costs, of which the exchanges have to save a little.
    which : ndarray of shape (R,)
        Restarts whose labels stay.

    Returns
    -------
    Exchanges
        Sorted by restart.

    References
    ----------
    Telgarsky and Vattani (2010), Hartigan's method: k-means clustering without Voronoi.
    """
    restarts = np.flatnonzero(which)
    if not len(restarts) or centroids.shape[0] == 1:
        return NONE
    ended, weights = centroids.take(restarts), cluster_weight[:, restarts]
    own, other, gain = space.collect(_best_exchange, weights.size, ended, weights)
    certain = CERTAIN * space.floor(ended)[:, None] * space.sample_weight
    chosen = []
    for r, restart in enumerate(restarts.tolist()):
        exchanges = _disjoint(own[r], other[r], gain[r], certain[r])
        saved = sum(gain[r, sample] for sample, _ in exchanges)
        if saved > WORTHWHILE * objective[restart]:
            chosen += [(restart, *exchange) for exchange in exchanges]
    return Exchanges(*np.array(chosen, np.intp).T) if chosen else NONE


def exchange_costs(
    distances: Array,
    own: IntArray,
    nearest: Array,
    sample_weight: Array,
    cluster_weight: Array,
    residuals: Array | None,
) -> tuple[Array, Array]:
    """Savings of leaving the own cluster, (R, block), and costs of joining any, (k, R, block).

    Both are per unit of the sample's weight. A sample that is alone in its cluster saves nothing.
    """
    xp = namespace(distances)
    if residuals is not None:
        # A sample pulls its centroid by its features alone: its residual stays where it is.
        none = xp.zeros_like(residuals)
        distances = xp.maximum(distances - residuals, none)
        nearest = xp.maximum(nearest - residuals, none)
    m, v = like(cluster_weight[..., None], distances), sample_weight
    if bool(reduce("min", v) == reduce("max", v)):
        # The factors of one sample are those of all.
        v = v[:1]
        leaving = _of_own(_leaving(m, v), own)
    else:
        leaving = _leaving(_of_own(m, own), v)
    both = m + v
    return leaving * nearest, m / xp.where(both > 0, both, 1.0) * distances


def _leaving(m: Array, v: Array) -> Array:
    """What leaving a cluster of weight m saves, in distances; 0 for a sample that is alone."""
    xp, others = namespace(m), m - v
    alone = others <= 1e-9 * m
    factors: Array = xp.where(alone, 0.0, m / xp.where(alone, 1.0, others))
    return factors


def _of_own(values: Array, own: IntArray) -> Array:
    """The values (k, R, 1) of each sample's own cluster (R, block)."""
    xp = namespace(values)
    table = xp.permute_dims(values[..., 0], (1, 0))
    of_own: Array = xp.take_along_axis(table, xp.asarray(own, dtype=xp.int64), axis=1)
    return of_own


def _best_exchange(
    space: Space, block: slice, centroids: Centroids, cluster_weight: Array
) -> tuple[IntArray, IntArray, Array]:
    """Each sample's cluster, the best other one and the gain of going there, (R, block)."""
    d = double(space.distances(centroids, block))
    v = double(space.device_weight[block])
    own, nearest = smallest(d)
    residuals = space.residuals(block)
    residuals = None if residuals is None else double(residuals)
    saved, joins = exchange_costs(d, own, nearest, v, cluster_weight, residuals)
    best, paid = smallest(put_first(joins, own, np.inf))
    return own, best, v * (saved - paid)


def _disjoint(own: IntArray, other: IntArray, gain: Array, certain: Array) -> list[tuple[int, int]]:
    """The best (sample, cluster) of one restart, so that none touches the clusters of another."""
    candidates = np.flatnonzero(gain > certain)
    touched: set[int] = set()
    chosen = []
    for sample in candidates[np.argsort(-gain[candidates], kind="stable")].tolist():
        pair = {int(own[sample]), int(other[sample])}
        if not pair & touched:
            touched |= pair
            chosen.append((sample, int(other[sample])))
    return chosen
