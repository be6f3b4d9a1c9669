"""The annealing schedule: which power at which step, and when a restart is done."""

from dataclasses import dataclass

import numpy as np

from kernelmeans._typing import Array, BoolArray
from kernelmeans.solver.power import SQUARES, Loss

#: Growth of |s| per step, over-relaxation, and softness that is enough, of ``eta="auto"``. On real
#: data this ends below the cost of plain steps with eta = 1.04 in three quarters of their number,
#: and it hardly matters to the labels if hard steps take over a step sooner or later.
AUTO_ETA, AUTO_RELAXATION, AUTO_SOFTNESS = 1.06, 1.8, 0.01
#: |s| at which they take over in any case: coincident centroids share their samples for ever.
LARGEST_POWER = 1e4


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
    max_iter : int
        Most steps.
    tol : float
        Relative change of the objective that ends a run at constant power.
    loss : Loss
        What a squared distance costs in hard steps.
    alternates : bool
        Whether hard steps move kernel weights too, or weigh samples anew: such a run ends on
        ``tol``, not when labels no longer change.
    refills : bool
        Whether a centroid that is left without samples is put on a costly one; else it gets no
        sample again.
    """

    s0: float
    critical_power: float
    eta: float = 1.0
    anneal_every: int = 1
    relaxation: float = 1.0
    softness: float = 0.02
    max_iter: int = 1000
    tol: float = 1e-6
    loss: Loss = SQUARES
    alternates: bool = False
    refills: bool = True

    @property
    def anneals(self) -> bool:
        """Whether the power changes."""
        return self.eta > 1 and np.isfinite(self.s0)

    @property
    def _lowest(self) -> float:
        """The power at which annealing ends in any case; below the critical one."""
        return min(-LARGEST_POWER, 2 * self.critical_power, self.s0)

    def power(self, step: int) -> float:
        """Finite power of a step counted from 0 (-inf where the schedule is hard)."""
        if not self.anneals:
            return self.s0
        growth = (step // self.anneal_every) * np.log(self.eta)
        return float(self.s0 * np.exp(min(growth, np.log(self._lowest / self.s0))))

    def loss_at(self, step: int) -> Loss:
        """The loss of a step; in the first all samples weigh alike.

        A start on a sample would else hold its centroid there, where the slope is infinite.
        """
        return self.loss if step else Loss(self.loss.value, SQUARES.slope)

    def collapses(self, power: float, critical: Array) -> BoolArray:
        """Where centroids draw together at this power or only just part again."""
        return np.asarray((self.s0 > critical) & (power > 1.5 * critical))

    def hardens(self, power: float, critical: Array, softness: Array) -> BoolArray:
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
