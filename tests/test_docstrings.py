"""Public classes document all their parameters."""

import importlib
import inspect
import re
from enum import Enum
from typing import Literal, get_args, get_origin, get_type_hints

import pytest

from kernelmeans._estimator import Estimator
from kernelmeans._sklearn import StrOptions

PACKAGES = [
    "",
    ".baselines",
    ".heat",
    ".kernels",
    ".lowrank",
    ".metrics",
    ".profiles",
    ".report",
    ".rows",
    ".search",
    ".solver",
    ".spaces",
    ".tables",
]


def public_classes():
    for package in PACKAGES:
        module = importlib.import_module(f"kernelmeans{package}")
        for name in module.__all__:
            found = getattr(module, name)
            if inspect.isclass(found) and not issubclass(found, Enum):
                yield pytest.param(found, id=f"{module.__name__}.{name}")


ESTIMATORS = [one for one in public_classes() if issubclass(one.values[0], Estimator)]


def literals(hint):
    """All texts that a type allows by name."""
    if get_origin(hint) is Literal:
        return set(get_args(hint))
    return set().union(*map(literals, get_args(hint)))


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_the_names_of_choices_are_the_same_to_users_mypy_and_fits(cls):
    types = dict(re.findall(r"^(\w+) : (.*?)(?:, default=.*)?$", inspect.getdoc(cls), re.MULTILINE))
    hints = get_type_hints(cls.__init__)
    for name, allowed in cls._parameter_constraints.items():
        known = set().union(*(one.options for one in allowed if isinstance(one, StrOptions)))
        assert literals(hints[name]) == known, name
        assert set(re.findall('"([^"]+)"', types[name])) == known, name


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_the_defaults_are_those_of_the_constructor_alone(cls):
    for one in inspect.signature(cls).parameters.values():
        assert getattr(cls, one.name, one.default) == one.default, one.name


@pytest.mark.parametrize("cls", list(public_classes()))
def test_all_parameters_are_documented(cls):
    text = inspect.getdoc(cls)
    documented = re.findall(r"^([\w*, ]+) : ", text, re.MULTILINE)
    names = {name.strip("* ") for line in documented for name in line.split(",")}
    kinds = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    parameters = inspect.signature(cls).parameters.values()
    assert {one.name for one in parameters if one.kind not in kinds} <= names
    assert not re.search(r"^\s+As (for|in) `", text, re.MULTILINE)
