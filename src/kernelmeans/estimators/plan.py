"""The plan: how each kernel is held, at which price in bytes, and why. It is carried out here."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from sklearn.utils import assert_all_finite

from kernelmeans._arrays import on_host
from kernelmeans._devices import HOST, Budget, Device, too_large
from kernelmeans._typing import Array, Data
from kernelmeans._warnings import warn_user
from kernelmeans.engines import Threads
from kernelmeans.engines.cluster import Cluster
from kernelmeans.heat import DiffusionKernel, DistinctRows, HeatKernel, auto_anchors
from kernelmeans.heat.basis import WHOLE_ROWS
from kernelmeans.heat.choice import Trial
from kernelmeans.heat.kernel import settle_times
from kernelmeans.heat.metric import WITH_ANCHORS
from kernelmeans.kernels import Kernel
from kernelmeans.lowrank import (
    Explicit,
    FeatureMap,
    approximate,
    auto_components,
    check_method,
    chosen_rows,
    row_width,
    subsample_rows,
    subsample_size,
)
from kernelmeans.rows import Rows
from kernelmeans.rows.dask import DaskRows
from kernelmeans.spaces import FeatureSpace, GramSpace, Space, stream, stream_on_cluster
from kernelmeans.spaces.features import FILL_ROWS, row_blocks

#: The cost of a fit in multiplications, as ``benchmarks/auto.py`` measures it: that of a kernel
#: value, in addition to two for each column; and the number of passes over the samples, each of
#: which costs two for each cluster.
VALUE, PASSES = 20, 70
#: ``approximation="auto"`` takes the exact kernel up to this cost, which is some seconds on two
#: cores, or where a low rank would not be so many times faster.
WORK, FASTER = 5e10, 5
#: Rows up to which ``approximation="auto"`` takes the graph of all rows for a heat kernel.
GRAPH_ROWS = 50_000
#: How many times this cost a precomputed kernel matrix may have: there are no rows, so that an
#: approximation has to read the matrix as well.
PRECOMPUTED = 10
#: Fewest kernel rows that a step holds, where it recomputes them.
FEWEST_HELD = 8
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


class Request(NamedTuple):
    """The parameters of an estimator that a plan depends on.

    Attributes
    ----------
    n_clusters : int
        Number of clusters. Their centroids take time and memory.
    approximation, n_components, cache_kernel
        The parameters of these names.
    has_approximation : bool
        Whether the estimator has these parameters, so that messages can name them.
    """

    n_clusters: int
    approximation: str | None = None
    n_components: int | float | str = "auto"
    cache_kernel: bool = True
    has_approximation: bool = True

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> "Request":
        """Take what there is of these among the parameters of an estimator."""
        given = {name: value for name, value in parameters.items() if name in cls._fields}
        return cls(**given, has_approximation="approximation" in given)


class KernelPlan(NamedTuple):
    """The plan for one kernel.

    Attributes
    ----------
    kernel : Kernel
        The kernel.
    X : {ndarray, CSR matrix, Rows} of shape (n_samples, n_features)
        Training rows.
    method : str
        ``"explicit"`` (an inner product of the rows), ``"exact"`` (a kernel matrix), ``"blocked"``
        (its rows recomputed at each step), or an approximation.
    reason : str
        Why it is held in this way.
    n_components : int, float or "auto"
        The parameter of the estimator, for an approximation.
    n_bytes : int
        Memory for the whole fit; 0 for features, whose number is not known yet.
    """

    kernel: Kernel
    X: Data
    method: str
    reason: str
    n_components: int | float | str = "auto"
    n_bytes: int = 0


class Plan(NamedTuple):
    """The plan for all kernels of a fit.

    Attributes
    ----------
    kernels : list of KernelPlan
        The plan for each kernel.
    whole : dict
        Training rows that are loaded, or copied to the device, as a whole; keys are their ``id``.
    n_bytes : int
        Memory for everything but features and recomputed rows.
    n_clusters : int
        Number of clusters. Their centroids take memory too.
    budget : Budget
        Memory for the whole fit.
    device : Device
        Where the kernels are held.
    """

    kernels: list[KernelPlan]
    whole: dict[int, Data]
    n_bytes: int
    n_clusters: int
    budget: Budget
    device: Device


def make_plan(
    kernels: Sequence[Kernel],
    rows: Sequence[Data],
    request: Request,
    budget: Budget,
    device: Device = HOST,
) -> Plan:
    """Decide how kernels are held.

    The decision depends on the request and on the number of rows, columns and clusters. Memory only
    refuses.

    Parameters
    ----------
    kernels : sequence of Kernel
        The kernels.
    rows : sequence of {ndarray, CSR matrix, Rows}
        Training rows of each kernel; equal ones are one object.
    request : Request
        The parameters of the estimator.
    budget : Budget
        Memory for the whole fit.
    device : Device, default=HOST
        Where the kernels are held.

    Returns
    -------
    Plan
        How each kernel is held, at which price, and why.

    Raises
    ------
    ValueError
        If the approximation does not go with a kernel or with ``n_components``, or if the plan
        needs all rows of a Dask collection at once.
    MemoryError
        If the plan does not fit into the budget.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.estimators.plan import Request, make_plan
    >>> from kernelmeans.kernels import Kernel
    >>> from kernelmeans._devices import Budget
    >>> X = np.zeros((100, 2))
    >>> kernel = Kernel("laplacian", {"gamma": 1.0})
    >>> plan = make_plan([kernel], [X], Request(8, "auto"), Budget(10**6))
    >>> plan.kernels[0].method, plan.n_bytes
    ('exact', 112000)
    >>> plan.kernels[0].reason
    'n_samples=100 are few enough for the exact kernel to be fast'
    """
    n_kernels = len(kernels)
    plans = [_plan(one, X, request, n_kernels) for one, X in zip(kernels, rows, strict=True)]
    needed = {id(one.X): one.X for one in plans if one.n_bytes and not one.kernel.precomputed}
    whole = {
        key: X
        for key, X in needed.items()
        if isinstance(X, Rows) or (not device.is_host and on_host(X))
    }
    # The model keeps a copy of rows that are loaded.
    n_bytes = sum(X.nbytes * (2 if isinstance(X, Rows) else 1) for X in whole.values())
    n_bytes += sum(one.n_bytes for one in plans)
    plan = Plan(plans, whole, int(n_bytes), request.n_clusters, budget, device)
    _refuse_matrices(plan, request)
    features = [one for one in plans if not one.n_bytes]
    for one in features:
        if one.method == "explicit" and isinstance(one.kernel, DiffusionKernel):
            _refuse_graph(one.kernel, one.X, plan, len(features))
    return plan


def _plan(kernel: Kernel, X: Data, request: Request, n_kernels: int) -> KernelPlan:
    if isinstance(kernel, DiffusionKernel):
        return _graph(kernel, X, request)
    if kernel.has_features:
        reason = f"kernel={kernel.name!r} is an inner product of the rows"
        return KernelPlan(kernel, X, "explicit", reason)
    n, asked, on_dask = X.shape[0], request.approximation, isinstance(X, DaskRows)
    if asked not in ("auto", None):
        check_method(kernel, asked, request.n_components)
        return KernelPlan(kernel, X, asked, f"approximation={asked!r}", request.n_components)
    if asked == "auto" and (on_dask or not exact_is_fast(kernel, X, request.n_clusters, n_kernels)):
        method = "rpcholesky" if kernel.precomputed else "landmarks"
        reason = f"n_samples={n} are too many for the exact kernel to be fast"
        reason = "Dask collections have no kernel matrix" if on_dask else reason
        return KernelPlan(kernel, X, method, reason, request.n_components)
    if on_dask:
        estimator = "an estimator with approximation='landmarks', 'rpcholesky' or 'rff'"
        raise _not_on_dask("kernel matrices", f"use a linear or cosine kernel, or {estimator}")
    reason = f"n_samples={n} are few enough for the exact kernel to be fast"
    if asked is None:
        reason = "approximation=None"
    n_bytes = GramSpace.restart_bytes(request.n_clusters, n, X.dtype.itemsize)
    if not request.cache_kernel:
        return KernelPlan(kernel, X, "blocked", reason, n_bytes=n_bytes)
    return KernelPlan(kernel, X, "exact", reason, n_bytes=n_bytes + n * n * X.dtype.itemsize)


def _graph(kernel: DiffusionKernel, X: Data, request: Request) -> KernelPlan:
    """The plan for a graph: that of all rows, or that of anchors if there are too many rows."""
    asked = request.approximation
    if not isinstance(kernel, HeatKernel) and asked not in ("auto", None):
        raise ValueError(
            f"approximation={asked!r} does not go with a graph that is given, whose rows "
            "have no coordinates; use None or 'auto'."
        )
    if asked not in ("auto", "landmarks", None):
        raise ValueError(
            f"approximation={asked!r} does not go with kernel={kernel.name!r}; use None (the graph "
            "of all rows), 'landmarks' (the graph of anchors) or 'auto', or another kernel such as "
            "'rbf'."
        )
    if not isinstance(request.n_components, str | Integral):
        raise ValueError(
            f"n_components={request.n_components!r}: the anchors of kernel={kernel.name!r} keep no "
            "fraction of the trace; give their number, or use n_components='auto', or another "
            "kernel such as 'rbf'."
        )
    if isinstance(kernel, HeatKernel) and not isinstance(X, Rows):
        kernel.check_rows(X)
    reason, may_have_anchors = None, asked == "auto" and isinstance(kernel, HeatKernel)
    if asked == "landmarks":
        reason = "approximation='landmarks'"
    elif may_have_anchors and isinstance(X, DaskRows):
        reason = "Dask collections have no neighbour graph"
    elif may_have_anchors and X.shape[0] > GRAPH_ROWS:
        reason = f"n_samples={X.shape[0]} are too many for a fast graph"
    if reason is not None:
        if not kernel.has_anchors:
            raise _no_anchors(kernel, X, reason)
        return KernelPlan(kernel, X, "landmarks", reason, request.n_components)
    if isinstance(X, DaskRows):
        anchors = "use an estimator with approximation='auto' or 'landmarks'"
        remedy = anchors if kernel.has_anchors else "pass X.compute()"
        raise _not_on_dask("the neighbour graph of kernel='heat'", remedy)
    reason = f"kernel={kernel.name!r} is held by the leading eigenvectors of its graph"
    return KernelPlan(kernel, X, "explicit", reason)


def _no_anchors(kernel: DiffusionKernel, X: Data, reason: str) -> ValueError:
    """The error that anchors are wanted where means of rows stand for none."""
    load = "pass X.compute() and " * isinstance(X, DaskRows)
    return ValueError(
        f"metric={kernel.parameters['metric']!r} takes no anchors, which are means of rows, but "
        f"{reason}. Use one of {', '.join(map(repr, WITH_ANCHORS))}, or {load}set "
        "approximation=None (the graph of all rows, which takes time)."
    )


def _not_on_dask(what: str, remedy: str) -> ValueError:
    """The error that something needs all rows of a Dask collection at once."""
    return ValueError(f"X: {what} cannot be computed for Dask collections; {remedy}.")


def exact_is_fast(kernel: Kernel, X: Data, n_clusters: int, n_kernels: int = 1) -> bool:
    """Whether a fit with the kernel matrix is fast, or not much slower than one of low rank."""
    n: int = X.shape[0]
    columns: int = X.nnz // n if scipy.sparse.issparse(X) else X.shape[1]
    if kernel.precomputed:
        return n * n * PASSES * 2 * n_clusters * n_kernels <= PRECOMPUTED * WORK
    # Both costs are for one sample. The k-means that finds landmarks costs 16 for each column.
    exact = n * (VALUE + 2 * columns + PASSES * 2 * n_clusters)
    if n * exact * n_kernels <= WORK:
        return True
    m = auto_components(n, n_clusters)
    return exact <= FASTER * m * (VALUE + 16 * columns + 2 * m + PASSES * 4 * n_clusters)


def _refuse_matrices(plan: Plan, request: Request) -> None:
    """Refuse kernel matrices, or steps with recomputed rows, that take too much memory."""
    grams = [one for one in plan.kernels if one.n_bytes]
    if not grams:
        return
    X, precomputed = grams[0].X, all(one.kernel.precomputed for one in grams)
    needed, n, itemsize = plan.n_bytes, X.shape[0], X.dtype.itemsize
    half = "" if itemsize == 4 else ", pass float32 data (half the memory)"
    method = "rpcholesky" if precomputed else "landmarks"
    low_rank = f"approximation={method!r} (low rank), or " if request.has_approximation else ""
    if request.cache_kernel:
        matrices = f"{len(grams)} kernel matrices" if len(grams) > 1 else "the kernel matrix"
        matrices = "a centred copy of X" if precomputed else matrices
        what = f"n_samples={n}: {matrices}, with the centroids,"
        remedies = (
            f"Set {low_rank}cache_kernel=False (kernel rows are recomputed at each step: slower, "
            f"but little memory){half}"
        )
    else:
        # Rows are recomputed for one kernel at a time.
        needed += FEWEST_HELD * n * itemsize
        what = f"n_samples={n}, n_clusters={plan.n_clusters}: a step with recomputed rows"
        what += f" of {len(grams)} kernels" if len(grams) > 1 else ""
        remedies = f"Use {low_rank}fewer rows or clusters{half}"
    if plan.whole:
        what = f"{what.rstrip(',')} and the rows of X,"
    plan.budget.check(needed, what, remedies)


def _refuse_graph(kernel: DiffusionKernel, X: Data, plan: Plan, n_features: int) -> None:
    """Refuse the graph of a heat kernel that takes more than its part of the memory."""
    k = plan.n_clusters
    anchors = "approximation='landmarks', or " if kernel.has_anchors else ""
    left = plan.budget.n_bytes - plan.n_bytes
    plan.budget._replace(n_bytes=left // n_features).check(
        kernel.fit_bytes(X, k),
        f"n_samples={X.shape[0]}, n_clusters={k}: the graph of kernel={kernel.name!r}, with "
        "eigenvectors,",
        f"Use {anchors}fewer rows, clusters or neighbours",
    )


def _in_memory(X: Data) -> Data:
    return X[:] if isinstance(X, Rows) else X


@contextmanager
def _named(names: Sequence[str] | None, index: int) -> Iterator[None]:
    """Put the name of a kernel, if it has one, before an error."""
    try:
        yield
    except ValueError as error:
        if names is None:
            raise
        raise ValueError(f"{names[index]}: {error}") from error


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
    """

    plan: Plan
    weight: Array
    threads: Threads
    seed: int
    reasons: list[str] = field(default_factory=list, init=False)
    _distinct: dict[int, dict[str, DistinctRows]] = field(default_factory=dict, init=False)

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
        placed = {key: self._placed(X) for key, X in self.plan.whole.items()}
        self._fit_graphs(names)
        spaces: list[Space] = []
        for index, one in enumerate(plans):
            # Features that are not held yet get equal parts of the memory that is left.
            room = left // max(1, sum(not other.n_bytes for other in plans[index:]))
            self.reasons.append(one.reason)
            with _named(names, index):
                space = self._held(one, placed.get(id(one.X), one.X), room)
            if isinstance(space, FeatureSpace):
                left = max(0, left - space.memory(self.plan.n_clusters).resident)
            spaces.append(space)
        return spaces

    def _placed(self, X: Data) -> Data:
        """Rows in memory, on the device."""
        if isinstance(X, Rows):
            X = X[:]
            assert_all_finite(X, input_name="X")
        return self.plan.device.put(X)

    def _held(self, planned: KernelPlan, X: Data, room: int) -> Space:
        """The space of one kernel; features may take ``room`` bytes."""
        kernel, device = planned.kernel, self.plan.device
        if planned.method == "exact":
            return GramSpace(kernel, X, self.weight, self.threads, device)
        if planned.method == "blocked":
            return GramSpace(kernel, X, self.weight, self.threads, device, room)
        features: FeatureMap = Explicit(kernel)
        if isinstance(kernel, DiffusionKernel):
            explicit = planned.method == "explicit"
            residuals = kernel.residuals(_in_memory(planned.X)) if explicit else None
            # Their norms do not say what they lack of the kernel of all eigenpairs.
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
        kernels, trials = [], []
        for index, planned in enumerate(self.plan.kernels):
            if isinstance(planned.kernel, DiffusionKernel):
                with _named(names, index):
                    trials.append(self._learn(planned.kernel, planned, index))
                kernels.append(planned.kernel)
        settle_times(kernels, trials, self.plan.n_clusters)

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
        # Its size does not depend on the budget, so that the clusters do not either, and is that of
        # the widest rows, so that it is the same for all kernels.
        widest = max(row_width(one.X) for one in self.plan.kernels)
        rows, weight = subsample_rows(X, self.weight, widest, at_least=2 * count)
        assert isinstance(kernel, HeatKernel)
        # Each kernel has a seed, because several sets of anchors show more than one.
        return kernel.learn_anchors(rows, weight, k, count, self.seed + index)

    def _features(self, features: FeatureMap, X: Data, room: int) -> FeatureSpace:
        """The space of features, which are held if they fit, and else recomputed in each step."""
        whitening, device = features.whitening, self.plan.device
        if whitening is not None and not features.residual_is_positive:
            warn_user(
                f"kernel={features.kernel.name} is not positive semi-definite on these data: its "
                "residual has no bound. Use a positive semi-definite kernel."
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
        what = (
            f"a subsample of {size} rows, with its features,"
            if size < n
            else "holding the features, with the rows,"
        )
        fewer = "columns" if isinstance(features, Explicit) else "components"
        half = "" if itemsize == 4 else ", pass float32 data (half the memory)"
        # Rows and features at first; then chunks take the place of the rows.
        self.plan.budget._replace(n_bytes=room).check(
            size * (max(columns, width) + width) * itemsize,
            f"n_samples={n}: {what}",
            f"Use fewer {fewer}{half}",
        )
        rows, weight = chosen_rows(X, self.weight, size)
        return FeatureSpace.hold(features, rows, weight, self.threads, self.plan.device)

    def _streamed(self, sample: FeatureSpace, X: Data, row_bytes: int, room: int) -> FeatureSpace:
        """The space of rows that are read chunk by chunk in each step, in half of the room."""
        Budget(room).check(
            2 * FEWEST_ROWS * row_bytes,
            f"n_samples={len(self.weight)}, n_clusters={self.plan.n_clusters}: {FEWEST_ROWS} rows "
            "and their features, in half of the memory budget,",
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
            f"{WORKER_FRACTION:.0%} of a worker's memory for each of its threads",
            f"X: a chunk of {X.chunk} rows with its features",
            f"Rechunk X into smaller blocks of rows, use fewer {_fewer(sample)}, or give the "
            "workers more memory or fewer threads",
        )
    total = X.shape[0] * sample.features.origin.nbytes
    return total <= WORKER_FRACTION * sum(n_bytes for n_bytes, _ in limits)


def _fewer(sample: FeatureSpace) -> str:
    """A number that can be lowered for features to take less memory."""
    return "clusters" if isinstance(sample.features, Explicit) else "components or clusters"
