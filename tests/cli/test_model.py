import importlib
import io
import json
import pickle
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest
import skops.io
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from kernelmeans import KernelPowerKMeans
from kernelmeans.cli.model import TRUSTED_TYPES, Model, load_model


class Evil:
    """A type that no model has; its file must be refused before one is made."""

    made = 0

    def __init__(self):
        self.content = "x"

    def __setstate__(self, state):
        Evil.made += 1


@pytest.fixture
def model_file(fit) -> Path:
    assert fit().exit_code == 0
    return Path("data.model.skops")


def rewritten(path: Path, change) -> None:
    """Write a model file like `path` with a changed content."""
    content = skops.io.load(path, trusted=list(TRUSTED_TYPES))
    change(content)
    path.unlink()
    skops.io.dump(content, path)


def test_round_trip(model_file, blobs):
    model = load_model(model_file)
    assert model.columns == ["length", "mass", "area"]
    estimator = model.pipeline[-1]
    X = blobs.select(model.columns).to_numpy()
    np.testing.assert_array_equal(model.pipeline.predict(X), estimator.labels_)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--kernel", "laplacian", "--dtype", "float32"],
        ["--kernel", "poly", "--n-swaps", "4", "--n-init", "3", "--init", "random"],
        ["--kernel", "linear", "--no-scale"],
        ["--kernel", "geodesic"],
        ["--kernel", "heat"],
        ["--kernel", "heat", "--metric", "cosine", "--n-neighbors", 6, "--t", 2, "--no-scale"],
        ["--kernel", "cosine", "--soft"],
        ["--no-cache-kernel"],
    ],
)
def test_every_kind_of_model_needs_only_the_published_types(fit, arguments):
    result = fit(*arguments)
    assert result.exit_code == 0, result.output
    assert set(skops.io.get_untrusted_types(file="data.model.skops")) <= set(TRUSTED_TYPES)
    load_model(Path("data.model.skops"))


def test_published_types_are_ours_but_for_sparse_matrices():
    foreign = {name for name in TRUSTED_TYPES if not name.startswith("kernelmeans.")}
    assert foreign == {"scipy.sparse._csr.csr_array", "scipy.sparse._csr.csr_matrix"}


def test_the_guide_lists_the_published_types():
    guide = Path(__file__).parents[2] / "docs" / "guide.md"
    listed = re.findall(r"^    ((?:kernelmeans|scipy)\.\S+)$", guide.read_text(), re.MULTILINE)
    assert listed == list(TRUSTED_TYPES)


@pytest.mark.parametrize("name", TRUSTED_TYPES)
def test_published_types_exist(name):
    """A class that moves must not leave a name behind that no one watches."""
    module, _, cls = name.rpartition(".")
    assert isinstance(getattr(importlib.import_module(module), cls), type)


@pytest.mark.parametrize("arguments", [[], ["--views", "views.toml"]])
def test_the_file_holds_plain_arrays_only(fit, arguments):
    """No object arrays, which would need pickle; no progress bar or kernel matrix either."""
    Path("views.toml").write_text('[[view]]\ncolumns = ["area", "length"]\n[[view]]\n')
    assert fit(*arguments).exit_code == 0
    with zipfile.ZipFile("data.model.skops") as archive:
        names = archive.namelist()
        for name in names:
            if name.endswith(".npy"):
                array = np.load(io.BytesIO(archive.read(name)), allow_pickle=False)
                assert array.dtype != object
                assert array.shape != (60, 60)
        assert {name.rpartition(".")[2] for name in names} == {"npy", "json"}
        schema = archive.read("schema.json").decode()
    assert "StepBar" not in schema
    assert '"__class__": "partial"' not in schema
    loaders = {json.loads(f'"{part.split(chr(34))[2]}"') for part in schema.split("__loader__")[1:]}
    assert not loaders & {"MethodNode", "OperatorFuncNode", "PartialNode", "FunctionNode"}


def test_a_foreign_type_is_named_and_refused(refused, model_file, data):
    rewritten(model_file, lambda content: content.update(extra=Evil()))
    made = Evil.made
    message = refused("predict", model_file, data, "-o", ".", "--labels", "new.csv")
    assert f"{Evil.__module__}.Evil" in message
    assert "refused" in message
    assert Evil.made == made


def test_a_foreign_estimator_is_refused_though_skops_trusts_it(refused, model_file, data):
    other = Pipeline([("cluster", LogisticRegression())])
    rewritten(model_file, lambda content: content.update(pipeline=other))
    assert "refused, for it holds" in refused("predict", model_file, data, "--labels", "new.csv")


def test_a_foreign_step_is_refused_though_skops_trusts_it(refused, model_file, data):
    def insert(content):
        content["pipeline"].steps.insert(0, ("odd", LogisticRegression()))

    rewritten(model_file, insert)
    assert "refused, for it holds" in refused("predict", model_file, data, "--labels", "new.csv")


def test_a_newer_format_says_what_wrote_it(refused, model_file, data):
    rewritten(model_file, lambda content: content.update(format=99, version="9.9"))
    message = refused("predict", model_file, data, "--labels", "new.csv")
    assert "9.9" in message
    assert "format 99" in message


@pytest.mark.parametrize(
    "content",
    [b"", b"garbage" * 100, pickle.dumps({"a": 1}), b"PK\x05\x06" + bytes(18)],
    ids=["empty", "garbage", "pickle", "empty archive"],
)
def test_what_is_no_model_is_refused(refused, data, content):
    Path("m.skops").write_bytes(content)
    message = refused("predict", "m.skops", data)
    assert "m.skops: is not a model file" in message


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_truncated_model_is_refused(refused, model_file, data, share):
    content = model_file.read_bytes()
    model_file.write_bytes(content[: int(share * len(content))])
    assert "is damaged" in refused("predict", model_file, data, "--labels", "new.csv")


def test_another_skops_file_is_refused(refused, data):
    skops.io.dump(KernelPowerKMeans(), "m.skops")
    assert "not a model written by kernelmeans" in refused("predict", "m.skops", data)


def test_unpickling_is_never_tried(monkeypatch, data, refused):
    def fail(*args, **kwargs):
        raise AssertionError("unpickled")

    monkeypatch.setattr(pickle, "load", fail)
    monkeypatch.setattr(pickle, "loads", fail)
    Path("m.skops").write_bytes(pickle.dumps(Evil()))
    refused("predict", "m.skops", data)


def test_a_model_knows_its_form():
    file = io.BytesIO()
    Model(Pipeline([("cluster", KernelPowerKMeans())]), ["a"], "float32").write(file)
    content = skops.io.loads(file.getvalue(), trusted=list(TRUSTED_TYPES))
    assert content["format"] == 1
    assert content["columns"] == ["a"]
