"""Model files: what they hold, and what is refused of those from strangers."""

import functools
import importlib
import io
import json
import pickle
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
import skops.io
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from kernelmeans import KernelKMeans, KernelPowerKMeans
from kernelmeans._errors import InputError
from kernelmeans.heat.neighbors import NearestRows
from kernelmeans.models import Model, load_model, save_model
from kernelmeans.models.archive import TRUSTED_TYPES, check_archive, check_content
from kernelmeans.models.content import write_model

S = scipy.sparse.random_array((60, 3), density=0.7, format="csr", rng=0)


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
    guide = Path(__file__).parents[2] / "docs" / "guide" / "models.md"
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
    assert "refused, because it holds" in refused(
        "predict", model_file, data, "--labels", "new.csv"
    )


def test_a_foreign_step_is_refused_though_skops_trusts_it(refused, model_file, data):
    def insert(content):
        content["pipeline"].steps.insert(0, ("odd", LogisticRegression()))

    rewritten(model_file, insert)
    assert "refused, because it holds" in refused(
        "predict", model_file, data, "--labels", "new.csv"
    )


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


@pytest.mark.parametrize("fraction", [0.1, 0.5, 0.99])
def test_a_truncated_model_is_refused(refused, model_file, data, fraction):
    content = model_file.read_bytes()
    model_file.write_bytes(content[: int(fraction * len(content))])
    assert "is damaged" in refused("predict", model_file, data, "--labels", "new.csv")


def test_another_skops_file_is_refused(refused, data):
    skops.io.dump(KernelPowerKMeans(), "m.skops")
    assert "not a model written by save_model" in refused("predict", "m.skops", data)


def test_unpickling_is_never_tried(monkeypatch, data, refused):
    def fail(*args, **kwargs):
        raise AssertionError("unpickled")

    monkeypatch.setattr(pickle, "load", fail)
    monkeypatch.setattr(pickle, "loads", fail)
    Path("m.skops").write_bytes(pickle.dumps(Evil()))
    refused("predict", "m.skops", data)


def test_a_model_knows_its_form():
    file = io.BytesIO()
    write_model(Model(Pipeline([("cluster", KernelPowerKMeans())]), ["a"], "float32"), file)
    content = skops.io.loads(file.getvalue(), trusted=list(TRUSTED_TYPES))
    assert content["format"] == 1
    assert content["columns"] == ["a"]


@pytest.fixture
def sparse_model(run, folder) -> Path:
    scipy.sparse.save_npz("S.npz", S)
    assert run("fit", "S.npz", "-k", 3).exit_code == 0
    return Path("S.model.skops")


def changed(path: Path, suffix: str, change: Callable[[bytes], bytes]) -> Path:
    """A copy of an archive, in which the members with a suffix are changed."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile("new.skops", "w") as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, change(content) if name.endswith(suffix) else content)
    return Path("new.skops")


def refusal(path: Path, most: float = 10**6) -> str:
    with pytest.raises(InputError) as caught:
        load_model(path, most)
    assert str(path) in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    "value", [np.exp, functools.partial(min, 1), LogisticRegression().get_params], ids=str
)
def test_functions_are_refused_though_skops_trusts_some(model_file, value):
    rewritten(model_file, lambda content: content.update(extra=value))
    assert "refused, because it holds types" in refusal(model_file)


def test_a_sparse_matrix_that_is_put_together_by_hand(sparse_model):
    """Its parts would not be those of its file, which have been checked."""

    def change(content: bytes) -> bytes:
        schema = json.loads(content)
        node = next(node for node in nodes(schema) if node.get("__loader__") == "SparseMatrixNode")
        node.update({"__loader__": "ObjectNode", "content": None})
        return json.dumps(schema).encode()

    assert "_csr.csr_" in refusal(changed(sparse_model, ".json", change))


@pytest.mark.parametrize("name", ["indices", "indptr"])
def test_indices_outside_of_a_sparse_matrix(sparse_model, refused, name):
    """Where `predict` used to read memory that is not its own."""

    def change(content: bytes) -> bytes:
        arrays = dict(np.load(io.BytesIO(content)))
        arrays[name][1:-1] += 10**7
        file = io.BytesIO()
        np.savez(file, **arrays)
        return file.getvalue()

    path = changed(sparse_model, ".npz", change)
    assert f"damaged ({name}" in refused("predict", path, "S.npz", "--labels", "new.csv")


def test_pointers_of_a_sparse_matrix_that_decrease(sparse_model):
    """SciPy checks no index if the last pointer is negative, and memory was overwritten."""

    def change(content: bytes) -> bytes:
        arrays = dict(np.load(io.BytesIO(content)))
        arrays["indptr"][-1] = -1
        file = io.BytesIO()
        np.savez(file, **arrays)
        return file.getvalue()

    assert "indptr of the sparse matrix decreases" in refusal(changed(sparse_model, ".npz", change))


def test_only_csr_is_stored(sparse_model):
    def change(content: bytes) -> bytes:
        file = io.BytesIO()
        scipy.sparse.save_npz(file, scipy.sparse.load_npz(io.BytesIO(content)).tocoo())
        return file.getvalue()

    assert "is no CSR matrix" in refusal(changed(sparse_model, ".npz", change))


def test_parts_that_do_not_fit_together(model_file, data, refused, run):
    def change(content: bytes) -> bytes:
        array, file = np.load(io.BytesIO(content)), io.BytesIO()
        np.save(file, array[:, :2] if array.ndim == 2 and array.shape[1] == 3 else array)
        return file.getvalue()

    path = changed(model_file, ".npy", change)
    message = refused("predict", path, data, "--labels", "new.csv")
    assert f"Error: {path}: the model is incomplete; fit it again" in message
    # But a model that is not damaged keeps the message on the rows.
    Path("wrong.csv").write_text("length,mass,area\n1e200,1,1\n")
    assert "damaged" not in run("predict", model_file, "wrong.csv").stderr


def test_a_model_that_has_labels_but_no_distances(refused, run, folder):
    X = S.toarray()
    np.save("K.npy", X @ X.T)
    assert run("fit", "K.npy", "-k", 2, "--kernel", "precomputed").exit_code == 0

    def change(content):
        known = content["pipeline"][-1]._input.known
        known.values = known.values[:, None]

    rewritten(Path("K.model.skops"), change)
    message = refused("predict", "K.model.skops", "K.npy", "--labels", "new.csv")
    assert "K.model.skops: the model is damaged; fit it again (" in message


def test_a_reason_of_several_lines_is_put_on_one(model_file):
    def change(content):
        rows = content["pipeline"][-1].kernel_._features.rows
        rows.rows = rows.rows[0]

    rewritten(model_file, change)
    with pytest.raises(ValueError, match=r"Expected 2D array.*Reshape") as raised:
        load_model(model_file)
    assert "\n" not in str(raised.value)


def test_a_model_that_labels_dense_rows_alone(refused, run, folder):
    """An origin of one number fits all columns of NumPy, and not those of SciPy."""
    scipy.sparse.save_npz("S.npz", S)
    assert run("fit", "S.npz", "-k", 2, "--kernel", "linear", "--no-scale").exit_code == 0

    def change(content):
        features = content["pipeline"][-1]._predictor.features
        features.origin = features.origin[:1]

    rewritten(Path("S.model.skops"), change)
    message = refused("predict", "S.model.skops", "S.npz", "--labels", "new.csv")
    assert "S.model.skops: the model is damaged; fit it again (" in message


def test_a_model_that_labels_sparse_rows_alone(refused, fit, data):
    given = "--kernel", "rbf", "--approximation", "landmarks", "--components", 5
    assert fit(*given).exit_code == 0

    def change(content):
        kernel = content["pipeline"][-1]._predictor.kernel
        kernel.parameters["gamma"] = -1.0

    rewritten(Path("data.model.skops"), change)
    message = refused("predict", "data.model.skops", data, "--labels", "new.csv")
    assert "the model is damaged; fit it again (" in message


def test_numbers_that_overflow_are_refused_without_a_warning(model_file, data, refused):
    def shrink(content):
        content["pipeline"][0].scaler_.scale_[:] = 1e-320

    rewritten(model_file, shrink)
    message = refused("predict", model_file, data, "--labels", "new.csv")
    assert "overflow encountered" not in message


def test_a_whole_number_that_is_none_is_read_without_a_warning(model_file):
    def change(content: bytes) -> bytes:
        array = np.load(io.BytesIO(content))
        file = io.BytesIO()
        np.save(file, np.array(np.nan) if array.ndim == 0 and array.dtype.kind == "i" else array)
        return file.getvalue()

    path = changed(model_file, ".npy", change)
    assert path.read_bytes() != model_file.read_bytes()
    assert load_model(path).pipeline[-1].n_clusters == 3


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_numbers_that_no_model_has(model_file, data, refused, value):
    def change(content: bytes) -> bytes:
        array = np.load(io.BytesIO(content))
        if array.dtype.kind == "f" and array.ndim == 2:
            array.flat[-1] = value
        file = io.BytesIO()
        np.save(file, array)
        return file.getvalue()

    path = changed(model_file, ".npy", change)
    assert "holds NaN or infinity" in refused("predict", path, data, "--labels", "new.csv")


@pytest.mark.parametrize(
    "value",
    [
        np.nan,
        np.inf,
        np.float64(-np.inf),
        np.array([1.0, np.nan]),
        np.array([1j]),
        np.array([None]),
        np.array(["2001-01-01"], "M8[D]"),
        np.array(["2.5"]),
        [{"a": (0.5, {np.nan})}],
    ],
    ids=repr,
)
def test_content_that_no_model_has(value):
    with pytest.raises(ValueError, match=r"(gamma|a) holds"):
        check_content({"gamma": value})


def test_infinities_that_models_have():
    check_content({"entropy_weight": np.inf, "power_history_": np.array([-3.0, -np.inf])})
    check_content({"critical_power_": -np.inf})  # of samples that do not vary
    with pytest.raises(ValueError, match="power_history_ holds"):
        check_content({"power_history_": np.array([np.inf])})


@pytest.mark.parametrize("value", [-np.inf, np.array([-np.inf])])
def test_one_infinity_under_two_names(value):
    for names in (("power_history_", "gamma"), ("gamma", "power_history_")):
        with pytest.raises(ValueError, match="gamma holds"):
            check_content(dict.fromkeys(names, value))


def test_a_sparse_matrix_has_nothing_of_its_own():
    matrix = S.copy()
    matrix.check_format = print
    with pytest.raises(ValueError, match="X has a check_format of its own"):
        check_content({"X": matrix})


@pytest.mark.parametrize("name", ["_search", "_origin_and_scale", "of", "read"])
def test_nothing_stands_in_place_of_what_a_class_computes(name):
    """A crafted search tree would read memory out of bounds."""
    nearest = NearestRows(np.zeros((3, 2)), "euclidean")
    check_content(nearest)
    vars(nearest)[name] = 1.0
    with pytest.raises(ValueError, match=f"has a {name} of its own"):
        check_content({"nearest": nearest})


def test_contents_that_hold_themselves():
    content = {"gamma": 1.0}
    content["self"] = [content]
    check_content(content)


def test_the_budget_counts(model_file, data, refused):
    content = skops.io.load(model_file, trusted=list(TRUSTED_TYPES))
    content["zeros"] = np.zeros(10**6)
    skops.io.dump(content, "new.skops", compression=zipfile.ZIP_DEFLATED)
    assert Path("new.skops").stat().st_size < 10**6
    arguments = ["predict", "new.skops", data, "--labels", "new.csv"]
    message = refused(*arguments, "--memory-budget", "1MB")
    assert "8.2 MB" in message
    assert "--memory-budget" in message


def test_one_array_in_many_places_counts_in_each(model_file):
    def change(content: bytes) -> bytes:
        schema = json.loads(content)
        array = next(node for node in nodes(schema) if node.get("type") == "numpy")
        del array["__id__"]
        schema["content"]["many"] = {**list_node(), "content": [array] * 10_000}
        return json.dumps(schema).encode()

    assert "--memory-budget" in refusal(changed(model_file, ".json", change))


def test_a_schema_that_stands_for_more_than_it_spells_out(model_file):
    """Each list holds the one before twice: 2 ** 60 objects in a few lines."""

    def change(content: bytes) -> bytes:
        schema = json.loads(content)
        node = {**list_node(), "content": []}
        for number in range(60):
            short = {**list_node(), "content": [], "__id__": number}
            node = {**list_node(), "content": [{**node, "__id__": number}, short]}
        schema["content"]["many"] = node
        return json.dumps(schema).encode()

    assert "an object is written in two ways" in refusal(changed(model_file, ".json", change))


def test_a_schema_of_blanks(model_file, monkeypatch):
    monkeypatch.setattr("kernelmeans.models.archive._SCHEMA_BYTES", 10**6)
    path = changed(model_file, ".json", lambda content: content + b" " * 10**6)
    assert "schema.json" in refusal(path, most=10**9)


def test_a_schema_that_is_nested_too_deeply(model_file):
    path = changed(model_file, ".json", lambda content: b"[" * 100_000)
    assert "is damaged" in refusal(path)


def test_members_that_no_model_has(model_file):
    with zipfile.ZipFile(model_file, "a") as archive:
        archive.writestr("extra.bin", b"")
    assert "'extra.bin'" in refusal(model_file)


def test_archives_in_archives_are_counted(sparse_model):
    def change(content: bytes) -> bytes:
        file = io.BytesIO()
        np.savez_compressed(file, data=np.zeros(10**6))
        return file.getvalue()

    assert "8.0 MB" in refusal(changed(sparse_model, ".npz", change))


@pytest.mark.parametrize("norms", [np.empty(0), np.ones(10**4), np.ones((3, 1)), [1.0] * 3, None])
def test_a_number_of_centroids_that_labels_cannot_have(model_file, norms):
    content = skops.io.load(model_file, trusted=list(TRUSTED_TYPES))
    content["pipeline"][-1]._predictor.norms = norms
    skops.io.dump(content, "new.skops")
    assert "incomplete" in refusal(Path("new.skops"))


@pytest.mark.parametrize("change", [lambda n: n + 1, lambda n: n[:-1], lambda n: 0 * n, list])
def test_numbers_that_clusters_cannot_have(model_file, change):
    content = skops.io.load(model_file, trusted=list(TRUSTED_TYPES))
    predictor = content["pipeline"][-1]._predictor
    predictor._numbers = change(predictor.numbers)
    skops.io.dump(content, "new.skops")
    assert "incomplete" in refusal(Path("new.skops"))


@pytest.mark.parametrize("change", [lambda n: n + 1, lambda n: n[:-1], lambda n: n * 1.0])
@pytest.mark.usefixtures("folder")
def test_places_of_a_diagonal_that_no_kernel_matrix_has(change):
    K = np.diag(np.arange(1.0, 7))
    save_model(KernelKMeans(2, kernel="precomputed", random_state=0).fit(K), "K.model.skops")
    content = skops.io.load("K.model.skops", trusted=list(TRUSTED_TYPES))
    known = content["pipeline"][-1]._input.known
    known._order = change(known._order)
    skops.io.dump(content, "new.skops")
    assert "incomplete" in refusal(Path("new.skops"))


@pytest.mark.parametrize(
    "reading",
    [{"decimal": []}, {"thousands": {}}, {"missing_values": "x"}, {"missing_values": [1]},
     {"header": True}, {"units": ["a"]}, {"units": {"a": 1}}, {"width": "3"}],
    ids=str,
)  # fmt: skip
def test_ways_to_read_a_table_that_no_fit_stores(model_file, reading):
    rewritten(model_file, lambda content: content.update(reading=reading))
    assert "incomplete" in refusal(model_file)


def test_ways_to_read_a_table_that_fits_store(model_file):
    reading = {"header": False, "units": {"a": "kg"}, "missing_values": ["x"], "decimal": ","}
    rewritten(model_file, lambda content: content.update(reading=reading))
    assert load_model(model_file).reading == reading


def test_own_models_are_sound(model_file, sparse_model):
    for path in (model_file, sparse_model):
        check_archive(path, 10**6)
        load_model(path, 10**6)


def nodes(node: object):
    if isinstance(node, dict):
        yield node
    for child in node.values() if isinstance(node, dict) else node:
        if isinstance(child, dict | list):
            yield from nodes(child)


def list_node() -> dict:
    return {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode"}


@pytest.mark.slow
def test_models_need_neither_pytorch_nor_dask():
    """skops lists all of scikit-learn, which would import them: seconds for each command."""
    code = """
import sys, kernelmeans.models.model
assert not {"torch", "dask"} & set(sys.modules)
assert not [name for name, found in sys.modules.items() if found is None and "sklearn" in name]
"""
    subprocess.run([sys.executable, "-c", code], check=True)
