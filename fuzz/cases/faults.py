"""Commands that signals, kills, full disks, lost permissions and files that change end.

Files are complete, or not there.
"""

import atexit
import io
import json
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import polars as pl
from click.testing import CliRunner

from fuzz import Case, Failure, Refused, Rng
from fuzz.draw import pick, rarely
from fuzz.faulted import BEFORE, BEGUN, NAMESPACE, PARTS, SIGNALS, TIMED
from fuzz.judge import require
from fuzz.mutations import saved
from kernelmeans.cli.app import app
from kernelmeans.models import load_model

WEIGHT = 2
#: The faults of `fuzz.faulted`, and the numbers below which their moments are.
FAULTS = {
    "interrupt_after": PARTS,
    "interrupt_at": 25,
    "kill_after": PARTS,
    "kill_at": 30,
    "kill_in": 40_000,
    "fill_at": 26,
    "fill_disk": 40,
    "deny_at": 25,
    "replace_at": 25,
    "limit_files": 20_000,
    "limit_memory": 120,
}
#: How many moments one case tries.
MOMENTS = 5
#: Faults in which libraries that draw may fail in words of theirs, or find no fonts.
PLAIN = "limit_memory", "deny_at"
PICTURES = "X.png", "P.png", "P.svg", "P.pdf"
OLD = b"of an earlier run"
MODEL = "model.skops"
#: The files that each command always writes.
OUTPUTS = {
    "fit": ("X.labels.csv", "X.summary.json", "X.model.skops"),
    "predict": ("X.labels.csv",),
    "choose": ("X.choose.json",),
}
#: Faults that may leave a hidden file, because nobody can remove it.
LEAVING = "deny_at", "kill_after", "kill_at", "kill_in"
#: Exit statuses of other faults than signals, which end a command as they do.
STATUSES = {
    "kill_after": {0, -signal.SIGALRM},
    "kill_at": {0, -signal.SIGKILL},
    "kill_in": {0, -signal.SIGXFSZ},
}
#: The name of an input, of the folder of the outputs, or of a file in it.
NAMED = re.compile(r"\bX\.|\bmodel\.skops|\bout[:/]")
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
    name = f"X{pick(rng, *FORMATS)}"
    command = pick(rng, "fit", "fit", "predict", "choose")
    kernel = pick(rng, "rbf", "linear", "heat")
    match command:
        case "fit":
            chosen = [name, "-k", "3", "--kernel", kernel, *pick(rng, [], ["--soft"], ["--report"])]
        case "predict":
            chosen = [MODEL, name]
        case "choose":
            chosen = [name, "-k", "2-3", "--splits", "2", "--kernels", kernel, "--n-swaps", "0"]
    arguments = [command, *chosen, "-o", "out", "--force"]
    if command != "predict" and rarely(rng, 3) and fault not in PLAIN and find_spec("matplotlib"):
        drawn = pick(rng, *PICTURES)
        arguments += ["--plot"] if drawn == PICTURES[0] else ["--plot-file", f"out/{drawn}"]
    if command == "fit" and rarely(rng, 5):
        arguments += ["--profiles", "out/P.clusters.csv"]
    old = pick(rng, None, *(f"out/{name}" for name in outputs_of(arguments)))
    return Case(
        f"{fault} {moments} {arguments} {old}", lambda: check(fault, moments, arguments, old)
    )


def check(fault: str, moments: list[int], arguments: list[str], old: str | None) -> None:
    """Run the command once for each moment, and look at what it has said and written."""
    n_rows = MANY_ROWS if fault == "limit_memory" else N_ROWS
    inputs = inputs_of(arguments, n_rows)
    before = inputs | ({old: OLD} if old else {})
    for place in [*map(str, range(len(moments))), *["whole"] * (fault in TIMED)]:
        for name, content in before.items():
            path = Path(place, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    if fault == "fill_disk" and not may_mount():
        raise Refused("no small disk may be mounted here")
    ends = runner(mounts=fault == "fill_disk")([str(Path.cwd()), fault, moments, arguments])
    for number, (status, said, ended, came) in enumerate(ends):
        folder = Path(str(number))
        where = f"{fault} {moments[number]}, status {status}: {said}"
        # Without memory polars ends the process, or panics, and nothing can be removed.
        lost = fault == "limit_memory" and (status < 0 or "panicked at" in said)
        if fault.startswith("interrupt"):
            check_signal(SIGNALS[moments[number] % 3], status, ended, came, where)
            if came == BEFORE:
                names = {str(path.relative_to(folder)) for path in files_in(folder)}
                require(names == {*before}, f"{names} were written: {where}")
        elif not lost:
            check_end(fault, status, said)
        if not lost and fault not in LEAVING:
            check_left(folder, where)
        if status == 0:
            check_done(folder, outputs_of(arguments), where)
        if fault != "replace_at":
            check_inputs(folder, inputs, where)
        counts = [FEW_ROWS, N_ROWS] if fault == "replace_at" else [n_rows]
        check_files(folder, counts, where, old, is_done=status == 0)
    if all(status for status, *_ in ends):
        raise Refused(f"none of {len(ends)} was done")


def inputs_of(arguments: list[str], n_rows: int) -> dict[str, bytes]:
    """The files that a command reads, and another table that may replace the first."""
    suffix = next(Path(one).suffix for one in arguments if one.startswith("X."))
    frame = pl.DataFrame(np.random.default_rng(0).normal(size=(n_rows, 3)), schema=["a", "b", "c"])
    inputs = {
        f"{name}{suffix}": FORMATS[suffix](rows)
        for name, rows in (("X", frame), ("other", frame[:FEW_ROWS]))
    }
    return inputs | ({MODEL: model_of(suffix)} if MODEL in arguments else {})


@cache
def model_of(suffix: str) -> bytes:
    """The model that is fitted to a table of this format."""
    with tempfile.TemporaryDirectory() as folder:
        table, model = Path(folder, f"X{suffix}"), Path(folder, MODEL)
        table.write_bytes(inputs_of([table.name], N_ROWS)[table.name])
        arguments = ["fit", str(table), "-k", "3", "--kernel", "rbf", "--model", str(model)]
        done = CliRunner().invoke(app, arguments)
        require(done.exit_code == 0, done.output)
        return model.read_bytes()


def outputs_of(arguments: Sequence[str]) -> list[str]:
    """The files that a command writes in any case."""
    more = {"--report": "X.report.html", "--plot": "X.png"}
    if arguments[0] == "choose":
        more["--plot"] = "X.choose.png"
    found = [*OUTPUTS[arguments[0]], *(more[one] for one in arguments if one in more)]
    # Where nothing tells clusters apart there are no profiles.
    pictures = [one for one in arguments if one.startswith("out/P") and not one.endswith(".csv")]
    return found + [Path(one).name for one in pictures]


def check_signal(
    number: signal.Signals, status: int, ended: int, came: int | None, where: str
) -> None:
    """A command that has begun ends as it is promised when a signal comes."""
    require("This is a fault" not in where, where)
    if came is None:
        require(status == 0, f"no signal has come: {where}")
    elif came == BEGUN:
        require(status == 128 + number, where)
    else:
        # A command that has ended may be done with it; 1 is click's, for Ctrl-C.
        statuses = {-number, 128 + number, *[1] * (number == signal.SIGINT)}
        require(status in statuses or (status == 0 and came != BEFORE), where)
        require(status != 1 or "Aborted!" in where, where)
    require(status >= 0 or ended != BEGUN, f"the command has not heard it: {where}")
    # Polars prints the signal that it has met, with its trace.
    require("Traceback" not in where or "panicked at" in where, where)


def check_end(fault: str, status: int, said: str) -> None:
    """The exit status is one that is promised, and a command that is refused says why."""
    where = f"{fault}, status {status}: {said}"
    require("Traceback" not in said and "This is a fault" not in said, where)
    require(status in STATUSES.get(fault, {0, 1, 2}), where)
    if status <= 0:
        return
    # A message may quote the name of an exception.
    *before, message = re.split("^Error: ", said, flags=re.MULTILINE)
    require(len(before) == 1 and len(message.split()) > 1, f"no message: {where}")
    if fault in ("fill_at", "fill_disk", "limit_files", "deny_at"):
        require(NAMED.search(message), f"no file is named: {where}")


def check_left(folder: Path, where: str) -> None:
    """No temporary file and no empty folder is left."""
    require(not list(folder.rglob("*.tmp")), f"a temporary file is left: {where}")
    out = folder / "out"
    require(not out.exists() or any(out.iterdir()), f"an empty folder is left: {where}")


def check_done(folder: Path, outputs: Sequence[str], where: str) -> None:
    """All files of a command that is done are there."""
    found = {path.name for path in folder.glob("out/*")}
    require(found >= {*outputs}, f"only {found}: {where}")


def files_in(folder: Path) -> list[Path]:
    """All files in a folder and those below it."""
    return [path for path in folder.rglob("*") if path.is_file()]


def check_inputs(folder: Path, inputs: Mapping[str, bytes], where: str) -> None:
    """What a command reads is there, and as it was."""
    for name, content in inputs.items():
        path = folder / name
        same = path.is_file() and path.read_bytes() == content
        require(same, f"{path} is lost or changed: {where}")


def check_files(
    folder: Path, counts: list[int], where: str, old: str | None, *, is_done: bool
) -> None:
    """Files under their names are whole, all of one input, or those of before, which all stay."""
    require(not old or (folder / old).exists(), f"{old} is lost: {where}")
    paths = []
    for path in folder.glob("out/[!.]*"):
        if str(path.relative_to(folder)) == old and path.read_bytes() == OLD:
            require(not is_done, f"{path} is not replaced: {where}")
        else:
            paths.append(path)
    whole = [all(is_whole(path, n_rows) for path in paths) for n_rows in counts]
    require(any(whole), f"{', '.join(map(str, paths))} are not complete: {where}")


def is_whole(path: Path, n_rows: int) -> bool:
    """Whether a file that a command has written of so many rows can be read to its end."""
    content = path.read_bytes()
    match path.suffix:
        case ".csv":
            rows = pl.read_csv(content).height if content.endswith(b"\n") else 0
            return rows == n_rows or (path.name.endswith(".clusters.csv") and rows > 0)
        case ".json":
            return content.endswith(b"}\n") and json.loads(content)["rows"] == n_rows
        case ".html":
            ends = content.rstrip().endswith(b"</html>")
            return ends and b">%d rows in 3 clusters" % n_rows in content
        case ".png" | ".svg" | ".pdf":
            return is_whole_picture(content, path.suffix)
    return len(load_model(path).pipeline[-1].labels_) == n_rows


def is_whole_picture(content: bytes, suffix: str) -> bool:
    """Whether a picture is there to its end; how many rows it shows cannot be told."""
    if suffix == ".pdf":
        return content.startswith(b"%PDF") and content.endswith(b"%%EOF\n")
    try:
        if suffix == ".svg":
            return ElementTree.fromstring(content).tag.endswith("svg")
        from PIL import Image

        Image.open(io.BytesIO(content)).load()
    except (ElementTree.ParseError, OSError, SyntaxError):
        return False
    return content.endswith(b"IEND\xaeB`\x82")


@cache
def runner(*, mounts: bool) -> Callable[[list[Any]], list[Any]]:
    """Start `fuzz.faulted`, once for all cases. Others do not see what is mounted there."""
    command = [*NAMESPACE * mounts, sys.executable, "-m", "fuzz.faulted"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(process.communicate)  # its input ends, and so does it

    def run(given: list[Any]) -> list[Any]:
        assert process.stdout is not None
        line = ""
        with suppress(BrokenPipeError):
            print(json.dumps(given), file=process.stdin, flush=True)
            line = process.stdout.readline()
        if not line:
            runner.cache_clear()
            raise Failure(f"fuzz.faulted has ended (exit status {process.wait()})")
        answer = json.loads(line)
        require(isinstance(answer, list), answer)
        return list(answer)

    return run


@cache
def may_mount() -> bool:
    """Whether this user may mount a small disk."""
    command = [*NAMESPACE, "mount", "-t", "tmpfs", "tmpfs", "."]
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except OSError:  # not everywhere are there such programs
        return False


def written(write: Callable[[io.BytesIO], object]) -> bytes:
    """What a function writes into a file."""
    file = io.BytesIO()
    write(file)
    return file.getvalue()
