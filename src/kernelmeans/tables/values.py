"""Values of a column, as people write them: dates, yes and no, and missing values."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Any

import numpy as np

from kernelmeans._memory import cached_property
from kernelmeans._text import counted, shortened
from kernelmeans._typing import Array
from kernelmeans.tables.numerals import WORDS, same_unit
from kernelmeans.tables.spellings import ANY, FEW_ROWS, PLAIN, Doubt, Marks, Spelling

#: Text of empty cells, in lower case. Python and pandas write None and NaN in some of these ways.
EMPTY = frozenset(("", "na", "n/a", "n.a.", "#n/a", "nan", "nat", "<na>", "null", "none", "?", "-"))
#: Text of all missing values: of empty cells, and words. Reports name the words that they found.
MISSING = EMPTY | WORDS
#: A word for missing values that is a value where it is frequent, as an answer to who else signs.
NOTHING = "none"
#: A sign for missing values that is a value of a column of signs, such as the strands of a genome.
MINUS, SIGNS = "-", frozenset("+-*")
#: Pairs of words for 1 and 0.
FLAGS = (("true", "false"), ("yes", "no"), ("t", "f"), ("y", "n"), ("on", "off"))
#: The first and the last whole number that counts as a date.
FIRST_DATE, LAST_DATE = 19000101, 21001231
_ZONE = r"(?:Z|GMT|UTC)?(?:(?P<sign>[+-])(?P<hours>\d{1,2}):?(?P<minutes>\d\d)?)?"
_CLOCK = r"(?P<hour>\d{1,2})(?P<rest>:\d\d(?::\d\d(?:[.,]\d+)?)?)(?: ?(?P<half>[AP])M)?"
_TIME = rf"(?:(?:,? |T){_CLOCK}\s?{_ZONE})?"
_YEAR, _MONTH, _DAY_OF_MONTH = r"(?P<year>\d{4})", r"(?P<month>\d{1,2})", r"(?P<day>\d{1,2})"
_DATES = [
    re.compile(form, re.ASCII | re.IGNORECASE)
    for form in (
        rf"{_YEAR}(?P<mark>[/.-]){_MONTH}(?P=mark){_DAY_OF_MONTH}{_TIME}",
        rf"{_DAY_OF_MONTH}\.{_MONTH}\.{_YEAR}{_TIME}",
    )
]
# A date whose order of day and month is not known.
_OTHER_DATE = re.compile(rf"\d{{1,4}}([/.-])\d{{1,2}}\1\d{{2,4}}{_TIME}", re.ASCII | re.IGNORECASE)
_COMPACT_DATE = re.compile(r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)", re.ASCII)
# Hours, minutes and seconds, as R and databases write a duration, and days before them, as Python
# and pandas do.
_DURATION = re.compile(
    r"(?:(?P<days>-?\d{1,9}) days?)?(?:(?:(?<=.),?\s)?"
    r"(?P<sign>[+-]?)(?P<hours>\d{1,9}):(?P<minutes>[0-5]\d):(?P<seconds>[0-5]\d(?:[.,]\d+)?))?",
    re.ASCII,
)
_DAY = 86400.0
#: The other text of a truth value: a word among objects, but 0 or 1 in a column of truth values.
_TRUTH = {"0": "False", "1": "True", "False": "0", "True": "1"}
#: Bound below which whole numbers are exact as floats, and need no exponent in text.
_EXACT = 1e15


def flag_of(text: str) -> float:
    """1 for yes, 0 for no, NaN for anything else."""
    word = text.lower()
    return next((float(word == yes) for yes, no in FLAGS if word in (yes, no)), np.nan)


def is_flag_in_words(values: Array) -> bool:
    """Whether a column of yes and no has truth values or words, and not 0 and 1."""
    if numbers_of(values) is not None:
        return values.dtype.kind == "b"
    return any(flag_of(str(value).strip()) in (0, 1) for value in values)


def is_date(text: str) -> bool:
    """Whether a text looks like a date, with a time or without."""
    return any(form.fullmatch(text) for form in (*_DATES, _OTHER_DATE))


def is_date_in_order(text: str) -> bool:
    """Whether a text looks like a date whose order of day and month is known."""
    return any(form.fullmatch(text) for form in _DATES)


def is_no_date(text: str) -> bool:
    """Whether a text is the date that databases write for a missing one."""
    return text.startswith("0000-00-00")


def days_of(text: str) -> float:
    """The days from 1970 to a date such as 2025-12-31, 31.12.2025 or 20251231; NaN if it is none.

    A year that comes first is followed by the month.

    Examples
    --------
    >>> from kernelmeans.tables.values import days_of
    >>> days_of("1970-01-02"), days_of("03.01.1970 12:00"), days_of("01/02/2025")
    (1.0, 2.5, nan)
    """
    found = next(filter(None, (form.fullmatch(text) for form in (*_DATES, _COMPACT_DATE))), None)
    if found is None or (text.isdigit() and not FIRST_DATE <= int(text) <= LAST_DATE):
        return np.nan
    parts = found.groupdict()
    try:
        date = datetime.fromisoformat(
            f"{parts['year']}-{parts['month']:0>2}-{parts['day']:0>2}T{_iso_time(parts)}"
        )
    except ValueError:
        return np.nan
    return date.timestamp() / _DAY


def _iso_time(parts: Mapping[str, str | None]) -> str:
    """A time as ISO 8601 writes it; without a zone it is one of UTC."""
    names = "hour", "rest", "half", "sign", "hours", "minutes"
    hour, rest, half, sign, hours, minutes = map(parts.get, names)
    if hour and half and 1 <= int(hour) <= 12:  # 12 AM is midnight, and 13 PM is 13
        hour = str(int(hour) % 12 + 12 * (half in "pP"))
    return f"{hour or '0':0>2}{rest or ':00'}{sign or '+'}{hours or '0':0>2}:{minutes or '00'}"


def duration_of(text: str) -> float:
    """The days of a duration such as 1:56:33 or 2 days 01:56:33; NaN if it is none.

    Examples
    --------
    >>> from kernelmeans.tables.values import duration_of
    >>> duration_of("36:00:00"), duration_of("-1 days +12:00:00"), duration_of("1:56")
    (1.5, -0.5, nan)
    """
    if not text or (found := _DURATION.fullmatch(text)) is None:
        return np.nan
    days, sign, hours, minutes, seconds = found.groups(default="0")
    time = 3600 * int(hours) + 60 * int(minutes) + float(seconds.replace(",", "."))
    return int(days) + (-time if sign == "-" else time) / _DAY


def days_of_numbers(numbers: Array) -> Array:
    """The days from 1970 to dates such as 20251231; NaN if missing, infinite if it is no date."""
    values, places = np.unique(numbers, return_inverse=True)
    days = np.array([np.nan if one != one else days_of(f"{one:.15g}") for one in values.tolist()])
    days[np.isnan(days) & ~np.isnan(values)] = np.inf
    return days[places.ravel()]


@np.errstate(invalid="ignore")  # of a signaling NaN, as damaged files have
def numbers_of(values: Array) -> Array | None:
    """Numbers as floats, times as days, and missing values as NaN.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        The values of a column.

    Returns
    -------
    ndarray of shape (n_rows,) or None
        None for an array of objects or text.
    """
    if values.dtype.kind in "mM":
        days = values.astype(f"{values.dtype.kind}8[us]").astype(float) / (1e6 * _DAY)
        return np.where(np.isnat(values), np.nan, days)
    if values.dtype.kind in "biuf":
        return values.astype(float, copy=False)
    return None


def _text_of(value: Any) -> str:
    if value is None:
        return ""  # not the word, which may be a value
    if isinstance(value, float) and value == value // 1 and abs(value) < _EXACT:
        value = int(value)  # 1 and 1.0 are the same category, as in a column of numbers
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _unwrapped(text: str) -> str:
    """A text without blanks around it, and without the ="" that keeps Excel from changing it."""
    text = text.strip()
    return text[2:-1].strip() if text[:2] == '="' and text.endswith('"') and len(text) > 2 else text


class Texts:
    """The values of a column as text. Each different text is looked at once.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        The values of a column.
    known : collection of str, default=()
        Words that are values here, because an earlier fit took them for values.

    Attributes
    ----------
    missing : frozenset of str
        Words for missing values.
    clean : dict
        For each different text, the text without blanks around it, and without the ="" that keeps
        Excel from changing it; None if it is missing.
    """

    def __init__(self, values: Array, known: Collection[str] = ()) -> None:
        if (numbers := numbers_of(values)) is not None:  # 1 and 1.0 are the same category
            self._rows = [f"{value:.15g}" for value in numbers.tolist()]
        else:
            self._rows = [v if type(v) is str else _text_of(v) for v in values.tolist()]
        self._values, self._counts = values, Counter(self._rows)
        self._trimmed = {text: _unwrapped(text) for text in self._counts}
        self.missing = MISSING.difference(map(str.lower, known))
        self.clean = {
            raw: None if text.lower() in self.missing else text
            for raw, text in self._trimmed.items()
        }

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each value that is not missing occurs."""
        return self._counts_of(lambda text: text.lower() not in self.missing)

    def _counts_of(self, wanted: Callable[[str], bool]) -> Counter[str]:
        """How often each text that is wanted occurs, without blanks around it."""
        counts: Counter[str] = Counter()
        for raw, text in self._trimmed.items():
            if wanted(text):
                counts[text] += self._counts[raw]
        return counts

    def by_row(self) -> list[str]:
        """The text of each row without blanks around it, empty where it is missing."""
        return [self.clean[raw] or "" for raw in self._rows]

    def are_signs(self) -> bool:
        """Whether plus and minus signs occur, and no other value but a star and "none"."""
        values = {text.lower() for text in self.counts}
        return {"+", MINUS} <= {*self._trimmed.values()} and values <= SIGNS | {NOTHING}

    def in_words(self) -> "Texts":
        """These texts as words of a category: a frequent "none" is a value then, as are signs."""
        nothing = self._counts_of(lambda text: text.lower() == NOTHING).total()
        others = self.counts.total()
        is_value = others and nothing > FEW_ROWS * (nothing + others)
        known = [NOTHING] * bool(is_value) + [MINUS] * self.are_signs()
        return Texts(self._values, known) if known else self

    def told(self, is_word: Callable[[str], bool]) -> list[str]:
        """Words that stand for missing values, each with its number of rows."""
        words = self._counts_of(lambda text: text.lower() in WORDS or is_word(text))
        return [
            f"{shortened(text, 60)!r} ({counted(count, 'row')})" for text, count in words.items()
        ]

    @property
    def n_missing(self) -> int:
        """Number of missing values."""
        return len(self._rows) - self.counts.total()

    def map(self, function: Callable[[str], float], missing: float = np.nan) -> Array:
        """A number for each row.

        Parameters
        ----------
        function : callable
            Makes a number of a value that is not missing.
        missing : float, default=nan
            The number of missing values.
        """
        known = {
            raw: missing if text is None else function(text) for raw, text in self.clean.items()
        }
        return np.fromiter(map(known.__getitem__, self._rows), float, len(self._rows))

    def first(self, wanted: Callable[[str], bool]) -> tuple[int, str]:
        """The first row with a wanted value, and the value."""
        rows = ((row, self.clean[raw]) for row, raw in enumerate(self._rows))
        return next((row, text) for row, text in rows if text is not None and wanted(text))


#: The unit of durations, and how text of some kinds is read.
DAYS = "day"
_READINGS = {"date": days_of, "flag": flag_of, "duration": duration_of}
#: The code of a value that a category did not have in the fit.
UNSEEN = -1.0


def read_column(
    values: Array,
    kind: str,
    known: Array | None = None,
    spelling: Spelling = PLAIN,
    marks: Marks = ANY,
    proved: Callable[[], str | None] = lambda: None,
) -> tuple[Array, Doubt | None]:
    """Read a column as the fit decided.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        The values.
    kind : {"number", "flag", "date", "category"}
        The kind of the column.
    known : ndarray of str or None, default=None
        The values of a category.
    spelling : Spelling
        How numbers are written.
    marks : Marks
        The marks of numbers that the user names.
    proved : callable
        Returns the decimal mark that the table proves.

    Returns
    -------
    numbers : ndarray of shape (n_rows,)
        Numbers, or the codes of a category. NaN where a value is missing, infinite where it is no
        number.
    doubt : (str, float) or None
        A value that may be meant otherwise, and its number here.
    """
    if known is not None:
        codes = {text: float(code) for code, text in enumerate(known.tolist())}
        texts = Texts(values, codes)
        other = _TRUTH if codes.keys() <= {"", *_TRUTH} else {}

        def code_of(text: str) -> float:
            return codes.get(text, codes.get(other.get(text, text), UNSEEN))

        return texts.map(code_of, codes.get("", np.nan)), None
    if (numbers := numbers_of(values)) is None:
        texts = Texts(values)
        found, doubt = ({}, None) if kind == "date" else spelling.read(texts.counts, marks, proved)
        in_days = kind == "number" and same_unit(spelling.unit or "") == DAYS
        own_reading = _READINGS.get("duration" if in_days else kind, lambda _: np.nan)

        def read(text: str) -> float:
            if (own := own_reading(text)) == own:
                return own
            is_missing = spelling.is_missing(text) or (kind == "date" and is_no_date(text))
            return np.nan if is_missing else found.get(text, np.inf)

        return texts.map(read), doubt
    if kind == "date" and values.dtype.kind in "iuf":
        return days_of_numbers(numbers), None
    unit = DAYS if values.dtype.kind == "m" else ""
    if (values.dtype.kind == "M") == (kind == "date") and spelling.admits(unit):
        return numbers, None
    return np.where(np.isnan(numbers), np.nan, np.inf), None
