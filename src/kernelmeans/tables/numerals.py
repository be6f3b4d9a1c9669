"""A number in text: its digits and marks, its unit, and a minus before, after or around it.

Numbers are 1,234.5 and -1.234,5 €, but also USD 12.5, 60.5 kg, 209,66- and (168.50). Of bounds such
as <0.5 the number is read.
`kernelmeans.tables.spellings` decides how all numbers of a column are written.
"""

import re
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

#: Words that stand for a missing value in a column of any kind, in lower case.
WORDS = frozenset(
    (
        *("unknown", "missing", "not available", "no data", "undefined", "nil", ".", "--", "—"),
        "\\n",  # of databases
        # Of spreadsheets, in several languages.
        *("#na", "#value!", "#div/0!", "#ref!", "#name?", "#num!", "#null!"),
        *("#nv", "#wert!", "#bezug!", "#zahl!", "#valeur!", "#nom?", "#nombre!", "#nul!"),
        *("#n/d", "#valor!", "#¡valor!", "#¡ref!", "#¡num!", "#¡div/0!", "#¿nombre?", "#nome?"),
        *("#valore!", "#rif!", "#n/b", "#waarde!", "#verw!", "#naam?", "#getal!", "#deel/0!"),
        *("unbekannt", "keine angabe", "k.a.", "k. a.", "onbekend", "inconnu", "inconnue"),
        *("desconocido", "desconocida", "desconhecido", "sconosciuto", "nieznane", "okänt"),
    )
)
#: The other decimal mark of each. It may stand between groups of digits.
OTHER = {".": ",", ",": "."}
#: Spaces and apostrophes between groups of digits. Some spaces are thin, or do not break lines.
SPACES, APOSTROPHES = " \u00a0\u2009\u202f", "'\u2019"
#: All marks that may stand between groups of three digits, if they are not the decimal mark.
GROUPS = f".,{APOSTROPHES}{SPACES}"
#: The minus of typographers.
MINUS = "\u2212"
#: Signs before one end of a range: <0.5 is below what a laboratory can detect.
BOUNDS = "<>≤≥"
#: Signs of percent and currency.
SIGNS = "%€$£¥"
_CODES = "EUR|USD|GBP|CHF|JPY|CNY|INR|CAD|AUD|NZD|BRL|MXN|ZAR|SEK|NOK|DKK|PLN|CZK|HUF|TRY"
# Signs and codes before a number. Other words there are part of a name: C12, Room 12.
_BEFORE = rf"[{SIGNS}]|(?i:{_CODES})|R\$|kr\.?|zł|Rs\.?|Fr\.?"
# Units after a number. Other words there make it a code or a place: 12A, 10115 Berlin, 5 May. A
# letter may too, unless a blank stands before it. Mb is no MB.
_ANY_CAPITALS = "|".join(
    (
        "°C|°F|°|kg|mg|µg|ug|lbs?|pounds?|oz|km|cm|mm|µm|miles?|mi|ft|feet|inch(?:es)?|yds?",
        "km/h|kph|mph|m/s|km2|km²|m2|m²|cm2|m3|m³|cm3|sqm|sqft|ha|ml|cl|gal",
        "hours?|hrs?|hr|minutes?|mins?|seconds?|secs?|ms|days?|weeks?|months?|years?|yrs?",
        "Jahre?|Monate?|Tage?|Wochen?|Std|Stunden?|Minuten?|Sek",
        "kWh|MWh|kW|MW|Wh|mV|kV|mA|Hz|kHz|MHz|GHz|dB|pcs?|Stk|Stück|kcal|cal|kJ",
        "m?bar|hPa|kPa|MPa|Pa|mmHg|psi|[mµu]?g/d?l|mmol/l|kg/m3|kg/m³|bpm|rpm|U/min|ppm|ppb",
        "[mc]m/s|l/min|l/h|m3/h|m³/h|kN|Nm|Ω|Ohm|kΩ|lx|lux|dB\\(A\\)",
    )
)
_WORDS = rf"{_BEFORE}|(?i:{_ANY_CAPITALS})|kB|KB|MB|GB|TB|[KMGT]iB"
_LETTERS = "g|t|m|l|L|s|h|d|W|V|A|J"
# Milli and mega before a symbol, which only their capital tells apart.
_MEGA = re.compile("M(?i:[glsVAW]|Wh|Hz|Pa|bar)(?:/|$)")
#: Codes of currencies, by their signs.
_CODE_OF = {"€": "EUR", "$": "USD", "£": "GBP", "¥": "JPY"}
_EXPONENT = r"(?:[eE][+-]?[0-9]+)?"
_DIGITS = rf"[0-9](?:[0-9.,{APOSTROPHES}{SPACES}]*[0-9.,])?{_EXPONENT}|[.,][0-9]+{_EXPONENT}"
#: A number, and the text before and after it.
_PARTS = re.compile(rf"((?:[^0-9.,]|(?<=[^\W\d_])\.)*)({_DIGITS})(.*)", re.DOTALL)
#: The text around a number, with 0 in place of the number.
_AROUND = re.compile(
    rf"(?P<bound>[{BOUNDS}]=?\s*)?"
    rf"(?P<opened>\(?)\s*(?P<first>[+-]?)\s*(?P<before>{_BEFORE})?\s*(?P<second>[+-]?)\s*"
    rf"0(?P<last>-(?=\s|\)|[{SIGNS}]|$))?"
    rf"(?:\s*(?P<after>(?:{_WORDS})\.?)|\s+(?P<letter>{_LETTERS}))?\s*(?P<closed>\)?)"
)
#: Numbers without any text around them. Most are such, and this pattern is faster.
_PLAIN = re.compile("(-?)([0-9][0-9.,]*)")
#: Most letters of a number. Longer text is none, whatever it holds.
_LONG = 100
#: Whole numbers that begin with 0: they are codes.
_CODE = re.compile("0[0-9]+")
#: Numbers with a fraction. After others a minus makes a grade or a range: 2-, 65-.
_FRACTION = re.compile(r".*[.,][0-9]+")
#: Letters after a number that multiply it.
_MULTIPLE = re.compile(r"[kKM]|(?i:mn|mln|mio|bn|mrd|tsd)\.?")
#: Text that ends in a digit, and a word after it.
_WORD = r"[°µ]?[^\W\d_]{0,12}\.?"
_MEASURE = re.compile(rf"\(?(?P<number>.*\d[.,]?)\s*(?P<unit>{_WORD}(?:/{_WORD})?)\)?")


class Written(NamedTuple):
    """The parts of a number in text.

    Attributes
    ----------
    digits : str
        Its digits with all marks.
    unit : str, default=""
        The sign or word before or after it, in the singular.
    is_negative : bool, default=False
        Whether it has a minus, or stands in parentheses.
    is_enclosed : bool, default=False
        Whether it stands in parentheses.
    is_bound : bool, default=False
        Whether it is one end of a range, as in <0.5.
    """

    digits: str
    unit: str = ""
    is_negative: bool = False
    is_enclosed: bool = False
    is_bound: bool = False

    def fits(self, decimal: str, groups: str) -> bool:
        """Whether this is a number with such a decimal mark and such marks between groups."""
        return _pattern(decimal, groups).fullmatch(self.digits) is not None

    def number(self, decimal: str) -> float:
        """The number under a decimal mark that fits."""
        digits = self.digits.translate(_IN_PYTHON[decimal])
        return -float(digits) if self.is_negative else float(digits)


#: Translations of digits into what Python reads, one for each decimal mark.
_IN_PYTHON = {
    mark: str.maketrans(mark, ".", f"{OTHER[mark]}{APOSTROPHES}{SPACES}") for mark in OTHER
}


@cache
def _pattern(decimal: str, groups: str) -> re.Pattern[str]:
    mark = re.escape(decimal)
    grouped = rf"|[1-9][0-9]{{0,2}}(?:[{re.escape(groups)}][0-9]{{3}})+" if groups else ""
    return re.compile(rf"(?:(?:[0-9]+{grouped})(?:{mark}[0-9]*)?|{mark}[0-9]+){_EXPONENT}")


def written(text: str) -> Written | None:
    """The parts of a number; None for other text, and for codes such as 007.

    Examples
    --------
    >>> from kernelmeans.tables.numerals import written
    >>> written("20.1 kg")
    Written(digits='20.1', unit='kg', is_negative=False, is_enclosed=False, is_bound=False)
    >>> written("< ($ 1,234.5)")
    Written(digits='1,234.5', unit='$', is_negative=True, is_enclosed=True, is_bound=True)
    >>> written("007"), written("12A"), written("5 May")
    (None, None, None)
    """
    if (plain := _PLAIN.fullmatch(text)) is not None:
        return None if _CODE.fullmatch(plain[2]) else Written(plain[2], "", plain[1] == "-")
    if len(text) > _LONG or (parts := _PARTS.fullmatch(text.replace(MINUS, "-"))) is None:
        return None
    before, digits, after = parts.groups()
    around = _around(before, after)
    if around is None or _CODE.fullmatch(digits):
        return None
    if after.startswith("-") and not _FRACTION.fullmatch(digits):
        return None
    return Written(digits, *around[1:])


@lru_cache(2**10)
def _around(before: str, after: str) -> Written | None:
    """The meaning of the text around a number. Most rows of a column have the same text there."""
    found = _AROUND.fullmatch(f"{before}0{after}")
    if found is None or len(found["opened"]) != len(found["closed"]):
        return None
    behind = found["after"] or found["letter"] or ""
    signs = found["first"] + found["second"] + (found["last"] or "")
    if len(signs) > 1 or (found["before"] and behind):
        return None
    enclosed = found["opened"] == "("
    # In the singular, because 1 day and 2 days have the same unit.
    unit = re.sub(r"(?i)(?<=[a-z][a-z])s$", "", (found["before"] or behind).removesuffix("."))
    return Written("", unit, enclosed or signs == "-", enclosed, bool(found["bound"]))


def number_of(text: str, decimal: str = ".") -> float:
    """The number in a text, whatever its unit; NaN if there is none, or only a bound.

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
    parts = written(text)
    if parts is None or parts.is_bound or not parts.fits(decimal, GROUPS.replace(decimal, "")):
        return np.nan
    return parts.number(decimal)


def are_alike(unit: str, usual: str) -> bool:
    """Whether numbers in a unit can be compared with those in the usual one of a column.

    A number without a unit counts as one in the usual unit. Only percents must have their sign,
    because 0.5 and 50 % may be the same.

    Examples
    --------
    >>> from kernelmeans.tables.numerals import are_alike
    >>> are_alike("", "kg"), are_alike("lb", "kg"), are_alike("kg", ""), are_alike("", "%")
    (True, False, False, False)
    """
    return same_unit(unit) == same_unit(usual) or (not unit and usual != "%")


@cache
def same_unit(unit: str) -> str:
    """A text that all spellings of a unit share. Capitals count only if they may mean mega.

    Examples
    --------
    >>> from kernelmeans.tables.numerals import same_unit
    >>> same_unit("mg/dL") == same_unit("mg/dl"), same_unit("€") == same_unit("EUR")
    (True, True)
    >>> same_unit("mW") == same_unit("MW")
    False
    """
    folded = _CODE_OF.get(unit, unit).casefold()
    return f"M{folded[1:]}" if _MEGA.match(unit) else folded


def is_multiple(unit: str) -> bool:
    """Whether the text after a number multiplies it, as in 1.2k."""
    return _MULTIPLE.fullmatch(unit) is not None


def unit_of(text: str) -> str | None:
    """The word after a number, whether a known unit or not; None if there is no number.

    Examples
    --------
    >>> from kernelmeans.tables.numerals import unit_of
    >>> unit_of("20.1 kg"), unit_of("€ 1,2k"), unit_of("(7)"), unit_of("C12"), unit_of("3 ng/mL")
    ('kg', 'k', '', None, 'ng/mL')
    """
    found = _MEASURE.fullmatch(text)
    if found and any(number_of(found[1], mark) == number_of(found[1], mark) for mark in OTHER):
        return found[2]
    return None
