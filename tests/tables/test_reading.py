"""Files of tables in Python."""

import csv
import io

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from kernelmeans.tables import TableTransformer, read_table


def test_text_is_read_with_what_it_needs_to_be_told(tmp_path):
    path = tmp_path / "towns.txt"
    path.write_bytes(
        "Towns of 2025\n\ntown;size;share\nKöln;12;1,5\nBonn;n/k;2,5\n".encode("cp1252")
    )
    with pytest.warns(UserWarning, match=r"cp1252|line 3 is taken for the names"):
        found = read_table(path, missing_values=["n/k"])
    assert found.rows() == [("Köln", 12, "1,5"), ("Bonn", None, "2,5")]
    assert found.columns == ["town", "size", "share"]


@pytest.mark.filterwarnings("ignore:.*only numbers")
def test_without_names(tmp_path):
    (tmp_path / "a.csv").write_text("1|2\n3|4\n")
    assert read_table(tmp_path / "a.csv", header=False).rows() == [(1, 2), (3, 4)]
    assert read_table(str(tmp_path / "a.csv"), separator=";").columns == ["1|2"]


@pytest.mark.parametrize("values", [["none", "basic", "plus"], ["-", "+"]])
def test_words_are_values_of_the_fit_in_a_row_alone(tmp_path, values):
    rows = [f"{number},{value}" for number, value in enumerate(values * 20)]
    for name, lines in {"all": rows, "one": rows[:1]}.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(["x,word", *lines, ""]))
    table = read_table(tmp_path / "all.csv")
    prepare = TableTransformer(columns=["word"]).fit(table)
    alone = prepare.transform(read_table(tmp_path / "one.csv"))
    np.testing.assert_array_equal(alone, prepare.transform(table)[:1])


#: Values, and how R writes them.
OF_R = {
    'say "hi"': r'"say \"hi\""',
    '5"': r'"5\""',
    '"Rome", old': r'"\"Rome\", old"',
    '{"a": 1, "b": [2]}': r'"{\"a\": 1, \"b\": [2]}"',
    r'C:\new "x"': r'"C:\new \"x\""',
    'two\n"lines"': '"two\n\\"lines\\""',
}


def written_by_r(values, separator):
    rows = [f'"{row}"{separator}{OF_R[one]}{separator}{row}' for row, one in enumerate(values, 1)]
    names = separator.join(['"text"', '"n"'])
    return "\n".join([names, *rows, ""])


@pytest.mark.parametrize("separator", [" ", ",", ";", "\t"])
@pytest.mark.parametrize("values", [OF_R, *([one] for one in OF_R), ['5"', '5"']])
@pytest.mark.filterwarnings("ignore:.*(are called 'column_0'|blanks are taken)")
def test_quotes_of_r_are_read_alike_in_a_table_and_alone(tmp_path, values, separator):
    (tmp_path / "a.csv").write_text(written_by_r(values, separator))
    found = read_table(tmp_path / "a.csv", separator=separator)
    assert found.columns == ["column_0", "text", "n"]
    assert found["text"].to_list() == list(values)
    assert found["n"].to_list() == list(range(1, len(values) + 1))


def test_a_quote_of_r_in_the_last_line_of_many(tmp_path):
    lines = ['"text",n', *(f'"a",{row}' for row in range(5000)), *[r'"5\"",1', ""]]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    assert read_table(tmp_path / "a.csv")["text"].to_list() == ["a"] * 5000 + ['5"']


@pytest.mark.parametrize(
    "value",
    [
        r'"C:\dir\"',
        r'"{""a"": ""b""}"',
        r'"{""a"": ""\""b\""""}"',
        r'"^\d+\.""$"',
        r'"[^\""]*\"""',
        r"5\" pipe",
        r'""',
    ],
)
def test_other_backslashes_before_quotes_stay(tmp_path, value):
    r"""A file that can be read as it is may hold \" for other reasons."""
    written = "\n".join(["text,n,path", *(rf'{value},{row},"D:\x\"' for row in range(300)), ""])
    (tmp_path / "a.csv").write_text(written)
    _, *rows = csv.reader(io.StringIO(written))
    found = read_table(tmp_path / "a.csv").cast(pl.String)
    assert found.fill_null("").rows() == [*map(tuple, rows)]


def test_what_cannot_be_read_in_the_way_of_r_either_stays(tmp_path):
    (tmp_path / "a.csv").write_text('text,n\n"C:\\dir\\",1\n"a"b,2\n"5\\"",3\n')
    with pytest.raises(ValueError, match=r"line 3 cannot be read .* ',' expected after '\"'"):
        read_table(tmp_path / "a.csv")


def test_arrays_stay_arrays(tmp_path):
    X = np.arange(12.0).reshape(4, 3)
    np.save(tmp_path / "X.npy", X)
    scipy.sparse.save_npz(tmp_path / "X.npz", scipy.sparse.csr_array(X))
    pl.DataFrame(X, schema=["a", "b", "c"]).write_parquet(tmp_path / "X.parquet")
    np.testing.assert_array_equal(read_table(tmp_path / "X.npy"), X)
    np.testing.assert_array_equal(read_table(tmp_path / "X.npz").toarray(), X)
    assert read_table(tmp_path / "X.parquet").columns == ["a", "b", "c"]


def test_what_is_no_table(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "none.csv")
    (tmp_path / "a.foo").touch()
    with pytest.raises(ValueError, match=r"a.foo: unknown suffix '.foo'; .csv"):
        read_table(tmp_path / "a.foo")
    (tmp_path / "b.csv").write_text("a,b\n")
    with pytest.raises(ValueError, match="holds 0 rows"):
        read_table(tmp_path / "b.csv")


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
@pytest.mark.parametrize("index", [[None], ["shop"], ["shop", "street"]])
@pytest.mark.parametrize("levels", [[None, None], ["year", "month"]])
@pytest.mark.parametrize("gap", [False, True])
@pytest.mark.filterwarnings("ignore:.*columns without a name", "ignore:.*only numbers")
def test_columns_of_several_levels_as_pandas_writes_them(tmp_path, rng, ending, index, levels, gap):
    months = pd.MultiIndex.from_product([["2024", "2025"], ["jan", "feb"]], names=levels)
    numbers = rng.normal(size=(7, 4))
    numbers[0, 2] = np.nan if gap else 0.5
    places = [[f"{'abcdefg'[row]}{level}" for row in range(7)] for level in range(len(index))]
    table = pd.DataFrame(numbers, pd.MultiIndex.from_arrays(places, names=index), months)
    path = tmp_path / f"table.{ending}"
    write = table.to_csv if ending == "csv" else table.to_excel
    write(path)
    with pytest.warns(UserWarning, match="lines up to line .* are taken for the names"):
        found = read_table(path)
    named = (
        [name or "column_0" for name in index]
        if levels == [None, None] or index[0]
        else ["year month"]
    )
    assert found.columns == [*named, "2024 jan", "2024 feb", "2025 jan", "2025 feb"]
    np.testing.assert_allclose(found[:, len(index) :].to_numpy(), numbers)


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
@pytest.mark.parametrize("levels", [[None] * 3, ["what", "year", "month"], [None, "year", "month"]])
@pytest.mark.parametrize("months", [["jan", "feb"], [1, 2]])
def test_columns_of_three_levels(tmp_path, rng, ending, levels, months):
    groups = [["hours", "euros"], [2024, 2025], months]
    columns = pd.MultiIndex.from_product(groups, names=levels)
    numbers = rng.normal(size=(5, 8))
    table = pd.DataFrame(numbers, pd.Index(list("abcde"), name="shop"), columns)
    path = tmp_path / f"table.{ending}"
    (table.to_csv if ending == "csv" else table.to_excel)(path)
    with pytest.warns(UserWarning, match="the 4 lines up to line 4.* are taken for the names"):
        found = read_table(path)
    assert found.columns == ["shop", *(" ".join(map(str, column)) for column in columns)]
    np.testing.assert_allclose(found[:, 1:].to_numpy(), numbers)


def two_years(**names):
    """A table of two columns for each of two years, as `pivot_table` makes it."""
    columns = pd.MultiIndex.from_product([["cost", "sales"], [2024, 2025]], **names)
    return pd.DataFrame(np.arange(20.0).reshape(5, 4) / 7, list("abcde"), columns)


PIVOT = two_years(names=[None, "year"]).rename_axis("shop")


@pytest.mark.parametrize(
    ("write", "first"),
    [
        (lambda path: PIVOT.to_csv(path.with_suffix(".csv")), "shop"),
        (lambda path: PIVOT.to_excel(path.with_suffix(".xlsx")), "shop"),
        (lambda path: PIVOT.reset_index().to_csv(path.with_suffix(".csv"), index=False), "shop"),
        (lambda path: two_years().to_csv(path.with_suffix(".csv")), "column_0"),
        (lambda path: two_years().to_excel(path.with_suffix(".xlsx")), "column_0"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*columns without a name", "ignore:.*only numbers")
def test_numbers_below_names_of_groups_are_names(tmp_path, write, first):
    write(tmp_path / "table")
    (path,) = tmp_path.iterdir()
    with pytest.warns(UserWarning, match="lines up to line .* are taken for the names"):
        found = read_table(path)
    names = ["cost 2024", "cost 2025", "sales 2024", "sales 2025"]
    assert found.columns[-5:] == [first, *names]
    np.testing.assert_allclose(found[names].to_numpy(), two_years().to_numpy())


@pytest.mark.parametrize(
    "head",
    [
        ",a,a,b,b\n7,1,2,3,4",  # a value in the first column
        ",a,a,b,b\n,1.5,2,3,4",  # a fraction
        ",a,a,b,b\n,1,1,3,4",  # a number twice in a group
        "id,a,,b,\n,1,2,3,4",  # no number below two groups
        "region,2023,,2024,\nnorth,1,2,3,4\nsouth,,,,",  # a row without numbers, and no index
    ],
)
@pytest.mark.filterwarnings("ignore:.*columns without a name", "ignore:.*have no value")
def test_numbers_that_may_be_values_are_no_names(tmp_path, head):
    path = tmp_path / "table.csv"
    path.write_text("\n".join([head, "8,9,10,11,12", "13,14,15,16,17"]))
    assert read_table(path).height == 2 + head.count("\n")


@pytest.mark.parametrize("above", ["region,2023,,2024,", ",2023,,2024,"])
@pytest.mark.filterwarnings("ignore:.*taken for the names", "ignore:.*only numbers")
def test_labels_between_rows_are_no_names_of_an_index(tmp_path, above):
    rows = ["North,,,,", "a,1,2,3,4", "b,2,3,4,5", "South,,,,", "c,3,4,5,6"]
    lines = [above, "shop,jan,feb,jan,feb", *rows]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    found = read_table(tmp_path / "a.csv")
    assert found.to_series(0).to_list() == ["North", "a", "b", "South", "c"]
    assert found.columns[1:] == ["2023 jan", "2023 feb", "2024 jan", "2024 feb"]


@pytest.mark.filterwarnings("ignore:.*columns without a name")
def test_a_first_row_without_numbers_is_no_line_of_names(tmp_path):
    (tmp_path / "a.csv").write_text(",mass,area\nfirst,,\nsecond,1.5,2\nthird,2.5,3\n")
    assert read_table(tmp_path / "a.csv")["column_0"].to_list() == ["first", "second", "third"]
