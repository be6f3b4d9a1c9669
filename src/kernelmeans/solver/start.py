"""The power at which annealing starts: where centroids part, and where samples still share them.

Below the critical power centroids at the mean part. But in data of clear clusters nearly all
weights are hard there already, and every poor start survives: annealing has to begin nearer to 0,
at most so near that the centroids draw together and the start is all but forgotten.
"""

import numpy as np

from kernelmeans._arrays import take, to_numpy
from kernelmeans._typing import Array, IntArray
from kernelmeans.solver.blockwise import combination, distances_to
from kernelmeans.spaces import Space

#: Automatic starts over the critical power, the coldest first. Closer to 1 than that, centroids
#: draw together so far that float32 may tell them apart by rounding.
FACTORS = (1.2, 0.96, 0.77, 0.62, 0.5, 0.4)
#: Share of their weight, of all that they could, that samples give to centroids other than the
#: nearest: enough not to be bound to the start.
SHARED = 0.5
#: Samples that are asked, samples among which random centroids are drawn for them, and how often.
ASKED, CANDIDATES, DRAWS = 64, 2048, 8


def coldest_start(critical_power: float) -> float:
    """A power just below the critical one, and never above -1."""
    return min(-1.0, FACTORS[0] * critical_power)


def automatic_start(space: Space, n_clusters: int, critical_power: float) -> float:
    """The power at which ``s0="auto"`` starts.

    The coldest of a few, between 1.2 and 0.4 times the critical power and never above -1, at which
    samples share random centroids well enough. It depends on the data and k alone, not on their
    order, the seeding or a random state.

    Parameters
    ----------
    space : Space
        The samples.
    n_clusters : int
        Number of centroids k.
    critical_power : float
        Power below which centroids at the mean part.

    Returns
    -------
    float
        A negative power; -inf where the samples do not vary.
    """
    powers = [min(-1.0, factor * float(critical_power)) for factor in FACTORS]
    if n_clusters == 1 or powers[0] == powers[-1]:
        return powers[0]
    log_ratios = _log_ratios(space, n_clusters)
    for power in powers:
        certainty = (1 / np.exp((1 - power) * log_ratios).sum(axis=-1)).mean()
        if (1 - certainty) / (1 - 1 / n_clusters) >= SHARED:
            return power
    return powers[-1]


def _log_ratios(space: Space, k: int) -> Array:
    """log(d_min / d_j) of some samples to k centroids that sit on random ones."""
    candidates = _spread(space)
    asked = candidates[:: CANDIDATES // ASKED]
    squared = np.empty((ASKED, CANDIDATES), space.dtype)
    # No more at a time than there are centroids in a fit: dense ones of wide rows take memory.
    for first in range(0, ASKED, k):
        some = slice(first, first + k)
        squared[some] = _squared_distances(space, asked[some], candidates)
    # The same draws for all data, by rank: equal data in another order see equal centroids.
    drawn = np.random.default_rng(0).integers(CANDIDATES, size=(ASKED, DRAWS * k))
    d = np.take_along_axis(squared, drawn, axis=1).reshape(ASKED, DRAWS, k).astype(np.float64)
    return np.asarray(np.log(d.min(axis=-1, keepdims=True) / d))


def _squared_distances(space: Space, asked: IntArray, candidates: IntArray) -> Array:
    """Squared distances (asked, candidates) between samples."""
    centroids = space.at(asked[:, None])
    squared = np.empty((len(asked), len(candidates)), space.dtype)

    def fill(block: slice) -> None:
        within = np.flatnonzero((block.start <= candidates) & (candidates < block.stop))
        if len(within):
            d = take(space.distances(centroids, block), candidates[within] - block.start, axis=-1)
            squared[:, within] = to_numpy(d)[:, 0]

    space.engine.run(fill, space.blocks(len(asked)))
    return squared


def _spread(space: Space) -> IntArray:
    """Samples at even steps of weight, from the one nearest to the mean to the farthest."""
    weight = space.sample_weight.astype(np.float64)
    mean = combination(space, (weight / weight.sum()).astype(space.dtype))
    order = np.argsort(distances_to(space, mean)[0, 0], kind="stable")
    reached = np.cumsum(weight[order])
    # An odd offset: no step falls on the edge between two samples of round weights.
    steps = (np.arange(CANDIDATES) + 0.381966) / CANDIDATES
    return np.asarray(order[np.searchsorted(reached, steps * reached[-1])])
