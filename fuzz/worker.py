"""The process in which cases run: it reads names and numbers, and answers with outcomes.

``python -m fuzz.worker PACKAGE`` is started by the runner, which ends it if a case hangs. What a
case prints goes to standard error, where faulthandler writes too.
"""

import faulthandler
import importlib
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import threading
import traceback
import warnings
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from fuzz import discover
from fuzz.judge import LOST, allow_own_warnings, is_refusal

#: What takes more is refused by the system, as on a small machine.
ADDRESS_SPACE = 8 * 2**30
#: The file with the words of the case that runs.
WORDS = "words"


def main() -> None:
    """Run the cases that standard input names, until it ends."""
    package, home = sys.argv[1], Path.cwd()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1)
    # Ctrl-C is for the runner, which then ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    temporary = home / "temporary"
    tempfile.tempdir = str(temporary)
    # What is imported once is no part of a case.
    discover(package)
    print("{}", file=answers, flush=True)
    for line in sys.stdin:
        name, number = json.loads(line)
        (home / WORDS).unlink(missing_ok=True)
        temporary.mkdir()
        before = threading.enumerate()
        forget_peak()
        with tempfile.TemporaryDirectory(dir=home) as folder:
            os.chdir(folder)
            outcome = run(home, f"{package}.{name}", name, number)
            os.chdir(home)
        outcome["megabytes"] = peak()
        threads = [repr(one) for one in threading.enumerate() if one not in before and stays(one)]
        if left := os.listdir(temporary) + threads:
            outcome |= {"kind": "failed", "trace": f"files or threads are left behind: {left}"}
        shutil.rmtree(temporary)
        print(json.dumps(outcome), file=answers, flush=True)


def run(home: Path, module: str, name: str, number: int) -> dict[str, Any]:
    """Make and check a case: whether it passed, was refused or failed, and why."""
    words, kind, trace = "", "passed", ""
    np.random.seed(number % 2**32)  # noqa: NPY002  (fits without a seed draw from here)
    cases = importlib.import_module(module)
    try:
        # Classes whose names are the same up to an underscore draw the same cases.
        seed = [zlib.crc32(name.partition("_")[0].encode()), number]
        words, check = cases.case(np.random.default_rng(seed))
        home.joinpath(WORDS).write_text(words, "utf-8", "replace")  # which a crash would lose
        with warnings.catch_warnings():
            allow_own_warnings()
            check()
    except Exception as error:
        # Errors of the case itself, before there are words, are no answers.
        answers = words and (LOST not in str(error) or getattr(cases, "EXTREME", False))
        kind = "refused" if answers and is_refusal(error) else "failed"
        trace = "".join(traceback.format_exception(error))
    return {"kind": kind, "words": words, "trace": trace}


def stays(thread: threading.Thread) -> bool:
    """Whether a thread goes on; pools that a refusal has closed end theirs a moment later."""
    thread.join(2)
    return thread.is_alive()


def forget_peak() -> None:
    """Let the peak of the memory of this process begin here, where the system can do that."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak() -> float:
    """The most resident memory of this process since then, in MB."""
    with suppress(OSError):
        status = Path("/proc/self/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / 1000
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


if __name__ == "__main__":
    main()
