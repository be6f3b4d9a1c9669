"""The base class of the estimators: `fit`, and `predict`, `transform` and `score` of new rows."""

from collections.abc import Callable
from copy import copy
from typing import Any, Literal, Self, cast

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from kernelmeans._arrays import take, to_numpy
from kernelmeans._devices import HOST, Budget, Device, device_of, to_library_of
from kernelmeans._dialect import option
from kernelmeans._estimator import Estimator
from kernelmeans._fitted import on_host
from kernelmeans._given import received
from kernelmeans._matching import ClusterChange, cluster_changes, match_clusters
from kernelmeans._sklearn import (
    CallbackSupportMixin,
    ClusterMixin,
    TransformerMixin,
    _check_sample_weight,
)
from kernelmeans._typing import Array, BoolArray, Data, IntArray
from kernelmeans.engines import Threads
from kernelmeans.engines.threads import single_threaded_blas
from kernelmeans.estimators.assigner import Assigner, read_new
from kernelmeans.estimators.callbacks import Reporter, fitting, refused_later
from kernelmeans.estimators.checks import (
    check_callables,
    check_result,
    refuse_elsewhere,
    warn_if_coarse,
    warn_of_end,
    warn_of_zero_rows,
)
from kernelmeans.estimators.holder import Holder
from kernelmeans.estimators.inputs import Input, check_weights
from kernelmeans.estimators.numbers import completed_numbers, earlier_labels, renumbered
from kernelmeans.estimators.plan import Request, make_plan
from kernelmeans.estimators.starts import Starts
from kernelmeans.estimators.tree import ClusterTree, between_means
from kernelmeans.heat import HeatKernel
from kernelmeans.heat.closeness import some_of_each
from kernelmeans.heat.distinct import DistinctRows
from kernelmeans.heat.outliers import Outliers, threshold_of
from kernelmeans.heat.separation import conductances, warn_if_hardly
from kernelmeans.rows import Rows
from kernelmeans.rows.dask import DaskRows, computed
from kernelmeans.solver import (
    EdgeWeights,
    Method,
    Result,
    anneal_subsamples,
    annealed,
    can_subsample,
    cost_rounding,
    divide_pairs,
    partition_cost,
    solve,
    swap_moves,
)
from kernelmeans.spaces import FeatureSpace, Predictor, Space, WeightRule

#: Most bytes of restarts that run together. More of them would not be faster.
BATCH_BYTES = 2**30
#: Fraction of the memory budget up to which memberships are kept.
MEMBERSHIPS_FRACTION = 0.25
#: Fraction of the memory budget up to which rows on disk are loaded.
LOADED_FRACTION = 0.25
#: Approximate number of rows from which distances between centroids are computed.
TREE_ROWS = 1024
#: Seeds are below this.
SEEDS = np.iinfo(np.int32).max
#: Attributes that are in the library and on the device of X.
_OF_ROWS = ("labels_", "distances_", "certainty_", "memberships_", "outlier_score_")


class KernelClusterer(
    CallbackSupportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Estimator
):
    """Clusters in the feature space of one kernel or of several.

    A subclass defines what X holds (`_make_input`), the method of clustering unless it anneals
    (`_method`) and, if it has several kernels, the rule by which kernel weights follow the costs
    (`_weight_rule`).
    """

    n_clusters: int
    init: Any
    n_init: Any
    max_iter: int
    memory_budget: int | str | None
    random_state: Any
    # Arrays of the library of X.
    labels_: IntArray
    distances_: Array
    certainty_: Array
    memberships_: Array | None
    result_: Result
    #: None in models of older files.
    separation_: Array | None = None
    #: None without earlier labels, and in models of files.
    changes_: list[ClusterChange] | None = None
    tree_: ClusterTree | None = None
    inertia_: float
    inertia_bounds_: tuple[float, float] | None
    approximation_error_: float | None
    kernel_: Any
    _input: Input
    _predictor: Predictor
    #: Whether a search makes this fit, which looks at labels alone.
    _for_labels: bool = False
    #: Smallest squared distance that is more than rounding. Models of older files have none.
    _floor: float = 0.0
    #: None unless the fit looks for outliers.
    outliers: Literal["auto"] | float | None = None
    outlier_score_: Array | None = None
    outlier_threshold_: float | None = None
    _outliers: Outliers | None = None

    def _make_input(self) -> Input:
        """The input that the parameters describe."""
        raise NotImplementedError

    def _method(self, space: Space) -> Method:
        """The method that finds centroids in a space."""
        return self._annealed(space)

    def _annealed(self, space: Space, **more: bool) -> Method:
        names = "s0", "eta", "anneal_every", "max_iter", "tol", "n_swaps"
        given: Any = {name: getattr(self, name) for name in names}
        method = annealed(space, self.n_clusters, **given, **more)
        self.critical_power_ = method.critical_power
        return method

    def _weight_rule(self, scale: float) -> WeightRule:
        """The rule of kernel weights; ``scale`` is the cost of one cluster at equal weights."""
        raise NotImplementedError

    # `like` takes labels, because they belong to rows as weights do. An earlier model could not be
    # a parameter: clones would lose its fit, its rows may need another preparation, and model files
    # would grow.
    @fitting
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, like: Any = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : {array-like, CSR matrix, Rows, dask array} of shape (n_samples, n_features)
            Rows to cluster: an array of NumPy, PyTorch or CuPy, rows on disk
            (`kernelmeans.rows.open_rows`, memory-mapped or Zarr arrays), or a Dask collection.
            For ``kernel="precomputed"`` X is the kernel matrix, for ``kernel="graph"`` the edges
            and for ``metric="precomputed"`` the distances between all rows, each of shape
            (n_samples, n_samples). For ``kernels="precomputed"`` X is a stack of kernel matrices,
            shape (L, n_samples, n_samples). Computations with float32 stay in float32.
        y : Ignored
            Not used, present for API consistency by convention.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights; all ones when None. A row of weight 2 counts as two equal rows, a row
            of weight 0 not at all. A default width is an exception: for it no row makes a pair
            with itself.
        like : array-like of shape (n_samples,), default=None
            Earlier labels of these rows, for example ``earlier.predict(X)`` of a model of last
            month; -1 or NaN for rows that have none. Clusters that
            `kernelmeans.metrics.match_clusters` finds again keep their numbers, as far as these
            are below ``n_clusters``. The others get the free numbers, the largest first.
            ``changes_`` says what has become of each.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        TypeError
            If ``like`` is a model in place of its labels.
        ValueError
            If X, the weights or ``like`` cannot be used: NaN, wrong shapes, fewer rows than
            clusters, negative weights, or numbers whose sums overflow.
        MemoryError
            If the fit does not fit into ``memory_budget``.
        """
        rng = check_random_state(self.random_state)
        seed = int(rng.randint(SEEDS))
        given, data = X, self._make_input()
        if self.outliers is not None:
            remedy = f"leave {option('outliers', None)}, or "
            data.check_compared(option("outliers", self.outliers), remedy)
        X, device = self._training_rows(X, data)
        budget = device.budget(self.memory_budget)
        weight = check_weights(received(sample_weight, "sample_weight"), X, self.n_clusters)
        before = None if like is None else earlier_labels(like, len(weight))
        kernel, kernels, rows = data.resolve(X, weight, self.n_clusters, seed)
        starts = Starts(self.init, self.n_init, self.n_clusters, kernel, X)
        seeds = rng.randint(SEEDS, size=starts.n_init).tolist()
        request = Request.of(self.get_params(deep=False))
        plan = make_plan(kernels, rows, request, budget, device)
        if plan.forecast is not None:
            self._say(1, f"fit: may take {plan.forecast}")
        warn_of_zero_rows(kernel, X)
        reporter = Reporter(self, X, starts.n_init)
        # More threads would wait for the same device.
        with Threads(None if device.is_host else 1) as threads:
            check_callables(kernels, rows, weight, device, data.names)
            holder = Holder(plan, weight, threads, seed)
            spaces = holder.hold(data.names)
            space = data.space(kernel, spaces, holder, self._weight_rule)
            # Spaces of constant kernels are not used, and free their memory here.
            del spaces
            method = self._method(space)
            if getattr(self, "n_swaps", 0) != "auto":
                holder.edge_weights.clear()
            result = self._solve(space, starts, method, budget.n_bytes, seeds, reporter)
            if holder.edge_weights:
                self._divide_pairs(space, result, holder.edge_weights.pop(), seed, reporter)
            self._set_bounds(space, method, result)
            self._predictor, self._floor = _exported(space, result)
            rounding = 2 * self._floor * space.uncentered
        # Labels need memory: only the embedded samples stay of the space, if it holds them.
        embedded = space.embedded
        del space
        self._input, self.result_, self.kernel_ = data, result, self._predictor.kernel
        self._outliers = self.outlier_threshold_ = self.outlier_score_ = None
        data.remember(self.kernel_, X)
        self.__dict__.update(data.attributes(holder, result))
        self.objective_history_ = result.objective_history[result.best]
        self.power_history_ = result.power_history[result.best]
        self.n_iter_ = int(result.n_iter[result.best])
        found = self._set_labels(X, given, weight, embedded, device, budget)
        if isinstance(self.init, str):
            # Else the numbers are those of the start that the user gives.
            self._renumber(result.number_by_weight(weight, self.n_clusters))
        self.changes_ = None
        if before is not None:
            self._keep_numbers(before, None if sample_weight is None else weight)
        if self.approximation_error_ == 0 and self.inertia_bounds_ is None:
            self.inertia_bounds_ = self.inertia_, self.inertia_
        weights = result.kernel_weights[result.best]
        check_result(self.inertia_, self.objective_history_, self._predictor.norms, weights)
        coarse = device.is_host and float(found["nearest"][weight > 0].mean()) <= rounding
        coarse = coarse and warn_if_coarse(kernels, rows, found["label"], weight)
        warn_of_end(result, method, self.n_clusters, data.pairwise, coarse)
        reporter.judged(self.separation_)
        if isinstance(self.kernel_, HeatKernel) and self.separation_ is not None:
            warn_if_hardly(self.separation_, self.result_.labels[result.best])
        reporter.end()
        return self

    @refused_later
    def predict(self, X: Any, *, diagonal: Any = None) -> IntArray:
        """Assign each row to the nearest centroid in the feature space.

        Parameters
        ----------
        X : {array-like, CSR matrix, Rows, dask array} of shape (n_rows, n_features)
            New rows. For ``kernel="precomputed"`` X holds the kernel values between new rows and
            training rows, for ``kernel="graph"`` the edges and for ``metric="precomputed"`` the
            distances between them, each of shape (n_rows, n_samples). For
            ``kernels="precomputed"`` the shape is (L, n_rows, n_samples).
        diagonal : array-like of shape (n_rows,) or (L, n_rows), default=None
            k(x, x) of each row, as in `transform`. Labels depend on it only if precomputed kernels
            are normalized (``kernel_scaling="cosine"`` or ``"min-max"``).

        Returns
        -------
        labels : array of shape (n_rows,)
            Index of the cluster of each row, in the library and on the device of X.

        Raises
        ------
        NotFittedError
            If the estimator has not been fitted.
        ValueError
            If X has the wrong number of features, if X or its kernel values are NaN or infinite,
            if a row of a graph has no edge, or if the diagonal cannot be used.
        """
        assigner, rows, diagonal = self._asked(X, diagonal)
        return cast(IntArray, to_library_of(assigner.labels(rows, diagonal), X))

    @refused_later
    def transform(self, X: Any, *, diagonal: Any = None) -> Array:
        """Compute the distance (not squared) of each row to each centroid in the feature space.

        Parameters
        ----------
        X : {array-like, CSR matrix, Rows, dask array} of shape (n_rows, n_features)
            New rows, as in `predict`.
        diagonal : array-like of shape (n_rows,) or (L, n_rows), default=None
            k(x, x) of each row, for precomputed kernels alone: other kernels compute it. The second
            shape is for ``kernels="precomputed"``. When None, a row that equals a training row has
            the value of that row. Other rows have the value of the training diagonal if it is
            constant, and else its mean, with a warning.

        Returns
        -------
        distances : array of shape (n_rows, n_clusters)
            Distances, in the library and on the device of X.

        Raises
        ------
        NotFittedError
            If the estimator has not been fitted.
        ValueError
            If X has the wrong number of features, if X or its kernel values are NaN or infinite,
            or if the diagonal cannot be used.
        """
        assigner, rows, diagonal = self._asked(X, diagonal)
        return cast(Array, to_library_of(assigner.distances(rows, diagonal), X))

    @refused_later
    def score(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, diagonal: Any = None
    ) -> float:
        """Compute minus the weighted sum of squared distances to the nearest centroid.

        Parameters
        ----------
        X : {array-like, CSR matrix, Rows, dask array} of shape (n_rows, n_features)
            New rows, as in `predict`.
        y : Ignored
            Not used, present for API consistency by convention.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows; all ones when None.
        diagonal : array-like of shape (n_rows,) or (L, n_rows), default=None
            k(x, x) of each row, as in `transform`.

        Returns
        -------
        score : float
            Minus the cost; ``-inertia_`` for the training rows and the sample weights of the fit.
            Only scores under the same kernel can be compared. With ``n_neighbors="auto"`` or
            ``t="auto"`` the heat kernel depends on ``n_clusters``. Then a search over
            ``n_clusters`` cannot use this score; `kernelmeans.ClusterSearch` needs none.

        Raises
        ------
        NotFittedError
            If the estimator has not been fitted.
        ValueError
            If X has the wrong number of features, if X or its kernel values are NaN or infinite,
            or if the diagonal cannot be used.
        """
        assigner, X, diagonal = self._asked(X, diagonal)
        weight = _check_sample_weight(received(sample_weight, "sample_weight"), X, dtype=X.dtype)
        found = computed(assigner.assigned(X, diagonal))
        return -total_cost(found["nearest"], weight)

    def cut(self, n_clusters: int, X: Any = None) -> IntArray:
        """Labels of fewer clusters: those of the fit, merged along ``tree_``.

        Those for all numbers of clusters are nested: each cluster is a part of one of any smaller
        number.

        Parameters
        ----------
        n_clusters : int
            Number of clusters, at most that of the fit.
        X : array-like, default=None
            New rows, as in `predict`. When None, the training rows.

        Returns
        -------
        labels : array of shape (n_rows,)
            Index of the cluster of each row. Clusters are numbered by their weight in the fit, the
            largest first.

        Raises
        ------
        NotFittedError
            If the estimator has not been fitted.
        ValueError
            If there cannot be so many clusters, if the model is of an older file, which has no
            tree, or if `predict` refuses X.

        Examples
        --------
        >>> import numpy as np
        >>> from kernelmeans import KernelPowerKMeans
        >>> X = np.concatenate([np.linspace(x, x + 1, 20) for x in (0, 3, 20)])[:, None]
        >>> model = KernelPowerKMeans(3, random_state=0).fit(X)
        >>> np.bincount(model.cut(2)).tolist(), model.cut(2, [[0.5], [3.5], [20.5]]).tolist()
        ([40, 20], [0, 0, 1])
        """
        check_is_fitted(self)
        if self.tree_ is None:
            raise ValueError(
                "This model is of an older file, which has no tree of its clusters; fit it again."
            )
        # The last is for rows of no cluster, which are -1.
        numbers = np.append(self.tree_.cut(n_clusters), np.int32(-1))
        labels: IntArray = renumbered(self.labels_ if X is None else self.predict(X), numbers)
        return labels

    def renumber(self, numbers: Any) -> Self:
        """Give the clusters other numbers.

        Parameters
        ----------
        numbers : array-like of shape (n_clusters,)
            New number of each cluster, or -1. Numbers that no cluster has yet go to the clusters
            with -1, in order, and to those whose numbers are not below ``n_clusters``.

        Returns
        -------
        self : object
            The same clusters with new numbers, in all fitted attributes.

        Raises
        ------
        NotFittedError
            If the estimator has not been fitted.
        ValueError
            If two clusters get the same number.

        See Also
        --------
        kernelmeans.metrics.match_clusters : Which clusters of an earlier model these are.
        """
        check_is_fitted(self)
        numbers = completed_numbers(numbers, self._n_centroids)
        self._renumber(numbers)
        # Copies of the estimator have the same arrays.
        self.result_ = copy(self.result_)
        labels, best = self.result_.labels.copy(), self.result_.best
        labels[best] = renumbered(labels[best], numbers)
        self.result_.labels = labels
        # They name the clusters by their old numbers.
        self.changes_ = None
        return self

    def _keep_numbers(self, before: IntArray, weight: Array | None) -> None:
        """Give clusters that are found again their earlier numbers, and say what has changed."""
        found = match_clusters(on_host(self.labels_), before, weight)
        self.renumber([found.get(cluster, -1) for cluster in range(self.n_clusters)])
        self.changes_ = cluster_changes(on_host(self.labels_), before, weight)

    def _renumber(self, numbers: IntArray) -> None:
        """Give the clusters new numbers, in what is kept about new rows and training rows."""
        self._predictor = self._predictor.renumbered(numbers)
        self.labels_ = renumbered(self.labels_, numbers)
        if self.memberships_ is not None:
            self.memberships_ = take(self.memberships_, np.argsort(numbers), axis=1)
        if self.separation_ is not None:
            self.separation_ = self.separation_[np.argsort(numbers)]
        if self._outliers is not None:
            self._outliers = self._outliers.renumbered(numbers)
        if self.tree_ is not None:
            self.tree_ = self.tree_.renumbered(numbers)

    def _set_borders(
        self, X: Data, labels: IntArray, weight: Array, rows: IntArray, squared: Callable[[], Array]
    ) -> None:
        """Set how far the clusters are apart, and in which order they merge.

        `squared` returns the squared distances of some rows of each cluster to all centroids.
        """
        borders = self._input.borders(self.kernel_, X, labels, weight, self.n_clusters)
        self.separation_ = None if borders is None else conductances(borders.edges)
        cluster_weight = np.bincount(labels, weight, self.n_clusters).astype(np.float64)
        if borders is not None and borders.closeness is not None:
            self.tree_ = ClusterTree.by_closeness(borders.closeness, cluster_weight)
        else:
            means = between_means(squared(), labels[rows], weight[rows])
            self.tree_ = ClusterTree.by_cost(means, cluster_weight)

    def _training_rows(self, X: Any, data: Input) -> tuple[Data, Device]:
        """The rows of the fit, checked and on the host, and the device to compute on."""
        device = device_of(getattr(self, "device", None), X)
        rows = data.read(self, received(X), [np.float64, np.float32], reset=True)
        refuse_elsewhere(rows, device)
        if rows.dtype == np.float32 and not device.is_host:
            device.warn_if_rounding()
        if isinstance(rows, Rows) and not isinstance(rows, DaskRows):
            budgets = [where.budget(self.memory_budget).n_bytes for where in (device, HOST)]
            if rows.nbytes <= LOADED_FRACTION * min(budgets):
                return rows[:], device
        return rows, device

    def _asked(self, X: Any, diagonal: Any) -> tuple[Assigner, Data, Any]:
        """What assigns new rows, and the rows and their k(x, x), checked."""
        check_is_fitted(self)
        rows, device = read_new(self, X)
        diagonal = received(diagonal, "diagonal")
        self._input.check_diagonal(self.kernel_, rows, diagonal)
        # The rows of a Dask collection are not computed yet.
        if not isinstance(rows, DaskRows):
            warn_of_zero_rows(self.kernel_, rows)
        return Assigner.of(self, device), rows, diagonal

    def _solve(
        self,
        space: Space,
        starts: Starts,
        method: Method,
        budget: int,
        seeds: list[int],
        reporter: Reporter,
    ) -> Result:
        """All restarts, as many at a time as the memory budget holds, and swap moves."""
        subsampled = starts.seeded and can_subsample(space, self.n_clusters, method)
        memory = space.memory(self.n_clusters)
        room = min(budget - memory.resident - memory.transient, BATCH_BYTES)
        batch = max(1, room // memory.per_restart)
        # After annealing on subsamples each restart goes on at a power of its own.
        size = 1 if subsampled else batch
        results: list[Result] = []
        for first in range(0, starts.n_init, size):
            batch_seeds, powers = seeds[first : first + size], method
            if subsampled:
                centroids, powers = anneal_subsamples(
                    space, self.n_clusters, method, batch_seeds[0], reporter.on_subsample
                )
            else:
                centroids = starts.centroids(space, first, batch_seeds)
            results.append(solve(space, centroids, powers, batch_seeds, reporter))
            reporter.restarts_done(results[-1])
            if reporter.stopped:
                break
        assert results[0].centroids is not None
        result = Result.join(results, float(cost_rounding(space, results[0].centroids)[0]))
        if method.n_swaps != 0 and result.converged[result.best] and not reporter.stopped:
            order = method.n_swaps, self.max_iter, seeds[result.best], reporter.on_swap, batch
            before = int(result.n_iter[result.best])
            swap_moves(space, result, *order)
            reporter.swaps_done(result, before)
        return result

    def _divide_pairs(
        self, space: Space, result: Result, weigh: EdgeWeights, seed: int, reporter: Reporter
    ) -> None:
        """Let the graph decide between partitions of nearly the same cost."""
        best = result.best
        ended = result.converged[best] and np.isneginf(result.power_history[best][-1])
        # Samples of a space that is read chunk by chunk would have to be gathered.
        held = isinstance(space, FeatureSpace) and space.chunks is None
        if ended and held and not reporter.stopped:
            order = weigh, self.max_iter, seed, reporter.on_swap
            reporter.pairs_done(result, divide_pairs(space, result, *order))

    def _set_bounds(self, space: Space, method: Method, result: Result) -> None:
        """Set the error of an approximation, and bounds on the cost under the exact kernel."""
        centroids, best = result.centroids, result.best
        assert centroids is not None
        hard = bool(np.isneginf(result.power_history[best][-1]))
        centroids_are_means = result.converged[best] and hard and method.ends_with_labels
        trace = space.traces(centroids.kernel_weights[0])
        self.approximation_error_, self.inertia_bounds_ = None, None
        if trace is not None:
            self.approximation_error_ = trace.residual / trace.total if trace.total > 0 else 0.0
            if trace.residual > 0 or not centroids_are_means:
                cost = partition_cost(space, centroids)
                # Rounding may put a cost of 0 below 0.
                self.inertia_bounds_ = max(0.0, cost - trace.residual), max(0.0, cost)

    def _set_labels(
        self,
        X: Data,
        given: Any,
        weight: Array,
        embedded: Callable[[slice], Any] | None,
        device: Device,
        budget: Budget,
    ) -> Any:
        """Set labels, cost, memberships and borders, and return what assigned the rows."""
        # The code of predict makes the last assignment: labels_ == predict(X), bit for bit.
        assigner = Assigner.of(self, device)
        self.memberships_ = squared = None
        if isinstance(X, Rows):
            # The labels are computed here once, and then need neither cluster nor data.
            found = computed(assigner.assigned(X))
        else:
            size = X.shape[0] * self.n_clusters * X.dtype.itemsize
            wanted = not self._for_labels and size <= MEMBERSHIPS_FRACTION * budget.n_bytes
            found, squared = assigner.assigned_training(X, embedded, wanted)
        some = some_of_each(np.where(weight > 0, found["label"], -1), self.n_clusters, TREE_ROWS)
        if squared is not None:
            self.memberships_ = to_library_of(assigner.memberships(squared), given)
            squared = squared[:, some].T
        self.inertia_ = total_cost(found["nearest"], weight)
        # The solver may have rounded otherwise.
        self.result_.labels[self.result_.best] = found["label"]
        self.labels_ = _as_given(found["label"], X, given)
        self.distances_ = _as_given(assigner.nearest(found), X, given)
        self.certainty_ = _as_given(found["certainty"], X, given)

        if self.outliers is not None:
            # They would be bridges between clusters that they are not in.
            weight = np.where(self._leave_out(X, given, found["label"], weight), 0, weight)

        def squared_distances() -> Array:
            if squared is not None:
                return squared
            with single_threaded_blas():
                return np.asarray(assigner.distances(X[some]) ** 2)

        if not self._for_labels:
            self._set_borders(X, found["label"], weight, some, squared_distances)
        return found

    def _leave_out(self, X: Data, given: Any, labels: IntArray, weight: Array) -> BoolArray:
        """Score the training rows, and return which are too strange for their clusters."""
        assert self.outliers is not None
        compared = self._input.compared_rows(self.kernel_, X, weight)
        self._outliers = self._outliers_among(compared)
        if isinstance(X, Rows):
            scores = computed(Assigner.of(self).outlier_scores(X))
        else:
            scores = self._outliers.scores(X, labels)
        self.outlier_threshold_ = threshold_of(scores, weight, self.outliers)
        strange = scores > self.outlier_threshold_
        left = np.where(strange, labels.dtype.type(-1), labels)
        self.labels_, self.outlier_score_ = _as_given(left, X, given), _as_given(scores, X, given)
        return np.asarray(strange)

    def _outliers_among(self, rows: DistinctRows) -> Outliers:
        rows = rows.once()
        labels = Assigner.of(self).labels(rows.nearest.rows)
        return Outliers.of(rows, labels, self._n_centroids)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_predictor")

    def __getstate__(self) -> dict[str, Any]:
        # A model may be loaded where there is no such device.
        state = super().__getstate__()
        for name in set(_OF_ROWS) & set(state):
            state[name] = to_numpy(state[name])
        return state

    @property
    def _n_centroids(self) -> int:
        """Number of clusters of the fit; the parameter may have changed since."""
        return len(self._predictor.norms)

    #: The columns of `transform`, which scikit-learn names and counts by this.
    _n_features_out = _n_centroids

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        # The parameters may have changed since the fit.
        data = self._input if self.__sklearn_is_fitted__() else self._make_input()
        for name, value in data.tags.items():
            setattr(tags.input_tags, name, value)
        return tags


def _as_given(values: Array, X: Data, given: Any) -> Any:
    """Values of the rows of X, in the library and on the device of what the user gave."""
    values = np.ascontiguousarray(values)
    return X.like(values) if isinstance(X, DaskRows) else to_library_of(values, given)


def total_cost(nearest: Array, weight: Array) -> float:
    """Weighted sum of squared distances, in float64."""
    return float(nearest.astype(np.float64) @ weight.astype(np.float64))


def _exported(space: Space, result: Result) -> tuple[Predictor, float]:
    """A predictor with the best centroids, and the least distance that is not rounding."""
    assert result.centroids is not None
    exported = space.export(result.centroids), float(space.floor(result.centroids)[0])
    result.centroids = None
    return exported
