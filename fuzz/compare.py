"""What comes of random fits, ordinary and extreme ones: ours, scikit-learn's and tslearn's.

``python -m fuzz.compare`` prints a table, in which each two columns are the same problems of
``fuzz/rivals``. The second number of a cell counts those with ordinary numbers. tslearn is left
out unless it is there (``pip install tslearn``).
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fuzz.pool import Process
from fuzz.rivals import ORDINARY
from fuzz.runner import store

PACKAGE = "fuzz.rivals"
#: Classes of cases, and what they are in the table.
COLUMNS = {
    "kmeans_sklearn": "`KMeans`",
    "kmeans_ours": "`PowerKMeans`",
    "spectral_sklearn": "`SpectralClustering`",
    "spectral_ours": "`KernelPowerKMeans`",
    "kernel_tslearn": "tslearn's `KernelKMeans`",
    "kernel_ours": "`KernelKMeans`",
}
#: Rows of the table, and how a line of a report begins.
FAULTS = {
    "crash of the process": "the process is gone",
    "no end after 20 seconds": "no end after",
    "another exception": "",
    "warning of NumPy or SciPy": "foreign warning",
    "numbers that are not finite": "not finite",
    "labels outside 0 to k - 1": "no labels",
    "fewer clusters, without a warning": "fewer clusters",
    "two fits with the same seed differ": "two fits differ",
    "the objective rises": "objective rises",
    "`predict` differs from `labels_`": "predict differs",
    "`predict` fails after the fit": "predict fails",
}
#: What an estimator does not have, and nothing can be wrong with.
ABSENT = {"spectral_sklearn": tuple(FAULTS)[-3:]}  # no objective and no `predict`


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.compare", description=__doc__)
    parser.add_argument("--cases", type=int, default=3000, help="problems of each column (3000)")
    parser.add_argument("--first", type=int, default=0, help="number of the first problem (0)")
    parser.add_argument("--store", type=Path, default=Path("build/rivals"), help="for failures")
    given = parser.parse_args()
    columns = [name for name in COLUMNS if find_spec("tslearn") or name != "kernel_tslearn"]
    if len(columns) < len(COLUMNS):
        print("tslearn is not installed: its column is left out")
    numbers = range(given.first, given.first + given.cases)
    counts = {name: counted(name, numbers, given.store) for name in columns}
    print("\n".join(table(counts)))


def counted(name: str, numbers: range, folder: Path) -> Counter[tuple[str, bool]]:
    """What comes of the cases of a class, and whether their numbers are ordinary."""
    count, process = Counter[tuple[str, bool]](), Process(PACKAGE)
    try:
        for number in numbers:
            outcome = process.run(name, number)
            ordinary = outcome["words"].startswith(ORDINARY)
            count.update((what, ordinary) for what in ("cases", outcome["kind"], *faults(outcome)))
            if outcome["kind"] == "failed":
                store(folder, PACKAGE, name, number, outcome)
    finally:
        process.end()
    print(name, "done", file=sys.stderr, flush=True)
    return count


def faults(outcome: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong in a case; it may be more than one thing."""
    if outcome["kind"] == "failed":
        begins = [line.split(":")[0] for line in outcome["trace"].splitlines()]
        found = {
            fault
            for fault, begin in FAULTS.items()
            if begin and any(line.startswith(begin) for line in begins)
        }
        yield from found or ["another exception"]


def table(counts: Mapping[str, Counter[tuple[str, bool]]]) -> Iterator[str]:
    """The lines of a table in Markdown."""
    yield "| | " + " | ".join(COLUMNS[name] for name in counts) + " |"
    yield "|---" * (len(counts) + 1) + "|"
    for row in ("cases", "passed", "refused", "failed", *FAULTS):
        cells = [
            "-"
            if row in ABSENT.get(name, ())
            else f"{count[row, False] + count[row, True]} / {count[row, True]}"
            for name, count in counts.items()
        ]
        yield f"| {row} | " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
