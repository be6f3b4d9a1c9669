"""Files on the command line and in Python: one of them fits, and the other labels alike."""

import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from sklearn.pipeline import make_pipeline

from fuzz import Case, Refused, Rng
from fuzz.cases.streams import answer
from fuzz.commands import QUICK, run
from fuzz.draw import pick, rarely
from fuzz.judge import is_refusal, promised, require
from kernelmeans import KernelPowerKMeans, load_model, save_model
from kernelmeans.tables import TableTransformer

WEIGHT = 2
#: Units before and after numbers.
UNITS = (
    *("{} kg", "{}kg", "{}%", "{} %", "{} EUR", "{} €", "{} days"),
    *("USD {}", "€{}", "$ {}", "R$ {}", "CHF {}"),
)
NEGATIVE = ("-{}", "-{}", "- {}", "({})", "{}-", "\u2212{}")
#: A value that is the same category however it is read.
WORD = re.compile(r"[1-9]\d*|0|\D*")
GAPS = ("", "", "NA", "unknown", "k.A.", "?", "-999")


def case(rng: Rng) -> Case:
    # Readers differ in blank lines, which a single column may have. The command line leaves rows
    # without values out of a fit, so that few rows may be too few.
    n = int(rng.integers(10, 40))
    columns = {f"column {number}": column(rng, n) for number in range(rng.integers(2, 5))}
    separator, suffix = pick(rng, ",", ",", ";", "\t"), pick(rng, "csv", "csv", "csv", "parquet")
    read = reader(rng, suffix, separator)
    parameters, options = told(rng, columns)
    kernel = pick(rng, "rbf", "linear", "heat")
    way = f"{read.func.__module__} {read.keywords}"
    words = f"{suffix} {separator!r} {way} {options} {kernel}\n{columns!r}"

    def check() -> None:
        frame, file = pl.DataFrame(columns), f"t.{suffix}"
        if suffix == "csv":
            frame.write_csv(file, separator=separator)
        else:
            frame.write_parquet(file)
        table = read(file)
        estimator = KernelPowerKMeans(2, kernel=kernel, n_swaps=0, random_state=0)
        model = make_pipeline(TableTransformer(**parameters), estimator)
        here = answer(["fit", file, "-k", "2", "--kernel", kernel, *options, *QUICK])
        # The command line decides again without the rows that hold nothing.
        there = refusal(model, table) or refusal(model, kept(model, table))
        require(bool(here) == bool(there), f"the command line: {here}\nPython: {there}")
        if here:
            raise Refused(here)
        with promised():
            check_labels(load_model("t.model.skops"), table, "t.labels.csv")
            save_model(model, "other.model.skops")
            run(["predict", "other.model.skops", file, "--labels", "other.csv"])
            check_labels(model, table, "other.csv")

    return Case(words, check)


def column(rng: Rng, n: int) -> list[str | None]:
    """Values as text, in one spelling but for a few, and with gaps."""
    group = rng.integers(2, size=n)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 400, n), unit="D")
    texts = pick(
        rng,
        lambda: numbers(rng, group + rng.normal(0, 0.1, n)),
        lambda: numbers(rng, group + rng.normal(0, 0.1, n)),
        lambda: numbers(rng, rng.lognormal(0, 3, n)),
        lambda: rng.integers(0, 3, n).astype(str),
        lambda: rng.choice(pick(rng, ["yes", "no"], ["True", "False"], ["0", "1"]), n),
        lambda: rng.choice(["Rome", "Paris, France", 'the "Hague"', "Köln; Rhein", "Zürich"], n),
        lambda: days.strftime(pick(rng, "%Y-%m-%d", "%d.%m.%Y", "%Y-%m-%d %H:%M")),
        lambda: [f"C{i:04}" for i in rng.permutation(n)],
    )()
    found: list[str | None] = [str(text) for text in texts]
    if rarely(rng, 3):
        gap, part = pick(rng, *GAPS), pick(rng, 0.05, 0.3)
        found = [gap or None if rng.random() < part else text for text in found]
    if rarely(rng, 12):
        found[rng.integers(n)] = pick(rng, "x", "1.5", "1,5", "7 lb", "$ 3", "1e5", "(2)", "inf")
    return found


def numbers(rng: Rng, values: np.ndarray) -> list[str]:
    """Numbers in one spelling."""
    decimal = pick(rng, ".", ".", ",")
    groups = pick(rng, "", "", {".": ",", ",": "."}[decimal], " ", "'", "\u202f")
    marks = str.maketrans({",": groups, ".": decimal})
    unit = pick(rng, *UNITS) if rarely(rng, 2) else "{}"
    minus, digits = pick(rng, *NEGATIVE), pick(rng, 0, 1, 2, 2, 3)
    values = values * 10.0 ** pick(rng, 0, 1, 3, 3, 6)
    texts = [f"{abs(value):,.{digits}f}".translate(marks) for value in values]
    signed = [minus.format(x) if value < 0 else x for x, value in zip(texts, values, strict=True)]
    return [unit.format(text) for text in signed]


def reader(rng: Rng, suffix: str, separator: str) -> partial[Any]:
    """A way to read a file in Python: with types that are guessed, or as text."""
    ways = [
        partial(pd.read_csv, sep=separator),
        partial(pd.read_csv, sep=separator, dtype=str),
        partial(pl.read_csv, separator=separator, infer_schema_length=None),
        partial(pl.read_csv, separator=separator, infer_schema=False),
    ]
    if suffix == "parquet":
        ways = [partial(pd.read_parquet), partial(pl.read_parquet)]
    return ways[rng.integers(len(ways))]


def told(rng: Rng, columns: dict[str, list[str | None]]) -> tuple[dict[str, Any], list[str]]:
    """Parameters of a `TableTransformer`, and the options that say the same."""
    # As text, numbers such as 9.0 are other categories than as numbers.
    plain = [name for name in columns if all(map(WORD.fullmatch, filter(None, columns[name])))]
    choices: dict[str, tuple[Any, list[str]]] = {
        "dates": (True, ["--dates"]),
        "scale": (False, ["--no-scale"]),
        "skewed": ("keep", ["--skewed", "keep"]),
        "missing": ("error", ["--missing", "error"]),
        "missing_values": (["-999", "n/t"], ["--missing-values=-999,n/t"]),
    }
    if plain:
        choices["categorical"] = plain[:1], ["--categorical", plain[0]]
    taken = [name for name in choices if rarely(rng, 5)]
    options = [option for name in taken for option in choices[name][1]]
    return {name: choices[name][0] for name in taken}, options


def refusal(model: Any, table: Any) -> str:
    """What a fit in Python says if it is refused."""
    try:
        model.fit(table)
    except Exception as error:
        if not is_refusal(error):
            raise
        return str(error)
    return ""


def kept(model: Any, table: Any) -> Any:
    """The rows of a table that a model can place."""
    placeable = model[0].inspect(table).placeable
    return table.filter(placeable) if isinstance(table, pl.DataFrame) else table[placeable]


def check_labels(model: Any, table: Any, file: str) -> None:
    """A model gives the rows of a table the labels in a file, and cannot place the others."""
    pipeline, labels = getattr(model, "pipeline", model), pl.read_csv(Path(file))["label"]
    placed = labels.is_not_null().to_numpy()
    placeable = pipeline[0].inspect(table).placeable
    require(np.array_equal(placed, placeable), f"{file}: placed {placed}, in Python {placeable}")
    rows = table.filter(placed) if isinstance(table, pl.DataFrame) else table[placed]
    found, expected = pipeline.predict(rows), labels.drop_nulls().to_numpy()
    require(np.array_equal(found, expected), f"{file}: labels {expected}, in Python {found}")
