"""The holder carries out the plan of a fit: it makes the spaces."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse

from kernelmeans._devices import Budget, too_large
from kernelmeans._dialect import option
from kernelmeans._numbers import percent
from kernelmeans._typing import Array, Data
from kernelmeans._warnings import warn_user
from kernelmeans.engines import Threads
from kernelmeans.engines.cluster import Cluster
from kernelmeans.estimators.checks import named_errors
from kernelmeans.estimators.plan import KernelPlan, Plan
from kernelmeans.heat import DiffusionKernel, DistinctRows, HeatKernel, auto_anchors
from kernelmeans.heat.basis import WHOLE_ROWS
from kernelmeans.heat.choice import Trial
from kernelmeans.heat.diffusion import settle_times
from kernelmeans.lowrank import Explicit, FeatureMap, approximate
from kernelmeans.lowrank.sampling import chosen_rows, row_width, subsample_rows, subsample_size
from kernelmeans.rows import Rows
from kernelmeans.rows.dask import DaskRows
from kernelmeans.solver import EdgeWeights
from kernelmeans.spaces import FeatureSpace, GramSpace, Space, stream, stream_on_cluster
from kernelmeans.spaces.features import FILL_ROWS, row_blocks

#: Most bytes of the rows and features of a chunk (larger ones are not faster), and fewest rows.
CHUNK_BYTES, FEWEST_ROWS = 2**25, 64
#: Fewest chunks that half of the budget holds, and blocks that are filled at a time. They do not
#: depend on the number of threads, because the chunks decide how sums are rounded.
CHUNKS, FILLED_BLOCKS = 16, 8
#: Reason why the residuals of a heat kernel are not known.
NO_BOUNDS = (
    f"; bounds are known only if no piece has more than {WHOLE_ROWS} rows, rows with equal edges "
    "have equal eigenvectors, and no row has edges that vanish beside others"
)
#: Fraction of their memory that Dask workers may fill with features, or with the work on a chunk.
WORKER_FRACTION = 0.5


def _in_memory(X: Data) -> Data:
    return X[:] if isinstance(X, Rows) else X


@dataclass(frozen=True)
class Holder:
    """Carries out a plan: it makes the spaces.

    Attributes
    ----------
    plan : Plan
        The plan.
    weight : ndarray of shape (n_samples,)
        Sample weights.
    threads : Threads
        Where blocks are worked on.
    seed : int
        Seed of all randomness.
    reasons : list of str
        Why each kernel is held as it is; complete after `hold`.
    edge_weights : list of EdgeWeights
        What weighs edges of the graph of all rows, if the only kernel has one; after `hold`.
    """

    plan: Plan
    weight: Array
    threads: Threads
    seed: int
    reasons: list[str] = field(default_factory=list, init=False)
    _distinct: dict[int, dict[str, DistinctRows]] = field(default_factory=dict, init=False)
    edge_weights: list[EdgeWeights] = field(default_factory=list, init=False)

    def hold(self, names: Sequence[str] | None = None) -> list[Space]:
        """Make a space for each kernel.

        Parameters
        ----------
        names : sequence of str, default=None
            Names of the kernels in messages.

        Returns
        -------
        list of Space
            The spaces, in the order of the kernels.

        Raises
        ------
        MemoryError
            If features do not fit into the budget.
        ValueError
            If a kernel is not finite on the rows, or cannot be normalized.
        """
        plans, left = self.plan.kernels, self.plan.budget.n_bytes - self.plan.n_bytes
        # Equal rows are one object, so that they are loaded, or copied to the device, once.
        put = self.plan.device.put
        placed = {key: put(_in_memory(X)) for key, X in self.plan.whole.items()}
        self._fit_graphs(names)
        spaces: list[Space] = []
        for index, one in enumerate(plans):
            # Features that are not held yet get equal parts of the memory that is left.
            room = left // max(1, sum(not other.n_bytes for other in plans[index:]))
            self.reasons.append(one.reason)
            with named_errors(names, index):
                space = self._held(one, placed.get(id(one.X), one.X), room)
            if isinstance(space, FeatureSpace):
                left = max(0, left - space.memory(self.plan.n_clusters).resident)
            spaces.append(space)
        return spaces

    def _held(self, planned: KernelPlan, X: Data, room: int) -> Space:
        """The space of one kernel; features may take ``room`` bytes."""
        kernel, device = planned.kernel, self.plan.device
        if planned.method == "exact":
            return GramSpace.hold(kernel, X, self.weight, self.threads, device)
        if planned.method == "blocked":
            return GramSpace.hold(kernel, X, self.weight, self.threads, device, room)
        features: FeatureMap = Explicit(kernel)
        if isinstance(kernel, DiffusionKernel):
            explicit = planned.method == "explicit"
            residuals = kernel.residuals(_in_memory(planned.X)) if explicit else None
            # All features have norm 1, so their norms do not show what the other eigenpairs would
            # add.
            features.residual_is_positive = False
            space = self._features(features, X, room)
            if residuals is not None and space.chunks is None:
                space.keep_residuals(residuals)
            elif explicit:
                self.reasons[-1] += NO_BOUNDS
            return space
        if planned.method != "explicit":
            asked = planned.method, planned.n_components, self.seed, self.plan.n_clusters
            features = approximate(kernel, X, self.weight, *asked)
        return self._features(features, X, room)

    def _fit_graphs(self, names: Sequence[str] | None) -> None:
        """Fit the kernels that need graphs, whose times have a common factor."""
        kernels, trials, is_alone = [], [], len(self.plan.kernels) == 1
        for index, planned in enumerate(self.plan.kernels):
            if isinstance(planned.kernel, DiffusionKernel):
                planned.kernel.is_alone = is_alone
                with named_errors(names, index):
                    trials.append(self._learn(planned.kernel, planned, index))
                kernels.append(planned.kernel)
        settle_times(kernels, trials, self.plan.n_clusters)
        if is_alone:
            found = (trial.edge_weights(self.weight, self.plan.n_clusters) for trial in trials)
            self.edge_weights.extend(filter(None, found))

    def _learn(self, kernel: DiffusionKernel, planned: KernelPlan, index: int) -> Trial:
        """Find the graph of all rows, or that of anchors."""
        X, k = planned.X, self.plan.n_clusters
        if planned.method == "explicit":
            shared = self._distinct.setdefault(id(X), {})
            return kernel.learn(_in_memory(X), self.weight, k, shared)
        count = planned.n_components
        # Rows of weight 0 do not count.
        n_samples = int(np.count_nonzero(self.weight))
        count = auto_anchors(n_samples, k) if isinstance(count, str) else int(count)
        # The size of the subsample does not depend on the budget, so that the clusters do not
        # either. It fits the widest rows, so that it is the same for all kernels.
        widest = max(row_width(one.X) for one in self.plan.kernels)
        rows, weight = subsample_rows(X, self.weight, widest, at_least=2 * count)
        assert isinstance(kernel, HeatKernel)
        # Kernels have different seeds, because several sets of anchors show more than one set.
        return kernel.learn_anchors(rows, weight, k, count, self.seed + index)

    def _features(self, features: FeatureMap, X: Data, room: int) -> FeatureSpace:
        """The space of features, which are held if they fit, and else recomputed in each step."""
        whitening, device = features.whitening, self.plan.device
        if whitening is not None and not features.residual_is_positive:
            warn_user(
                f"{option('kernel', features.kernel.name)} is not positive semi-definite on these "
                "data: its residual has no bound. Use a positive semi-definite kernel."
            )
        n, itemsize = self.weight.shape[0], self.weight.dtype.itemsize
        raw = features.moved(device.put).raw(*map(device.put, features.read(X, slice(0, 1))))
        width = (raw if whitening is None else whitening).shape[1]
        columns = row_width(X)
        row_bytes = (columns + 2 * raw.shape[1] + 8 * self.plan.n_clusters) * itemsize
        # Blocks in work take additional memory if there are more rows than these.
        at_work = FILLED_BLOCKS * FILL_ROWS
        needed = n * width * itemsize + (at_work * row_bytes if n > at_work else 0)
        fits = needed <= room
        if fits or features.kernel.precomputed:
            # Blocks of a kernel matrix do not hold their diagonal, and cannot be streamed.
            what = f"n_samples={n}: {width} components of each sample"
            budget = self.plan.budget._replace(n_bytes=room)
            budget.check(needed, what, "Use fewer components")
        if scipy.sparse.issparse(raw) or (fits and not isinstance(X, DaskRows)):
            return FeatureSpace.hold(features, X, self.weight, self.threads, device)
        sample = self._subsample(features, X, width, columns, room)
        cluster = Cluster.find() if isinstance(X, DaskRows) else None
        if cluster is not None:
            held = fits_workers(cluster, sample, X, row_bytes)
            return stream_on_cluster(sample, X, self.weight, cluster, held)
        return self._streamed(sample, X, row_bytes, room)

    def _subsample(
        self, features: FeatureMap, X: Data, width: int, columns: int, room: int
    ) -> FeatureSpace:
        """The space of a subsample, for work that needs the features of its rows at once."""
        n, itemsize = len(self.weight), self.weight.dtype.itemsize
        # The size does not depend on the budget, so that the clusters do not either.
        size = subsample_size(n, width * itemsize)
        fewer = "columns" if isinstance(features, Explicit) else "components"
        half = "" if itemsize == 4 else ", pass float32 data (half the memory)"
        # Rows and features at first; then chunks take the place of the rows.
        self.plan.budget._replace(n_bytes=room).check(
            size * (max(columns, width) + width) * itemsize,
            f"n_samples={n}: holding {size} rows, with their features,",
            f"Use fewer {fewer}{half}",
        )
        rows, weight = chosen_rows(X, self.weight, size)
        return FeatureSpace.hold(features, rows, weight, self.threads, self.plan.device)

    def _streamed(self, sample: FeatureSpace, X: Data, row_bytes: int, room: int) -> FeatureSpace:
        """The space of rows that are read chunk by chunk in each step, in half of the room."""
        Budget(room).check(
            2 * FEWEST_ROWS * row_bytes,
            f"n_samples={len(self.weight)}, {option('n_clusters', self.plan.n_clusters)}: "
            f"{FEWEST_ROWS} rows and their features, in half of the memory budget,",
            f"Use fewer {_fewer(sample)}",
        )
        self.reasons[-1] += "; its features are recomputed at each step"
        n_rows = max(FEWEST_ROWS, min(CHUNK_BYTES, room // 2 // CHUNKS) // row_bytes)
        # A thread works on one chunk while another is read for it.
        in_flight = min(2 * self.threads.workers, room // 2 // (n_rows * row_bytes))
        return stream(sample, X, row_blocks(X, n_rows), self.weight, in_flight)


def fits_workers(cluster: Cluster, sample: FeatureSpace, X: DaskRows, row_bytes: int) -> bool:
    """Whether workers can hold all features.

    Raises
    ------
    MemoryError
        If one chunk with its features is too large for a worker.
    """
    limits = cluster.memory_limits()
    if not limits:
        return True
    needed = X.chunk * row_bytes
    limit = int(WORKER_FRACTION * min(n_bytes / n_threads for n_bytes, n_threads in limits))
    if needed > limit:
        raise too_large(
            needed,
            limit,
            f"{percent(WORKER_FRACTION)} of a worker's memory for each of its threads",
            f"X: a chunk of {X.chunk} rows with its features",
            f"Rechunk X into smaller blocks of rows, use fewer {_fewer(sample)}, or give the "
            "workers more memory or fewer threads",
        )
    total = X.shape[0] * sample.features.origin.nbytes
    return total <= WORKER_FRACTION * sum(n_bytes for n_bytes, _ in limits)


def _fewer(sample: FeatureSpace) -> str:
    """A number that can be lowered for features to take less memory."""
    return "clusters" if isinstance(sample.features, Explicit) else "components or clusters"
