"""Rules by which the baselines weigh kernels."""

import numpy as np

from kernelmeans._typing import Array
from kernelmeans.spaces import WeightRule

#: Least cost of a kernel relative to the dearest one: its reciprocal must be finite.
LEAST_COST = 1e-12


def _positive(costs: Array) -> Array:
    """Costs (R, L) held above zero."""
    largest = np.maximum(costs.max(axis=1, keepdims=True), np.finfo(float).tiny)
    return np.asarray(np.maximum(costs / largest, LEAST_COST))


class SquaredRule(WeightRule):
    """Squared weights on the simplex multiply distances: min sum_l a_l^2 b_l (Huang et al. 2012).

    The minimiser is a_l = (1 / b_l) / sum_t (1 / b_t).
    """

    def start(self, n_kernels: int) -> Array:
        return np.full(n_kernels, 1 / n_kernels)

    def update(self, costs: Array) -> Array:
        weights = 1 / _positive(costs)
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def multipliers(self, weights: Array) -> Array:
        return weights**2


class PowerSumRule(WeightRule):
    """Weights whose powers sum to one: min sum_l a_l h_l with sum_l a_l^g = 1 (Du et al. 2015).

    For 0 < g < 1 the minimiser is a_l = h_l^(1/(g-1)) / (sum_t h_t^(g/(g-1)))^(1/g).

    Parameters
    ----------
    exponent : float
        The g, between 0 and 1.
    """

    def __init__(self, exponent: float) -> None:
        self.exponent = exponent

    def start(self, n_kernels: int) -> Array:
        return np.full(n_kernels, n_kernels ** (-1 / self.exponent))

    def update(self, costs: Array) -> Array:
        g = self.exponent
        # The unit of the costs cancels.
        logs = np.log(_positive(costs)) / (g - 1)
        top = logs.max(axis=1, keepdims=True)
        weights = np.exp(logs - top)
        return np.asarray(weights / (weights**g).sum(axis=1, keepdims=True) ** (1 / g))
