"""Where restarts begin."""

import numpy as np
import pytest
from sklearn.cluster import kmeans_plusplus

import data
import oracle
from held import feature_space
from kernelmeans.kernels import Kernel
from kernelmeans.solver.blockwise import distances_to
from kernelmeans.solver.seeding import from_weights, greedy_kmeans_plusplus, random_seeds
from kernelmeans.spaces import GramSpace


def linear_space(X, weight=None):
    return feature_space(Kernel("linear", {}), X, np.ones(len(X)) if weight is None else weight)


def potential(X, seeds, weight=None):
    d = ((X[:, None] - X[seeds]) ** 2).sum(axis=-1).min(axis=1)
    return d.sum() if weight is None else d @ weight


def random_states(restarts, seed=0):
    return [1000 * seed + restart for restart in range(restarts)]


def greedy(space, k, restarts, seed=0):
    return greedy_kmeans_plusplus(space, k, random_states(restarts, seed))


@pytest.mark.parametrize("weighted", [False, True])
def test_greedy_seeds_cost_what_those_of_scikit_learn_cost(weighted):
    X, _ = data.blobs(200, 2, 6, spread=0.5)
    weight = np.random.default_rng(0).integers(1, 9, 200).astype(float) if weighted else None
    seeds = greedy(linear_space(X, weight), 6, 300)
    ours = [potential(X, column, weight) for column in seeds.T]
    theirs = [
        potential(X, kmeans_plusplus(X, 6, sample_weight=weight, random_state=i)[1], weight)
        for i in range(300)
    ]
    error = np.hypot(np.std(ours), np.std(theirs)) / np.sqrt(300)
    assert abs(np.mean(ours) - np.mean(theirs)) < 4 * error


def test_of_two_candidates_that_whose_weighted_potential_is_less_is_taken():
    # The first seed is the sample at 0. The two others are drawn nearly as often, and each leaves
    # the other: 100 are left by the one at 1, 110 by the one at -10, which a sum without weights
    # would take.
    X, weight = np.array([[0.0], [1.0], [-10.0]]), np.array([1e7, 110.0, 1.0])
    seeds = greedy(linear_space(X, weight), 2, 1000)
    second = seeds[1, seeds[0] == 0]
    both_candidates_are_the_last = (100 / 210) ** 2
    fraction = np.mean(second == 2)
    assert fraction == pytest.approx(both_candidates_are_the_last, abs=4 * np.sqrt(0.25 / 1000))


def test_greedy_seeds_work_in_feature_space(threads):
    # In the feature space of a narrow kernel all pairs of different samples are equally far.
    X = np.repeat(np.arange(5.0), [1, 1, 1, 1, 96])[:, None]
    space = GramSpace.hold(Kernel("rbf", {"gamma": 50.0}), X, np.ones(100), threads)
    seeds = greedy(space, 5, 50)
    for column in seeds.T:
        np.testing.assert_array_equal(np.sort(X[column, 0]), np.arange(5))


def test_first_seeds_are_drawn_in_proportion_to_the_weights():
    weight = np.array([0, 1, 2, 3, 4.0])
    X = np.arange(5.0)[:, None]
    first = greedy(linear_space(X, weight), 1, 5000)[0]
    fractions = np.bincount(first, minlength=5) / 5000
    np.testing.assert_allclose(fractions, weight / 10, atol=4 * np.sqrt(0.25 / 5000))


@pytest.mark.parametrize("draw", [greedy, lambda *a: random_draw(*a)], ids=["greedy", "random"])
def test_samples_without_weight_are_never_seeds(draw):
    weight = np.tile([0.0, 1.0], 20)
    seeds = draw(linear_space(data.cloud(40), weight), 4, 100)
    assert (seeds % 2 == 1).all()


def random_draw(space, k, restarts):
    return random_seeds(space, k, random_states(restarts))


def test_random_seeds_are_different_samples_drawn_evenly():
    space = linear_space(data.cloud(10))
    seeds = random_seeds(space, 4, random_states(3000))
    assert seeds.shape == (4, 3000)
    assert all(len(set(column)) == 4 for column in seeds.T)
    np.testing.assert_allclose(np.bincount(seeds[0]) / 3000, 0.1, atol=4 * np.sqrt(0.09 / 3000))


@pytest.mark.parametrize("value", [0.0, 3.7])
def test_data_without_spread_still_give_seeds(value):
    seeds = greedy(linear_space(np.full((20, 2), value)), 5, 4)
    assert seeds.shape == (5, 4)
    assert ((seeds >= 0) & (seeds < 20)).all()


def test_a_restart_draws_the_same_seeds_in_any_company():
    space = linear_space(data.cloud(80))
    together = greedy(space, 5, 4)
    alone = greedy_kmeans_plusplus(space, 5, random_states(4)[2:3])
    np.testing.assert_array_equal(together[:, [2]], alone)


def test_the_same_generator_draws_the_same_seeds():
    space = linear_space(data.cloud(80))
    np.testing.assert_array_equal(greedy(space, 5, 3, 7), greedy(space, 5, 3, 7))
    assert (greedy(space, 5, 3, 7) != greedy(space, 5, 3, 8)).any()


def test_centroids_of_starting_weights(threads):
    X = data.cloud(300, 3)
    v = np.random.default_rng(1).uniform(0.1, 2, 300)
    W = np.random.default_rng(2).uniform(0, 1, (300, 4))
    K = oracle.rbf(X, X, 0.3)
    space = GramSpace.hold(Kernel("rbf", {"gamma": 0.3}), X, v, threads)
    got = distances_to(space, from_weights(space, W))[:, 0]
    A = (W * v[:, None]).T
    A /= A.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(got.T, oracle.distances(K, A), atol=1e-12)
