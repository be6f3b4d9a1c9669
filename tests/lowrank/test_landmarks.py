import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.datasets import make_blobs
from sklearn.metrics.pairwise import euclidean_distances
from threadpoolctl import threadpool_limits

from kernelmeans.lowrank.landmarks import _means, kmeans_centroids, kmeans_plusplus_points


def inertia(X, centroids, weight):
    return weight @ (euclidean_distances(X, centroids).min(axis=1) ** 2)


@pytest.fixture(name="X")
def normal_rows(rng):
    return rng.standard_normal((600, 5))


def test_centroids_cost_little_more_than_those_of_scikit_learn(X, rng):
    weight = rng.uniform(0, 2, len(X))
    theirs = KMeans(40, n_init=1, random_state=0).fit(X, sample_weight=weight).inertia_

    def mean_cost(landmarks):
        return np.mean([inertia(X, landmarks(seed), weight) for seed in range(8)]) / theirs

    assert mean_cost(lambda seed: kmeans_centroids(X, 40, weight, seed)) < 1.12
    assert mean_cost(lambda seed: X[kmeans_plusplus_points(X, 40, weight, seed)]) > 1.3


def test_as_many_centroids_as_clusters_are_their_means():
    centres = 100 * np.arange(6)[:, None] * [1, -2]
    X, labels = make_blobs([20000, 50, 300, 90, 60, 200], centers=centres, random_state=0)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(X))
    got = kmeans_centroids(X, 6, weight, seed=0)
    expected = [np.average(X[labels == j], axis=0, weights=weight[labels == j]) for j in range(6)]
    np.testing.assert_allclose(got[got[:, 0].argsort()], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("function", [kmeans_centroids, kmeans_plusplus_points])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_number_of_threads_does_not_change_a_bit(function, dtype):
    X = np.random.default_rng(0).standard_normal((5000, 30)).astype(dtype)
    weight = np.random.default_rng(1).uniform(0, 2, len(X))
    answers = []
    for threads in (1, 2, 5):
        with threadpool_limits(threads):
            answers.append(function(X, 50, weight, seed=0))
    assert answers[0].tobytes() == answers[1].tobytes() == answers[2].tobytes()
    assert answers[0].tobytes() != function(X, 50, weight, seed=1).tobytes()


def test_float32_stays_and_agrees_with_float64_far_from_the_origin(X):
    X = X.astype(np.float32) + np.float32(20000)
    weight = np.ones(len(X))
    got = kmeans_centroids(X, 20, weight, seed=0)
    assert got.dtype == np.float32
    exact = inertia(X.astype(float), kmeans_centroids(X.astype(float), 20, weight, seed=0), weight)
    assert inertia(X.astype(float), got.astype(float), weight) < 1.05 * exact


def test_a_cluster_that_lost_its_rows_is_left_out():
    got = _means(np.array([[2.0], [4.0], [9.0]]), np.array([1.0, 3.0, 1.0]), np.array([2, 2, 0]), 3)
    np.testing.assert_array_equal(got, [[9.0], [3.5]])


def test_rows_without_weight_pull_no_centroid(X, rng):
    weight = rng.integers(0, 2, len(X)).astype(float)
    with_outliers = np.where(weight[:, None] > 0, X, 1e6)
    assert np.abs(kmeans_centroids(with_outliers, 30, weight, seed=0)).max() < 10


def test_tiny_and_huge_weights_are_relative(X, rng):
    weight = rng.uniform(1, 2, len(X))
    X = X.astype(np.float32)
    expected = kmeans_centroids(X, 30, weight, seed=0)
    for factor in (2.0**-600, 2.0**600):
        np.testing.assert_array_equal(kmeans_centroids(X, 30, factor * weight, seed=0), expected)


@given(
    seed=st.integers(0, 10**6),
    distinct=st.integers(1, 12),
    copies=st.integers(1, 30),
    count=st.integers(1, 25),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_few_distinct_rows_give_few_landmarks(seed, distinct, copies, count, dtype):
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.permutation(50)[:distinct, None], copies, axis=0).astype(dtype)
    weight = rng.choice([1.0, 3.0], len(X))
    expected = min(distinct, count)
    centroids = kmeans_centroids(X, count, weight, seed)
    assert centroids.shape == (expected, 1)
    assert len(np.unique(X[kmeans_plusplus_points(X, count, weight, seed)])) == expected
    if count >= distinct:
        np.testing.assert_allclose(np.unique(centroids), np.unique(X), rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances_of_copies_are_no_roundings(dtype):
    rows = np.random.default_rng(0).normal(5, 1, (6, 9)).astype(dtype)
    X = np.repeat(rows, 20, axis=0)
    for seed in range(5):
        points = kmeans_plusplus_points(X, 20, np.ones(len(X)), seed)
        np.testing.assert_array_equal(np.sort(points // 20), range(6))


@pytest.mark.parametrize("sparse", [False, True])
def test_points_are_different_rows_with_weight(X, sparse):
    weight = np.random.default_rng(2).integers(0, 2, len(X)).astype(float)
    X = np.round(X * (X > 1), 1)
    rows = scipy.sparse.csr_matrix(X) if sparse else X
    got = kmeans_plusplus_points(rows, len(X), weight, seed=0)
    assert weight[got].all()
    distinct = np.unique(X[weight > 0], axis=0)
    assert len(got) == len(np.unique(X[got], axis=0)) == len(distinct)


def test_a_row_without_weight_is_not_drawn_where_no_other_is_left():
    X = np.array([[0.0], [5.0], [5.0]])
    for seed in range(10):
        got = kmeans_plusplus_points(X, 3, np.array([0.0, 1.0, 1.0]), seed)
        assert X[got].tolist() == [[5.0]]


def test_few_rows_with_weight_among_many_without_are_all_found(rng):
    X, weight = rng.standard_normal((9000, 2)), np.zeros(9000)
    weight[::100] = 1
    got = kmeans_plusplus_points(X, 100, weight, seed=0)
    np.testing.assert_array_equal(np.sort(got), np.arange(0, 9000, 100))


def test_sparse_and_dense_rows_give_the_same_points(X):
    X = X * (X > 0.5)
    weight = np.ones(len(X))
    np.testing.assert_array_equal(
        kmeans_plusplus_points(scipy.sparse.csr_matrix(X), 30, weight, seed=4),
        kmeans_plusplus_points(X, 30, weight, seed=4),
    )


def test_points_spread_as_those_of_scikit_learn(X):
    weight = np.random.default_rng(2).uniform(0, 2, len(X))

    def mean_inertia(choose):
        return np.mean([inertia(X, X[choose(seed)], weight) for seed in range(20)])

    ours = mean_inertia(lambda seed: kmeans_plusplus_points(X, 50, weight, seed))
    theirs = mean_inertia(
        lambda seed: kmeans_plusplus(
            X, 50, sample_weight=weight, random_state=seed, n_local_trials=1
        )[1]
    )
    assert 0.97 < ours / theirs < 1.03


@pytest.mark.parametrize("sparse", [False, True])
def test_many_points_that_are_drawn_together_spread_as_well(rng, monkeypatch, sparse):
    X = rng.standard_normal((6000, 3))
    rows = scipy.sparse.csr_array(X) if sparse else X
    weight = rng.uniform(0.5, 2, 6000)
    together = kmeans_plusplus_points(rows, 1200, weight, seed=0)
    monkeypatch.setattr("kernelmeans.lowrank.landmarks.MOST_SINGLY", 1200)
    singly = kmeans_plusplus_points(rows, 1200, weight, seed=0)
    assert len(np.unique(together)) == len(together) == 1200
    assert 0.97 < inertia(X, X[together], weight) / inertia(X, X[singly], weight) < 1.06


def test_many_points_of_few_distinct_rows_are_these():
    X = np.repeat(np.arange(1100.0)[:, None], 2, axis=0)
    points = kmeans_plusplus_points(X, 1500, np.ones(2200), seed=0)
    assert sorted(X[points, 0]) == list(range(1100))


def test_the_second_point_is_drawn_by_weight_times_squared_distance():
    X, weight = np.array([[0.0], [1.0], [3.0]]), np.array([1.0, 4.0, 2.0])
    expected = np.zeros((3, 3))
    for i in range(3):
        potential = weight * (X[:, 0] - X[i, 0]) ** 2
        expected[i] = weight[i] / weight.sum() * potential / potential.sum()
    draws = 1500
    counts = np.zeros((3, 3))
    for seed in range(draws):
        counts[tuple(kmeans_plusplus_points(X, 2, weight, seed))] += 1
    error = np.abs(counts / draws - expected)
    assert (error <= 4.5 * np.sqrt(expected * (1 - expected) / draws)).all()


@pytest.mark.parametrize("scale", [1e-150, 1e150, 1e155])
def test_points_of_large_and_small_rows_are_the_same(scale):
    X = np.random.default_rng(0).standard_normal((200, 3))
    found = [
        kmeans_plusplus_points(own * X, 20, own * np.ones(200), seed=0) for own in (1, 2, scale)
    ]
    np.testing.assert_array_equal(found[1], found[0])
    np.testing.assert_array_equal(found[2], found[0])


def test_denormal_sparse_rows_are_as_others():
    X = scipy.sparse.csr_array(np.random.default_rng(0).integers(0, 3, (30, 4)).astype(float))
    weight = np.ones(30)
    found = [kmeans_plusplus_points(unit * X, 5, weight, seed=0) for unit in (1, 2.0**-1070)]
    np.testing.assert_array_equal(found[1], found[0])
