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


#: Spellings of one unit, and of units that only look alike.
SAME_UNITS = [
    "kg KG Kg",
    "mg/dL mg/dl",
    "kWh KWH",
    "hours Hours HOURS",
    "EUR € eur",
    "USD $",
    "GBP £",
]
OTHER_UNITS = ["mW MW", "mPa MPa", "mg Mg", "€ $", "kg lb", "mg/dl Mg/dl"]


def in_units(units):
    """A column of numbers in these units in turn, and the numbers."""
    numbers = np.arange(20.0, 80).tolist()
    return [f"{number} {units[row % len(units)]}" for row, number in enumerate(numbers)], numbers


@pytest.mark.parametrize("units", SAME_UNITS)
def test_a_unit_has_several_spellings(table, units):
    texts, numbers = in_units(units.split())
    transformer = TableTransformer(scale=False, skewed="keep", drop=["town"])
    columns = {"x": texts, "town": ["Rome", "Pisa"] * 30}
    assert transformer.fit_transform(table(columns))[:, 0].tolist() == numbers
    usual, *others = units.split()
    transformer.fit(table({**columns, "x": in_units([usual])[0]}))
    assert f"x: in '{usual.removesuffix('s')}'" in transformer.report_
    for other in others:
        new = table({**columns, "x": in_units([other])[0]})
        assert transformer.transform(new)[:, 0].tolist() == numbers


@pytest.mark.parametrize("units", OTHER_UNITS)
def test_other_units_are_not_mixed(table, units):
    usual, other = units.split()
    columns = {"x": in_units([usual, usual, other])[0], "y": np.arange(60.0) ** 2}
    transformer = TableTransformer().fit(table(columns))
    said = f"numbers in '{usual}', but also values such as '22.0 {other}'"
    assert transformer.columns_[0].reason == said
    columns["x"] = in_units([usual])[0]
    transformer.fit(table(columns))
    columns["x"][7] = f"5 {other}"
    assert transformer.inspect(table(columns)).wrong["x"] == (7, f"'5 {other}' (not {usual})")
    with pytest.raises(ValueError, match=f"holds numbers, but '5 .* has no {usual!r}, which"):
        TableTransformer().fit(table(columns))


def test_bounds_are_read_as_numbers_and_said(table):
    texts = ["<0.5 mg/dl", "7.5", "> 200 mg/dl", "12 mg/dl", "≤ 3 mg/dl", ">=9 mg/dl"] * 8
    numbers = [0.5, 7.5, 200, 12, 3, 9] * 8
    columns = {"x": texts, "y": np.arange(48.0) ** 2}
    transformer = TableTransformer(scale=False, skewed="keep", drop=["y"])
    said = "'<0.5 mg/dl' in column 'x' is read as 0.5; .*categories .categorical="
    with pytest.warns(UserWarning, match=said):
        assert transformer.fit_transform(table(columns))[:, 0].tolist() == numbers
    said = ", 32 bounds such as '<0.5 mg/dl' read as numbers"
    assert transformer.columns_[0].reason.endswith(said)
    transformer.fit(table({**columns, "x": numbers}))
    new = [str(number) for number in numbers[:-1]] + ["<4.5"]
    with pytest.warns(UserWarning, match="'<4.5' in column 'x' is read as 4.5"):
        assert transformer.transform(table({**columns, "x": new}))[-1].tolist() == [4.5]


@pytest.mark.parametrize("values", [["<18", "18-64", ">65"], ["<5", "<10", ">10"]], ids=" ".join)
def test_bounds_alone_are_no_numbers(table, values):
    kind, names = taken(table({"x": values * 20, "y": np.arange(60.0) ** 2}))
    assert (kind, names[:-1]) == ("category", [f"x={value}" for value in sorted(values)])


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


@pytest.mark.parametrize(
    ("fitted", "new", "read"),
    [
        # What looks like fractions of three digits are thousands, if the fit had whole numbers.
        (["12500", "730"], ["35.250", "1.730.500", "12"], [35250, 1730500, 12]),
        (["12500", "730"], ["35,250", "12"], [35250, 12]),
        # Other fractions are fractions, and so is .000, which programs add to whole numbers.
        (["12500", "730"], ["35.250", "12.5"], [35.25, 12.5]),
        (["12500", "730"], ["35.000", "12.000"], [35, 12]),
        (["12.5", "730"], ["35.250", "12"], [35.25, 12]),
        # A column with decimal commas has no points but between thousands.
        (["12,5", "730,25"], ["35.250", "1.730.500"], [35250, 1730500]),
        (["12.5", "730.25"], ["35,250"], [35250]),
        (["12,5", "730,25"], ["35.25", "0.500"], [35.25, 0.5]),
        # Fractions of three digits in the fit leave them fractions.
        (["0.125", "12.375"], ["35,250"], [35.25]),
        (["0.125", "12.375"], ["35.250"], [35.25]),
    ],
)
@pytest.mark.filterwarnings("ignore:.*is read as")
def test_new_numbers_with_marks_that_the_fit_did_not_have(table, fitted, new, read):
    transformer = TableTransformer(scale=False, skewed="keep", drop=["town"])
    transformer.fit(table({"x": fitted * 20, "town": ["Rome", "Pisa"] * 20}))
    rows = pd.DataFrame({"x": new, "town": ["Rome"] * len(new)})
    assert transformer.transform(rows)[:, 0].tolist() == read


def test_thousands_that_the_fit_did_not_have_are_said():
    transformer = TableTransformer().fit(pd.DataFrame({"x": range(300, 5000, 100)}))
    with pytest.warns(UserWarning, match=r"'35\.250' in column 'x' is read as 35250; if that is"):
        transformer.transform(pd.DataFrame({"x": ["35.250", "12"]}))
