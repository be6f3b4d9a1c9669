"""How numbers are written, for people and in JSON."""

import math
import re
from typing import Any

#: Stands where there is no number: a dash.
NOTHING = "\u2013"
# Thousands are apart, but stay on one line.
_APART = "\u202f"
# Between these numbers thousands are apart.
_GROUPED, _LARGE = 1e4, 1e9
_MANY_DIGITS = re.compile(r"(-?)([1-9]\d{4,})((?:\.\d+)?)", re.ASCII)


def percent(fraction: float | None, digits: int = 0) -> str:
    """A fraction in percent; only nothing is 0 %, and only all is 100 %.

    Examples
    --------
    >>> from kernelmeans._numbers import percent
    >>> percent(0.125), percent(0.125, 1), percent(0), percent(0.0004, 1), percent(0.9996)
    ('12 %', '12.5 %', '0 %', '<0.1 %', '>99 %')
    """
    if fraction is None or not math.isfinite(fraction):
        return NOTHING
    least = 10.0**-digits
    if 0 < fraction < least / 200:
        return f"<{least:.{digits}f} %"
    if 1 - least / 200 <= fraction < 1:
        return f">{100 - least:.{digits}f} %"
    return f"{100 * fraction:.{digits}f} %"


def number(value: float | None) -> str:
    """A number of four digits or all those before the point.

    Examples
    --------
    >>> from kernelmeans._numbers import number
    >>> number(3), number(2.71828), number(0.000123456), number(None)
    ('3', '2.718', '0.0001235', '\u2013')
    """
    if value is None or not math.isfinite(value):
        return NOTHING
    if _GROUPED <= abs(value) < _LARGE:
        return f"{value:,.0f}".replace(",", _APART)
    return f"{value:.4g}"


def score(value: float | None) -> str:
    """A score with two digits after the point."""
    return NOTHING if value is None or not math.isfinite(value) else f"{value:.2f}"


def scaled(value: float, scale: float) -> str:
    """A number to two digits of a scale, or of its own if that is NaN.

    Examples
    --------
    >>> from kernelmeans._numbers import scaled
    >>> scaled(4.3651, 2.9), scaled(43651.2, 2900), scaled(0.0123456, float("nan"))
    ('4.4', '43651', '0.012')
    """
    scale = abs(value) if math.isnan(scale) else scale
    if abs(value) >= 1e10 or not 1e-6 <= scale < math.inf:
        return f"{value:.6g}"
    return f"{value:z.{max(0, 1 - math.floor(math.log10(scale)))}f}"


def grouped(text: str) -> str:
    """A number that is a text already, with its thousands apart as in `number`.

    Examples
    --------
    >>> from kernelmeans._numbers import grouped
    >>> grouped("1953"), grouped("-23100.5"), grouped("2012-09-13")
    ('1953', '-23\u202f100.5', '2012-09-13')
    """
    found = _MANY_DIGITS.fullmatch(text)
    if found is None:
        return text
    sign, whole, rest = found.groups()
    return f"{sign}{int(whole):,}{rest}".replace(",", _APART)


def finite(content: Any) -> Any:
    """Content as JSON has it: lists for tuples, None for numbers that are not finite.

    Examples
    --------
    >>> from kernelmeans._numbers import finite
    >>> finite({"power": (float("-inf"), -2.5), "name": "heat"})
    {'power': [None, -2.5], 'name': 'heat'}
    """
    if isinstance(content, dict):
        return {key: finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [finite(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content
