"""Model files of all kinds, changed in all ways: they are refused, or predict."""

import io
import json
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from click.testing import CliRunner
from sklearn.neighbors import kneighbors_graph

from fuzz import Case, Rng
from fuzz.commands import QUICK, command
from fuzz.draw import pick
from fuzz.mutations import WILD, cut, flipped, saved, sparse_members
from kernelmeans.cli.app import app

WEIGHT = 3
GAUSSIAN = "--kernel rbf --components 5 --approximation"
#: The kinds of model: the data, the options of the fit, and what is predicted.
KINDS = {
    **{
        name: ("X.csv", f"--kernel {name}")
        for name in ("rbf", "laplacian", "poly", "cosine", "linear", "sigmoid", "heat", "geodesic")
    },
    **{name: ("X.csv", f"{GAUSSIAN} {name}") for name in ("landmarks", "rpcholesky", "rff")},
    "heat-anchors": ("X.csv", "--kernel heat --approximation landmarks"),
    "unscaled": ("X.csv", "--kernel rbf --no-scale --dtype float32"),
    "table": ("table.csv", "--kernel rbf"),
    "table-heat": ("table.csv", ""),
    "views": ("X.csv", "--views views.toml"),
    "K": ("K.npy", "--kernel precomputed"),
    "graph": ("graph.npz", "--kernel graph"),
    "distances": ("distances.npz", "--kernel heat --metric precomputed"),
    "sparse": ("sparse.npz", "--kernel rbf"),
    "sparse-heat": ("sparse.npz", "--kernel heat"),
    "sparse-linear": ("sparse.npz", "--kernel linear"),
    "sparse-landmarks": ("sparse.npz", f"{GAUSSIAN} landmarks"),
}


def case(rng: Rng) -> Case:
    name = pick(rng, *KINDS)
    change = pick(rng, flipped, cut, other_array, other_array, other_sparse, other_schema,
                  other_value, other_value)  # fmt: skip
    data = KINDS[name][0]
    model = change(original(name), rng)
    files = {"m.skops": model, data: tables()[data]}
    arguments = ["predict", "m.skops", data, pick(rng, "-q", "--json", "--force")]
    return command(arguments, files, f"{name} {change.__name__}")


@cache
def tables() -> dict[str, bytes]:
    """The data that models are fitted to, as files."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    K = X @ X.T
    lines = ["age,area,plan,id"]
    lines += [f"{x:.3f},{10 ** (3 * y):.1f},{'abc'[i % 3]},C{i}" for i, (x, y, _) in enumerate(X)]
    rows = ["a,b,c", *(",".join(f"{x:.6f}" for x in row) for row in X)]
    sparse = {
        "sparse.npz": scipy.sparse.csr_array(np.maximum(X, 0)),
        "graph.npz": scipy.sparse.csr_array(np.maximum(K, 0)),
        "distances.npz": kneighbors_graph(X, 4, mode="distance"),
    }
    packed = {name: io.BytesIO() for name in sparse}
    for name, matrix in sparse.items():
        scipy.sparse.save_npz(packed[name], matrix)
    return {
        "X.csv": "\n".join(rows).encode(),
        "table.csv": "\n".join(lines).encode(),
        "K.npy": saved(K),
        "views.toml": b'[[view]]\ncolumns = ["a", "b"]\n[[view]]\nkernel = "linear"\n',
        **{name: file.getvalue() for name, file in packed.items()},
    }


@cache
def original(name: str) -> bytes:
    """The model file of a kind."""
    data, options = KINDS[name]
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for file, content in tables().items():
                Path(file).write_bytes(content)
            arguments = ["fit", data, *options.split(), "-k", "3", *QUICK, "--model", "m.skops"]
            result = CliRunner().invoke(app, arguments)
            assert result.exit_code == 0, result.output
            return Path("m.skops").read_bytes()
        finally:
            os.chdir(here)


def other_array(content: bytes, rng: Rng) -> bytes:
    """One array with wild values, or of another type or shape."""

    def change(array: np.ndarray) -> np.ndarray:
        # Digests are no numbers, but their bytes are.
        array = np.array(array).view(np.uint8) if array.dtype.kind == "V" else np.array(array)
        if array.dtype.kind == "U" and array.size:  # what columns were taken for
            array.flat[rng.integers(array.size)] = str(rng.choice(WILD))
            return array
        match rng.integers(7):
            case 0 | 1 if array.size:
                with np.errstate(all="ignore"):
                    array = array.astype(float)
                    array.flat[rng.integers(array.size)] = rng.choice(WILD)
            case 2:
                array = array.astype(complex)
            case 3:
                array = array.astype(str)
            case 4:
                array = array.ravel()[: array.size // 2]
            case 5:
                array = np.concatenate([array.ravel(), array.ravel()])[:, None]
            case _ if array.size:
                array = array + np.array(10**7).astype(array.dtype)
        return array

    return changed_member(content, ".npy", rng, lambda data: saved(change(np.load(data))))


def other_sparse(content: bytes, rng: Rng) -> bytes:
    """One sparse matrix with wild parts."""
    return changed_member(content, ".npz", rng, lambda data: sparse_members(data.read(), rng))


def other_schema(content: bytes, rng: Rng) -> bytes:
    """A schema in which two parts have changed places, or one is gone."""

    def change(data: io.BytesIO) -> bytes:
        schema = json.loads(data.read())
        places = [node for node in dicts(schema) if node]
        one, other = (places[j] for j in rng.integers(len(places), size=2))
        key = rng.choice(list(one))
        if rng.integers(2) and key in other:
            one[key], other[key] = other[key], one[key]
        elif rng.integers(2):
            del one[key]
        else:
            one[key] = other
        with suppress(ValueError, RecursionError):
            return json.dumps(schema).encode()
        return b"{}"

    return changed_member(content, ".json", rng, change)


def other_value(content: bytes, rng: Rng) -> bytes:
    """A schema with another plain value."""

    def change(data: io.BytesIO) -> bytes:
        schema = json.loads(data.read())
        leaves = [node for node in dicts(schema) if node.get("__loader__") == "JsonNode"]
        values = ["null", "NaN", "-1", "0", "1e400", '"x"', "[]", "10000000000000", "[" * 3000]
        leaves[rng.integers(len(leaves))]["content"] = str(rng.choice(values))
        return json.dumps(schema).encode()

    return changed_member(content, ".json", rng, change)


def changed_member(
    content: bytes, suffix: str, rng: Rng, change: Callable[[io.BytesIO], bytes]
) -> bytes:
    """The archive with one member of this kind changed; with a few bits, if it has none."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    names = [name for name in members if name.endswith(suffix)]
    if not names:
        return flipped(content, rng)
    name = rng.choice(names)
    members[name] = change(io.BytesIO(members[name]))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for each, data in members.items():
            archive.writestr(each, data)
    return file.getvalue()


def dicts(node: Any) -> Iterator[dict[str, Any]]:
    """All dicts in a schema, the outer ones first."""
    if isinstance(node, dict):
        yield node
    for child in node.values() if isinstance(node, dict) else node:
        if isinstance(child, dict | list):
            yield from dicts(child)
