"""Annealing on a draw of the samples first, where they are many."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from threadpoolctl import threadpool_limits

import data
from held import feature_space
from kernelmeans import KernelPowerKMeans, MultiKernelPowerKMeans, PowerKMeans
from kernelmeans.kernels import Kernel
from kernelmeans.lowrank import draw
from kernelmeans.solver import Schedule, can_rehearse, rehearse

K = 4


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch):
    """Draws of 2500 samples at most: tests need not be large."""
    monkeypatch.setattr(draw, "MOST_ROWS", 2500)
    monkeypatch.setattr(draw, "FEWEST_ROWS", 100)


@pytest.fixture(scope="module", name="X")
def many_rows():
    return np.concatenate([data.cloud(4000, 3), 3 + 0.5 * data.cloud(2000, 3, seed=1)])


def space_of(X):
    return feature_space(Kernel("linear", {}), X, np.ones(len(X)))


ANNEALED = Schedule(s0=-3, critical_power=-2, eta=1.1, softness=0.01)


def test_only_annealed_runs_of_many_samples_are_rehearsed(X):
    assert can_rehearse(space_of(X), K, ANNEALED)
    assert not can_rehearse(space_of(X[:2500]), K, ANNEALED)
    assert not can_rehearse(space_of(X), K, Schedule(s0=-3, critical_power=-2))
    assert not can_rehearse(space_of(X), K, Schedule(s0=-np.inf, critical_power=-np.inf))
    # A cluster has too few samples in the draw.
    assert not can_rehearse(space_of(X), 6, ANNEALED)


def test_each_restart_goes_on_from_its_own_best(X, threads):
    space = space_of(X)
    centroids, schedule = rehearse(space, K, ANNEALED, [3, 8], threads)
    assert centroids.shape == (K, 2)
    assert schedule.s0 < -10
    assert schedule.eta == ANNEALED.eta
    for index, seed in enumerate([3, 8]):
        alone, _ = rehearse(space, K, ANNEALED, [seed], threads)
        assert_array_equal(alone.vectors[0][:, 0], centroids.vectors[0][:, index])


@pytest.mark.parametrize(
    "model",
    [
        PowerKMeans(K),
        KernelPowerKMeans(K, approximation="landmarks", n_components=40),
        MultiKernelPowerKMeans(K, kernels=["rbf", "linear"], approximation="landmarks"),
    ],
    ids=["linear", "landmarks", "several"],
)
def test_few_steps_are_left_and_the_cost_is_no_higher(X, model, monkeypatch):
    model.set_params(random_state=0)
    rehearsed = model.fit(X).inertia_, model.n_iter_, model.labels_
    with threadpool_limits(1):
        assert_array_equal(model.fit(X).labels_, rehearsed[2])
    monkeypatch.setattr(draw, "MOST_ROWS", 10**5)
    model.set_params(memory_budget=None).fit(X)
    assert rehearsed[0] <= model.inertia_ * 1.001
    assert rehearsed[1] < model.n_iter_


@pytest.mark.parametrize(
    "choice", [{"init": "random", "n_init": 1}, {"init": [5, 900, 4100, 5000]}, {"s0": -1.0}]
)
def test_given_starts_and_powers_are_those_of_all_samples(X, choice):
    model = PowerKMeans(K, random_state=0, **choice).fit(X)
    assert model.power_history_[0] > -4
