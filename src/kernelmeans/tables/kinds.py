"""What a column is, by its values, so that a half of the rows mostly gives the same answer.

No rule looks at the order of rows, except for words in a reason. Rules that count rows ask for
fractions, or for far more rows than a decision needs.
"""

import re
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from kernelmeans._text import counted, shortened
from kernelmeans._typing import Array
from kernelmeans.tables.frames import Table
from kernelmeans.tables.values import (
    FLAGS,
    Texts,
    days_of,
    flag_of,
    is_date,
    number_of,
    numbers_of,
    sign_of,
)

#: Most values of a category: the 50 states, with some more. Each takes a column of the result, and
#: with so many nearly all pairs of rows differ, so that more would tell little.
MOST_VALUES = 60
#: Rows that each value of a category needs on average. Text with fewer is names, titles or remarks.
ROWS_OF_VALUE = 4
#: Most values of a column that the user calls a category: they are columns in memory.
MOST_GIVEN_VALUES = 1000
#: Whole numbers are all different by chance only if few repeats are to be expected. With so many
#: expected ones the chance is e^-10 for each column; a half of the rows expects a quarter.
REPEATS = 10
#: Fraction of missing values above which a column of its own says where they are. Fewer hardly
#: tell anything, and so rare a value would lie far from all others once it is scaled. For the same
#: reason a column of one value and so few missing ones is constant.
MANY_MISSING = 0.05
#: Digits of whole numbers that no measurement has: of phone and account numbers.
DIGITS = 9
#: Whole numbers in columns with such names are codes.
_CODE_NAME = re.compile(
    r"(?i:(?:^|.*[\W_])(?:id|zip|zip_?code|postal_?code|post_?code|plz|phone))|.*[a-z](?:Id|ID)",
)
#: Why a date is left out.
ON_REQUEST = "the option dates uses it"
#: Kinds that clusters can depend on.
USED = ("number", "flag", "category", "date")


class Found(NamedTuple):
    """What a column is.

    Attributes
    ----------
    kind : str
        "number", "flag", "category", "date", "text", "identifier", "counter" or "constant".
    reason : str
        Why.
    n_missing : int
        Number of missing values.
    numbers : ndarray of shape (n_rows,) or None
        The values if they are numbers, flags or categories, coded from 0; NaN if missing.
    values : sequence of str
        The values of a category. The empty one stands for missing values.
    stray : str
        Of a column of numbers: the first value that is none, and its row.
    """

    kind: str
    reason: str
    n_missing: int
    numbers: Array | None = None
    values: Sequence[str] = ()
    stray: str = ""


def column_kind(series: Any, name: str = "") -> str:
    """Say what a column is.

    Parameters
    ----------
    series : series of polars or pandas, or array-like of shape (n_rows,)
        The column.
    name : str, default=""
        Its name. Whole numbers called an id or a zip code are codes.

    Returns
    -------
    str
        "number", "flag" (yes or no), "category", "date", "text", "identifier", "counter" or
        "constant".

    Examples
    --------
    >>> from kernelmeans.tables import column_kind
    >>> column_kind([1.5, 2.0, None]), column_kind(["yes", "no", "yes"])
    ('number', 'flag')
    """
    if hasattr(series, "to_frame"):
        table = Table(series.to_frame())
        return found_in(table[table.names[0]], name or table.names[0]).kind
    return found_in(np.asarray(series), name).kind


def found_in(values: Array, name: str) -> Found:
    """Say what a column is, and why."""
    numbers = numbers_of(values)
    if numbers is not None and values.dtype.kind != "M":
        return _among_numbers(numbers, values, name)
    if numbers is not None:
        return Found("date", ON_REQUEST, int(np.isnan(numbers).sum()), numbers)
    texts = Texts(values)
    counts, present = texts.counts, texts.counts.total()
    n_missing = len(values) - present
    if not counts:
        return Found("constant", "no value", n_missing)
    parsed = {text: number_of(text) for text in counts}
    n_numbers = sum(counts[text] for text, number in parsed.items() if number == number)
    sign = max({sign_of(text) for text in counts}, key=lambda one: _rows_with(one, counts))
    if n_numbers >= present / 2 and not _are_padded(counts):

        def is_stray(text: str) -> bool:
            return bool(np.isnan(parsed[text])) or sign_of(text) != sign

        if any(map(is_stray, counts)):
            row, text = texts.first(is_stray)
            return Found("number", "", n_missing, stray=f"{shortened(text, 60)!r} in row {row}")
        return _among_numbers(texts.map(parsed.__getitem__), values, name)
    words = {text.lower() for text in counts}
    if any(words == set(pair) for pair in FLAGS):
        return Found("flag", "", n_missing, texts.map(flag_of))
    if all(map(is_date, counts)):
        numbers = texts.map(days_of)
        parsed_all = np.isnan(numbers).sum() == n_missing
        return Found("date", ON_REQUEST, n_missing, numbers if parsed_all else None)
    if len(counts) == 1 and n_missing <= MANY_MISSING * len(values):
        return _constant(n_missing)
    if _are_few(len(counts), present):
        return as_category(values)
    if len(counts) > 0.9 * present:
        one_word = not any(" " in text for text in counts)
        kind, reason = ("identifier" if one_word else "text"), "nearly all values differ"
        return Found(kind, reason, n_missing)
    return Found("text", f"{counted(len(counts), 'value')}", n_missing)


def as_category(values: Array) -> Found:
    """Take a column for a category, whatever it holds; missing values are one of its own."""
    texts = Texts(values)
    known = sorted(texts.counts) + [""] * (texts.n_missing > 0)
    codes = {text: float(code) for code, text in enumerate(known)}
    numbers = texts.map(codes.__getitem__, missing=codes.get("", np.nan))
    return Found("category", "", texts.n_missing, numbers, known)


def _constant(n_missing: int) -> Found:
    return Found(
        "constant", f"one value{f', and {n_missing} missing' if n_missing else ''}", n_missing
    )


def _are_padded(texts: Collection[str]) -> bool:
    """Whether these are codes of digits, some with leading zeros."""
    return any(text[:1] == "0" < text[1:] for text in texts) and all(map(str.isdigit, texts))


def _rows_with(sign: str, counts: dict[str, int]) -> int:
    return sum(count for text, count in counts.items() if sign_of(text) == sign)


def _are_few(n_values: int, present: int) -> bool:
    return n_values <= MOST_VALUES and present >= ROWS_OF_VALUE * n_values


def _among_numbers(numbers: Array, values: Array, name: str) -> Found:
    present = numbers[~np.isnan(numbers)]
    n_missing = len(numbers) - len(present)
    if not len(present):
        return Found("constant", "no value", n_missing)
    low, high = present.min(), present.max()
    if low == high:
        return _constant(n_missing)
    whole = bool(np.isfinite(high - low)) and bool((present == np.floor(present)).all())
    if whole and (low, high) == (0, 1):
        return Found("flag", "", n_missing, numbers)
    if whole and _CODE_NAME.fullmatch(name):
        category = as_category(values)
        if _are_few(len(category.values), len(present)):
            return category._replace(reason="codes, by its name")
        return Found("identifier", "codes, by its name", n_missing, numbers)
    if whole and (kind := _kind_of_counts(present, low, high)):
        return Found(kind, "whole numbers, all different", n_missing, numbers)
    return Found("number", "", n_missing, numbers)


def _kind_of_counts(present: Array, low: float, high: float) -> str | None:
    """Say whether whole numbers only count or name the rows: all differ, though not by chance."""
    count, places = len(present), high - low + 1
    in_order = count > 2 and np.array_equal(present, low + np.arange(count))
    expected = count * (count - 1) / 2 / places
    codes = low >= 10 ** (DIGITS - 1) and len(f"{low:.0f}") == len(f"{high:.0f}")
    if in_order and (low in (0, 1) or expected >= REPEATS):
        return "counter"
    if places < count or not (expected >= REPEATS or codes) or len(np.unique(present)) < count:
        return None
    return "identifier" if codes or np.any(np.diff(present) <= 0) else "counter"
