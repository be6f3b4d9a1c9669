"""Annealing on a draw of the samples first, where they are many.

Most steps of an annealed run tell apart what a fraction of the samples tells as well. So some
starts are annealed on a draw, and the best is mended there by swap moves; then it goes on over all
samples, at the power where it turned hard.
"""

from dataclasses import replace

import numpy as np

from kernelmeans.engines import Threads
from kernelmeans.lowrank import drawn
from kernelmeans.solver.driver import Listener, solve
from kernelmeans.solver.schedule import Schedule
from kernelmeans.solver.seeding import greedy_kmeans_plusplus
from kernelmeans.solver.swap import swap_moves
from kernelmeans.spaces import Centroids, Space

#: Share of the samples in the draw, samples of it that a cluster needs.
SHARE, SAMPLES_PER_CLUSTER = 1 / 16, 500
#: Starts annealed on it, and swap moves tried on the best of them.
STARTS, SWAPS = 4, 20


def can_rehearse(space: Space, n_clusters: int, schedule: Schedule) -> bool:
    """Whether samples are many, and a draw of them enough to anneal on.

    Parameters
    ----------
    space : Space
        The samples.
    n_clusters : int
        Number of centroids.
    schedule : Schedule
        Powers; without annealing there is nothing to rehearse.
    """
    available = space.sample.n_samples
    return schedule.anneals and SAMPLES_PER_CLUSTER * n_clusters <= available < space.n_samples


def rehearse(
    space: Space,
    n_clusters: int,
    schedule: Schedule,
    seed: int,
    threads: Threads,
    listen: Listener = lambda progress: False,
) -> tuple[Centroids, Schedule]:
    """Anneal from k-means++ seeds on a draw of the samples, and try swap moves on the best.

    Parameters
    ----------
    space : Space
        The samples.
    n_clusters : int
        Number of centroids.
    schedule : Schedule
        Powers of the run on the draw.
    seed : int
        Of seeds and moves.
    threads : Threads
        Where blocks are worked on.
    listen : callable
        Told of each step; ends the runs when it answers True.

    Returns
    -------
    centroids : Centroids
        Those of the best run on the draw, as one restart.
    schedule : Schedule
        The same from the power on at which it turned hard.
    """
    size = max(SAMPLES_PER_CLUSTER * n_clusters, int(SHARE * space.n_samples))
    few = space.sample
    if size < few.n_samples:
        few = few.restricted(*drawn(few.sample_weight, size))
    rng = np.random.RandomState(seed)
    own = rng.randint(np.iinfo(np.int32).max, size=STARTS).tolist()
    generators = [np.random.RandomState(start) for start in own]
    starts = few.at(greedy_kmeans_plusplus(few, n_clusters, generators, threads))
    result = solve(few, starts, schedule, threads, own, listen)
    powers = result.power_history[result.best]
    last = float(powers[np.isfinite(powers)][-1])
    swap_moves(few, result, SWAPS, schedule.max_iter, rng, threads, listen)
    assert result.centroids is not None
    return result.centroids, replace(schedule, s0=last)
