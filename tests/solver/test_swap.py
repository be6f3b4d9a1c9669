"""Swap moves after a run."""

import numpy as np
import pytest

import data
import oracle
from held import feature_space
from kernelmeans.kernels import Kernel
from kernelmeans.solver import Ending, Hard, solve, swap_moves
from kernelmeans.solver.blockwise import assign
from kernelmeans.solver.seeding import from_weights
from kernelmeans.solver.swap import _Search, automatic_swaps
from kernelmeans.spaces import EntropyRule, GramSpace, ProductSpace

HARD = Hard()


def make_space(X, kind, threads, weight=None):
    weight = np.ones(len(X)) if weight is None else weight
    if kind == "features":
        return feature_space(Kernel("linear", {}), X, weight)
    return GramSpace.hold(Kernel("rbf", {"gamma": 0.2}), X, weight, threads)


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


def test_samples_without_weight_change_no_search(threads, monkeypatch):
    monkeypatch.setattr("kernelmeans.solver.swap.QUICK", 2**13)
    X = data.cloud(60, 2)
    more, weight = np.concatenate([X, X[:40] + 1]), np.r_[np.ones(60), np.zeros(40)]
    plain, weighted = (
        mended(make_space(Z, "gram", threads, v), np.arange(6)[:, None], moves="auto")[1]
        for Z, v in ((X, np.ones(60)), (more, weight))
    )
    assert weighted.n_iter == plain.n_iter


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


@pytest.mark.parametrize("failures", [0, 3, 4, 9])
def test_a_move_puts_a_centroid_on_a_costly_sample(failures, threads):
    X, k, n_moves = data.cloud(60, 2), 5, 400
    # The last sample is a costly one.
    X[-1] *= 2
    v = np.random.default_rng(0).uniform(0.1, 3, 60)
    space = make_space(X, "gram", threads, v)
    result = solve(space, space.at(np.arange(5)[:, None]), HARD, [0])
    search = _Search(space, result, 100, lambda progress: False)
    assert search.can_move()
    uniform = np.random.default_rng(1).permutation((np.arange(n_moves) + 0.5) / n_moves)
    parts = list(search.moves(failures, uniform, batch=150))
    assert [part.shape for part in parts] == [(k, 150), (k, 150), (k, 100)]

    labels, K = result.labels[0], oracle.rbf(X, X, 0.2)
    means = np.eye(k)[labels].T * v
    means /= means.sum(axis=1, keepdims=True)
    d = oracle.distances(K, means)
    second = np.sort(d, axis=1)[:, 1]
    losses = np.bincount(labels, v * (second - d.min(axis=1)), minlength=k)
    drawn, dropped = [], []
    for part in parts:
        for r in range(part.shape[1]):
            coefficients = part.coefficients[:, r]
            (moved,) = np.flatnonzero(abs(coefficients - means).max(axis=1) > 1e-9)
            (sample,) = np.flatnonzero(coefficients[moved])
            drawn.append(sample)
            dropped.append(moved)
    # In proportion to what samples cost.
    costs = v * d.min(axis=1)
    np.testing.assert_allclose(
        np.bincount(drawn, minlength=60), n_moves * costs / costs.sum(), atol=1
    )
    for move, (sample, cluster) in enumerate(zip(drawn, dropped, strict=True), failures):
        rank = (losses < losses[cluster]).sum()
        if move % 2:
            assert cluster == labels[sample]
        elif move % 4 == 0:
            assert rank == 0
        else:
            # The next cheapest, and after the dearest the cheapest again.
            assert rank == ((move // 2 + 1) // 2) % k


def several_kernels(X, threads):
    members = [make_space(X, kind, threads) for kind in ("gram", "features")]
    return ProductSpace(members, [slice(None)] * 2, EntropyRule(40.0))


class Listener:
    """Hears steps, and stops the run after so many."""

    def __init__(self, last=None):
        self.steps, self.last = [], last

    def __call__(self, progress):
        self.steps.append(progress)
        return len(self.steps) == self.last


@pytest.mark.parametrize("kind", ["features", "few of many", "several"])
def test_each_step_of_a_search_is_heard_and_counted(kind, threads, monkeypatch):
    if kind == "few of many":
        monkeypatch.setattr("kernelmeans.solver.swap.SEARCHED", 150)
        monkeypatch.setattr("kernelmeans.solver.swap.SEARCHED_PER_CLUSTER", 1)
    X, y = data.blobs(300, 2, 6, spread=0.5)
    several = kind == "several"
    space = several_kernels(X, threads) if several else make_space(X, "features", threads)

    def search(listener):
        # All centroids begin in one cluster, so that there is something to gain.
        start = space.at(np.flatnonzero(y == 0)[:6, None])
        result = solve(space, start, Hard(max_iter=1), [0])
        cost = result.cost[0]
        swap_moves(space, result, 20, 100, 0, listener)
        return result, cost

    every = Listener()
    result, cost = search(every)
    assert result.cost[0] < cost
    taken = result.n_iter[0] - 1
    # A step is counted for each restart that took part in it; those on a subsample are not.
    finished = heard = 0
    for step in every.steps:
        heard += step.n_restarts - (finished if step.step else 0)
        finished = step.restarts_finished
    assert 0 < taken < heard if kind == "few of many" else taken == heard
    for last in (1, len(every.steps) // 2, len(every.steps)):
        stopped = Listener(last)
        assert search(stopped)[0].endings == [Ending.STOPPED]
        assert len(stopped.steps) == last


@pytest.mark.parametrize(("n_swaps", "expected"), [(0, 0), (1, 1), (20, 20), ("auto", 7)])
def test_as_many_moves_are_tried_as_asked_for(n_swaps, expected, threads, monkeypatch):
    tried, moves = [], _Search.moves

    def automatic(n_clusters, n_samples):
        assert (n_clusters, n_samples) == (20, 400)
        return 7, 7

    def spy(search, failures, uniform, batch):
        tried.append(len(uniform))
        return moves(search, failures, uniform, batch)

    monkeypatch.setattr(_Search, "moves", spy)
    monkeypatch.setattr("kernelmeans.solver.swap.automatic_swaps", automatic)
    monkeypatch.setattr("kernelmeans.solver.swap.RIVALS", 1)
    space = make_space(data.cloud(400, 2), "features", threads)
    mended(space, np.arange(20)[:, None], n_swaps)
    assert sum(tried) == expected


def test_kernel_weights_follow_the_moves(threads):
    space = several_kernels(data.cloud(300, 2), threads)
    result = solve(space, space.at(np.arange(6)[:, None]), HARD, [0])
    before = float(result.cost[0])
    swap_moves(space, result, 20, 100, 0)
    assert result.cost[0] < before
    # Labels and kernel weights are best for each other.
    own = space.reweighted(result.kernel_weights[0])
    found = assign(own, result.centroids)
    np.testing.assert_array_equal(found.labels[0], result.labels[0])
    centroids = from_weights(space, np.eye(6)[result.labels[0]])
    adapted = space.adapt(centroids, np.ones(1, bool))
    np.testing.assert_allclose(adapted.kernel_weights, result.kernel_weights, rtol=1e-6)
    cost = found.nearest[0].sum() + space.rule.penalty(result.kernel_weights)[0]
    assert result.cost[0] == pytest.approx(cost)
    for history in (
        result.objective_history,
        result.power_history,
        result.kernel_weights_history,
    ):
        assert len(history[0]) == len(result.objective_history[0])
    assert np.isneginf(result.power_history[0]).all()
    assert result.objective_history[0][-1] == pytest.approx(result.cost[0], rel=1e-9)


def test_five_moves_for_each_cluster_may_fail_where_that_is_quick():
    assert automatic_swaps(10, 1797) == (500, 48)
    assert automatic_swaps(10, 8192) == (500, 48)
    assert automatic_swaps(10, 1_000_000) == (500, 14)
