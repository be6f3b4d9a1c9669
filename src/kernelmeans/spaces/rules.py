"""Rules by which kernel weights follow what each kernel costs."""

from abc import ABC, abstractmethod

import numpy as np

from kernelmeans._typing import Array


class WeightRule(ABC):
    """How kernel weights follow what the sample weights pay in each kernel's space."""

    @abstractmethod
    def start(self, n_kernels: int) -> Array:
        """Weights (L,) that favour no kernel."""

    @abstractmethod
    def update(self, costs: Array) -> Array:
        """Weights (R, L) that are best for the costs c_l >= 0 of shape (R, L)."""

    def multipliers(self, weights: Array) -> Array:
        """What the squared distances in each space are multiplied by, (R, L)."""
        return weights

    def penalty(self, weights: Array) -> Array:
        """What the weights (R, L) add to the objective, shape (R,)."""
        return np.zeros(len(weights))


class EntropyRule(WeightRule):
    """Weights on the simplex, held together by their entropy (method of the paper).

    Minimises sum_l a_l c_l + lambda sum_l a_l log(L a_l). The paper has no factor L, which adds a
    constant: with it the penalty is nil for uniform weights and positive for all others.

    Parameters
    ----------
    entropy_weight : float
        The lambda, in units of the costs; 0 for the one best kernel, infinity for uniform weights.
    """

    def __init__(self, entropy_weight: float) -> None:
        self.entropy_weight = entropy_weight

    def start(self, n_kernels: int) -> Array:
        return np.full(n_kernels, 1 / n_kernels)

    def update(self, costs: Array) -> Array:
        excess = costs - costs.min(axis=1, keepdims=True)
        best = (excess == 0).astype(float)
        with np.errstate(over="ignore"):  # a tiny weight is as good as none
            weights = np.exp(-excess / self.entropy_weight) if self.entropy_weight > 0 else best
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def penalty(self, weights: Array) -> Array:
        if self.entropy_weight in (0, np.inf):
            return np.zeros(len(weights))
        logs = np.log(np.where(weights > 0, weights * weights.shape[1], 1))
        return self.entropy_weight * np.asarray((weights * logs).sum(axis=1))
