"""What a solve returns, and the record that is kept while it runs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from kernelmeans._typing import Array, BoolArray, IntArray
from kernelmeans.solver.blockwise import assign
from kernelmeans.solver.power import Loss
from kernelmeans.spaces import Centroids, Space


class Ending(IntEnum):
    """Why a restart ended."""

    RUNNING = 0
    #: Labels, or an objective at constant power, no longer changed.
    CONVERGED = 1
    #: A callback asked for it.
    STOPPED = 2
    #: It had taken ``max_iter`` steps.
    OUT_OF_STEPS = 3
    #: It could no longer become the best one.
    GIVEN_UP = 4


@dataclass
class Result:
    """Outcome of all restarts, in their order.

    Attributes
    ----------
    labels : ndarray of shape (n_init, n_samples)
        Nearest final centroid of each sample.
    inertia : ndarray of shape (n_init,)
        Weighted sum of squared distances to it.
    cost : ndarray of shape (n_init,)
        What restarts are compared by: the inertia, unless another loss counts or kernel weights
        add their penalty.
    n_iter : ndarray of shape (n_init,)
        Steps taken.
    endings : ndarray of shape (n_init,)
        Why each restart ended: values of `Ending`.
    objective_history, power_history : list of ndarray of shape (n_iter,)
        f_s and s at the centroids with which each step began; s = -inf in hard steps.
    kernel_weights : ndarray of shape (n_init, L)
        Final weights of the kernels.
    kernel_weights_history : list of ndarray of shape (n_iter, L)
        Those with which each step began.
    centroids : Centroids or None
        Centroids of the best restart, on its own (R = 1); None once they are exported.
    """

    labels: IntArray
    inertia: Array
    cost: Array
    n_iter: IntArray
    endings: IntArray
    objective_history: list[Array]
    power_history: list[Array]
    kernel_weights: Array
    kernel_weights_history: list[Array]
    centroids: Centroids | None = field(default=None, repr=False)

    @property
    def best(self) -> int:
        """Restart of least cost, the first of equals."""
        return int(np.argmin(self.cost))

    @property
    def converged(self) -> BoolArray:
        """Whether each restart ended by itself, shape (n_init,)."""
        return np.asarray(self.endings == Ending.CONVERGED)

    @classmethod
    def join(cls, parts: Sequence["Result"], rounding: float) -> "Result":
        """The restarts of several batches as one result; costs that close count as equal."""
        cost = np.concatenate([part.cost for part in parts])
        for restart in range(len(cost)):
            cost[restart] = _first_equal(cost[:restart], float(cost[restart]), rounding)
        starts = np.cumsum([0, *(len(part.cost) for part in parts)])
        best = int(np.searchsorted(starts, np.argmin(cost), side="right")) - 1
        return cls(
            np.concatenate([part.labels for part in parts]),
            np.concatenate([part.inertia for part in parts]),
            cost,
            np.concatenate([part.n_iter for part in parts]),
            np.concatenate([part.endings for part in parts]),
            [history for part in parts for history in part.objective_history],
            [history for part in parts for history in part.power_history],
            np.concatenate([part.kernel_weights for part in parts]),
            [history for part in parts for history in part.kernel_weights_history],
            parts[best].centroids,
        )


def cost_rounding(space: Space, centroids: Centroids) -> Array:
    """Difference from another cost that may be rounding, for each restart."""
    total_weight = space.sample_weight.sum(dtype=np.float64)
    return np.asarray(space.floor(centroids).astype(np.float64) * total_weight)


def _first_equal(known: Array, cost: float, rounding: float) -> float:
    """The first known cost that is the same up to rounding, if any, else the cost itself.

    The same clusters under other numbers cost the same: rounding is not to choose between them.
    """
    same = np.flatnonzero(np.abs(known - cost) <= rounding)
    return float(known[same[0]]) if len(same) else cost


class Record:
    """Histories and ends of the restarts of a running batch.

    Parameters
    ----------
    space : Space
        The samples.
    n_restarts : int
        Restarts in the batch.
    loss : Loss
        What a squared distance costs.
    """

    def __init__(self, space: Space, n_restarts: int, loss: Loss) -> None:
        self._space = space
        self._loss = loss
        self._steps: list[tuple[IntArray, Array, Array, Array]] = []
        self._labels = np.zeros((n_restarts, space.n_samples), np.int32)
        self._inertia = np.full(n_restarts, np.inf)
        self._cost = np.full(n_restarts, np.inf)
        self._endings = np.full(n_restarts, Ending.GIVEN_UP, np.int8)
        self._kernel_weights = np.ones((n_restarts, len(space.kernel_weights)))
        self._best: Centroids | None = None

    def step(self, active: IntArray, objective: Array, power: Array, kernel_weights: Array) -> None:
        """Note where the running restarts are."""
        self._steps.append((active, objective, power, kernel_weights.copy()))

    def finish(self, which: IntArray, centroids: Centroids, ending: Ending) -> None:
        """Label the samples of finished restarts; of their centroids only the best are kept."""
        assignment = assign(self._space, centroids)
        self._labels[which] = assignment.labels
        self._inertia[which] = assignment.inertia(self._space)
        losses = self._loss.value(assignment.nearest) @ self._space.sample_weight.astype(np.float64)
        costs = losses + self._space.penalty(centroids)
        rounding = cost_rounding(self._space, centroids)
        for restart, cost, near in zip(which, costs.tolist(), rounding.tolist(), strict=True):
            self._cost[restart] = _first_equal(self._cost, cost, near)
        self._kernel_weights[which] = centroids.kernel_weights
        # Of equal costs the first restart counts, as in the result, whenever it finishes.
        best = np.flatnonzero(which == np.argmin(self._cost))
        if len(best):
            self._best = centroids.take(best)
        self._endings[which] = ending

    def result(self) -> Result:
        """Everything, once all restarts have finished."""
        restarts, *noted = (np.concatenate(parts) for parts in zip(*self._steps, strict=True))
        order = np.argsort(restarts, kind="stable")
        n_iter = np.bincount(restarts, minlength=len(self._cost))
        edges = np.cumsum(n_iter)[:-1]
        objective, power, weights = (np.split(values[order], edges) for values in noted)
        return Result(
            self._labels,
            self._inertia,
            self._cost,
            n_iter,
            self._endings,
            objective,
            power,
            self._kernel_weights,
            weights,
            self._best,
        )
