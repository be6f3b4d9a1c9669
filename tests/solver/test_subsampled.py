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
    subsampled,
)

pytestmark = pytest.mark.slow

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


def test_only_annealed_runs_of_many_samples_begin_on_subsamples(X):
    assert can_subsample(space_of(X), K, ANNEALED)
    assert not can_subsample(space_of(X[:2500]), K, ANNEALED)
    assert not can_subsample(space_of(X), K, Constant(s0=-3, critical_power=-2))
    assert not can_subsample(space_of(X), K, replace(ANNEALED, subsamples=False))
    assert not can_subsample(space_of(X), K, Hard())
    # A cluster has too few samples in the subsample.
    assert not can_subsample(space_of(X), 6, ANNEALED)


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


@pytest.mark.parametrize("seed", range(3))
def test_a_restart_is_the_same_alone_and_among_others(X, seed):
    """How many are solved together depends on memory: each goes on at a power of its own."""
    alone = PowerKMeans(K, n_init=1, random_state=seed).fit(X).result_
    among = PowerKMeans(K, n_init=3, random_state=seed).fit(X).result_
    assert_array_equal(alone.power_history[0], among.power_history[0])
    assert alone.inertia[0] == among.inertia[0]


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


@pytest.mark.parametrize(
    "choice", [{"init": "random", "n_init": 1}, {"init": [5, 900, 4100, 5000]}, {"s0": -1.0}]
)
def test_given_starts_and_powers_are_those_of_all_samples(X, choice):
    model = PowerKMeans(K, random_state=0, **choice).fit(X)
    assert model.power_history_[0] > -4
