"""Fits that signals, full disks, lost permissions and files that change end.

Files are complete, or not there.
"""

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from fuzz import Case, Refused, Rng
from fuzz.draw import pick
from fuzz.judge import require
from fuzz.mutations import saved
from kernelmeans.cli.model import load_model

WEIGHT = 2
#: The faults of `fuzz.faulted`, and the numbers below which their moments are.
FAULTS = {
    "interrupt_after": 600,
    "interrupt_at": 25,
    "fill_at": 14,
    "deny_at": 25,
    "replace_at": 25,
    "limit_files": 20_000,
    "limit_memory": 120,
}
#: How many moments one process tries.
MOMENTS = 5
OLD = b"of an earlier fit"
#: Of a few rows all would fit into what the libraries keep in reserve.
FEW_ROWS, N_ROWS, MANY_ROWS = 25, 40, 1500
FORMATS: dict[str, Callable[[pl.DataFrame], bytes]] = {
    ".npy": lambda frame: saved(frame.to_numpy()),
    ".csv": lambda frame: frame.write_csv().encode(),
    ".parquet": lambda frame: written(frame.write_parquet),
}


def case(rng: Rng) -> Case:
    fault = pick(rng, *FAULTS)
    moments = rng.integers(FAULTS[fault], size=MOMENTS).tolist()
    kernel = pick(rng, "rbf", "linear", "heat")
    options = pick(rng, [], ["--soft"], ["--report"])
    old = pick(rng, None, "out/X.labels.csv", "out/X.summary.json")
    name = f"X{pick(rng, *FORMATS)}"
    arguments = ["fit", name, "-k", "3", "--kernel", kernel, "-o", "out", "--force", *options]
    return Case(
        f"{fault} {moments} {arguments} {old}", lambda: check(fault, moments, arguments, old)
    )


def check(fault: str, moments: list[int], arguments: list[str], old: str | None) -> None:
    """Run the command once for each moment, and look at what it has said and written."""
    n_rows = MANY_ROWS if fault == "limit_memory" else N_ROWS
    frame = pl.DataFrame(np.random.default_rng(0).normal(size=(n_rows, 3)), schema=["a", "b", "c"])
    suffix = Path(arguments[1]).suffix
    for number in range(len(moments)):
        folder = Path(str(number))
        folder.mkdir()
        for name, rows in (("X", frame), ("other", frame[:FEW_ROWS])):
            (folder / f"{name}{suffix}").write_bytes(FORMATS[suffix](rows))
        if old:
            (folder / "out").mkdir()
            (folder / old).write_bytes(OLD)
    given = [fault, json.dumps(moments), json.dumps(arguments)]
    done = subprocess.run([sys.executable, "-m", "fuzz.faulted", *given], capture_output=True)
    require(done.returncode == 0, done.stderr.decode(errors="replace"))
    ends = [json.loads(line) for line in done.stdout.splitlines()]
    for number, (status, said) in enumerate(ends):
        where = f"{fault} {moments[number]}, status {status}: {said}"
        # Without memory polars ends the process, or panics, and nothing can be removed.
        lost = fault == "limit_memory" and (status < 0 or "panicked at" in said)
        if not lost:
            require("Traceback" not in said and "This is a fault" not in said, where)
            require(status >= 0 or fault.startswith("interrupt"), where)
        if not lost and fault != "deny_at":  # where nothing may be removed
            check_left(Path(str(number)), where, is_done=status == 0)
        counts = [FEW_ROWS, N_ROWS] if fault == "replace_at" else [n_rows]
        check_files(Path(str(number)), counts, where, old, is_done=status == 0)
    if all(status for status, _ in ends):
        raise Refused(f"none of {len(ends)} was done")


def check_left(folder: Path, where: str, *, is_done: bool) -> None:
    """No temporary file and no empty folder is left, and all files are there if it was done."""
    require(not list(folder.rglob("*.tmp")), f"a temporary file is left: {where}")
    found = {path.suffix for path in folder.glob("out/*")}
    if is_done:
        require(found >= {".csv", ".json", ".skops"}, f"only {found}: {where}")
    else:
        require(found or not (folder / "out").exists(), f"an empty folder is left: {where}")


def check_files(
    folder: Path, counts: list[int], where: str, old: str | None, *, is_done: bool
) -> None:
    """Files under their names are whole, all of one input, or those of before."""
    paths = []
    for path in folder.glob("out/[!.]*"):
        if str(path.relative_to(folder)) == old and path.read_bytes() == OLD:
            require(not is_done, f"{path} is not replaced: {where}")
        else:
            paths.append(path)
    whole = [all(is_whole(path, n_rows) for path in paths) for n_rows in counts]
    require(any(whole), f"{', '.join(map(str, paths))} are not complete: {where}")


def is_whole(path: Path, n_rows: int) -> bool:
    """Whether a file that a fit to so many rows has written can be read to its end."""
    content = path.read_bytes()
    match path.suffix:
        case ".csv":
            rows = pl.read_csv(content).height if content.endswith(b"\n") else 0
            return rows == n_rows or (path.name == "X.clusters.csv" and rows > 0)
        case ".json":
            return content.endswith(b"}\n") and bool(json.loads(content))
        case ".html":
            return content.rstrip().endswith(b"</html>")
    return len(load_model(path).pipeline[-1].labels_) == n_rows


def written(write: Callable[[io.BytesIO], object]) -> bytes:
    """What a function writes into a file."""
    file = io.BytesIO()
    write(file)
    return file.getvalue()
