"""What Python saves opens again, in Python and on the command line. Other models are refused."""

import subprocess
import sys
from pathlib import Path

import dask.array
import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from kernelmeans import (
    KernelKMeans,
    KernelPowerKMeans,
    MultiKernelPowerKMeans,
    PowerKMeans,
    load_model,
    models,
    save_model,
)
from kernelmeans.cli.app import app
from kernelmeans.models import Model
from kernelmeans.tables import TableTransformer

rng = np.random.default_rng(0)
X = np.concatenate([rng.normal(center, 1, (40, 3)) for center in (0, 5, 10)])
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
PEOPLE = FRAME.assign(
    plan=rng.choice(["basic", "plus"], 120), code=[f"C{number:03}" for number in range(120)]
)
VIEWS = [("one", "rbf", ["a", "b"]), ("other", "heat", ["c"])]
MODELS = {
    "rows": (KernelPowerKMeans(3), X),
    "float32": (KernelPowerKMeans(3), X.astype(np.float32)),
    "names": (KernelPowerKMeans(3, kernel="rbf"), FRAME),
    "matrix": (KernelPowerKMeans(3, kernel="precomputed"), X @ X.T),
    "views": (MultiKernelPowerKMeans(3, kernels=VIEWS), FRAME),
    "scaled": (make_pipeline(StandardScaler(), KernelKMeans(3)), FRAME),
    "table": (make_pipeline(TableTransformer(), KernelPowerKMeans(3, kernel="rbf")), PEOPLE),
    "names of a schema": (
        make_pipeline(TableTransformer(), KernelPowerKMeans(3, kernel="rbf")),
        PEOPLE.rename(columns={"plan": "file", "a": "__loader__", "b": "__id__"}),
    ),
    "polars": (
        make_pipeline(TableTransformer(), KernelPowerKMeans(3, kernel="rbf")),
        pl.from_pandas(PEOPLE),
    ),
    "output": (
        make_pipeline(StandardScaler(), KernelPowerKMeans(3)).set_output(transform="pandas"),
        FRAME,
    ),
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(table):
    if isinstance(table, np.ndarray):
        np.save("data.npy", table)
        return "data.npy"
    (pl.from_pandas(table) if isinstance(table, pd.DataFrame) else table).write_csv("data.csv")
    return "data.csv"


@pytest.mark.parametrize(("model", "table"), MODELS.values(), ids=MODELS)
def test_a_model_opens_again(model, table):
    labels = model.set_params().fit(table).predict(table)
    before = dict(vars(model))
    save_model(model, "some.model.skops")
    assert vars(model).keys() == before.keys()
    assert (load_model(Path("some.model.skops")).pipeline.predict(table) == labels).all()
    result = CliRunner().invoke(app, ["predict", "some.model.skops", write(table)])
    assert result.exit_code == 0, result.output
    assert "Warning" not in result.output
    assert (pl.read_csv("data.labels.csv")["label"].to_numpy() == labels).all()


def test_parameters_that_came_after_a_file_have_their_defaults():
    model = KernelPowerKMeans(3, max_iter=77, n_swaps=5, outliers="auto", random_state=0).fit(X)
    expected = model.predict(X)
    for name in ("n_swaps", "outliers"):
        delattr(model, name)
    save_model(model, "old.skops")
    opened = load_model("old.skops").pipeline[-1]
    assert (opened.n_swaps, opened.outliers, opened.max_iter) == ("auto", None, 77)
    assert "max_iter=77" in repr(opened)
    np.testing.assert_array_equal(opened.predict(X), expected)


def test_numbers_of_clusters_that_are_set_after_a_fit_change_no_file():
    model = KernelKMeans(1, kernel="rbf").fit(X).set_params(n_clusters=1000)
    save_model(model, "some.model.skops")
    result = CliRunner().invoke(app, ["predict", "some.model.skops", write(X)])
    assert result.exit_code == 0, result.output
    assert "in 1 cluster\n" in result.output
    labels = pl.read_csv("data.labels.csv")
    assert "second_distance" not in labels.columns
    assert set(labels["label"]) == {0}


def test_columns_in_another_order_are_refused_as_before():
    model = KernelPowerKMeans(3, kernel="rbf").fit(FRAME)
    save_model(model, "some.model.skops")
    with pytest.raises(ValueError, match="same order as they were in fit"):
        load_model("some.model.skops").pipeline.predict(FRAME[["c", "a", "b"]])


def test_what_a_fit_had_beside_it_stays_there():
    """A Dask cluster, a device, callbacks."""
    rows = dask.array.from_array(X, chunks=(60, 3))
    model = KernelPowerKMeans(3, kernel="rbf", random_state=0).fit(rows)
    model.device, model._skl_callbacks = "cuda", [print]
    save_model(model, "some.model.skops")
    assert model.device == "cuda"
    assert isinstance(model.labels_, dask.array.Array)
    again = load_model("some.model.skops").pipeline[-1]
    assert (again.predict(X) == model.labels_.compute()).all()
    assert (again.labels_ == again.predict(X)).all()
    assert not hasattr(again, "_skl_callbacks")


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (make_pipeline(MinMaxScaler(), KernelPowerKMeans(3)), "types .*MinMaxScaler"),
        (KernelPowerKMeans(3, kernel=lambda a, b: a @ b.T), "types .*<lambda>"),
        (PowerKMeans(3), "types .*[.]PowerKMeans"),
        (StandardScaler(), "should be a clusterer"),
    ],
)
def test_what_no_file_may_hold_is_not_written(model, words):
    Path("some.model.skops").write_text("before")
    with pytest.raises(
        ValueError,
        match=rf"^model cannot be kept in a model file: .*{words}.* pickled\. Got model=\w+\(.*\.$",
    ):
        save_model(model.fit(X), "some.model.skops")
    if hasattr(model, "labels_"):
        with pytest.raises(ValueError, match=r"^model cannot be kept .* Got model=Pipeline"):
            Model.of(model).save("some.model.skops")
    assert [path.name for path in Path().iterdir()] == ["some.model.skops"]
    assert Path("some.model.skops").read_text() == "before"


def test_a_vectorizer_of_texts_is_no_part_of_a_file():
    texts = [f"{row % 3} of {row % 5}" for row in range(60)]
    vectorizer = TfidfVectorizer(token_pattern=r"\d")
    pipeline = make_pipeline(vectorizer, KernelPowerKMeans(3, kernel="rbf")).fit(texts)
    model = Model.of(pipeline, texts)
    assert (model.label(texts).labels == pipeline[-1].labels_).all()
    with pytest.raises(ValueError, match=r"types .*TfidfVectorizer"):
        model.save("some.model.skops")


def test_a_model_that_is_not_fitted_is_refused():
    with pytest.raises(NotFittedError):
        save_model(KernelPowerKMeans(3), "some.model.skops")


def test_without_the_extra_the_message_names_it(monkeypatch, tmp_path):
    for name in [name for name in sys.modules if name.startswith("kernelmeans.models.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(models, "_skops", raising=False)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    (tmp_path / "some.model.skops").write_bytes(b"")
    with pytest.raises(
        ImportError, match=r'needed for model files: pip install "kernelmeans\[skops\]"'
    ):
        load_model(tmp_path / "some.model.skops")


@pytest.mark.slow
def test_skops_is_enough(tmp_path):
    program = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("click", "polars", "rich", "matplotlib", "dask"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Missing())
from kernelmeans import KernelPowerKMeans, load_model, save_model
X = [[0.0], [0.1], [5.0], [5.1]]
model = KernelPowerKMeans(2, random_state=0).fit(X)
save_model(model, sys.argv[1])
assert (load_model(sys.argv[1]).pipeline.predict(X) == model.labels_).all()
"""
    file = tmp_path / "some.model.skops"
    subprocess.run([sys.executable, "-c", program, file], check=True)
    assert file.exists()


def test_what_is_no_file_raises_as_always(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "some.model.skops")
    (tmp_path / "table.csv").write_text("a,b")
    with pytest.raises(ValueError, match="is not a model file written by save_model or kernelm"):
        load_model(tmp_path / "table.csv")
