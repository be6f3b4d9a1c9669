"""The library's own solver, watched: what its centroids are at every step.

Centroids are nothing that an estimator shows. This is the only module here that reaches into the
library, beside its public names.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from kernelmeans import KernelPowerKMeans
from kernelmeans.engines import Threads
from kernelmeans.kernels import Kernel
from kernelmeans.solver import Constant, Method, solve
from kernelmeans.solver.seeding import from_weights
from kernelmeans.spaces import Centroids, GramSpace
from kernelmeans_paper.arrays import Array


def coefficients_of_a_fit(K: Array, weights: Array, estimator: KernelPowerKMeans) -> list[Array]:
    """Coefficients (k, n_samples) of the centroids before the first step of a fit and after each.

    Parameters
    ----------
    K : ndarray of shape (n_samples, n_samples)
        Kernel matrix.
    weights : ndarray of shape (n_samples, k)
        Starting weights, the paper's W(0).
    estimator : KernelPowerKMeans
        What would be fitted; its schedule counts.

    Returns
    -------
    list of ndarray
        One for the start and one for each step.
    """
    return _watched(K, weights, estimator._method)


def coefficients_at_a_power(K: Array, weights: Array, power: float, steps: int) -> list[Array]:
    """The same of plain steps at one power, which neither end by themselves nor are shaken."""
    schedule = Constant(s0=power, critical_power=np.inf, tol=-1.0, max_iter=steps)
    return _watched(K, weights, lambda space: schedule)


class _WatchedSpace(GramSpace):
    """A kernel matrix that remembers the coefficients of all updated centroids."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.seen: list[Array] = []

    def update(self, *args: Any, **kwargs: Any) -> Centroids:
        centroids = super().update(*args, **kwargs)
        assert centroids.coefficients is not None
        self.seen.append(centroids.coefficients.copy())
        return centroids


def _watched(K: Array, weights: Array, plan: Callable[[GramSpace], Method]) -> list[Array]:
    with Threads() as threads:
        ones = np.ones(len(K), K.dtype)
        space = _WatchedSpace.hold(Kernel("precomputed", {}), K, ones, threads)
        schedule = plan(space)
        space.seen.clear()
        solve(space, from_weights(space, weights), schedule, seeds=[0])
        return [coefficients[:, 0] for coefficients in space.seen]
