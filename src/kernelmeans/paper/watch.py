"""The library's own solver, watched: what its centroids are at every step."""

from typing import Any

import numpy as np

from kernelmeans._typing import Array
from kernelmeans.engines import Threads
from kernelmeans.kernels import Kernel
from kernelmeans.solver import Schedule, automatic_start, critical_power, solve
from kernelmeans.solver.schedule import AUTO_ETA, AUTO_RELAXATION, AUTO_SOFTNESS
from kernelmeans.solver.seeding import from_weights
from kernelmeans.spaces import CachedGramSpace, Centroids


class WatchedSpace(CachedGramSpace):
    """A kernel matrix that remembers the coefficients of all centroids it has combined.

    Parameters
    ----------
    K : ndarray of shape (n_samples, n_samples)
        Kernel matrix.
    threads : Threads
        Where products are computed.
    """

    def __init__(self, K: Array, threads: Threads) -> None:
        super().__init__(Kernel("precomputed", {}), K, np.ones(len(K), K.dtype), threads)
        self.seen: list[Array] = []

    def combine(self, *args: Any, **kwargs: Any) -> Centroids:
        """Combine as ever, and remember the coefficients (k, R, n_samples)."""
        centroids = super().combine(*args, **kwargs)
        assert centroids.coefficients is not None
        self.seen.append(centroids.coefficients.copy())
        return centroids


def default_schedule(critical: float, start: float) -> Schedule:
    """Return what the estimators run by default."""
    return Schedule(
        s0=start,
        critical_power=critical,
        eta=AUTO_ETA,
        relaxation=AUTO_RELAXATION,
        softness=AUTO_SOFTNESS,
    )


def paper_schedule(critical: float, start: float) -> Schedule:
    """Return the paper's s0 = -1 and eta = 1.04 every five steps."""
    return Schedule(s0=-1.0, critical_power=critical, eta=1.04, anneal_every=5)


def watched_coefficients(K: Array, weights: Array, schedule: Any) -> list[Array]:
    """Coefficients (k, n_samples) of the centroids before the first step and after each.

    Parameters
    ----------
    K : ndarray of shape (n_samples, n_samples)
        Kernel matrix.
    weights : ndarray of shape (n_samples, k)
        Starting weights, the paper's W(0).
    schedule : callable
        From the critical power and the automatic start to a `Schedule`.

    Returns
    -------
    list of ndarray
        One for each step and the start.
    """
    with Threads() as threads:
        space = WatchedSpace(K, threads)
        critical = critical_power(space, threads, seed=0)
        settled = schedule(critical, automatic_start(space, weights.shape[1], critical, threads))
        space.seen.clear()
        start = from_weights(space, weights, threads)
        solve(space, start, settled, threads, seeds=[0])
        return [coefficients[:, 0] for coefficients in space.seen]
