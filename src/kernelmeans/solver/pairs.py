"""Pairs of clusters, divided anew where a graph prefers that and the cost is nearly the same.

Leading eigenvectors of a graph hardly tell some partitions apart that cut very different edges.
"""

from collections.abc import Callable, Iterator

import numpy as np

from kernelmeans._typing import Array, BoolArray, IntArray
from kernelmeans.lowrank import subsample
from kernelmeans.solver.driver import Listener, Progress, solve
from kernelmeans.solver.methods import Hard
from kernelmeans.solver.result import Ending, Result
from kernelmeans.solver.seeding import from_weights, greedy_kmeans_plusplus
from kernelmeans.spaces import Centroids, Space

#: Largest cost of a partition that a graph may prefer, as a multiple of the least one. With 1.02
#: two moons that nearly touch would be cut in the wrong place.
ALIKE = 1.01
#: Score of a partition, as a fraction of the one before, below which it is preferred.
BETTER = 0.9
#: Divisions of a pair that are tried, and samples of it on which they are.
TRIED, SEARCHED = 32, 8192
#: Fraction of the samples of a pair on which two divisions agree if they are the same.
SAME = 0.95

#: Returns, for the labels of all samples, a score, of which less is better, and the edges between
#: clusters, shape (k, k), of which those of a pair are a part of the score.
Judge = Callable[[IntArray], tuple[float, Array]]


def divide_pairs(
    space: Space,
    result: Result,
    judge: Judge,
    max_iter: int,
    seed: int,
    listen: Listener = lambda progress: False,
) -> int:
    """Divide pairs of clusters of the best restart anew; changes the result.

    The samples of two clusters are divided by kernel k-means with two centroids, from a few seeds.
    Hard steps on all samples follow. The new partition is kept if its score is clearly lower and
    its cost is not more than one percent above that of the start. Only pairs with a tenth of the
    edges between clusters can matter so much, those with the most edges first.

    Parameters
    ----------
    space : Space
        The samples, as explicit features in memory.
    result : Result
        Finished restarts, with the best one's centroids.
    judge : callable
        Judges partitions, see `Judge`.
    max_iter : int
        Most hard steps of a run.
    seed : int
        Of the seeds and subsamples.
    listen : callable
        Called after each step; ends the search when it answers True.

    Returns
    -------
    int
        How many pairs have been divided anew.
    """
    best, method = result.best, Hard(max_iter=max_iter)
    most = ALIKE * float(result.cost[best])
    rng = np.random.RandomState(seed)
    stopped: list[Progress] = []
    tried: set[tuple[int, int]] = set()
    n_divided = 0

    def heard(progress: Progress) -> bool:
        if listen(progress):
            stopped.append(progress)
        return bool(stopped)

    score, between = judge(result.labels[best])
    while not stopped and (pair := _next_pair(between, tried)) is not None:
        tried.add(pair)
        for halves in _divisions(space, result.labels[best], pair, method, rng, heard):
            if stopped:
                break
            assert result.centroids is not None
            moved = result.centroids.copy()
            moved.put((np.array(pair), np.zeros(2, np.intp)), halves)
            trial = solve(space, moved, method, [0], heard)
            result.n_iter[best] += trial.n_iter[0]
            if stopped:
                break
            if trial.cost[0] > most:
                continue
            new_score, new_between = judge(trial.labels[0])
            if new_score < BETTER * score:
                # Its cost may be above that of another restart.
                result.preferred, result.centroids = best, trial.centroids
                result.take_over(trial)
                score, between = new_score, new_between
                n_divided += 1
                tried.clear()
                break
    if stopped:
        result.endings[best] = Ending.STOPPED
    return n_divided


def _next_pair(between: Array, tried: set[tuple[int, int]]) -> tuple[int, int] | None:
    """The pair with the most edges between its clusters, of those that can matter enough."""
    edges = np.triu(between, 1)
    for place in np.argsort(-edges, axis=None, kind="stable"):
        i, j = map(int, np.unravel_index(place, edges.shape))
        if not 0 < edges[i, j] >= (1 - BETTER) * edges.sum():
            return None
        if (i, j) not in tried:
            return i, j
    return None


def _divisions(
    space: Space,
    labels: IntArray,
    pair: tuple[int, int],
    method: Hard,
    rng: np.random.RandomState,
    listen: Listener,
) -> Iterator[Centroids]:
    """Two centroids for each division of the samples of a pair that differs from the others."""
    samples = np.flatnonzero(np.isin(labels, pair) & (space.sample_weight > 0))
    weight, seeds = space.sample_weight[samples], rng.randint(np.iinfo(np.int32).max, size=TRIED)
    if len(samples) > SEARCHED:
        chosen, weight = subsample(weight, SEARCHED, int(seeds[0]))
        samples = samples[chosen]
    few = space.restricted(samples, weight)
    generators = [np.random.RandomState(one) for one in seeds]
    starts = few.at(greedy_kmeans_plusplus(few, 2, generators))
    trial = solve(few, starts, method, [0] * TRIED, listen)
    known = [labels[samples] == pair[1]]
    for restart in np.argsort(trial.cost, kind="stable"):
        second = trial.labels[restart] == 1
        if not any(_are_same(second, other) for other in known):
            known.append(second)
            yield from_weights(few, np.column_stack([~second, second]))


def _are_same(one: BoolArray, other: BoolArray) -> bool:
    """Whether two divisions agree but for a few samples, whatever their numbers."""
    alike = float((one == other).mean())
    return max(alike, 1 - alike) > SAME
