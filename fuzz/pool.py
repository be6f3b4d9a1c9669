"""A process in which cases run, and which is replaced when a case crashes it or hangs."""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from fuzz.worker import WORDS

#: Processor seconds of one case; and the seconds after which it waits for something, if it has had
#: less of a processor than this.
SECONDS, WAITING, WORK = 20, 20, 0.2
#: Most resident memory, with about 400 for what is imported.
MEGABYTES = 2000
#: How many cases before a failure are told.
REMEMBERED = 9
ROOT = Path(__file__).parents[1]
#: One thread in each process, and the same order of sets in a replay.
ENVIRONMENT = {
    **dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1"),
    "PYTHONHASHSEED": "0",
    "MPLBACKEND": "agg",
}


class Process:
    """Runs one case at a time in `fuzz.worker`.

    Parameters
    ----------
    package : str
        Where the classes of cases are.
    """

    def __init__(self, package: str) -> None:
        self.package = package
        self._spent = 0.0
        self._open()

    def run(self, name: str, number: int) -> dict[str, Any]:
        """Run a case: whether it passed, was refused or failed, its words, trace and seconds.

        And the last cases before it, which may have left something behind.
        """
        before = list(self._ran)
        self._ran.append(f"{name} {number}")
        return self._run(name, number) | {"before": before}

    def _run(self, name: str, number: int) -> dict[str, Any]:
        began, cpu = time.monotonic(), self._spent
        worked, latest = began, cpu
        with suppress(BrokenPipeError):
            self._stdin.write(json.dumps([name, number]).encode() + b"\n")
        wrong = ""
        while not wrong:
            if select.select([self._stdout], [], [], 1)[0]:
                line = self._stdout.readline()
                if line.endswith(b"\n"):
                    self._spent = self._cpu()
                    return _judged(json.loads(line) | {"seconds": self._spent - cpu})
                wrong = f"the process is gone (exit status {self._process.wait()})"
                continue
            # On a busy machine a case may need minutes, but it goes on.
            if abs((now := self._cpu()) - latest) > WORK:
                worked, latest = time.monotonic(), now
            if now - cpu > SECONDS or time.monotonic() - worked > WAITING:
                self._process.send_signal(signal.SIGUSR1)
                wrong = f"no end after {self._cpu() - cpu:.0f} s of a processor"
                time.sleep(0.5)
        trace = self._errors.read_bytes()[-10_000:].decode(errors="replace")
        words = self._home / WORDS
        said = words.read_text("utf-8", "replace") if words.exists() else ""
        seconds = max(self._cpu() - cpu, time.monotonic() - began)  # 0 of a process that is gone
        self.end()
        self._open()
        trace = f"{wrong}\n{trace}"
        return {"kind": "failed", "words": said, "trace": trace, "seconds": seconds, "megabytes": 0}

    def end(self) -> None:
        """End it with its children, and remove its files."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._stdin.close()
        self._stdout.close()
        shutil.rmtree(self._home, ignore_errors=True)

    def _open(self) -> None:
        self._ran = deque[str](maxlen=REMEMBERED)
        self._home = Path(tempfile.mkdtemp(prefix="fuzz-"))
        self._errors = self._home / "errors"
        path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "fuzz.worker", self.package],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=self._home,
                env=os.environ | ENVIRONMENT | {"PYTHONPATH": path},
                start_new_session=True,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._stdout.readline()  # it is ready, and what it imports is no part of a case
        self._spent = self._cpu()

    def _cpu(self) -> float:
        """Processor seconds of the process and of its children, those that have ended too."""
        total = 0.0
        with suppress(psutil.Error):
            process = psutil.Process(self._process.pid)
            for one in [process, *process.children(recursive=True)]:
                with suppress(psutil.Error):  # a child that has just ended
                    total += sum(one.cpu_times()[:4])
        return total


def _judged(outcome: dict[str, Any]) -> dict[str, Any]:
    """An outcome, which is a failure if it took too much memory."""
    if (taken := outcome["megabytes"]) > MEGABYTES:
        outcome |= {"kind": "failed", "trace": f"it took {taken:.0f} MB\n{outcome['trace']}"}
    return outcome
