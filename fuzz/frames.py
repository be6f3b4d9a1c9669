"""Data frames at random, as people have them: numbers, categories, dates, gaps and odd names."""

import re
from typing import Any

import numpy as np
import pandas as pd

from fuzz import Rng
from fuzz.draw import pick, rarely

#: Statistics that are no numbers; a value of a category may be called inf.
NOT_FINITE = re.compile(r"(mean|median) -?(nan|inf)|[+-](nan|inf) sd|lift (nan|inf)")
NAMES = ("age", "Größe (cm)", "", " ", "a,b", "x" * 60, "zip code", "id", "x=1", "<b>", "0", "Ω")


def frame(rng: Rng, n: int) -> pd.DataFrame:
    """A data frame of pandas, whose columns have any kind and sometimes gaps."""
    columns: dict[str, Any] = {}
    for number in range(rng.integers(1, 7)):
        name = pick(rng, *NAMES) if rarely(rng, 3) else f"column {number}"
        values = pd.Series(column(rng, n))
        if rarely(rng, 4):
            values = values.where(rng.random(n) > pick(rng, 0.05, 0.5, 0.99))
            if values.dtype.kind != "M" and rarely(rng, 2):
                # Objects with all digits of a float are other categories than floats are.
                if values.dtype.kind == "f":
                    values = values.map(lambda value: float(f"{value:.3g}"))
                values = values.astype(object)
        columns[name] = values
    found = pd.DataFrame(columns)
    if rarely(rng, 10):
        found[pick(rng, "copy", "twice")] = found.iloc[:, 0]
    return found


def column(rng: Rng, n: int) -> Any:
    """The values of a column."""
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 400, n), unit="D")
    names, unit = [f"C{i:04}" for i in rng.permutation(n)], pick(rng, "", " €", "%")
    words = pick(
        rng, ["no", "yes"], ["a", "B", "ä ö"], ["1", "2"], ["0,5", "1.200,75"], list(NAMES)
    )
    return pick(
        rng,
        lambda: rng.normal(size=n).round(3),
        lambda: rng.normal(size=n) * 10.0 ** pick(rng, -3, 5, 12, 200, -200) + 10.0**6,
        lambda: np.exp(rng.normal(size=n) * 3).round(2),
        lambda: rng.integers(0, 3, n),
        lambda: np.arange(n) + 1000,
        lambda: rng.integers(0, 2, n).astype(bool),
        lambda: rng.choice(words, n),
        lambda: pd.Categorical(rng.choice(words, n)),
        lambda: pick(rng, days, days.astype(str), days.strftime("%d.%m.%Y")),
        lambda: names,
        lambda: [f"{x:.1f}{unit}" for x in rng.normal(size=n)],
        lambda: rng.normal(size=n).astype(np.float32),
        lambda: np.full(n, pick(rng, 1.0, "x", None)),
        lambda: pick(rng, [{}] * n, [b"x"] * n, [(1, 2)] * n, np.full(n, np.inf)),
    )()
