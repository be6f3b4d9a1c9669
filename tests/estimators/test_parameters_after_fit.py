"""Parameters that are set after a fit are those of the next one: the model stays as it is."""

import json
from copy import deepcopy
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from kernelmeans import (
    ClusterReport,
    KernelKMeans,
    KernelPowerKMeans,
    MultiKernelPowerKMeans,
    PowerKMeans,
    describe,
)
from kernelmeans._fitted import is_pairwise, is_stacked
from kernelmeans.baselines import MKKM, RKKM, RMKKM
from kernelmeans.plotting import plot_bifurcation, plot_fit, plot_spectrum, plot_trace

K = 3
X = make_blobs([30, 25, 20], 4, cluster_std=2.0, random_state=0)[0]
GRAM = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 60)
SHORT = {"n_clusters": K, "random_state": 0}
VIEWS = [("rbf", [0, 1]), ("linear", [2, 3])]
OTHER_KERNEL = {
    "kernel": "precomputed",
    "gamma": 9.0,
    "metric": "cosine",
    "n_neighbors": 4,
    "t": 0.1,
    "density": 1.5,
}
OTHER_VIEWS = {"kernels": "precomputed", "kernel_scaling": "min-max"}
#: A model, its rows, and parameters beside the number of clusters.
CASES = {
    "heat": (KernelPowerKMeans(**SHORT), X, OTHER_KERNEL),
    "rbf": (KernelPowerKMeans(kernel="rbf", **SHORT), X, OTHER_KERNEL),
    "landmarks": (
        KernelPowerKMeans(kernel="rbf", approximation="landmarks", n_components=20, **SHORT),
        X,
        OTHER_KERNEL,
    ),
    "precomputed": (
        KernelPowerKMeans(kernel="precomputed", **SHORT),
        GRAM,
        {"kernel": "rbf"},
    ),
    "KernelKMeans": (KernelKMeans(kernel="rbf", **SHORT), X, OTHER_KERNEL),
    "PowerKMeans": (PowerKMeans(**SHORT), X, {"s0": -3.0}),
    "several": (MultiKernelPowerKMeans(kernels=VIEWS, **SHORT), X, OTHER_VIEWS),
    "stack": (
        MultiKernelPowerKMeans(kernels="precomputed", **SHORT),
        np.stack([GRAM, GRAM**2]),
        {"kernels": "widths"},
    ),
    "MKKM": (MKKM(kernels=VIEWS, **SHORT), X, OTHER_VIEWS),
    "RKKM": (RKKM(kernel="rbf", **SHORT), X, OTHER_KERNEL),
    "RMKKM": (RMKKM(kernels=VIEWS, **SHORT), X, OTHER_VIEWS),
}
#: What is drawn of each model, beside its trace.
GRAPHS = ["heat"]
ANNEALED = ["heat", "rbf", "landmarks", "precomputed", "PowerKMeans"]


@pytest.fixture(params=CASES)
def name(request):
    return request.param


@cache
def fitted(name):
    model, rows, _ = CASES[name]
    return clone(model).fit(rows)


@pytest.fixture(name="case")
def fitted_twice(name):
    """A model, the same with other parameters since its fit, and the rows."""
    _, rows, others = CASES[name]
    pair = [deepcopy(fitted(name)) for _ in range(2)]
    pair[1].set_params(n_clusters=5, init=np.zeros(5, int), **others)
    return *pair, rows


def test_answers(case):
    model, changed, rows = case
    assert_array_equal(changed.predict(rows), model.labels_)
    assert_array_equal(changed.transform(rows), model.transform(rows))
    assert changed.score(rows) == model.score(rows)


def test_names_of_the_columns(case):
    model, changed, rows = case
    names = model.get_feature_names_out()
    assert len(names) == K
    assert_array_equal(changed.get_feature_names_out(), names)
    frame = changed.set_output(transform="pandas").transform(rows)
    assert frame.columns.tolist() == names.tolist()


def test_new_numbers(case):
    model, changed, rows = case
    with pytest.raises(ValueError, match="numbers must be 3 integers"):
        changed.renumber(range(5))
    assert_array_equal(changed.predict(rows), model.labels_)
    changed.renumber([1, 2, 0])
    assert_array_equal(changed.labels_, model.renumber([1, 2, 0]).labels_)
    assert_array_equal(changed.predict(rows), changed.labels_)


def test_the_kind_of_rows(case):
    model, changed, _ = case
    assert is_pairwise(changed) == is_pairwise(model)
    assert is_stacked(changed) == is_stacked(model)


def test_a_clone_takes_the_rows_that_its_parameters_say():
    model = clone(CASES["rbf"][0]).fit(X).set_params(kernel="precomputed")
    assert not is_pairwise(model)
    assert is_pairwise(clone(model))
    assert is_pairwise(model.fit(GRAM))


def test_profiles_and_reports(case):
    model, changed, rows = case
    assert str(describe(changed, X)) == str(describe(model, X))
    told = []
    for one in (model, changed):
        content = ClusterReport(one, rows).to_dict()
        del content["again"]  # the estimator as a program
        told.append(json.dumps(content, default=str))
    assert told[0] == told[1]


def drawn(figure):
    """Titles, labels, limits and points of all axes."""
    return [
        (
            *(ax.get_title(), ax.get_xlabel(), ax.get_ylabel(), ax.get_xlim(), ax.get_ylim()),
            [line.get_xydata().tolist() for line in ax.lines],
            [points.get_offsets().tolist() for points in ax.collections],
        )
        for ax in figure.get_axes()
    ]


def test_pictures(name, case):
    model, changed, rows = case
    plots = [plot_trace, lambda model: plot_fit(model, rows)]
    plots += [plot_spectrum] * (name in GRAPHS)
    for plot in plots:
        assert drawn(plot(changed)) == drawn(plot(model))


@pytest.mark.parametrize("name", ANNEALED)
def test_pictures_of_centroids_that_part(case, monkeypatch):
    monkeypatch.setattr("kernelmeans.plotting.bifurcation._POWERS", 3)  # a fit at each
    model, changed, rows = case
    assert drawn(plot_bifurcation(changed, rows)) == drawn(plot_bifurcation(model, rows))


def test_dask_declares_the_columns_of_the_fit():
    array = pytest.importorskip("dask.array").from_array(X, (25, 4))
    model = PowerKMeans(**SHORT).fit(array).set_params(n_clusters=5)
    distances = model.transform(array)
    assert distances.shape == distances.compute().shape == (75, K)


def test_a_model_of_another_package():
    model = KMeans(K, random_state=0).fit(X)
    before = str(describe(model, X))
    assert str(describe(model.set_params(n_clusters=5), X)) == before
