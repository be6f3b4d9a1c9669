"""Tables on which searches were wrong, or ended without clusters."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from kernelmeans import ClusterSearch, KernelPowerKMeans
from kernelmeans.search.pieces import pieces_of
from kernelmeans.search.splits import Samples


def customers(seed):
    """Income and spending: a dense middle and four wide corners, in whole numbers."""
    r = np.random.default_rng(seed)
    middle = np.c_[r.integers(39, 71, 80), np.clip(r.normal(50, 6, 80), 34, 61)]
    corners = [
        np.c_[70 + r.gamma(1.1, 15, 39), r.uniform(63, 97, 39)],
        np.c_[70 + r.gamma(1.1, 15, 36), r.uniform(1, 39, 36)],
        np.c_[r.integers(15, 40, 23), r.uniform(3, 40, 23)],
        np.c_[r.integers(15, 40, 22), r.uniform(61, 99, 22)],
    ]
    X = np.vstack([middle, *corners]).round()
    return StandardScaler().fit_transform(X), np.repeat(np.arange(5), [80, 39, 36, 23, 22])


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["heat", "rbf"])
def test_a_dense_middle_and_four_wide_corners(kernel):
    X, y = customers(0)
    search = ClusterSearch(KernelPowerKMeans(kernel=kernel), random_state=0).fit(X)
    assert search.best_params_ == {"n_clusters": 5}
    assert adjusted_rand_score(y, search.labels_) > 0.85


@pytest.mark.slow
def test_a_long_table_has_no_clusters_by_chance():
    """Its rows are a little sparser near the middle, where all halves cut it."""
    X = np.random.default_rng(4).uniform(size=(200, 2)) * [8, 1]
    search = ClusterSearch(KernelPowerKMeans(), {"n_clusters": [2, 3, 4]}, random_state=0).fit(X)
    assert search.results_["mean_stability"][0] > 0.85
    assert search.best_params_ == {"n_clusters": 1}
    X[:, 0] += X[:, 0] > 4
    search = clone(search).fit(X)
    assert adjusted_rand_score(X[:, 0] > 4, search.labels_) == 1


def test_pieces_that_halves_do_not_have_are_none():
    X, _ = customers(0)
    assert set(pieces_of(X)) == {0, 1}
    assert set(Samples(X).pieces) == {0}
    apart = np.concatenate([X, X[:60] + 50])
    assert set(Samples(apart).pieces) > {0, 1}
    np.testing.assert_array_equal(Samples(apart).pieces, pieces_of(apart))


@pytest.mark.slow
def test_two_kernels_on_it():
    X, _ = customers(0)
    grid = {"n_clusters": range(2, 9), "kernel": ["heat", "rbf"]}
    search = ClusterSearch(KernelPowerKMeans(), grid, random_state=0).fit(X)
    assert search.best_params_["n_clusters"] == 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("count", "seed"),
    [
        (lambda rng: np.log1p(rng.poisson(0.8, 1000)), 3),
        (lambda rng: np.log1p(rng.poisson(0.8, 1000)), 4),
        (lambda rng: np.log(rng.geometric(0.4, 1000)), 3),
    ],
    ids=["a pile at zero, stable by chance", "a pile at zero", "a logarithm of orders"],
)
def test_a_count_beside_numbers_makes_no_clusters(count, seed):
    rng = np.random.default_rng(seed)
    X = StandardScaler().fit_transform(np.c_[count(rng), rng.standard_normal((1000, 4))])
    assert ClusterSearch(KernelPowerKMeans(), random_state=0).fit(X).best_index_ is None


@pytest.mark.slow
def test_a_large_group_and_two_small_ones_that_correlate():
    """The time that is just long enough for all rows is too short for most halves."""
    rng, sizes = np.random.default_rng(301), [400, 80, 60]
    means = [[0, 0, 0, 0, 0, 0], [1.8, 1.6, 0.4, 0, 0, 0.3], [0, 0.2, 0, 1.2, 1.5, -0.4]]
    common, own = rng.normal(0, 0.25, (540, 1)), rng.normal(0, 0.35, (540, 6))
    X = StandardScaler().fit_transform(np.repeat(means, sizes, axis=0) + common + own)
    grid = {"n_clusters": [2, 3, 4]}
    search = ClusterSearch(KernelPowerKMeans(), grid, n_splits=5, random_state=0).fit(X)
    assert search.best_params_ == {"n_clusters": 3}
    assert search.best_score_ > 0.8


@pytest.mark.slow
def test_dozens_of_topics():
    X, y = make_blobs(1500, 32, centers=30, cluster_std=2.0, random_state=0)
    search = ClusterSearch(KernelPowerKMeans(), n_splits=6, random_state=0).fit(X)
    assert search.best_params_["n_clusters"] == pytest.approx(30, rel=0.1)
    assert adjusted_rand_score(y, search.labels_) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("n_rows", [6, 12, 30])
def test_few_rows_have_an_answer(n_rows):
    X = np.arange(n_rows)[:, None] % 3 * 10 + np.random.default_rng(0).random((n_rows, 2))
    with pytest.warns(UserWarning, match="few for a search"):
        search = ClusterSearch(KernelPowerKMeans(), random_state=0).fit(X)
    assert search.best_params_["n_clusters"] in (1, 3)
    if n_rows == 30:
        assert search.best_params_["n_clusters"] == 3
