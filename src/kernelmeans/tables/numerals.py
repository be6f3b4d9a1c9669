"""Numbers in text: the decimal mark, marks between groups, signs, and words for missing ones."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

#: Words that stand for a missing value in a column of any kind, in lower case.
WORDS = frozenset(
    (
        *("unknown", "missing", "not available", "no data", "undefined", "nil", ".", "--", "—"),
        *("#na", "#value!", "#div/0!", "#ref!", "#name?", "#num!", "#null!"),  # of spreadsheets
        *("unbekannt", "keine angabe", "k.a.", "k. a.", "onbekend", "inconnu", "inconnue"),
        *("desconocido", "desconocida", "desconhecido", "sconosciuto", "nieznane", "okänt"),
    )
)
#: Signs of percent and currency.
SIGNS = "%€$£¥"
#: Letters after a number that multiply it.
_MULTIPLE = re.compile(r"[kKM]|(?i:mn|mln|mio|bn|mrd|tsd)\.?")
#: Something that ends in a digit, and a word after it.
_WORD = r"[°µ]?[^\W\d_]{0,12}\.?"
_MEASURE = re.compile(rf"\(?(?P<number>.*\d[.,]?)\s*(?P<unit>{_WORD}(?:/{_WORD})?)\)?")
#: The minus of typographers, and the spaces that they put after it.
MINUS, _THIN = "\u2212", "\u00a0\u2009\u202f"
_SPACES = f"' \u2019{_THIN}"
#: A minus after an amount, as SAP writes it. After whole numbers it is a grade or a range: 2-, 65-.
_TRAILING = re.compile(rf"(?P<amount>.*\d[.,]\d+)[{MINUS}-](?P<rest>\s*[{SIGNS}]?)")


def _number(decimal: str, other: str) -> re.Pattern[str]:
    """Numbers with a decimal mark, and other marks between groups of three digits."""
    groups = rf"[1-9]\d{{0,2}}(?:[{other}{_SPACES}]\d{{3}})+"
    digits = rf"(?:\d+|{groups})(?:[{decimal}]\d*)?|[{decimal}]\d+"
    codes = r"0\d+$"  # whole numbers that begin with 0
    plus = rf"(?:[+{MINUS}-][{_THIN}]?)?"
    return re.compile(
        rf"(?:{plus}[{SIGNS}]\s*|(?:[{SIGNS}]\s*)?{plus})(?!{codes})(?:{digits})(?:e[+-]?\d+)?"
        rf"\s*[{SIGNS}]?",
        re.IGNORECASE | re.ASCII,
    )


_NUMBERS = {".": _number(".", ","), ",": _number(",", ".")}
#: Most different words among numbers that are taken for missing values, and the fraction of rows
#: that they may take, unless they are known to mean that. More are values that need a look.
MOST_WORDS, FEW_ROWS = 2, 0.05
#: Text that somebody has meant for a number.
_LIKE_NUMBER = re.compile(r".*\d|[+-]?inf(inity)?$", re.IGNORECASE)


class Spelling(NamedTuple):
    """How the numbers of a column of text are written.

    Parameters
    ----------
    decimal : {".", ","}, default="."
        The decimal mark. The other one, spaces and apostrophes may stand between groups of digits.
    words : sequence of str, default=()
        Other words in lower case that stand for missing values.
    sign : str or None, default=None
        The sign of percent or currency that they have. None if that is not known.
    """

    decimal: str = "."
    words: Sequence[str] = ()
    sign: str | None = None

    def is_well_formed(self) -> bool:
        """Say whether this, read from a file, is a way to write numbers."""
        texts = self.words if self.sign is None else [*self.words, self.sign]
        return self.decimal in (".", ",") and all(type(text) is str for text in texts)

    def is_missing(self, text: str) -> bool:
        """Whether a text stands for a missing number."""
        return text.lower() in self.words

    def read(self, text: str) -> float:
        """The number that a text is; NaN for a word that is known, and infinite otherwise."""
        number = number_of(text, self.decimal)
        if number == number:
            return number if self.admits(sign_of(text)) else np.inf
        return np.nan if self.is_missing(text) else np.inf

    def admits(self, sign: str) -> bool:
        """Whether numbers may have this sign, or none if it is empty."""
        return self.sign is None or sign in units_like(self.sign)


def number_of(text: str, decimal: str = ".") -> float:
    """The number that a text is, with a sign of percent or currency or without; NaN if it is none.

    Examples
    --------
    >>> from kernelmeans.tables.numerals import number_of
    >>> number_of("12.5"), number_of("12 %"), number_of("€ 7"), number_of("12a"), number_of("007")
    (12.5, 12.0, 7.0, nan, nan)
    >>> number_of("1,234.5"), number_of("-1.234,5 €", decimal=",")
    (1234.5, -1234.5)
    >>> number_of("209,66-", decimal=",")
    -209.66
    """
    if after := _TRAILING.fullmatch(text):
        text = "-" + after["amount"] + after["rest"]
    if not _NUMBERS[decimal].fullmatch(text):
        return np.nan
    plain = text.lower().replace(MINUS, "-")
    return float(re.sub(f"[^0-9e+{decimal}-]", "", plain).replace(",", "."))


def sign_of(text: str) -> str:
    """The sign of percent or currency of a number."""
    return "".join(letter for letter in text if letter in SIGNS)


def units_like(unit: str) -> set[str]:
    """The units of numbers that can be compared with those of a unit or a sign.

    Numbers without a unit are taken to have it, but not percents: 0.5 and 50 % may be the same.

    Examples
    --------
    >>> from kernelmeans.tables.numerals import units_like
    >>> sorted(units_like("kg")), sorted(units_like("%")), sorted(units_like(""))
    (['', 'kg'], ['%'], [''])
    """
    return {unit} if unit == "%" else {unit, ""}


def is_multiple(unit: str) -> bool:
    """Whether what stands after a number multiplies it, as in 1.2k."""
    return _MULTIPLE.fullmatch(unit) is not None


def unit_of(text: str) -> str | None:
    """The word after a number; None if there is no number.

    Examples
    --------
    >>> from kernelmeans.tables.numerals import unit_of
    >>> unit_of("20.1 kg"), unit_of("€ 1,2k"), unit_of("(7)"), unit_of("C12"), unit_of("3 ng/mL")
    ('kg', 'k', '', None, 'ng/mL')
    """
    found = _MEASURE.fullmatch(text)
    if found and any(number == number for number in map(partial(number_of, found[1]), ".,")):
        return found[2]
    return None


class Numbers(NamedTuple):
    """The values of a column of text that are mostly numbers.

    Attributes
    ----------
    numbers : dict of float
        The numbers among its values.
    spelling : Spelling
        How most of them are written.
    stray : set of str
        Values that are neither such numbers nor missing ones.
    """

    numbers: dict[str, float]
    spelling: Spelling
    stray: set[str]


def numbers_among(counts: Mapping[str, int], n_rows: int) -> Numbers | None:
    """Find out how numbers are written.

    Parameters
    ----------
    counts : mapping of int
        The different values of a column, and how often they occur.
    n_rows : int
        The rows of the column, those without a value included.

    Returns
    -------
    Numbers or None
        None if less than a half of the values are numbers.
    """
    marks = ".," if any("," in text for text in counts) else "."
    parsed = {mark: _parsed(counts, mark) for mark in marks}
    decimal = max(marks, key=lambda mark: _rows(parsed[mark], counts))  # "." where both may be
    numbers = parsed[decimal]
    unknown = [text for text in counts if text not in numbers]
    if not numbers or _rows(numbers, counts) < _rows(unknown, counts):
        return None
    signs: Counter[str] = Counter()
    for text in numbers:
        signs[sign_of(text)] += counts[text]
    usual = max(signs, key=signs.__getitem__)
    stray = {text for text in numbers if sign_of(text) != usual}
    if not are_rare_words(unknown, counts, n_rows):
        # A code with leading zeros is no number, but other text is the cause.
        stray.update([text for text in unknown if not text.isdigit()] or unknown)
    missing = tuple(sorted({text.lower() for text in unknown}))
    return Numbers(numbers, Spelling(decimal, missing, usual), stray)


def _parsed(texts: Collection[str], decimal: str) -> dict[str, float]:
    found = {text: number_of(text, decimal) for text in texts}
    return {text: number for text, number in found.items() if number == number}


def _rows(texts: Iterable[str], counts: Mapping[str, int]) -> int:
    return sum(counts[text] for text in texts)


def are_rare_words(texts: Collection[str], counts: Mapping[str, int], n_rows: int) -> bool:
    """Whether these words are so few that they stand for missing values."""
    return (
        len({text.lower() for text in texts}) <= MOST_WORDS
        and _rows(texts, counts) <= FEW_ROWS * n_rows
        and not any(map(_LIKE_NUMBER.match, texts))
    )
