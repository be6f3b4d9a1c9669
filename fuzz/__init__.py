"""Random cases by the hundred thousand, each of which must end well or be refused in words.

A class of cases is a module of ``fuzz.cases``. It has a ``WEIGHT``, its part of the time, and a
function ``case``, which takes a random generator and returns words and a check.
"""

import importlib
import pkgutil
from collections.abc import Callable
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
