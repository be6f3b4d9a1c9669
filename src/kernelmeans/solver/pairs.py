"""Pairs of clusters, divided anew where a graph prefers that and the cost is nearly the same.

Leading eigenvectors of a graph hardly tell some partitions apart that cut very different edges.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice

import numpy as np

from kernelmeans._typing import Array, BoolArray, IntArray
from kernelmeans.lowrank import subsample
from kernelmeans.solver.driver import Listener, Progress, solve
from kernelmeans.solver.methods import Hard
from kernelmeans.solver.result import Ending, Result
from kernelmeans.solver.seeding import from_weights, greedy_kmeans_plusplus
from kernelmeans.spaces import Centroids, Space

#: Largest cost of a partition that a graph may prefer, as a multiple of that before the search.
#: With 1.02 two moons that nearly touch would be cut in the wrong place.
ALIKE = 1.01
#: Score of a partition, as a fraction of the one before, below which it is preferred.
BETTER = 0.9
#: Starts from which a pair is divided, samples of it that are, and cheapest divisions of these
#: that are tried on all samples.
STARTS, SEARCHED, TRIED = 32, 8192, 4
#: Number of distances, summed over steps on all samples, that ends the search after some twenty
#: seconds.
MOST_DISTANCES = 2**29
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

    The samples of two clusters are divided by kernel k-means with two centroids, from many seeds.
    Hard steps on all samples follow. The new partition is kept if its score is lower by a tenth and
    its cost is not more than one percent above that before the search. Only pairs with a tenth of
    the edges between clusters are divided, those with the most edges first: others hardly matter.

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
    search = _Search(space, result, judge, max_iter, listen)
    rng = np.random.RandomState(seed)
    tried: set[tuple[int, int]] = set()
    n_divided = 0
    while not search.ended and (pair := search.next_pair(tried)) is not None:
        tried.add(pair)
        if search.divides(pair, rng):
            n_divided += 1
            tried.clear()
    if search.stopped:
        result.endings[result.best] = Ending.STOPPED
    return n_divided


class _Search:
    """Attempts to lower the score of a result's best restart."""

    def __init__(
        self, space: Space, result: Result, judge: Judge, max_iter: int, listen: Listener
    ) -> None:
        self.space, self.result, self.judge, self.listen = space, result, judge, listen
        self.best = result.best
        self.hard = Hard(max_iter=max_iter)
        # Runs that can hardly end below are given up.
        self.below = replace(self.hard, bar=ALIKE * float(result.cost[self.best]))
        self.score, self.between = judge(result.labels[self.best])
        self.steps = MOST_DISTANCES // (space.n_counting * len(self.between))
        self.stopped = False

    @property
    def ended(self) -> bool:
        """Whether it was stopped, has taken too long, or cannot compare scores."""
        return self.stopped or self.steps <= 0 or not np.isfinite(self.score)

    def next_pair(self, tried: set[tuple[int, int]]) -> tuple[int, int] | None:
        """The pair with the most edges between its clusters, of those that matter."""
        edges = np.triu(self.between, 1)
        for place in np.argsort(-edges, axis=None, kind="stable"):
            i, j = map(int, np.unravel_index(place, edges.shape))
            if not 0 < edges[i, j] >= (1 - BETTER) * edges.sum():
                return None
            if (i, j) not in tried:
                return i, j
        return None

    def divides(self, pair: tuple[int, int], rng: np.random.RandomState) -> bool:
        """Whether another division of a pair is better, which then is in the result."""
        result = self.result
        for halves in islice(self._divisions(pair, rng), TRIED):
            assert result.centroids is not None
            moved = result.centroids.copy()
            moved.put((np.array(pair), np.zeros(2, np.intp)), halves)
            trial = solve(self.space, moved, self.below, [0], self._heard)
            steps = int(trial.n_iter[0])
            self.steps -= steps
            result.n_iter[self.best] += steps
            if trial.converged[0]:
                score, between = self.judge(trial.labels[0])
                if score < BETTER * self.score:
                    # Its cost may be above that of another restart.
                    result.preferred, result.centroids = self.best, trial.centroids
                    result.take_over(trial)
                    self.score, self.between = score, between
                    return True
            if self.ended:
                break
        return False

    def _divisions(self, pair: tuple[int, int], rng: np.random.RandomState) -> Iterator[Centroids]:
        """Two centroids for each division of the samples of a pair that differs from the others."""
        labels, space = self.result.labels[self.best], self.space
        samples = np.flatnonzero(np.isin(labels, pair) & (space.sample_weight > 0))
        seeds = rng.randint(np.iinfo(np.int32).max, size=STARTS)
        weight = space.sample_weight[samples]
        if len(samples) > SEARCHED:
            chosen, weight = subsample(weight, SEARCHED, int(seeds[0]))
            samples = samples[chosen]
        few = space.restricted(samples, weight)
        generators = [np.random.RandomState(one) for one in seeds]
        starts = few.at(greedy_kmeans_plusplus(few, 2, generators))
        trial = solve(few, starts, self.hard, [0] * STARTS, self._heard)
        present = labels[samples] == pair[1]
        known = [present]
        for restart in () if self.stopped else np.argsort(trial.cost, kind="stable"):
            second = trial.labels[restart] == 1
            # The clusters keep their numbers, as far as they can.
            if (second == present).mean() < 1 / 2:
                second = ~second
            if not any(_are_same(second, other) for other in known):
                known.append(second)
                yield from_weights(few, np.column_stack([~second, second]))

    def _heard(self, progress: Progress) -> bool:
        self.stopped = self.listen(progress) or self.stopped
        return self.stopped


def _are_same(one: BoolArray, other: BoolArray) -> bool:
    """Whether two divisions agree but for a few samples, whatever their numbers."""
    alike = float((one == other).mean())
    return max(alike, 1 - alike) > SAME
