"""Swap moves after a run."""

import numpy as np
import pytest

import data
import oracle
from held import feature_space
from kernelmeans.kernels import Kernel
from kernelmeans.solver import Ending, Hard, solve, swap_moves
from kernelmeans.solver.blockwise import assign
from kernelmeans.spaces import GramSpace

HARD = Hard()


def make_space(X, kind, threads, weight=None):
    weight = np.ones(len(X)) if weight is None else weight
    if kind == "features":
        return feature_space(Kernel("linear", {}), X, weight)
    return GramSpace(Kernel("rbf", {"gamma": 0.2}), X, weight, threads)


def mended(space, seeds, moves=20):
    start = space.at(np.asarray(seeds))
    result = solve(space, start, HARD, range(start.shape[1]))
    before = result.inertia.copy()
    swap_moves(space, result, moves, 100, 0)
    return before, result


@pytest.mark.parametrize("kind", ["features", "gram"])
@pytest.mark.parametrize("seed", range(4))
def test_the_cost_never_rises_and_the_result_is_consistent(kind, seed, threads):
    X = data.cloud(300, 2, seed)
    v = np.random.default_rng(seed).uniform(0.1, 3, 300)
    space = make_space(X, kind, threads, v)
    seeds = np.random.default_rng(seed).choice(300, (6, 3), replace=False)
    before, result = mended(space, seeds)
    best = result.best
    assert (result.inertia <= before).all()
    assert set(np.flatnonzero(result.inertia < before)) <= {best}
    np.testing.assert_array_equal(assign(space, result.centroids).labels[0], result.labels[best])
    K = X @ X.T if kind == "features" else oracle.rbf(X, X, 0.2)
    cost = oracle.hard_cost(K, result.labels[best], v)
    assert result.inertia[best] == pytest.approx(cost, rel=1e-9)
    history = result.objective_history[best]
    assert (np.diff(history) <= 1e-9 * history[0]).all()
    assert len(history) == len(result.power_history[best])
    assert history[-1] == pytest.approx(result.inertia[best], rel=1e-9)


@pytest.mark.parametrize("kind", ["features", "gram"])
def test_a_bad_start_is_mended(kind, threads):
    # Two pairs of clusters far apart, three centroids at one pair: Lloyd's steps cannot leave it.
    y = np.arange(120) % 4
    X = np.array([0.0, 3.0, 30.0, 33.0])[y][:, None] + 0.05 * data.cloud(120, 1)
    start = [0, 4, 1, 2]
    space = make_space(X, kind, threads)
    before, result = mended(space, np.array(start)[:, None])
    assert result.inertia[0] < 0.2 * before[0]
    assert oracle.same_partition(result.labels[0], y)


def test_nothing_is_moved_where_every_cost_is_nil(threads):
    space = make_space(np.repeat([[0.0], [1.0]], 10, axis=0), "features", threads)
    before, result = mended(space, [[0], [10]])
    assert before[0] == pytest.approx(0, abs=1e-12)
    assert result.n_iter[0] <= 3


def test_one_cluster_cannot_be_swapped(threads):
    before, result = mended(make_space(data.cloud(40), "features", threads), [[0]])
    assert result.inertia[0] == before[0]


def test_an_automatic_search_ends_when_it_is_long(threads, monkeypatch):
    X = data.cloud(400, 2)
    space = make_space(X, "gram", threads)
    seeds = np.arange(40)[:, None]
    steps = {}
    for limit in (2**14, 2**21):
        monkeypatch.setattr("kernelmeans.solver.swap.MOST_DISTANCES", limit)
        steps[limit] = int(mended(space, seeds, moves="auto")[1].n_iter[0])
    rivals = int(mended(space, seeds, moves=0)[1].n_iter[0])
    assert steps[2**14] == rivals < steps[2**21]
    # A batch may take somewhat longer than it is thought to.
    assert steps[2**21] < rivals + 2 * 2**21 / (40 * 400)


@pytest.mark.parametrize(("max_iter", "ending"), [(2, Ending.OUT_OF_STEPS), (99, Ending.CONVERGED)])
def test_the_ending_is_that_of_the_run_with_the_lowest_cost(max_iter, ending, threads):
    space = make_space(data.cloud(300, 2), "gram", threads)
    result = solve(space, space.at(np.arange(6)[:, None]), HARD, [0])
    before = result.cost[0]
    swap_moves(space, result, 0, max_iter, 0)
    assert result.cost[0] < before
    assert result.endings == [ending]


def test_a_search_that_is_stopped_has_not_converged(threads):
    space = make_space(data.cloud(300, 2), "gram", threads)
    result = solve(space, space.at(np.arange(6)[:, None]), HARD, [0])
    swap_moves(space, result, 20, 100, 0, lambda progress: True)
    assert result.endings == [Ending.STOPPED]


@pytest.mark.parametrize("subsampled", [False, True])
@pytest.mark.parametrize("last", [1, 2, 12, 40])
def test_a_search_ends_when_it_is_stopped_once(last, subsampled, threads, monkeypatch):
    monkeypatch.setattr("kernelmeans.solver.swap.SEARCHED", 150 if subsampled else 8192)
    monkeypatch.setattr("kernelmeans.solver.swap.SEARCHED_PER_CLUSTER", 1)
    space = make_space(data.cloud(300, 2), "features", threads)
    result = solve(space, space.at(np.arange(6)[:, None]), HARD, [0])
    steps = []

    def listen(progress):
        steps.append(progress)
        return len(steps) == last

    swap_moves(space, result, 20, 100, 0, listen)
    assert len(steps) == last
    assert result.endings == [Ending.STOPPED]
