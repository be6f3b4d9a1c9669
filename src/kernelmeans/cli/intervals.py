"""The numbers that options may be, as the source of the estimators says it.

The constraints of scikit-learn are read as text, because importing them would take a second.
"""

import ast
import math
from functools import cache
from pathlib import Path
from typing import NamedTuple

import click

_PACKAGE = Path(__file__).parents[1]
#: Files with constraints of parameters that are options.
_FILES = ("estimators/checks.py", "search/search.py")


class Interval(NamedTuple):
    """An interval of numbers."""

    is_whole: bool
    low: float
    high: float
    closed: str

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, int if self.is_whole else int | float):
            return False
        above = self.low <= value if self.closed in ("left", "both") else self.low < value
        below = value <= self.high if self.closed in ("right", "both") else value < self.high
        return above and below

    def __str__(self) -> str:
        left = "[" if self.closed in ("left", "both") else "("
        right = "]" if self.closed in ("right", "both") else ")"
        kind = "an int" if self.is_whole else "a float"
        return f"{kind} in the range {left}{self.low}, {self.high}{right}"


@cache
def intervals() -> dict[str, list[Interval]]:
    """Return the intervals of each parameter that has any."""
    sources = [ast.parse((_PACKAGE / file).read_text("utf-8")) for file in _FILES]
    dicts = [node for one in sources for node in ast.walk(one) if isinstance(node, ast.Dict)]
    found: dict[str, list[Interval]] = {}
    for key, allowed in [pair for one in dicts for pair in zip(one.keys, one.values, strict=True)]:
        calls = [node for node in ast.walk(allowed) if isinstance(node, ast.Call)]
        ours = [call for call in calls if ast.unparse(call.func) == "Interval"]
        if ours and isinstance(key, ast.Constant):
            found[str(key.value)] = list(map(_interval, ours))
    return found


def _interval(call: ast.Call) -> Interval:
    """What ``Interval(Real, 0, None, closed="left")`` makes."""
    kind, *ends = call.args
    (closed,) = (ast.literal_eval(keyword.value) for keyword in call.keywords)
    is_whole = ast.unparse(kind) == "Integral"
    low, high = map(ast.literal_eval, ends)
    as_shown = int if is_whole else float
    return Interval(
        is_whole,
        -math.inf if low is None else as_shown(low),
        math.inf if high is None else as_shown(high),
        closed,
    )


def check_number(
    value: float, param: click.Parameter | None, ctx: click.Context | None, *names: str
) -> None:
    """Refuse a number that a parameter may not be; it may also be one of these names."""
    if param is None or not (allowed := intervals().get(str(param.name))):
        return
    if not any(value in one for one in allowed):
        *others, last = [*names, *map(str, allowed)]
        message = f"{', '.join(others)}{' or ' if others else ''}{last}. Got {value!r} instead."
        raise click.UsageError(f"{param.opts[-1]} must be {message}", ctx)
