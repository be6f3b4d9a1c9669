"""What the estimators share: from checked input through space and solver to fitted attributes."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from kernelmeans._devices import HOST, Device, answer, hosted
from kernelmeans._sklearn import CallbackSupportMixin, _fit_context, with_callbacks
from kernelmeans._typing import Array, Data
from kernelmeans._warnings import warn_user
from kernelmeans.engines import Threads
from kernelmeans.estimators.callbacks import Reporter
from kernelmeans.estimators.checks import (
    all_or_nothing,
    check_result,
    check_weights,
    refused_later,
    warn_if_far,
)
from kernelmeans.estimators.lazy import by_blocks, loaded, refuse_dask
from kernelmeans.estimators.plan import Holder, Wish
from kernelmeans.estimators.predicting import Predicting, total_cost
from kernelmeans.estimators.starts import Starts
from kernelmeans.rows import Rows
from kernelmeans.rows.dask import DaskRows, computed
from kernelmeans.solver import (
    Result,
    Schedule,
    can_rehearse,
    cost_rounding,
    partition_cost,
    rehearse,
    shares,
    solve,
    swap_moves,
)
from kernelmeans.spaces import Predictor, Space

#: Most bytes of restarts that run together: more gain no time.
BATCH_BYTES = 2**30
#: Share of the memory budget that the memberships may take to be kept.
MEMBERSHIPS_SHARE = 0.25


#: What is in the input's own library.
_ANSWERS = ("labels_", "memberships_")


class KernelClusterer(CallbackSupportMixin, Predicting):
    """The shared shell; `fit` reads: validate, build a space, solve, label with predict's code."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {}
    init: Any
    n_init: Any
    n_swaps: int | str = 0
    max_iter: int
    cache_kernel: bool
    random_state: Any
    labels_: Any
    memberships_: Any
    inertia_: float

    def _resolve_kernel(self, X: Data, weight: Array, seed: int) -> Any:
        """Settle the kernel from the data, a `Kernel` or several of them."""
        raise NotImplementedError

    def _space(self, kernel: Any, X: Data, holder: Holder) -> Space:
        raise NotImplementedError

    def _wish(self) -> Wish:
        """How kernels are to be held."""
        given = self.get_params(deep=False)
        names = "approximation", "n_components", "cache_kernel"
        wish = {name: given[name] for name in names if name in given}
        return Wish(self.n_clusters, **wish, has_approximation="approximation" in given)

    def _schedule(self, space: Space, seed: int) -> Schedule:
        raise NotImplementedError

    @property
    def _rehearses(self) -> bool:
        """Whether many rows may be annealed on a draw first: not if the powers are the user's."""
        return False

    def _check_pairs(self, X: Data) -> None:
        """Refuse a matrix of pairs of training rows that is none."""
        raise NotImplementedError

    def _remember(self, X: Data) -> None:
        """Keep what `_squared_lengths` has to know of the training rows."""

    def _training_squared_lengths(self, X: Data, device: Device) -> Array:
        """The same for the training rows."""
        return self._squared_lengths(X, device=device)

    def __getstate__(self) -> dict[str, Any]:
        # A model is read where the device of the fit is not; a copy, for a fit may be at work.
        state = dict(super().__getstate__())
        return {key: hosted(value) if key in _ANSWERS else value for key, value in state.items()}

    @all_or_nothing
    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=True)
    @refused_later
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : {array-like, CSR matrix, Rows, dask array} of shape (n_samples, n_features)
            Rows to cluster, in memory (NumPy's, PyTorch's or CuPy's), on disk
            (`kernelmeans.rows.open_rows`, memory-mapped or Zarr arrays) or on a Dask cluster; the
            kernel matrix, (n_samples, n_samples), for ``kernel="precomputed"``, and L of them,
            (L, n_samples, n_samples), for ``kernels="precomputed"``; edges between all rows for
            ``kernel="graph"``, and distances for ``metric="precomputed"``, of that shape too.
            float32 stays float32.
        y : Ignored
            Not used, present for API consistency by convention.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; weight 2 is the row twice, 0 none. All ones when None.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If the input is unfit: NaN, wrong shapes, fewer rows than clusters, negative weights,
            or numbers whose sums overflow.
        MemoryError
            If a cached kernel matrix would not fit into ``memory_budget``.
        """
        rng = check_random_state(self.random_state)
        seed = int(rng.randint(np.iinfo(np.int32).max))
        given, (X, device) = X, self._received(X, reset=True)
        budget = device.budget(self.memory_budget)
        X = loaded(X, min(budget.n_bytes, HOST.budget(self.memory_budget).n_bytes))
        weight = check_weights(hosted(sample_weight), X, self.n_clusters)
        if self._pairwise:
            refuse_dask(X, "kernel matrices and graphs", "pass X.compute()")
            self._check_pairs(X)
        kernel = self._resolve_kernel(X, weight, seed)
        if not self._pairwise:
            warn_if_far(X, kernel.name)
        starts = Starts(hosted(self.init), self.n_init, self.n_clusters, kernel, X)
        reporter = Reporter(self, X, starts.n_init)
        # More threads would wait for the same device.
        with Threads(None if device.is_host else 1) as threads:
            holder = Holder(self.n_clusters, budget, weight, threads, seed, device)
            space = self._space(kernel, X, holder)
            schedule = self._schedule(space, seed)
            seeds = rng.randint(np.iinfo(np.int32).max, size=starts.n_init).tolist()
            result = self._solve(space, starts, schedule, budget.n_bytes, seeds, reporter)
            converged = result.converged[result.best]
            if self._swaps(space, schedule) and converged and not reporter.stopped:
                seed, batch = seeds[result.best], self._batch(space, budget.n_bytes)
                order = self.n_swaps, self.max_iter, seed, reporter, batch
                swap_moves(space, result, *order)
            assert result.centroids is not None
            self._certify(space, schedule, result)
            predictor = space.export(result.centroids)
            floor = float(space.floor(result.centroids)[0])
        # Where rows are not held, the space has done its work, and labels need room.
        held = space if space.keeps_rows else None
        del space
        result.centroids = None
        self._set_fitted(
            X, weight, floor, schedule, result, budget.n_bytes, predictor, device, held
        )
        best = result.kernel_weights[result.best]
        check_result(self.inertia_, self.objective_history_, predictor.norms, best)
        self.labels_ = answer(self.labels_, given)
        self.memberships_ = answer(self.memberships_, given)
        self._warn(result, schedule)
        reporter.end()
        return self

    def _swaps(self, space: Space, schedule: Schedule) -> bool:
        """Whether swap moves follow.

        By default not at a constant power, whose objective is another one, nor on so many rows
        that they have been tried on draws.
        """
        if self.n_swaps == "auto":
            few = space.sample_rows == space.n_samples
            return few and (schedule.anneals or bool(np.isinf(schedule.s0)))
        return self.n_swaps != 0

    def _batch(self, space: Space, budget: int) -> int:
        """Restarts that the memory budget holds at a time."""
        memory = space.memory(self.n_clusters)
        room = min(budget - memory.resident - memory.transient, BATCH_BYTES)
        return max(1, room // memory.per_restart)

    def _certify(self, space: Space, schedule: Schedule, result: Result) -> None:
        """How far an approximation can be off."""
        centroids, best = result.centroids, result.best
        assert centroids is not None
        # Then centroids are the means of their clusters already.
        hard = bool(np.isneginf(result.power_history[best][-1]))
        settled = result.converged[best] and hard and schedule.ends_with_labels
        trace = space.traces(centroids.kernel_weights[0])
        self.approximation_error_, self.inertia_bounds_ = None, None
        if trace is not None:
            self.approximation_error_ = trace.left_out / trace.total if trace.total > 0 else 0.0
            if trace.left_out > 0 or not settled:
                cost = partition_cost(space, centroids)
                # A cost that is nil may be rounded below it.
                self.inertia_bounds_ = max(0.0, cost - trace.left_out), max(0.0, cost)

    def _solve(
        self,
        space: Space,
        starts: Starts,
        schedule: Schedule,
        budget: int,
        seeds: list[int],
        reporter: Reporter,
    ) -> Result:
        """All restarts, as many at a time as the memory budget holds."""
        rehearses = starts.seeded and self._rehearses
        rehearses = rehearses and can_rehearse(space, self.n_clusters, schedule)
        # After a rehearsal each restart has powers of its own.
        size = 1 if rehearses else self._batch(space, budget)
        results: list[Result] = []
        for first in range(0, starts.n_init, size):
            batch, powers = seeds[first : first + size], schedule
            if rehearses:
                centroids, powers = rehearse(
                    space, self.n_clusters, schedule, batch[0], reporter.in_rehearsal
                )
            else:
                centroids = starts.draw(space, first, batch)
            results.append(solve(space, centroids, powers, batch, reporter))
            reporter.finished += len(batch)
            if reporter.stopped:
                break
        assert results[0].centroids is not None
        return Result.join(results, float(cost_rounding(space, results[0].centroids)[0]))

    def _set_fitted(
        self,
        X: Data,
        weight: Array,
        floor: float,
        schedule: Schedule,
        result: Result,
        budget: int,
        predictor: Predictor,
        device: Device,
        held: Space | None,
    ) -> None:
        best = result.best
        self._predictor = predictor
        self.kernel_ = predictor.kernel
        self.objective_history_ = result.objective_history[best]
        self.power_history_ = result.power_history[best]
        self.n_iter_ = int(result.n_iter[best])
        self.result_ = result
        self._remember(X)
        self._label(X, weight, floor, budget, device, held)
        if self.approximation_error_ == 0 and self.inertia_bounds_ is None:
            self.inertia_bounds_ = self.inertia_, self.inertia_

    def _label(
        self,
        X: Data,
        weight: Array,
        floor: float,
        budget: int,
        device: Device,
        held: Space | None,
    ) -> None:
        """Labels, cost and memberships of the training rows."""
        self.memberships_ = None
        # The last assignment is made by predict's own code: labels_ == predict(X), bit for bit.
        if isinstance(X, Rows):
            kind = np.dtype([("label", np.int32), ("nearest", weight.dtype)])
            found = by_blocks(self, Predicting._assigned, X, kind)
            labels = found["label"]
            if isinstance(X, DaskRows):
                # Once computed they need neither the cluster nor the data again.
                found = computed(found)
                labels = X.like(found["label"])
            self.labels_ = labels
            self.inertia_ = total_cost(found["nearest"], weight)
            return
        fits = X.shape[0] * self.n_clusters * X.dtype.itemsize <= MEMBERSHIPS_SHARE * budget
        if held is None:
            diagonal = self._training_squared_lengths(X, device)
            comparison = self._predictor.on(device).compare(X, diagonal, keep_distances=fits)
        else:
            n = held.n_samples
            comparison = self._predictor.compare_blocks(n, held.embedded, keep_distances=fits)
        self.labels_ = comparison.labels
        self.inertia_ = total_cost(comparison.nearest, weight)
        if comparison.distances is not None:
            finite = self.power_history_[np.isfinite(self.power_history_)]
            power = float(finite[-1]) if len(finite) else -np.inf
            self.memberships_ = shares(comparison.distances, power, floor).T

    def _warn(self, result: Result, schedule: Schedule) -> None:
        if not result.converged[result.best]:
            power = float(result.power_history[result.best][-1])
            warn_user(
                f"The best restart did not converge within max_iter={self.max_iter} steps: "
                f"{schedule.unfinished(power)}.",
                ConvergenceWarning,
            )
        found = len(np.unique(result.labels[result.best]))
        if found < self.n_clusters:
            alike = "rows that are alike" if self._pairwise else "duplicate points"
            warn_user(
                f"Number of distinct clusters ({found}) found smaller than n_clusters "
                f"({self.n_clusters}). Possibly due to {alike} in X.",
                ConvergenceWarning,
            )
