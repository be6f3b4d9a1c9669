"""Swap moves: mend what annealing left, by moving one centroid at a time."""

import numpy as np

from kernelmeans.engines import Threads
from kernelmeans.solver.blockwise import assign
from kernelmeans.solver.driver import Listener, Progress, solve
from kernelmeans.solver.result import Result
from kernelmeans.solver.schedule import Schedule
from kernelmeans.spaces import Centroids, Space


def swap_moves(
    space: Space,
    result: Result,
    n_swaps: int,
    max_iter: int,
    rng: np.random.RandomState,
    threads: Threads,
    listen: Listener = lambda progress: False,
) -> None:
    """Try to lower the best restart's cost by moving single centroids; changes the result.

    A move drops the centroid whose loss costs least, the sum over its samples of second nearest
    minus nearest distance, puts one on a sample drawn in proportion to its cost, and takes hard
    steps to convergence. It is kept if the cost falls. While moves fail, every second one drops
    the next cheapest centroid instead, lest the same one be tried for ever. Lower cost is not
    always a better match with known classes.

    Parameters
    ----------
    space : Space
        The samples.
    result : Result
        Finished restarts, with the best one's centroids. Its best restart is replaced by what
        the moves lead to; each kept move adds its cost to the history.
    n_swaps : int
        Moves to try.
    max_iter : int
        Most hard steps of a move.
    rng : RandomState
        Draws the samples.
    threads : Threads
        Where blocks are worked on.
    listen : callable
        Told of each step; ends the move when it answers True.
    """
    best = result.best
    centroids = result.centroids
    assert centroids is not None
    schedule = Schedule(s0=-np.inf, critical_power=-np.inf, max_iter=max_iter)
    accepted = []
    failures = 0
    stopped = False

    def told(progress: Progress) -> bool:
        nonlocal stopped
        stopped = listen(progress)
        return stopped

    for _ in range(n_swaps):
        rank = (failures + 1) // 2 if failures % 2 else 0
        moved = _move(space, centroids, rank, rng, threads)
        if moved is None or stopped:
            break
        trial = solve(space, moved, schedule, threads, seeds=[0], listen=told)
        result.n_iter[best] += trial.n_iter[0]
        # A gain below rounding may be the same partition again.
        if trial.inertia[0] < result.inertia[best] * (1 - 8 * np.finfo(space.dtype).eps):
            result.labels[best], result.inertia[best] = trial.labels[0], trial.inertia[0]
            result.cost[best] = trial.cost[0]
            assert trial.centroids is not None
            centroids = trial.centroids
            accepted.append(trial.cost[0])
            failures = 0
        else:
            failures += 1
    result.centroids = centroids
    history, powers = result.objective_history, result.power_history
    history[best] = np.append(history[best], accepted)
    powers[best] = np.append(powers[best], np.full(len(accepted), -np.inf))
    weights = result.kernel_weights_history
    again = np.repeat(result.kernel_weights[best : best + 1], len(accepted), axis=0)
    weights[best] = np.concatenate([weights[best], again])


def _move(
    space: Space, centroids: Centroids, rank: int, rng: np.random.RandomState, threads: Threads
) -> Centroids | None:
    """Centroids with one of little use on a costly sample; None where every cost is nil."""
    assignment = assign(space, centroids, threads)
    cumulative = np.cumsum(assignment.costs(space)[0])
    if cumulative[-1] == 0 or centroids.shape[0] == 1:
        return None
    dearer = space.sample_weight * (assignment.second - assignment.nearest)[0]
    loss = np.bincount(assignment.labels[0], dearer, minlength=centroids.shape[0])
    drawn = np.searchsorted(cumulative, rng.uniform() * cumulative[-1], side="right")
    moved = centroids.copy()
    sample = np.array([[min(drawn, space.n_samples - 1)]])
    dropped = np.argsort(loss, kind="stable")[rank % len(loss)]
    moved.put((np.array([dropped]), np.array([0])), space.at(sample))
    return moved
