"""Units beside numbers in text: signs of currency and percent, words, and parentheses for minus."""

import re
from collections import Counter

import polars as pl

from kernelmeans.tables.numerals import SIGNS, is_multiple

#: Values that are looked at before all are.
_HEAD = 1000
_CODES = "EUR|USD|GBP|CHF|JPY|CNY|INR|CAD|AUD|NZD|BRL|MXN|ZAR|SEK|NOK|DKK|PLN|CZK|HUF|TRY"
# Other words before a number are part of a name: C12, Room 12.
_BEFORE = rf"[{SIGNS}]|(?i:{_CODES})|R\$|kr\.?|zł|Rs\.?|Fr\.?"
_AFTER = rf"[{SIGNS}°µ\p{{L}}][{SIGNS}°²³µ/.\p{{L}}]{{0,11}}[23]?"
_DIGITS = r"[0-9][0-9.,' \u2019\u00a0\u2009\u202f]*(?:[eE][+-]?[0-9]+)?|[.,][0-9]+"
_WRITTEN = (
    rf"^(?P<opened>\(?)\s*(?P<first>[+-]?)\s*(?P<before>{_BEFORE})?\s*(?P<second>[+-]?)\s*"
    rf"(?P<number>{_DIGITS})\s*(?P<after>{_AFTER})?\s*(?P<closed>\)?)$"
)


def without_unit(values: pl.Series) -> tuple[pl.Series, str, int]:
    """Take the unit away that the numbers of a column have, unless some have another.

    Some may have none, but not of percents: 0.5 and 50 % may be the same.

    Parameters
    ----------
    values : Series of str
        The values of a column. Those that stand for no value are missing.

    Returns
    -------
    values : Series of str
        Numbers without the unit, and with a minus in place of parentheses; other values as they
        are.
    unit : str
        The unit, if it should be said that it is left out.
    n_bare : int
        Numbers without it.
    """
    head = values.drop_nulls().head(_HEAD)
    if 2 * head.str.contains(_WRITTEN).sum() <= len(head):
        return values, "", 0
    parts = values.str.extract_groups(_WRITTEN).struct.unnest()
    parts = parts.with_columns(pl.all().fill_null(""))
    found, enclosed = parts["number"] != "", parts["opened"] == "("
    codes = parts["number"].str.contains("^0[0-9]").any()
    if codes or (enclosed != (parts["closed"] == ")")).any() or enclosed.sum() == found.sum():
        return values, "", 0
    counts: Counter[str] = Counter()
    for text, count in (parts["before"] + parts["after"]).filter(found).value_counts().iter_rows():
        counts[_singular(text)] += count
    n_bare = counts.pop("", 0)
    unit, count = next(iter(counts.items()), ("", n_bare))
    if len(counts) > 1 or is_multiple(unit) or (n_bare and unit == "%") or count < n_bare:
        return values, "", 0
    sign = (enclosed | (parts["first"] == "-") | (parts["second"] == "-")).replace_strict(
        {True: "-", False: ""}, return_dtype=pl.String
    )
    numbers = sign + parts["number"].str.strip_chars()
    said = unit not in SIGNS or n_bare > 0
    return numbers.zip_with(found, values), unit if said else "", n_bare


def _singular(unit: str) -> str:
    """A unit without a plural, because 1 day and 2 days have the same."""
    return re.sub(r"(?<=\w\w)s$", "", unit.removesuffix("."))
