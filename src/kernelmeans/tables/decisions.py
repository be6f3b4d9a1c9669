"""Which columns of a table are used, and what has to be remembered about them."""

import re
from collections.abc import Collection, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from kernelmeans._dialect import option
from kernelmeans._text import counted, first, listed, shortened
from kernelmeans._typing import Array
from kernelmeans._warnings import warn_user
from kernelmeans.tables.columns import Column
from kernelmeans.tables.frames import Table
from kernelmeans.tables.kinds import (
    ALL_DIFFER,
    LISTS,
    MANY_MISSING,
    MOST_GIVEN_VALUES,
    ON_REQUEST,
    UNREAD,
    USED,
    Found,
    as_category,
    found_in,
    marks_of,
)
from kernelmeans.tables.spellings import Marks
from kernelmeans.tables.totals import totals_message
from kernelmeans.tables.values import Texts, days_of, is_date, is_date_in_order

#: Skewness above which numbers are taken as logarithms, if that at least halves it. An exponential
#: distribution has 2, a Gaussian 0. A few large numbers would hide all other differences (figures:
#: benchmarks/customers.py).
SKEWED = 1.0
#: Most words that a message gives for missing values.
MOST_WORDS = 10
#: Digits and marks alone.
_MARKED = re.compile(r"[\W\d]*\d[\W\d]*")
#: Kinds that are not used unless the user gives the full name of the column.
_ON_REQUEST = ("date", "identifier", "counter")


class Decision(NamedTuple):
    """A column, and what is remembered of it.

    Attributes
    ----------
    column : Column
        What it was taken for.
    found : Found
        What its values are, without the numbers.
    knee : float
        Knee of its `logarithms`: the median of the positive numbers. 0 if no logarithms are taken.
    digits : int
        The most digits behind a decimal mark: 0, at most 2, or 3 for more.
    """

    column: Column
    found: Found
    knee: float = 0.0
    digits: int = 3


def decide(
    table: Table,
    wanted: Mapping[str, bool],
    dropped: Collection[str],
    categorical: Collection[str],
    *,
    dates: bool,
    missing: str,
    skewed: str,
    marks: Marks,
) -> list[Decision]:
    """Decide about all columns.

    Parameters
    ----------
    table : Table
        The rows of a fit.
    wanted : mapping of bool
        Columns that may be used, and whether the user gave their full names.
    dropped, categorical : collection of str
        Columns to leave out, and to take for categories.
    dates : bool
        Whether dates are used.
    missing : {"impute", "drop", "error"}
        What is done about missing values.
    skewed : {"log", "keep"}
        What is done about skewed numbers.
    marks : Marks
        The marks of numbers in text that the user names.

    Returns
    -------
    list of Decision
        In the order of the columns.

    Raises
    ------
    ValueError
        If no column can be used, or one cannot be used as the user asks.
    """
    decisions: list[Decision] = []
    refused: dict[str, _Trouble] = {}
    first_with: dict[bytes, str] = {}
    gaps_told: set[bytes] = set()
    tops: list[str | None] = []
    numbers: dict[str, Array] = {}
    marks = marks_of(
        table, [name for name in wanted if name not in {*dropped, *categorical}], marks
    )
    for name in table.names:
        if name in dropped or name not in wanted:
            decisions.append(Decision(Column(name, "dropped", False), Found("dropped", "", 0)))
            continue
        values = table[name]
        if name in categorical:
            found = as_category(values)
        else:
            found = found_in(values, name, is_category=table.is_category(name), marks=marks)
        if found.kind in ("number", "flag"):
            tops.append(_top(values, found))
            if found.numbers is not None:
                numbers[name] = found.numbers
        asked = wanted[name] or (dates and found.kind == "date")
        if (trouble := _trouble(table, name, found, asked=asked)) is not None:
            refused[name] = trouble
            continue
        if asked and found.kind in _ON_REQUEST:
            kind = "date" if found.kind == "date" else "number"
            words = found.reason.partition(ON_REQUEST)[2].removeprefix(", ")
            found = found._replace(kind=kind, reason=words)
        used = found.kind in USED and (asked or found.kind != "date")
        if used and found.numbers is not None:
            digest = blake2b(found.numbers.tobytes()).digest()
            twin = first_with.setdefault(digest, name)
            if twin != name and not wanted[name]:
                found, used = found._replace(kind="duplicate", reason=f"as {twin!r}"), False
        decisions.append(_decision(name, found, used, missing, skewed, gaps_told))
    units = [text for text in tops if text]
    if len(units) > 1 and None not in tops:
        raise ValueError(
            f"X: {table.row(0)} ({listed(units)}{table.first_row}) looks like units or a second "
            "line of names, as it holds no number where other rows do: delete it, or name words in "
            f"{option('missing_values=')}."
        )
    if refused:
        raise ValueError(_refusal(refused, sorted(table.missing_words)))
    if not any(decision.column.used for decision in decisions):
        raise ValueError(_nothing_left(table, [decision.column for decision in decisions]))
    for column, *_ in decisions:
        if column.reason.startswith(LISTS):
            warn_user(f"column {column.name!r} is left out, as it holds {column.reason}.")
    if dates and not any(column.kind == "date" for column, *_ in decisions):
        warn_user(f"{option('dates', True)}: no column to use holds dates that are read; {UNREAD}.")
    if message := totals_message(table, numbers):
        warn_user(message)
    return decisions


def _top(values: Array, found: Found) -> str | None:
    """The first value of a column of numbers: a word that it holds once, "" for none, else None."""
    text = str(values[0]).strip()
    is_word = found.stray == (0, text) or found.spelling.is_missing(text)
    if is_word and Texts(values).counts[text] == 1:
        return text
    return "" if found.numbers is not None and np.isnan(found.numbers[0]) else None


def _nothing_left(table: Table, columns: Sequence[Column]) -> str:
    """That no column can be used, why, and what to do."""
    if table.n_rows == 1:
        return "X: has 1 row, n_samples=1, but clusters need at least 2 rows that differ."
    # Only some are named, and the reason of a nested one says what to do.
    named = sorted(columns, key=lambda one: one.kind != "nested")
    why = [f"{one.name!r} ({one.kind}{one.reason and ', '}{one.reason})" for one in named]
    kinds = {column.kind for column in columns}
    ways = []
    if kinds & {"text", "identifier"}:
        ways.append(f"{option('categorical=')} takes text for a category")
    if any(one.kind == "text" and one.reason.startswith(ALL_DIFFER) for one in columns):
        fit = f"fit with {option('metric', 'cosine')}"
        ways.append(f"a language model makes embeddings of free text, numbers to {fit}")
    if kinds & {"date", "identifier", "counter"}:
        full = option("columns=")
        ways.append(f"{full} uses dates and numbers that are left out, by their full names")
    if "dropped" in kinds:
        ways.append(f"{option('drop=')} and {option('columns=')} leave columns out")
    if not ways and "nested" not in kinds:
        ways.append("A column of one value tells no rows apart: another one is needed")
    remedy = f" {'; '.join(ways)}." if ways else ""
    return f"X: with {counted(table.n_rows, 'row')}, no column can be used: {first(why)}.{remedy}"


class _Trouble(NamedTuple):
    """Why a column cannot be used, what to do, and the value that is no number."""

    why: str
    remedy: str = ""
    stray: str | None = None


def _refusal(refused: Mapping[str, _Trouble], given: list[str]) -> str:
    """The message on columns that cannot be used; of several it names three, and their remedies.

    `given` are the words that are missing values already.
    """
    texts = [f"column {name!r} {one.why}" for name, one in refused.items()]
    if len(refused) == 1:
        (trouble,) = refused.values()
        return f"{texts[0]}{trouble.remedy and ': '}{trouble.remedy}."
    more = f"; and {counted(len(texts) - 3, 'more column')}" if len(texts) > 3 else ""
    words = list(dict.fromkeys(one.stray for one in refused.values() if one.stray))
    gaps = ""
    # On the command line a comma separates words.
    if words and len(words) <= MOST_WORDS and not any("," in word for word in words):
        gaps = f"{option('missing_values', [*given, *words])} takes such words for gaps, "
    return (
        f"{'; '.join(texts[:3])}{more}: {gaps}{option('drop', list(refused))} leaves them out, or "
        "correct such values."
    )


def _trouble(table: Table, name: str, found: Found, *, asked: bool) -> _Trouble | None:
    """Why a column cannot be used as the user asks, and what to do."""
    if found.stray:
        row, text = found.stray
        # What has another unit is a number under these marks.
        marked = found.reason.startswith("is none") and _MARKED.fullmatch(text) is not None
        marks = f"{option('decimal=')} and {option('thousands=')} say how numbers are written; "
        return _Trouble(
            f"holds numbers, but {shortened(text, 60)!r} ({table.row(row)}{table.first_row}) "
            f"{found.reason}",
            f"{marks * marked}correct such values or leave them empty, name "
            f"words in {option('missing_values=')}, leave the column out with "
            f"{option('drop', name)}, or take it for a category with {option('categorical', name)}",
            text,
        )
    if len(found.values) > MOST_GIVEN_VALUES:
        return _Trouble(
            f"has {len(found.values)} different values, too many for a category (at most "
            f"{MOST_GIVEN_VALUES})",
            f"leave it out with {option('drop', name)}",
        )
    if asked and found.kind == "date" and found.numbers is None:
        texts = Texts(table[name])
        row, text = texts.first(lambda text: is_date(text) and bool(np.isnan(days_of(text))))
        gaps = option("missing_values", [*sorted(table.missing_words), text])
        # In another order the day may exist.
        is_no_day = f", take days that do not exist for gaps with {gaps}"
        return _Trouble(
            f"holds dates that are not read, such as {text!r} ({table.row(row)}{table.first_row}); "
            f"{UNREAD}",
            f"write them as 2025-12-31{is_no_day * is_date_in_order(text)}, or leave the column "
            f"out with {option('drop', name)}",
        )
    if asked and found.kind == "nested":
        return _Trouble(f"holds {found.reason}")
    if asked and found.kind in ("text", "identifier") and found.numbers is None:
        remedy = f"{option('categorical', name)} takes it for a category"
        return _Trouble(f"holds text ({found.reason})", remedy)
    return None


def _decision(
    name: str, found: Found, used: bool, missing: str, skewed: str, gaps_told: set[bytes]
) -> Decision:
    """What is remembered of a column. Only the first of columns with equal gaps marks them."""
    knee, many, digits = 0.0, False, 3
    if used and found.kind != "category" and found.numbers is not None:
        if missing == "impute" and found.n_missing > MANY_MISSING * len(found.numbers):
            gaps = blake2b(np.isnan(found.numbers).tobytes()).digest()
            many = gaps not in gaps_told
            gaps_told.add(gaps)
        present = found.numbers[np.isfinite(found.numbers)]
        with np.errstate(over="ignore", invalid="ignore"):
            few = (n for n in (0, 2) if np.allclose(present, np.round(present, n), 1e-9, 1e-9))
            digits = next(few, 3)
        if skewed == "log" and found.kind == "number":
            knee = _knee(found.numbers)
    n_values = len(found.values) or None
    column = Column(name, found.kind, used, found.reason, found.n_missing, n_values, many, knee > 0)
    return Decision(column, found._replace(numbers=None), knee, digits)


def _knee(numbers: Array) -> float:
    """The knee of the scale of numbers; 0 for numbers that stay as they are."""
    present = numbers[np.isfinite(numbers)]
    if not len(present) or present.min() < 0 or not present.any():
        return 0.0
    # Halves, because the mean of two large numbers may overflow.
    knee = 2 * float(np.median(present[present > 0] / 2))
    before = _skewness(present)
    if before <= SKEWED or abs(_skewness(logarithms(present, knee))) > before / 2:
        return 0.0
    return knee


def logarithms(numbers: Array, knee: float) -> Array:
    """Numbers on a scale that is about linear up to the knee, and logarithmic far beyond."""
    with np.errstate(over="ignore"):
        scaled: Array = np.sign(numbers) * np.log1p(np.abs(numbers) / knee)
    return scaled


def powers(numbers: Array, knee: float) -> Array:
    """The numbers that have these `logarithms`."""
    return np.asarray(np.sign(numbers) * np.expm1(np.abs(numbers)) * knee)


def _skewness(numbers: Array) -> float:
    deviations = numbers / np.abs(numbers).max()  # nothing overflows
    deviations -= deviations.mean()
    variance = np.square(deviations).mean()
    return float((deviations**3).mean() / variance**1.5) if variance > 0 else 0.0
