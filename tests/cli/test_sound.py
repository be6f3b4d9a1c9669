"""Model files from strangers: sizes, plans and numbers that no model has."""

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
import skops.io

from kernelmeans.cli.errors import BadInputError
from kernelmeans.cli.model import TRUSTED_TYPES, check_archive, check_content, load_model
from kernelmeans.heat.neighbors import NearestRows

S = scipy.sparse.random_array((60, 3), density=0.7, format="csr", rng=0)


@pytest.fixture
def model_file(fit) -> Path:
    assert fit().exit_code == 0
    return Path("data.model.skops")


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
    with pytest.raises(BadInputError) as caught:
        load_model(path, most)
    assert str(path) in caught.value.message
    return caught.value.message


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


def test_only_csr_is_stored(sparse_model):
    def change(content: bytes) -> bytes:
        file = io.BytesIO()
        scipy.sparse.save_npz(file, scipy.sparse.load_npz(io.BytesIO(content)).tocoo())
        return file.getvalue()

    assert "is no CSR matrix" in refusal(changed(sparse_model, ".npz", change))


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
        [{"a": (0.5, {np.nan})}],
    ],
    ids=repr,
)
def test_content_that_no_model_has(value):
    with pytest.raises(ValueError, match=r"(gamma|a) holds"):
        check_content({"gamma": value})


def test_infinities_that_models_have():
    check_content({"entropy_weight": np.inf, "power_history_": np.array([-3.0, -np.inf])})
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
    assert "8.1 MB" in message
    assert "--memory-budget" in message


def test_one_array_in_many_places_counts_in_each(model_file):
    def change(content: bytes) -> bytes:
        plan = json.loads(content)
        array = next(node for node in nodes(plan) if node.get("type") == "numpy")
        del array["__id__"]
        plan["content"]["many"] = {**list_node(), "content": [array] * 10_000}
        return json.dumps(plan).encode()

    assert "--memory-budget" in refusal(changed(model_file, ".json", change))


def test_a_plan_that_stands_for_more_than_it_spells_out(model_file):
    """Each list holds the one before twice: 2 ** 60 objects in a few lines."""

    def change(content: bytes) -> bytes:
        plan = json.loads(content)
        node = {**list_node(), "content": []}
        for number in range(60):
            short = {**list_node(), "content": [], "__id__": number}
            node = {**list_node(), "content": [{**node, "__id__": number}, short]}
        plan["content"]["many"] = node
        return json.dumps(plan).encode()

    assert "an object is written in two ways" in refusal(changed(model_file, ".json", change))


def test_a_plan_of_blanks(model_file, monkeypatch):
    monkeypatch.setattr("kernelmeans.cli.model._PLAN_BYTES", 10**6)
    path = changed(model_file, ".json", lambda content: content + b" " * 10**6)
    assert "schema.json" in refusal(path, most=10**9)


def test_a_plan_that_is_nested_too_deeply(model_file):
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


@pytest.mark.parametrize("count", [0, -3, 10**12, 3.0, "3", None])
def test_a_number_of_clusters_that_labels_cannot_have(model_file, count):
    content = skops.io.load(model_file, trusted=list(TRUSTED_TYPES))
    content["pipeline"][-1].n_clusters = count
    skops.io.dump(content, "new.skops")
    assert "incomplete" in refusal(Path("new.skops"))


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
