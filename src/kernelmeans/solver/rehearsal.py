"""Annealing on draws of the samples first, where they are many.

Most steps of an annealed run tell apart what a fraction of the samples tells as well. So runs are
annealed on a few draws, and mended there by swap moves; the one that costs least on all samples
goes on there, at the power where it turned hard.
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

#: Draws, starts annealed on each, and swap moves tried on the better of these. Several small draws
#: find more than a large one: each errs in another direction.
DRAWS, STARTS, SWAPS = 4, 2, 16
#: Largest shares of a draw in all samples and in those at hand, and samples that a cluster needs.
SHARE, SHARE_AT_HAND, SAMPLES_PER_CLUSTER = 1 / 16, 1 / 2, 500


def can_rehearse(space: Space, n_clusters: int, method: Method) -> bool:
    """Whether samples are many, and a draw of them enough to anneal on.

    Parameters
    ----------
    space : Space
        The samples.
    n_clusters : int
        Number of centroids.
    method : Method
        What is to run; without annealing there is nothing to rehearse.
    """
    available = space.subsample.n_samples
    wanted = isinstance(method, Annealed) and method.rehearsed
    return wanted and SAMPLES_PER_CLUSTER * n_clusters <= available < space.n_samples


def rehearse(
    space: Space,
    n_clusters: int,
    method: Annealed,
    seed: int,
    listen: Listener = lambda progress: False,
) -> tuple[Centroids, Annealed]:
    """Anneal from k-means++ seeds on draws of the samples, and try swap moves.

    Parameters
    ----------
    space : Space
        The samples.
    n_clusters : int
        Number of centroids.
    method : Annealed
        Powers of the runs on draws.
    seed : int
        Of draws, seeds and moves.
    listen : callable
        Told of each step, other than on a cluster; ends the runs when it answers True.

    Returns
    -------
    centroids : Centroids
        Those of the best run, as one restart.
    method : Annealed
        The same from the power on at which it turned hard; nothing is to be forgotten any more.
    """
    at_hand = space.subsample
    most = min(SHARE * space.n_samples, SHARE_AT_HAND * at_hand.n_samples)
    size = max(SAMPLES_PER_CLUSTER * n_clusters, int(most))
    rng = np.random.RandomState(seed)
    seeds = rng.randint(np.iinfo(np.int32).max, size=(DRAWS, 2 + STARTS)).tolist()
    order = at_hand, size, n_clusters, method
    if space.chunks is not None and space.chunks.cluster is not None:
        runs = space.chunks.cluster.apart(_run, seeds, *order)
    else:
        runs = [_run(own, *order, listen) for own in seeds]
    candidates = Centroids.join([centroids for centroids, _ in runs])
    best = int(hard_costs(space, candidates).argmin())
    return candidates.take(np.array([best])), replace(method, s0=runs[best][1], forgets=0)


def _run(
    seeds: Sequence[int],
    at_hand: Space,
    size: int,
    n_clusters: int,
    method: Annealed,
    listen: Listener = lambda progress: False,
) -> tuple[Centroids, float]:
    """Centroids of a run on one draw, and its last power before it turned hard."""
    draw, moves, *own = seeds
    few = at_hand.restricted(*subsample(at_hand.sample_weight, size, draw))
    generators = [np.random.RandomState(start) for start in own]
    starts = few.at(greedy_kmeans_plusplus(few, n_clusters, generators))
    result = solve(few, starts, method, own, listen)
    history = result.power_history[result.best]
    last = float(history[np.isfinite(history)][-1])
    swap_moves(few, result, SWAPS, method.max_iter, moves, listen)
    assert result.centroids is not None
    return result.centroids, last
