"""Views with names: the same clusters, and their names wherever kernels are told apart."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_selector
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelmeans import ClusterReport, MultiKernelPowerKMeans
from kernelmeans.baselines import MKKM, RMKKM
from kernelmeans.models import load_model, save_model

X = StandardScaler().fit_transform(load_iris().data)
NAMES = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
RBF = {"kernel": "rbf", "gamma": "median"}
NAMED = [("sepals", RBF, [0, 1]), ("petals", "heat", slice(2, 4))]
#: The same without names, as the baseline of most tests.
PAIRS = [(RBF, [0, 1]), ("heat", slice(2, 4))]


def inner(X, Y):
    return X @ Y.T


def fitted(kernels=NAMED, data=X, **given):
    return MultiKernelPowerKMeans(3, kernels=kernels, random_state=0, **given).fit(data)


@pytest.fixture(scope="module")
def reference():
    return fitted(PAIRS)


def same(model, reference):
    np.testing.assert_array_equal(model.labels_, reference.labels_)
    np.testing.assert_array_equal(model.kernel_weights_, reference.kernel_weights_)
    assert model.inertia_ == reference.inertia_
    assert model.kernel_names_ == ["sepals", "petals"]


@pytest.mark.parametrize(
    "columns",
    [
        ([0, 1], [2, 3]),
        (slice(0, 2), slice(2, None)),
        (np.array([True, True, False, False]), [False, False, True, True]),
        (lambda X: [0, 1], lambda X: [2, 3]),
    ],
    ids=["indices", "slices", "masks", "callables"],
)
def test_arrays(columns, reference):
    names, kernels = ("sepals", "petals"), (RBF, "heat")
    model = fitted(list(zip(names, kernels, columns, strict=True)))
    same(model, reference)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables(library, reference):
    module = pytest.importorskip(library)
    table = module.DataFrame(dict(zip(NAMES, X.T, strict=True)))
    for columns in (
        (NAMES[:2], NAMES[2:]),
        (slice("sepal_length", "sepal_width"), slice("petal_length", None)),
        (lambda table: list(table.columns[:2]), [2, 3]),
    ):
        triples = list(zip(("sepals", "petals"), (RBF, "heat"), columns, strict=True))
        same(fitted(triples, table), reference)


def test_selectors_of_scikit_learn(reference):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=NAMES)
    sepals, petals = make_column_selector("sepal"), make_column_selector("petal")
    same(fitted([("sepals", RBF, sepals), ("petals", "heat", petals)], table), reference)


def test_rows_on_disk(tmp_path, reference):
    polars = pytest.importorskip("polars")
    from kernelmeans.rows import open_rows

    polars.DataFrame(X, schema=NAMES).write_parquet(tmp_path / "iris.parquet")
    named = [("sepals", RBF, NAMES[:2]), ("petals", "heat", NAMES[2:])]
    same(fitted(named, open_rows(tmp_path / "iris.parquet")), reference)


@pytest.mark.parametrize("estimator", [MKKM, RMKKM])
def test_baselines(estimator):
    given = {"n_init": 1, "random_state": 0}
    named = estimator(3, kernels=NAMED, **given).fit(X)
    np.testing.assert_array_equal(
        named.labels_, estimator(3, kernels=PAIRS, **given).fit(X).labels_
    )
    assert named.kernel_names_ == ["sepals", "petals"]


@pytest.mark.parametrize(
    ("kernels", "names"),
    [
        ("neighbors", ["neighbors 1", "neighbors 2"]),
        (["rbf", "linear"], ["rbf", "linear"]),
        (["rbf", ("a", "rbf", [0]), ("rbf", [1])], ["rbf 1", "a", "rbf 3"]),
        ([("a", "neighbors", [0, 1]), inner], ["a 1", "a 2", "inner"]),
    ],
)
def test_names(kernels, names):
    model = fitted(kernels)
    assert model.kernel_names_ == names
    assert len(names) == len(model.kernels_) == len(model.kernel_weights_)


def test_a_stack_of_kernel_matrices():
    stack = np.stack([X @ X.T, (1 + X @ X.T) ** 2])
    assert fitted("precomputed", stack).kernel_names_ == ["X[0]", "X[1]"]


def test_no_names_before_a_fit():
    assert not hasattr(MultiKernelPowerKMeans(3, kernels=NAMED), "kernel_names_")


def test_messages_have_the_names():
    constant = np.column_stack([np.ones(len(X)), X])
    kernels = [("nothing", "rbf", [0]), ("flower", "rbf", [1, 2, 3, 4])]
    with pytest.warns(UserWarning, match=r"Constant .*: kernels\[0\] \('nothing'\), rbf\. Such"):
        model = fitted(kernels, constant)
    assert model.kernel_names_ == ["nothing", "flower"]
    assert model.kernel_weights_.tolist() == [0, 1]
    with pytest.raises(ValueError, match=r"kernels\[1\] \('petals'\): the columns \[7\] are"):
        fitted([NAMED[0], ("petals", "heat", [7])])
    with pytest.raises(ValueError, match="'gamma' parameter of kernels\\[0\\] \\('sepals'\\) must"):
        fitted([("sepals", {"kernel": "rbf", "gamma": -1}, [0])])


@pytest.mark.slow
def test_clones_copies_and_searches(reference):
    model = MultiKernelPowerKMeans(3, kernels=NAMED, random_state=0)
    assert clone(model).get_params()["kernels"] == NAMED
    same(clone(model).fit(X), reference)
    same(model.set_params(kernels=[*NAMED]).fit(X), reference)
    same(pickle.loads(pickle.dumps(model)), reference)
    pipeline = make_pipeline(StandardScaler(), clone(model))
    grid = {"multikernelpowerkmeans__kernels": [NAMED, [NAMED[0]]]}
    search = GridSearchCV(pipeline, grid, cv=2, n_jobs=2).fit(X)
    chosen = search.best_estimator_[-1]
    assert chosen.kernel_names_ == [name for name, *_ in search.best_params_.popitem()[1]]


def test_models_of_older_versions_have_names(reference):
    old = pickle.loads(pickle.dumps(reference))
    del old._input.titles
    assert old.kernel_names_ == ["kernels[0], rbf", "kernels[1], heat"]


def test_reports_and_pictures_have_the_names():
    pytest.importorskip("matplotlib")
    from kernelmeans.plotting import plot_kernel_weights

    model = fitted()
    ticks = plot_kernel_weights(model).axes[0].get_yticklabels()
    assert [tick.get_text() for tick in ticks] == ["sepals", "petals"]
    found = ClusterReport(model, X).to_dict()["fit"]["kernels"]
    assert [(one["name"], one["kernel"]) for one in found] == [
        ("sepals", "rbf"),
        ("petals", "heat"),
    ]


def test_the_command_line_finds_the_same(tmp_path, monkeypatch):
    polars, testing = pytest.importorskip("polars"), pytest.importorskip("click.testing")
    from kernelmeans.cli.app import app

    monkeypatch.chdir(tmp_path)
    data = load_iris().data
    polars.DataFrame(data, schema=NAMES).write_csv("iris.csv")
    Path("views.toml").write_text(
        '[[view]]\nname = "sepals"\ncolumns = ["sepal*"]\nkernel = "rbf"\ngamma = "median"\n'
        '[[view]]\nname = "petals"\ncolumns = ["petal*"]\n'
    )
    command = ["fit", "iris.csv", "-k", "3", "--views", "views.toml", "--skewed", "keep"]
    result = testing.CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    model = fitted()
    labels = polars.read_csv("iris.labels.csv")["label"].to_numpy()
    np.testing.assert_array_equal(labels, model.labels_)
    summary = json.loads(Path("iris.summary.json").read_text())
    assert [one["name"] for one in summary["kernels"]] == model.kernel_names_
    weights = [one["weight"] for one in summary["kernels"]]
    np.testing.assert_allclose(weights, model.kernel_weights_)
    loaded = load_model(Path("iris.model.skops")).pipeline[-1]
    assert loaded.kernel_names_ == model.kernel_names_
    assert [(name, spec) for name, spec, _ in loaded.kernels] == [
        ("sepals", RBF),
        ("petals", {"kernel": "heat"}),
    ]


def test_model_files_have_columns_in_place_of_selectors(tmp_path, reference):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("skops")
    table = pandas.DataFrame(X, columns=NAMES)
    selectors = [("sepals", RBF, make_column_selector("sepal")), ("petals", "heat", NAMES[2:])]
    model = fitted(selectors, table)
    save_model(model, tmp_path / "iris.model.skops")
    assert model.kernels is selectors
    loaded = load_model(tmp_path / "iris.model.skops")
    same(loaded.pipeline[-1], reference)
    assert loaded.pipeline[-1].kernels == [("sepals", RBF, slice(0, 2)), selectors[1]]
    assert (loaded.label(table[NAMES[::-1]]).labels == reference.labels_).all()
    save_model(loaded, tmp_path / "again.model.skops")
