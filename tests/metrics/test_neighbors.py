"""Near neighbours in the same cluster."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_wine
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import KNeighborsTransformer
from threadpoolctl import threadpool_limits

import data
from kernelmeans.metrics import neighbor_consistency

X = data.cloud(40, 3)
LABELS = np.random.default_rng(0).integers(0, 3, 40)


def by_loops(X, labels, n_neighbors):
    same = []
    for row, label in zip(X, labels, strict=True):
        # The row itself is the nearest.
        near = np.argsort(np.linalg.norm(X - row, axis=1))[1 : n_neighbors + 1]
        same += [labels[other] == label for other in near]
    return np.mean(same)


@pytest.mark.parametrize(
    # genieclust 1.3.0: cluster_validity.wcnn_index(X, y, M)
    ("n_neighbors", "expected"),
    [(1, 0.7696629213483146), (5, 0.6808988764044944), (25, 0.6534831460674158)],
)
def test_it_is_the_index_of_genieclust(n_neighbors, expected):
    X, y = load_wine(return_X_y=True)
    found = neighbor_consistency(X, y, n_neighbors=n_neighbors)
    assert found == pytest.approx(expected, rel=1e-14)


@given(st.integers(1, 39), st.randoms(use_true_random=False))
def test_it_equals_loops_and_needs_neither_names_nor_order(n_neighbors, random):
    rows = random.sample(range(40), 40)
    found = neighbor_consistency(X, LABELS, n_neighbors=n_neighbors)
    assert found == pytest.approx(by_loops(X, LABELS, n_neighbors))
    names = np.array(random.sample(["a", "b", "-1"], 3))
    assert neighbor_consistency(X[rows], names[LABELS][rows], n_neighbors=n_neighbors) == (
        pytest.approx(found)
    )


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("unit", [2.0**1020, 2.0**-1000])
def test_the_unit_does_not_matter(form, unit):
    grid = np.random.default_rng(1).integers(0, 4, (40, 2)).astype(float)  # many equal distances
    rows = form(grid * unit)
    found = neighbor_consistency(rows, LABELS, n_neighbors=5)
    assert found == neighbor_consistency(form(grid), LABELS, n_neighbors=5)
    np.testing.assert_array_equal((form(grid) * unit - rows).sum(), 0)  # and rows stay as they are


def test_the_same_from_distances_and_sparse_rows():
    expected = neighbor_consistency(X, LABELS, n_neighbors=7)
    assert expected < 1
    between = pairwise_distances(X)
    nearest = KNeighborsTransformer(n_neighbors=7).fit_transform(X)
    more = KNeighborsTransformer(n_neighbors=9).fit_transform(X)
    for distances in (between, nearest, more):
        found = neighbor_consistency(distances, LABELS, n_neighbors=7, metric="precomputed")
        assert found == expected
    assert neighbor_consistency(scipy.sparse.csr_array(X), LABELS, n_neighbors=7) == expected


def test_other_metrics():
    rows = X * [1, 1, 100]
    angles = neighbor_consistency(rows, LABELS, n_neighbors=5, metric="cosine")
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    assert angles == pytest.approx(neighbor_consistency(units, LABELS, n_neighbors=5))
    assert angles != neighbor_consistency(rows, LABELS, n_neighbors=5)


def test_equal_rows_are_neighbours_of_each_other():
    rows = np.repeat([[0.0], [5.0]], 4, axis=0)
    assert neighbor_consistency(rows, [0, 0, 0, 0, 1, 1, 1, 1], n_neighbors=3) == 1
    assert neighbor_consistency(rows, [0, 1, 2, 3, 0, 1, 2, 3], n_neighbors=3) == 0


def test_threads_do_not_choose_among_rows_at_equal_distance():
    X, y = load_digits(return_X_y=True)
    found = []
    for n_threads in (1, 2, 4):
        with threadpool_limits(n_threads):
            found.append(neighbor_consistency(X, y))
    assert found[0] == found[1] == found[2]


def test_few_rows_have_all_others_as_neighbours():
    assert neighbor_consistency([[0.0], [1.0], [5.0]], [0, 0, 1]) == pytest.approx(1 / 3)


def test_one_cluster_and_singletons():
    assert neighbor_consistency(X, np.zeros(40)) == 1
    assert neighbor_consistency(X, np.arange(40)) == 0


@pytest.mark.parametrize("n_neighbors", [0, -1, 2.5, True, "auto"])
def test_it_refuses_numbers_of_neighbours(n_neighbors):
    with pytest.raises(ValueError, match=r"n_neighbors=.* must be a positive integer"):
        neighbor_consistency(X, LABELS, n_neighbors=n_neighbors)


def test_it_refuses_labels_and_rows():
    with pytest.raises(ValueError, match="labels has 39 labels for 40 rows"):
        neighbor_consistency(X, LABELS[1:])
    with pytest.raises(ValueError, match="labels has labels that are NaN"):
        neighbor_consistency(X, np.full(40, np.nan))
    with pytest.raises(ValueError, match="X has 1 row, and so no neighbours"):
        neighbor_consistency(X[:1], [0])
    with pytest.raises(ValueError, match="X contains NaN"):
        neighbor_consistency(np.where(X > 1, np.nan, X), LABELS)
