"""Data at the edge of sense: each has a defined outcome, and never a hang, a NaN or an error."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import data
import oracle
from kernelmeans import KernelKMeans, KernelPowerKMeans, PowerKMeans

ESTIMATORS = {
    "annealed": KernelPowerKMeans(kernel="rbf", random_state=0),
    "recomputed": KernelPowerKMeans(kernel="rbf", cache_kernel=False, random_state=0),
    "paper": KernelPowerKMeans(
        kernel="rbf", s0=-1.0, eta=1.04, init="random", n_init=3, random_state=0
    ),
    "laplacian": KernelPowerKMeans(kernel="laplacian", random_state=0),
    "cosine": KernelPowerKMeans(kernel="cosine", random_state=0),
    "poly": KernelPowerKMeans(kernel="poly", random_state=0),
    "hard": KernelKMeans(random_state=0),
    "linear": PowerKMeans(random_state=0),
    "heat": KernelPowerKMeans(random_state=0),
}


@pytest.fixture(params=ESTIMATORS)
def estimator(request):
    return clone(ESTIMATORS[request.param])


@pytest.fixture(params=["float64", "float32"])
def dtype(request):
    return np.dtype(request.param)


def assert_sound(model, X):
    """Finite numbers everywhere, and labels that are those of predict."""
    assert np.isfinite(model.inertia_)
    assert model.inertia_ >= 0
    assert np.isfinite(model.objective_history_).all()
    assert np.isfinite(model.transform(X)).all()
    assert np.isfinite(model.memberships_).all()
    np.testing.assert_allclose(model.memberships_.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    assert model.labels_.min() >= 0
    assert model.labels_.max() < model.n_clusters


def fit_few(model, X, found, **given):
    """Fit data that hold fewer clusters than asked for, and expect a warning."""
    with pytest.warns(ConvergenceWarning, match=rf"distinct clusters \({found}\) found smaller"):
        model.fit(X, **given)
    assert_sound(model, X)
    assert len(np.unique(model.labels_)) == found


@pytest.mark.filterwarnings("ignore:X. .* rows are zero and have no direction")
@pytest.mark.parametrize("value", [0.0, -3.7, 1e6])
@pytest.mark.parametrize("k", [1, 4])
def test_all_rows_equal(estimator, dtype, value, k):
    X = np.full((20, 3), value, dtype)
    model = estimator.set_params(n_clusters=k)
    if k == 1:
        model.fit(X)
        assert_sound(model, X)
    else:
        fit_few(model, X, 1)
    scale = float(np.abs(model.kernel_(X, X)).max())
    assert model.inertia_ <= 20 * 100 * np.finfo(dtype).eps * max(scale, 1e-300)
    if hasattr(model, "critical_power_"):
        assert model.critical_power_ == -np.inf


@pytest.mark.slow
@pytest.mark.parametrize("distinct", [2, 5])
def test_fewer_distinct_rows_than_clusters(estimator, dtype, distinct):
    values = np.array([[1.0, 2.0], [5.0, -3.0], [-4.0, 1.0], [0.5, 9.0], [-7.0, -7.5]])[:distinct]
    y = np.arange(30) % distinct
    X = values[y].astype(dtype)
    model = estimator.set_params(n_clusters=7)
    fit_few(model, X, distinct)
    assert oracle.same_partition(model.labels_, y)
    total = oracle.hard_cost(np.array(model.kernel_(X, X), float), np.zeros(30, int))
    assert model.inertia_ <= 1e3 * np.finfo(dtype).eps * total


def test_as_many_distinct_rows_as_clusters(estimator, dtype):
    values = np.array([[1.0, 2.0], [5.0, -3.0], [-4.0, 1.0]])
    y = np.arange(30) % 3
    model = estimator.set_params(n_clusters=3).fit(values[y].astype(dtype))
    assert oracle.same_partition(model.labels_, y)


def test_one_cluster(estimator, dtype):
    X = data.cloud(40, 3).astype(dtype)
    model = estimator.set_params(n_clusters=1).fit(X)
    assert_sound(model, X)
    assert (model.labels_ == 0).all()
    assert (model.memberships_ == 1).all()
    K = np.array(model.kernel_(X, X), float)
    expected = oracle.hard_cost(K, model.labels_)
    assert model.inertia_ == pytest.approx(expected, rel=float(1e3 * np.finfo(dtype).eps))


@pytest.mark.parametrize("n", [2, 25])
def test_as_many_clusters_as_rows(estimator, dtype, n):
    X = (10 * data.cloud(n, 3)).astype(dtype)
    model = estimator.set_params(n_clusters=n).fit(X)
    assert_sound(model, X)
    assert len(set(model.labels_)) == n
    total = oracle.hard_cost(np.array(model.kernel_(X, X), float), np.zeros(n, int))
    assert model.inertia_ <= 1e3 * np.finfo(dtype).eps * total


@pytest.mark.parametrize("k", [1, 2])
def test_two_rows(estimator, dtype, k):
    X = np.array([[0.0, 1.0], [4.0, 3.0]], dtype)
    model = estimator.set_params(n_clusters=k).fit(X)
    assert_sound(model, X)
    assert len(set(model.labels_)) == k


def test_one_feature(estimator, dtype):
    X = np.concatenate([np.linspace(0, 1, 20), np.linspace(8, 9, 20)]).astype(dtype)[:, None] + 1
    # The direction of a positive number says nothing.
    if getattr(estimator, "kernel", "") == "cosine":
        fit_few(estimator.set_params(n_clusters=2), X, 1)
        return
    model = estimator.set_params(n_clusters=2).fit(X)
    assert_sound(model, X)
    assert oracle.same_partition(model.labels_, np.arange(40) < 20)


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1e-6, 1e6, 1e30, 1e70])
def test_tiny_and_huge_data(estimator, scale):
    X, y = data.blobs(60, 2, 3)
    kernel = getattr(estimator, "kernel", "linear")
    # The kernel itself would overflow.
    X = X * min(scale, 1e40 if kernel == "poly" else np.inf)
    model = estimator.set_params(n_clusters=3).fit(X)
    assert_sound(model, X)
    # Kernels whose width does not follow the data see one point, or points all alike.
    if kernel in ("rbf", "linear") and scale >= 1e-30:
        assert oracle.same_partition(model.labels_, y)


@pytest.mark.parametrize("scale", [1e-15, 1e-6, 1e6, 1e15])
def test_tiny_and_huge_data_in_single_precision(scale):
    X, y = data.blobs(60, 2, 3)
    X = (scale * X).astype(np.float32)
    for model in (
        KernelPowerKMeans(3, kernel="rbf", random_state=0),
        PowerKMeans(3, random_state=0),
    ):
        model.fit(X)
        assert_sound(model, X)
        assert oracle.same_partition(model.labels_, y)


def test_constant_columns_change_nothing(estimator):
    X = data.cloud(60, 3) + 4
    # A column of zeros: other constants do change the angle between rows.
    wide = np.column_stack([X, np.zeros((60, 2))])
    given = {"n_clusters": 4, "init": np.array([0, 20, 40, 50]), "n_init": "auto"}
    estimator.set_params(**given)
    if getattr(estimator, "kernel", "") in ("poly", "laplacian"):
        estimator.set_params(gamma=0.3)
    labels = estimator.fit_predict(X)
    np.testing.assert_array_equal(estimator.fit_predict(wide), labels)
    assert_sound(estimator, wide)


def test_one_far_outlier(estimator, dtype):
    X, _ = data.blobs(60, 2, 3)
    X[17] = 1e6
    X = X.astype(dtype)
    model = estimator.set_params(n_clusters=4)
    with warnings.catch_warnings():
        # In single precision the other rows may be too close together to be distinguished.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "X: the rows of a cluster .* float32")
        model.fit(X)
    assert_sound(model, X)
    if isinstance(model, PowerKMeans):
        assert (model.labels_ == model.labels_[17]).sum() == 1


@pytest.mark.parametrize("weights", ["one heavy", "tiny spread", "zeros"])
def test_uneven_weights(estimator, dtype, weights):
    X, _ = data.blobs(60, 2, 3)
    v = {
        "one heavy": np.where(np.arange(60) == 5, 1e6, 1.0),
        "tiny spread": np.logspace(-8, 0, 60),
        "zeros": (np.arange(60) % 2).astype(float),
    }[weights]
    model = estimator.set_params(n_clusters=3).fit(X.astype(dtype), sample_weight=v)
    assert_sound(model, X.astype(dtype))


def test_weight_on_as_many_samples_as_clusters(estimator):
    X = 10 * data.cloud(20, 3)
    weight = np.zeros(20)
    weight[[3, 8, 15]] = 1
    model = estimator.set_params(n_clusters=3).fit(X, sample_weight=weight)
    assert len(set(model.labels_[[3, 8, 15]])) == 3
    assert_sound(model, X)


def test_duplicate_rows_among_the_seeds_of_random_starts(dtype):
    values, y = data.blobs(6, 2, 3, spread=0.01)
    X = np.repeat(values, 20, axis=0).astype(dtype)
    model = KernelPowerKMeans(3, kernel="rbf", init="random", n_init=20, random_state=0).fit(X)
    assert oracle.same_partition(model.labels_, np.repeat(y, 20))
    assert np.isfinite(model.result_.inertia).all()
