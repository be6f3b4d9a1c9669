"""Rows that are equal up to rounding, and small groups far from all others."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.metrics import adjusted_rand_score

from kernelmeans import ClusterSearch, KernelPowerKMeans
from kernelmeans.heat.copies import ROUNDED, without_copies
from kernelmeans.heat.distinct import DistinctRows


def with_copies(rng, times=30, noise=1e-7, n_repeated=20):
    """Rows of four classes, some of them many times, with and without noise; and the classes."""
    y = np.arange(400) % 4
    X = 4 * np.eye(4, 6)[y] + rng.normal(size=(400, 6))
    rows = np.r_[np.arange(400), np.repeat(np.arange(n_repeated), times)]
    return X[rows], X[rows] * (1 + noise * rng.normal(size=(len(rows), 6))), y[rows]


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
@pytest.mark.parametrize(
    ("noise", "dtype"), [(1e-7, np.float64), (1e-10, np.float64), (1e-7, "f4")]
)
def test_copies_up_to_rounding_count_as_equal_rows(rng, metric, noise, dtype):
    X, Z, y = with_copies(rng, noise=noise)
    model = KernelPowerKMeans(4, metric=metric, random_state=0)
    exact = model.fit(X.astype(dtype)).labels_
    assert adjusted_rand_score(y, exact) > 0.8
    near = model.fit(Z.astype(dtype)).labels_
    assert adjusted_rand_score(exact, near) > 0.99
    assert_array_equal(model.predict(Z.astype(dtype)), near)


@pytest.mark.slow
def test_a_search_does_not_take_copies_for_clusters(rng):
    _, Z, _ = with_copies(rng, times=20, n_repeated=10)
    search = ClusterSearch(
        KernelPowerKMeans(random_state=0), {"n_clusters": range(2, 8)}, n_splits=5
    )
    assert search.set_params(random_state=0).fit(Z).best_params_["n_clusters"] == 4


def test_copies_far_away_are_a_cluster(rng):
    """As equal rows would be."""
    X = rng.normal(size=(200, 2))
    far = np.full((60, 2), 40.0) * (1 + 1e-8 * rng.normal(size=(60, 2)))
    model = KernelPowerKMeans(2, random_state=0).fit(np.r_[X, far])
    assert_array_equal(model.labels_ == model.labels_[-1], np.arange(260) >= 200)


def test_near_rows_do_not_follow_one_another_into_one_node(rng):
    """Only what is within a few times the reach of one row is one node with it."""
    line = np.linspace(0, 1e-3, 2000)[:, None] * [1.0, 1.0]
    X = np.r_[line, 5 * rng.normal(size=(2000, 2))]
    nodes, places = without_copies(DistinctRows.of(X, None, "euclidean"), 10, 2)
    reach = ROUNDED * np.quantile(np.linalg.norm(X[rng.permutation(4000)] - X, axis=1), 0.75)
    n_line = np.count_nonzero((nodes.rows >= 0).all(axis=1) & (nodes.rows <= 1e-3).all(axis=1))
    length = np.sqrt(2) * 1e-3
    assert 0.3 * length / reach < n_line < 3 * length / reach < 200
    assert len(places) == 4000
    # Other rows are nodes of their own.
    assert len(nodes.rows) == n_line + 2000


def test_without_copies_nothing_changes(rng):
    rows = DistinctRows.of(rng.normal(size=(300, 3)), None, "euclidean")
    nodes, places = without_copies(rows, 8, 2)
    assert nodes is rows.nearest
    assert places is None


@pytest.mark.parametrize(("n_rows", "n_far"), [(3000, 10), (1000, 12)])
def test_a_small_group_far_away_is_a_cluster(n_rows, n_far):
    """Its rows have neighbours in the crowd, for want of others."""
    rng = np.random.default_rng(0)
    far = [70, 0] + 0.2 * rng.normal(size=(n_far, 2))
    X = np.r_[rng.normal(size=(n_rows, 2)), far]
    model = KernelPowerKMeans(2, random_state=0).fit(X)
    assert_array_equal(model.labels_ == model.labels_[-1], np.arange(len(X)) >= n_rows)
    # Whoever names the number of neighbours wants so many.
    linked = KernelPowerKMeans(2, n_neighbors=n_far + 2, random_state=0).fit(X)
    assert (linked.n_pieces_, model.n_pieces_) == (1, 2)


@pytest.mark.parametrize(("times", "noise"), [(6, 1e-3), (8, 2e-2), (8, 1e-6)])
def test_replicates_are_no_groups(rng, times, noise):
    """Their fifth neighbours are replicates, so that all other edges are long beside these."""
    y = np.repeat(np.arange(3), 40)
    specimens = 6 * np.eye(3, 5)[y] + rng.normal(size=(120, 5))
    X = np.repeat(specimens, times, axis=0)
    X += noise * rng.normal(size=X.shape)
    labels = KernelPowerKMeans(3, n_neighbors=3 * times, random_state=0).fit_predict(X)
    with warnings.catch_warnings(action="ignore"):
        own = KernelPowerKMeans(3, random_state=0).fit_predict(X)
    assert adjusted_rand_score(np.repeat(y, times), labels) > 0.9
    assert adjusted_rand_score(np.repeat(y, times), own) > 0.9


def test_most_rows_may_be_copies_of_one(rng):
    y = np.arange(600) % 3
    X = 8 * np.eye(3, 4)[y] + rng.normal(size=(600, 4))
    X = np.r_[X, X[:1] * (1 + 1e-8 * rng.normal(size=(2000, 4)))]
    nodes, _ = without_copies(DistinctRows.of(X, None, "euclidean"), 10, 3)
    assert len(nodes.rows) == 600
    labels = KernelPowerKMeans(3, random_state=0).fit_predict(X)
    assert adjusted_rand_score(y, labels[:600]) == 1


def test_a_few_rows_may_be_very_far(rng):
    """They do not make copies of all others."""
    X = np.r_[rng.normal(size=(300, 2)), 1e9 * rng.normal(size=(30, 2))]
    nodes, _ = without_copies(DistinctRows.of(X, None, "euclidean"), 10, 3)
    assert len(nodes.rows) == 330


def test_few_groups_of_copies_stay_rows(rng):
    X = np.repeat(rng.normal(size=(6, 3)), 40, axis=0)
    X += 1e-8 * rng.normal(size=X.shape)
    nodes, places = without_copies(DistinctRows.of(X, None, "euclidean"), 10, 3)
    assert (len(nodes.rows), places) == (240, None)
