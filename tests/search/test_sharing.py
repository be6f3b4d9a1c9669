"""Candidates that follow each other share searches for neighbours, which changes no result."""

from contextlib import nullcontext

import numpy as np
import pytest
import scipy.sparse
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from kernelmeans import ClusterSearch, KernelPowerKMeans, MultiKernelPowerKMeans
from kernelmeans._memory import remembered, remembering
from kernelmeans.estimators.inputs import Input
from kernelmeans.heat import digests, neighbors
from kernelmeans.heat.distinct import DistinctRows
from kernelmeans.search import candidates

X, _ = make_blobs(120, 3, centers=4, cluster_std=2.0, random_state=0)
# Rows at equal distance, of which another search may find others.
X = X.round()
#: With so many neighbours the graph of a half is in one piece.
MODEL = KernelPowerKMeans(n_neighbors=12)


def searched(model=MODEL, grid=None, **parameters):
    grid = {"n_clusters": [3, 4, 6]} if grid is None else grid
    parameters = {"n_splits": 2, "random_state": 0, "scoring": "prediction_strength"} | parameters
    return ClusterSearch(model, grid, **parameters).fit(X)


def assert_same(one, other):
    for name in ("mean_stability", "min_jaccard", "inertia", "neighbor_consistency"):
        np.testing.assert_array_equal(one.results_[name], other.results_[name])
    np.testing.assert_array_equal(one.labels_by_candidate_, other.labels_by_candidate_)


@pytest.fixture
def alone(monkeypatch):
    """A search without sharing."""

    def search(*args, **parameters):
        with monkeypatch.context() as patch:
            patch.setattr(candidates, "remembering", nullcontext)
            return searched(*args, **parameters)

    return search


@pytest.fixture
def searches(monkeypatch):
    """The numbers of neighbours that were looked for in a graph."""
    counts, find = [], neighbors.NearestRows._find_near

    def counted(self, n_neighbors, end):
        counts.append(n_neighbors)
        return find(self, n_neighbors, end)

    monkeypatch.setattr(neighbors.NearestRows, "_find_near", counted)
    return counts


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "name", "per_half"),
    [
        (MODEL, "n_clusters", 1),
        # Its steps give equal arrays, not the same one.
        (make_pipeline(PCA(2), MODEL), "kernelpowerkmeans__n_clusters", 1),
        # 1 + log2(60 / k) is about 5, 5, 4.
        (KernelPowerKMeans(), "n_clusters", None),
        (MultiKernelPowerKMeans(kernels="neighbors"), "n_clusters", None),
    ],
    ids=["heat", "pipeline", "auto", "family"],
)
def test_numbers_of_clusters_share_neighbors(model, name, per_half, searches, alone):
    grid = {name: [3, 4, 6]}
    together = searched(model, grid)
    few = len(searches)
    searches.clear()
    assert_same(together, alone(model, grid))
    assert few < len(searches)
    if per_half is not None:
        # All rows, halves of two splits, and the fit of the choice.
        assert few == 1 + 2 * 2 * per_half + (together.best_index_ is not None)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_parallel_tasks_of_several_candidates(backend, alone, processes):
    expected = alone(n_splits=3)
    with parallel_config(backend=backend, n_jobs=2):
        assert_same(searched(n_splits=3), expected)
    assert processes


def test_candidates_look_for_equal_rows_once(monkeypatch):
    sizes, compute = [], digests._digests

    def counted(rows, zeros_count):
        sizes.append(rows.shape[0])
        return compute(rows, zeros_count)

    monkeypatch.setattr(digests, "_digests", counted)
    searched(KernelPowerKMeans(), {"n_clusters": [4, 5, 6, 7]})
    # Two splits have four halves, whose models predict all rows. Before, copies are looked for.
    assert (sizes.count(60), sizes.count(120)) == (4, 6)


def test_fits_to_all_rows_are_those_of_the_estimator():
    found = searched(KernelPowerKMeans(random_state=0), {"n_clusters": [2, 5]})
    for n_clusters, labels in zip((2, 5), found.labels_by_candidate_, strict=True):
        model = KernelPowerKMeans(n_clusters, n_swaps=candidates.SWAPS, random_state=0).fit(X)
        np.testing.assert_array_equal(labels, model.labels_)


@pytest.mark.slow
@pytest.mark.parametrize("named", [True, False], ids=["equal steps", "functions without a name"])
def test_numbers_of_clusters_share_the_steps_before(named, alone, monkeypatch):
    fits, fit = [], PCA.fit_transform

    def counted(self, X, y=None):
        fits.append(self.n_components)
        return fit(self, X, y)

    monkeypatch.setattr(PCA, "fit_transform", counted)
    first = PCA(2) if named else FunctionTransformer(lambda X: X)
    model = make_pipeline(first, PCA(3 - named), StandardScaler(), MODEL)
    grid = {"kernelpowerkmeans__n_clusters": [3, 4, 6]}
    together = searched(model, grid)
    few = len(fits)
    fits.clear()
    assert_same(together, alone(model, grid))
    refit = (1 + named) * (together.best_index_ is not None)
    assert len(fits) == (1 + named) * 3 * 5 + refit
    assert few == (2 * 5 + refit if named else len(fits))


def test_other_steps_are_fitted_anew(alone):
    # The scaler writes into the numbers of the step before.
    model = make_pipeline(PCA(2), StandardScaler(copy=False), MODEL)
    grid = {"standardscaler__with_std": [True, False], "kernelpowerkmeans__n_clusters": [3, 4]}
    assert_same(searched(model, grid), alone(model, grid))


def test_what_is_remembered():
    asked = []

    def compute(name):
        return remembered(lambda: asked.append(name) or name, lambda: (name, np.arange(3)))

    assert [compute("a"), compute("a")] == ["a", "a"]
    assert asked == ["a", "a"]  # outside of a context nothing is
    asked.clear()
    with remembering({}) as first:
        assert [compute("a"), compute("a"), compute("b")] == ["a", "a", "b"]
    with remembering(first) as second:
        assert compute("a") == "a"
    assert asked == ["a", "b"]
    with remembering(second):
        compute("a")
        compute("b")  # not needed by the second, and so forgotten
    assert asked == ["a", "b", "b"]


@pytest.mark.slow
def test_only_the_fit_of_the_choice_looks_at_borders(monkeypatch):
    looks, borders = [], Input.borders

    def counted(*given):
        looks.append(given)
        return borders(*given)

    monkeypatch.setattr(Input, "borders", counted)
    found = searched(scoring="stability")
    assert len(looks) == 1
    assert found.best_estimator_.tree_ is not None
    assert len(found.best_estimator_.separation_) == found.best_params_["n_clusters"]


class Cut(ClusterMixin, BaseEstimator):
    """Clusters of clusters, as users may write them."""

    def __init__(self, n_clusters=2):
        self.n_clusters = n_clusters

    def fit(self, X, y=None):
        self.model_ = KernelPowerKMeans(6, random_state=0).fit(X)
        self.labels_ = self.predict(X)
        return self

    def predict(self, X):
        return self.model_.tree_.cut(self.n_clusters)[self.model_.predict(X)]


def test_estimators_of_users_may_look_at_borders():
    found = searched(Cut(), {"n_clusters": [2, 3]}, scoring="stability")
    assert found.best_params_["n_clusters"] in (2, 3)


def test_candidates_with_other_columns_do_not_share_sparse_rows():
    rows = scipy.sparse.csr_array(X[:, :2])
    wider = scipy.sparse.csr_array((rows.data, rows.indices, rows.indptr), (len(X), 3))
    with remembering({}) as first:
        DistinctRows.of(rows, None, "euclidean")
    with remembering(first):
        assert DistinctRows.of(wider, None, "euclidean").nearest.rows.shape[1] == 3
