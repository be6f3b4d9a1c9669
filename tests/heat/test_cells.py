"""Neighbours by cells, beside those of scikit-learn among all pairs."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from kernelmeans.heat import cells, neighbors
from kernelmeans.heat.cells import Cells
from kernelmeans.heat.neighbors import NearestRows, are_sought_in_cells

N, P, COUNT = 6000, 24, 10


def blobs(n=N, dtype=np.float64):
    # Few directions, as real data have.
    X, _ = make_blobs(n, 5, centers=12, cluster_std=3.0, random_state=0)
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((P, P)))[0][:5]
    noise = 0.05 * np.random.default_rng(0).standard_normal((n, P))
    return (X @ turn + noise).astype(dtype)


def cells_of(X):
    return Cells(lambda indices: X[indices], len(X))


def true(X, Q, count=COUNT):
    return NearestNeighbors(n_neighbors=count, algorithm="brute").fit(X).kneighbors(Q)


def recall_of(found, expected):
    return (
        np.mean([len(np.intersect1d(*each)) for each in zip(found, expected, strict=True)])
        / (expected.shape[1])
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_most_neighbours_are_the_true_ones(dtype):
    X = blobs(dtype=dtype)
    distances, found, last = cells_of(X).neighbors(COUNT)
    expected_distances, expected = true(X, X)
    assert recall_of(found, expected) >= 0.88
    # Each distance is that of the row that was found, which is never nearer than the true one.
    apart = np.linalg.norm(X[:, None] - X[found], axis=2)
    tolerance = 1e-3 if dtype == np.float32 else 1e-5
    np.testing.assert_allclose(distances, apart, atol=tolerance)
    assert (distances >= expected_distances - tolerance).all()
    assert (found[:, 0] == np.arange(N)).all()
    assert (np.diff(distances, axis=1) >= 0).all()
    np.testing.assert_array_equal(last, distances[:, -1])


@pytest.mark.slow
def test_the_recall_is_estimated():
    X = blobs(20_000)
    sought = cells_of(X)
    _, found, _ = sought.neighbors(COUNT)
    # 2304 neighbours of 256 rows. Each row itself is not one of them.
    known = true(X, X)[1]
    assert abs(sought.recall(COUNT) - recall_of(found[:, 1:], known[:, 1:])) < 0.03


@pytest.mark.slow
def test_enough_cells_are_searched_for_a_row_farther_away():
    X = blobs(20_000)
    sought, end = cells_of(X), 80
    distances, found, last = sought.neighbors(COUNT, end)
    expected, known = true(X, X, end)
    ratio = last / expected[:, -1]
    assert (ratio > 1 - 1e-5).all()
    assert ratio.mean() < 1.03
    assert distances.shape == (len(X), COUNT)
    # The nearest rows are found more often than where they are sought alone.
    recall = recall_of(found[:, 1:], known[:, 1:COUNT])
    assert abs(sought.recall(COUNT, end) - recall) < 0.03
    assert sought.recall(COUNT, end) > sought.recall(COUNT)


def test_no_more_than_so_many_cells_are_searched(monkeypatch):
    monkeypatch.setattr(cells, "MOST_SEARCHED", 5)
    X = np.random.default_rng(0).standard_normal((N, 60)).astype(np.float32)
    found = cells_of(X)
    # Rows without clusters have their neighbours everywhere.
    assert found.recall(COUNT) < 0.6
    others = found.neighbors(COUNT)[1][:, 1:]
    assert abs(found.recall(COUNT) - recall_of(others, true(X, X)[1][:, 1:])) < 0.05


def test_new_rows_find_what_they_would_alone():
    X, Q = np.split(blobs(N + 700), [N])
    sought = cells_of(X)
    _, found = sought.kneighbors(Q, COUNT)
    assert recall_of(found, true(X, Q)[1]) >= 0.85
    alone = [sought.kneighbors(row[None], COUNT)[1][0] for row in Q[:20]]
    np.testing.assert_array_equal(found[:20], alone)


def test_cells_with_too_few_rows_are_not_enough(monkeypatch):
    monkeypatch.setattr(cells, "MOST_SEARCHED", 1)
    # Most of the far rows have cells of their own.
    X = np.vstack([blobs(3000), 1e4 * np.eye(P)])
    distances, _, _ = cells_of(X).neighbors(COUNT)
    assert np.isfinite(distances).all()
    np.testing.assert_allclose(distances[-P:], true(X, X[-P:])[0], rtol=1e-3)


def test_distances_that_overflow_stay_infinite():
    X = blobs(2000, np.float32)
    distances, _ = cells_of(X).kneighbors(np.full((1, P), 1e30, np.float32), COUNT)
    assert np.isinf(distances).all() or (distances >= np.finfo(np.float32).max).all()


def test_a_small_cell_alone_is_no_surroundings(monkeypatch):
    monkeypatch.setattr(cells, "MOST_SEARCHED", 1)
    clump = 1e-3 * np.random.default_rng(0).standard_normal((20, P))
    X = np.vstack([blobs(3000), blobs(3000)[:1] + 30 + clump])
    distances, _, last = cells_of(X).neighbors(COUNT, 60)
    assert distances[-20:].max() < 0.1
    np.testing.assert_allclose(last[-20:], true(X, X[-20:], 60)[0][:, -1], rtol=0.1)


@pytest.mark.parametrize("threads", [1, 4])
def test_threads_change_nothing(threads):
    X = np.round(blobs(), 1)
    with threadpool_limits(threads):
        found = cells_of(X).neighbors(COUNT)
    for one, other in zip(found, cells_of(X).neighbors(COUNT), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "correlation"])
def test_rows_are_compared_as_the_metric_says(metric, monkeypatch):
    X, new = np.split(blobs(N + 50) + 3, [N])
    exact = NearestRows(X, metric)
    monkeypatch.setattr(neighbors, "ALL_PAIRS", 0)
    monkeypatch.setattr(neighbors, "FEW_ROWS", 0)
    nearest = NearestRows(X, metric)
    assert nearest.by_cells
    assert not exact.by_cells
    assert recall_of(nearest.others(COUNT), exact.others(COUNT)) >= 0.85
    ratio = nearest.surroundings(60, COUNT) / exact.surroundings(60, COUNT)
    assert np.median(ratio) / ratio.min() < 1.02
    assert (ratio < 1.1 * np.median(ratio)).mean() > 0.9
    assert exact.recall == 1
    assert 0.85 < nearest.recall <= 1
    assert recall_of(nearest.of(new, COUNT)[1], exact.of(new, COUNT)[1]) >= 0.85


def test_more_columns_than_rows():
    X = np.hstack([blobs(400)] * 200)
    _, found, _ = cells_of(X).neighbors(COUNT)
    assert (found[:, 0] == np.arange(400)).all()
    assert recall_of(found, true(X, X)[1]) > 0.85


def test_where_cells_are_used(monkeypatch):
    monkeypatch.setattr(neighbors, "ALL_PAIRS", 0)
    monkeypatch.setattr(neighbors, "FEW_ROWS", 0)
    X = blobs(100)
    assert are_sought_in_cells(X, "euclidean")
    # Trees are fast in few columns, and means stand for no rows by other metrics.
    assert not are_sought_in_cells(X[:, :4], "euclidean")
    assert not are_sought_in_cells(X, "manhattan")
    monkeypatch.undo()
    assert not are_sought_in_cells(X, "euclidean")
