"""Annealing on subsamples first, where samples are many.

In most steps of annealing a fraction of the samples separates the clusters as well as all of them.
Starts are therefore annealed on a few subsamples, and improved there by swap moves. The centroids
that cost least on all samples go on there, at the power at which their restart turned hard.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kernelmeans.lowrank import subsample
from kernelmeans.solver.blockwise import hard_costs
from kernelmeans.solver.driver import Listener, solve
from kernelmeans.solver.methods import Annealed, Method
from kernelmeans.solver.seeding import greedy_kmeans_plusplus
from kernelmeans.solver.swap import swap_moves
from kernelmeans.spaces import Centroids, Space

#: Subsamples, starts that are annealed on each, and swap moves from the better of these. Several
#: small subsamples find more than a large one: each errs in another direction.
SUBSAMPLES, STARTS, SWAPS = 4, 2, 16
#: Size of these subsamples: at most these fractions of all samples and of the space's own
#: subsample, but at least so many samples for each cluster.
FRACTION, FRACTION_OF_SUBSAMPLE, SAMPLES_PER_CLUSTER = 1 / 16, 1 / 2, 500


def can_subsample(space: Space, n_clusters: int, method: Method) -> bool:
    """Whether the method may begin on subsamples, and these are large enough.

    Parameters
    ----------
    space : Space
        The samples.
    n_clusters : int
        Number of centroids.
    method : Method
        The method for all samples.
    """
    available = space.subsample.n_samples
    wanted = isinstance(method, Annealed) and method.subsamples
    return wanted and SAMPLES_PER_CLUSTER * n_clusters <= available < space.n_counting


def anneal_subsamples(
    space: Space,
    n_clusters: int,
    method: Method,
    seed: int,
    listen: Listener = lambda progress: False,
) -> tuple[Centroids, Method]:
    """Anneal k-means++ starts on subsamples, and try swap moves.

    Parameters
    ----------
    space : Space
        The samples.
    n_clusters : int
        Number of centroids.
    method : Annealed
        The method for all samples.
    seed : int
        Of subsamples, seeds and moves.
    listen : callable
        Called after each step, but not on a cluster; ends the runs when it answers True.

    Returns
    -------
    centroids : Centroids
        The best ones, as one restart.
    method : Annealed
        The same from the power on at which these turned hard; the start is not forgotten.
    """
    assert isinstance(method, Annealed)
    samples = space.subsample
    most = min(FRACTION * space.n_counting, FRACTION_OF_SUBSAMPLE * samples.n_samples)
    size = max(SAMPLES_PER_CLUSTER * n_clusters, int(most))
    rng = np.random.RandomState(seed)
    seeds = rng.randint(np.iinfo(np.int32).max, size=(SUBSAMPLES, 2 + STARTS)).tolist()
    order = samples, size, n_clusters, method
    if space.chunks is not None and space.chunks.cluster is not None:
        found = space.chunks.cluster.apart(_anneal_subsample, seeds, *order)
    else:
        found = [_anneal_subsample(own, *order, listen) for own in seeds]
    candidates = Centroids.join([centroids for centroids, _ in found])
    best = int(hard_costs(space, candidates).argmin())
    return candidates.take(np.array([best])), replace(method, s0=found[best][1], forgets=0)


def _anneal_subsample(
    seeds: Sequence[int],
    samples: Space,
    size: int,
    n_clusters: int,
    method: Annealed,
    listen: Listener = lambda progress: False,
) -> tuple[Centroids, float]:
    """Centroids found on one subsample, and the last power before their restart turned hard."""
    seed, swap_seed, *start_seeds = seeds
    space = samples.restricted(*subsample(samples.sample_weight, size, seed))
    starts = space.at(greedy_kmeans_plusplus(space, n_clusters, start_seeds))
    result = solve(space, starts, method, start_seeds, listen)
    powers = result.power_history[result.best]
    last = float(powers[np.isfinite(powers)][-1])
    swap_moves(space, result, SWAPS, method.max_iter, swap_seed, listen)
    assert result.centroids is not None
    return result.centroids, last
