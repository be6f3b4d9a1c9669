"""Annealing on a draw of the samples first, where they are many.

Most steps of an annealed run tell apart what a fraction of the samples tells as well. So a few
starts are annealed on a draw; the one that costs least on all samples goes on there, at the power
where it turned hard.
"""

from dataclasses import replace

import numpy as np

from kernelmeans.engines import Threads
from kernelmeans.lowrank import drawn
from kernelmeans.solver.blockwise import hard_costs
from kernelmeans.solver.driver import Listener, solve
from kernelmeans.solver.schedule import Schedule
from kernelmeans.solver.seeding import greedy_kmeans_plusplus
from kernelmeans.spaces import Centroids, Space

#: Starts annealed on the draw, its share of the samples (so that all starts
#: together cost half a run), and samples of it that a cluster needs.
STARTS, SHARE, SAMPLES_PER_CLUSTER = 8, 1 / 16, 500


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
    """Anneal from several k-means++ starts on a draw of the samples.

    Parameters
    ----------
    space : Space
        The samples.
    n_clusters : int
        Number of centroids.
    schedule : Schedule
        Powers of the run on the draw.
    seed : int
        Of the starts.
    threads : Threads
        Where blocks are worked on.
    listen : callable
        Told of each step; ends the runs when it answers True.

    Returns
    -------
    centroids : Centroids
        Those of the best run, as one restart.
    schedule : Schedule
        The same from the power on at which it turned hard.
    """
    size = max(SAMPLES_PER_CLUSTER * n_clusters, int(SHARE * space.n_samples))
    few = space.sample
    if size < few.n_samples:
        few = few.restricted(*drawn(few.sample_weight, size))
    own = np.random.RandomState(seed).randint(np.iinfo(np.int32).max, size=STARTS).tolist()
    generators = [np.random.RandomState(start) for start in own]
    starts = few.at(greedy_kmeans_plusplus(few, n_clusters, generators, threads))
    ends, powers = [], []
    for index, noise in enumerate(own):
        result = solve(few, starts.take(np.array([index])), schedule, threads, [noise], listen)
        assert result.centroids is not None
        ends.append(result.centroids)
        history = result.power_history[0]
        powers.append(float(history[np.isfinite(history)][-1]))
    candidates = Centroids.join(ends)
    # Costs on the draw are too rough to tell the best.
    best = int(hard_costs(space, candidates, threads).argmin())
    return candidates.take(np.array([best])), replace(schedule, s0=powers[best])
