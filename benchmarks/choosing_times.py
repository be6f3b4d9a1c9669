"""Times of searches, beside those of another copy of the library.

Each figure is the median of several processes, in turns with one copy and the other: other work on
the machine slows both alike. Makers of rows are today's; timed_fit.py imports nothing of today.
"""

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_digits, make_blobs
from sklearn.decomposition import PCA

import kernelmeans
import timed_fit
from choosing_weaknesses import customers

SOURCES = Path(kernelmeans.__file__).parents[1]
#: Variables that limit threads.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Case(NamedTuple):
    """Rows, and whether they are searched or fitted once. Without jobs there is one thread."""

    rows: Callable[[], np.ndarray]
    n_jobs: int | None = None
    is_search: bool = True


def digits() -> np.ndarray:
    return np.asarray(load_digits().data)


CASES = {
    "digits, 1797 x 64": Case(digits),
    "digits, n_jobs=2": Case(digits, n_jobs=2),
    "customers, 200 x 2": Case(lambda: customers(200, 2, 0)[0]),
    "blobs, 7000 x 20": Case(lambda: make_blobs(7000, 20, centers=8, random_state=0)[0]),
    "one fit, 900 x 24": Case(
        lambda: PCA(24, random_state=0).fit_transform(digits()[:900]), is_search=False
    ),
}


def times(wanted: list[str] | None, splits: int, repeats: int, beside: Path | None) -> None:
    """CPU and wall seconds, and ratios: those of the other copy, divided by ours."""
    copies, n_clusters = [SOURCES], timed_fit.N_CLUSTERS
    if beside:
        copies.append(beside.resolve() / "src")
    span = f"k = {n_clusters[0]} to {n_clusters[-1]}"
    print(f"\nMedians of {repeats} runs, {splits} splits, {span}, {os.cpu_count()} cores")
    heads = ""
    for number, sources in enumerate(copies):
        print(f"copy {number}: {sources}")
        heads += f"{f'copy {number}':>10}"
    heads += f"{'ratio':>10}" * bool(beside)
    print(f"{'':<20}{'CPU:':>8}{heads}{'wall:':>8}{heads}   clusters found")
    for name, case in CASES.items():
        if wanted is None or name in wanted:
            X = case.rows()
            runs = [[timed(case, X, splits, one) for one in copies] for _ in range(repeats)]
            print_row(name, np.median(runs, axis=0))


def timed(case: Case, X: np.ndarray, splits: int, sources: Path) -> list[float]:
    """What a process with these sources prints."""
    environment = {name: value for name, value in os.environ.items() if name not in THREADS}
    environment["PYTHONPATH"] = str(sources)
    if case.n_jobs is None:
        environment |= dict.fromkeys(THREADS, "1")
    given = pickle.dumps((X, splits if case.is_search else 0, case.n_jobs))
    command = [sys.executable, "-W", "ignore", timed_fit.__file__]
    out = subprocess.run(command, input=given, env=environment, stdout=subprocess.PIPE, check=True)
    return list(json.loads(out.stdout))


def print_row(name: str, medians: np.ndarray) -> None:
    """A row of medians, of shape (n_copies, 3)."""
    cells = ""
    for of_copies in medians.T[:2]:
        cells += f"{'':<8}" + "".join(f"{written(seconds):>10}" for seconds in of_copies)
        cells += "".join(f"{other / of_copies[0]:>10.2f}" for other in of_copies[1:])
    found = ", ".join(f"{k:g}" for k in medians[:, 2])
    print(f"{name:<20}{cells}   {found}", flush=True)


def written(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{1000 * seconds:.0f} ms"
