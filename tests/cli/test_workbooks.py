"""Excel workbooks as people make them, and as strangers might."""

import datetime
import io
import re
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from cli.loading import with_numbers
from cli.test_habits import PLAIN
from kernelmeans._errors import InputError
from kernelmeans.tables import TableTransformer
from kernelmeans.tables.files import Reading
from kernelmeans.tables.files.tables import open_file
from kernelmeans.tables.spellings import numbers_among

openpyxl = pytest.importorskip("openpyxl", reason="writes the workbooks of these tests")
pytest.importorskip("fastexcel", reason="the extra excel reads workbooks")

ROWS = [PLAIN.columns, *PLAIN.rows()]


@pytest.fixture(autouse=True)
def _in_a_folder(folder):
    pass


def write(name: str = "data.xlsx", **sheets: list) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(name)
    return Path(name)


def read(path: Path, budget: float = 10**9, **reading: object):
    return with_numbers(open_file(path, Reading(**reading), budget=budget))


def assert_is_plain(found) -> None:
    """Excel knows no whole numbers."""
    assert_frame_equal(found, PLAIN, check_dtypes=False)


@pytest.mark.parametrize(
    "rows",
    [
        ROWS,
        [*ROWS[:3], [], [], *ROWS[3:], [None, None, None]],
        [[None, *row] for row in ROWS],
        [[*row, None, " "] for row in ROWS],
    ],
    ids=["plain", "blank lines", "a blank first column", "blank last columns"],
)
def test_read_right(rows):
    assert_is_plain(read(write(Sheet=rows)))


@pytest.mark.parametrize(
    "above", [[["Customers"]], [["Customers"], [], ["in euros", None]], [[], ["x"]]]
)
def test_a_title_is_left_out(above):
    line = len(above) + 1
    with pytest.warns(UserWarning, match=f"line {line} of the sheet is taken for the names"):
        assert_is_plain(read(write(Sheet=[*above, *ROWS])))


@pytest.mark.parametrize("n_rows", [12, 60])
@pytest.mark.parametrize("name", ["data.csv", "data.xlsx"])
def test_a_line_of_units_below_the_names_is_refused(refused, name, n_rows):
    rows = [[j % 7 + 0.5, j * j / 4, "Bonn" if j % 2 else "Köln"] for j in range(n_rows)]
    rows = [["a", "b", "town"], ["cm", "kg", None], *rows]
    if name == "data.csv":
        lines = [",".join("" if value is None else str(value) for value in row) for row in rows]
        Path(name).write_text("\n".join(lines))
    else:
        write(Sheet=rows)
    said = refused("fit", name, "-k", 2)
    assert f"{name}: line 2 ('cm', 'kg') looks like units or a second line of names" in said
    assert "delete it, or name words in --missing-values" in said


GROUPED = {
    "merged": [[None, "Place", None, "Money"], PLAIN.columns],
    "repeated": [["Who", "Place", "Place", "Place"], PLAIN.columns],
    "names in both lines": [[None, "income", None, "rate"], ["town", None, "visits", None]],
    "below a title": [["Customers"], [], [None, "Place", None, "Money"], PLAIN.columns],
}


@pytest.mark.parametrize("head", GROUPED.values(), ids=GROUPED)
def test_names_in_two_lines(head):
    words = rf"the 2 lines up to line {len(head)} of the sheet are taken for the names"
    left_out = ", and the lines above are left out" * (len(head) > 2)
    names = "'town', 'income', 'visits' and 1 more; if they are data, add --no-header"
    with pytest.warns(UserWarning, match=f"{words} of the columns{left_out}: {names}") as said:
        assert_is_plain(read(write(Sheet=[*head, *PLAIN.rows()])))
    assert len(said) == 1


def test_names_that_differ_by_the_line_above():
    years = [["id", 2023, None, 2024, None], [None, "q1", "q2", "q1", "q2"]]
    with pytest.warns(UserWarning, match="the 2 lines up to line 2 of the sheet"):
        found = read(write(Sheet=[*years, [1, 2, 3, 4, 5], [6, 7, 8, 9, 10]]))
    assert found.columns == ["id", "2023 q1", "2023 q2", "2024 q1", "2024 q2"]
    assert found.rows() == [(1, 2, 3, 4, 5), (6, 7, 8, 9, 10)]


@pytest.mark.parametrize(
    "rows",
    [
        [["income", None, "town"], ["none", "x", "Rome"], [5, "y", "Rome"], [6, "x", "Lyon"]],
        [["income", None, "town"], [7, "x", "Rome"], [5, "y", "Lyon"], [6, "z", "Paris"]],
        [["town", None, "who"], ["Rome", "x", "a"], ["Lyon", "y", "b"], ["Paris", "z", "c"]],
        [["income", "town", "rate"], ["euros", None, "percent"], [5, "Rome", 7], [6, "Lyon", 8]],
    ],
    ids=["words occur again", "numbers", "no numbers", "units"],
)
@pytest.mark.filterwarnings("ignore:.*without a name", "ignore:.*also")
def test_a_first_row_is_no_second_line_of_names(rows):
    found = read(write(Sheet=rows))
    assert found.height == 3
    assert found.columns[0] == rows[0][0]


def test_sheets_are_named_or_counted():
    path = write(Old=[["a"], [1]], New=ROWS, **{"3": [["b"], [2]]})
    with pytest.warns(UserWarning, match="'Old', 'New', '3' the first is read; --sheet"):
        assert read(path).columns == ["a"]
    assert_is_plain(read(path, sheet="New"))
    assert_is_plain(read(path, sheet="2"))
    assert read(path, sheet="3").columns == ["b"]
    for wrong, words in {"new": "did you mean 'New'", "0": "its sheets are", "4": "its"}.items():
        said = rf"has no sheet '{wrong}': name another by --sheet; {words}"
        with pytest.raises(InputError, match=said):
            read(path, sheet=wrong)


def test_values_as_excel_has_them():
    day = datetime.datetime(2024, 1, 2)
    rows = [["day", "member", "code", "price", "mixed"]]
    rows += [[day, True, "007", "1,5", 1], [None, False, "010", "2,25", "x"]]
    found = read(write(Sheet=rows))
    assert found.rows() == [(day, True, "007", 1.5, "1"), (None, False, "010", 2.25, "x")]


def test_times_of_day_are_those_of_text():
    times = [datetime.time(hour, 30) for hour in range(24)]
    rows = [[time, "late" if time.hour == 4 else time, time.hour / 3] for time in times]
    written = read(write(Sheet=[["start", "end", "size"], *rows]))
    assert written["start"].to_list() == times
    assert written["end"].to_list() == [str(cell) for _, cell, _ in rows]
    text = written.with_columns(pl.col("start").cast(pl.String))
    transformer = TableTransformer().fit(text)
    assert [column.kind for column in transformer.columns_] == ["number"] * 3
    np.testing.assert_array_equal(transformer.transform(written), transformer.transform(text))


def test_durations_beside_other_cells_are_refused_by_the_name_of_their_column():
    rows = [["size", "wait"], [1, datetime.timedelta(hours=30)], [2, "late"]]
    words = r"data\.xlsx: cannot be read as XLSX: column 'wait': .*, or save it as \.csv$"
    with pytest.raises(InputError, match=words):
        read(write(Sheet=rows))


@pytest.mark.parametrize(
    ("texts", "decimal", "expected"),
    [
        (["12,5"], None, [1.125, -2.375, 12.5]),
        (["1.800,13 €", "none"], None, [1.125, -2.375, 1800.13, None]),
        (["none"], ",", [1.125, -2.375, None]),
        (["1,234.5"], None, [1.125, -2.375, 1234.5]),
    ],
)
def test_numbers_are_exact_beside_text(texts, decimal, expected):
    rows = [["a", "b"], [1.125, 1], [-2.375, 2], *([text, 3] for text in texts)]
    table = open_file(write(Sheet=rows), Reading(decimal=decimal))
    column = table.frame.collect()["a"]
    found = numbers_among(Counter(column), len(column), table.marks()).numbers
    assert [found.get(text) for text in column] == expected


def test_without_names():
    found = read(write(Sheet=ROWS[1:]), header=False)
    assert found.columns == ["column_0", "column_1", "column_2", "column_3"]
    assert found.rows() == [tuple(row) for row in PLAIN.rows()]


def test_names_below_many_rows_of_numbers():
    """The type of a column does not follow from its first rows."""
    found = read(write(Sheet=[["a"], *([j] for j in range(2000)), ["x"]]))
    assert found["a"].to_list()[-2:] == ["1999", "x"]


@pytest.mark.parametrize("rows", [[], [["a", "b"]], [["a", "b"], [None, None]], [[" "], [" "]]])
def test_empty_sheets(rows):
    with pytest.raises(InputError, match=r"0 rows|0 columns"):
        read(write(Sheet=rows))


def changed(path: Path, pattern: str, replacement: str) -> Path:
    """The workbook with another text in its first sheet."""
    content = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith("sheet1.xml"):
                data, count = re.subn(pattern.encode(), replacement.encode(), data)
                assert count
            new.writestr(name, data)
    path.write_bytes(content.getvalue())
    return path


@pytest.mark.parametrize(
    ("pattern", "replacement"),
    [
        ('r="A2"', 'r="XFD1048576"'),
        ('r="A2"', "r = 'xfd1048576'"),
        ('r="A2"', 'r="ZZZZZZ2"'),
        ('row r="2"', 'row r="1048576"'),
    ],
)
def test_two_cells_that_are_far_apart(pattern, replacement):
    """Excel's reader would take memory for all cells between them, or end the process."""
    rows = [[f"c{j}" for j in range(100)], [1]]
    path = changed(write(Sheet=rows), pattern, replacement)
    with pytest.raises(InputError, match=r"data\.xlsx: would take .*--memory-budget"):
        read(path)


def test_many_zeros_in_a_small_file():
    path = write(Sheet=ROWS)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/image.bmp", bytes(10**7))
    with pytest.raises(InputError, match="--memory-budget"):
        read(path, budget=10**7)


def test_a_packing_that_excel_does_not_write():
    path = write(Sheet=ROWS)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_LZMA) as archive:
        archive.writestr("x", b"")
    with pytest.raises(InputError, match="write it again, packed by deflate as Excel"):
        read(path)


@pytest.mark.parametrize("name", ["xl/workbook.xml", "xl/worksheets/sheet1.xml"])
@pytest.mark.parametrize("instead", [b"<odd", b"<odd/>", b""])
def test_damaged_workbooks(name, instead):
    path = write(Sheet=ROWS)
    content = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(content, "w") as new:
        for member in old.namelist():
            new.writestr(member, instead if member == name else old.read(member))
    path.write_bytes(content.getvalue())
    with pytest.raises(InputError, match=r"data\.xlsx: (cannot be read as XLSX|holds )"):
        read(path)
