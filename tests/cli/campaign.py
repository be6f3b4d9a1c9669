"""Malformed files by the hundred, in a process of its own: a crash ends this one, not the tests.

``python campaign.py models|tables COUNT`` works in the current folder, names every case in the
file ``case`` before it runs, and prints what no command may answer.
"""

import faulthandler
import io
import json
import resource
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import polars as pl
import scipy.sparse
from click.testing import CliRunner
from sklearn.neighbors import kneighbors_graph

import kernelmeans.cli.job  # noqa: F401  (late imports are not to count)
from kernelmeans.cli.app import app

SECONDS = 20
QUICK = ["--n-swaps", "0", "-q", "--force"]
WILD = [np.nan, np.inf, -np.inf, 1e300, 0.0, -1.0, 2.0**62, 1e-320]
VIEWS = '[[view]]\ncolumns = ["a", "b"]\n[[view]]\nkernel = "linear"\n'
Case = tuple[str, list[str]]
Rng = np.random.Generator


def main() -> None:
    kind, count = sys.argv[1], int(sys.argv[2])
    # What takes more is refused by the system, as on a machine that is small.
    resource.setrlimit(resource.RLIMIT_AS, (8 * 2**30, 8 * 2**30))
    faulthandler.enable()
    cases = {"models": models, "tables": tables}[kind](count)
    for name, arguments in cases:
        Path("case").write_text(f"{name}: {arguments}")
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        begin = time.monotonic()
        with suppress(SystemExit):
            complain(name, CliRunner().invoke(app, arguments), time.monotonic() - begin)
        faulthandler.cancel_dump_traceback_later()
    print("done")


def complain(name: str, result, seconds: float) -> None:
    """Print what is wrong with an answer: a command is done, or says in a few words why not."""
    foreign = result.exception is not None and not isinstance(result.exception, SystemExit)
    errors = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    refused = result.exit_code in (1, 2) and len(errors) == 1
    if foreign or "unexpected" in result.stderr or len(result.stderr) > 10_000:
        print(name, repr(result.exception), result.stderr[:500])
    elif not (refused or result.exit_code == 0):
        print(name, result.exit_code, result.stderr[:500])


# Models


def models(count: int) -> Iterator[Case]:
    """Every kind of model that `fit` writes, changed in every way."""
    originals = {name: Path(f"{name}.skops").read_bytes() for name in write_models()}
    changes = [flipped, cut, other_array, other_sparse, other_schema, other_value]
    names = sorted(originals)
    for number in range(count):
        rng = np.random.default_rng(number)
        name, change = names[number % len(names)], changes[number // len(names) % len(changes)]
        Path("m.skops").write_bytes(change(originals[name], rng))
        data = "sparse.npz" if name.startswith("sparse") else "K.npy" if name == "K" else "X.csv"
        data = f"{name}.npz" if name in ("graph", "distances") else data
        yield f"{number} {name} {change.__name__}", ["predict", "m.skops", data, "-q", "--force"]


def write_models() -> list[str]:
    """Fit all kinds of model; the names of their files."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    np.savetxt("X.csv", X, delimiter=",", header="a,b,c", comments="")
    np.save("K.npy", X @ X.T)
    scipy.sparse.save_npz("sparse.npz", scipy.sparse.csr_array(np.maximum(X, 0)))
    scipy.sparse.save_npz("graph.npz", scipy.sparse.csr_array(np.maximum(X @ X.T, 0)))
    scipy.sparse.save_npz("distances.npz", kneighbors_graph(X, 4, mode="distance"))
    Path("views.toml").write_text(VIEWS)
    kernels = ["rbf", "laplacian", "poly", "cosine", "linear", "sigmoid", "heat"]
    low_rank = ["landmarks", "rpcholesky", "rff"]
    kinds = {kernel: ["X.csv", "--kernel", kernel] for kernel in kernels}
    gaussian = ["--kernel", "rbf", "--components", "5", "--approximation"]
    kinds |= {name: ["X.csv", *gaussian, name] for name in low_rank}
    kinds |= {
        "K": ["K.npy", "--kernel", "precomputed"],
        "sparse": ["sparse.npz", "--kernel", "rbf"],
        "sparse-heat": ["sparse.npz", "--kernel", "heat"],
        "graph": ["graph.npz", "--kernel", "graph"],
        "distances": ["distances.npz", "--kernel", "heat", "--metric", "precomputed"],
        "heat-anchors": ["X.csv", "--kernel", "heat", "--approximation", "landmarks"],
        "sparse-linear": ["sparse.npz", "--kernel", "linear"],
        "sparse-landmarks": ["sparse.npz", *gaussian, "landmarks"],
        "views": ["X.csv", "--views", "views.toml"],
    }
    for name, arguments in kinds.items():
        command = ["fit", *arguments, "-k", "3", *QUICK, "--model", f"{name}.skops"]
        result = CliRunner().invoke(app, command)
        assert result.exit_code == 0, result.output
    return list(kinds)


def flipped(content: bytes, rng: Rng) -> bytes:
    changed = bytearray(content)
    for place in rng.integers(len(content), size=rng.integers(1, 8)):
        changed[place] ^= 1 << rng.integers(8)
    return bytes(changed)


def cut(content: bytes, rng: Rng) -> bytes:
    return content[: rng.integers(len(content))]


def other_array(content: bytes, rng: Rng) -> bytes:
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
    def change(data: io.BytesIO) -> bytes:
        return sparse_members(data.read(), rng)

    return changed_member(content, ".npz", rng, change)


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


def dicts(node: object) -> Iterator[dict]:
    if isinstance(node, dict):
        yield node
    for child in node.values() if isinstance(node, dict) else node:
        if isinstance(child, dict | list):
            yield from dicts(child)


def saved(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def wild_sparse(arrays: dict[str, np.ndarray], rng: Rng) -> None:
    name = rng.choice(["indices", "indptr", "shape", "data", "format"])
    found = arrays[name]
    match name:
        case "format":
            arrays[name] = np.array(rng.choice([b"csc", b"coo", b"bsr", b"dia", b"xyz"]))
        case "data":
            arrays[name] = [found[:-1], found * 1j, found * np.nan, found.astype(str)][
                rng.integers(4)
            ]
        case _:
            found = np.array(found, dtype=np.int64)
            found[rng.integers(len(found))] = rng.choice([-1, 10**8, 2**31, 2**62, 5])
            arrays[name] = found


def sparse_members(content: bytes, rng: Rng) -> bytes:
    arrays = dict(np.load(io.BytesIO(content)))
    wild_sparse(arrays, rng)
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


# Tables


def tables(count: int) -> Iterator[Case]:
    """Tables of every kind, changed in every way."""
    X = np.random.default_rng(0).normal(size=(20, 3))
    originals = {"csv": text(X, ","), "tsv": text(X, "\t"), "npy": saved(X)}
    pl.DataFrame(X, schema=list("abc")).write_parquet("X.parquet")
    originals["parquet"] = Path("X.parquet").read_bytes()
    scipy.sparse.save_npz("X.npz", scipy.sparse.csr_array(np.maximum(X, 0)))
    originals["npz"] = Path("X.npz").read_bytes()
    kinds = sorted(originals)
    for number in range(count):
        rng = np.random.default_rng(number)
        kind = kinds[number % len(kinds)]
        changes = {"csv": TEXTS, "tsv": TEXTS, "npy": ARRAYS, "npz": ARCHIVES, "parquet": BYTES}[
            kind
        ]
        change = changes[number // len(kinds) % len(changes)]
        Path(f"t.{kind}").write_bytes(change(originals[kind], rng))
        switches = ["--no-scale"] if rng.integers(2) else ["--dtype", "float32"]
        kernel = str(rng.choice(["rbf", "linear", "poly", "cosine", "heat"]))
        arguments = ["fit", f"t.{kind}", "-k", "2", "--kernel", kernel, *switches, *QUICK]
        yield f"{number} {kind} {change.__name__}", arguments


def text(X: np.ndarray, separator: str) -> bytes:
    file = io.StringIO()
    np.savetxt(file, X, delimiter=separator, header=separator.join("abc"), comments="", fmt="%.4f")
    return file.getvalue().encode()


def inserted(content: bytes, rng: Rng) -> bytes:
    odd = [b"\0", b"\xff\xfe", b'"', b"\r", b"\n\n\n", b",,,,", b"\xef\xbb\xbf", b"x" * 200_000]
    place = rng.integers(len(content))
    return content[:place] + odd[rng.integers(len(odd))] + content[place:]


def other_cell(content: bytes, rng: Rng) -> bytes:
    lines = content.decode().splitlines()
    separator = "," if "," in lines[0] else "\t"
    row = int(rng.integers(len(lines)))
    cells = lines[row].split(separator)
    odd = [
        "",
        "x",
        "inf",
        "NaN",
        "1e999",
        "-1e400",
        "1e160",
        "é",
        "x" * 10**6,
        "1;2",
        "0x10",
        "1_0",
    ]
    cells[rng.integers(3)] = odd[rng.integers(len(odd))]
    lines[row] = separator.join(cells)
    encoding = "latin-1" if rng.integers(3) == 0 else "utf-8"
    return "\n".join(lines).encode(encoding) + b"\n"


def other_lines(content: bytes, rng: Rng) -> bytes:
    lines = content.splitlines(keepends=True)
    match rng.integers(5):
        case 0:
            return b"".join(lines[: rng.integers(3)])
        case 1:
            return b"".join(lines) + b"\n" * 5000
        case 2:
            return b"".join(lines).decode().encode("utf-16")
        case 3:
            return b"a,a,a\n" + b"".join(lines[1:])
        case _:
            return lines[0] + lines[int(rng.integers(1, len(lines)))] * 20


def other_header(content: bytes, rng: Rng) -> bytes:
    """An array whose header promises something else."""
    shapes = [(10**11, 3), (20, 2**62), (-1, 3), (0, 3), (20,), (3, 20), (20, 3, 1)]
    dtypes = ["<f8", "O", "<c16", "<U5", "<f2", "?", "<M8[s]", "V8"]
    file = io.BytesIO()
    header = {
        "descr": dtypes[rng.integers(len(dtypes))],
        "fortran_order": bool(rng.integers(2)),
        "shape": shapes[rng.integers(len(shapes))],
    }
    np.lib.format.write_array_header_1_0(file, header)
    return file.getvalue() + content[128:]


def wild_values(content: bytes, rng: Rng) -> bytes:
    X = np.load(io.BytesIO(content))
    X.flat[rng.integers(X.size, size=3)] = rng.choice(WILD, size=3)
    return saved(X)


def archived(content: bytes, rng: Rng) -> bytes:
    """A dense array in an archive, with a header that may lie."""
    array = other_header(saved(np.zeros((20, 3))), rng) if rng.integers(2) else b"hello"
    file = io.BytesIO()
    packing = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA][rng.integers(3)]
    with zipfile.ZipFile(file, "w", packing) as archive:
        archive.writestr(str(rng.choice(["X.npy", "X", "shape.npy"])), array)
    return file.getvalue()


BYTES = [flipped, cut, inserted]
TEXTS = [*BYTES, other_cell, other_lines, other_cell]
ARRAYS = [*BYTES, other_header, wild_values, other_header]


ARCHIVES = [*BYTES, sparse_members, archived, sparse_members]

if __name__ == "__main__":
    main()
