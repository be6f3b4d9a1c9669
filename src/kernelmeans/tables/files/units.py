"""Units beside numbers in text: signs of currency and percent, words, and parentheses for minus."""

import re
from collections import Counter
from typing import NamedTuple

import polars as pl

from kernelmeans.tables.numerals import SIGNS, units_like

#: Values that are looked at before all are.
_HEAD = 1000
_CODES = "EUR|USD|GBP|CHF|JPY|CNY|INR|CAD|AUD|NZD|BRL|MXN|ZAR|SEK|NOK|DKK|PLN|CZK|HUF|TRY"
# Other words before a number are part of a name: C12, Room 12.
_BEFORE = rf"[{SIGNS}]|(?i:{_CODES})|R\$|kr\.?|zł|Rs\.?|Fr\.?"
# Other words after a number make it a code or a place: 12A, 10115 Berlin, 5 May. So may a letter
# without a blank.
_WORDS = "|".join(
    (
        rf"[{SIGNS}]|{_BEFORE}|°C|°F|°",
        "kg|mg|µg|ug|lbs?|pounds?|oz|km|cm|mm|µm|miles?|mi|ft|feet|inch(?:es)?|yds?",
        "km/h|kph|mph|m/s|km2|km²|m2|m²|cm2|m3|m³|cm3|sqm|sqft|ha|ml|mL|cl|gal",
        "hours?|hrs?|hr|minutes?|mins?|seconds?|secs?|ms|days?|weeks?|months?|years?|yrs?",
        "Jahre?|Monate?|Tage?|Wochen?|Std|Stunden?|Minuten?|Sek",
        "kWh|MWh|kW|MW|Wh|mV|kV|mA|Hz|kHz|MHz|GHz|kB|KB|MB|GB|TB|dB|pcs?|Stk|Stück|kcal|cal|kJ",
        "bar|hPa|kPa|Pa|mmHg|mg/dl|mg/dL|mmol/l|mmol/L|bpm|rpm|ppm",
    )
)
_LETTERS = "g|t|m|l|L|s|h|d|W|V|A|J"
_DIGITS = r"[0-9][0-9.,' \u2019\u00a0\u2009\u202f]*(?:[eE][+-]?[0-9]+)?|[.,][0-9]+"
_WRITTEN = (
    rf"^(?P<opened>\(?)\s*(?P<first>[+-]?)\s*(?P<before>{_BEFORE})?\s*(?P<second>[+-]?)\s*"
    rf"(?P<number>{_DIGITS})(?:(?P<third>-)\s+)?(?:\s*(?P<after>(?:{_WORDS})\.?)|\s+(?P<letter>{_LETTERS}))?\s*"
    rf"(?P<closed>\)?)$"
)


class Plain(NamedTuple):
    """A column without its unit.

    Attributes
    ----------
    values : Series of str
        Numbers without the unit, and with a minus in place of parentheses; other values as they
        are.
    unit : str
        The unit, empty if there is none.
    n_bare : int
        Numbers without it.
    other : str or None
        The first number that is not in the known unit.
    """

    values: pl.Series
    unit: str = ""
    n_bare: int = 0
    other: str | None = None


def without_unit(values: pl.Series, known: str | None = None) -> Plain:
    """Take the unit away that the numbers of a column have.

    Some may have none, but not of percents: 0.5 and 50 % may be the same.

    Parameters
    ----------
    values : Series of str
        The values of a column. Those that stand for no value are missing.
    known : str or None, default=None
        The unit that the column had in the fit, empty if it had none. Numbers with another become
        text that says so. If it is any of `SIGNS`, one that all numbers have is left out. When None
        it is found: then nothing is left out if there are two.

    Returns
    -------
    Plain
        The column, and its unit.
    """
    head, named = values.drop_nulls().head(_HEAD), known not in (None, SIGNS, "")
    if not named and 2 * head.str.contains(_WRITTEN).sum() <= len(head):
        return Plain(values)
    parts = values.str.extract_groups(_WRITTEN).struct.unnest()
    parts = parts.with_columns(pl.all().fill_null(""))
    enclosed, written = parts["opened"] == "(", parts["before"] + parts["after"] + parts["letter"]
    units = written.replace_strict({text: _singular(text) for text in written.unique()})
    found, other = parts["number"] != "", None
    odd = parts["number"].str.contains("^0[0-9]") | (enclosed != (parts["closed"] == ")"))
    if known is not None and named:
        wrong = found & ~units.is_in(list(units_like(known)))
        other = next(iter(values.filter(wrong).head(1)), None)
        values = (values + f" (not {known})").zip_with(wrong, values)
        found &= ~odd & ~wrong
        unit, n_bare = known, int((found & (units == "")).sum())
    else:
        unit, n_bare, single = _only(units.filter(found))
        if not single or odd.any() or (enclosed & found).sum() == found.sum():
            return Plain(values)
        if (known == "" and unit) or (known and (unit not in SIGNS or (unit and n_bare))):
            return Plain(values)
    minus = enclosed | (parts["first"] + parts["second"] + parts["third"] == "-")
    sign = minus.replace_strict({True: "-", False: ""}, return_dtype=pl.String)
    numbers = sign + parts["number"].str.strip_chars()
    return Plain(numbers.zip_with(found, values), unit, n_bare, other)


def _only(units: pl.Series) -> tuple[str, int, bool]:
    """The unit that most numbers have, how many have none, and whether no other has one."""
    counts = Counter(units.to_list())
    n_bare = counts.pop("", 0)
    unit, count = next(iter(counts.items()), ("", n_bare))
    single = len(counts) <= 1 and count >= n_bare and not (n_bare and unit == "%")
    return unit, n_bare, single


def _singular(unit: str) -> str:
    """A unit without a plural, because 1 day and 2 days have the same."""
    return re.sub(r"(?<=[a-z][a-z])s$", "", unit.removesuffix("."))
