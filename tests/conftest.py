"""Fixtures and settings that all tests share."""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import data  # noqa: F401  (names the folder of benchmark data, for processes too)
from kernelmeans.engines import Threads

# Derandomised, so that a red run means a changed package and not an unlucky draw;
# HYPOTHESIS_PROFILE=explore looks for new counterexamples.
relaxed = settings(deadline=None, suppress_health_check=list(HealthCheck))
settings.register_profile("ci", relaxed, max_examples=30, derandomize=True)
settings.register_profile("explore", relaxed, max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def threads():
    with Threads() as pool:
        yield pool
