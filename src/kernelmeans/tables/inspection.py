"""Rows that a fitted transformer can take, and messages about values that it cannot."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from kernelmeans._dialect import first_row, option, row_name
from kernelmeans._text import counted, first, nearest, shortened
from kernelmeans._typing import BoolArray
from kernelmeans.tables.frames import Table
from kernelmeans.tables.spellings import Doubt
from kernelmeans.tables.values import MISSING


class Inspection(NamedTuple):
    """New rows, compared with the fit.

    Attributes
    ----------
    placeable : ndarray of bool of shape (n_rows,)
        Rows that `TableTransformer.transform` takes, and that have a value in some column.
    wrong : dict of (int, str)
        For columns of numbers with other values: the row of the first such value, and the value.
    unseen : dict of (int, str)
        For categories with values that the fit has not seen: the number of rows, and a value.
    n_missing : dict of int
        For columns of numbers with missing values: the number of rows.
    n_empty : int
        Rows without a value in any column.
    doubts : dict of (str, float)
        For columns of text with numbers that may be meant otherwise: one, and its number here.
    seen : set of str
        Categories with a value that the fit has seen.
    """

    placeable: BoolArray
    wrong: dict[str, tuple[int, str]]
    unseen: dict[str, tuple[int, str]]
    n_missing: dict[str, int]
    n_empty: int
    doubts: dict[str, Doubt]
    seen: set[str]


def shown(value: Any) -> str:
    """A value in a message."""
    text = str(value).strip()
    return "no value" if text.lower() in MISSING else repr(shortened(text, 60))


def shown_beside(value: Any, known: Iterable[str]) -> str:
    """A new value of a category in a message, and the known one that it looks like, if any."""
    like = nearest(str(value).strip(), [text for text in known if text])
    return shown(value) if like is None else f"{shown(value)} (like {shown(like)})"


def wrong_values(wrong: Mapping[str, tuple[int, str]], table: Any = None) -> str:
    """The first columns with a wrong value, each with its value and row."""
    texts = [
        f"{name!r} ({value} in {row_name(row) if table is None else table.row(row)})"
        for name, (row, value) in wrong.items()
    ]
    return f"{first(texts)}{first_row() if table is None else table.first_row}"


def unseen_values(unseen: Mapping[str, tuple[int, str]]) -> list[str]:
    """A remark for each category with values that the fit has not seen."""
    return [
        f"column {name!r}: {counted(count, 'row')} with values new to the model, such as {value}, "
        "count as none of its categories"
        for name, (count, value) in unseen.items()
    ]


def check_placeable(found: Inspection, table: Table | None = None) -> None:
    """Refuse rows that cannot be transformed. One message names all the columns."""
    if found.wrong:
        raise ValueError(
            f"X: no finite number in columns of numbers: {wrong_values(found.wrong, table)}. "
            "Correct such values, or leave them empty. inspect(X).placeable marks the other rows, "
            "and Model.label labels those alone."
        )
    if not found.placeable.all():
        counts = [f"{name!r} ({counted(count, 'row')})" for name, count in found.n_missing.items()]
        raise ValueError(
            f"X: values are missing (NaN or None) in {', '.join(counts)}. "
            f"{option('missing', 'impute')} fills them in, and {option('drop=')} leaves columns "
            "out."
        )
