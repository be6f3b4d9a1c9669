"""What it costs to make numbers of tables: TableTransformer beside transformers of scikit-learn.

``python benchmarks/preparation.py`` prints processor seconds, and peak memory over that of the
result, of fit_transform and transform, each in a process of its own. It also prints the size of
the model file of a table of 20 000 columns. The transformers of scikit-learn are chosen by hand:
SimpleImputer with indicators, OneHotEncoder and StandardScaler, in a ColumnTransformer with one
for all columns of a kind, or with one for each column. They need not find out the kinds.
"""

import time
from collections.abc import Callable

import numpy as np
import pandas as pd
import skops.io
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from kernelmeans.tables import TableTransformer
from peak import Peak, status
from scale import GB, alone

N_ROWS, N_WIDE = 1_000_000, 20_000


def numbers(n: int, p: int) -> pd.DataFrame:
    """Gaussian numbers; every second column has gaps."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    for j in range(0, p, 2):
        X[rng.random(n) < 0.1, j] = np.nan
    return pd.DataFrame(X, columns=[f"number {j}" for j in range(p)])


def mixed(n: int) -> pd.DataFrame:
    """Ten columns of numbers, six categories and four flags."""
    rng = np.random.default_rng(1)
    frame = numbers(n, 10)
    for j in range(6):
        words = np.array([f"value {i}" for i in range(3 + 2 * j)], dtype=object)
        frame[f"category {j}"] = words[rng.integers(0, len(words), n)]
    for j in range(4):
        frame[f"flag {j}"] = rng.integers(0, 2, n)
    return frame


def by_hand(frame: pd.DataFrame, *, each: bool) -> object:
    """The transformers of scikit-learn, one for all columns of a kind or one for each column."""
    steps = []
    for kind, step in (
        ("number", SimpleImputer(strategy="median", add_indicator=True)),
        ("category", OneHotEncoder(handle_unknown="ignore", sparse_output=False)),
        ("flag", SimpleImputer(strategy="median")),
    ):
        names = [name for name in frame if name.startswith(kind)]
        groups = [[name] for name in names] if each else [names]
        steps += [(f"{kind} {j}", step, group) for j, group in enumerate(groups) if group]
    return make_pipeline(ColumnTransformer(steps), StandardScaler(copy=False))


METHODS: dict[str, Callable[[pd.DataFrame], object]] = {
    "TableTransformer": lambda frame: TableTransformer(skewed="keep"),
    "one for each kind": lambda frame: by_hand(frame, each=False),
    "one for each column": lambda frame: by_hand(frame, each=True),
}
TABLES: dict[str, Callable[[], pd.DataFrame]] = {
    "10 numbers, 6 categories, 4 flags": lambda: mixed(N_ROWS),
    "50 numbers": lambda: numbers(N_ROWS, 50),
}


def cost(table: str, method: str) -> list[float]:
    """Processor seconds and peak memory over that of the result, of a fit and of new rows."""
    frame = TABLES[table]()
    prepare = METHODS[method](frame)
    figures = []
    for function in (prepare.fit_transform, prepare.transform):
        before, start = status("RssAnon"), time.process_time()
        with Peak() as peak:
            Z = function(frame)
        figures += [time.process_time() - start, (peak.bytes - before) / Z.nbytes]
        del Z
    return figures


def model_file(method: str) -> tuple[float, float]:
    """Seconds to write a wide table's transformer, and bytes."""
    frame = numbers(200, N_WIDE)
    prepare = METHODS[method](frame).fit(frame)
    start = time.process_time()
    written = skops.io.dumps(prepare)
    return time.process_time() - start, len(written)


def main() -> None:
    print(f"{'':<22}{'fit: s':>8}{'memory':>8}{'new rows: s':>13}{'memory':>8}")
    for table in TABLES:
        print(f"{N_ROWS} rows, {table}")
        for method in METHODS:
            first, peak, second, peak_new = alone(cost, table, method)
            print(
                f"  {method:<20}{first:>8.1f}{peak:>8.1f}{second:>13.1f}{peak_new:>8.1f}",
                flush=True,
            )
    print(f"model file, {N_WIDE} columns of numbers")
    for method in METHODS:
        seconds, size = alone(model_file, method)
        print(f"  {method:<20}{seconds:>8.2f} s{size / GB * 1000:>8.1f} MB", flush=True)


if __name__ == "__main__":
    main()
