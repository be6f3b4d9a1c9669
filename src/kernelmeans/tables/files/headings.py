"""The lines above a table, the names of its columns, and words for missing values."""

from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate, count, pairwise, takewhile
from pathlib import Path
from typing import NamedTuple, TypeVar

import polars as pl
from polars import selectors

from kernelmeans._text import listed
from kernelmeans._warnings import warn_user
from kernelmeans.rows.parquet import column_named

Record = Sequence[str]
#: Lines below a line of names that may be a further line of names, or tell that it is none.
MOST_LINES = 8


class Head(NamedTuple):
    """The names of the columns as they are written: below how many lines, and in how many.

    The first `n_index` are those of an index, in a line of their own.
    """

    names: list[str]
    n_titles: int = 0
    n_lines: int = 1
    n_index: int = 0

    def say(self, source: Path, line: str, *, is_below: bool) -> None:
        """Warn of lines above the names, which are left out, and of names in several lines."""
        several = self.n_lines > 1
        lines = f"the {self.n_lines} lines up to {line} are" if several else f"{line} is"
        said = f"{source}: {lines} taken for the names of the columns"
        if is_below:
            said += ", and the lines above are left out"
        if several:
            said += f": {listed(self.names, most=3)}; if they are data, add --no-header"
        if is_below or several:
            warn_user(said)


def find_head(records: Sequence[Record]) -> Head:
    """Find the names of the columns in the first lines of a file, as values; "" for none."""
    n_titles = _title_lines(records)
    return _joined_names(records[n_titles:])._replace(n_titles=n_titles)


def _joined_names(records: Sequence[Record], above: Record = ()) -> Head:
    """The names in the first line, or in several lines of which all but the last name groups.

    Below a line `above`, a line of a few names alone is that of an index.
    """
    upper, *below = records
    # The names of groups, and those of columns, need two rows below them.
    below = list(takewhile(lambda record: len(record) == len(upper), below))
    if len(below) < 2:
        return Head(list(upper))
    if index := _names_of_index(above, upper, below):
        return Head([*index, *upper[len(index) :]], 0, 2, len(index))
    # Each step looks at one line less, of a few.
    lower = _joined_names(below[:MOST_LINES], upper)
    if any(_is_label(row, lower.n_index) for row in below[lower.n_lines :]):
        lower = Head(list(below[0]))
    index, rows = lower.names[: lower.n_index], below[lower.n_lines :]
    if (names := _names_in_two_lines(upper, [lower.names, *rows], len(index))) is None:
        return Head(list(upper))
    return Head([*index, *names[len(index) :]], 0, lower.n_lines + 1, len(index))


def _names_in_two_lines(upper: Record, below: Sequence[Record], n_index: int) -> list[str] | None:
    """The names of columns below names of groups of them; None if there are no groups.

    A group has its name above its first column alone, or above each. The second line holds words
    that do not occur again, one of them above numbers, or whole numbers such as years. The first
    columns may have no name here.
    """
    columns = [[text.strip() for text in column] for column in zip(upper, *below, strict=True)]
    has_name = [up or low for up, low, *_ in columns]
    is_named = n_index > 0
    n_index = max(n_index, len(list(takewhile(lambda name: not name, has_name))))
    filled = [column for column in columns[n_index:] if any(column)]
    if not (
        any(up and after in ("", up) and low for (up, *_), (after, low, *_) in pairwise(columns))
        and all(up or low for up, low, *_ in filled)
        and any(low and _are_numbers(values) for _, low, *values in filled)
    ):
        return None
    names = [low or up for up, low, *_ in columns]
    groups: Iterable[str] = accumulate((up for up, *_ in columns), lambda group, up: up or group)
    joined = [
        f"{group} {name}".strip() if low else name
        for group, name, (_, low, *_) in zip(groups, names, columns, strict=True)
    ]
    if any(low and (is_number(low) or low in values) for _, low, *values in filled):
        lows = [low for _, low, *_ in filled if low]
        # A row of the table would have a value in its first column, or one twice in a group, and
        # hardly the same ones in two groups.
        is_row = bool(columns[0][1]) or not _are_different(joined[n_index:], len(filled))
        differ = bool(columns[0][0]) and _are_different(lows, len(lows))
        if not all(map(str.isdecimal, lows)) or differ or (is_row and not is_named):
            return None
    return names if _are_different(names[n_index:], len(filled)) else joined


def _are_different(names: Iterable[str], count: int) -> bool:
    return len({*names} - {""}) == count


def _names_of_index(above: Record, upper: Record, below: Sequence[Record]) -> list[str]:
    """The names of the first columns in a line of their own, as of pandas; empty without one.

    In each line above them there is nothing, or the name of a level of names.
    """
    texts = [text.strip() for text in below[0]]
    count = texts.index("") if "" in texts else 0
    lines = [[text.strip() for text in line[:count]] for line in (above, upper)]
    if not (
        above
        and _is_label(texts, count)
        and not any(map(is_number, texts[:count]))
        and any(map(str.strip, below[1][count:]))
        and all(sum(map(bool, line)) < 2 for line in lines)
    ):
        return []
    return texts[:count]


def _is_label(record: Record, count: int) -> bool:
    """Whether a line has values in its first columns alone."""
    return count > 0 and any(map(str.strip, record)) and not any(map(str.strip, record[count:]))


def _are_numbers(values: Iterable[str]) -> bool:
    texts = [text for text in values if text]
    return bool(texts) and all(map(is_number, texts))


def _title_lines(records: Sequence[Record]) -> int:
    """Count the lines of a title: those above the table that have one value, the first.

    A single line may have more, if it is shorter than all others. 0 if what follows cannot be the
    names of columns.
    """
    if _is_short_title(records):
        return 1
    for index, record in enumerate(records):
        texts = [value for value in record if value.strip()]
        if len(texts) > 1 or (texts and not record[0].strip()):
            return 0 if index and all(map(is_number, texts)) else index
    return 0


def _is_short_title(records: Sequence[Record]) -> bool:
    """Whether the first line has fewer values than all others, and names of columns follow.

    Names without one for the first column look like a title too, but then the next line holds
    numbers.
    """
    if len(records) < 3 or len(set(map(len, records[1:]))) > 1:
        return False
    _, names, *rows = records
    return (
        1 < len(records[0]) < len(names)
        and all(name.strip() and not is_number(name) for name in names)
        and any(is_number(value) for row in rows for value in row)
    )


def is_number(value: str) -> bool:
    """Say whether a text looks like a number, with a point or a comma."""
    try:
        float(value.strip().replace(",", "."))
    except ValueError:
        return False
    return True


def column_names(given: Iterable[str]) -> list[str]:
    """Return names of which no two are equal, and none is empty.

    Examples
    --------
    >>> from kernelmeans.tables.files.headings import column_names
    >>> column_names(["a", "a", " b ", ""])
    ['a', 'a_2', 'b', 'column_3']
    """
    texts = [text.strip() or f"column_{place}" for place, text in enumerate(given)]
    names, taken = dict[str, None](), set(texts)
    numbers = {text: count(2) for text in taken}
    for text in texts:
        later = (f"{text}_{number}" for number in numbers[text])
        names[next(one for one in later if one not in taken) if text in names else text] = None
    return list(names)


def tidied(frame: pl.DataFrame, given: Record) -> pl.DataFrame:
    """Leave out blanks around text, and empty columns without a name.

    Parameters
    ----------
    frame : DataFrame
        The columns.
    given : sequence of str
        Their names as they are written.

    Returns
    -------
    DataFrame
        Empty text is missing.
    """
    frame = frame.with_columns(selectors.string().str.strip_chars().replace("", None))
    empty = [
        column.name
        for name, column in zip(given, frame, strict=True)
        if not name.strip() and column.null_count() == len(column)
    ]
    return frame.drop(empty)


Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)


def without_words(frame: Frame, words: Collection[str]) -> Frame:
    """Make values missing that are one of some words in lower case, or a number that one is."""
    numbers = [float(word.replace(",", ".")) for word in words if is_number(word)]
    columns = []
    for name, dtype in frame.collect_schema().items():
        column = column_named(name)
        if dtype == pl.String:
            said = column.str.strip_chars().str.to_lowercase().is_in(words)
        elif dtype.is_numeric():
            said = column.cast(pl.Float64).is_in(numbers)
        else:
            continue
        columns.append(pl.when(said).then(None).otherwise(column).alias(name))
    return frame.with_columns(columns) if words else frame
