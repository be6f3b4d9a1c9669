"""Fixtures that all tests share."""

import numpy as np
import pytest

import data  # noqa: F401  (names the folder of benchmark data, for processes too)
import profiles  # noqa: F401
from kernelmeans.engines import Threads


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def threads():
    with Threads() as pool:
        yield pool
