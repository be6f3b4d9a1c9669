from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.sparse

from cli.loading import load_data
from kernelmeans._dialect import speaking
from kernelmeans._errors import InputError
from kernelmeans.cli.data import ColumnChoice
from kernelmeans.cli.options import flags
from kernelmeans.tables.files.tables import ArrayTable, FrameTable

NAMES = ["a", "b", "c", "x,y"]


def table(**columns: list[object]) -> FrameTable:
    frame = pl.DataFrame({name: [0.5, 0.1, 0.7] for name in NAMES} | columns, strict=False)
    return FrameTable(Path("data.csv"), frame.lazy())


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (ColumnChoice(), NAMES),
        (ColumnChoice(columns=["c,a"]), ["a", "c"]),
        (ColumnChoice(columns=["c", "a, b"]), ["a", "b", "c"]),
        (ColumnChoice(columns=["x,y"]), ["x,y"]),
        (ColumnChoice(drop=["a,c", "x,y"]), ["b"]),
        (ColumnChoice(label_column="a", weight_column="b"), ["c", "x,y"]),
        (ColumnChoice(columns=["a,b,c"], drop=["c"], label_column="a"), ["b"]),
    ],
)
def test_choice_of_columns(choice, expected):
    assert choice.features(table()) == expected


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        (ColumnChoice(columns=["a,z"]), ["--columns z is no column", "'a', 'b', 'c'"]),
        (ColumnChoice(drop=["B"]), ["--drop B is no column"]),
        (ColumnChoice(label_column="x.y"), ["--label-column", "did you mean 'x,y'"]),
        (ColumnChoice(weight_column="w"), ["--weight-column", "'w'"]),
        (ColumnChoice(drop=NAMES), ["no column is left"]),
    ],
)
def test_unknown_columns_are_named(choice, words):
    with pytest.raises(InputError) as caught, speaking(flags()):
        choice.features(table())
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_array_columns_are_chosen_by_index():
    X = np.arange(12.0).reshape(3, 4) ** 2
    choice = ColumnChoice(columns=["0,2"], label_column="3", weight_column="1")
    data = load_data(ArrayTable(Path("data.npy"), X), choice, "float64")
    assert data.columns == ["0", "2"]
    np.testing.assert_array_equal(data.X, X[:, [0, 2]])
    np.testing.assert_array_equal(data.labels, [0, 1, 2])
    np.testing.assert_array_equal(data.weights, X[:, 1])


@pytest.mark.parametrize("bad", [None, float("nan"), float("inf"), float("-inf")])
def test_values_that_are_not_finite_are_located(bad):
    spoilt = table(b=[1.0, 2.0, bad], c=[bad, 1.0, 2.0])
    with pytest.raises(InputError) as caught:
        load_data(spoilt, ColumnChoice(columns=["a,b"]), "float64")
    assert "column 'b'" in str(caught.value)
    assert "row 2" in str(caught.value)
    with pytest.raises(InputError, match=r"'c' .* row 0.*1 other column too"):
        load_data(spoilt, ColumnChoice(), "float64")
    assert load_data(spoilt, ColumnChoice(drop=["b,c"]), "float64").X.shape == (3, 2)


def test_values_too_large_for_float32_are_located():
    with pytest.raises(InputError, match="column 'a'"):
        load_data(table(a=[1.0, 1e300, 2.0]), ColumnChoice(), "float32")


def test_missing_weights_are_located():
    with pytest.raises(InputError, match=r"column 'a' .* row 1"):
        load_data(table(a=[1.0, None, 2.0]), ColumnChoice(weight_column="a"), "float64")


@pytest.mark.parametrize("missing", ["NA", "nan", "?"])
def test_a_label_column_of_missing_values_alone_has_no_class(refused, folder, missing):
    rows = "".join(f"{number * 7 % 31 / 10},{missing}\n" for number in range(30))
    Path("data.csv").write_text(f"x,kind\n{rows}")
    said = refused("fit", "data.csv", "-k", 2, "--label-column", "kind")
    assert "column 'kind' has no class in line 2" in said


def test_sparse_values_that_are_not_finite_are_located():
    X = scipy.sparse.csr_array(np.array([[0.0, 1.0], [0.0, np.nan]]))
    with pytest.raises(InputError, match=r"column '1' .* row 1"):
        load_data(ArrayTable(Path("data.npz"), X), ColumnChoice(), "float64")


@pytest.mark.parametrize("bad", [None, float("nan")])
def test_a_missing_class_is_located(bad):
    with pytest.raises(InputError, match=r"column 'a' has no class in row 1"):
        load_data(table(a=[1.0, bad, 2.0]), ColumnChoice(label_column="a"), "float64")
    X = np.array([[0.5, 1.0], [0.1, np.nan]])
    with pytest.raises(InputError, match=r"column '1' has no class in row 1"):
        load_data(ArrayTable(Path("data.npy"), X), ColumnChoice(label_column="1"), "float64")


@pytest.mark.parametrize("kinds", [["x", "z", "x"], [2.5, 7.0, 2.5], [False, True, False]])
def test_classes_can_be_anything(kinds):
    data = load_data(table(a=kinds), ColumnChoice(label_column="a"), "float64")
    np.testing.assert_array_equal(data.labels, [0, 1, 0])


def test_a_column_that_counts_the_rows_is_pointed_out():
    for count in ([0, 1, 2], [1, 2, 3]):
        with pytest.warns(UserWarning, match="column 'a' only counts the rows"):
            load_data(table(a=count), ColumnChoice(), "float64")
    load_data(table(a=[0, 2, 1]), ColumnChoice(), "float64")
