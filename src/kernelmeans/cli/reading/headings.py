"""The lines above a table, the names of its columns, and words for missing values."""

from collections.abc import Collection, Iterable, Sequence
from itertools import count
from typing import TypeVar

import polars as pl
from polars import selectors

Record = Sequence[str]


def title_lines(records: Sequence[Record]) -> int:
    """Count the lines of a title: those above the table that have one value, the first.

    A single line may have more, if it is shorter than all others.

    Parameters
    ----------
    records : sequence of sequences of str
        The first lines of a file, as values; "" where there is none.

    Returns
    -------
    int
        0 if what follows cannot be the names of columns.
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

    Names without one for the first column are such a line too, but the next then holds numbers.
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
    >>> from kernelmeans.cli.reading.headings import column_names
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
        column = pl.col(name)
        if dtype == pl.String:
            said = column.str.strip_chars().str.to_lowercase().is_in(words)
        elif dtype.is_numeric():
            said = column.cast(pl.Float64).is_in(numbers)
        else:
            continue
        columns.append(pl.when(said).then(None).otherwise(column).alias(name))
    return frame.with_columns(columns) if words else frame
