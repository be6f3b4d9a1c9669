"""The result of a run of the solver, and the record that is kept meanwhile."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from enum import IntEnum
from itertools import chain
from typing import Any

import numpy as np

from kernelmeans._typing import Array, BoolArray, IntArray
from kernelmeans.solver.blockwise import assign
from kernelmeans.solver.power import CostFunction
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
    #: Its objective could hardly fall far enough to matter.
    GIVEN_UP = 4


#: Endings that every step looks for, as numbers: to compare arrays with members takes five times as
#: long.
RUNNING, CONVERGED = int(Ending.RUNNING), int(Ending.CONVERGED)


@dataclass
class Result:
    """Outcome of all restarts, in their order.

    Attributes
    ----------
    labels : ndarray of shape (n_init, n_samples)
        Nearest final centroid of each sample. Those of the best restart are ``labels_`` of the
        estimator.
    inertia : ndarray of shape (n_init,)
        Weighted sum of the samples' squared distances to these centroids.
    cost : ndarray of shape (n_init,)
        The objective at the end, by which restarts are compared: the inertia, unless there is
        another cost function, or a penalty on kernel weights.
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
        Centroids of the best restart (R = 1); None once they are exported.
    rounding : float
        Difference between two costs that may be rounding.
    preferred : int or None
        The restart that is best although its cost is not the least.
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
    rounding: float = 0.0
    #: Not stored, and so in no model file, unless there is one.
    preferred: int | None = field(default=None, init=False)

    @property
    def best(self) -> int:
        """Restart of least cost, the first of equals, unless another is preferred."""
        return int(np.argmin(self.cost)) if self.preferred is None else self.preferred

    @property
    def histories(self) -> tuple[list[Array], list[Array], list[Array]]:
        """Objectives, powers and kernel weights of each restart's steps."""
        return self.objective_history, self.power_history, self.kernel_weights_history

    @property
    def converged(self) -> BoolArray:
        """Whether each restart ended by its method's own rule, shape (n_init,)."""
        return np.asarray(self.endings == Ending.CONVERGED)

    @classmethod
    def join(cls, results: Sequence["Result"], rounding: float) -> "Result":
        """The restarts of several batches as one result; costs equal up to rounding are equal."""
        joined: dict[str, Any] = {}
        for name in {each.name for each in fields(cls)} - {"centroids", "rounding", "preferred"}:
            values = [getattr(result, name) for result in results]
            lists = isinstance(values[0], list)
            joined[name] = list(chain(*values)) if lists else np.concatenate(values)
        cost = joined["cost"]
        for restart in range(len(cost)):
            cost[restart] = _first_equal(cost[:restart], float(cost[restart]), rounding)
        batches = np.repeat(np.arange(len(results)), [len(result.cost) for result in results])
        centroids = results[batches[np.argmin(cost)]].centroids
        return cls(**joined, centroids=centroids, rounding=rounding)

    def take_over(self, trial: "Result") -> None:
        """Replace the end of the best restart by that of the best restart of a trial."""
        for name in ("labels", "inertia", "cost", "endings", "kernel_weights"):
            getattr(self, name)[self.best] = getattr(trial, name)[trial.best]
        self.centroids = trial.centroids

    def number_by_weight(self, sample_weight: Array, n_clusters: int) -> IntArray:
        """Number the clusters of each restart by weight, the largest first.

        Of clusters of equal weight the one that holds the first sample comes first; samples of
        weight 0 do not count.

        Parameters
        ----------
        sample_weight : ndarray of shape (n_samples,)
            Weights of the samples.
        n_clusters : int
            Number of clusters, with samples or without.

        Returns
        -------
        ndarray of shape (n_clusters,)
            New number of each cluster of the best restart.
        """
        numbers = [_by_weight(labels, sample_weight, n_clusters) for labels in self.labels]
        for labels, new in zip(self.labels, numbers, strict=True):
            labels[:] = new[labels]
        return numbers[self.best]


def _by_weight(labels: IntArray, sample_weight: Array, n_clusters: int) -> IntArray:
    """New numbers of clusters, the largest first; of equals the one that holds the first sample."""
    weight = np.bincount(labels, sample_weight, minlength=n_clusters)
    first = np.full(n_clusters, len(labels))
    counting = np.flatnonzero(sample_weight)
    np.minimum.at(first, labels[counting], counting)
    return np.argsort(np.lexsort((first, -weight))).astype(labels.dtype)


def cost_rounding(space: Space, centroids: Centroids) -> Array:
    """Difference between two costs that may be rounding, for each restart."""
    total_weight = space.sample_weight.sum(dtype=np.float64)
    return np.asarray(space.floor(centroids).astype(np.float64) * total_weight)


def _first_equal(known: Array, cost: float, rounding: float) -> float:
    """The first known cost that is the same up to rounding, if any, else the cost itself.

    The same clusters may have other numbers and, by rounding, another cost: the first one counts.
    """
    same = np.flatnonzero(np.abs(known - cost) <= rounding)
    return float(known[same[0]]) if len(same) else cost


class Record:
    """Collects the steps and the ends of a running batch of restarts.

    Parameters
    ----------
    space : Space
        The samples.
    n_restarts : int
        Restarts in the batch.
    cost_function : CostFunction
        A sample's cost.
    """

    def __init__(self, space: Space, n_restarts: int, cost_function: CostFunction) -> None:
        self._space = space
        self._cost_function = cost_function
        self._steps: list[tuple[IntArray, Array, Array, Array]] = []
        self._result = Result(
            labels=np.zeros((n_restarts, space.n_samples), np.int32),
            inertia=np.full(n_restarts, np.inf),
            cost=np.full(n_restarts, np.inf),
            n_iter=np.zeros(n_restarts, np.intp),
            endings=np.full(n_restarts, Ending.GIVEN_UP, np.int8),
            objective_history=[],
            power_history=[],
            kernel_weights=np.ones((n_restarts, len(space.kernel_weights))),
            kernel_weights_history=[],
        )

    def step(self, running: IntArray, objective: Array, power: Array, weights: Array) -> None:
        """Add a step of the running restarts."""
        self._steps.append((running, objective, power, weights.copy()))

    def finish(self, which: IntArray, centroids: Centroids, ending: Ending) -> None:
        """Label the samples of finished restarts; only the centroids of the best are kept."""
        space, result = self._space, self._result
        assignment = assign(space, centroids)
        result.labels[which] = assignment.labels
        result.inertia[which] = assignment.inertia(space)
        values = self._cost_function.value(assignment.nearest)
        costs = values @ space.sample_weight.astype(np.float64) + space.penalty(centroids)
        rounding = cost_rounding(space, centroids)
        for restart, cost, near in zip(which, costs.tolist(), rounding.tolist(), strict=True):
            result.cost[restart] = _first_equal(result.cost, cost, near)
        result.kernel_weights[which] = centroids.kernel_weights
        # Of restarts of equal cost the first is the best, whenever it finishes.
        best = np.flatnonzero(which == result.best)
        if len(best):
            result.centroids = centroids.take(best)
        result.endings[which] = ending

    def result(self) -> Result:
        """Everything, once all restarts have finished."""
        result = self._result
        restarts, *noted = (np.concatenate(values) for values in zip(*self._steps, strict=True))
        order = np.argsort(restarts, kind="stable")
        result.n_iter = np.bincount(restarts, minlength=len(result.cost))
        edges = np.cumsum(result.n_iter)[:-1]
        histories = (np.split(values[order], edges) for values in noted)
        result.objective_history, result.power_history, result.kernel_weights_history = histories
        return result
