"""Costs and silhouettes of given labels in the feature space of fitted estimators."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.metrics import silhouette_samples
from sklearn.neighbors import KNeighborsTransformer, kneighbors_graph
from sklearn.utils import check_random_state

import data
import oracle
from backends import over_backends
from kernelmeans import KernelKMeans, KernelPowerKMeans, MultiKernelPowerKMeans, PowerKMeans
from kernelmeans.baselines import MKKM
from kernelmeans.metrics import kernel_inertia, kernel_silhouette_samples
from kernelmeans.rows import open_rows

X = data.blobs(120, 4, 3, spread=1.5)[0]
WEIGHT = np.random.default_rng(0).uniform(0.1, 3, 120)
LABELS = np.random.default_rng(1).integers(0, 5, 120)
K = oracle.rbf(X, X, 0.1)
STACK = np.stack([K, X @ X.T])
VIEWS = [("rbf", [0, 1]), ({"kernel": "poly", "degree": 2}, [1, 2, 3]), "linear"]


def touching():
    return (kneighbors_graph(X, 8) + kneighbors_graph(X, 8).T).tocsr()


def near():
    return KNeighborsTransformer(n_neighbors=15).fit_transform(X)


def overlap(A, B):
    """A semi-definite kernel of the user."""
    return np.asarray((A @ B.T + 20) ** 2)


#: Estimators, and the X that they are fitted to.
FITS = {
    "rbf": lambda: (KernelPowerKMeans(3, kernel="rbf"), X),
    "cosine": lambda: (KernelKMeans(3, kernel="cosine"), X),
    "laplacian, recomputed": lambda: (
        KernelPowerKMeans(3, kernel="laplacian", cache_kernel=False),
        X,
    ),
    "callable": lambda: (KernelPowerKMeans(3, kernel=overlap), X),
    "linear": lambda: (PowerKMeans(3), X + 1000),
    "sparse": lambda: (KernelPowerKMeans(3, kernel="linear"), scipy.sparse.csr_array(abs(X))),
    "heat": lambda: (KernelPowerKMeans(3, kernel="heat"), X),
    "anchors": lambda: (
        KernelPowerKMeans(3, kernel="heat", approximation="landmarks", n_components=30),
        X,
    ),
    "graph": lambda: (KernelPowerKMeans(3, kernel="graph"), touching()),
    "distances": lambda: (KernelPowerKMeans(3, kernel="heat", metric="precomputed"), near()),
    "precomputed": lambda: (KernelPowerKMeans(3, kernel="precomputed"), K),
    "views": lambda: (MultiKernelPowerKMeans(3, kernels=VIEWS), X),
    "neighbors": lambda: (MultiKernelPowerKMeans(3, kernels="neighbors"), X),
    "normalized": lambda: (MultiKernelPowerKMeans(3, kernels=VIEWS, kernel_scaling="cosine"), X),
    "stack": lambda: (
        MultiKernelPowerKMeans(3, kernels="precomputed", kernel_scaling="min-max"),
        STACK,
    ),
    "squared weights": lambda: (MKKM(3, kernels=VIEWS), X),
}


def fitted(name, sample_weight=None):
    estimator, rows = FITS[name]()
    return estimator.set_params(random_state=0).fit(rows, sample_weight=sample_weight), rows


@pytest.mark.parametrize("name", FITS)
def test_own_labels_cost_the_inertia(name):
    for weight in (None, WEIGHT):
        model, rows = fitted(name, weight)
        found = kernel_inertia(model, rows, model.labels_, weight)
        assert found == pytest.approx(model.inertia_, rel=1e-9)


def test_any_labels_cost_what_the_kernel_matrix_says():
    model, _ = fitted("rbf", WEIGHT)
    matrix = model.kernel_(X, X)
    expected = oracle.hard_cost(matrix, LABELS, WEIGHT)
    assert kernel_inertia(model, X, LABELS, WEIGHT) == pytest.approx(expected, rel=1e-12)
    names = np.array(list("vwxyz"))[LABELS]
    assert kernel_inertia(model, X, names, WEIGHT) == pytest.approx(expected, rel=1e-12)
    combined, _ = fitted("views")
    expected = oracle.hard_cost(combined.kernel_(X, X), LABELS)
    assert kernel_inertia(combined, X, LABELS) == pytest.approx(expected, rel=1e-12)


def test_a_linear_kernel_costs_what_kmeans_costs():
    model = KMeans(4, n_init=1, random_state=0).fit(X)
    found = kernel_inertia(PowerKMeans(2, random_state=0).fit(X), X, model.labels_)
    assert found == pytest.approx(model.inertia_, rel=1e-12)


def test_low_rank_costs_lie_within_the_bounds():
    given = {"kernel": "laplacian", "n_components": 40, "random_state": 0}
    for method in ("landmarks", "rpcholesky"):
        model = KernelPowerKMeans(3, approximation=method, **given).fit(X, sample_weight=WEIGHT)
        low, high = model.inertia_bounds_
        assert low < high
        assert low <= kernel_inertia(model, X, model.labels_, WEIGHT) <= high


@pytest.mark.parametrize("name", ["linear", "sparse", "heat", "graph", "neighbors"])
def test_kernels_with_features_need_no_kernel_rows(name, monkeypatch):
    model, rows = fitted(name)
    monkeypatch.delattr("kernelmeans.metrics.feature_space.GramSpace")
    assert kernel_inertia(model, rows, model.labels_) == pytest.approx(model.inertia_, rel=1e-9)


def test_rows_that_the_fit_has_not_seen():
    model, _ = fitted("rbf")
    new = data.cloud(50, 4)
    labels = LABELS[:50]
    expected = oracle.hard_cost(model.kernel_(new, new), labels)
    assert kernel_inertia(model, new, labels) == pytest.approx(expected, rel=1e-12)


def test_several_blocks_of_rows():
    # Blocks have at least 400 rows.
    rows = data.cloud(2500, 2)
    labels = check_random_state(0).randint(7, size=2500)
    model = KernelKMeans(2, kernel="rbf", random_state=0).fit(rows[:100])
    expected = oracle.hard_cost(model.kernel_(rows, rows), labels)
    assert kernel_inertia(model, rows, labels) == pytest.approx(expected, rel=1e-11)
    model = PowerKMeans(2, random_state=0).fit(rows[:100])
    expected = oracle.hard_cost(rows @ rows.T, labels)
    assert kernel_inertia(model, rows, labels) == pytest.approx(expected, rel=1e-11)


def test_weights_that_overflow_are_refused():
    model = KernelPowerKMeans(2, kernel="rbf", random_state=0).fit(X.astype("f"))
    with pytest.raises(ValueError, match="sample_weight contains infinity or a value too large"):
        kernel_inertia(model, X, model.labels_, np.full(len(X), 1e100))


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("kernel", ["poly", "linear"])
def test_norms_and_weights_whose_products_overflow_in_float32(kernel, form):
    weight = 1e16 * WEIGHT
    rows = X * {"poly": 1e3, "linear": 1e11}[kernel]
    found = {}
    for dtype in ("f", "d"):
        given = form(rows.astype(dtype))
        model = KernelKMeans(2, kernel=kernel, random_state=0).fit(given)
        found[dtype] = kernel_inertia(model, given, LABELS, weight)
    assert found["d"] > 3.5e38
    assert found["f"] == pytest.approx(found["d"], rel=1e-3)


def test_rows_without_weight_do_not_count():
    model, _ = fitted("rbf")
    weight = np.where(LABELS == 2, 0.0, WEIGHT)
    some = LABELS != 2
    expected = kernel_inertia(model, X[some], LABELS[some], WEIGHT[some])
    assert kernel_inertia(model, X, LABELS, weight) == pytest.approx(expected, rel=1e-12)


def test_clusters_of_one_row_cost_nothing():
    for name in FITS:
        model, rows = fitted(name)
        one = kernel_inertia(model, rows, np.zeros(120))
        found = kernel_inertia(model, rows, np.arange(120))
        # Linear rows lie far from 0. Rounding puts some costs below 0.
        assert 0 <= found <= 1e-9 * one


def test_float32_and_rows_on_disk(tmp_path):
    model = KernelPowerKMeans(3, kernel="rbf", random_state=0).fit(X.astype(np.float32))
    found = kernel_inertia(model, X, model.labels_)
    assert found == pytest.approx(model.inertia_, rel=1e-5)
    np.save(tmp_path / "rows.npy", X.astype(np.float32))
    rows = open_rows(tmp_path / "rows.npy")
    assert kernel_inertia(model, rows, model.labels_) == found


def test_dask_collections():
    array = pytest.importorskip("dask.array")
    model = KernelPowerKMeans(3, kernel="rbf", random_state=0).fit(X)
    chunks = array.from_array(X, chunks=(50, 4))
    labels = array.from_array(model.labels_, chunks=50)
    assert kernel_inertia(model, chunks, labels) == pytest.approx(model.inertia_, rel=1e-9)


@over_backends
@pytest.mark.parametrize("name", ["rbf", "heat", "views"])
def test_arrays_of_other_libraries(backend, name):
    host, _ = fitted(name)
    rows = backend.array(X)
    model = FITS[name]()[0].set_params(random_state=0).fit(rows)
    labels = backend.array(LABELS)
    found = kernel_inertia(model, rows, labels, backend.array(WEIGHT))
    assert found == pytest.approx(kernel_inertia(host, X, LABELS, WEIGHT), rel=1e-9)
    silhouettes = kernel_silhouette_samples(model, rows, labels)
    assert_allclose(silhouettes, kernel_silhouette_samples(host, X, LABELS), atol=1e-9)


@pytest.mark.parametrize("name", ["rbf", "linear", "sparse", "heat", "precomputed", "views"])
def test_silhouettes_are_those_of_distances_in_feature_space(name):
    model, rows = fitted(name)
    matrix = rows if name == "precomputed" else model.kernel_(rows, rows)
    diagonal = np.diagonal(matrix)
    squared = np.maximum(diagonal[:, None] + diagonal - 2 * matrix, 0)
    np.fill_diagonal(squared, 0)
    expected = silhouette_samples(np.sqrt(squared), LABELS, metric="precomputed")
    found = kernel_silhouette_samples(model, rows, LABELS)
    # The kernel matrix of linear rows far from 0 has fewer digits.
    assert_allclose(found, expected, atol=1e-5 if name == "linear" else 1e-7)


def test_silhouettes_of_a_linear_kernel_are_scikit_learns():
    model, rows = fitted("linear")
    found = kernel_silhouette_samples(model, rows, model.labels_)
    assert_allclose(found, silhouette_samples(rows, model.labels_), atol=1e-9)


def test_silhouettes_of_clusters_of_one_row_are_zero():
    model, _ = fitted("rbf")
    labels = np.where(np.arange(120) == 7, "alone", "others")
    found = kernel_silhouette_samples(model, X, labels)
    assert found[7] == 0
    assert (found[np.arange(120) != 7] != 0).all()


class TestRefused:
    def test_estimators_that_have_no_kernel(self):
        for function in (kernel_inertia, kernel_silhouette_samples):
            with pytest.raises(TypeError, match=r"estimator=KMeans\(\) is no estimator of kernelm"):
                function(KMeans(), X, LABELS)
            with pytest.raises(NotFittedError):
                function(KernelPowerKMeans(), X, LABELS)

    def test_labels(self):
        model, _ = fitted("rbf")
        for function in (kernel_inertia, kernel_silhouette_samples):
            with pytest.raises(ValueError, match="labels has 119 labels for 120 rows: give one"):
                function(model, X, LABELS[1:])
            with pytest.raises(ValueError, match="labels has labels that are NaN"):
                function(model, X, np.full(120, np.nan))
        for labels in (np.zeros(120), np.arange(120)):
            with pytest.raises(ValueError, match=r"labels has .* clusters? of 120 rows: silhouet"):
                kernel_silhouette_samples(model, X, labels)

    def test_weights_and_rows(self):
        model, _ = fitted("rbf")
        with pytest.raises(ValueError, match=r"all weights are zero|at least one non-zero"):
            kernel_inertia(model, X, LABELS, np.zeros(120))
        with pytest.raises(ValueError, match="X has 3 features, but KernelPowerKMeans is expect"):
            kernel_inertia(model, X[:, 1:], LABELS)
        with pytest.raises(ValueError, match="NaN"):
            kernel_inertia(model, np.where(X[0, 0] == X, np.nan, X), LABELS)

    def test_matrices_that_are_not_between_all_rows(self):
        model, _ = fitted("precomputed")
        with pytest.raises(ValueError, match=r"must be a square kernel matrix, got shape \(60, 12"):
            kernel_inertia(model, K[:60], LABELS[:60])
        with pytest.raises(ValueError, match="must be a symmetric kernel matrix"):
            kernel_silhouette_samples(model, np.roll(K, 1, axis=0), LABELS)

    def test_more_distances_than_the_budget(self):
        model, _ = fitted("rbf")
        model.memory_budget = 3 * 120 * 120 * 8 - 1
        with pytest.raises(MemoryError, match="n_rows=120: the distances between all rows takes"):
            kernel_silhouette_samples(model, X, LABELS)
        model.memory_budget += 1
        assert len(kernel_silhouette_samples(model, X, LABELS)) == 120
