"""Methods: how centroids move from step to step, and when a run is done.

The driver asks a method for the state of a batch (`init`), whether restarts are done (`done`), and
lets the state go on (`step`). Hard steps are the limit of annealed ones for s -> -inf.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from kernelmeans._typing import Array, BoolArray, IntArray
from kernelmeans._warnings import warn_user
from kernelmeans.solver.critical import (
    CriticalPowers,
    automatic_start,
    coldest_start,
    critical_power,
)
from kernelmeans.solver.exchange import Exchanging
from kernelmeans.solver.power import SQUARES, Loss
from kernelmeans.solver.result import Ending
from kernelmeans.spaces import Centroids, Space

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


class Report(NamedTuple):
    """Sums over the samples in one step of all running restarts.

    Attributes
    ----------
    total : tuple of ndarray
        Weighted sums of feature vectors, in the form of the space.
    mass : ndarray of shape (k, R)
        Their total weights.
    objective, softness : ndarray of shape (R,)
        Weighted sum of the power means, with the penalty of the kernel weights, and mean share of
        the weights that is not the nearest's.
    fingerprint : ndarray of shape (R,)
        Number that changes when the label of a sample with weight does; 0 where weights are soft.
    """

    total: tuple[Array, ...]
    mass: Array
    objective: Array
    softness: Array
    fingerprint: IntArray


class State:
    """Where the running restarts of a method are; arrays of shape (R,).

    Parameters
    ----------
    n_restarts : int
        Restarts.
    hard : bool
        Whether steps are hard ones from the first on.

    Attributes
    ----------
    steps : int
        Steps taken.
    hard, was_hard : ndarray
        Whether the next step is a hard one, and whether the last one was.
    objective, fingerprint : ndarray
        Those of the last step; infinite and 0 before the first.
    exchanging : Exchanging
        How far they have come with exchanges of samples.
    """

    def __init__(self, n_restarts: int, hard: bool = True) -> None:
        self.steps = 0
        self.hard: BoolArray = np.full(n_restarts, hard)
        self.was_hard: BoolArray = np.zeros(n_restarts, bool)
        self.objective: Array = np.full(n_restarts, np.inf)
        self.fingerprint: IntArray = np.zeros(n_restarts, np.uint64)
        self.exchanging = Exchanging(False, (1, n_restarts))

    def keep(self, restarts: BoolArray) -> None:
        """Drop the other restarts."""
        self.hard, self.was_hard = self.hard[restarts], self.was_hard[restarts]
        self.objective, self.fingerprint = self.objective[restarts], self.fingerprint[restarts]
        self.exchanging.keep(restarts)

    def settled(self, report: Report) -> tuple[BoolArray, BoolArray]:
        """Where labels are those of the step before, and where they go in circles.

        That is so with an indefinite matrix, or by rounding: the cost falls no more.
        """
        fixed = report.fingerprint == self.fingerprint
        # What exchanges save shows only in the step after theirs.
        judged = self.was_hard & ~self.exchanging.pending
        return fixed, judged & ~fixed & (report.objective >= self.objective)


@dataclass(frozen=True, kw_only=True)
class Method:
    """What the driver asks of a method; by itself hard steps that end when labels stay.

    Attributes
    ----------
    max_iter : int
        Most steps.
    n_swaps : int or "auto"
        Swap moves that are to follow.
    """

    max_iter: int = 1000
    n_swaps: int | str = 0

    #: What a squared distance costs in hard steps.
    loss: ClassVar[Loss] = SQUARES
    #: Whether a centroid that is left without samples is put on a costly one; else it gets no
    #: sample again.
    refills: ClassVar[bool] = True
    #: Whether hard steps end when no label changes: centroids are then the means of their clusters.
    ends_with_labels: ClassVar[bool] = True
    #: Whether the power changes.
    anneals: ClassVar[bool] = False
    #: The power above which no run ends or turns hard, if there is one.
    critical_power: ClassVar[float] = -np.inf

    def init(self, space: Space, centroids: Centroids) -> State:
        """The state before the first step; centroids get kernel weights, if these can be told."""
        return State(centroids.shape[1])

    def power(self, state: State) -> Array:
        """The power of the next step of each restart; -inf where it is hard."""
        return np.full(len(state.hard), -np.inf)

    def loss_of(self, state: State) -> Loss:
        """What a squared distance costs in the next step, where it is hard."""
        return self.loss

    def collapsing(self, state: State) -> BoolArray:
        """Where centroids draw together in the next step, or only just part again."""
        return np.zeros(len(state.hard), bool)

    def factor(self, state: State) -> Array:
        """How far centroids go, 1 being the plain step."""
        return np.ones(len(state.hard))

    def moves_weights(self, state: State) -> BoolArray:
        """Where kernel weights follow the next step."""
        return ~state.hard

    def done(self, state: State, space: Space, centroids: Centroids, report: Report) -> IntArray:
        """How each restart has ended, or that it goes on, by the step that is reported."""
        fixed, circles = state.settled(report)
        return np.where(fixed | circles, Ending.CONVERGED, Ending.RUNNING)

    def step(
        self,
        state: State,
        space: Space,
        centroids: Centroids,
        report: Report,
        seeds: Sequence[int],
    ) -> None:
        """Let the state go on by the step that is reported, which has led to these centroids."""
        state.steps += 1
        state.was_hard = state.hard
        state.objective, state.fingerprint = report.objective, report.fingerprint

    def unfinished(self, power: float) -> str:
        """What a run that stopped at this power had still to do, and how to let it."""
        return "hard steps still changed labels; raise max_iter"


@dataclass(frozen=True, kw_only=True)
class Hard(Method):
    """Hard steps from the start: kernel k-means.

    Attributes
    ----------
    exchanges : bool
        Whether samples are exchanged, see `kernelmeans.solver.exchange`.
    bar : float
        The objective that a run has to come below; it is given up as soon as it hardly can, without
        labels and at infinite cost.
    """

    exchanges: bool = False
    bar: float = np.inf

    def init(self, space: Space, centroids: Centroids) -> State:
        state = super().init(space, centroids)
        state.exchanging = Exchanging(self.exchanges, centroids.shape)
        return state

    def done(self, state: State, space: Space, centroids: Centroids, report: Report) -> IntArray:
        now = report.objective
        fixed, circles = state.settled(report)
        hopeless = np.zeros(len(now), bool)
        if state.steps >= FAIR_TRIAL and np.isfinite(self.bar):
            # They would stay above the bar if they fell as now for a long while.
            hopeless = now - PATIENCE * (state.objective - now) > self.bar
            hopeless &= ~state.exchanging.pending
        finished = fixed | circles
        if self.exchanges:
            ended = finished & ~hopeless
            order = report.mass, now, ended, circles, self.bar
            state.exchanging.go_on(space, centroids, *order)
            finished &= ~state.exchanging.pending
        lost = hopeless | (finished & (now > self.bar))
        endings = np.where(finished, Ending.CONVERGED, Ending.RUNNING)
        return np.where(lost, Ending.GIVEN_UP, endings)


@dataclass(frozen=True, kw_only=True)
class Alternating(Method):
    """Hard steps in turns with kernel weights, or with weights of the samples.

    Attributes
    ----------
    tol : float
        Relative change of the objective that ends a run.
    loss : Loss
        What a squared distance costs.
    refills : bool
        Whether empty clusters are filled again.
    """

    tol: float = 1e-6
    loss: Loss = SQUARES  # type: ignore[misc]
    refills: bool = True  # type: ignore[misc]
    ends_with_labels = False

    def init(self, space: Space, centroids: Centroids) -> State:
        if centroids.costs is not None and not self.loss.weighs:
            # A start from weights has told what each kernel costs (by squares).
            space.adapt(centroids, np.ones(centroids.shape[1], bool))
        return super().init(space, centroids)

    def loss_of(self, state: State) -> Loss:
        # A start on a sample would hold its centroid there, where the slope is infinite.
        return self.loss if state.steps else self.loss.unweighted

    def moves_weights(self, state: State) -> BoolArray:
        return np.ones(len(state.hard), bool)

    def done(self, state: State, space: Space, centroids: Centroids, report: Report) -> IntArray:
        return _by_tolerance(state, report, self.tol)

    def step(
        self,
        state: State,
        space: Space,
        centroids: Centroids,
        report: Report,
        seeds: Sequence[int],
    ) -> None:
        # A first step that weighs samples otherwise than later ones may raise the objective.
        judged = state.steps > 0 or not self.loss.weighs
        before = state.objective
        super().step(state, space, centroids, report, seeds)
        state.objective = report.objective if judged else before

    def unfinished(self, power: float) -> str:
        return _fell_by_more_than(self.tol)


class AnnealedState(State):
    """Also how far each running restart has been annealed; arrays of shape (R,).

    Attributes
    ----------
    time : ndarray
        Steps, or fewer if they have a pace; negative while the start is forgotten.
    power : ndarray
        The power of the next step, where it is a soft one.
    softness : ndarray
        Mean share of the weights that was not the nearest centroid's in the last step.
    critical : CriticalPowers
        The critical power, under the restart's own kernel weights.
    """

    def __init__(self, centroids: Centroids, time: float, critical_power: float) -> None:
        n_restarts = centroids.shape[1]
        super().__init__(n_restarts, hard=False)
        self.time: Array = np.full(n_restarts, time)
        self.power: Array = np.full(n_restarts, -np.inf)
        self.softness: Array = np.zeros(n_restarts)
        self.critical = CriticalPowers(critical_power, centroids.kernel_weights)

    def keep(self, restarts: BoolArray) -> None:
        super().keep(restarts)
        self.time, self.power = self.time[restarts], self.power[restarts]
        self.softness = self.softness[restarts]
        self.critical.keep(restarts)


@dataclass(frozen=True, kw_only=True)
class Annealed(Method):
    """Steps at powers that fall from ``s0`` on, until hard ones take over.

    Attributes
    ----------
    s0 : float
        First power, negative and finite.
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
    tol : float
        Relative change of the objective that ends a run at constant power.
    alternates : bool
        Whether hard steps move kernel weights too: else these would be those of the last soft
        steps, not of the labels.
    rehearsed : bool
        Whether many samples may be annealed on subsamples first: not if the powers are the user's.
    """

    s0: float = -1.0
    critical_power: float = -np.inf  # type: ignore[misc]
    eta: float = 1.0
    anneal_every: int = 1
    relaxation: float = 1.0
    softness: float = 0.02
    pace: float = np.inf
    forgets: int = 0
    tol: float = 1e-6
    alternates: bool = False
    rehearsed: bool = False

    @property
    def anneals(self) -> bool:  # type: ignore[override]
        return self.eta > 1

    @property
    def ends_with_labels(self) -> bool:  # type: ignore[override]
        return self.anneals or not self.alternates

    @property
    def _lowest(self) -> float:
        """The power at which annealing ends in any case; below the critical one."""
        return min(-LARGEST_POWER, 2 * self.critical_power, self.s0)

    def finite_power(self, time: Array) -> Array:
        """Powers after so many steps of growth."""
        if not self.anneals:
            return np.full(np.shape(time), self.s0)
        turns = time if self.anneal_every == 1 else np.floor(time / self.anneal_every)
        growth = np.minimum(turns * np.log(self.eta), np.log(self._lowest / self.s0))
        return np.where(time < 0, max(self.s0, FORGETFUL), self.s0 * np.exp(growth))

    def hardens(self, power: Array, critical: Array, softness: Array) -> BoolArray:
        """Which restarts have been annealed enough to go on in hard steps."""
        if not self.anneals:
            return np.zeros(softness.shape, bool)
        if np.isneginf(self.critical_power):
            # The data do not vary: there is nothing to anneal.
            return np.ones(softness.shape, bool)
        spent = power <= self._lowest * (1 - 1e-9)
        return np.asarray((power <= critical) & ((softness < self.softness) | spent))

    def init(self, space: Space, centroids: Centroids) -> AnnealedState:
        state = AnnealedState(centroids, float(-self.forgets), self.critical_power)
        state.power = self.finite_power(state.time)
        return state

    def power(self, state: State) -> Array:
        assert isinstance(state, AnnealedState)
        return np.where(state.hard, -np.inf, state.power)

    def collapsing(self, state: State) -> BoolArray:
        assert isinstance(state, AnnealedState)
        critical = state.critical.values
        warm = state.power > 1.5 * critical
        return np.asarray((self.s0 > critical) & warm)

    def factor(self, state: State) -> Array:
        return np.where(state.hard | (state.steps == 0), 1.0, self.relaxation)

    def moves_weights(self, state: State) -> BoolArray:
        return ~state.hard | self.alternates

    def done(self, state: State, space: Space, centroids: Centroids, report: Report) -> IntArray:
        if not self.anneals:
            return _by_tolerance(state, report, self.tol)
        endings = super().done(state, space, centroids, report)
        return np.where(state.hard, endings, Ending.RUNNING)

    def step(
        self,
        state: State,
        space: Space,
        centroids: Centroids,
        report: Report,
        seeds: Sequence[int],
    ) -> None:
        assert isinstance(state, AnnealedState)
        super().step(state, space, centroids, report, seeds)
        # The more its softness differs from that of the last step, the less a restart goes on.
        change = np.abs(report.softness - state.softness)
        state.time = state.time + np.where(state.time < 0, 1, 1 / (1 + change / self.pace))
        state.softness = report.softness
        ready = ~state.hard & self.hardens(state.power, state.critical.values, report.softness)
        if ready.any():
            state.critical.follow(space, centroids.kernel_weights, ready, seeds)
            ready &= self.hardens(state.power, state.critical.values, report.softness)
        state.hard = state.hard | ready
        state.power = self.finite_power(state.time)

    def unfinished(self, power: float) -> str:
        if not self.anneals:
            return _fell_by_more_than(self.tol)
        if np.isneginf(power):
            return super().unfinished(power)
        return (
            f"it was still annealed, at the power {power:.4g}; raise max_iter, or anneal "
            "faster (larger eta, smaller anneal_every)"
        )


def _by_tolerance(state: State, report: Report, tol: float) -> IntArray:
    """Which restarts at a constant power no longer improve."""
    settled = state.objective - report.objective <= tol * report.objective
    return np.where(settled, Ending.CONVERGED, Ending.RUNNING)


def _fell_by_more_than(tol: float) -> str:
    return f"the objective still fell by more than tol={tol:g} a step; raise max_iter or tol"


def hard(space: Space, *, n_swaps: int | str, max_iter: int) -> Hard:
    """Kernel k-means, with swap moves where they are asked for or pay."""
    return Hard(max_iter=max_iter, n_swaps=_swaps(n_swaps, space))


def annealed(
    space: Space,
    n_clusters: int,
    *,
    s0: str | float,
    eta: str | float,
    anneal_every: int,
    max_iter: int,
    tol: float,
    n_swaps: int | str,
    forgets: bool = False,
    alternates: bool = False,
) -> Method:
    """An annealed run, its powers settled from the samples.

    Parameters
    ----------
    space : Space
        The samples.
    n_clusters : int
        Number of centroids.
    s0, eta, anneal_every, max_iter, tol, n_swaps
        As the estimators take them.
    forgets : bool, default=False
        Whether ``s0="auto"`` begins with steps that all but forget the start.
    alternates : bool, default=False
        Whether there are kernel weights, which move with the centroids.

    Returns
    -------
    Method
        What to run: with ``s0="auto"`` hard steps where the samples do not vary.
    """
    # From one start vector always: powers should depend on the data alone.
    critical = critical_power(space.sample)
    forgets = forgets and s0 == "auto"
    if s0 != "auto":
        first = float(s0)
    elif eta == 1 or forgets:
        # A power that stays must be one at which centroids part; a start that is forgotten need
        # not be a warm one.
        first = coldest_start(critical)
    else:
        first = automatic_start(space.sample, n_clusters, critical)
    if np.isinf(first):
        n_swaps = _swaps(n_swaps, space)
        if alternates:
            return Alternating(max_iter=max_iter, n_swaps=n_swaps, tol=tol)
        return Hard(max_iter=max_iter, n_swaps=n_swaps)
    method = Annealed(
        max_iter=max_iter,
        n_swaps=0 if n_swaps == "auto" and eta == 1 else _swaps(n_swaps, space),
        s0=first,
        critical_power=critical,
        eta=AUTO_ETA if eta == "auto" else float(eta),
        anneal_every=anneal_every,
        tol=tol,
        alternates=alternates,
        rehearsed=s0 == "auto",
    )
    if forgets and method.anneals:
        method = replace(method, forgets=FORGETTING_STEPS)
    if eta == "auto":
        method = replace(method, relaxation=AUTO_RELAXATION, softness=AUTO_SOFTNESS)
        if alternates:
            method = replace(method, eta=PACED_ETA, pace=PACE)
        elif method.n_swaps != 0:
            method = replace(method, eta=QUICK_ETA, softness=QUICK_SOFTNESS)
    if not method.anneals and first > critical > -np.inf:
        warn_user(
            f"s0={first:g} with eta=1 stays above the critical power "
            f"{critical:.3g} of these data: the centroids collapse onto the mean. "
            "Use s0='auto', a lower s0, or eta > 1.",
        )
    return method


def _swaps(n_swaps: int | str, space: Space) -> int | str:
    """Swap moves: by default none on so many rows that they have been tried on subsamples.

    Nor are there any by default at a constant power, whose objective is another one.
    """
    few = space.sample_rows == space.n_samples
    return 0 if n_swaps == "auto" and not few else n_swaps
