"""Embeddings of ten thousand to a million rows, k given: ours beside EVoC and UMAP + HDBSCAN.

Run ``python benchmarks/embeddings.py [public topics made many million predict]``; without names all
parts but ``million`` are run. ``--data FOLDER`` holds the public sets: NAME.npy in float32, and
NAME_labels.npy, in which -1 is off topic. Sets that are not there are left out. They are MNIST,
Fashion-MNIST and USPS (grey values, training and test images), and texts: CLINC150, Banking77
(intents), and StackOverflow (titles of twenty tags). A text is the mean of its word vectors, scaled
to length 1 (the 256 columns that come with WordLlama 0.3.9).

``--rivals PYTHON`` is the Python of an environment that has the group ``benchmark``, in which
rivals run. They fit a few rows first, which compiles. EVoC is asked for k clusters. The process of
each fit has all cores and holds its rows in memory.

ARI is that of all rows on topic; those without a cluster are one more cluster. The ARI of the
clustered rows alone stands beside, with their share. Memory is what the fit adds, that of the rows
and of imports not counted. What ours states beside is the figure in the refusal of a fit that is
given too little memory; those by anchors name what they hold at least. A figure is the median of
three seeds. UMAP + HDBSCAN has none, so it is run three times.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

from embedding_sets import MADE, OFF, PUBLIC, Embeddings, made, public

PROGRAM = Path(__file__).with_name("embeddings_fit.py")
OURS, RIVALS = ("default", "graph", "anchors"), ("EVoC", "UMAP+HDBSCAN")
METHODS = (*OURS, *RIVALS, "k-means")
PARTS = ("public", "topics", "made", "many", "million", "predict")
GB = 1e9
#: Rows of predict that were not fitted.
NEW = 100_000


class Runs(NamedTuple):
    """How fits are run: the Python of rivals, the seeds, and the most seconds of a fit."""

    rivals: Path | None
    seeds: range
    limit: float


class FitError(Exception):
    """A fit that found no labels; its text says why."""


def one_fit(
    one: Embeddings, method: str, seed: int, runs: Runs, **more: Any
) -> tuple[np.ndarray, dict[str, Any]]:
    """Labels and figures of a fit in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        labels = Path(folder) / "labels.npy"
        asked = {"file": str(one.file), "method": method, "k": one.k, "metric": one.metric}
        environment = {**os.environ, **more.pop("environment", {})}
        python = runs.rivals if method in RIVALS else sys.executable
        try:
            done = subprocess.run(
                [str(python), "-W", "ignore", str(PROGRAM)],
                input=json.dumps({**asked, "seed": seed, "labels": str(labels), **more}),
                capture_output=True,
                text=True,
                timeout=runs.limit,
                env=environment,
            )
        except subprocess.TimeoutExpired:
            raise FitError(f"not within {runs.limit:.0f} s") from None
        if done.returncode:
            raise FitError((done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1])
        return np.load(labels), json.loads(done.stdout.splitlines()[-1])


def scores(one: Embeddings, labels: np.ndarray) -> tuple[float, float, float]:
    """ARI of all rows on topic, of the clustered ones alone, and their share."""
    on = one.labels != OFF
    truth, labels = one.labels[on], labels[on]
    kept = labels >= 0
    alone = adjusted_rand_score(truth[kept], labels[kept])
    return adjusted_rand_score(truth, labels), alone, float(kept.mean())


def line(one: Embeddings, method: str, runs: Runs) -> str:
    """The medians of a method's fits."""
    found = []
    for seed in runs.seeds:
        try:
            labels, figures = one_fit(one, method, seed, runs)
        except FitError as failure:
            return f"  {method:<14}{failure}"
        n_found = len(np.unique(labels[labels >= 0]))
        usage = [figures[name] for name in ("clock", "processors", "added")]
        found.append([*scores(one, labels), n_found, *usage])
    all_rows, alone, share, n_found, clock, processors, added = np.median(found, axis=0)
    text = f"  {method:<14}{all_rows:>8.3f}{alone:>10.3f}{share:>7.2f}{n_found:>6.0f}"
    text += f"{clock:>9.1f}{processors:>9.1f}{added / GB:>7.2f}"
    if stated := figures.get("stated"):
        text += f"{stated / GB:>8.2f}"
    if held := figures.get("held"):
        text += f"  {held}"
    return text


def table(sets: Iterator[Embeddings], methods: Sequence[str], runs: Runs) -> None:
    """A line for each set and method."""
    for one in sets:
        n, p = np.load(one.file, mmap_mode="r").shape
        print(f"\n{one.name}: {n} x {p}, k = {one.k}, {one.metric}")
        heads = f"{'ARI':>8}{'clustered':>10}{'share':>7}{'found':>6}{'seconds':>9}"
        print(f"  {'':<14}{heads}{'CPU s':>9}{'GB':>7}{'stated':>8}")
        for method in methods:
            print(line(one, method, runs), flush=True)


def sets(names: Sequence[str], data: Path | None) -> Iterator[Embeddings]:
    """The sets of these names that can be had, one at a time."""
    for name in names:
        if name in MADE:
            with tempfile.TemporaryDirectory() as folder:
                yield made(Path(folder), name)
        elif data and (one := public(data, name)):
            yield one
        else:
            print(f"\n{name}: left out, not in the folder of --data")


def predict(methods: Sequence[str], runs: Runs) -> None:
    """New rows: the time of their labels over that of the fit, and whether threads matter."""
    for name in ("topics", "gaussians"):
        with tempfile.TemporaryDirectory() as folder:
            n, new = MADE[name].n, Path(folder) / "new.npy"
            both = made(Path(folder), name, n + NEW)
            X = np.load(both.file)
            np.save(new, X[n:])
            np.save(both.file, X[:n])
            del X
            for method in methods:
                print(f"{name}, {n} rows, and {NEW} new, {method}: ", end="", flush=True)
                try:
                    print(predicted(both, method, new, runs), flush=True)
                except FitError as failure:
                    print(failure, flush=True)


def predicted(one: Embeddings, method: str, new: Path, runs: Runs) -> str:
    """What a fit and its labels of new rows show, with one thread, two and four."""
    found, ratios, same = [], [], []
    for threads in (1, 2, 4):
        environment = {name: str(threads) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
        labels, figures = one_fit(one, method, 0, runs, new=str(new), environment=environment)
        found.append(labels)
        ratios.append(figures["predict"] / figures["clock"])
        same.append(figures["same"])
    equal = all(np.array_equal(found[0], labels) for labels in found)
    times = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    return (
        f"seconds of predict over those of the fit {times} with 1, 2, 4 threads (<= 0.25), "
        f"labels_ == predict(X) {all(same)}, equal for all threads {equal}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="public sets")
    parser.add_argument("--rivals", type=Path, metavar="PYTHON", help="of the group benchmark")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS, metavar="NAME")
    parser.add_argument("--set", action="append", metavar="NAME", help="only this set")
    parser.add_argument("--seeds", type=int, default=3, help="fits of each method")
    parser.add_argument("--limit", type=float, default=3600, help="most seconds of a fit")
    arguments = parser.parse_args()
    if unknown := set(arguments.parts).difference(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}; choose from {', '.join(PARTS)}")
    if unknown := set(arguments.set or ()).difference(PUBLIC, MADE):
        parser.error(f"no such set: {', '.join(sorted(unknown))}")
    runs = Runs(arguments.rivals, range(arguments.seeds), arguments.limit)
    methods = [one for one in arguments.methods if arguments.rivals or one not in RIVALS]
    if left := set(arguments.methods).difference(methods):
        print(f"{', '.join(sorted(left))}: left out without --rivals")
    for part in arguments.parts or [one for one in PARTS if one != "million"]:
        if part == "predict":
            predict([one for one in methods if one in OURS], runs)
        else:
            names = (
                PUBLIC if part == "public" else [n for n, one in MADE.items() if one.part == part]
            )
            chosen = [name for name in names if not arguments.set or name in arguments.set]
            table(sets(chosen, arguments.data), methods, runs)


if __name__ == "__main__":
    main()
