"""Fixtures that all tests of the reproduction share."""

import numpy as np
import pytest

import data  # noqa: F401  (names the folder of benchmark data, for processes too)
import profiles  # noqa: F401


@pytest.fixture
def rng():
    return np.random.default_rng(0)
