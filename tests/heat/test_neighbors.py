"""Nearest rows and their graph."""

import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph
from threadpoolctl import threadpool_limits

from data import cloud
from kernelmeans import KernelKMeans, KernelPowerKMeans, MultiKernelPowerKMeans
from kernelmeans.heat import auto_neighbors
from kernelmeans.heat.neighbors import NearestRows, origin_and_scale, without_loops


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("p", [2, 30])
def test_it_is_the_graph_of_spectral_clustering(metric, p):
    X = cloud(120, p)
    B = kneighbors_graph(X, 7, metric=metric, include_self=True)
    graph = NearestRows(X, metric).graph(7)
    assert_array_equal(graph.toarray(), (B + B.T).toarray() / 2)


@pytest.mark.parametrize("n_neighbors", [1, 5])
def test_every_row_is_its_own_neighbour(n_neighbors):
    graph = NearestRows(cloud(5), "euclidean").graph(n_neighbors)
    assert_array_equal(graph.diagonal(), 1)
    assert graph.sum() == 5 * n_neighbors


def with_threads(function):
    """What a function returns with one, two and three threads of OpenMP."""
    found = []
    for count in (1, 2, 3):
        with threadpool_limits(count, user_api="openmp"):
            found.append(function())
    return found


def rows_with_ties():
    return np.unique(np.random.default_rng(0).integers(0, 3, (600, 20)), axis=0).astype(np.float64)


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array])
def test_threads_do_not_choose_among_rows_at_equal_distance(make):
    X = make(rows_with_ties())
    one, two, three = with_threads(lambda: NearestRows(X, "euclidean").others(5))
    assert_array_equal(two, one)
    assert_array_equal(three, one)


@pytest.mark.parametrize("n_new", [100, 600])
def test_threads_do_not_choose_for_new_rows_either(n_new):
    X = rows_with_ties()
    one, two, three = with_threads(lambda: NearestRows(X, "euclidean").of(X[:n_new], 5)[1])
    assert_array_equal(two, one)
    assert_array_equal(three, one)


def test_labels_of_new_rows_at_equal_distances_do_not_depend_on_threads():
    X = (np.random.default_rng(0).random((1800, 20)) < 0.2).astype(np.float64)
    model = KernelKMeans(4, kernel="heat", random_state=0).fit(X[:1500])
    one, two, three = with_threads(lambda: model.predict(X[1500:]))
    assert_array_equal(two, one)
    assert_array_equal(three, one)


def test_pickles_do_not_hold_the_search_tree():
    nearest = NearestRows(cloud(500), "euclidean")
    small = len(pickle.dumps(nearest))
    expected = nearest.of(cloud(9, seed=1), 3)
    assert len(pickle.dumps(nearest)) == small
    again = pickle.loads(pickle.dumps(nearest)).of(cloud(9, seed=1), 3)
    assert_array_equal(again[1], expected[1])


@pytest.mark.parametrize(
    ("n", "k", "expected", "in_one_column"),
    [
        (6, 2, 3, 3),
        (3, 3, 2, 2),
        (20, 4, 3, 5),
        (400, 40, 4, 8),
        (1797, 10, 8, 16),
        (10**5, 2, 17, 34),
        (10**9, 2, 25, 50),
    ],
)
def test_the_number_of_neighbours_follows_rows_per_cluster(n, k, expected, in_one_column):
    assert auto_neighbors(n, k) == expected
    assert auto_neighbors(n, k, n_features=1) == in_one_column


@pytest.mark.slow
@pytest.mark.parametrize("kernels", [None, "neighbors"])
def test_equal_numbers_far_away_have_no_other_neighbours(kernels):
    # Rows have more neighbours in a single column, and a clump of equal ones more copies.
    rng = np.random.default_rng(0)
    groups = [rng.normal(0, 1, 4500), rng.normal(9, 1, 4500), np.full(400, 60.0)]
    X = np.concatenate(groups)[:, None]
    parameters = {"n_clusters": 3, "random_state": 0, "approximation": None}
    model = KernelPowerKMeans(**parameters)
    if kernels:
        model = MultiKernelPowerKMeans(kernels=kernels, **parameters)
    labels = model.fit_predict(X)
    assert len(set(labels[-400:])) == 1
    assert labels[-1] not in labels[:-400]


@pytest.mark.parametrize("n", [100, 300, pytest.param(3000, marks=pytest.mark.slow)])
def test_clusters_on_a_line_are_as_good_as_those_of_kmeans(n):
    # With half as many neighbours the graph falls apart in one draw of three.
    for seed in range(5):
        y = np.arange(n) % 3
        X = (6.0 * y + np.random.default_rng(seed).standard_normal(n))[:, None]
        means = KMeans(3, n_init=10, random_state=0).fit_predict(X)
        labels = KernelPowerKMeans(3, random_state=0).fit_predict(X)
        assert adjusted_rand_score(y, labels) > adjusted_rand_score(y, means) - 0.03


def test_searches_of_several_threads_leave_filters_of_warnings_alone():
    nearest = NearestRows(np.random.default_rng(0).normal(size=(500, 2)), "euclidean")
    rows = np.random.default_rng(1).normal(size=(200, 2))
    before = list(warnings.filters)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: nearest.of(rows, 5)[1], range(400)))
    assert warnings.filters == before
    assert all(np.array_equal(found[0], other) for other in found)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_rows_are_searched_about_the_middle_of_each_column(dtype):
    X = (cloud(50, 3) * [1.0, 30.0, 0.0] + [1e3, -5.0, 7.0]).astype(dtype)
    origin, scale = origin_and_scale(X)
    placed = (X - origin) / scale
    np.testing.assert_allclose(placed.max(axis=0), -placed.min(axis=0), atol=1e-5)
    # The widest column goes from -1 to 1, in the same unit as the others.
    np.testing.assert_allclose(np.abs(placed[:, 1]).max(), 1, rtol=1e-5)
    np.testing.assert_allclose(
        np.ptp(placed[:, 0]), 2 * np.ptp(X[:, 0]) / np.ptp(X[:, 1]), rtol=1e-4
    )
    assert placed.dtype == dtype
    assert origin_and_scale(np.ones((3, 2), dtype))[1] == 1
    huge = np.finfo(dtype).max * np.array([[-1.0], [1.0]], dtype)
    assert np.isfinite((huge - origin_and_scale(huge)[0]) / origin_and_scale(huge)[1]).all()


def test_without_loops_all_other_edges_stay_in_order_also_those_of_weight_zero():
    places = [0, 2, 1], [1], [2, 0]
    edges = np.array([5, 0, 3, 7, 2, 4], np.float32)
    parts = edges, np.concatenate(places), np.array([0, 3, 4, 6])
    found = without_loops(scipy.sparse.csr_array(parts, (3, 3)))
    assert found.dtype == np.float64
    assert_array_equal(found.indptr, [0, 2, 2, 3])
    assert_array_equal(found.indices, [1, 2, 0])
    assert_array_equal(found.data, [3, 0, 4])
