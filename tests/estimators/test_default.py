"""What a call without parameters does: heat, silently on ordinary data."""

import ast
import inspect
import re
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_moons
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.preprocessing import StandardScaler

import data
from kernelmeans import KernelKMeans, KernelPowerKMeans, MultiKernelPowerKMeans, PowerKMeans
from kernelmeans.baselines import MKKM, RKKM, RMKKM
from kernelmeans.estimators.kernels import resolve_kernel
from kernelmeans.kernels import PARAMETERS
from kernelmeans.lowrank import METHODS

X = data.cloud(40, 3)
#: A value of each parameter that is nobody's default.
GIVEN = {
    **{"gamma": 0.5, "degree": 2, "coef0": 2.0},
    **{"n_neighbors": 7, "t": 2.0, "metric": "cosine", "density": 1.5},
}


@pytest.mark.parametrize(
    ("parameter", "names"), [("kernel", PARAMETERS), ("approximation", METHODS)]
)
def test_all_names_are_documented(parameter, names):
    """The command line takes its choices from there."""
    (choices,) = re.findall(
        rf"^{parameter} : {{(.*?)}}", inspect.cleandoc(KernelPowerKMeans.__doc__), re.MULTILINE
    )
    assert set(re.findall(r'"(.*?)"', choices)) - {"auto"} == set(names)


def test_it_finds_clusters_that_are_not_round():
    rows, y = make_moons(300, noise=0.05, random_state=0)
    model = KernelPowerKMeans(2, random_state=0).fit(rows)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert model.get_params()["kernel"] == "heat"


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
@pytest.mark.parametrize("scaled", [False, True])
def test_it_is_silent_on_ordinary_data(load, scaled):
    rows, y = load(return_X_y=True)
    rows = StandardScaler().fit_transform(rows) if scaled else rows
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labels = KernelPowerKMeans(len(set(y)), random_state=0).fit_predict(rows)
    assert len(set(labels)) == len(set(y))


def test_digits_are_found_better_than_by_the_gaussian_kernel():
    rows, y = load_digits(return_X_y=True)
    default, gaussian = (
        normalized_mutual_info_score(
            y, KernelPowerKMeans(10, random_state=0, **given).fit_predict(rows)
        )
        for given in ({}, {"kernel": "rbf"})
    )
    assert default > 0.84 > gaussian


@pytest.mark.parametrize("n", [1, 2, 3, 8, 10])
def test_few_rows(n):
    rows = np.random.default_rng(n).standard_normal((n, 2))
    model = KernelPowerKMeans(min(n, 8), random_state=0).fit(rows)
    assert len(set(model.labels_)) == min(n, 8)
    assert_array_equal(model.predict(rows), model.labels_)


def test_fewer_rows_than_clusters_are_refused():
    with pytest.raises(ValueError, match="n_samples=5 should be >= n_clusters=8"):
        KernelPowerKMeans().fit(X[:5])


@pytest.mark.parametrize("kernel", sorted(PARAMETERS))
@pytest.mark.parametrize("name", GIVEN)
def test_parameters_that_a_kernel_does_not_have_bring_a_warning(kernel, name):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = resolve_kernel(kernel, X, **{name: GIVEN[name]})
    if name in PARAMETERS[kernel]:
        assert not caught
        assert found.parameters[name] == GIVEN[name]
    else:
        (message,) = (str(own.message) for own in caught)
        assert f"{name}={GIVEN[name]!r} has no effect with kernel={kernel!r}" in message
        takers = [repr(other) for other, takes in PARAMETERS.items() if name in takes]
        assert all(taker in message for taker in takers)


def test_a_width_beside_the_default_kernel_changes_nothing_and_says_so():
    message = r"gamma=0\.5 has no effect with kernel='heat': choose a kernel .*'rbf'"
    with pytest.warns(UserWarning, match=message):
        model = KernelPowerKMeans(3, gamma=0.5, random_state=0).fit(X)
    default = KernelPowerKMeans(3, random_state=0).fit(X)
    assert_array_equal(model.labels_, default.labels_)
    assert model.inertia_ == default.inertia_
    assert model.gamma_ is None


def test_a_width_beside_a_callable_belongs_into_its_parameters():
    with pytest.warns(UserWarning, match="gamma=0.5 has no effect.*'product'.*kernel_params"):
        resolve_kernel(product, X, gamma=0.5)


def product(A, B):
    return A @ B.T


def test_defaults_are_the_same_wherever_kernels_are_settled():
    """Only so is a parameter that differs from its default one that somebody gave."""
    settled, estimator = (
        inspect.signature(function).parameters for function in (resolve_kernel, KernelPowerKMeans)
    )
    assert all(settled[name].default == estimator[name].default for name in GIVEN)


@pytest.mark.parametrize("given", [{"approximation": "rff"}, {"n_components": 0.9}])
def test_what_only_other_kernels_have_is_refused_with_the_way_out(given):
    with pytest.raises(ValueError, match=r"kernel='heat'.* another kernel such as 'rbf'"):
        KernelPowerKMeans(3, **given).fit(X)


def test_a_graph_that_does_not_fit_is_refused_with_its_bytes():
    rows = data.cloud(2000, 3)
    with pytest.raises(MemoryError, match=r"graph of kernel='heat'.*\(\d+ bytes\), more than"):
        KernelPowerKMeans(3, approximation=None, memory_budget="1MB").fit(rows)


@pytest.mark.parametrize(
    "estimator",
    [KernelPowerKMeans, KernelKMeans, PowerKMeans, MultiKernelPowerKMeans, MKKM, RKKM, RMKKM],
)
def test_every_parameter_is_documented_with_its_default(estimator):
    """What `help` shows is complete: no reader is sent to another class."""
    text = inspect.cleandoc(estimator.__doc__).replace("\\\n", "")
    documented = dict(re.findall(r"^(\w+) : .*?default=(\S+)$", text, re.MULTILINE))
    defaults = inspect.signature(estimator).parameters
    assert {name: ast.literal_eval(value) for name, value in documented.items()} == {
        name: parameter.default for name, parameter in defaults.items()
    }
    assert "As for" not in text
