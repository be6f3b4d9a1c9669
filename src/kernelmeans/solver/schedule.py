"""The annealing schedule: which power at which step, and when a restart is done."""

from dataclasses import dataclass

import numpy as np

from kernelmeans._typing import Array, BoolArray
from kernelmeans.solver.power import SQUARES, Loss

#: Growth of |s| per step, over-relaxation, and softness that is enough, of ``eta="auto"``. On real
#: data this ends below the cost of plain steps with eta = 1.04 in three quarters of their number,
#: and it hardly matters to the labels if hard steps take over a step sooner or later.
AUTO_ETA, AUTO_RELAXATION, AUTO_SOFTNESS = 1.06, 1.8, 0.01
#: Growth and softness where swap moves follow: half the steps, and the moves end as low.
QUICK_ETA, QUICK_SOFTNESS = 1.12, 0.02
#: Growth with several kernels, and the change of the softness that halves it: fast where the
#: samples stay where they are, slow where they choose. With others the steps change, not the NMI.
PACED_ETA, PACE = 1.17, 0.005
#: Power whose nearly equal weights draw all centroids to the mean, and steps there of ``s0="auto"``
#: with several kernels: from near the mean they part along what tells samples apart best.
FORGETFUL, FORGETTING_STEPS = -1.0, 2
#: |s| at which they take over in any case: coincident centroids share their samples for ever.
LARGEST_POWER = 1e4
#: Steps after which a run may be given up, and as how many steps like its last one it is allowed to
#: take. More moves in the same time find more than longer ones do.
FAIR_TRIAL, PATIENCE = 4, 5


@dataclass(frozen=True)
class Schedule:
    """Powers of an annealed run.

    Attributes
    ----------
    s0 : float
        First power, negative; -inf for hard steps from the start.
    critical_power : float
        No run ends, or turns hard, above it (or above its own, where kernel weights move).
    eta : float
        Factor on the power, at least 1; with 1 a run stays at ``s0`` and ends on ``tol``.
    anneal_every : int
        Steps between two such factors.
    relaxation : float
        Factor on every step of an annealed run, between 1 (the plain step) and 2. Up to 2 the
        objective cannot rise: the surrogate it minimises is a parabola about the plain step.
    softness : float
        Mean share of the weights that is not the nearest centroid's below which hard steps take
        over.
    pace : float
        Change of the softness in a step that halves the growth of |s|; infinite for growth that
        does not wait for the samples to choose.
    forgets : int
        First steps, at `FORGETFUL`, that all but forget the start.
    max_iter : int
        Most steps.
    tol : float
        Relative change of the objective that ends a run at constant power.
    loss : Loss
        What a squared distance costs in hard steps.
    alternates : bool
        Whether hard steps move kernel weights too, or weigh samples anew. Such a run ends on
        ``tol``, not when labels no longer change, unless it has been annealed.
    refills : bool
        Whether a centroid that is left without samples is put on a costly one; else it gets no
        sample again.
    exchanges : bool
        Whether samples of hard steps are exchanged, see `kernelmeans.solver.exchange`.
    n_swaps : int or "auto"
        Swap moves that are to follow.
    rehearsed : bool
        Whether many samples may be annealed on draws first: not if the powers are the user's.
    bar : float
        The objective that a hard run has to come below; it ends as soon as it hardly can, without
        labels and at infinite cost.
    """

    s0: float
    critical_power: float
    eta: float = 1.0
    anneal_every: int = 1
    relaxation: float = 1.0
    softness: float = 0.02
    pace: float = np.inf
    forgets: int = 0
    max_iter: int = 1000
    tol: float = 1e-6
    loss: Loss = SQUARES
    alternates: bool = False
    refills: bool = True
    exchanges: bool = False
    n_swaps: int | str = 0
    rehearsed: bool = False
    bar: float = np.inf

    @property
    def anneals(self) -> bool:
        """Whether the power changes."""
        return self.eta > 1 and np.isfinite(self.s0)

    @property
    def ends_with_labels(self) -> bool:
        """Whether hard steps end when no label changes, else on ``tol``.

        By squares that moves neither centroids nor kernel weights any more.
        """
        return self.anneals or not self.alternates

    @property
    def _lowest(self) -> float:
        """The power at which annealing ends in any case; below the critical one."""
        return min(-LARGEST_POWER, 2 * self.critical_power, self.s0)

    def power(self, time: Array) -> Array:
        """Finite powers after so many steps of growth (-inf where the schedule is hard)."""
        if not self.anneals:
            return np.full(np.shape(time), self.s0)
        turns = time if self.anneal_every == 1 else np.floor(time / self.anneal_every)
        growth = np.minimum(turns * np.log(self.eta), np.log(self._lowest / self.s0))
        return np.where(time < 0, max(self.s0, FORGETFUL), self.s0 * np.exp(growth))

    def loss_at(self, step: int) -> Loss:
        """The loss of a step; in the first all samples weigh alike.

        A start on a sample would else hold its centroid there, where the slope is infinite.
        """
        return self.loss if step else Loss(self.loss.value, SQUARES.slope)

    def collapses(self, power: Array, critical: Array) -> BoolArray:
        """Where centroids draw together at this power or only just part again."""
        return np.asarray((self.s0 > critical) & (power > 1.5 * critical))

    def hardens(self, power: Array, critical: Array, softness: Array) -> BoolArray:
        """Which restarts have been annealed enough to go on in hard steps."""
        if not self.anneals:
            return np.zeros(softness.shape, bool)
        if np.isneginf(self.critical_power):
            # The data do not vary: there is nothing to anneal.
            return np.ones(softness.shape, bool)
        spent = power <= self._lowest * (1 - 1e-9)
        return np.asarray((power <= critical) & ((softness < self.softness) | spent))

    def settled(self, before: Array, now: Array) -> BoolArray:
        """Which restarts at a constant power no longer improve."""
        if self.anneals:
            return np.zeros(now.shape, bool)
        return np.asarray(before - now <= self.tol * now)

    def unfinished(self, power: float) -> str:
        """What a run that stopped at this power had still to do, and how to let it."""
        if self.anneals and np.isfinite(power):
            return (
                f"it was still annealed, at the power {power:.4g}; raise max_iter, or anneal "
                "faster (larger eta, smaller anneal_every)"
            )
        if self.ends_with_labels and np.isneginf(power):
            return "hard steps still changed labels; raise max_iter"
        return (
            f"the objective still fell by more than tol={self.tol:g} a step; raise max_iter or tol"
        )

    def hopeless(self, step: int, before: Array, now: Array) -> BoolArray:
        """Which restarts would stay above the bar if they fell as now for a long while."""
        if step < FAIR_TRIAL or np.isinf(self.bar):
            return np.zeros(now.shape, bool)
        return np.asarray(now - PATIENCE * (before - now) > self.bar)


class Clock:
    """How far each running restart has been annealed: as many steps, or fewer if it has a pace.

    Parameters
    ----------
    schedule : Schedule
        Powers.
    n_restarts : int
        Restarts.
    """

    def __init__(self, schedule: Schedule, n_restarts: int) -> None:
        self._schedule = schedule
        self._time: Array = np.full(n_restarts, float(-schedule.forgets))
        self._softness: Array = np.zeros(n_restarts)

    @property
    def power(self) -> Array:
        """The finite power of each restart."""
        return self._schedule.power(self._time)

    def tick(self, softness: Array) -> None:
        """Go on after a step: the less, the more its softness differs from that of the last one."""
        change = np.abs(softness - self._softness)
        steps = np.where(self._time < 0, 1, 1 / (1 + change / self._schedule.pace))
        self._time, self._softness = self._time + steps, softness

    def keep(self, restarts: BoolArray) -> None:
        """Drop the other restarts."""
        self._time, self._softness = self._time[restarts], self._softness[restarts]
