"""Pairs of clusters, divided anew where a graph prefers that and the cost is nearly the same.

Leading eigenvectors of a graph hardly tell some partitions apart that cut very different edges.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice

import numpy as np
import scipy.stats

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
#: Score of a partition, as a fraction of the one before, below which it is preferred. The score is
#: the weight of all edges between clusters, divided by the entropy of the pair's sizes.
BETTER = 0.9
#: Starts from which a pair is divided, samples of it that are, and cheapest divisions of these
#: that are tried on all samples.
STARTS, SEARCHED, TRIED = 32, 8192, 4
#: Number of distances, summed over steps on all samples, that ends the search after some twenty
#: seconds.
MOST_DISTANCES = 2**29
#: Fraction of the samples of a pair on which two divisions agree if they are the same.
SAME = 0.95

#: Returns the weight of the edges between and in clusters, shape (k, k), for labels of all samples.
EdgeWeights = Callable[[IntArray], Array]


def divide_pairs(
    space: Space,
    result: Result,
    weigh: EdgeWeights,
    max_iter: int,
    seed: int,
    listen: Listener = lambda progress: False,
) -> int:
    """Divide pairs of clusters of the best restart anew; changes the result.

    The samples of two clusters are divided by kernel k-means with two centroids, from many seeds.
    Hard steps on all samples follow. The new partition is kept if its score is lower by a tenth and
    its cost is not more than one percent above that before the search. Scores of different pairs
    cannot be compared. A limit of distances ends the search. Only pairs with a tenth of the edges
    between clusters are divided, those with the most edges first: others hardly matter.

    Parameters
    ----------
    space : Space
        The samples, as explicit features in memory.
    result : Result
        Finished restarts, with the best one's centroids.
    weigh : callable
        Weighs the edges of partitions, see `EdgeWeights`.
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
    search = _Search(space, result, weigh, max_iter, listen)
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
        self, space: Space, result: Result, weigh: EdgeWeights, max_iter: int, listen: Listener
    ) -> None:
        self.space, self.result, self.weigh, self.listen = space, result, weigh, listen
        self.best = result.best
        self.hard = Hard(max_iter=max_iter)
        # Runs that can hardly end below are given up.
        self.below = replace(self.hard, bar=ALIKE * float(result.cost[self.best]))
        self.between = weigh(result.labels[self.best])
        self.steps = MOST_DISTANCES // (space.n_counting * len(self.between))
        self.stopped = False

    @property
    def ended(self) -> bool:
        """Whether it was stopped, or has taken too long."""
        return self.stopped or self.steps <= 0

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
                between = self.weigh(trial.labels[0])
                score = self._score(between, trial.labels[0], pair)
                if score < BETTER * self._score(self.between, result.labels[self.best], pair):
                    # Its cost may be above that of another restart.
                    result.preferred = self.best
                    result.take_over(trial)
                    self.between = between
                    return True
            if self.ended:
                break
        return False

    def _divisions(self, pair: tuple[int, int], rng: np.random.RandomState) -> Iterator[Centroids]:
        """Two centroids for each division of the samples of a pair that differs from the others."""
        labels, space = self.result.labels[self.best], self.space
        samples = np.flatnonzero(np.isin(labels, pair) & (space.sample_weight > 0))
        seeds = rng.randint(np.iinfo(np.int32).max, size=STARTS).tolist()
        weight = space.sample_weight[samples]
        if len(samples) > SEARCHED:
            chosen, weight = subsample(weight, SEARCHED, seeds[0])
            samples = samples[chosen]
        few = space.restricted(samples, weight)
        starts = few.at(greedy_kmeans_plusplus(few, 2, seeds))
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

    def _score(self, between: Array, labels: IntArray, pair: tuple[int, int]) -> float:
        """The weight of all edges between clusters, in units of the entropy of a pair's sizes.

        Without the entropy, a crumb and all other samples of the pair would win: they cut few
        edges. One pair hardly changes the entropy of many clusters.
        """
        sizes = np.bincount(labels, weights=self.space.sample_weight, minlength=len(between))
        entropy = float(scipy.stats.entropy(sizes[list(pair)]))
        cut = float(np.triu(between, 1).sum())
        return cut / entropy if entropy > 0 else math.inf

    def _heard(self, progress: Progress) -> bool:
        self.stopped = self.listen(progress) or self.stopped
        return self.stopped


def _are_same(one: BoolArray, other: BoolArray) -> bool:
    """Whether two divisions agree but for a few samples, whatever their numbers."""
    alike = float((one == other).mean())
    return max(alike, 1 - alike) > SAME
