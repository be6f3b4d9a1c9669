"""What a solve returns, and the record that is kept while it runs."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from kernelmeans._typing import Array, BoolArray, IntArray
from kernelmeans.engines import Threads
from kernelmeans.solver.blockwise import assign
from kernelmeans.spaces import Centroids, Space


@dataclass
class Result:
    """Outcome of all restarts, in their order.

    Attributes
    ----------
    labels : ndarray of shape (n_init, n_samples)
        Nearest final centroid of each sample.
    inertia : ndarray of shape (n_init,)
        Weighted sum of squared distances to it.
    n_iter : ndarray of shape (n_init,)
        Steps taken.
    converged : ndarray of shape (n_init,)
        Whether the restart ended by itself, not at ``max_iter``.
    objective_history, power_history : list of ndarray of shape (n_iter,)
        f_s and s at the centroids with which each step began; s = -inf in hard steps.
    centroids : Centroids or None
        Centroids of the best restart, on its own (R = 1); None once they are exported.
    """

    labels: IntArray
    inertia: Array
    n_iter: IntArray
    converged: BoolArray
    objective_history: list[Array]
    power_history: list[Array]
    centroids: Centroids | None = field(default=None, repr=False)

    @property
    def best(self) -> int:
        """Restart of least inertia, the first of equals."""
        return int(np.argmin(self.inertia))

    @classmethod
    def join(cls, parts: Sequence["Result"]) -> "Result":
        """The restarts of several batches as one result."""
        best = int(np.argmin([part.inertia.min() for part in parts]))
        return cls(
            np.concatenate([part.labels for part in parts]),
            np.concatenate([part.inertia for part in parts]),
            np.concatenate([part.n_iter for part in parts]),
            np.concatenate([part.converged for part in parts]),
            [history for part in parts for history in part.objective_history],
            [history for part in parts for history in part.power_history],
            parts[best].centroids,
        )


class Record:
    """Histories and ends of the restarts of a running batch.

    Parameters
    ----------
    space : Space
        The samples.
    threads : Threads
        Where labels are computed.
    n_restarts : int
        Restarts in the batch.
    """

    def __init__(self, space: Space, threads: Threads, n_restarts: int) -> None:
        self._space = space
        self._threads = threads
        self._histories: list[list[tuple[float, float]]] = [[] for _ in range(n_restarts)]
        self._labels = np.empty((n_restarts, space.n_samples), np.int32)
        self._inertia = np.full(n_restarts, np.inf)
        self._converged = np.zeros(n_restarts, bool)
        self._best: Centroids | None = None

    def step(self, active: IntArray, objective: Array, power: Array) -> None:
        """Note the objective and the power of the running restarts."""
        for restart, f, s in zip(active, objective.tolist(), power.tolist(), strict=True):
            self._histories[restart].append((f, s))

    def finish(self, which: IntArray, centroids: Centroids, converged: bool) -> None:
        """Label the samples of finished restarts; of their centroids only the best are kept."""
        assignment = assign(self._space, centroids, self._threads)
        inertia = assignment.inertia(self._space)
        self._labels[which] = assignment.labels
        self._inertia[which] = inertia
        # Of equal costs the first restart counts, as in the result, whenever it finishes.
        best = np.flatnonzero(which == np.argmin(self._inertia))
        if len(best):
            self._best = centroids.take(best)
        self._converged[which] = converged

    def result(self) -> Result:
        """Everything, once all restarts have finished."""
        objective, power = (
            [np.array([pair[i] for pair in history]) for history in self._histories] for i in (0, 1)
        )
        n_iter = np.array([len(history) for history in self._histories])
        return Result(
            self._labels, self._inertia, n_iter, self._converged, objective, power, self._best
        )
