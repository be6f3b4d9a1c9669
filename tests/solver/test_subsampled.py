"""Annealing on subsamples first, where samples are many."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from threadpoolctl import threadpool_limits

import data
from held import feature_space
from kernelmeans import KernelPowerKMeans, MultiKernelPowerKMeans, PowerKMeans
from kernelmeans.kernels import Kernel
from kernelmeans.lowrank import sampling
from kernelmeans.solver import (
    Annealed,
    Constant,
    Hard,
    anneal_subsamples,
    can_subsample,
    solve,
    subsampled,
    swap_moves,
)

slow = pytest.mark.slow

K = 4


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch):
    """Subsamples have at most 2500 samples, so that tests need not be large."""
    monkeypatch.setattr(sampling, "MOST_ROWS", 2500)
    monkeypatch.setattr(sampling, "FEWEST_ROWS", 100)


@pytest.fixture(scope="module", name="X")
def many_rows():
    return np.concatenate([data.cloud(4000, 3), 3 + 0.5 * data.cloud(2000, 3, seed=1)])


def space_of(X):
    return feature_space(Kernel("linear", {}), X, np.ones(len(X)))


ANNEALED = Annealed(s0=-3, critical_power=-2, eta=1.1, softness=0.01, subsamples=True)


@slow
def test_only_annealed_runs_of_many_samples_begin_on_subsamples(X):
    assert can_subsample(space_of(X), K, ANNEALED)
    assert not can_subsample(space_of(X[:2500]), K, ANNEALED)
    assert not can_subsample(space_of(X), K, Constant(s0=-3, critical_power=-2))
    assert not can_subsample(space_of(X), K, replace(ANNEALED, subsamples=False))
    assert not can_subsample(space_of(X), K, Hard())
    # Samples without weight do not count.
    few = feature_space(Kernel("linear", {}), X, (np.arange(len(X)) < 2500).astype(float))
    assert not can_subsample(few, K, ANNEALED)
    # A cluster has too few samples in the subsample.
    assert not can_subsample(space_of(X), 6, ANNEALED)


@slow
def test_a_restart_goes_on_from_the_best_of_its_own_starts(X):
    space = space_of(X)
    ends = []
    for seed in [3, 8]:
        centroids, schedule = anneal_subsamples(space, K, ANNEALED, seed)
        assert centroids.shape == (K, 1)
        assert schedule.s0 < -10
        assert schedule.eta == ANNEALED.eta
        ends.append(centroids.vectors[0][:, 0])
    assert not np.array_equal(*ends)


@slow
def test_the_centroids_that_cost_least_on_all_samples_go_on(X, monkeypatch):
    seen = []

    def costs(space, candidates):
        seen.append((space.n_samples, candidates.copy()))
        return np.array([3.0, 2.0, 1.0, 2.0])

    monkeypatch.setattr(subsampled, "hard_costs", costs)
    method = replace(ANNEALED, forgets=2)
    centroids, further = anneal_subsamples(space_of(X), K, method, 0)
    ((n_samples, candidates),) = seen
    assert n_samples == len(X)
    assert_array_equal(centroids.vectors[0], candidates.take(np.array([2])).vectors[0])
    # The start is not to be forgotten again.
    assert further == replace(method, s0=further.s0, forgets=0)


@slow
@pytest.mark.parametrize("seed", range(3))
def test_a_restart_is_the_same_alone_and_among_others(X, seed):
    """How many are solved together depends on memory: each goes on at a power of its own."""
    alone = PowerKMeans(K, n_init=1, random_state=seed).fit(X).result_
    among = PowerKMeans(K, n_init=3, random_state=seed).fit(X).result_
    assert_array_equal(alone.power_history[0], among.power_history[0])
    assert alone.inertia[0] == among.inertia[0]


@slow
@pytest.mark.parametrize(
    "model",
    [
        PowerKMeans(K),
        KernelPowerKMeans(K, kernel="rbf", approximation="landmarks", n_components=40),
        MultiKernelPowerKMeans(K, kernels=["rbf", "linear"], approximation="landmarks"),
    ],
    ids=["linear", "landmarks", "several"],
)
def test_few_steps_are_left_and_the_cost_is_no_higher(X, model, monkeypatch):
    model.set_params(random_state=0)
    subsampled = model.fit(X).inertia_, model.n_iter_, model.labels_
    with threadpool_limits(1):
        assert_array_equal(model.fit(X).labels_, subsampled[2])
    monkeypatch.setattr(sampling, "MOST_ROWS", 10**5)
    model.fit(X)
    assert subsampled[0] <= model.inertia_ * 1.001
    assert subsampled[1] < model.n_iter_


@slow
@pytest.mark.parametrize(
    "choice", [{"init": "random", "n_init": 1}, {"init": [5, 900, 4100, 5000]}, {"s0": -1.0}]
)
def test_given_starts_and_powers_are_those_of_all_samples(X, choice):
    model = PowerKMeans(K, random_state=0, **choice).fit(X)
    assert model.power_history_[0] > -4


@pytest.mark.parametrize(("n", "k", "size"), [(1600, 3, 120), (6400, 3, 200), (4000, 8, 320)])
def test_starts_are_annealed_and_moved_on_small_subsamples(n, k, size, monkeypatch):
    monkeypatch.setattr(sampling, "MOST_ROWS", 400)
    monkeypatch.setattr(subsampled, "SAMPLES_PER_CLUSTER", 40)
    drawn, solved, moved = [], [], []

    def spy_on_subsample(sample_weight, wanted, seed):
        drawn.append((wanted, seed))
        return sampling.subsample(sample_weight, wanted, seed)

    def spy_on_solve(space, starts, method, seeds, listen):
        assert (starts.shape, method, listen) == ((k, 2), ANNEALED, heard)
        solved.append((space, tuple(seeds), solve(space, starts, method, seeds, listen)))
        return solved[-1][-1]

    def spy_on_moves(space, result, n_swaps, max_iter, seed, listen):
        assert (n_swaps, max_iter, listen) == (16, ANNEALED.max_iter, heard)
        swap_moves(space, result, n_swaps, max_iter, seed, listen)
        moved.append((seed, result.centroids.copy()))

    def heard(progress):
        return False

    monkeypatch.setattr(subsampled, "subsample", spy_on_subsample)
    monkeypatch.setattr(subsampled, "solve", spy_on_solve)
    monkeypatch.setattr(subsampled, "swap_moves", spy_on_moves)
    X, _ = data.blobs(n, 2, k, spread=0.7)
    space = space_of(X)
    centroids, further = anneal_subsamples(space, k, ANNEALED, 5, heard)

    assert [wanted for wanted, _ in drawn] == [size] * 4
    for own, _, _ in solved:
        assert 0.8 * size < own.n_samples <= size
        assert own.sample_weight.sum() == pytest.approx(n)
    # No seed is used twice.
    seeds = [seed for _, own, _ in solved for seed in own]
    assert len({*seeds, *(seed for _, seed in drawn), *(seed for seed, *_ in moved)}) == 16
    # Those go on that cost least on all samples, after the moves.
    places = [own.vectors[0][:, 0] + X.mean(axis=0) for _, own in moved]
    costs = [((X[:, None] - own) ** 2).sum(axis=2).min(axis=1).sum() for own in places]
    best = int(np.argmin(costs))
    assert_array_equal(centroids.vectors[0], moved[best][1].vectors[0])
    result = solved[best][2]
    powers = result.power_history[int(result.inertia.argmin())]
    assert further == replace(ANNEALED, s0=powers[np.isfinite(powers)].min())


def test_a_subsample_has_enough_samples_for_each_cluster(monkeypatch):
    monkeypatch.setattr(sampling, "MOST_ROWS", 150)
    space = space_of(data.cloud(400, 2))
    for needed, answer in ((0, True), (1, False)):
        monkeypatch.setattr(subsampled, "SAMPLES_PER_CLUSTER", space.subsample.n_samples + needed)
        assert can_subsample(space, 1, ANNEALED) == answer


def test_a_listener_ends_the_runs_on_subsamples(monkeypatch):
    monkeypatch.setattr(sampling, "MOST_ROWS", 400)
    monkeypatch.setattr(subsampled, "SAMPLES_PER_CLUSTER", 40)
    steps = []
    space = space_of(data.cloud(2400, 2))
    anneal_subsamples(space, 3, ANNEALED, 0, lambda progress: steps.append(progress) or True)
    # One step of each run, and no swap moves after it.
    assert [progress.step for progress in steps[:1]] == [0]
    assert len(steps) <= 8
