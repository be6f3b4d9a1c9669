"""A score for searches of scikit-learn."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, ShuffleSplit

import data
from kernelmeans import KernelPowerKMeans
from kernelmeans.metrics import stability
from kernelmeans.search import stability_scorer

X, Y = make_blobs(120, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)
HALVES = ShuffleSplit(4, test_size=0.5, random_state=0)


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (KernelPowerKMeans(random_state=0), "n_clusters"),
        (KMeans(n_init=3, random_state=0), "n_clusters"),
        (GaussianMixture(random_state=0), "n_components"),
    ],
    ids=str,
)
def test_a_grid_search_finds_the_stable_number_of_clusters(estimator, name):
    search = GridSearchCV(estimator, {name: [2, 3, 4]}, scoring=stability_scorer, cv=HALVES)
    assert search.fit(X).best_params_ == {name: 3}
    assert search.best_score_ == 1


def test_it_is_the_agreement_of_models_of_both_parts():
    model = KMeans(5, n_init=1, random_state=0).fit(X[::2])
    other = clone(model).fit(X[1::2])
    expected = stability(model.predict(X[1::2]), other.labels_)
    assert 0 < expected < 1
    assert stability_scorer(model, X[1::2]) == expected


def test_a_kernel_matrix_is_refused():
    K = data.rms_kernel(X)
    model = KernelPowerKMeans(3, kernel="precomputed").fit(K[:60, :60])
    with pytest.raises(ValueError, match=r"Use kernelmeans\.ClusterSearch"):
        stability_scorer(model, K[60:, :60])


def test_minus_the_cost_chooses_the_most_clusters():
    """What the score of the estimators does, and why it needs another."""
    model = KernelPowerKMeans(kernel="rbf", gamma=0.1, random_state=0)
    search = GridSearchCV(model, {"n_clusters": [2, 3, 8]}, cv=HALVES).fit(X)
    assert search.best_params_ == {"n_clusters": 8}
    assert np.all(np.diff(search.cv_results_["mean_test_score"]) > 0)
