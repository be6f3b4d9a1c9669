"""Parameters that estimators share: what is allowed, and what becomes of them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, cast

import numpy as np

from kernelmeans._devices import HOST, Device
from kernelmeans._sklearn import Interval, StrOptions
from kernelmeans._typing import Array, Data
from kernelmeans._warnings import warn_user
from kernelmeans.estimators.checks import (
    check_distances,
    check_edges,
    check_gram,
    check_graph,
)
from kernelmeans.estimators.diagonal import TrainingDiagonal
from kernelmeans.estimators.plan import APPROXIMATION, Holder, plan
from kernelmeans.estimators.shell import KernelClusterer
from kernelmeans.heat import GraphKernel
from kernelmeans.kernels import PARAMETERS, Kernel, resolve_kernel
from kernelmeans.rows import Rows
from kernelmeans.solver import (
    Schedule,
    automatic_start,
    coldest_start,
    critical_power,
    warn_unless_positive,
)
from kernelmeans.solver.power import SQUARES, Loss
from kernelmeans.solver.schedule import (
    AUTO_ETA,
    AUTO_RELAXATION,
    AUTO_SOFTNESS,
    QUICK_ETA,
    QUICK_SOFTNESS,
)
from kernelmeans.spaces import FeatureSpace, Space

COMMON: dict[str, Any] = {
    "n_clusters": [Interval(Integral, 1, None, closed="left")],
    "init": [StrOptions({"k-means++", "random"}), callable, "array-like"],
    "n_init": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
    "n_swaps": [StrOptions({"auto"}), Interval(Integral, 0, None, closed="left")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "memory_budget": [Interval(Real, 0, None, closed="neither"), str, None],
    "random_state": ["random_state"],
}
DEVICE: dict[str, Any] = {"device": [str, None]}
#: Of estimators that have neither annealing nor swap moves, and end on ``tol``.
ALTERNATING: dict[str, Any] = {
    **{name: allowed for name, allowed in COMMON.items() if name != "n_swaps"},
    "tol": [Interval(Real, 0, None, closed="left")],
}
KERNEL: dict[str, Any] = {
    "kernel": [StrOptions(set(PARAMETERS)), callable],
    "gamma": [
        StrOptions({"rms", "median", "scale"}),
        Interval(Real, 0, None, closed="neither"),
    ],
    "degree": [Interval(Real, 0, None, closed="left")],
    "coef0": [Interval(Real, None, None, closed="neither")],
    "kernel_params": [dict, None],
    "n_neighbors": [StrOptions({"auto"}), Interval(Integral, 2, None, closed="left")],
    "t": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
    "metric": [StrOptions({"euclidean", "cosine", "precomputed"})],
    "cache_kernel": ["boolean"],
    **APPROXIMATION,
}
ANNEALING: dict[str, Any] = {
    "s0": [StrOptions({"auto"}), Interval(Real, None, 0, closed="neither")],
    "eta": [StrOptions({"auto"}), Interval(Real, 1, None, closed="left")],
    "anneal_every": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left")],
}


class OneKernel(KernelClusterer):
    """Estimators in the space of a single kernel."""

    def _space(self, kernel: Kernel, X: Data, holder: Holder) -> Space:
        plans = plan([kernel], [X], self._wish(), holder.budget, holder.device)
        self.approximation_, self.approximation_reason_ = plans[0].method, plans[0].reason
        (space,) = holder.hold(plans)
        if not (kernel.surely_positive or isinstance(space, FeatureSpace)):
            warn_unless_positive(space, holder.seed, kernel.name)
        return space

    def _squared_lengths(self, X: Data, given: Any = None, device: Device = HOST) -> Array:
        return cast(Kernel, self.kernel_).diagonal(X, device)


class WithKernel(OneKernel):
    """Estimators with the kernel parameters of scikit-learn."""

    kernel: str | Callable[..., Any]
    gamma: str | float
    degree: float
    coef0: float
    kernel_params: Mapping[str, Any] | None
    n_neighbors: int | str = "auto"
    t: float | str = "auto"
    metric: str = "euclidean"

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    @property
    def _graph_given(self) -> bool:
        """Whether X is to hold a graph."""
        if not isinstance(self.kernel, str):
            return False
        return self.kernel == "graph" or (self.kernel == "heat" and self.metric == "precomputed")

    @property
    def _pairwise(self) -> bool:
        return self._precomputed or self._graph_given

    def _check_pairs(self, X: Data) -> None:
        if self._precomputed:
            check_gram(X)
        elif self.kernel == "graph":
            check_graph(X)
        else:
            check_distances(X)

    def _validated(self, X: Any, reset: bool) -> Data:
        rows = super()._validated(X, reset)
        # Parameters may have been set since the fit.
        kernel = None if reset else self.kernel_
        if isinstance(kernel, GraphKernel) and not isinstance(rows, Rows):
            check_edges(rows, kernel.called)
            kernel.check_connected(rows)
        return rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = self._graph_given
        return tags

    def _remember(self, X: Data) -> None:
        self._training_diagonal = TrainingDiagonal(X) if self._precomputed else None

    def _squared_lengths(self, X: Data, given: Any = None, device: Device = HOST) -> Array:
        if self._training_diagonal is None:
            return super()._squared_lengths(X, device=device)
        return self._training_diagonal.of(X, given)

    def _training_squared_lengths(self, X: Data, device: Device) -> Array:
        return cast(Kernel, self.kernel_).diagonal(X, device)

    @property
    def gamma_(self) -> float | None:
        """Width used, where the kernel has one."""
        gamma: float | None = self.kernel_.parameters.get("gamma")
        return gamma

    @property
    def n_neighbors_(self) -> int | None:
        """Neighbours of a row, itself included, where the kernel has them."""
        n_neighbors: int | None = self.kernel_.parameters.get("n_neighbors")
        return n_neighbors

    @property
    def t_(self) -> float | None:
        """Time of the heat kernel, where it is one."""
        t: float | None = self.kernel_.parameters.get("t")
        return t

    @property
    def eigenvalues_(self) -> Array | None:
        """Eigenvalues of the graph of a heat kernel, where it is one."""
        return getattr(self.kernel_, "eigenvalues", None)

    @property
    def n_pieces_(self) -> int | None:
        """Connected components of the graph of a heat kernel, where it is one."""
        return getattr(self.kernel_, "n_pieces", None)

    def _resolve_kernel(self, X: Data, weight: Array, seed: int) -> Kernel:
        return resolve_kernel(
            self.kernel,
            X,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            kernel_params=self.kernel_params,
            n_neighbors=self.n_neighbors,
            t=self.t,
            metric=self.metric,
            random_state=seed,
            sample_weight=weight,
        )


class Annealed(KernelClusterer):
    """Estimators with the annealing parameters."""

    s0: str | float
    eta: str | float
    anneal_every: int
    tol: float

    @property
    def _rehearses(self) -> bool:
        return bool(self.s0 == "auto")

    def _schedule(self, space: Space, seed: int) -> Schedule:
        # From one start vector always: powers should depend on the data alone.
        critical = critical_power(space.sample)
        automatic = self.eta == "auto"
        schedule = Schedule(
            s0=self._first_power(space, critical),
            critical_power=critical,
            eta=AUTO_ETA if automatic else float(self.eta),
            anneal_every=self.anneal_every,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        if automatic:
            schedule = replace(schedule, relaxation=AUTO_RELAXATION, softness=AUTO_SOFTNESS)
            if self._swaps(space, schedule):
                schedule = replace(schedule, eta=QUICK_ETA, softness=QUICK_SOFTNESS)
        if not schedule.anneals and schedule.s0 > critical > -np.inf:
            warn_user(
                f"s0={schedule.s0:g} with eta=1 stays above the critical power "
                f"{critical:.3g} of these data: the centroids collapse onto the mean. "
                "Use s0='auto', a lower s0, or eta > 1.",
            )
        return schedule

    def _first_power(self, space: Space, critical: float) -> float:
        if self.s0 != "auto":
            return float(self.s0)
        # A power that stays must be one at which centroids part.
        if self.eta == 1:
            return coldest_start(critical)
        return automatic_start(space.sample, self.n_clusters, critical)

    def _set_fitted(
        self, X: Data, weight: Array, floor: float, schedule: Schedule, *outcome: Any
    ) -> None:
        super()._set_fitted(X, weight, floor, schedule, *outcome)
        self.critical_power_ = schedule.critical_power


class Alternating(KernelClusterer):
    """Estimators whose hard steps also move kernel weights, or weigh the samples anew."""

    tol: float
    _loss: ClassVar[Loss] = SQUARES
    _refills: ClassVar[bool] = True

    def _schedule(self, space: Space, seed: int) -> Schedule:
        return Schedule(
            s0=-np.inf,
            critical_power=-np.inf,
            max_iter=self.max_iter,
            tol=self.tol,
            loss=self._loss,
            alternates=True,
            refills=self._refills,
        )
