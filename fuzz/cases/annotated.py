"""Files of annotated data (``.h5ad``), sound and damaged, through ``kernelmeans fit``."""

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

from fuzz import Case, Rng
from fuzz.commands import QUICK, check_same_labels, run, write
from fuzz.draw import graph, pick, plain_rows, rarely
from fuzz.judge import promised
from fuzz.mutations import WILD, cut, flipped, inserted

WEIGHT = 2
EXTREME = True
NEEDS = "anndata"  # the extra h5ad
#: Names of annotations.
NAMES = ("kind", "Größe (cm)", "a,b", " ", "0", "<b>", "x" * 300, "obs_names", "gene 0", "a:b")
ENCODINGS = (
    *("array", "csr_matrix", "csc_matrix", "dataframe", "dict", "string", "string-array", "raw"),
    *("numeric-scalar", "categorical", "nullable-integer", "nullable-boolean", "anndata", "null"),
    *("rec-array", "awkward-array", "bytes", "zz", ""),
)
MATRICES = ("X", "layers:counts", "obsm:X_pca", "obsm:frame", "obsp:edges")
WHOLE = (-1, 0, 1, 5, 10**5, 2**31 - 1, 10**9, 10**12)


def case(rng: Rng) -> Case:
    change = sound if rarely(rng, 2) else pick(rng, *CHANGES)
    content = change(annotated(rng, int(rng.integers(1, 40)), int(rng.integers(1, 6))), rng)
    taken = pick(rng, "obsm:", "obs") if rarely(rng, 20) else pick(rng, *MATRICES)
    is_graph = taken == "obsp:edges" and not rarely(rng, 4)
    options = ["--take", taken] if is_graph or rarely(rng, 2) else []
    options += ["--kernel", "graph" if is_graph else pick(rng, "rbf", "linear", "heat")]
    for option in ("--label-column", "--id-column", "--weight-column", "--drop", "--columns"):
        options += [option, pick(rng, *NAMES, "1")] if rarely(rng, 20) else []
    options += pick(rng, [], [], ["--no-scale"], ["--missing", "drop"], ["-q"])
    options += ["--memory-budget", pick(rng, "1kB", "1MB", "100 MB")] if rarely(rng, 10) else []
    arguments = ["fit", "t.h5ad", "-k", str(rng.integers(1, 4)), *options, *QUICK]

    def check() -> None:
        write({"t.h5ad": content})
        run(arguments, damaged=["t.h5ad"])
        if not is_graph:
            with promised():
                check_same_labels("t.h5ad")

    return Case(f"{change.__name__} {arguments}", check)


def annotated(rng: Rng, n: int, p: int) -> bytes:
    """A file of every kind of matrix, and of annotations of every kind."""
    import h5py
    from anndata.io import write_elem

    index = pd.Index([f"cell {row}" for row in range(n)])
    if rarely(rng, 6):
        index = pd.Index(pick(rng, [""] * n, ["é\n,"] * n, list(map(str, range(n)))))
    columns = {name: annotation(rng, n) for name in rng.choice(NAMES, 4, replace=False)}
    genes = [f"gene {gene}" for gene in range(p)]
    if rarely(rng, 6):
        genes = pick(rng, ["same"] * p, [""] * p, ["a,b", *genes[1:]], ["x" * 5000, *genes[1:]])
    frame = pd.DataFrame(plain_rows(rng, n, p), index=index, columns=list(map(str, range(p))))
    parts = {
        "X": matrix(rng, n, p),
        "obs": pd.DataFrame(columns, index=index),
        "var": pd.DataFrame(index=pd.Index(genes)),
        "layers": {"counts": matrix(rng, n, p)},
        "obsm": {"X_pca": matrix(rng, n, int(rng.integers(1, 4))), "frame": frame},
        "obsp": {"edges": graph(rng, n)},
    }
    if rarely(rng, 10):
        parts[pick(rng, "X", "layers", "obs", "var")] = matrix(rng, n + 1, max(1, p - 1))
    for name in parts:
        if rarely(rng, 40):
            parts[name] = None
    file = io.BytesIO()
    with h5py.File(file, "w") as store:
        for name, part in parts.items():
            if part is not None:
                write_elem(store, name, coo_as_csr(part))
    return file.getvalue()


def coo_as_csr(part: Any) -> Any:
    """A part as it is, or in a format that files have."""
    if isinstance(part, dict):
        return {name: coo_as_csr(one) for name, one in part.items()}
    return part.tocsr() if getattr(part, "format", None) == "coo" else part


def matrix(rng: Rng, n: int, p: int) -> Any:
    """A matrix of numbers of any kind; rarely of other things, or empty."""
    X = plain_rows(rng, n, p)
    if rarely(rng, 6):
        X[rng.integers(n), rng.integers(p)] = pick(rng, *WILD)
    if rarely(rng, 20):
        return pick(rng, X * 1j, X.astype("S4"), X[:, 0], X[:, :0], X[:0], X[None])
    dtype = pick(rng, *["f8"] * 4, ">f8", "f4", "f4", "f2", "i8", "u1", ">i4", "?")
    with np.errstate(over="ignore", invalid="ignore"):
        X = X.astype(dtype)
    if dtype in ("f8", "f4", "i8") and rarely(rng, 2):
        with np.errstate(invalid="ignore"):
            return pick(rng, scipy.sparse.csr_array, scipy.sparse.csc_matrix)(X * (X > 0))
    return X


def annotation(rng: Rng, n: int) -> Any:
    """A column of what is known of rows."""
    words = pick(rng, ["T", "B"], ["ä ö", "", "a,b"], ["1", "2"], ["1.5", "x"])
    holes = rng.random(n) < 0.2
    return pick(
        rng,
        lambda: pd.Categorical(rng.choice(words, n)),
        lambda: pd.Categorical.from_codes(np.where(holes, -1, 1), categories=words),
        lambda: pd.Categorical(rng.integers(0, 3, n)),
        lambda: rng.choice(words, n),
        lambda: rng.normal(size=n),
        lambda: np.where(holes, np.nan, rng.integers(0, 3, n)),
        lambda: rng.integers(0, 3, n),
        lambda: holes,
        lambda: pd.array(np.where(holes, 0, 1), dtype="Int64"),
        lambda: pd.array(holes, dtype="boolean"),
        lambda: np.full(n, pick(rng, np.nan, np.inf, 0.0)),
    )()


def sound(content: bytes, rng: Rng) -> bytes:
    return content


def outside_heaps(change: Any) -> Any:
    """A change of bytes, but none in a heap of texts: HDF5 may never end (docs/trust.md)."""

    def elsewhere(content: bytes, rng: Rng) -> bytes:
        while True:
            other: bytes = change(content, rng)
            if all(heap in other for heap in heaps(content)):
                return other

    elsewhere.__name__ = change.__name__
    return elsewhere


def heaps(content: bytes) -> Iterator[bytes]:
    """The global heaps of an HDF5 file, which hold its texts."""
    start = content.find(b"GCOL")
    while start >= 0:
        end = start + int.from_bytes(content[start + 8 : start + 16], "little")
        yield content[start:end]
        start = content.find(b"GCOL", end)


def other_attribute(content: bytes, rng: Rng) -> bytes:
    """A part says that it is something else."""

    def change(file: Any, name: str) -> None:
        attributes = file[name].attrs
        key = pick(rng, "encoding-type", "encoding-type", *attributes)
        if rarely(rng, 5) and key in attributes:
            del attributes[key]
            return
        others = {
            "encoding-type": ENCODINGS,
            "shape": ((3, 3), (10**12, 2), (40, 10**12), (-1, 2), (5,), "x", (2.5, 1.0)),
            "column-order": ("zz", ["zz"], [], 3, ["kind", "kind"], [b"\xff"]),
            "_index": ("zz", "kind", 3, "", b"\xff"),
        }
        attributes[key] = pick(rng, *others.get(key, ("", 3, "9.9.9", np.nan, ["x"], b"\xff")))

    return changed(content, rng, change)


def other_part(content: bytes, rng: Rng) -> bytes:
    """A part holds other things, or is gone, and its attributes stay."""

    def change(file: Any, name: str) -> None:
        attributes = dict(file[name].attrs)
        del file[name]
        if rarely(rng, 5):
            return
        n = int(rng.integers(40))
        file[name] = pick(
            rng,
            *(np.zeros(n), np.zeros((n, 2)), np.zeros((n, 3), "S3"), np.full(n, b"\xff"), 3.5),
            *("x", np.arange(n)[::-1], np.zeros((0, 3)), np.zeros((2, 2, 2)), np.zeros(n) * 1j),
            *(np.zeros(n, [("a", "f8")]), np.array(["x"] * n, "O") if n else 1, np.zeros(n, "V5")),
        )
        file[name].attrs.update(attributes)

    return changed(content, rng, change)


def other_numbers(content: bytes, rng: Rng) -> bytes:
    """Indices, codes or values are wild."""

    def change(file: Any, name: str) -> None:
        import h5py

        part = file[name]
        if isinstance(part, h5py.Dataset) and part.dtype.kind in "iuf" and part.size:
            values = np.array(part[()])
            with np.errstate(over="ignore", invalid="ignore"):
                wild = WILD if values.dtype.kind == "f" else WHOLE
                values.flat[rng.integers(values.size)] = np.array(pick(rng, *wild)).astype(
                    values.dtype
                )
            part[()] = values

    for _ in range(5):
        content = changed(content, rng, change)
    return content


def promising(content: bytes, rng: Rng) -> bytes:
    """A part is said to be large, and holds next to nothing."""

    def change(file: Any, name: str) -> None:
        attributes = dict(file[name].attrs)
        del file[name]
        shape = pick(rng, (10**10,), (10**6, 10**6), (40, 10**9), (10**10, 2), (2**62,))
        dtype = pick(rng, "f8", "i4", "?", "S1000")
        file.create_dataset(name, shape, dtype, chunks=tuple(min(10, axis) for axis in shape))
        file[name].attrs.update(attributes)

    return changed(content, rng, change)


def leading_away(content: bytes, rng: Rng) -> bytes:
    """A part is a link, or part of itself."""

    def change(file: Any, name: str) -> None:
        import h5py

        del file[name]
        file[name] = pick(
            rng, h5py.SoftLink("/X"), h5py.SoftLink("/none"), h5py.ExternalLink("t.h5ad", "X"), file
        )

    return changed(content, rng, change)


def changed(content: bytes, rng: Rng, change: Any) -> bytes:
    """The file after the change of a part, mostly of one that is read."""
    import h5py

    file = io.BytesIO(content)
    with h5py.File(file, "r+") as store:
        names: list[str] = []
        store.visit(names.append)
        read = [name for name in names if name.startswith(("X", "obs/", "var"))]
        change(store, pick(rng, *names) if rarely(rng, 4) or not read else pick(rng, *read))
    return file.getvalue()


CHANGES = [
    *(outside_heaps(flipped), cut, outside_heaps(inserted)),
    *[other_attribute, other_part, other_numbers, promising] * 2,
    leading_away,
]
