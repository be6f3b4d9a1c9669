"""Numbers in text: the decimal mark, and the mark between groups of three digits.

A column is of numbers if all its values are numbers under one decimal mark. Most columns are so
under one mark only: 0.5, 1234.567 and 1,234.5 have a point, 1,5 and 1.234.567 a comma. A column of
values such as 1.234 is either. Then the other columns of the file decide, and that is said. A
column of which most values are numbers stays text, with numbers as Python writes them:
`kernelmeans.tables` decides what the others mean.
"""

import re
import warnings
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import polars as pl

from kernelmeans._errors import InputError
from kernelmeans._text import counted, shortened
from kernelmeans.tables.files.settings import Reading
from kernelmeans.tables.files.units import Plain, without_unit
from kernelmeans.tables.numerals import MINUS, WORDS
from kernelmeans.tables.values import EMPTY, MISSING

_OTHER = {".": ",", ",": "."}
# A space, one that does not break, a thin one, and a narrow one that does not break.
_SPACES = " \u00a0\u2009\u202f"
_APOSTROPHES = "'\u2019"
#: Values that are looked at before all are.
_HEAD = 1000
#: An amount with a minus after it, as SAP writes it.
_TRAILING = rf"^([0-9][0-9.,{_APOSTROPHES}{_SPACES}]*[.,][0-9]+)-$"
#: Digits and marks alone.
_MARKED = re.compile(r"[\W\d]+")
#: The fraction of numbers in a column whose other text is likely a slip.
_NEARLY = 0.9


class Numerals(NamedTuple):
    """How the numbers of a file are written.

    Parameters
    ----------
    decimal : {".", ","} or None, default=None
        The decimal mark; None if it is not known, or not the same in all columns.
    thousands : str or None, default=None
        The characters that may stand between groups of three digits. None stands for apostrophes,
        spaces, and the mark that is not the decimal mark.
    units : mapping of str, default=None
        The units of columns in the fit; that of the column "" is of all that are not there. None if
        this is the fit: then they are found.
    """

    decimal: str | None = None
    thousands: str | None = None
    units: Mapping[str, str] | None = None

    @classmethod
    def of(cls, reading: Reading) -> "Numerals":
        """Return what the options say."""
        decimal, thousands = reading.decimal, reading.thousands
        if decimal is not None and decimal not in _OTHER:
            raise InputError(f"--decimal is {decimal!r}, but must be a point or a comma")
        named = {"none": "", "space": _SPACES, " ": _SPACES, "'": _APOSTROPHES}
        thousands = None if thousands is None else named.get(thousands, thousands)
        if thousands and (re.search(r"[\w+-]", thousands) or thousands == decimal):
            raise InputError(
                f"--thousands is {thousands!r}, but must be a mark other than the decimal mark, "
                "or space, or none"
            )
        return cls(decimal or _OTHER.get(thousands or ""), thousands, reading.units)

    def chosen(self) -> dict[str, Any]:
        """Return the fields of `Reading` that say the same."""
        thousands = None if self.thousands is None else self.thousands or "none"
        found = {"decimal": self.decimal, "thousands": thousands, "units": self.units}
        return {name: what for name, what in found.items() if what is not None}

    def without_unit(self, name: str, values: pl.Series) -> Plain:
        """Return a column without its unit: that of the fit, if there was one."""
        return without_unit(values, self.unit_of(name))

    def unit_of(self, name: str) -> str | None:
        """Return the unit that a column had in the fit, empty if it had none; None in the fit."""
        return None if self.units is None else self.units.get(name, self.units.get("", ""))

    def groups(self, decimal: str) -> str:
        """Return the characters that may stand between groups of digits."""
        everything = _OTHER[decimal] + _APOSTROPHES + _SPACES
        return everything if self.thousands is None else self.thousands.replace(decimal, "")

    def column(self, values: pl.Series) -> "_Column | None":
        """Return a column of numbers; None if most values are something else."""
        decimals, others = self.decimals(values), values.clear(len(values))
        if not decimals:
            decimals, others = self._mostly(values)
            values = values.set(others.is_not_null(), None)
        if (plain := _plain(values)) is not None and plain.dtype == pl.String:
            return None  # codes
        known = [mark for mark in decimals if mark == self.decimal]
        return _Column(values, known or decimals, others) if decimals else None

    def decimals(self, values: pl.Series) -> list[str]:
        """Return the decimal marks under which all values are numbers."""
        return [mark for mark in _OTHER if _all(values, self._pattern(mark))]

    def _mostly(self, values: pl.Series) -> tuple[list[str], pl.Series]:
        """The decimal marks under which most values are numbers, and all values that are none."""
        fitting = {
            mark: values.str.contains(self._pattern(mark)).fill_null(value=False) for mark in _OTHER
        }
        best = max(_OTHER, key=lambda mark: (fitting[mark].sum(), mark == self.decimal))
        others = values.set(fitting[best], None)
        n_unknown = (~others.drop_nulls().str.to_lowercase().is_in(list(WORDS))).sum()
        if fitting[best].sum() < max(n_unknown, 1):
            return [], others
        return [mark for mark in _OTHER if (fitting[mark] | ~fitting[best]).all()], others

    def odd_value(self, values: pl.Series) -> str | None:
        """Return the first value with digits that is no number, if nearly all are, with marks."""
        head = values.drop_nulls().head(_HEAD)
        fitting = {mark: head.str.contains(self._pattern(mark)) for mark in _OTHER}
        either = fitting["."] | fitting[","]
        marked = either & head.str.contains("[.,]")
        if either.sum() < _NEARLY * len(head) or 2 * marked.sum() < len(head):
            return None
        common = max(_OTHER, key=lambda mark: fitting[mark].sum())
        others = values.filter(~values.str.contains(self._pattern(common))).drop_nulls()
        return next((text for text in others if re.search("[0-9]", text)), None)

    def grouped_otherwise(self, values: pl.Series) -> str | None:
        """Return a number of new rows with apostrophes or spaces, which the fit did not have."""
        marks, free = _APOSTROPHES + _SPACES, self._replace(thousands=None)
        known = self.thousands is None or self.units is None or self.decimals(values)
        if known or not free.decimals(values):
            return None
        return next(iter(values.filter(values.str.contains(f"[{marks}]")).head(1)), None)

    def _pattern(self, decimal: str) -> str:
        mark, groups = re.escape(decimal), re.escape(self.groups(decimal))
        grouped = rf"|[1-9][0-9]{{0,2}}(?:[{groups}][0-9]{{3}})+" if groups else ""
        digits = rf"(?:[0-9]+{grouped})(?:{mark}[0-9]*)?|{mark}[0-9]+"
        infinite = "(?i:inf|infinity)"  # refused by name later
        return rf"^[+-]?(?:(?:{digits})(?:[eE][+-]?[0-9]+)?|{infinite})$"

    def plain(self, values: pl.Series, decimal: str) -> pl.Series:
        """Return values that fit as Python writes numbers."""
        if groups := re.escape(self.groups(decimal)):
            values = values.str.replace_all(f"[{groups}]", "")
        return values.str.replace(decimal, ".", literal=True)


class _Column(NamedTuple):
    """A column of numbers, the decimal marks under which they are numbers, and its other values."""

    values: pl.Series
    decimals: list[str]
    others: pl.Series

    def example(self, marks: str) -> str | None:
        """Return the first value that has one of these marks."""
        found = self.values.filter(self.values.str.contains(f"[{marks}]").fill_null(value=False))
        return str(found[0]) if len(found) else None

    def shows_groups(self, mark: str) -> bool:
        """Whether some value shows that a mark stands between groups: 1.234.567 or 1.234,5."""
        return bool(self.values.str.contains(rf"[{mark}].*[.,]").any())


def parse_numbers(column: pl.Series) -> tuple[pl.Series, pl.Series]:
    """The numbers in a column, in text with decimal points, and the places of anything else."""
    if column.dtype.is_temporal() or column.dtype.is_nested():
        return column, column.is_not_null()
    values = _values(column, MISSING) if column.dtype == pl.String else column
    numbers = values.cast(pl.Float64, strict=False)
    return numbers, numbers.is_null() & values.is_not_null()


def read_numbers(
    source: object,
    frame: pl.DataFrame,
    numerals: Numerals,
    *,
    separator: str | None = None,
    verbatim: str | None = None,
) -> tuple[pl.DataFrame, Numerals]:
    """Turn columns of text into numbers or truth values if all their values are such.

    Codes stay text: whole numbers that lead with 0, or have more digits than an integer holds.

    Parameters
    ----------
    source : object
        The name of the file in messages.
    frame : DataFrame
        The columns.
    numerals : Numerals
        What is known of the marks.
    separator : str or None, default=None
        The separator of a text, whose columns of floats have decimal points.
    verbatim : str or None, default=None
        A column that stays as it is.

    Returns
    -------
    frame : DataFrame
        The same columns.
    found : Numerals
        The decimal mark, if it is known and the same in all columns, the marks between groups, and
        the units of columns.
    """
    new = ""
    if numerals.thousands == "" and numerals.units is not None and _agrees(frame, numerals):
        numerals, new = numerals._replace(thousands=None), _OTHER[str(numerals.decimal)]
    done: dict[str, pl.Series] = {}
    waiting: dict[str, _Column] = {}
    units: dict[str, str] = {}
    said: list[str] = []
    for name in frame.columns:
        column, percents = frame[name], numerals.unit_of(name) == "%"
        if percents and column.dtype.is_numeric():
            column = column.cast(pl.String)
        if column.dtype != pl.String or name == verbatim:
            continue
        values, other = _values(column), None
        if percents or not numerals.decimals(values):
            bare, unit, n_bare, other = numerals.without_unit(name, values)
            if other is not None:
                warnings.warn(
                    f"{source}: the numbers of column {shortened(name, 60)!r} had the unit "
                    f"{unit!r} in the fit; {other!r} is not in it",
                    stacklevel=2,
                )
                done[name] = values = bare
            if numerals.column(bare) is not None or _plain(bare) is not None:
                values = bare
                without = f" ({counted(n_bare, 'number')} without it)" * bool(n_bare)
                words = f"{unit!r} in column {shortened(name, 60)!r}{without}"
                said += [words] * bool(unit)
                units |= {name: unit} if unit else {}
        if (plain := _plain(values)) is not None:
            # Words among codes may be values.
            is_text = plain.dtype == pl.String
            done[name] = plain.zip_with(plain.is_not_null(), column) if is_text else plain
        elif (found := numerals.column(values)) is not None:
            waiting[name] = found
        odd, marks = numerals.odd_value(values), "--decimal and --thousands say"
        if (grouped := numerals.grouped_otherwise(values)) is not None:
            mark = '"\'"' if re.search(f"[{_APOSTROPHES}]", grouped) else "space"
            odd, marks = grouped, f"--thousands {mark} says"
        if other is None and odd is not None:
            marks += " how numbers are written"
            words = "correct such values, or name them in --missing-values"
            warnings.warn(
                f"{source}: column {shortened(name, 60)!r} holds numbers, but also {odd!r}; "
                f"{marks if _MARKED.fullmatch(odd) else words}",
                stacklevel=2,
            )
    points = separator is not None and pl.Float64 in frame.dtypes
    decimal = numerals.decimal or _common(waiting, points=points)
    guess = decimal or _guess(waiting, separator)
    for name, (values, decimals, others) in waiting.items():
        plain = numerals.plain(values, guess if guess in decimals else decimals[0])
        done[name] = plain.zip_with(others.is_null(), others) if others.count() else _number(plain)
    if said:
        warnings.warn(f"{source}: units are left out: {', '.join(said)}", stacklevel=2)
    _say_doubts(source, waiting, decimal, done, new=new, spaces=numerals.thousands is None)
    seen = _seen(waiting, decimal, numerals)
    return frame.with_columns(**done), Numerals(decimal, seen, units)


def _agrees(frame: pl.DataFrame, numerals: Numerals) -> bool:
    """Whether a file shows the decimal mark of the fit, and no other: then thousands are sure."""
    free = numerals._replace(thousands=None)
    texts = [_values(column) for column in frame if column.dtype == pl.String]
    found = [marks[0] for values in texts if len(marks := free.decimals(values)) == 1]
    return {*found, *["."] * (pl.Float64 in frame.dtypes)} == {numerals.decimal}


def _seen(columns: Mapping[str, _Column], decimal: str | None, numerals: Numerals) -> str | None:
    """The marks between groups of digits that these columns have, if no others are given."""
    # A column may be numbers under the other mark alone, whatever the options say.
    differ = any(decimal not in column.decimals for column in columns.values())
    if decimal is None or differ or numerals.thousands is not None:
        return numerals.thousands
    marks = numerals.groups(decimal)
    return "".join(mark for mark in marks if any(one.example(mark) for one in columns.values()))


def _common(columns: Mapping[str, _Column], *, points: bool) -> str | None:
    """The decimal mark of all columns that are numbers under one only."""
    marks = {column.decimals[0] for column in columns.values() if len(column.decimals) == 1}
    marks |= {"."} if points else set()
    return marks.pop() if len(marks) == 1 else None


def _guess(columns: Mapping[str, _Column], separator: str | None) -> str:
    """The decimal mark of columns that are numbers under either.

    Files with semicolons come from where a comma is the decimal mark.
    """
    either = [column for column in columns.values() if len(column.decimals) == 2]
    return "," if separator == ";" and any(column.example(",") for column in either) else "."


def _say_doubts(
    source: object,
    columns: Mapping[str, _Column],
    decimal: str | None,
    numbers: Mapping[str, pl.Series],
    *,
    new: str,
    spaces: bool,
) -> None:
    """Warn of numbers that may be meant otherwise, with an example from each column.

    A mark that the fit did not have is new: a column has to show what it means.
    """
    texts = []
    for name, column in columns.items():
        example = _doubt(column, columns, decimal) or (column.example(" ") if spaces else None)
        if new and example is None and not column.shows_groups(new):
            example = column.example(new)
        if example is not None:
            number = numbers[name].filter(column.values == example)[0]
            texts.append(f"{example!r} in column {shortened(name, 60)!r} is read as {number}")
    if texts:
        more = f", and so on in {counted(len(texts) - 3, 'more column')}" if len(texts) > 3 else ""
        warnings.warn(
            f"{source}: {', '.join(texts[:3])}{more}; if that is wrong, --decimal and --thousands "
            "say how numbers are written",
            stacklevel=2,
        )


def _doubt(column: _Column, columns: Mapping[str, _Column], decimal: str | None) -> str | None:
    """A value that may be meant otherwise: there is no sign of its marks in other columns."""
    if len(column.decimals) == 1:
        (mark,) = column.decimals
        return column.example(mark) if mark != (decimal or ".") else None
    if decimal is None:
        return column.example(".,")
    grouping = _OTHER[decimal]
    certain = [other for other in columns.values() if len(other.decimals) == 1]
    return None if any(other.example(grouping) for other in certain) else column.example(grouping)


def _values(text: pl.Series, missing: Collection[str] = EMPTY) -> pl.Series:
    """Text without blanks around it, missing where it stands for no value."""
    text = text.str.strip_chars().str.replace_all(MINUS, "-", literal=True)
    text = text.str.replace(_TRAILING, "-${1}")
    return text.set(text.str.to_lowercase().is_in(list(missing)).fill_null(value=True), None)


def _plain(values: pl.Series) -> pl.Series | None:
    """Whole numbers, codes and truth values; None if a column is neither."""
    if _all(values, "^[+-]?[0-9]+$"):
        numbers = values.cast(pl.Int64, strict=False)
        codes = values.str.contains("^[+-]?0[0-9]").any() or not _kept(numbers, values)
        return values if codes else numbers
    if _all(values, "^(?i:true|false)$"):
        return values.str.to_lowercase() == "true"
    return None


def _number(values: pl.Series) -> pl.Series:
    """Numbers in text as integers, or else as floats."""
    numbers = values.cast(pl.Int64, strict=False)
    return numbers if _kept(numbers, values) else values.cast(pl.Float64, strict=False)


def _all(values: pl.Series, pattern: str) -> bool:
    """Say whether all values have a form; the first ones often tell."""
    return all(part.str.contains(pattern).all() for part in (values.head(_HEAD), values))


def _kept(numbers: pl.Series, values: pl.Series) -> bool:
    return numbers.null_count() == values.null_count()
