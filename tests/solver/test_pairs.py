"""Pairs of clusters that are divided anew, where a graph prefers that."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import data
from held import feature_space
from kernelmeans.kernels import Kernel
from kernelmeans.solver import Ending, Hard, divide_pairs, solve
from kernelmeans.solver.blockwise import assign
from kernelmeans.solver.seeding import from_weights

CORNER = np.arange(200) % 4
LEFT, LOW = CORNER % 2, CORNER // 2


def corners(width, far=0.0):
    """Four round clusters at the corners of a rectangle of height 1, and one far away."""
    # The same in each corner, so that the width alone decides which partition costs less.
    X = np.c_[width * LEFT, LOW] + 0.05 * np.repeat(data.cloud(50, 2), 4, axis=0)
    return np.r_[X, 30 + 0.05 * data.cloud(50, 2, 1)] if far else X


def fitted(space, labels):
    """Kernel k-means from a partition."""
    start = from_weights(space, np.eye(labels.max() + 1)[labels])
    return solve(space, start, Hard(), [0])


def cutting(chains, n_clusters):
    """The edges of a graph that connects all samples of a chain."""

    def weigh(labels):
        shares = np.array(
            [np.bincount(labels[chains == c], minlength=n_clusters) for c in set(chains)]
        )
        return (shares.T @ shares).astype(float) + 1e-3  # some leave each cluster

    return weigh


def same(labels, expected):
    return len(set(zip(labels, expected, strict=True))) == len(set(expected))


def test_of_two_partitions_of_nearly_the_same_cost_the_graph_decides():
    X, v = corners(1.002), np.repeat(np.random.default_rng(0).uniform(0.5, 1.5, 50), 4)
    space = feature_space(Kernel("linear", {}), X, v)
    result = fitted(space, LEFT)
    before = result.cost[0]
    assert divide_pairs(space, result, cutting(LOW, 2), 1000, 0) == 1
    assert same(result.labels[0], LOW)
    assert before < result.cost[0] < 1.01 * before
    # All that a result says is that of the new partition.
    found = assign(space, result.centroids)
    assert_array_equal(found.labels[0], result.labels[0])
    assert result.inertia[0] == pytest.approx(found.inertia(space)[0])
    assert result.converged[0]


@pytest.mark.parametrize(
    ("width", "chains"), [(1.1, LOW), (1.002, LEFT)], ids=["dearer", "cuts more"]
)
def test_a_partition_stays_if_others_are(width, chains):
    space = feature_space(Kernel("linear", {}), corners(width), np.ones(200))
    result = fitted(space, LEFT)
    assert divide_pairs(space, result, cutting(chains, 2), 1000, 0) == 0
    assert same(result.labels[0], LEFT)
    assert result.preferred is None


def test_the_pair_with_most_edges_is_divided_and_others_stay():
    X = corners(1.002, far=30)
    space = feature_space(Kernel("linear", {}), X, np.ones(250))
    chains = np.r_[LOW, np.full(50, 2)]
    result = fitted(space, np.r_[LEFT, np.full(50, 2)])
    assert divide_pairs(space, result, cutting(chains, 3), 1000, 0) == 1
    assert same(result.labels[0], chains)


@pytest.mark.parametrize(("edges", "divided"), [(1.0, 1), (5.0, 0)])
def test_a_crumb_has_to_cut_far_fewer_edges(edges, divided):
    """Six samples, that cost as much beside one cluster of 47 samples as the other one does."""
    sizes = [6, *[47] * 6]
    group = np.repeat([0, 1, 2, 3, 3, 3, 3], sizes)
    before = np.repeat([0, 0, 1, 2, 3, 4, 5], sizes)
    middles = [[0, 2.1017], [0, 0], [1, 0], [50, 0], [0, 50], [-50, 0], [0, -50]]
    X = np.repeat(middles, sizes, axis=0) + 0.01 * data.cloud(288, 2)
    space = feature_space(Kernel("linear", {}), X, np.ones(288))
    weights = np.array([[0, edges, 0, 0], [edges, 0, 10, 0], [0, 10, 0, 0], [0, 0, 0, 0]])

    def weigh(labels):
        shares = np.array([np.bincount(labels[group == g], minlength=6) for g in range(4)])
        shares = shares / shares.sum(axis=1, keepdims=True)
        return shares.T @ weights @ shares

    result = fitted(space, before)
    assert divide_pairs(space, result, weigh, 1000, 0) == divided
    assert same(result.labels[0], np.where(group == 1, 1, before) if divided else before)


def test_the_best_restart_stays_the_best():
    space = feature_space(Kernel("linear", {}), corners(1.002), np.ones(200))
    half = np.eye(2)[LEFT]
    starts = from_weights(space, half).take(np.array([0, 0]))
    result = solve(space, starts, Hard(), [0, 0])
    divide_pairs(space, result, cutting(LOW, 2), 1000, 0)
    # The other restart costs less now.
    assert result.cost[1] < result.cost[0]
    assert result.best == result.preferred == 0


def test_no_pair_matters_without_edges_between_clusters():
    space = feature_space(Kernel("linear", {}), corners(1.002), np.ones(200))
    result = fitted(space, LEFT)
    calls = []

    def weigh(labels):
        calls.append(labels)
        return np.eye(2)

    assert divide_pairs(space, result, weigh, 1000, 0) == 0
    assert len(calls) == 1


def test_a_listener_ends_it():
    space = feature_space(Kernel("linear", {}), corners(1.002), np.ones(200))
    result = fitted(space, LEFT)
    heard = []

    def listen(progress):
        heard.append(progress)
        return True

    assert divide_pairs(space, result, cutting(LOW, 2), 1000, 0, listen) == 0
    assert len(heard) == 1
    assert result.endings[0] == Ending.STOPPED
    assert same(result.labels[0], LEFT)
