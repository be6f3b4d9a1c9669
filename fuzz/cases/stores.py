"""Folders of Zarr arrays, sound and damaged, through ``kernelmeans fit``."""

import json
from typing import Any

import numpy as np

from fuzz import Case, Rng
from fuzz.commands import QUICK, check_same_labels, run, write
from fuzz.draw import pick, plain_rows, rarely
from fuzz.judge import promised
from fuzz.mutations import WILD, cut, flipped, inserted

WEIGHT = 2
EXTREME = True
NEEDS = "zarr"  # the extra disk
Files = dict[str, bytes]
#: What the metadata of an array may say instead. Shapes are small, or take more memory than any
#: machine has: whatever is between takes as long as if it were stored.
SHAPES: tuple[Any, ...] = (
    *([10**13, 3], [20, 10**13], [-1, 3], [0, 3], [20], [3, 20], [20, 3, 1], [2.5, "x"], None),
)
VALUES: tuple[Any, ...] = (
    *(*SHAPES, "x", "", 0, -1, 10**30, 1.5, True, [], {}, [[]], {"name": "zz"}, "float16", "<U3"),
)


def case(rng: Rng) -> Case:
    change = pick(rng, sound, sound, *CHANGES)
    files = change(stored(rng), rng)
    options = ["--kernel", pick(rng, "rbf", "linear", "heat")]
    options += pick(rng, [], [], ["--no-scale"], ["-q"], ["--drop", "1"], ["--columns", "0"])
    options += ["--memory-budget", pick(rng, "1kB", "1MB", "100 MB")] if rarely(rng, 10) else []
    arguments = ["fit", "t.zarr", "-k", str(rng.integers(1, 4)), *options, *QUICK]

    def check() -> None:
        from zarr.core.sync import cleanup_resources

        write(files)
        try:
            run(arguments, damaged=["t.zarr"])
            with promised():
                check_same_labels("t.zarr")
        finally:
            cleanup_resources()  # threads of zarr

    metadata = [content for name, content in files.items() if is_metadata(name)]
    return Case(f"{change.__name__} {arguments}\n{sorted(files)}\n{metadata}", check)


def stored(rng: Rng) -> Files:
    """An array, or a group that holds some."""
    import zarr
    from zarr.core.sync import cleanup_resources
    from zarr.storage import MemoryStore

    store, form = MemoryStore(), pick(rng, 2, 3, 3)
    names = pick(rng, [""], [""], [""], ["X"], ["one"], ["X", "other"], ["a", "b"], ["é,\n"])
    try:
        if names != [""]:
            zarr.create_group(store, zarr_format=form)
        for name in names:
            X = array(rng)
            zarr.create_array(
                store,
                name=name or None,
                data=X,
                chunks=tuple(int(rng.integers(1, max(axis, 1) + 2)) for axis in X.shape),
                zarr_format=form,
                fill_value=pick(rng, None, None, 1) if X.dtype.kind in "iuf" else None,
                compressors=pick(rng, "auto", None),
            )
    finally:
        cleanup_resources()
    return {f"t.zarr/{key}": value.to_bytes() for key, value in store._store_dict.items()}


def array(rng: Rng) -> Any:
    """A matrix of numbers of any kind; rarely of other things."""
    X = plain_rows(rng, int(rng.integers(1, 40)), int(rng.integers(1, 6)))
    if rarely(rng, 6):
        X.flat[rng.integers(X.size)] = pick(rng, *WILD)
    if rarely(rng, 20):
        return pick(rng, X * 1j, X[:, 0], X[None], X.astype("<U3"), X[:, 0].astype("M8[s]"))
    with np.errstate(over="ignore", invalid="ignore"):
        return X.astype(pick(rng, *["f8"] * 4, ">f8", "f4", "f4", "f2", "i8", "u1", ">i4", "?"))


def is_metadata(name: str) -> bool:
    return name.rpartition("/")[2] in ("zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata")


def sound(files: Files, rng: Rng) -> Files:
    return files


def other_bytes(files: Files, rng: Rng) -> Files:
    """A file is damaged."""
    name = pick(rng, *files)
    content = files[name] and pick(rng, flipped, cut, inserted)(files[name], rng)
    return files | {name: content}


def other_metadata(files: Files, rng: Rng) -> Files:
    """The metadata say something else somewhere, or less."""
    name = pick(rng, *filter(is_metadata, files))
    metadata = json.loads(files[name])
    place, key = metadata, pick(rng, *metadata, "shape") if metadata else "shape"
    while isinstance(place.get(key), dict) and place[key] and not rarely(rng, 4):
        place = place[key]
        key = pick(rng, *place)
    if rarely(rng, 5):
        place.pop(key, None)
    else:
        place[key] = pick(rng, *(SHAPES if "shape" in key or key == "chunks" else VALUES))
    return files | {name: json.dumps(metadata).encode()}


def other_files(files: Files, rng: Rng) -> Files:
    """Files are gone, are those of others, or are folders."""
    name, other = pick(rng, *files), pick(rng, *files)
    rest = {each: content for each, content in files.items() if each != name}
    choices: tuple[Files, ...] = (
        rest,
        files | {name: files[other]},
        rest | {f"{name}/x": b""},
        files | {"t.zarr/none/zarr.json": files[other], "t.zarr/c/9/9": b"x"},
        {"t.zarr": files[name]},
        {"t.zarr/x": b""},
    )
    return choices[rng.integers(len(choices))]


CHANGES = [other_bytes, *[other_metadata] * 3, other_files]
