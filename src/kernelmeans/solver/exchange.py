"""Exchanges: samples that go to other clusters than the nearest, because that costs less.

A hard step sends each sample to the nearest centroid as if it had no part in its own one. The cost
falls further where a sample of weight v leaves a cluster of mass m at squared distance d, which
saves m d / (m - v), for one where it costs m d / (m + v) less than that. (Hartigan's rule; every
partition that it cannot improve is one that hard steps cannot improve either.)

All samples at once go by that rule first: this takes half the steps of hard steps followed by
exchanges, and ends lower. Samples that would each save something alone can hinder each other. Once
the cost falls no more they are therefore exchanged singly, after hard steps have come to an end.
"""

from typing import NamedTuple

import numpy as np

from kernelmeans._arrays import double, like, namespace, put_first, reduce, smallest
from kernelmeans._typing import Array, BoolArray, IntArray
from kernelmeans.spaces import Centroids, Space

#: A gain may be rounding below this multiple of the smallest distance told from zero, for each unit
#: of weight.
CERTAIN = 16
#: Fraction of the cost that exchanges have to save in a step: of very many samples single ones do
#: not matter, and there would be no end of them.
WORTHWHILE = 1e-7


class Exchanges(NamedTuple):
    """Samples that are to join other clusters in the next step.

    Attributes
    ----------
    restarts, samples, clusters : ndarray of shape (m,)
        Each sample's restart and new cluster.
    """

    restarts: IntArray
    samples: IntArray
    clusters: IntArray

    def within(self, place: slice) -> list[tuple[int, int, int]]:
        """Those of a block, as (restart, sample's place in the block, cluster)."""
        if not len(self.samples):
            return []
        inside = (place.start <= self.samples) & (self.samples < place.stop)
        own = self.restarts[inside], self.samples[inside] - place.start, self.clusters[inside]
        return list(zip(*(part.tolist() for part in own), strict=True))

    def kept(self, restarts: BoolArray) -> "Exchanges":
        """Those of the restarts that go on, by their new numbers."""
        number = np.cumsum(restarts) - 1
        return Exchanges(number[self.restarts], self.samples, self.clusters)


#: Mass of clusters whose samples are not exchanged but go to the nearest centroid.
BOUNDLESS = 1e30
#: Nothing to exchange.
NONE = Exchanges(*np.empty((3, 0), np.intp))


class Exchanging:
    """How far each running restart has come with exchanges.

    Parameters
    ----------
    wanted : bool
        Whether there are any.
    n_restarts : int
        Restarts.

    Attributes
    ----------
    singly : Exchanges
        Those of the next step, of restarts that exchange singly.
    pending : ndarray of shape (R,)
        Restarts whose last exchanges show no gain before the next step.
    """

    def __init__(self, wanted: bool, n_restarts: int) -> None:
        self.singly = NONE
        self.pending = np.zeros(n_restarts, bool)
        self._at_once = np.full(n_restarts, wanted)
        self._mass: Array | None = None

    @property
    def mass(self) -> Array | None:
        """The mass (k, R) by which all samples of the next step go; None for the nearest."""
        if self._mass is None or not self._at_once.any():
            return None
        return np.where(self._at_once & (self._mass > 0), self._mass, BOUNDLESS)

    def go_on(
        self,
        space: Space,
        centroids: Centroids,
        mass: Array,
        objective: Array,
        ended: BoolArray,
        circles: BoolArray,
        bar: float,
    ) -> None:
        """Look for exchanges in the restarts that have come to an end, by labels or in circles."""
        # A run above the bar whose samples stay where they are would not get below it.
        hindered = ended & self._at_once & (circles | (objective <= bar))
        settled = ended & ~circles & ~self._at_once
        self.singly = find_exchanges(space, centroids, mass, objective, settled)
        # The first step of all went to the nearest, as no mass was known: the next one exchanges.
        self.pending = hindered | (self._at_once & (self._mass is None))
        self.pending[self.singly.restarts] = True
        self._at_once, self._mass = self._at_once & ~hindered, mass

    def keep(self, restarts: BoolArray) -> None:
        """Drop the other restarts."""
        self.singly, self.pending = self.singly.kept(restarts), self.pending[restarts]
        self._at_once = self._at_once[restarts]
        if self._mass is not None:
            self._mass = self._mass[:, restarts]


def find_exchanges(
    space: Space,
    centroids: Centroids,
    mass: Array,
    objective: Array,
    which: BoolArray,
) -> Exchanges:
    """Exchanges that lower the cost of some restarts, at most one for each cluster.

    The gains of several add up exactly, because no two touch the same cluster.

    Parameters
    ----------
    space : Space
        The samples.
    centroids : Centroids
        The means of the clusters of each restart.
    mass : ndarray of shape (k, R)
        Total weights of the clusters.
    objective : ndarray of shape (R,)
        Their costs, of which exchanges have to save a little together.
    which : ndarray of shape (R,)
        Restarts that have come to an end.

    Returns
    -------
    Exchanges
        Sorted by restart; empty where no single sample is worth it.

    References
    ----------
    Telgarsky and Vattani (2010), Hartigan's method: k-means clustering without Voronoi.
    """
    restarts = np.flatnonzero(which)
    if not len(restarts) or centroids.shape[0] == 1:
        return NONE
    ended, own_mass = centroids.take(restarts), mass[:, restarts]
    own, other, gain = space.collect(_best_exchange, own_mass.size, ended, own_mass)
    certain = CERTAIN * space.floor(ended)[:, None] * space.sample_weight
    chosen = []
    for r, restart in enumerate(restarts.tolist()):
        exchanges = _disjoint(own[r], other[r], gain[r], certain[r])
        saved = sum(gain[r, sample] for sample, _ in exchanges)
        if saved > WORTHWHILE * objective[restart]:
            chosen += [(restart, *exchange) for exchange in exchanges]
    return Exchanges(*np.array(chosen, np.intp).T) if chosen else NONE


def exchange_costs(
    distances: Array, own: IntArray, nearest: Array, sample_weight: Array, mass: Array
) -> tuple[Array, Array]:
    """What leaving its cluster saves a sample, (R, block), and joining any costs, (k, R, block).

    Both for each unit of its weight. Who is a cluster of its own saves nothing.
    """
    xp = namespace(distances)
    m, v = like(mass[..., None], distances), sample_weight
    own_mass = xp.take_along_axis(m, xp.asarray(own[None, ...], dtype=xp.int64), axis=0)[0, ...]
    others = own_mass - v
    alone = others <= 1e-9 * own_mass
    saved = xp.where(alone, 0.0, own_mass / xp.where(alone, 1.0, others)) * nearest
    if bool(reduce("min", v) == reduce("max", v)):
        # Numbers for one sample do for all.
        v = v[:1]
    both = m + v
    return saved, m / xp.where(both > 0, both, 1.0) * distances


def exchanged(
    distances: Array, own: IntArray, nearest: Array, sample_weight: Array, mass: Array
) -> IntArray:
    """The clusters to which samples go if each exchanges as if it were the only one, (R, block)."""
    saved, joins = exchange_costs(distances, own, nearest, sample_weight, mass)
    return smallest(put_first(joins, own, saved))[0]


def _best_exchange(
    space: Space, block: slice, centroids: Centroids, mass: Array
) -> tuple[IntArray, IntArray, Array]:
    """Each sample's cluster, the best other one and what going there saves, shape (R, block)."""
    d = double(space.distances(centroids, block))
    v = double(space.device_weight[block])
    own, nearest = smallest(d)
    saved, joins = exchange_costs(d, own, nearest, v, mass)
    best, paid = smallest(put_first(joins, own, np.inf))
    return own, best, v * (saved - paid)


def _disjoint(own: IntArray, other: IntArray, gain: Array, certain: Array) -> list[tuple[int, int]]:
    """The best (sample, cluster) of those that touch no cluster twice."""
    candidates = np.flatnonzero(gain > certain)
    touched: set[int] = set()
    chosen = []
    for sample in candidates[np.argsort(-gain[candidates], kind="stable")].tolist():
        pair = {int(own[sample]), int(other[sample])}
        if not pair & touched:
            touched |= pair
            chosen.append((sample, int(other[sample])))
    return chosen
