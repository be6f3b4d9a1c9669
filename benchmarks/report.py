"""Time and size of a report of a million rows.

Run ``python benchmarks/report.py [rows]``. The table has twelve columns of numbers, one of them
with gaps, a category, yes or no, and a date. The model is a default fit to the numbers.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.datasets import make_blobs

from kernelmeans import ClusterReport, KernelPowerKMeans

K, P = 20, 12


def table_of(n: int) -> tuple[np.ndarray, pl.DataFrame]:
    """Rows of a fit, and a table of the same rows with columns of all kinds."""
    X, y = make_blobs(n, n_features=P, centers=K, random_state=0)
    X, rng = X.astype(np.float32), np.random.default_rng(0)
    frame = pl.DataFrame(X, schema=[f"number {column}" for column in range(P)])
    plans = np.array(["basic", "plus", "family", "business"])
    missing = pl.Series(rng.random(n) < np.where(y % 3, 0.05, 0.5))
    return X, frame.with_columns(
        pl.when(missing).then(None).otherwise("number 0").alias("number 0"),
        plan=pl.Series(plans[np.where(rng.random(n) < 0.2, rng.integers(4, size=n), y % 4)]),
        newsletter=pl.Series(np.where(rng.random(n) < 0.3 + 0.02 * y, "yes", "no")),
        since=pl.Series(rng.integers(14_000, 20_000, n).astype("datetime64[D]")),
    )


def timed(function: Callable[[], Any]) -> tuple[Any, float, float]:
    """A result, and the seconds of the clock and of all processors."""
    start, work = time.perf_counter(), time.process_time()
    return function(), time.perf_counter() - start, time.process_time() - work


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    X, table = table_of(n)
    model, fit, fit_work = timed(lambda: KernelPowerKMeans(K, random_state=0).fit(X))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"

        def report() -> None:
            ClusterReport(model, X, table=table, labels_true=table["plan"]).write_html(path)

        _, seconds, work = timed(report)
        size = path.stat().st_size
    print(f"report of {n} rows, {table.width} columns, k={K}:")
    print(f"  {seconds:.1f} s (< 20), processors {work:.1f} s; {size / 1e6:.2f} MB (< 1)")
    print(f"  the fit: {fit:.1f} s, processors {fit_work:.1f} s; ratio {work / fit_work:.2f}")


if __name__ == "__main__":
    main()
