"""Shares the time between classes of cases, counts outcomes, and stores failures.

It knows nothing of the cases: a class is a name with a weight, and a case is a number.
"""

import os
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Lock
from typing import Any

from fuzz.pool import MEGABYTES, SECONDS, WAITING, Process
from kernelmeans import __version__

#: Where the classes are, unless another package is named.
CASES = "fuzz.cases"
#: Seconds between lines of progress.
PROGRESS = 10
#: So many cases of a class, all of them refused, mean that it tries nothing.
ENOUGH = 8


@dataclass
class Tally:
    """Counts of a class; ``started`` is ahead of ``cases`` by those that are running."""

    weight: float
    started: int = 0
    cases: int = 0
    refused: int = 0
    failed: int = 0
    seconds: float = 0.0
    slowest: tuple[float, int] = (0.0, 0)
    largest: tuple[float, int] = (0.0, 0)

    def add(self, number: int, outcome: Mapping[str, Any]) -> None:
        """Count an outcome."""
        self.cases += 1
        self.refused += outcome["kind"] == "refused"
        self.failed += outcome["kind"] == "failed"
        self.seconds += outcome["seconds"]
        self.slowest = max(self.slowest, (outcome["seconds"], number))
        self.largest = max(self.largest, (outcome["megabytes"], number))


class Campaign:
    """Runs classes side by side, each with its part of the time.

    Parameters
    ----------
    package : str
        Where the classes are.
    weights : mapping of str to float
        The classes to run, and their parts.
    folder : Path
        Where failures are stored.
    first : int
        Number of the first case of each class.
    most : int or None
        Most cases of each class.
    """

    def __init__(
        self,
        package: str,
        weights: Mapping[str, float],
        folder: Path,
        first: int = 0,
        most: int | None = None,
    ) -> None:
        self.package, self.folder, self.first, self.most = package, folder, first, most
        self.tallies = {name: Tally(weight) for name, weight in weights.items()}
        self._lock, self._over = Lock(), Event()

    @property
    def failed(self) -> int:
        """Number of failures."""
        return sum(tally.failed for tally in self.tallies.values())

    @property
    def refusing(self) -> list[str]:
        """Classes of which all cases were refused."""
        return [
            name for name, tally in self.tallies.items() if tally.refused == tally.cases >= ENOUGH
        ]

    def run(self, seconds: float, jobs: int) -> None:
        """Run cases for so long in so many processes, or until Ctrl-C."""
        begin = time.monotonic()
        with ThreadPoolExecutor(jobs) as pool:
            working = [pool.submit(self._work) for _ in range(jobs)]
            try:
                while (left := begin + seconds - time.monotonic()) > 0:
                    if not wait(working, timeout=min(PROGRESS, left)).not_done:
                        break
                    cases = sum(tally.cases for tally in self.tallies.values())
                    passed = time.monotonic() - begin
                    print(f"{passed:6.0f} s {cases:8} cases {self.failed:6} failures", flush=True)
            except KeyboardInterrupt:
                print("interrupted")
            self._over.set()
        for one in working:
            one.result()

    def _work(self) -> None:
        process = Process(self.package)
        try:
            while not self._over.is_set() and (case := self._next()):
                outcome = process.run(*case)
                with self._lock:
                    self.tallies[case[0]].add(case[1], outcome)
                if outcome["kind"] == "failed":
                    store(self.folder, self.package, *case, outcome)
        finally:
            process.end()

    def _next(self) -> tuple[str, int] | None:
        """The next case, of the class that has used least of its part of the time."""
        with self._lock:
            left = {
                name: tally.seconds / tally.weight
                for name, tally in self.tallies.items()
                if self.most is None or tally.started < self.most
            }
            if not left:
                return None
            name = min(left, key=left.__getitem__)
            tally = self.tallies[name]
            tally.started += 1
            return name, self.first + tally.started - 1

    def table(self) -> str:
        """The counts of all classes."""
        titles = f"{'cases':>9}{'refused':>9}{'failed':>8}{'per s':>8}"
        lines = [f"{'class':12}{titles}  {'slowest':18}largest"]
        for name, tally in self.tallies.items():
            rate = tally.cases / max(tally.seconds, 0.01)  # the system counts in such steps
            counts = f"{tally.cases:9}{tally.refused:9}{tally.failed:8}{rate:8.1f}"
            slowest = f"{tally.slowest[0]:.1f} s ({tally.slowest[1]})"
            largest = f"{tally.largest[0]:.0f} MB ({tally.largest[1]})"
            lines.append(f"{name:12}{counts}  {slowest:18}{largest}")
        cases, refused, failed = (
            sum(getattr(tally, count) for tally in self.tallies.values())
            for count in ("cases", "refused", "failed")
        )
        lines.append(f"{'all':12}{cases:9}{refused:9}{failed:8}")
        hangs = f"{SECONDS} s of a processor, or {WAITING} s without work"
        lines.append(f"A case fails after {hangs}, or with {MEGABYTES} MB.")
        if self.refusing:
            lines.append(f"All cases were refused, which tries nothing: {', '.join(self.refusing)}")
        if self.failed:
            lines.append(f"{self.failed} failures are described in {self.folder}")
        return "\n".join(lines)


def store(folder: Path, package: str, name: str, number: int, outcome: Mapping[str, Any]) -> None:
    """Write a failure into a text file."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}-{number}.txt"
    unfinished = file.with_suffix(".unfinished")
    unfinished.write_text(f"{described(package, name, number, outcome)}\n", "utf-8")
    os.replace(unfinished, file)


def described(package: str, name: str, number: int, outcome: Mapping[str, Any]) -> str:
    """A case and what came of it, for people."""
    where = f" --package {package}" * (package != CASES)
    again = f"python -m fuzz{where} --replay {name} {number}"
    title = f"{name} {number} {outcome['kind']} (kernelmeans {__version__}): {again}"
    text = f"{title}\n\n{outcome['words']}\n\n{outcome['trace']}".rstrip()
    before = ", ".join(outcome["before"])
    return f"{text}\n\nThe same process ran before: {before}" if before else text


def replay(package: str, name: str, number: int) -> int:
    """Run one case again and print what comes of it; the exit code is 1 if it fails."""
    process = Process(package)
    try:
        outcome = process.run(name, number)
    finally:
        process.end()
    print(described(package, name, number, outcome))
    return int(outcome["kind"] == "failed")
