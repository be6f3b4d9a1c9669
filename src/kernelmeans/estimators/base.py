"""What the estimators share: fit, and what fitted ones answer for new rows."""

from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from kernelmeans._devices import HOST, Device, answer, device_of, hosted
from kernelmeans._sklearn import CallbackSupportMixin, _check_sample_weight
from kernelmeans._typing import Array, Data, IntArray
from kernelmeans._warnings import warn_user
from kernelmeans.engines import Threads
from kernelmeans.estimators.callbacks import Reporter, fitting
from kernelmeans.estimators.checks import check_diagonal, check_result, check_weights, refused_later
from kernelmeans.estimators.inputs import Input
from kernelmeans.estimators.lazy import by_blocks, loaded, refuse_elsewhere
from kernelmeans.estimators.plan import Holder, Wish, plan
from kernelmeans.estimators.starts import Starts
from kernelmeans.memory import Budget
from kernelmeans.rows import Rows
from kernelmeans.rows.lazy import DaskRows, computed
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
from kernelmeans.spaces import Centroids, Comparison, Predictor, Space, WeightRule

#: Most bytes of restarts that run together: more gain no time.
BATCH_BYTES = 2**30
#: Share of the memory budget that the memberships may take to be kept.
MEMBERSHIPS_SHARE = 0.25
#: Seeds are below this.
SEEDS = np.iinfo(np.int32).max


class KernelClusterer(
    CallbackSupportMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClusterMixin,
    BaseEstimator,
):
    """Clusters in the feature space of one kernel or of several.

    An estimator says what X holds (`_input`), by which method it is clustered (`_method`), and, if
    it has several kernels, how their weights follow the costs (`_weight_rule`).
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {}
    n_clusters: int
    init: Any
    n_init: Any
    n_swaps: int | str = 0
    max_iter: int
    memory_budget: int | str | None
    device: str | None = None
    random_state: Any
    labels_: Any
    memberships_: Any
    inertia_: float
    kernel_: Any
    _fitted_input: Input
    _predictor: Predictor

    def _input(self) -> Input:
        """What X holds, as the parameters say."""
        raise NotImplementedError

    def _method(self, space: Space, threads: Threads) -> Schedule:
        """How centroids are found in a space."""
        raise NotImplementedError

    def _weight_rule(self, scale: float) -> WeightRule:
        """How kernel weights follow the costs, whose sum for k = 1 and equal weights is `scale`."""
        raise NotImplementedError

    @fitting
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
        seed = int(rng.randint(SEEDS))
        given, data = X, self._input()
        X, device = self._received(X, data, reset=True)
        budget = device.budget(self.memory_budget)
        weight = check_weights(hosted(sample_weight), X, self.n_clusters)
        kernel = data.kernel(X, weight, seed)
        starts = Starts(hosted(self.init), self.n_init, self.n_clusters, kernel, X)
        seeds = rng.randint(SEEDS, size=starts.n_init).tolist()
        reporter = Reporter(self, X, starts.n_init)
        plans = plan(*data.parts(kernel, X), self._wish(), budget, device)
        # More threads would wait for the same device.
        with Threads(None if device.is_host else 1) as threads:
            holder = Holder(self.n_clusters, budget, weight, threads, seed, device)
            space = data.space(kernel, plans, holder, self._weight_rule)
            method = self._method(space, threads)
            result = self._solve(space, starts, method, budget, seeds, threads, reporter)
            self._certify(space, method, result, threads)
            centroids = cast(Centroids, result.centroids)
            self._predictor = space.export(centroids)
            floor = float(space.floor(centroids)[0])
        # Where rows are not held, the space has done its work, and labels need room.
        held = space if space.keeps_rows else None
        del space, centroids
        result.centroids = None
        self._fitted_input, self.result_ = data, result
        self.kernel_ = self._predictor.kernel
        data.remember(self.kernel_, X)
        self._tell(method, result, data.attributes(kernel, plans, result))
        compared = self._label(X, weight, budget, device, held)
        self._check(result)
        self.memberships_ = self._memberships(compared, floor)
        self.labels_ = answer(self.labels_, given)
        self.memberships_ = answer(self.memberships_, given)
        self._warn(result, method)
        reporter.end()
        return self
