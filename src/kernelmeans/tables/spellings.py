"""How the numbers of a column of text are written: the decimal mark, groups, a unit, and words.

Most columns make sense under one decimal mark only: 0.5, 1234.567 and 1,234.5 have a point, 1,5 and
1.234.567 have a comma. Numbers such as 1.234 make sense under both marks. Then the other columns of
the table decide. Where they do not, a warning gives an example of the doubt.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from kernelmeans._dialect import option
from kernelmeans._text import first, shortened
from kernelmeans.tables.numerals import (
    APOSTROPHES,
    BOUNDS,
    GROUPS,
    OTHER,
    SPACES,
    Written,
    are_alike,
    same_unit,
    written,
)

#: Most different words among numbers that may stand for missing values, and most rows with such
#: words as a fraction. More words are left to the user, unless they are in `numerals.WORDS`.
MOST_WORDS, FEW_ROWS = 2, 0.05
#: Text that its writer likely meant as a number.
_LIKE_NUMBER = re.compile(r".*\d|[+-]?inf(inity)?$", re.IGNORECASE)
#: Names of marks between groups of digits.
_NAMED = {"none": "", "space": SPACES, " ": SPACES, "'": APOSTROPHES}

Doubt = tuple[str, float]


class Marks(NamedTuple):
    """The marks of numbers that hold for all columns of a table.

    Parameters
    ----------
    decimal : {".", ","} or None, default=None
        The decimal mark that the user names.
    thousands : str or None, default=None
        The marks between groups of three digits that the user allows; None for all.
    proved : {".", ","} or None, default=None
        The decimal mark that columns prove.
    shown : str, default=""
        Marks between groups in columns whose decimal mark is sure.
    guess : {".", ","}, default="."
        The decimal mark of columns that make sense under both marks. It applies if nothing proves
        the other mark, and one of these columns has it.
    """

    decimal: str | None = None
    thousands: str | None = None
    proved: str | None = None
    shown: str = ""
    guess: str = "."

    @classmethod
    def of(cls, decimal: str | None, thousands: str | None) -> "Marks":
        """The marks that a user names."""
        if decimal not in (None, *OTHER):
            raise ValueError(f"{option('decimal')} is {decimal!r}, but must be a point or a comma")
        groups = None if thousands is None else _NAMED.get(thousands, thousands)
        if groups and (re.search(r"[\w+-]", groups) or groups == decimal):
            raise ValueError(
                f"{option('thousands')} is {thousands!r}, but must be a mark other than the "
                "decimal mark, or space, or none"
            )
        return cls(decimal or OTHER.get(groups or ""), groups)

    def after(self, columns: Iterable[Mapping[str, int]]) -> "Marks":
        """These marks, and those that columns of text prove."""
        proved, shown, doubted = set[str](), "", False
        for counts in columns:
            parsed = _parsed(counts)
            if parsed and 2 * _rows(parsed, counts) >= _rows(counts, counts):
                decimals = self.decimals(parsed, counts)
                if len(decimals) == 1:
                    proved.add(decimals)
                    shown += OTHER[decimals] if _first(parsed, OTHER[decimals]) else ""
                else:
                    doubted = doubted or _first(parsed, self.guess) is not None
        return self._replace(
            proved=proved.pop() if len(proved) == 1 else None,
            shown=shown,
            guess=self.guess if doubted else ".",
        )

    def groups(self, decimal: str) -> str:
        """The marks that may stand between groups of digits."""
        return (GROUPS if self.thousands is None else self.thousands).replace(decimal, "")

    def decimals(self, parsed: Mapping[str, Written], counts: Mapping[str, int]) -> str:
        """The decimal marks under which most of these are numbers: one, or both."""
        rows = {mark: _rows(_fitting(parsed, mark, self.groups(mark)), counts) for mark in OTHER}
        return "".join(mark for mark in OTHER if rows[mark] == max(rows.values()))

    def chosen(self, decimals: str) -> str:
        """One of these decimal marks."""
        wanted = self.decimal or self.proved or self.guess
        return wanted if wanted in decimals else decimals[0]


class Spelling(NamedTuple):
    """How the numbers of a column of text are written in a fit.

    Parameters
    ----------
    decimal : {".", ","}, default="."
        The decimal mark.
    groups : str, default=""
        The marks between groups of three digits.
    unit : str or None, default=""
        The unit or sign of the numbers; empty if they have none, None if nobody knows.
    words : sequence of str, default=()
        Further words that stand for missing values, in lower case.
    digits : int or None, default=None
        The most digits behind a decimal mark: 0, at most 2, or 3 for more; None if nobody knows.
    """

    decimal: str = "."
    groups: str = ""
    unit: str | None = ""
    words: Sequence[str] = ()
    digits: int | None = None

    def is_well_formed(self) -> bool:
        """Say whether the parts, which a file may have given, have valid types and values."""
        texts = [self.groups, self.unit or "", *self.words]
        return self.decimal in OTHER and all(type(text) is str for text in texts)

    def is_missing(self, text: str) -> bool:
        """Whether a text stands for a missing number."""
        return text.lower() in self.words

    def admits(self, unit: str) -> bool:
        """Whether numbers may have this unit, or none if it is empty."""
        return self.unit is None or are_alike(unit, self.unit)

    def read(
        self, counts: Mapping[str, int], marks: Marks, proved: Callable[[], str | None]
    ) -> tuple[dict[str, float], Doubt | None]:
        """The numbers among the values of a column, and one that may be meant otherwise.

        New rows may have marks that the fit did not have. The reading that makes the most rows
        numbers wins. Among equals, the one most like the fit wins.

        Parameters
        ----------
        counts : mapping of int
            The different values of the column, and how often they occur.
        marks : Marks
            The marks that the user names.
        proved : callable
            Returns the decimal mark that the new rows prove. `read` calls it only if it matters.
        """
        parsed = {text: one for text, one in _parsed(counts).items() if self.admits(one.unit)}
        other, more = OTHER[self.decimal], marks.groups(self.decimal)
        usual = self.decimal, self.groups if marks.thousands is None else more
        ways = [usual, (other, ""), (self.decimal, more), (other, marks.groups(other))]
        if marks.decimal == other:
            ways = [ways[3], usual, ways[2]]
        elif self.digits == 0 and marks.decimal is None and _are_groups(parsed, *ways[3]):
            ways = [ways[3], usual]
        elif len(numbers := _under(parsed, *usual)) == len(parsed):
            return numbers, _doubt(None, numbers)
        elif proved() == self.decimal or (
            self.digits in (0, 2) and proved() is None and _are_groups(parsed, *ways[2])
        ):
            ways = [usual, ways[2], ways[1], ways[3]]
        read = [_under(parsed, *way) for way in ways]
        best = max(range(len(ways)), key=lambda at: _rows(read[at], counts))
        numbers, example = read[best], None
        if ways[best][0] != self.decimal and marks.decimal is None:
            example = _first(numbers, ".,")
        elif marks.thousands is None:
            example = _with_new(numbers, [mark for mark in more if mark not in self.groups])
        return numbers, _doubt(example, numbers)


class Numbers(NamedTuple):
    """A column of text whose values are mostly numbers.

    Attributes
    ----------
    numbers : dict of float
        The numbers, by their text.
    spelling : Spelling
        How most of them are written.
    stray : set of str
        Values that are neither missing nor numbers in this spelling.
    n_bare : int
        Rows with a number that lacks the unit.
    doubt : (str, float) or None
        A value that may be meant otherwise, and its number here.
    """

    numbers: dict[str, float]
    spelling: Spelling
    stray: set[str]
    n_bare: int = 0
    doubt: Doubt | None = None


#: The spelling and the marks where nothing is known.
PLAIN, ANY = Spelling(), Marks()


def numbers_among(counts: Mapping[str, int], n_rows: int, marks: Marks) -> Numbers | None:
    """Find out how numbers are written.

    Parameters
    ----------
    counts : mapping of int
        The different values of a column, and how often they occur.
    n_rows : int
        The rows of the column, those without a value included.
    marks : Marks
        The marks of the table.

    Returns
    -------
    Numbers or None
        None if fewer than half of the values are numbers, or if all stand in parentheses.
    """
    parsed = _parsed(counts)
    if all(one.is_enclosed or one.is_bound for one in parsed.values()):
        return None
    units, spelled = Counter[str](), Counter[str]()
    for text, one in parsed.items():
        units[same_unit(one.unit)] += counts[text]
        spelled[one.unit] += counts[text]
    usual = max(spelled, key=lambda unit: (units[same_unit(unit)], spelled[unit], unit))
    named = {same_unit(unit) for unit in spelled if unit}
    in_unit = [text for text, one in parsed.items() if one.unit]
    if len(named) == 1 and len(in_unit) > MOST_WORDS and _rows(in_unit, counts) > FEW_ROWS * n_rows:
        # Too many for slips, so all others are in this unit too.
        usual = max((unit for unit in spelled if unit), key=lambda unit: (spelled[unit], unit))
    decimals = marks.decimals(parsed, counts)
    decimal = marks.chosen(decimals)
    numbers = _under(parsed, decimal, marks.groups(decimal))
    unknown = [text for text in counts if text not in numbers]
    if not numbers or _rows(numbers, counts) < _rows(unknown, counts):
        return None
    stray = {text for text in numbers if not are_alike(parsed[text].unit, usual)}
    if not are_rare_words(unknown, counts, n_rows):
        # Codes with leading zeros are no numbers either, but other text makes the better example.
        stray.update([text for text in unknown if not text.isdigit()] or unknown)
    groups = "".join(mark for mark in marks.groups(decimal) if _first(numbers, mark))
    missing = tuple(sorted({text.lower() for text in unknown}))
    example = _doubted_in_fit(numbers, decimals, decimal, marks, usual)
    return Numbers(
        numbers,
        Spelling(decimal, groups, usual, missing),
        stray,
        units[""] if usual else 0,
        _doubt(example, numbers),
    )


def all_numbers(counts: Mapping[str, int], marks: Marks) -> dict[str, float]:
    """The numbers among values that should all be numbers, codes such as 007 included.

    Parameters
    ----------
    counts : mapping of int
        The different values of a column, and how often they occur.
    marks : Marks
        The marks of the table.
    """
    parsed = {text: one for text, one in _parsed(counts).items() if not one.is_bound}
    found = dict[str, float]()
    for text in counts.keys() - parsed.keys():
        with suppress(ValueError):
            found[text] = float(text)
    decimal = marks.chosen(marks.decimals(parsed, counts))
    return found | _under(parsed, decimal, marks.groups(decimal))


def _doubted_in_fit(
    numbers: Collection[str], decimals: str, decimal: str, marks: Marks, unit: str
) -> str | None:
    """A value that may be meant otherwise, because no other column shows what its marks mean.

    Beside numbers with points, 1,5 may also be two answers. 1,5 kg is always a number.
    """
    known = marks.decimal or marks.proved
    if len(decimals) == 1 and decimal != (known or ".") and (marks.decimal or not unit):
        found = _first(numbers, decimal)
    elif len(decimals) == 2 and known is None:
        found = _first(numbers, ".,")
    elif len(decimals) == 2 and OTHER[decimal] not in marks.shown + (marks.thousands or ""):
        found = _first(numbers, OTHER[decimal])
    else:
        found = None
    return found or (_first(numbers, " ") if marks.thousands is None else None)


def _with_new(numbers: Collection[str], marks: Iterable[str]) -> str | None:
    """A value with a group mark that is new since the fit, if no value shows what it means."""
    for mark in marks:
        shown = mark in OTHER and any(re.search(rf"[{mark}].*[.,]", text) for text in numbers)
        if not shown and (found := _first(numbers, mark)) is not None:
            return found
    return None


def _are_groups(parsed: Mapping[str, Written], decimal: str, groups: str) -> bool:
    """Whether a mark stands before three digits alone, not all of them zeros.

    Then these are groups, if the fit had no such fractions.
    """
    mark = OTHER[decimal]
    parts = [one for one in parsed.values() if mark in one.digits]
    return (
        mark in groups
        and all(one.fits(decimal, mark) for one in parts)
        and any(not one.digits.endswith("000") for one in parts)
    )


def _doubt(example: str | None, numbers: Mapping[str, float]) -> Doubt | None:
    """An example of doubt, or else a bound if there is any, and its number."""
    example = example or next((text for text in numbers if text[0] in BOUNDS), None)
    return None if example is None else (example, numbers[example])


def said_doubts(doubts: Mapping[str, Doubt]) -> str:
    """Numbers that may be meant otherwise, by their columns."""
    texts = [
        f"{text!r} in column {shortened(name, 60)!r} is read as {number:.15g}"
        for name, (text, number) in doubts.items()
    ]
    marks = f"{option('decimal=')} and {option('thousands=')} say how numbers are written"
    bounds = f"write other numbers, or take such columns for categories ({option('categorical=')})"
    remedies = {text[0] in BOUNDS: None for text, _ in doubts.values()}
    remedy = "; ".join(bounds if is_bound else marks for is_bound in sorted(remedies))
    return f"{first(texts, 3)}; if that is wrong, {remedy}"


def are_rare_words(texts: Collection[str], counts: Mapping[str, int], n_rows: int) -> bool:
    """Whether these words are rare enough to stand for missing values."""
    return (
        len({text.lower() for text in texts}) <= MOST_WORDS
        and _rows(texts, counts) <= FEW_ROWS * n_rows
        and not any(map(_LIKE_NUMBER.match, texts))
    )


def _parsed(texts: Iterable[str]) -> dict[str, Written]:
    return {text: one for text in texts if (one := written(text)) is not None}


def _fitting(parsed: Mapping[str, Written], decimal: str, groups: str) -> list[str]:
    return [text for text, one in parsed.items() if one.fits(decimal, groups)]


def _under(parsed: Mapping[str, Written], decimal: str, groups: str) -> dict[str, float]:
    return {text: parsed[text].number(decimal) for text in _fitting(parsed, decimal, groups)}


def _rows(texts: Iterable[str], counts: Mapping[str, int]) -> int:
    return sum(counts[text] for text in texts)


def _first(texts: Iterable[str], marks: str) -> str | None:
    """The first number with one of these marks among its digits."""
    decimals = "".join(mark for mark in marks if mark in OTHER)
    leading = rf"|^[+-]?[{decimals}][0-9]" if decimals else ""
    found = re.compile(rf"[0-9][{marks}][0-9]{leading}").search
    return next(filter(found, texts), None)
