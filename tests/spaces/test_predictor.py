"""Predictors: distances and labels of new rows, block by block."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from scipy.spatial.distance import cdist

from held import feature_space
from kernelmeans import PowerKMeans
from kernelmeans.engines import Threads
from kernelmeans.kernels import Kernel
from kernelmeans.spaces import EntropyRule, GramSpace, ProductSpace
from oracle import rbf

GAMMA = 0.4
X = np.random.default_rng(0).normal(size=(80, 2))
NEW = np.random.default_rng(1).normal(size=(5000, 2))
SEEDS = np.array([[3], [9], [70]])


def make_space(kind, threads):
    if kind == "gram":
        return GramSpace.hold(Kernel("rbf", {"gamma": GAMMA}), X, np.ones(80), threads)
    if kind == "features":
        return feature_space(Kernel("linear", {}), X, np.ones(80))
    members = [make_space(own, threads) for own in ("gram", "features", "gram")]
    return ProductSpace(members, [slice(None)] * 3, EntropyRule(1.0))


def exported(kind):
    with Threads(1) as threads:
        space = make_space(kind, threads)
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


def test_distances_of_sparse_rows_to_centroids_of_dense_ones():
    """Dense features are about their mean, sparse ones are not."""
    rows = scipy.sparse.random_array((60, 5), density=0.5, format="csr", rng=0)
    dense = rows.toarray()
    model = PowerKMeans(3, random_state=0).fit(dense)
    means = [dense[model.labels_ == cluster].mean(axis=0) for cluster in range(3)]
    np.testing.assert_allclose(model.transform(rows), cdist(dense, means), rtol=1e-9)


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


@pytest.mark.parametrize("resolution", [0.0, 0.5])
@pytest.mark.parametrize("kind", ["gram", "features", "several"])
def test_new_numbers_name_the_same_centroids(kind, resolution):
    predictor, numbers = exported(kind), np.array([1, 2, 0])
    predictor.resolution = resolution  # within it the first centroid is nearest, by any number
    diagonal = np.ones((len(NEW), 3)) if kind == "several" else np.ones(len(NEW))
    before = predictor.compare(NEW, diagonal, keep_distances=True)
    for times, expected in enumerate([numbers, numbers[numbers]], start=1):
        other = predictor
        for _ in range(times):
            other = other.renumbered(numbers)
        after = other.compare(NEW, diagonal, keep_distances=True)
        np.testing.assert_array_equal(after.distances[expected], before.distances)
        np.testing.assert_array_equal(after.labels, expected[before.labels])
        np.testing.assert_array_equal(after.nearest, before.nearest)
    again = predictor.compare(NEW, diagonal, keep_distances=True)
    np.testing.assert_array_equal(again.labels, before.labels)
    np.testing.assert_array_equal(again.distances, before.distances)


def test_predictors_of_the_same_coefficients_share_them():
    first, _, last = exported("several").members
    assert first.coefficients is last.coefficients
    assert first.X is last.X


@pytest.mark.parametrize("kind", ["gram", "features"])
def test_what_is_wanted_of_the_distances_is_asked_block_by_block(kind):
    predictor, asked = exported(kind), []

    def summary(squared, labels):
        asked.append(squared.shape[1])
        np.testing.assert_array_equal(squared.argmin(axis=0), labels)
        return np.sort(squared, axis=0)[:2]

    predictor.row_budget = 2**18
    found = predictor.compare(NEW, np.ones(len(NEW)), summary=summary)
    np.testing.assert_allclose(found.summary.T, np.sort(expected(kind), axis=1)[:, :2], rtol=1e-9)
    assert found.distances is None
    assert len(asked) > 1
    assert sum(asked) == len(NEW)
    both = predictor.compare(NEW, np.ones(len(NEW)), True, summary)
    np.testing.assert_array_equal(both.summary, np.sort(both.distances, axis=0)[:2])


def test_of_centroids_that_rounding_does_not_tell_apart_the_first_is_nearest():
    predictor = exported("features")
    plain = predictor.compare(NEW, np.ones(len(NEW)), keep_distances=True)
    predictor.resolution = 0.5
    labels = predictor.compare(NEW, np.ones(len(NEW))).labels
    near = plain.distances <= plain.distances.min(axis=0) + 0.5
    np.testing.assert_array_equal(labels, near.argmax(axis=0))
    assert (labels != plain.labels).any()


@pytest.mark.parametrize("keep_distances", [False, True])
@pytest.mark.parametrize("kind", ["gram", "features"])
def test_rows_whose_kernel_is_not_finite_are_refused_and_counted(kind, keep_distances):
    rows = NEW.copy()
    rows[[7, 4000]] = np.nan
    with pytest.raises(ValueError, match="is NaN or infinite in float64 between 2 of 5000 rows"):
        exported(kind).compare(rows, np.ones(len(rows)), keep_distances)


def test_dask_knows_how_large_a_space_of_features_is():
    buffers, rows = [], np.ones((500, 7))
    space = feature_space(Kernel("linear", {}), rows, np.ones(500))
    pickle.dumps(space, 5, buffer_callback=buffers.append)
    held = {bytes(buffer.raw()) for buffer in buffers}
    assert space.__sizeof__() == pytest.approx(sum(map(len, held)), rel=0.02)
    several = ProductSpace([space, space], [slice(None)] * 2, EntropyRule(1.0))
    assert several.__sizeof__() == 2 * space.__sizeof__()
    sparse = feature_space(Kernel("linear", {}), scipy.sparse.csr_array(np.eye(50)), np.ones(50))
    assert sparse.__sizeof__() == 3 * 50 * 8
