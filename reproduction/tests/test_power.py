"""Power means and their derivatives, against the textbook formula and finite differences."""

import numpy as np
import pytest
from scipy.stats import pmean

from kernelmeans_paper.power import power_means, power_weights

DISTANCES = np.random.default_rng(0).uniform(0.1, 4, (4, 20))


@pytest.mark.parametrize("power", [-0.5, -1.0, -3.0, -20.0])
def test_power_means_are_scipys(power):
    np.testing.assert_allclose(power_means(DISTANCES, power), pmean(DISTANCES, power, axis=0))


def test_power_means_fall_to_the_nearest_and_not_below():
    means = [power_means(DISTANCES, -(2.0**exponent)) for exponent in range(16)]
    assert (np.diff(means, axis=0) <= 0).all()
    assert (means[-1] >= DISTANCES.min(axis=0)).all()
    np.testing.assert_allclose(means[-1], DISTANCES.min(axis=0), rtol=1e-4)


@pytest.mark.parametrize("power", [-1.0, -3.0])
def test_weights_are_derivatives(power):
    for j in range(len(DISTANCES)):
        step = np.zeros((len(DISTANCES), 1))
        step[j] = 1e-6
        up, down = (power_means(DISTANCES + sign * step, power) for sign in (1, -1))
        expected = power_weights(DISTANCES, power)[j]
        np.testing.assert_allclose((up - down) / 2e-6, expected, rtol=1e-5, atol=1e-9)
