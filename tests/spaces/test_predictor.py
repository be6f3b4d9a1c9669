"""Predictors: distances and labels of new rows, block by block."""

import numpy as np
import pytest

from held import feature_space
from kernelmeans.engines import Threads
from kernelmeans.kernels import Kernel
from kernelmeans.spaces import GramSpace
from oracle import rbf

GAMMA = 0.4
X = np.random.default_rng(0).normal(size=(80, 2))
NEW = np.random.default_rng(1).normal(size=(5000, 2))
SEEDS = np.array([[3], [9], [70]])


def exported(kind):
    with Threads(1) as threads:
        if kind == "gram":
            space = GramSpace(Kernel("rbf", {"gamma": GAMMA}), X, np.ones(80), threads)
        else:
            space = feature_space(Kernel("linear", {}), X, np.ones(80))
        return space.export(space.at(SEEDS))


def expected(kind):
    centres = X[SEEDS[:, 0]]
    squared = ((NEW[:, None] - centres) ** 2).sum(axis=-1)
    return squared if kind == "features" else 2 - 2 * rbf(NEW, centres, GAMMA)


@pytest.mark.parametrize("kind", ["gram", "features"])
def test_new_rows_over_several_blocks(kind):
    predictor = exported(kind)
    diagonal = np.ones(len(NEW))
    labels, nearest, got, _ = predictor.compare(NEW, diagonal, keep_distances=True)
    np.testing.assert_allclose(got.T, expected(kind), rtol=1e-9, atol=1e-12)
    plain = predictor.compare(NEW, diagonal)
    assert plain.distances is None
    np.testing.assert_array_equal(plain.labels, labels)
    np.testing.assert_array_equal(plain.nearest, nearest)
    np.testing.assert_array_equal(labels, expected(kind).argmin(axis=1))
    np.testing.assert_allclose(nearest, expected(kind).min(axis=1), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", ["gram", "features"])
def test_labels_do_not_depend_on_the_diagonal(kind):
    predictor = exported(kind)
    labels = [predictor.compare(NEW, np.full(len(NEW), value)).labels for value in (0.0, 1.0, 50.0)]
    np.testing.assert_array_equal(labels[0], labels[1])
    np.testing.assert_array_equal(labels[1], labels[2])


@pytest.mark.parametrize("kind", ["gram", "features"])
def test_no_squared_distance_is_negative(kind):
    compared = exported(kind).compare(X, np.ones(80), keep_distances=True)
    assert compared.distances.min() >= 0
    assert compared.nearest.min() >= 0
