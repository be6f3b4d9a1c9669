"""Sheets of Excel workbooks, whose sizes are counted before anything is unpacked."""

import logging
import re
import zipfile
from collections import Counter
from collections.abc import Sequence
from datetime import date
from functools import partial
from pathlib import Path

import polars as pl

from kernelmeans._errors import InputError
from kernelmeans._text import listed, meant
from kernelmeans._warnings import warn_user
from kernelmeans.tables.files.archives import check_size, open_archive
from kernelmeans.tables.files.headings import column_names, find_head
from kernelmeans.tables.files.settings import Reading
from kernelmeans.tables.numerals import written
from kernelmeans.tables.spellings import Marks

#: Lines that the names of the columns are looked for in.
_HEAD_LINES = 50
#: Bytes of a cell in memory, even if it is empty.
_CELL_BYTES = 32
_READ_BYTES = 2**22
#: The longest place of a cell in XML.
_PLACE_BYTES = 64
#: A number with a fraction in a column that also holds text.
_NUMBER = r"^-?\d+\.\d+$"
#: The day before the first that Excel counts: the reader adds it to a time of day.
_DAY_OF_TIMES = date(1899, 12, 31)
_PLACE = re.compile(rb"\br\s*=\s*[\"']([A-Za-z]{0,7})(\d{1,10})[\"']")


def read_workbook(
    path: Path, reading: Reading, max_bytes: float
) -> tuple[pl.DataFrame, Sequence[str], Sequence[int]]:
    """Read a sheet.

    Parameters
    ----------
    path : Path
        The file.
    reading : Reading
        The sheet, and whether it has names of columns.
    max_bytes : float
        Bytes to which the file may unpack, and that its cells may take.

    Returns
    -------
    frame : DataFrame
        The columns; numbers, dates and truth values as Excel has them.
    names : sequence of str
        The names of the columns as they are written.
    lines : sequence of int
        For each row the number of its line.
    """
    with open_archive(path, path, max_bytes) as archive:
        for member in archive.infolist():
            if member.filename.endswith(".xml"):
                _check_span(path, archive, member, max_bytes)
    from fastexcel import FastExcelError, read_excel

    # It logs what it takes a column for.
    logging.getLogger("fastexcel").setLevel(logging.ERROR)
    try:
        workbook = read_excel(path)
        sheet = _sheet(path, workbook.sheet_names, reading.sheet)
        head = workbook.load_sheet(
            sheet, header_row=None, skip_rows=0, n_rows=_HEAD_LINES, dtypes="string"
        ).to_polars()
        if not head.width:
            return head, [], []
        names, above = _names(path, head, header=reading.header)
        load = partial(
            workbook.load_sheet, sheet, header_row=None, skip_rows=above, schema_sample_rows=None
        )
        frame = load().to_polars()
        texts = frame.select(pl.col(pl.String))
        if mixed := [one.name for one in texts if one.str.contains(_NUMBER).any()]:
            # Of text with a decimal mark no whole number is made.
            whole = load(dtypes=dict.fromkeys(mixed, "int")).to_polars()
            numbers = (_with_mark(frame[one], whole[one], reading.marks()) for one in mixed)
            frame = frame.with_columns(numbers)
    except FastExcelError as error:
        reason = str(error)
        if mixed_at := re.match(r"(unsupported .*)(?:\n.*)+ column __UNNAMED__(\d+)", reason):
            name = names[int(mixed_at[2])]
            reason = f"column {name!r}: {mixed_at[1]}: make its cells alike, or save it as .csv"
        raise ValueError(reason) from error
    filled = frame.select(pl.any_horizontal(pl.all().is_not_null())).to_series()
    lines = (filled.arg_true() + above + 1).to_list()
    frame = frame.filter(filled)  # others are blank lines
    timed = [one.name for one in frame.select(pl.col(pl.Datetime)) if _are_times(one)]
    frame = frame.with_columns(
        pl.col(timed).dt.time(), pl.col(pl.String).str.strip_prefix(f"{_DAY_OF_TIMES} ")
    )
    return frame.rename(dict(zip(frame.columns, column_names(names), strict=True))), names, lines


def _are_times(column: pl.Series) -> bool:
    """Whether a column holds times of day alone, or nothing."""
    return (column.dt.date() == _DAY_OF_TIMES).all()


def _with_mark(column: pl.Series, whole: pl.Series, marks: Marks) -> pl.Series:
    """Write the numbers of a column that also holds text with the decimal mark of that text."""
    numbers = whole.is_not_null()
    counts = Counter(text for text in column.filter(~numbers).drop_nulls() if written(text))
    if (marks.decimal or marks.after([counts]).proved) != ",":
        return column
    return column.str.replace(".", ",", literal=True).zip_with(numbers, column)


def _check_span(
    path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo, max_bytes: float
) -> None:
    """Refuse a sheet whose corners are too far apart: all cells between them take memory."""
    rows, columns, rest = 0, 0, b""
    with archive.open(member) as file:
        while part := file.read(_READ_BYTES):
            places = _PLACE.findall(rest + part)
            columns = max([columns, *map(_number, {letters for letters, _ in places})])
            rows = max([rows, *(int(digits) for _, digits in places)])
            rest = part[-_PLACE_BYTES:]
    check_size(path, _CELL_BYTES * rows * columns, max_bytes)


def _number(letters: bytes) -> int:
    """The number of a column: A is 1, AA is 27."""
    number = 0
    for letter in letters.upper():
        number = 26 * number + letter - ord("A") + 1
    return number


def _sheet(path: Path, names: list[str], wanted: str | None) -> str:
    if not names:
        raise InputError(f"{path}: holds no sheet")
    if wanted is None:
        if len(names) > 1:
            warn_user(
                f"{path}: of the sheets {listed(names)} the first is read; --sheet names another"
            )
        return names[0]
    if wanted in names:
        return wanted
    if wanted.isdecimal() and 0 < int(wanted) <= len(names):
        return names[int(wanted) - 1]
    raise InputError(
        f"{path}: has no sheet {wanted!r}: name another by --sheet; "
        f"{meant(wanted, names, 'its sheets')}"
    )


def _names(path: Path, head: pl.DataFrame, *, header: bool) -> tuple[list[str], int]:
    """The names of the columns, and the number of lines up to them."""
    rows = [[value or "" for value in row] for row in head.iter_rows()]
    filled = [place for place, row in enumerate(rows) if "".join(row).strip()]
    if not header or not filled:
        return [""] * head.width, 0
    found = find_head([rows[place] for place in filled])
    line = filled[found.n_titles + found.n_lines - 1] + 1
    found.say(path, f"line {line} of the sheet", is_below=found.n_titles > 0)
    return found.names, line
