"""The library's own solver, watched: what its centroids are at every step."""

from collections.abc import Callable
from typing import Any

import numpy as np

from kernelmeans import KernelPowerKMeans
from kernelmeans._typing import Array
from kernelmeans.engines import Threads
from kernelmeans.kernels import Kernel
from kernelmeans.solver import Schedule, solve
from kernelmeans.solver.seeding import from_weights
from kernelmeans.spaces import Centroids, GramSpace


class WatchedSpace(GramSpace):
    """A kernel matrix that remembers the coefficients of all centroids it has updated.

    Parameters
    ----------
    K : ndarray of shape (n_samples, n_samples)
        Kernel matrix.
    """

    def __init__(self, K: Array, threads: Threads) -> None:
        super().__init__(Kernel("precomputed", {}), K, np.ones(len(K), K.dtype), threads)
        self.seen: list[Array] = []

    def update(self, *args: Any, **kwargs: Any) -> Centroids:
        """Update as ever, and remember the coefficients (k, R, n_samples)."""
        centroids = super().update(*args, **kwargs)
        assert centroids.coefficients is not None
        self.seen.append(centroids.coefficients.copy())
        return centroids


#: From a space to the schedule of a run in it.
Plan = Callable[[GramSpace], Schedule]


def estimator_schedule(estimator: KernelPowerKMeans) -> Plan:
    """Return the schedule that an estimator would run."""
    return lambda space: estimator._schedule(space, 0)


def watched_coefficients(K: Array, weights: Array, plan: Plan) -> list[Array]:
    """Coefficients (k, n_samples) of the centroids before the first step and after each.

    Parameters
    ----------
    K : ndarray of shape (n_samples, n_samples)
        Kernel matrix.
    weights : ndarray of shape (n_samples, k)
        Starting weights, the paper's W(0).
    plan : callable
        Gives the schedule of the run.

    Returns
    -------
    list of ndarray
        One for the start and one for each step.
    """
    with Threads() as threads:
        space = WatchedSpace(K, threads)
        schedule = plan(space)
        space.seen.clear()
        solve(space, from_weights(space, weights), schedule, seeds=[0])
        return [coefficients[:, 0] for coefficients in space.seen]
