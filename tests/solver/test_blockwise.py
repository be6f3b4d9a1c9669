"""Functions of all samples against the dense kernel matrix."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import data
import oracle
from held import feature_space
from kernelmeans.kernels import Kernel
from kernelmeans.solver import partition_cost
from kernelmeans.solver.blockwise import assign, hard_costs
from kernelmeans.solver.seeding import from_weights
from kernelmeans.spaces import EntropyRule, GramSpace, ProductSpace

N, K, RESTARTS = 300, 4, 3
X = data.cloud(N, 4)
WEIGHT = np.random.default_rng(1).uniform(0.2, 3, N)
SEEDS = np.random.default_rng(2).choice(N, (K, RESTARTS), replace=False)
LINEAR, RBF = Kernel("linear", {}), Kernel("rbf", {"gamma": 0.3})
#: Kernel weights of two kernels.
SHARES = np.array([0.8, 0.2])


@pytest.fixture(autouse=True)
def several_blocks(monkeypatch):
    monkeypatch.setattr("kernelmeans.spaces.base.BLOCK_ROWS", (40, 4096))
    monkeypatch.setattr("kernelmeans.spaces.base.SMALL_BLOCK_BYTES", 1)


@pytest.fixture(params=["gram", "features", "several"])
def held(request, threads):
    """A space, and its dense matrix."""
    grams = oracle.rbf(X, X, 0.3), X @ X.T
    if request.param == "features":
        return feature_space(LINEAR, X, WEIGHT), grams[1]
    gram = GramSpace.hold(RBF, X, WEIGHT, threads)
    if request.param == "gram":
        return gram, grams[0]
    return several(threads), SHARES[0] * grams[0] + SHARES[1] * grams[1]


def several(threads):
    members = [GramSpace.hold(RBF, X, WEIGHT, threads), feature_space(LINEAR, X, WEIGHT)]
    return ProductSpace(members, [slice(None)] * 2, EntropyRule(5.0), kernel_weights=SHARES)


def squared_distances(gram, seeds):
    """From all samples to some of them, shape (n, k)."""
    return oracle.distances(gram, oracle.at_samples(seeds, N))


def penalty(space):
    return 5.0 * (SHARES * np.log(2 * SHARES)).sum() if len(space.kernel_weights) > 1 else 0.0


def test_samples_are_assigned_to_the_nearest_of_each_restart(held):
    space, gram = held
    assert len(list(space.blocks(K * RESTARTS))) > 1
    found = assign(space, space.at(SEEDS))
    for restart in range(RESTARTS):
        d = squared_distances(gram, SEEDS[:, restart])
        assert_array_equal(found.labels[restart], d.argmin(axis=1))
        first, second = np.sort(d, axis=1)[:, :2].T
        assert_allclose(found.nearest[restart], first, rtol=1e-9, atol=1e-9)
        assert_allclose(found.second[restart], second, rtol=1e-9)
        assert found.inertia(space)[restart] == pytest.approx(WEIGHT @ first)
        assert_allclose(found.costs(space)[restart], WEIGHT * first, rtol=1e-9, atol=1e-9)


def test_costs_are_those_of_the_nearest_with_the_penalty_on_kernel_weights(held):
    space, gram = held
    expected = [
        WEIGHT @ squared_distances(gram, seeds).min(axis=1) + penalty(space) for seeds in SEEDS.T
    ]
    assert_allclose(hard_costs(space, space.at(SEEDS)), expected, rtol=1e-9)


def test_the_cost_of_a_partition_is_that_of_its_means(held):
    space, gram = held
    start = space.at(SEEDS[:, :1])
    labels = squared_distances(gram, SEEDS[:, 0]).argmin(axis=1)
    expected = oracle.hard_cost(gram, labels, WEIGHT)
    assert partition_cost(space, start) == pytest.approx(expected)
    # The centroids stay where they were.
    again = partition_cost(space, from_weights(space, np.eye(K)[labels]))
    assert again <= expected * (1 + 1e-12)
    assert partition_cost(space, start) == pytest.approx(expected)


def test_the_cost_of_a_partition_has_the_kernel_weights_of_its_centroids(threads):
    space = several(threads)
    centroids = space.at(SEEDS[:, :1])
    centroids.kernel_weights = np.array([[0.0, 1.0]])
    gram = X @ X.T
    labels = squared_distances(gram, SEEDS[:, 0]).argmin(axis=1)
    assert partition_cost(space, centroids) == pytest.approx(oracle.hard_cost(gram, labels, WEIGHT))
