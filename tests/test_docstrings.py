"""Public classes document all their parameters."""

import importlib
import inspect
import re
from enum import Enum

import pytest

PACKAGES = [
    "",
    ".baselines",
    ".heat",
    ".kernels",
    ".lowrank",
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


@pytest.mark.parametrize("cls", list(public_classes()))
def test_all_parameters_are_documented(cls):
    text = inspect.getdoc(cls)
    documented = re.findall(r"^([\w*, ]+) : ", text, re.MULTILINE)
    names = {name.strip("* ") for line in documented for name in line.split(",")}
    kinds = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    parameters = inspect.signature(cls).parameters.values()
    assert {one.name for one in parameters if one.kind not in kinds} <= names
    assert not re.search(r"^\s+As (for|in) `", text, re.MULTILINE)
