"""Equal rows: digests that find them, and groups that they are by themselves."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from kernelmeans import ClusterSearch, KernelPowerKMeans, MultiKernelPowerKMeans
from kernelmeans.heat.digests import digests, find
from kernelmeans.heat.distinct import DistinctRows


def test_equal_rows_are_found():
    X = np.array([[0.0, 1.0], [2.0, 3.0], [-0.0, 1.0], [2.0, 4.0]])
    known, first = np.unique(digests(X), return_index=True)
    assert len(known) == 3
    assert_array_equal(first[find(known, digests(X))], [0, 1, 0, 3])
    assert_array_equal(find(known, digests(np.array([[2.0, 3.5], [2.0, 3.0 + 1e-15]]))), -1)


def test_sparse_digests_see_values_and_places_only():
    X = scipy.sparse.csr_array(np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]))
    own = digests(X)
    assert own[0] == own[2] != own[1]
    places = ([1.0, 0.0], [1, 2], [0, 2])
    assert digests(scipy.sparse.csr_array(places, shape=(1, 3)))[0] == own[0]


def test_digests_leave_sparse_rows_as_they_are():
    X = scipy.sparse.csr_array(([1.0, 0.0], [1, 2], [0, 2]), shape=(1, 3))
    digests(X)
    assert_array_equal(X.data, [1, 0])
    assert_array_equal(X.indices, [1, 2])
    assert_array_equal(X.indptr, [0, 2])


def with_equal_rows(n_groups=1, times=40, distance=20.0, seed=0):
    """Two clouds, and groups of equal rows at growing distances from both; and the classes."""
    rng = np.random.default_rng(seed)
    places = np.arange(1, n_groups + 1)[:, None] * [0.0, distance]
    X = np.r_[rng.normal(size=(160, 2)), np.repeat(places, times, axis=0)]
    X[:80, 0] += 12
    y = np.repeat(np.arange(2 + n_groups), [80, 80, *[times] * n_groups])
    order = rng.permutation(len(y))
    return X[order], y[order]


def n_copies(X):
    """Nodes for each of the distinct rows, in descending order."""
    _, counts = np.unique(DistinctRows.of(X, None, "euclidean").known, return_counts=True)
    return sorted(counts.tolist(), reverse=True)


@pytest.mark.parametrize(
    "model",
    [
        KernelPowerKMeans(random_state=0),
        KernelPowerKMeans(metric="manhattan", density=0, t="states", random_state=0),
        KernelPowerKMeans(approximation="landmarks", random_state=0),
        MultiKernelPowerKMeans(kernels="neighbors", random_state=0),
    ],
    ids=["default", "manhattan", "landmarks", "several"],
)
@pytest.mark.parametrize("n_groups", [1, 3])
@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array])
def test_equal_rows_far_away_are_a_cluster(model, n_groups, make):
    X, y = with_equal_rows(n_groups)
    X = make(X)
    model.set_params(n_clusters=2 + n_groups).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert model.separation_.max() == 0
    assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("seed", range(5))
def test_as_k_means_would_find_them(seed):
    rng = np.random.default_rng(seed)
    spent = np.where(rng.random((600, 1)) < 0.3, 0, np.exp(rng.normal(5, 1, (600, 3))))
    labels = KernelPowerKMeans(2, random_state=0).fit_predict(np.log1p(spent))
    assert adjusted_rand_score(spent[:, 0] > 0, labels) == 1


def test_new_rows_near_them_join_them():
    X, y = with_equal_rows()
    model = KernelPowerKMeans(3, random_state=0).fit(X)
    assert_array_equal(model.predict([[0.1, 20], [0, 19.0]]), model.labels_[y == 2][:2])


@pytest.mark.slow
def test_a_search_finds_them():
    X, _ = with_equal_rows()
    search = ClusterSearch(KernelPowerKMeans(), {"n_clusters": range(2, 6)}, random_state=0)
    assert search.fit(X).best_params_ == {"n_clusters": 3}


def test_they_are_as_many_nodes_as_rows_up_to_fifty():
    assert n_copies(with_equal_rows(times=40)[0])[:2] == [40, 1]
    assert n_copies(with_equal_rows(times=400)[0])[:2] == [50, 1]
    assert n_copies(with_equal_rows(3)[0])[:4] == [40, 40, 40, 1]


def test_other_equal_rows_are_one_node():
    X, _ = with_equal_rows(times=9)
    assert n_copies(X)[0] == 1
    among_others, _ = with_equal_rows(times=40, distance=1.0)
    assert n_copies(among_others)[0] == 1
    answers = np.random.default_rng(0).integers(0, 2, (400, 4)) * 10.0
    assert n_copies(np.r_[answers, np.random.default_rng(0).normal(size=(12, 4))])[0] == 1


def test_a_few_strays_do_not_matter():
    X, y = with_equal_rows()
    X = np.r_[X, [[0.0, 20.01], [0.02, 20.0], [0.0, 19.9]]]
    labels = KernelPowerKMeans(3, random_state=0).fit_predict(X)
    assert adjusted_rand_score(np.r_[y, 2, 2, 2], labels) == 1


@pytest.mark.parametrize("metric", ["dice", "sokalsneath"])
def test_rows_that_are_not_near_themselves_are_no_group(metric):
    X = np.r_[np.random.default_rng(0).random((40, 12)) < 0.5, np.zeros((40, 12), bool)]
    known = DistinctRows.of(X.astype(float), None, metric).known
    assert len(known) == len(set(known.tolist()))


def test_they_do_not_make_outliers_of_others():
    X = np.r_[np.random.default_rng(0).normal(size=(100, 2)), np.full((40, 2), 20.0)]
    model = KernelPowerKMeans(1, outliers="auto", random_state=0).fit(X)
    assert np.mean(model.labels_[:100] < 0) < 0.05
    assert (model.labels_[100:] < 0).all()


def test_weights_are_no_copies():
    X, y = with_equal_rows()
    once = np.r_[X[y < 2], X[y == 2][:1]]
    weight = np.r_[np.ones(160), 40]
    assert len(DistinctRows.of(once, weight, "euclidean").known) == 161


def test_their_nodes_take_turns():
    X, y = with_equal_rows(times=120)
    distinct = DistinctRows.of(X, None, "euclidean")
    places = distinct.places(X)
    assert_array_equal(distinct.nearest.rows[places], X)
    assert set(np.bincount(places)) == {1, 2, 3}
    assert np.bincount(places[y == 2]).max() == 3


def test_neither_threads_nor_the_order_of_rows_count():
    X, _ = with_equal_rows(3, times=60)
    model = KernelPowerKMeans(5, random_state=0).fit(X)
    order = np.random.default_rng(1).permutation(len(X))
    with threadpool_limits(3):
        again = KernelPowerKMeans(5, random_state=0).fit(X[order])
    assert adjusted_rand_score(again.labels_, model.labels_[order]) == 1
    assert_array_equal(again.separation_, model.separation_)
