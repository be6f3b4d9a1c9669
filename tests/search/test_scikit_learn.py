"""Manners of a scikit-learn estimator."""

import pytest
from sklearn.cluster import KMeans
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelmeans import ClusterSearch, KernelPowerKMeans

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("short_searches")]

GRID = {"n_clusters": [2, 3]}
SEARCHES = [
    ClusterSearch(KernelPowerKMeans(kernel="rbf", n_swaps=0), GRID, n_splits=2),
    ClusterSearch(KMeans(n_init=1), GRID, n_splits=2, scoring="stability"),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:n_samples=.* is few for a search")
@parametrize_with_checks(SEARCHES)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)
