"""Costs that differ by rounding alone, and batches as one result."""

from dataclasses import replace

import numpy as np
import pytest

import data
from kernelmeans.kernels import Kernel
from kernelmeans.solver import Hard, Result, solve
from kernelmeans.solver.blockwise import Assignment
from kernelmeans.spaces import GramSpace


@pytest.fixture(name="space")
def rbf_space(threads):
    return GramSpace.hold(Kernel("rbf", {"gamma": 0.2}), data.cloud(300, 3), np.ones(300), threads)


def test_the_same_clusters_cost_the_same_from_whatever_start(threads):
    X = data.blobs(300, 3, 3, spread=0.8)[0]
    space = GramSpace.hold(Kernel("rbf", {"gamma": 0.05}), X, np.ones(300), threads)
    table = np.random.default_rng(0).integers(300, size=(3, 20))
    result = solve(space, space.at(table), Hard(), range(20))
    gaps = np.diff(np.unique(result.inertia))
    assert (gaps < 1e-9).any()
    assert (np.diff(np.unique(result.cost)) > 1e-9).all()
    assert result.best == np.flatnonzero(result.inertia < result.inertia.min() + 1e-9)[0]


def test_batches_are_joined_in_their_order(space):
    tables = np.array([[3, 50], [120, 299]]), np.array([[7, 81, 9], [200, 30, 11]])
    batches = [solve(space, space.at(table), Hard(), [0] * table.shape[1]) for table in tables]
    joined = Result.join(batches, 0.0)
    alone = solve(space, space.at(np.concatenate(tables, axis=1)), Hard(), range(5))
    for name in ("labels", "n_iter", "endings"):
        np.testing.assert_array_equal(getattr(joined, name), getattr(alone, name))
    np.testing.assert_allclose(joined.cost, alone.cost, rtol=1e-12)
    for ours, theirs in zip(joined.objective_history, alone.objective_history, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    np.testing.assert_allclose(joined.centroids.norms, alone.centroids.norms, rtol=1e-12)


@pytest.mark.parametrize(("rounding", "best"), [(1e-9, 0), (0.0, 1)])
def test_of_batches_that_cost_the_same_the_first_is_the_best(space, rounding, best):
    first = solve(space, space.at(np.array([[3], [50]])), Hard(), [0])
    second = replace(first, cost=first.cost - 1e-10)
    joined = Result.join([first, second], rounding)
    assert joined.best == best
    assert (joined.cost[0] == joined.cost[1]) == (best == 0)


def test_a_cost_that_may_be_rounding_is_zero(space):
    nearest = np.array([[0.5, 3e-15, 1e-15]])
    weight = np.array([2.0, 2.0, 2.0])
    space.sample_weight = weight
    assigned = Assignment(np.zeros((1, 3), int), nearest, nearest, np.array([1e-15]))
    np.testing.assert_array_equal(assigned.costs(space), [[1.0, 6e-15, 0.0]])
