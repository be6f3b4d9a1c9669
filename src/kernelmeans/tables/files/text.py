"""Tables in text: the separator, the lines above the table, its names and its values."""

import csv
import io
import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice, takewhile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from polars import selectors

from kernelmeans._errors import InputError
from kernelmeans._text import counted, listed
from kernelmeans._warnings import warn_user
from kernelmeans.tables.files.headings import Head, column_names, find_head, is_number
from kernelmeans.tables.files.settings import Reading

#: Separators in the order in which they are preferred.
_SEPARATORS = "\t;|,"
_BLANK = " "
_UNEVEN_BLANKS = re.compile(rb"\t|  | \r?\n|\n ")
#: Text in quotes, or blanks: those at the end and the beginning of lines, and others.
_QUOTED_OR_BLANK = re.compile(rb'(?<!\S)"(?:[^"]|"")*"|[ \t\r]*\n[ \t]*|[ \t]+')
#: Lines that guesses are made from.
_HEAD_LINES = 200
_LONGEST_VALUE = 2**31 - 1
_COMMENT = "#"
_FLOAT = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?(e-?[0-9]+)?")
_CERTAIN = re.compile(r"-?(0|[1-9][0-9]*)\.([0-9]{1,2}|[0-9]{4,})|-?0\.[0-9]+")


class Layout(NamedTuple):
    """Where a table stands in its text, and how it is written.

    Parameters
    ----------
    separator : str
        The character between values.
    names : list of str
        The names of the columns as they are written.
    above : int
        The number of lines above the first row.
    comments : bool, default=False
        Whether lines that begin with ``#`` are comments, because the first ones are.
    floats : set of int, default=()
        The places of columns that begin with numbers that have decimal points.
    lines : sequence of int or None, default=None
        For each row the number of its last line, where it is known.
    """

    separator: str
    names: list[str]
    above: int
    comments: bool = False
    floats: Collection[int] = ()
    lines: Sequence[int] | None = None


def read_text(
    source: Path, text: bytes, reading: Reading, verbatim: str | None = None
) -> tuple[pl.DataFrame, Layout]:
    """Divide a text into the columns of a table.

    Parameters
    ----------
    source : Path
        The name of the file in messages.
    text : bytes
        The text in UTF-8.
    reading : Reading
        What is known of it.
    verbatim : str or None, default=None
        A column that stays text.

    Returns
    -------
    frame : DataFrame
        The columns as text, or as floats with decimal points.
    layout : Layout
        How they are written.
    """
    layout, body, comments = _located(source, _with_doubled_quotes(source, text, reading), reading)
    names = column_names(layout.names)
    layout = layout._replace(
        floats={at for at in layout.floats if names[at : at + 1] != [verbatim]}
    )
    frame = None if comments or _is_odd(body, layout.separator) else _parsed(body, layout)
    # polars fills blank and short lines up with missing values, which stand in the last column too
    if frame is None or (frame.width > 1 and frame[:, -1].null_count()):
        body, lines = _rewritten(source, body, layout, comments)
        layout = layout._replace(lines=lines)
        if (frame := _parsed(body, layout)) is None:
            raise InputError(f"{source}: cannot be divided into columns")
    else:
        layout = layout._replace(lines=_last_lines(body, layout, frame.height))
    return frame, layout


def _located(source: Path, text: bytes, reading: Reading) -> tuple[Layout, bytes, Collection[int]]:
    """How a table is written, its rows, and which lines within it are comments."""
    layout = find_layout(source, text, reading)
    if layout.separator == _BLANK:
        text = _with_single_blanks(text)
    body = b"".join(text.split(b"\n", layout.above)[layout.above :])
    if len(layout.names) == 1:  # a blank line within is a missing value
        body = body.rstrip(b"\r\n")
    return layout, body, _comment_lines(source, body, layout)


def _with_doubled_quotes(source: Path, text: bytes, reading: Reading) -> bytes:
    r"""A text with quotes within quotes doubled, if R has marked them by backslashes.

    Elsewhere a backslash may end a value, as in "C:\". So the text stays as it is where all lines
    can be read so, or some line cannot be read in the way of R either.
    """
    if b'\\"' not in text:
        return text
    with warnings.catch_warnings(action="ignore"):
        if _is_strict(source, text, reading):
            return text
        doubled = text.replace(b'\\"', b'""')
        return doubled if _is_strict(source, doubled, reading) else text


def _is_strict(source: Path, text: bytes, reading: Reading) -> bool:
    """Whether all lines can be read, and have as many values; polars does not tell."""
    with suppress(InputError):
        layout, body, comments = _located(source, text, reading)
        _rewritten(source, body, layout, comments)
        return True
    return False


def _comment_lines(source: Path, body: bytes, layout: Layout) -> Collection[int]:
    """The numbers of the lines within a table that are comments, of which it warns."""
    if not layout.comments or b"\n#" not in b"\n" + body:
        return ()
    found, quoted = [], False
    for number, line in enumerate(body.split(b"\n"), layout.above + 1):
        if line.startswith(b"#") and not quoted:
            found.append(number)
        else:
            quoted ^= line.count(b'"') % 2 > 0
    if found:
        more = f", and so in {counted(len(found) - 1, 'more line')}" * (len(found) > 1)
        warn_user(
            f"{source}: a comment within the table is left out, in line {found[0]}{more}; a value "
            "that begins with # needs quotes"
        )
    return set(found)


def _last_lines(body: bytes, layout: Layout, n_rows: int) -> Sequence[int] | None:
    """The number of the last line of each row, None if that is not known."""
    first = layout.above + 1
    n_lines = body.count(b"\n") + (not body.endswith(b"\n"))
    if n_lines == n_rows:
        return range(first, first + n_rows)
    letters = np.frombuffer(body if body.endswith(b"\n") else body + b"\n", np.uint8)
    quoted = np.logical_xor.accumulate(letters == ord('"'))
    breaks = np.flatnonzero(letters == ord("\n"))
    ends = np.flatnonzero(~quoted[breaks])  # others stand within a value
    lines: Sequence[int] = (first + ends).tolist()
    return lines if len(lines) == n_rows else None


def _is_odd(body: bytes, separator: str) -> bool:
    """Say whether polars would not see what stands here.

    Blanks before a quote, or several of them as a separator, are nothing special to it. Old
    versions take no notice of a quote that does not end.
    """
    blanks = b" " if separator == " " else b' +"'
    padded = re.search(re.escape(separator).encode() + blanks, body)
    return padded is not None or body.count(b'"') % 2 > 0


def _parsed(body: bytes, layout: Layout) -> pl.DataFrame | None:
    """The columns, None if polars cannot tell them."""
    names = column_names(layout.names)
    texts = dict.fromkeys(names, pl.String())
    if not body.strip(b"\r\n"):
        return pl.DataFrame(schema=texts)
    # Floats take less memory than text, but must have no other form further down.
    floats = {name: pl.Float64() for place, name in enumerate(names) if place in layout.floats}
    for schema in (texts | floats, texts):
        with suppress(pl.exceptions.PolarsError):
            frame = pl.read_csv(body, schema=schema, has_header=False, separator=layout.separator)
            return frame.with_columns(selectors.float().fill_nan(None))
    return None


def _rewritten(
    source: Path, body: bytes, layout: Layout, comments: Collection[int]
) -> tuple[bytes, list[int]]:
    """The same table without blank lines, comments and blanks around quotes; the lines of its rows.

    It takes longer than polars, but says which line is wrong.
    """
    lines: Iterable[str] = io.TextIOWrapper(io.BytesIO(body), "utf-8", newline="\n")
    if comments:
        numbered = enumerate(lines, layout.above + 1)
        lines = ("\n" if number in comments else line for number, line in numbered)
    written = io.BytesIO()
    file = io.TextIOWrapper(written, "utf-8", newline="")
    writer = csv.writer(file, delimiter=layout.separator, lineterminator="\n")
    width, numbers = len(layout.names), []
    for number, record in _records(lines, layout.separator, layout.above, source):
        is_blank = width > 1 and not "".join(record).strip() and len(record) < 2
        if is_blank or number in comments:
            continue
        if len(record) != width and record:
            raise InputError(
                f"{source}: line {number} has {counted(len(record), 'value')}, but the first line "
                f"has {width} (if {layout.separator!r} does not separate them, --separator names "
                "what does; if the first line is a title, or this one a note, remove it)"
            )
        writer.writerow(record)
        numbers.append(number)
    file.flush()
    return written.getvalue(), numbers


def _records(
    lines: Iterable[str], separator: str, above: int, source: Path
) -> Iterator[tuple[int, list[str]]]:
    """The values of each record, and the number of its last line: quotes may hold several lines."""
    csv.field_size_limit(_LONGEST_VALUE)
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True)
    try:
        for record in reader:
            yield above + reader.line_num, record
    except csv.Error as error:
        raise InputError(
            f"{source}: line {above + reader.line_num} cannot be read as values between "
            f"{separator!r}: {error}; --separator names another"
        ) from error


def find_layout(source: Path, text: bytes, reading: Reading) -> Layout:
    """Find the separator of a text, and where its table begins.

    Lines above the names of the columns are left out with a warning: comments that begin with
    ``#``, and a title. The last comment may hold the names.

    Parameters
    ----------
    source : Path
        The name of the file in messages. The suffix .tsv tells the separator.
    text : bytes
        The text in UTF-8.
    reading : Reading
        What is known of it.

    Returns
    -------
    Layout
        Where the table stands.
    """
    lines = _first_lines(text)
    declared = re.fullmatch(r'"?sep=(.)"?\s*', lines[0]) if lines else None
    above = 1 if declared else 0
    comments = _leading_comments(lines[above:])
    above += comments
    separator = reading.given_separator() or (declared[1] if declared else None)
    separator = separator or _guess(source, lines[above:])
    if separator == _BLANK:
        lines = _first_lines(_with_single_blanks("".join(lines).encode()))
    elif comments and reading.header and _is_name(lines[above - 1 :], separator):
        comments, above = comments - 1, above - 1
    records = list(_readable(lines[above:], separator, above))
    if not records:
        list(_records(lines[above:], separator, above, source))  # says what cannot be read
        raise InputError(f"{source}: the file is empty")
    values = [record for _, record in records]
    if not reading.header:
        nameless = [""] * len(values[0])
        return Layout(separator, nameless, above, comments > 0, _float_columns(values, reading))
    names = _commented_names(lines[above - 1], separator, values[0]) if comments else None
    head, rows = Head(names or []), values
    n_above = comments - (names is not None)
    if names is None:
        head = find_head(values)
        first = head.n_titles + head.n_lines
        above, rows = records[first - 1][0], values[first:]
        may_be_of_r = separator in "\t " or lines[records[head.n_titles][0] - 1].startswith('"')
        names = _as_wide_as_rows(head.names, rows, row_names=may_be_of_r)
    head.say(source, f"line {above}", is_below=n_above + head.n_titles > 0)
    _warn_of_data(names, rows)
    return Layout(separator, names, above, comments > 0, _float_columns(rows, reading))


def _first_lines(text: bytes) -> list[str]:
    return list(islice(io.TextIOWrapper(io.BytesIO(text), "utf-8", newline="\n"), _HEAD_LINES))


def _with_single_blanks(text: bytes) -> bytes:
    """A text with one blank for each run of blanks and tabs, and none at the ends of lines."""

    def single(found: re.Match[bytes]) -> bytes:
        if found[0].startswith(b'"'):
            return found[0]
        return b"\n" if b"\n" in found[0] else b" "

    text = text.strip(b" \t")
    return _QUOTED_OR_BLANK.sub(single, text) if _UNEVEN_BLANKS.search(text) else text


def _leading_comments(lines: list[str]) -> int:
    """Count the lines up to the last comment above the table."""
    above = list(takewhile(lambda line: line.startswith(_COMMENT) or not line.strip(), lines))
    return max((number for number, line in enumerate(above, 1) if line.strip()), default=0)


def _is_name(lines: list[str], separator: str) -> bool:
    """Whether a lone # begins no comment, but is the name of the first column."""
    names, *rows = [record for _, record in islice(_readable(lines, separator, 0), 2)] or [[]]
    return names[:1] == [_COMMENT] and all(names) and [len(row) for row in rows] == [len(names)]


def _commented_names(line: str, separator: str, first: list[str]) -> list[str] | None:
    """The names that the last comment holds, if the next line holds numbers."""
    names = next(_readable([line.lstrip(f"{_COMMENT} ")], separator, 0), (0, []))[1]
    return names if len(names) == len(first) and any(map(is_number, first)) else None


def _as_wide_as_rows(names: list[str], rows: list[list[str]], *, row_names: bool) -> list[str]:
    """The names, with an empty one more or less if all rows have one value more or less.

    Either the names or the rows may end in a separator. R gives no name to the names of rows.
    """
    more = {len(row) - len(names) for row in rows}
    if more == {-1} and not names[-1].strip():
        return names[:-1]
    if more == {1} and not any(row[-1].strip() for row in rows):
        return [*names, ""]
    if more == {1} and row_names and len({row[0] for row in rows}) == len(rows):
        return ["", *names]
    return names


def _float_columns(rows: list[list[str]], reading: Reading) -> set[int]:
    """The columns of numbers with decimal points, in which no point may stand for thousands."""
    if reading.decimal == ",":
        return set()
    columns = ([value for value in column if value] for column in zip(*rows, strict=False))
    return {
        place
        for place, values in enumerate(columns)
        if all(map(_FLOAT.fullmatch, values)) and any(map(_CERTAIN.fullmatch, values))
    }


def _readable(lines: list[str], separator: str, above: int) -> Iterator[tuple[int, list[str]]]:
    """The records that hold text, up to one that cannot be read."""
    with suppress(InputError):
        for number, record in _records(lines, separator, above, Path()):
            if "".join(record).strip():
                yield number, record


def _guess(source: Path, lines: list[str]) -> str:
    """The separator that divides most lines into the same number of values."""
    if ".tsv" in source.suffixes and lines and "\t" in lines[0]:
        return "\t"
    agreement = {separator: _agreement(lines, separator) for separator in _SEPARATORS}
    best, second, *_ = sorted(_SEPARATORS, key=agreement.__getitem__, reverse=True)
    if _agreement(lines[1:], best) < 1 and _has_blanks_between(lines):
        warn_user(
            f"{source}: blanks are taken for the separator of values; --separator names another"
        )
        return _BLANK
    if not agreement[best]:
        return ","
    if agreement[second] == agreement[best]:
        warn_user(
            f"{source}: {best!r} is taken for the separator of values, but {second!r} would do "
            "too; --separator names the right one"
        )
    return best


def _has_blanks_between(lines: list[str]) -> bool:
    """Whether blanks divide all lines into as many values, most of them numbers or in quotes.

    The first line may have one less, as R writes it.
    """
    spaced = _first_lines(_with_single_blanks("".join(lines).encode()).strip())
    head, *rows = [record for _, record in _readable(spaced, _BLANK, 0)] or [[]]
    widths = set(map(len, rows))
    if len(rows) + 1 < sum(line != "\n" for line in spaced) or len(widths) != 1:
        return False
    (width,) = widths
    values = re.findall(r'"[^"]*"|\S+', spaced[-1])
    known = sum(value.startswith('"') or is_number(value) for value in values)
    return width > 1 and len(head) in (width - 1, width) and 2 * known > len(values)


def _agreement(lines: list[str], separator: str) -> float:
    """The fraction of lines with the most frequent number of values, 0 if that is one."""
    records = list(_readable(lines, separator, 0))
    if not records:
        return 0.0
    unread = len(lines) - records[-1][0]
    ((width, count),) = Counter(len(record) for _, record in records).most_common(1)
    return count / (len(records) + unread) if width > 1 else 0.0


def _warn_of_data(names: list[str], rows: list[list[str]]) -> None:
    """Warn if the line taken for the names may be the first row of data."""
    numbers = [name for name in names if is_number(name)]
    only = "only " * (len(numbers) == len(names))
    if _are_data(numbers, beside_words=not only):
        what = f"{only}numbers ({listed(numbers, most=3)})"
    elif below := _words_below(names, rows):
        what = f"values that occur below it ({listed(below, most=3)})"
    else:
        return
    repeated = "; if files were joined, delete the lines that repeat it" * (names in rows)
    warn_user(
        f"the first line holds {what} and is taken for the names of the columns; if it is data, "
        f"add --no-header{repeated}"
    )


def _are_data(numbers: list[str], *, beside_words: bool) -> bool:
    """Whether numbers among names are neither counted nor, beside words, years."""
    counts = [[str(start + place) for place in range(len(numbers))] for start in (0, 1)]
    years = beside_words and all(
        re.fullmatch("(1[5-9]|2[01])[0-9]{2}", number) for number in numbers
    )
    return numbers not in counts and not years


def _words_below(names: list[str], rows: list[list[str]]) -> list[str]:
    """The names that are values of their columns. Names among numbers are those of another part."""
    columns = zip(names, zip(*rows, strict=False), strict=False)
    return [
        name
        for name, values in columns
        if name.strip() and name in values and not any(map(is_number, values))
    ]
