"""Model files of all kinds, changed in all ways: they are refused, or predict. No code is run."""

import io
import json
import os
import pickle
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse
from click.testing import CliRunner
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fuzz import Case, Refused, Rng
from fuzz.commands import QUICK, require_line, run, write
from fuzz.draw import pick, rarely
from fuzz.judge import promised, require
from fuzz.mutations import WILD, cut, flipped, saved, sound, sparse_members
from fuzz.pool import ROOT
from kernelmeans import (
    KernelKMeans,
    KernelPowerKMeans,
    MultiKernelPowerKMeans,
    load_model,
    save_model,
)
from kernelmeans._errors import InputError
from kernelmeans.cli.app import app
from kernelmeans.tables import TableTransformer

WEIGHT = 3
EXTREME = True
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
    "table-gaps": ("table.csv", "--kernel rbf --missing-values a,C3 --dates --skewed keep"),
    "text": ("text.csv", "--kernel rbf --separator ; --decimal ,"),
    "unnamed": ("bare.csv", "--kernel rbf --no-header"),
    "views": ("X.csv", "--views views.toml"),
    "families": ("X.csv", "--views families.toml"),
    "K": ("K.npy", "--kernel precomputed"),
    "graph": ("graph.npz", "--kernel graph"),
    "distances": ("distances.npz", "--kernel heat --metric precomputed"),
    "sparse": ("sparse.npz", "--kernel rbf"),
    "sparse-heat": ("sparse.npz", "--kernel heat"),
    "sparse-linear": ("sparse.npz", "--kernel linear"),
    "sparse-landmarks": ("sparse.npz", f"{GAUSSIAN} landmarks"),
}

#: Models that Python writes, and what is predicted.
WRITTEN: dict[str, tuple[str, Callable[[], Any]]] = {
    "k-means": ("X.npy", lambda: KernelKMeans(3, random_state=0)),
    "scaled": ("X.npy", lambda: make_pipeline(StandardScaler(), KernelPowerKMeans(3, n_swaps=0))),
    **{
        name: ("X.npy", partial(MultiKernelPowerKMeans, 3, kernels=name, n_swaps=0))
        for name in ("neighbors", "widths", "du2015")
    },
    "low-rank": (
        "X.npy",
        lambda: MultiKernelPowerKMeans(3, kernels="widths", approximation="rff", n_swaps=0),
    ),
    "stack": ("stack.npy", lambda: MultiKernelPowerKMeans(3, kernels="precomputed", n_swaps=0)),
    "frame": (
        "table.csv",
        lambda: make_pipeline(
            TableTransformer(missing_values=("a", -1.0)), KernelPowerKMeans(3, n_swaps=0)
        ),
    ),
}
#: Models of earlier states of the package.
OLD = sorted((ROOT / "tests/models").glob("*/*.model.skops"))
#: Events of Python's audit hooks by which code from a file could be run.
RUNS = frozenset({
    *("os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty"),
    *("subprocess.Popen", "socket.connect", "socket.bind", "pickle.find_class", "webbrowser.open"),
    *("os.remove", "os.rmdir", "os.putenv", "os.chmod", "shutil.rmtree", "marshal.loads"),
})  # fmt: skip
_seen: list[str] = []


def _listen(event: str, given: tuple[Any, ...]) -> None:
    if event in RUNS and not _imports():
        _seen.append(f"{event} {given}"[:1000])


def _imports() -> bool:
    """Whether Python itself loads a module here, as codecs that a damaged archive names."""
    return sys._getframe(2).f_code.co_filename == "<frozen importlib._bootstrap_external>"


sys.addaudithook(_listen)


def case(rng: Rng) -> Case:
    name = pick(rng, *KINDS, *WRITTEN, *OLD)
    change = pick(rng, sound, flipped, cut, other_array, other_array, other_sparse, other_schema,
                  other_value, other_value, other_code, other_code)  # fmt: skip
    data, model = data_of(name), change(original(name), rng)
    files = {"m.skops": model, data: tables()[data]}
    arguments = ["predict", "m.skops", data, pick(rng, "-q", "--json", "--force")]
    check = check_python if data == "stack.npy" or rarely(rng, 4) else check_command
    words = f"{name} {change.__name__} {check.__name__} {arguments}"

    def watched() -> None:
        write(files)
        _seen.clear()
        try:
            with promised("a sound model") if change is sound else nullcontext():
                check(arguments)
        finally:
            events = [one for one in _seen if "m.skops" not in one and ".tmp" not in one]
            require(not events, f"code was run: {events}")
            require(not Path("ran").exists(), "code was run: it has made a file")

    return Case(words, watched)


def check_command(arguments: list[str]) -> None:
    """A model predicts, or is refused, perhaps with the table that it should take."""
    run(arguments, damaged=["m.skops", arguments[2]])


def check_python(arguments: list[str]) -> None:
    """What `load_model` takes predicts, or fails; anything else is refused."""
    try:
        model = load_model(arguments[1])
    except InputError as error:
        require_line(str(error), ["m.skops"])
        raise Refused(str(error)) from error
    name = arguments[2]
    with suppress(Exception), np.errstate(all="ignore"):  # a model may hold any finite numbers
        model.label(np.load(name) if name.endswith(".npy") else pd.read_csv(name))


def data_of(name: str | Path) -> str:
    """The table that a model of this kind predicts."""
    return "people.csv" if isinstance(name, Path) else (KINDS | WRITTEN)[name][0]


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
        "text.csv": "\n".join(rows).replace(",", ";").replace(".", ",").encode(),
        "bare.csv": "\n".join(rows[1:]).encode(),
        "people.csv": (ROOT / "tests/models/new_people.csv").read_bytes(),
        "families.toml": b'[[view]]\nkernel = "neighbors"\n[[view]]\nkernel = "widths"\n',
        "X.npy": saved(X),
        "stack.npy": saved(np.array([K, K * K])),
        "K.npy": saved(K),
        "views.toml": b'[[view]]\ncolumns = ["a", "b"]\n[[view]]\nkernel = "linear"\n',
        **{name: file.getvalue() for name, file in packed.items()},
    }


@cache
def original(name: str | Path) -> bytes:
    """The model file of a kind."""
    if isinstance(name, Path):
        return name.read_bytes()
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            write(tables())
            if name in WRITTEN:
                data, make = WRITTEN[name]
                X = np.load(data) if data.endswith(".npy") else pd.read_csv(data)
                save_model(make().fit(X), "m.skops")
                return Path("m.skops").read_bytes()
            data, options = KINDS[name]
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


class Command:
    """Runs a command when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, ("touch ran",)


def call(module: str, function: str) -> dict[str, Any]:
    """What calls a function where a model is loaded, so that it makes a file, if it is `eval`."""
    text = json.dumps("open('ran', 'w').close()" if function == "eval" else "touch ran")
    argument = {"__module__": "builtins", "__class__": "str", "__loader__": "JsonNode"}
    arguments = {"__module__": "builtins", "__class__": "tuple", "__loader__": "TupleNode"}
    return {
        **{"__module__": module, "__class__": function, "__loader__": "ConstructorFromReduceNode"},
        "content": {**arguments, "content": [{**argument, "content": text, "is_json": True}]},
    }


def other_code(content: bytes, rng: Rng) -> bytes:
    """A schema that names a function, or an array that is a pickle."""
    if rarely(rng, 4):
        file = io.BytesIO()
        np.save(file, np.array([Command()], dtype=object), allow_pickle=True)
        evil = pick(rng, file.getvalue(), pickle.dumps(Command()))
        return changed_member(content, ".npy", rng, lambda data: evil)
    functions = ("os", "system"), ("builtins", "eval"), ("subprocess", "Popen"), ("os", "remove")
    more = ("antigravity", "x"), ("pickle", "loads"), ("numpy", "load"), ("sklearn.utils", "Bunch")
    loaders = "Function", "Object", "Type", "Method", "OperatorFunc", "Partial", "Json"

    def change(data: io.BytesIO) -> bytes:
        schema = json.loads(data.read())
        nodes = [node for node in dicts(schema) if "__loader__" in node]
        node = nodes[rng.integers(len(nodes))]
        module, function = pick(rng, *functions, *more)
        node.update({"__module__": module, "__class__": function})
        if not rarely(rng, 4):
            node["__loader__"] = f"{pick(rng, *loaders)}Node"
        if rarely(rng, 3):
            node.update(call(module, function))
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
