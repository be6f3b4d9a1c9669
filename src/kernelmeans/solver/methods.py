"""Methods: how centroids move from step to step, and when a restart is done.

The driver asks a method for the state of a batch of restarts (`init`), whether restarts are done
(`done`), and to advance the state (`step`). Hard steps are the limit of soft ones for s -> -inf.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kernelmeans._dialect import option
from kernelmeans._memory import cached_property
from kernelmeans._typing import Array, BoolArray, IntArray
from kernelmeans._warnings import warn_user
from kernelmeans.solver.critical import automatic_start, coldest_start, critical_power
from kernelmeans.solver.exchange import Exchanging
from kernelmeans.solver.power import SQUARED_DISTANCE, CostFunction
from kernelmeans.solver.result import CONVERGED, RUNNING, Ending
from kernelmeans.spaces import Centroids, Space

#: Parameters of ``eta="auto"``. On real data annealing ends below the cost of plain steps with
#: eta=1.04, in three quarters of their number. Labels hardly depend on whether hard steps begin a
#: step sooner or later.
AUTO: dict[str, Any] = {"eta": 1.06, "relaxation": 1.8, "softness": 0.01}
#: The same where swap moves follow: half the steps, and the moves end as low.
QUICK = {**AUTO, "eta": 1.12, "softness": 0.02}
#: The same with several kernels: fast while the memberships stay as they are, slow while they
#: change. With other values the number of steps changes, but not the NMI.
PACED = {**AUTO, "eta": 1.17, "pace": 0.005}
#: Power at which memberships are so equal that all centroids move to the mean, and the number of
#: steps there of ``s0="auto"`` with several kernels. From near the mean the centroids part in the
#: direction that separates the samples best.
FORGETFUL, FORGETTING_STEPS = -1.0, 2
#: |s| at which hard steps take over in any case: between coincident centroids memberships are soft
#: at all powers.
LARGEST_POWER = 1e4
#: Distance of two sets of kernel weights, in total variation, at which the critical power is
#: computed again.
MOVED = 0.1
#: Number of steps before a restart may be given up, and number of further steps that it may need if
#: each lowers the cost as much as the last. Many short moves find more than a few long ones.
FAIR_TRIAL, PATIENCE = 4, 5


class Report(NamedTuple):
    """Sums over the samples in one step of all running restarts.

    Attributes
    ----------
    vectors : tuple of ndarray
        Weighted sums of feature vectors, in the form of the space.
    cluster_weight : ndarray of shape (k, R)
        The sums of their weights.
    objective : ndarray of shape (R,)
        Weighted sum of the power means, with the penalty on the kernel weights.
    softness : ndarray of shape (R,)
        1 minus the mean of the samples' largest memberships; 0 for a hard step.
    labels_hash : ndarray of shape (R,)
        Number that changes when the label of a sample with weight does; 0 for a soft step.
    """

    vectors: tuple[Array, ...]
    cluster_weight: Array
    objective: Array
    softness: Array
    labels_hash: IntArray


class State:
    """How far the running restarts of a batch have come; R counts the restarts.

    Parameters
    ----------
    method : Method
        The method.
    centroids : Centroids
        The starts.
    seeds : sequence of int
        One for each restart.

    Attributes
    ----------
    steps : int
        Steps taken.
    exchanging : Exchanging
        How far restarts have come with exchanges.
    restarts, seeds : ndarray of shape (R,)
        Their numbers in the batch, and their seeds.
    power : ndarray of shape (R,)
        The power of the next step; -inf for a hard one.
    objective, labels_hash : ndarray of shape (R,)
        Of the last step, if the next one compares with it; else infinite and 0.
    softness : ndarray of shape (R,)
        Of the last step.
    time : ndarray of shape (R,)
        Steps of annealing, less where a pace slows it down; negative while the start is forgotten.
    critical_power : ndarray of shape (R,)
        The critical power under the kernel weights `known_weights`.
    known_weights : ndarray of shape (R, L)
        Those weights, which hardly differ from the restart's present ones.
    """

    def __init__(self, method: "Method", centroids: Centroids, seeds: Sequence[int]) -> None:
        n_restarts = centroids.shape[1]
        self.steps = 0
        self.exchanging = Exchanging(method.exchanges, n_restarts)
        self.restarts = np.arange(n_restarts)
        self.seeds = np.array(seeds)
        self.power: Array = np.full(n_restarts, method.s0)
        self.objective: Array = np.full(n_restarts, np.inf)
        self.labels_hash: IntArray = np.zeros(n_restarts, np.uint64)
        self.softness: Array = np.zeros(n_restarts)
        self.time: Array = np.zeros(n_restarts)
        self.critical_power: Array = np.full(n_restarts, method.critical_power)
        self.known_weights = centroids.kernel_weights.copy()

    @property
    def hard(self) -> BoolArray:
        """Whether the next step is a hard one."""
        # Quicker than isneginf: each step needs it several times.
        return np.asarray(self.power == -np.inf)

    def keep(self, restarts: BoolArray) -> None:
        """Drop the other restarts."""
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                setattr(self, name, value[restarts])
        self.exchanging.keep(restarts)

    def settled(self, report: Report) -> tuple[BoolArray, BoolArray]:
        """Where labels are those of the step before, and where they go in circles.

        They do that with an indefinite matrix, or by rounding: the cost no longer falls.
        """
        fixed = report.labels_hash == self.labels_hash
        # The gain of exchanges shows only in the step after them.
        judged = ~self.exchanging.pending
        return fixed, judged & ~fixed & (report.objective >= self.objective)


@dataclass(frozen=True, kw_only=True)
class Method(ABC):
    """What the driver asks of a method.

    Attributes
    ----------
    max_iter : int
        Most steps.
    n_swaps : int or "auto"
        Swap moves that follow.
    """

    max_iter: int = 1000
    n_swaps: int | str = 0

    #: First power.
    s0 = -np.inf
    #: The power above which no restart ends or turns hard, if there is one.
    critical_power = -np.inf
    #: Factor on every soft step but the first.
    relaxation = 1.0
    #: Whether kernel weights move after hard steps too.
    alternates = False
    #: Whether samples are exchanged.
    exchanges = False
    #: A sample's cost in hard steps.
    cost = SQUARED_DISTANCE
    #: Whether an empty cluster gets a costly sample; else it stays empty.
    refills = True
    #: Whether hard steps end when no label changes: centroids are then the means of their clusters.
    ends_with_labels = True

    def init(self, space: Space, centroids: Centroids, seeds: Sequence[int]) -> State:
        """The state before the first step; kernel weights are adapted if the start has costs."""
        return State(self, centroids, seeds)

    def collapsing(self, state: State) -> BoolArray:
        """Where the next step draws centroids together, or begins to part them again."""
        critical = state.critical_power
        return np.asarray((self.s0 > critical) & (state.power > 1.5 * critical))

    def step_cost(self, state: State) -> CostFunction:
        """A sample's cost in the next step, if it is a hard one."""
        # A start on a sample would hold its centroid there, where the slope is infinite.
        return self.cost if state.steps else self.cost._replace(slope=None)

    @abstractmethod
    def done(self, state: State, space: Space, centroids: Centroids, report: Report) -> IntArray:
        """How the reported step has ended each restart: values of `Ending`."""

    def step(self, state: State, space: Space, centroids: Centroids, report: Report) -> None:
        """Advance the state by the reported step, which has led to these centroids."""
        state.steps += 1
        state.objective, state.labels_hash = report.objective, report.labels_hash

    def unfinished(self, power: float) -> str:
        """Why a restart that stopped at this power is not finished, and the remedy."""
        return f"hard steps still changed labels; raise {option('max_iter')}"


@dataclass(frozen=True, kw_only=True)
class Hard(Method):
    """Hard steps until no label changes: kernel k-means.

    Attributes
    ----------
    max_iter : int
        Most steps.
    n_swaps : int or "auto"
        Swap moves that follow.
    exchanges : bool
        Whether samples are exchanged, see `kernelmeans.solver.exchange`.
    bar : float
        The objective that a restart has to fall below. It is given up as soon as that is hardly
        possible, without labels and at infinite cost.
    """

    exchanges: bool = False
    bar: float = np.inf

    def done(self, state: State, space: Space, centroids: Centroids, report: Report) -> IntArray:
        now = report.objective
        fixed, circles = state.settled(report)
        hopeless = np.zeros(len(now), bool)
        if state.steps >= FAIR_TRIAL and np.isfinite(self.bar):
            # `PATIENCE` more steps like the last one would leave these restarts above the bar.
            hopeless = now - PATIENCE * (state.objective - now) > self.bar
            hopeless &= ~state.exchanging.pending
        finished = fixed | circles
        if self.exchanges:
            ended = finished & ~hopeless
            order = report.cluster_weight, now, ended, circles, self.bar
            state.exchanging.go_on(space, centroids, *order)
            finished &= ~state.exchanging.pending
        lost = hopeless | (finished & (now > self.bar))
        return np.where(lost, Ending.GIVEN_UP, _converged(finished))


@dataclass(frozen=True, kw_only=True)
class Constant(Method):
    """Steps at one power until the objective no longer falls.

    Attributes
    ----------
    max_iter : int
        Most steps.
    n_swaps : int or "auto"
        Swap moves that follow.
    s0 : float
        The power; -inf for hard steps.
    critical_power : float
        The critical power, if centroids at ``s0`` may collapse.
    tol : float
        Relative change of the objective that ends a restart.
    """

    s0: float = -np.inf
    critical_power: float = -np.inf
    tol: float = 1e-6

    def done(self, state: State, space: Space, centroids: Centroids, report: Report) -> IntArray:
        return _converged(state.objective - report.objective <= self.tol * report.objective)

    def unfinished(self, power: float) -> str:
        return (
            f"the objective still fell by more than {option('tol', self.tol)} a step; "
            f"raise {option('max_iter')} or {option('tol')}"
        )


@dataclass(frozen=True, kw_only=True)
class Alternating(Constant):
    """Hard steps in turns with kernel weights, or with weights of the samples.

    Attributes
    ----------
    max_iter : int
        Most steps.
    n_swaps : int or "auto"
        Swap moves that follow.
    s0 : float
        The power; -inf for hard steps.
    critical_power : float
        The critical power, if centroids at ``s0`` may collapse.
    tol : float
        Relative change of the objective that ends a restart.
    cost : CostFunction
        A sample's cost.
    refills : bool
        Whether empty clusters are filled again.
    """

    cost: CostFunction = SQUARED_DISTANCE
    refills: bool = True
    alternates = True
    ends_with_labels = False

    def init(self, space: Space, centroids: Centroids, seeds: Sequence[int]) -> State:
        if centroids.costs is not None and self.cost.slope is None:
            # A start from weights comes with its costs in each kernel (of squared distances).
            space.adapt(centroids, np.ones(centroids.shape[1], bool))
        return super().init(space, centroids, seeds)

    def step(self, state: State, space: Space, centroids: Centroids, report: Report) -> None:
        super().step(state, space, centroids, report)
        if state.steps == 1 and self.cost.slope is not None:
            # The first step weights samples otherwise, so that the second may cost more.
            state.objective = np.full_like(report.objective, np.inf)


@dataclass(frozen=True, kw_only=True)
class Annealed(Method):
    """Soft steps at powers that fall from ``s0`` on, then hard steps until no label changes.

    Attributes
    ----------
    max_iter : int
        Most steps.
    n_swaps : int or "auto"
        Swap moves that follow.
    s0 : float
        First power, negative and finite.
    critical_power : float
        No restart turns hard above it, or above the critical power of its present kernel weights.
    eta : float
        Factor on the power, above 1.
    anneal_every : int
        Steps between two such factors.
    relaxation : float
        Factor on every soft step but the first, between 1 (the plain step) and 2. Up to 2 the
        objective cannot rise: its surrogate is a parabola about the plain step.
    softness : float
        Softness below which hard steps take over.
    pace : float
        Change of the softness in a step that halves the growth of |s|; infinite for steady growth.
    forgets : int
        Number of first steps, at `FORGETFUL`, that all but forget the start.
    alternates : bool
        Whether hard steps move kernel weights too; else these would be those of the last soft
        steps, not of the labels.
    subsamples : bool
        Whether subsamples may be annealed first, where samples are many: not if the user gives
        ``s0``.
    """

    s0: float = -1.0
    critical_power: float = -np.inf
    eta: float
    anneal_every: int = 1
    relaxation: float = 1.0
    softness: float = 0.02
    pace: float = np.inf
    forgets: int = 0
    alternates: bool = False
    subsamples: bool = False

    @cached_property
    def _lowest(self) -> float:
        """The power at which annealing ends in any case; below the critical one."""
        return min(-LARGEST_POWER, 2 * self.critical_power, self.s0)

    @cached_property
    def _growths(self) -> tuple[float, float]:
        """Logarithms of the factors on the first power in one turn, and in all."""
        return np.log(self.eta), np.log(self._lowest / self.s0)

    def power_at(self, time: Array) -> Array:
        """Powers after so many steps of annealing."""
        turns = time if self.anneal_every == 1 else np.floor(time / self.anneal_every)
        a_turn, whole = self._growths
        growth = np.minimum(turns * a_turn, whole)
        powers: Array = self.s0 * np.exp(growth)
        return np.where(time < 0, max(self.s0, FORGETFUL), powers) if self.forgets else powers

    def hardens(self, power: Array, critical: Array, softness: Array) -> BoolArray:
        """Which restarts have been annealed enough to go on in hard steps."""
        if self.critical_power == -np.inf:
            # The data do not vary: there is nothing to anneal.
            return np.ones(softness.shape, bool)
        spent = power <= self._lowest * (1 - 1e-9)
        return np.asarray((power <= critical) & ((softness < self.softness) | spent))

    def init(self, space: Space, centroids: Centroids, seeds: Sequence[int]) -> State:
        state = super().init(space, centroids, seeds)
        state.time -= self.forgets
        state.power = self.power_at(state.time)
        return state

    def done(self, state: State, space: Space, centroids: Centroids, report: Report) -> IntArray:
        ended = state.hard
        if ended.any():
            fixed, circles = state.settled(report)
            ended &= fixed | circles
        return _converged(ended)

    def step(self, state: State, space: Space, centroids: Centroids, report: Report) -> None:
        super().step(state, space, centroids, report)
        if self.pace == np.inf:
            state.time = state.time + 1
        else:
            # The more the softness of a restart has changed, the less its power changes.
            change = np.abs(report.softness - state.softness)
            state.time = state.time + np.where(state.time < 0, 1, 1 / (1 + change / self.pace))
        state.softness = report.softness
        hard = state.hard
        if hard.all():
            return
        ready = ~hard & self.hardens(state.power, state.critical_power, report.softness)
        if ready.any():
            _update_critical_power(state, space, centroids.kernel_weights, ready)
            ready &= self.hardens(state.power, state.critical_power, report.softness)
            # The cost of a hard step does not compare with the objective of a soft one.
            state.objective = np.where(ready, np.inf, state.objective)
        state.power = np.where(hard | ready, -np.inf, self.power_at(state.time))

    def unfinished(self, power: float) -> str:
        if np.isneginf(power):
            return super().unfinished(power)
        return (
            f"it was still annealed, at the power {power:.4g}; raise {option('max_iter')}, or "
            f"anneal faster (larger {option('eta')}, smaller {option('anneal_every')})"
        )


def _converged(which: BoolArray) -> IntArray:
    return np.where(which, CONVERGED, RUNNING)


def _update_critical_power(
    state: State, space: Space, kernel_weights: Array, which: BoolArray
) -> None:
    """Compute the critical power of some restarts again where kernel weights have moved."""
    moved = np.abs(kernel_weights - state.known_weights).sum(axis=1) / 2 > MOVED
    for r in np.flatnonzero(moved & which & np.isfinite(state.critical_power)).tolist():
        reweighted = space.subsample.reweighted(kernel_weights[r])
        state.critical_power[r] = critical_power(reweighted, int(state.seeds[r]))
        state.known_weights[r] = kernel_weights[r]


def hard(space: Space, *, n_swaps: int | str, max_iter: int) -> Hard:
    """Kernel k-means, and swap moves if they are wanted."""
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
    """Power k-means, its powers settled from the samples.

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
        Annealing, or steps at one power if ``eta=1``; with ``s0="auto"`` hard steps where the
        samples do not vary.
    """
    # Always the same Lanczos start vector: powers should depend on the data alone.
    critical = critical_power(space.subsample)
    forgets = forgets and s0 == "auto"
    if s0 != "auto":
        first = float(s0)
    elif eta == 1 or forgets:
        # At a constant power centroids must part; a start that is forgotten need not be warm.
        first = coldest_start(critical)
    else:
        first = automatic_start(space.subsample, n_clusters, critical)
    swaps = _swaps(n_swaps, space)
    if np.isinf(first):
        if alternates:
            return Alternating(max_iter=max_iter, n_swaps=swaps, tol=tol)
        return Hard(max_iter=max_iter, n_swaps=swaps)
    if eta == 1:
        if first > critical > -np.inf:
            warn_user(
                f"{option('s0', s0)} with {option('eta', 1)} stays above the critical "
                f"power {critical:.3g} of these data: the centroids collapse onto the mean. Use "
                f"{option('s0', 'auto')}, a lower {option('s0')}, or {option('eta')} > 1.",
            )
        # Swap moves lower the cost, which is not the objective of a constant power.
        swaps = 0 if n_swaps == "auto" else n_swaps
        return Constant(
            max_iter=max_iter, n_swaps=swaps, s0=first, critical_power=critical, tol=tol
        )
    if eta != "auto":
        growth = {"eta": float(eta)}
    elif alternates:
        growth = PACED
    else:
        growth = AUTO if swaps == 0 else QUICK
    return Annealed(
        max_iter=max_iter,
        n_swaps=swaps,
        s0=first,
        critical_power=critical,
        anneal_every=anneal_every,
        forgets=FORGETTING_STEPS if forgets else 0,
        alternates=alternates,
        subsamples=s0 == "auto",
        **growth,
    )


def _swaps(n_swaps: int | str, space: Space) -> int | str:
    """Swap moves: ``"auto"`` means none on so many samples that subsamples are annealed first."""
    many = space.subsample_size < space.n_samples
    return 0 if n_swaps == "auto" and many else n_swaps
