"""The search for the number of clusters and the kernel."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from kernelmeans import ClusterSearch, KernelPowerKMeans

X, Y = make_blobs(120, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)
GRID = {"n_clusters": [2, 3, 4, 5]}


def searched(estimator=None, grid=GRID, X=X, n_splits=4, random_state=0, **parameters):
    estimator = KernelPowerKMeans() if estimator is None else estimator
    parameters |= {"n_splits": n_splits, "random_state": random_state}
    return ClusterSearch(estimator, grid, **parameters).fit(X)


@pytest.mark.parametrize("scoring", ["jaccard", "stability", "prediction_strength"])
@pytest.mark.parametrize("estimator", [KernelPowerKMeans(), KMeans(n_init=3)], ids=str)
def test_three_blobs_are_found(estimator, scoring):
    search = searched(estimator, scoring=scoring)
    assert search.best_params_ == {"n_clusters": 3}
    assert adjusted_rand_score(Y, search.labels_) == 1
    assert search.verdict_.startswith("3 clusters: found again in 4 splits of 120 rows")
    np.testing.assert_array_equal(search.predict(X), search.labels_)


def test_there_are_no_clusters_in_noise():
    noise = np.random.default_rng(0).standard_normal((200, 3))
    search = searched(KMeans(n_init=1), X=noise)
    assert search.best_index_ is None
    assert search.best_estimator_ is None
    assert search.best_params_ == {"n_clusters": 1}
    assert search.verdict_.startswith("no clusters that would be found again")
    np.testing.assert_array_equal(search.predict(noise[:7]), np.zeros(7))
    np.testing.assert_array_equal(search.labels_, np.zeros(200))
