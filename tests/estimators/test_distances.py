"""Distances of training rows to the two nearest centroids, and the certainty of their labels."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import data
from kernelmeans import KernelKMeans, KernelPowerKMeans, MultiKernelPowerKMeans, PowerKMeans
from kernelmeans.baselines import RKKM
from kernelmeans.models import Model
from kernelmeans.rows import open_rows

X = data.cloud(200, 3)
SHORT = {"n_clusters": 4, "random_state": 0}
MODELS = {
    "rbf": KernelPowerKMeans(kernel="rbf", **SHORT),
    "a soft end": KernelPowerKMeans(kernel="rbf", s0=-20, eta=1, max_iter=9, n_swaps=0, **SHORT),
    "heat": KernelPowerKMeans(**SHORT),
    "landmarks": KernelPowerKMeans(
        kernel="rbf", approximation="landmarks", n_components=20, **SHORT
    ),
    "linear": PowerKMeans(**SHORT),
    "several": MultiKernelPowerKMeans(kernels=[("rbf", [0, 1]), ("linear", [2])], **SHORT),
    "hard": KernelKMeans(kernel="rbf", **SHORT),
    "robust": RKKM(kernel="rbf", **SHORT),
}
models = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


def fitted(model, rows=X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # one of them ends early on purpose
        return clone(model).fit(rows)


@models
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_distances_are_the_two_smallest_of_transform(model, dtype):
    rows = X.astype(dtype)
    model = fitted(model, rows)
    assert model.distances_.shape == (200, 2)
    assert model.distances_.dtype == dtype
    atol = 1e-7 if dtype == "float64" else 1e-3
    assert_allclose(model.distances_, np.sort(model.transform(rows))[:, :2], atol=atol)


@models
def test_certainty_is_the_membership_in_the_own_cluster(model):
    model = fitted(model)
    assert_allclose(model.certainty_, model.memberships_[np.arange(200), model.labels_], rtol=1e-9)


def test_certainty_of_hard_and_of_soft_clusters():
    assert_array_equal(fitted(MODELS["hard"]).certainty_, np.ones(200))
    soft = fitted(MODELS["a soft end"]).certainty_
    assert soft.min() < 0.6
    assert soft.max() > 0.9


def test_new_rows_get_the_same_answers_as_training_rows():
    model = fitted(MODELS["rbf"])
    again = Model.of(model).label(X)
    assert_array_equal(again.labels, model.labels_)
    assert_allclose(again.certainty, model.certainty_, rtol=1e-9)
    assert_allclose(again.distances, model.distances_, rtol=1e-9)


def test_one_cluster_has_no_second_centroid():
    model = PowerKMeans(1).fit(X)
    assert_allclose(model.distances_, model.transform(X), rtol=1e-9)
    assert_array_equal(model.certainty_, np.ones(200))


def test_rows_on_disk(tmp_path):
    np.save(tmp_path / "X.npy", np.tile(X, (300, 1)))
    rows = open_rows(tmp_path / "X.npy")
    model = PowerKMeans(memory_budget=2 * rows.nbytes, **SHORT).fit(rows)
    assert model.memberships_ is None
    assert_allclose(model.distances_, np.sort(model.transform(rows))[:, :2], atol=1e-7)
    held = PowerKMeans(**SHORT).fit(rows[:])
    assert_array_equal(held.labels_, model.labels_)
    assert_allclose(model.certainty_, held.certainty_, atol=1e-6)


def test_dask_arrays():
    array = pytest.importorskip("dask.array").from_array(X, (70, 3))
    model, held = PowerKMeans(**SHORT).fit(array), PowerKMeans(**SHORT).fit(X)
    assert model.distances_.chunks == ((70, 70, 60), (2,))
    assert_allclose(model.distances_.compute(), held.distances_, rtol=1e-9)
    assert_allclose(model.certainty_.compute(), held.certainty_, rtol=1e-9)
    loaded = pickle.loads(pickle.dumps(model))
    assert_allclose(loaded.distances_, held.distances_, rtol=1e-9)
