"""Pieces of a table that no near neighbours connect, as clusters of a search."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from kernelmeans import ClusterSearch, KernelPowerKMeans
from kernelmeans.search.comparison import Comparison
from kernelmeans.search.pieces import IN_DEBRIS, clusters_in, pieces_of


def spirals(n, noise=0.3, seed=0):
    """The two arms on the home page."""
    rng = np.random.default_rng(seed)
    angle = np.sqrt(rng.uniform(0.05, 1, n)) * 3 * np.pi
    arm = np.c_[np.cos(angle), np.sin(angle)] * angle[:, None]
    X = np.concatenate([arm, -arm])
    return X + noise * rng.standard_normal(X.shape), np.repeat([0, 1], n)


def test_arms_of_spirals_are_pieces_in_any_order():
    X, y = spirals(500)
    order = np.random.default_rng(0).permutation(len(X))
    for rows in (slice(None), order):
        found, arms = pieces_of(X[rows]), y[rows]
        assert sorted(set(found)) == [0, 1]
        np.testing.assert_array_equal(found == found[0], arms == arms[0])


@pytest.mark.parametrize("n_columns", [1, 2, 5, 20])
def test_normal_rows_are_one_piece(n_columns):
    X = np.random.default_rng(3).standard_normal((400, n_columns))
    assert pieces_of(X).max() == 0


def test_few_rows_far_away_are_debris():
    X = np.random.default_rng(0).standard_normal((400, 2))
    far = X[:10] * 0.01 + 50
    found = pieces_of(np.concatenate([X, far]))
    assert set(found[:400]) <= {0, IN_DEBRIS}
    assert set(found[400:]) == {IN_DEBRIS}
    assert set(pieces_of(np.concatenate([X, X[:40] + 50]))) >= {0, 1}


def test_of_very_many_pieces_none_is_debris():
    centers = 100 * np.random.default_rng(0).standard_normal((50, 5))
    X, y = make_blobs(2000, centers=centers, random_state=0)
    found = pieces_of(X)
    assert sorted(set(found)) == list(range(50))
    assert adjusted_rand_score(y, found) == 1


def test_equal_rows_are_one_node():
    X = np.random.default_rng(0).integers(0, 2, (300, 6)).astype(float)
    assert set(pieces_of(X)) == {0}
    assert pieces_of(np.ones((5, 2))).tolist() == [0] * 5


@pytest.mark.parametrize(
    ("pieces", "labels", "counts"),
    [
        ([0, 0, 0, 1, 1], [1, 1, 1, 0, 0], [1, 1]),
        ([0, 0, 0, 1, 1], [1, 2, 2, 0, 0], [2, 1]),
        ([0, 0, 0, 1, 1, -1], [1, 2, 2, 0, 0, 0], [2, 1]),
        ([0, 0, 0, 1, 1], [1, 2, -1, 0, 0], [2, 1]),
        ([0, 0, 0, 1, 1], [0, 0, 0, 0, 1], None),
        ([0, 0, 0, 1, 1, -1], [0, 0, 0, 1, 1, 2], None),
        ([0, 0, 0, 1, 1], [0, 0, 0, -1, -1], None),
        ([0, 0, 0], [0, 1, 1], None),
    ],
)
def test_clusters_in_pieces(pieces, labels, counts):
    found = clusters_in(np.array(pieces), np.array(labels))
    assert (None if found is None else found.tolist()) == counts


def searched(X, most=4, **parameters):
    grid = {"n_clusters": range(2, most + 1)}
    model = KernelPowerKMeans(random_state=0, **parameters)
    return ClusterSearch(model, grid, n_splits=4, random_state=0).fit(X)


@pytest.mark.slow
@pytest.mark.usefixtures("short_searches")
@pytest.mark.parametrize(("density", "as_stable"), [(0, True), ("auto", False)])
def test_pieces_are_found_though_data_without_clusters_are_as_stable(density, as_stable):
    X, y = spirals(500)
    search = searched(X, density=density)
    assert search.best_params_ == {"n_clusters": 2}
    assert search.results_["separate"].tolist() == [True, False, False]
    np.testing.assert_array_equal(search.labels_ == search.labels_[0], y == y[0])
    said = ", but no near neighbours connect these clusters" in search.verdict_
    assert said == as_stable


@pytest.mark.usefixtures("short_searches")
@pytest.mark.parametrize(
    ("length", "gap", "n_clusters"),
    [pytest.param(1, 6, 3, id="two groups"), pytest.param(4, 0, 2, id="one long group")],
)
def test_a_piece_is_divided_if_its_parts_are_more_stable_than_data_of_its_shape(
    length, gap, n_clusters
):
    rng = np.random.default_rng(0)
    piece = rng.standard_normal((300, 2)) * [length, 1] + np.outer(np.arange(300) % 2, [gap, 0])
    X = np.concatenate([piece, rng.normal([0, 20], 1, (300, 2))])
    assert pieces_of(X).max() == 1
    search = searched(X, most=3, kernel="linear")
    # Beside all rows, even halves of a long group are more stable than data without clusters.
    assert search.results_["valid"].all()
    assert search.best_params_ == {"n_clusters": n_clusters}
    assert 0 < search.results_["mean_reference"][1] < 1


@pytest.mark.usefixtures("short_searches")
def test_candidates_that_divide_a_piece_alike_share_its_comparison(monkeypatch):
    divided = []

    def counted(self, estimator, part):
        divided.append((part.n_rows, estimator.n_clusters))
        return divider(self, estimator, part)

    divider = Comparison._divider
    monkeypatch.setattr(Comparison, "_divider", counted)
    rng = np.random.default_rng(0)
    two = rng.standard_normal((300, 2)) + np.outer(np.arange(300) % 2, [0, 8])
    # Halves of a long group are found again, as they are in data without clusters.
    long = rng.standard_normal((200, 2)) * [4, 1] + [30, 0]
    search = searched(np.concatenate([two, long]), kernel="linear")
    assert search.best_params_ == {"n_clusters": 3}
    assert np.isfinite(search.results_["mean_reference"][1:]).all()
    assert sorted(divided) == [(200, 2), (300, 2)]
