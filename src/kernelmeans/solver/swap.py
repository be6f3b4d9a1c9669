"""Swap moves: lower the cost of the best restart by moving one centroid at a time."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from kernelmeans._typing import Array
from kernelmeans.lowrank import subsample
from kernelmeans.solver.blockwise import Assignment, assign
from kernelmeans.solver.driver import Listener, Progress, solve
from kernelmeans.solver.methods import Alternating, Hard, Method
from kernelmeans.solver.result import Ending, Result, cost_rounding
from kernelmeans.solver.seeding import greedy_kmeans_plusplus
from kernelmeans.spaces import Centroids, Space

#: Moves that are tried at once, as restarts of one run.
BATCH = 16
#: Relative change of the objective that ends the last steps, in which kernel weights move.
FOLLOWED = 1e-14
#: Gain of a batch, as a fraction of the cost, that is a reason to go on.
WORTHWHILE = 1e-4
#: Samples of explicit features on which moves are tried, in all and for each cluster; the larger
#: number counts. Such a subsample shows as well as all samples which centroids are misplaced.
SEARCHED, SEARCHED_PER_CLUSTER = 8192, 500
#: Hard runs from k-means++ seeds that are tried before the first move.
RIVALS = 8
#: Number of distances that take half a second: samples times centroids, summed over failed moves.
QUICK = 2**22
#: Number of distances, summed over steps, that end a search of ``n_swaps="auto"`` after some five
#: seconds, and usual number of steps of a move. With a hundred clusters, more moves would still
#: lower the cost a little for minutes.
MOST_DISTANCES, STEPS_OF_A_MOVE = 2**27, 16


def automatic_swaps(n_clusters: int, n_samples: int) -> tuple[int, int]:
    """Most moves of ``n_swaps="auto"``, and the failures in a row that end the search."""
    quick = min(5 * n_clusters, QUICK // (n_clusters * n_samples))
    # The rest of a batch would take half as long as a whole one.
    quick -= quick % BATCH if quick > BATCH else 0
    return 100 + 40 * n_clusters, max(4 + n_clusters, quick)


def swap_moves(
    space: Space,
    result: Result,
    n_swaps: int | str,
    max_iter: int,
    seed: int,
    listen: Listener = lambda progress: False,
    batch: int = BATCH,
) -> None:
    """Lower the cost of the best restart; changes the result.

    First a few hard restarts from k-means++ seeds compete with the best restart. Then samples of
    the best of all are exchanged. Then centroids are moved, a batch of moves at a time.

    A move drops a centroid and puts one on a sample, which is drawn in proportion to its cost. Hard
    steps with exchanges follow until labels stay, or until the cost can hardly fall below the best
    one. Every second move drops the centroid of the drawn sample: that is over soon and wins more
    often. The others drop the cheapest centroid or, every second one while moves fail, the next
    cheapest. A centroid costs as much as its samples lose if they go to the second nearest.

    The best move of a batch is kept if it lowers the cost. A lower cost is not always a better
    match with known classes.

    Parameters
    ----------
    space : Space
        The samples.
    result : Result
        Finished restarts, with the best one's centroids. The moves replace its best restart; each
        gain adds its cost to the history. The ending is that of the last gain, or ``STOPPED`` if
        the search was stopped.
    n_swaps : int or "auto"
        Moves to try. ``"auto"`` stops when they no longer pay, or take too long.
    max_iter : int
        Most hard steps of a move.
    seed : int
        Of the samples that are drawn. The first rival has the k-means++ seeds of a restart of this
        seed.
    listen : callable
        Called after each step; ends the search when it answers True.
    batch : int, default=BATCH
        Restarts that memory holds at once; the result does not depend on it.
    """
    search = _Search(space, result, max_iter, listen)
    if search.cost <= search.rounding:
        return
    size = max(SEARCHED, SEARCHED_PER_CLUSTER * search.centroids.shape[0])
    if space.keeps_coefficients or space.n_counting <= size:
        search.run(n_swaps, seed, batch)
    else:
        search.run_on_subsample(size, n_swaps, seed, batch)
    search.note()
    if search.gains and len(space.kernel_weights) > 1 and not search.stopped:
        search.follow()
    if search.stopped:
        result.endings[search.best] = Ending.STOPPED


class _Search:
    """Attempts to lower the cost of a result's best restart."""

    def __init__(self, space: Space, result: Result, max_iter: int, listen: Listener) -> None:
        assert result.centroids is not None
        self.best = result.best
        # Costs under different kernel weights do not compare: all have those of the best.
        self.space = space.reweighted(result.kernel_weights[self.best])
        self.result, self.centroids = result, result.centroids
        self.hard = Hard(max_iter=max_iter)
        self.exchanging = replace(self.hard, exchanges=True)
        self.listen = listen
        self.stopped = False
        self.rounding = float(cost_rounding(self.space, self.centroids)[0])
        self.gains: list[float] = []
        self.steps = 0
        self._assigned: Assignment | None = None

    def run(self, n_swaps: int | str, seed: int, batch: int) -> None:
        """Try rivals, exchanges and moves, until these are enough or no longer pay."""
        k = self.centroids.shape[0]
        if n_swaps == "auto":
            most, patience = automatic_swaps(k, self.space.n_counting)
        else:
            most = patience = int(n_swaps)
        rng = np.random.RandomState(seed)
        seeds = [seed, *rng.randint(np.iinfo(np.int32).max, size=RIVALS - 1).tolist()]
        self.try_all(self.rivals(seeds, batch), self.below(self.hard))
        self.try_all([self.centroids.copy()], self.exchanging)
        tried = failures = 0
        while tried < most and failures < patience and not self.stopped and self.can_move():
            size = min(BATCH, most - tried, patience - failures)
            if n_swaps == "auto":
                size = min(size, self.affordable_moves)
                if size < 1:
                    break
            moves = self.moves(failures, rng.uniform(size=size), batch)
            gain = self.try_all(moves, self.below(self.exchanging))
            tried += size
            failures = 0 if gain > WORTHWHILE else failures + size

    def run_on_subsample(self, size: int, n_swaps: int | str, seed: int, batch: int) -> None:
        """Search on a subsample; hard steps on all samples follow."""
        drawn = self.space.subsample
        few = drawn.restricted(*subsample(drawn.sample_weight, size, seed))
        trial = solve(few, self.centroids.copy(), self.hard, [0], self._heard)
        self.result.n_iter[self.best] += trial.n_iter[0]
        if self.stopped:
            return
        search = _Search(few, trial, self.hard.max_iter, self._heard)
        search.run(n_swaps, seed, batch)
        self.try_all([search.centroids], self.hard)

    def _heard(self, progress: Progress) -> bool:
        self.stopped = self.listen(progress) or self.stopped
        return self.stopped

    @property
    def cost(self) -> float:
        """The cost of the best restart."""
        return float(self.result.cost[self.best])

    @property
    def affordable_moves(self) -> int:
        """Number of moves before the search has taken too long."""
        steps = MOST_DISTANCES // (self.centroids.shape[0] * self.space.n_counting) - self.steps
        return steps // STEPS_OF_A_MOVE

    def below(self, method: Hard) -> Hard:
        """The method, by which restarts that can hardly end below the best are given up."""
        return replace(method, bar=self.cost - self.rounding)

    def try_all(self, parts: Iterable[Centroids], method: Method) -> float:
        """Solve from all of these; the fraction by which the best of them lowers the cost."""
        result, best = self.result, self.best
        least = self.cost
        found: Result | None = None
        for centroids in () if self.stopped else parts:
            seeds = [0] * centroids.shape[1]
            trial = solve(self.space, centroids, method, seeds, self._heard)
            result.n_iter[best] += trial.n_iter.sum()
            self.steps += int(trial.n_iter.sum())
            cheapest = float(trial.cost.min())
            # A gain below rounding may be the same partition again.
            if cheapest < least - self.rounding:
                found, least = trial, cheapest
            if self.stopped:
                break
        if found is None:
            return 0.0
        gain = 1 - least / self.cost
        assert found.centroids is not None
        self.centroids, self._assigned = found.centroids, None
        self.result.take_over(found)
        self.gains.append(least)
        return float(gain)

    def rivals(self, seeds: Sequence[int], batch: int) -> Iterator[Centroids]:
        """Centroids on seeds by k-means++, no more restarts at a time than memory holds."""
        few, k = self.space.subsample, self.centroids.shape[0]
        places = greedy_kmeans_plusplus(few, k, seeds)
        for first in range(0, len(seeds), batch):
            yield few.at(places[:, first : first + batch])

    def can_move(self) -> bool:
        """Whether there are two centroids, and a sample that costs something."""
        if self._assigned is None:
            self._assigned = assign(self.space, self.centroids)
        return self.centroids.shape[0] > 1 and bool(self._assigned.costs(self.space).any())

    def moves(self, failures: int, uniform: Array, batch: int) -> Iterator[Centroids]:
        """The best restart's centroids after moves, whose samples uniform numbers choose."""
        assigned, (k, _) = self._assigned, self.centroids.shape
        assert assigned is not None
        cumulative = np.cumsum(assigned.costs(self.space)[0])
        dearer = self.space.sample_weight * (assigned.second - assigned.nearest)[0]
        loss = np.bincount(assigned.labels[0], dearer, minlength=k)
        samples = np.searchsorted(cumulative, uniform * cumulative[-1], side="right")
        samples = np.minimum(samples, self.space.n_samples - 1)
        turns = failures + np.arange(len(uniform))
        pairs = turns // 2
        ranks = np.where(pairs % 2 == 1, (pairs + 1) // 2, 0) % k
        cheapest = np.argsort(loss, kind="stable")[ranks]
        dropped = np.where(turns % 2 == 1, assigned.labels[0, samples], cheapest)
        for first in range(0, len(uniform), batch):
            some = slice(first, min(first + batch, len(uniform)))
            restarts = np.arange(some.stop - first)
            moved = self.centroids.take(np.zeros(len(restarts), np.intp))
            moved.put((dropped[some], restarts), self.space.at(samples[some, None]))
            yield moved

    def note(self) -> None:
        """Write the search into the histories of the result."""
        gains, weights = np.array(self.gains), self.result.kernel_weights[[self.best]]
        self._lengthen(gains, np.full(len(gains), -np.inf), weights.repeat(len(gains), axis=0))

    def follow(self) -> None:
        """Move kernel weights and labels in turns until both stay."""
        method = Alternating(max_iter=self.hard.max_iter, tol=FOLLOWED)
        trial = solve(self.space, self.centroids, method, [0], self._heard)
        self.result.take_over(trial)
        self.result.n_iter[self.best] += trial.n_iter[0]
        self._lengthen(*(own[0] for own in trial.histories))

    def _lengthen(self, *parts: Array) -> None:
        """Add what further steps have shown to each of the best restart's histories."""
        for history, more in zip(self.result.histories, parts, strict=True):
            history[self.best] = np.concatenate([history[self.best], more])
