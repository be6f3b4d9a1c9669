"""Random cases by the hundred thousand, each of which must end well or be refused in words.

A class of cases is a module of ``fuzz.cases``. It has a ``WEIGHT``, its part of the time, and a
function ``case``, which takes a random generator and returns words and a check. ``NEEDS``
may name a package without which it is left out. ``EXTREME`` is true where numbers may be so extreme
that a fit is lost.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np

Rng = np.random.Generator


class Case(NamedTuple):
    """What is tried, in words, and the function that tries it; it raises if something is wrong."""

    words: str
    check: Callable[[], None]


class Failure(AssertionError):  # noqa: N818  (a finding)
    """Something is wrong, and the message says what."""


class Refused(Exception):  # noqa: N818  (no error, an answer)
    """A case was refused in words."""


def discover(package: str) -> dict[str, float]:
    """The classes in a package of modules, and their weights."""
    names = [name for _, name, _ in pkgutil.iter_modules(importlib.import_module(package).__path__)]
    return {name: importlib.import_module(f"{package}.{name}").WEIGHT for name in sorted(names)}


def lacking(package: str, names: Iterable[str]) -> dict[str, str]:
    """Those of the classes that need a package which is not installed, and the package."""
    needs = {
        name: getattr(importlib.import_module(f"{package}.{name}"), "NEEDS", "") for name in names
    }
    return {name: needed for name, needed in needs.items() if needed and not find_spec(needed)}
