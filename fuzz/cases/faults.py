"""Fits that signals, full disks and limits of memory end: files are complete, or not there."""

import json
import subprocess
import sys
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
    "limit_files": 20_000,
    "limit_memory": 120,
}
#: How many moments one process tries.
MOMENTS = 5
OLD = b"of an earlier fit"
#: Of a few rows all would fit into what the libraries keep in reserve.
N_ROWS, MANY_ROWS = 40, 1500


def case(rng: Rng) -> Case:
    fault = pick(rng, *FAULTS)
    moments = rng.integers(FAULTS[fault], size=MOMENTS).tolist()
    kernel = pick(rng, "rbf", "linear", "heat")
    options = pick(rng, [], ["--soft"], ["--report"])
    old = pick(rng, None, "out/X.labels.csv", "out/X.summary.json")
    arguments = ["fit", "X.npy", "-k", "3", "--kernel", kernel, "-o", "out", "--force", *options]
    return Case(
        f"{fault} {moments} {arguments} {old}", lambda: check(fault, moments, arguments, old)
    )


def check(fault: str, moments: list[int], arguments: list[str], old: str | None) -> None:
    """Run the command once for each moment, and look at what it has said and written."""
    n_rows = MANY_ROWS if fault == "limit_memory" else N_ROWS
    X = saved(np.random.default_rng(0).normal(size=(n_rows, 3)))
    for number in range(len(moments)):
        folder = Path(str(number))
        folder.mkdir()
        (folder / "X.npy").write_bytes(X)
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
            check_left(Path(str(number)), where, is_done=status == 0)
        check_files(Path(str(number)), n_rows, where, old, is_done=status == 0)
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


def check_files(folder: Path, n_rows: int, where: str, old: str | None, *, is_done: bool) -> None:
    """Files under their names are whole, or those of before."""
    for path in folder.glob("out/[!.]*"):
        is_old = str(path.relative_to(folder)) == old and path.read_bytes() == OLD
        whole = is_whole(path, n_rows) if not is_old else not is_done
        require(whole, f"{path} is not complete: {where}")


def is_whole(path: Path, n_rows: int) -> bool:
    """Whether a file that a fit has written can be read to its end."""
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
