"""Numbers as people write them are read alike in frames of pandas and polars, and in files."""

import csv

import numpy as np
import pandas as pd
import polars as pl
import pytest

from kernelmeans.tables import TableTransformer
from kernelmeans.tables.files.tables import open_file
from spellings import NO_NUMBERS, SPELLINGS

NUMBERS = [0.5, 1234.25, -3.25, 60.5, -987.75, 23456.5, -1234567.25, 7654321.0]


def in_a_file(columns, path):
    """The table of the command line."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([columns, *zip(*columns.values(), strict=True)])
    return open_file(path).whole(list(columns), "float64")


@pytest.fixture(params=["pandas", "polars", "file"])
def table(request, tmp_path):
    """Make a table of columns."""
    ways = {"pandas": pd.DataFrame, "polars": pl.DataFrame}
    return ways.get(request.param, lambda columns: in_a_file(columns, tmp_path / "data.csv"))


@pytest.mark.filterwarnings("ignore:.*is read as")
@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
def test_numbers_are_read(table, spelling):
    texts, numbers = spelling.column(NUMBERS * 5)
    towns = ["Rome", "Pisa"] * (len(texts) // 2)  # a file with commas needs two columns
    transformer = TableTransformer(scale=False, skewed="keep", drop=["town"])
    found = transformer.fit_transform(table({"x": texts, "town": towns}))
    assert found.tolist() == [[number] for number in numbers]


@pytest.mark.filterwarnings("ignore:.*is read as")
@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
def test_a_number_alone_is_read_as_its_column_was(library, spelling):
    """Its marks could mean something else."""
    texts, numbers = spelling.column(NUMBERS * 5)
    transformer = TableTransformer(scale=False, skewed="keep").fit(library({"x": texts}))
    for text, number in zip(texts[: len(NUMBERS)], numbers, strict=False):
        assert transformer.transform(library({"x": [text]})).tolist() == [[number]]


def taken(table):
    """What column x is taken for, and the names of all features; or why it is refused."""
    try:
        transformer = TableTransformer().fit(table)
    except ValueError as error:
        return "refused", str(error)
    return transformer.columns_[0].kind, transformer.get_feature_names_out().tolist()


@pytest.mark.filterwarnings("ignore:.*is read as")
@pytest.mark.parametrize("values", NO_NUMBERS, ids=" ".join)
def test_other_text_stays_as_it_is(table, values):
    size = np.arange(20.0 * len(values)) ** 2 / 7
    kind, said = taken(table({"x": values * 20, "size": size}))
    assert kind in ("category", "date", "text", "refused")
    assert kind != "category" or said == [*(f"x={value}" for value in sorted(values)), "size"]
    assert kind != "refused" or "'x' holds numbers, but" in said
