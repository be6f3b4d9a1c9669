"""How kernels are held: which way, at which price and why; and the spaces that hold them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import NamedTuple

import scipy.sparse
from sklearn.utils import assert_all_finite

from kernelmeans._arrays import on_host
from kernelmeans._devices import HOST, Budget, Device, too_large
from kernelmeans._typing import Array, Data
from kernelmeans._warnings import warn_user
from kernelmeans.engines import Threads
from kernelmeans.engines.cluster import Cluster
from kernelmeans.estimators.checks import not_on_dask
from kernelmeans.heat import DiffusionKernel, DistinctRows, HeatKernel, auto_anchors
from kernelmeans.kernels import Kernel
from kernelmeans.lowrank import (
    Explicit,
    FeatureMap,
    approximate,
    auto_components,
    check_method,
    subsample_rows,
)
from kernelmeans.rows import Rows
from kernelmeans.rows.dask import DaskRows
from kernelmeans.spaces import FeatureSpace, GramSpace, Space, stream, stream_on_cluster
from kernelmeans.spaces.features import FILL_ROWS, row_blocks

#: What fits cost, in multiplications (``benchmarks/auto.py`` measures it): a kernel value, beside
#: two for each column, and the passes over all samples, of two for each cluster.
VALUE, PASSES = 20, 70
#: ``approximation="auto"`` takes the exact kernel where that costs no more than this, which is some
#: seconds on two cores, or where a low rank would not be so many times faster.
WORK, FASTER = 5e10, 5
#: Rows up to which ``approximation="auto"`` takes the graph of all rows for a heat kernel.
GRAPH_ROWS = 50_000
#: How many times as much a kernel matrix that is there may cost: no rows are left to make it of.
PRECOMPUTED = 10
#: Kernel rows that a step holds at least, where it recomputes them.
FEWEST_HELD = 8
#: Most bytes of a part's rows and features, which more would not make faster, and fewest rows.
PART_BYTES, FEWEST_ROWS = 2**25, 64
#: Parts that half of the budget holds, if not more, and blocks that are filled at a time. Not as
#: many as threads ask for: the parts, and with them the rounding, must not depend on these.
PARTS, FILLED_BLOCKS = 16, 8
#: Share of their memory that Dask workers may fill with features, and with the work on a chunk.
WORKER_SHARE = 0.5


class Request(NamedTuple):
    """What the user asks for.

    Attributes
    ----------
    n_clusters : int
        Clusters, whose centroids take time and memory.
    approximation, n_components, cache_kernel
        As the estimators take them.
    has_approximation : bool
        Whether the estimator has these parameters, for messages to name them.
    """

    n_clusters: int
    approximation: str | None = None
    n_components: int | float | str = "auto"
    cache_kernel: bool = True
    has_approximation: bool = True


class Part(NamedTuple):
    """How one kernel is held.

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
        Why.
    n_components : int, float or "auto"
        Of an approximation, as the estimators take it.
    n_bytes : int
        What it takes for the whole fit; 0 for features, whose number is found out.
    """

    kernel: Kernel
    X: Data
    method: str
    reason: str
    n_components: int | float | str = "auto"
    n_bytes: int = 0


class Plan(NamedTuple):
    """How all kernels of a fit are held, and what that takes.

    Attributes
    ----------
    parts : list of Part
        How each of them is.
    whole : dict
        Training rows that are read, or go to the device, as a whole, by their identity.
    n_bytes : int
        What all but features and recomputed rows take.
    n_clusters : int
        Clusters, whose centroids take memory too.
    budget : Budget
        What all may take.
    device : Device
        Where they are held.
    """

    parts: list[Part]
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

    Only the number of rows, clusters and columns and what is asked for decide; the memory refuses.

    Parameters
    ----------
    kernels : sequence of Kernel
        The kernels.
    rows : sequence of {ndarray, CSR matrix, Rows}
        Training rows of each; equal ones are one object.
    request : Request
        What the user asks for.
    budget : Budget
        What all of them may take together.
    device : Device, default=HOST
        Where they are to be held.

    Returns
    -------
    Plan
        How, why, and at which price.

    Raises
    ------
    ValueError
        If the approximation goes neither with a kernel nor with ``n_components``, or a Dask
        collection with the plan.
    MemoryError
        If the plan would not fit into the budget.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.estimators.plan import Request, make_plan
    >>> from kernelmeans.kernels import Kernel
    >>> from kernelmeans._devices import Budget
    >>> X = np.zeros((100, 2))
    >>> kernel = Kernel("laplacian", {"gamma": 1.0})
    >>> plan = make_plan([kernel], [X], Request(8, "auto"), Budget(10**6))
    >>> plan.parts[0].method, plan.n_bytes
    ('exact', 112000)
    >>> plan.parts[0].reason
    'n_samples=100 are few enough for the exact kernel to be fast'
    """
    n_kernels = len(kernels)
    parts = [_part(own, X, request, n_kernels) for own, X in zip(kernels, rows, strict=True)]
    read = {id(own.X): own.X for own in parts if own.n_bytes and not own.kernel.precomputed}
    whole = {
        key: X
        for key, X in read.items()
        if isinstance(X, Rows) or (not device.is_host and on_host(X))
    }
    # The model keeps a copy of rows that are read.
    n_bytes = sum(X.nbytes * (2 if isinstance(X, Rows) else 1) for X in whole.values())
    n_bytes += sum(own.n_bytes for own in parts)
    found = Plan(parts, whole, int(n_bytes), request.n_clusters, budget, device)
    _refuse_matrices(found, request)
    features = [own for own in parts if not own.n_bytes]
    for own in features:
        if own.method == "explicit" and isinstance(own.kernel, DiffusionKernel):
            _refuse_graph(own.kernel, own.X, found, len(features))
    return found


def _part(kernel: Kernel, X: Data, request: Request, n_kernels: int) -> Part:
    if isinstance(kernel, DiffusionKernel):
        return _graph(kernel, X, request)
    if kernel.has_features:
        return Part(
            kernel, X, "explicit", f"kernel={kernel.name!r} is an inner product of the rows"
        )
    n, asked, on_dask = X.shape[0], request.approximation, isinstance(X, DaskRows)
    if asked not in ("auto", None):
        check_method(kernel, asked, request.n_components)
        return Part(kernel, X, asked, f"approximation={asked!r}", request.n_components)
    if asked == "auto" and (on_dask or not exact_is_fast(kernel, X, request.n_clusters, n_kernels)):
        method = "rpcholesky" if kernel.precomputed else "landmarks"
        reason = f"n_samples={n} are too many for the exact kernel to be fast"
        reason = "Dask collections have no kernel matrix" if on_dask else reason
        return Part(kernel, X, method, reason, request.n_components)
    if on_dask:
        estimator = "an estimator with approximation='landmarks', 'rpcholesky' or 'rff'"
        raise not_on_dask("kernel matrices", f"use a linear or cosine kernel, or {estimator}")
    reason = f"n_samples={n} are few enough for the exact kernel to be fast"
    if asked is None:
        reason = "approximation=None"
    n_bytes = GramSpace.restart_bytes(request.n_clusters, n, X.dtype.itemsize)
    if not request.cache_kernel:
        return Part(kernel, X, "blocked", reason, n_bytes=n_bytes)
    return Part(kernel, X, "exact", reason, n_bytes=n_bytes + n * n * X.dtype.itemsize)


def _graph(kernel: DiffusionKernel, X: Data, request: Request) -> Part:
    """The graph of all rows, or anchors for more than it can have."""
    asked = request.approximation
    if not kernel.has_anchors and asked not in ("auto", None):
        raise ValueError(
            f"approximation={asked!r} does not go with a graph that is given, whose rows "
            "have no coordinates; use None or 'auto'."
        )
    if asked not in ("auto", "landmarks", None):
        raise ValueError(
            f"approximation={asked!r} does not go with kernel={kernel.name!r}; use None, "
            "the graph of all rows, 'landmarks', that of anchors, or 'auto', or another kernel as "
            "'rbf'."
        )
    if not isinstance(request.n_components, str | Integral):
        raise ValueError(
            f"n_components={request.n_components!r}: the anchors of kernel={kernel.name!r} keep no "
            "share of the trace; give their number, use n_components='auto', or another kernel as "
            "'rbf'."
        )
    reason = None
    if asked == "landmarks":
        reason = "approximation='landmarks'"
    elif asked == "auto" and kernel.has_anchors and isinstance(X, DaskRows):
        reason = "Dask collections have no neighbour graph"
    elif asked == "auto" and kernel.has_anchors and X.shape[0] > GRAPH_ROWS:
        reason = f"n_samples={X.shape[0]} are too many for a fast graph"
    if reason is not None:
        return Part(kernel, X, "landmarks", reason, request.n_components)
    if isinstance(X, DaskRows):
        remedy = "use an estimator with approximation='auto' or 'landmarks'"
        raise not_on_dask("the neighbour graph of kernel='heat'", remedy)
    reason = f"kernel={kernel.name!r} is held by the eigenvectors of its graph"
    return Part(kernel, X, "explicit", reason)


def exact_is_fast(kernel: Kernel, X: Data, n_clusters: int, n_kernels: int = 1) -> bool:
    """Whether a fit with the kernel matrix is quick, or little slower than one of low rank."""
    n: int = X.shape[0]
    columns: int = X.nnz // n if scipy.sparse.issparse(X) else X.shape[1]
    if kernel.precomputed:
        return n * n * PASSES * 2 * n_clusters * n_kernels <= PRECOMPUTED * WORK
    # For each sample. Finding landmarks by k-means, and then features, takes eight times 2 columns.
    exact = n * (VALUE + 2 * columns + PASSES * 2 * n_clusters)
    if n * exact * n_kernels <= WORK:
        return True
    m = auto_components(n, n_clusters)
    return exact <= FASTER * m * (VALUE + 16 * columns + 2 * m + PASSES * 4 * n_clusters)


def _refuse_matrices(plan: Plan, request: Request) -> None:
    """Refuse kernel matrices, or steps with recomputed rows, that take too much memory."""
    grams = [own for own in plan.parts if own.n_bytes]
    if not grams:
        return
    X, precomputed = grams[0].X, all(own.kernel.precomputed for own in grams)
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
    """Refuse the graph of a heat kernel that takes too much of the memory for features."""
    k = plan.n_clusters
    anchors = "approximation='landmarks', or " if kernel.has_anchors else ""
    left = plan.budget.n_bytes - plan.n_bytes
    plan.budget._replace(n_bytes=left // n_features).check(
        kernel.fit_bytes(X, k),
        f"n_samples={X.shape[0]}, n_clusters={k}: the graph of kernel={kernel.name!r}, with "
        "eigenvectors,",
        f"Use {anchors}fewer rows, clusters or neighbours",
    )


@dataclass(frozen=True)
class Holder:
    """Carries out a plan.

    Attributes
    ----------
    plan : Plan
        The plan.
    weight : ndarray of shape (n_samples,)
        Sample weights.
    threads : Threads
        Where the spaces are worked on.
    seed : int
        Of landmarks and random features.
    reasons : list of str
        Why each kernel is held as it is, once it is.
    """

    plan: Plan
    weight: Array
    threads: Threads
    seed: int
    reasons: list[str] = field(default_factory=list, init=False)
    _distinct: dict[int, dict[str, DistinctRows]] = field(default_factory=dict, init=False)

    def hold(self, names: Sequence[str] | None = None) -> list[Space]:
        """A space for each kernel.

        Parameters
        ----------
        names : sequence of str, default=None
            What messages call the kernels.

        Returns
        -------
        list of Space
            In their order.

        Raises
        ------
        MemoryError
            If features would not fit into the budget.
        ValueError
            If a kernel is not finite on the rows, or cannot be normalised.
        """
        parts, left = self.plan.parts, self.plan.budget.n_bytes - self.plan.n_bytes
        # Equal rows are one object, and are read, or go to a device, once.
        placed = {key: self._placed(X) for key, X in self.plan.whole.items()}
        spaces: list[Space] = []
        for index, own in enumerate(parts):
            # Kernels whose features are still to be found get equal parts of the memory left.
            room = left // max(1, sum(not other.n_bytes for other in parts[index:]))
            self.reasons.append(own.reason)
            try:
                space = self._held(own, placed.get(id(own.X), own.X), room, index)
            except ValueError as error:
                if names is None:
                    raise
                raise ValueError(f"{names[index]}: {error}") from error
            if isinstance(space, FeatureSpace):
                left = max(0, left - space.memory(self.plan.n_clusters).resident)
            spaces.append(space)
        return spaces

    def _placed(self, X: Data) -> Data:
        if isinstance(X, Rows):
            X = X[:]
            assert_all_finite(X, input_name="X")
        return self.plan.device.put(X)

    def _held(self, own: Part, X: Data, room: int, index: int) -> Space:
        kernel = own.kernel
        if own.method == "exact":
            return GramSpace(kernel, X, self.weight, self.threads, device=self.plan.device)
        if own.method == "blocked":
            return GramSpace(kernel, X, self.weight, self.threads, self.plan.device, room)
        features: FeatureMap = Explicit(kernel)
        if isinstance(kernel, DiffusionKernel):
            self._fit_heat(kernel, own, index)
            # Anchors stand for another graph than that of all rows, by nobody knows how much.
            features.residual_is_positive = own.method == "explicit"
        elif own.method != "explicit":
            request = own.method, own.n_components, self.seed, self.plan.n_clusters
            features = approximate(kernel, X, self.weight, *request)
        return self._features(features, X, room)

    def _fit_heat(self, kernel: DiffusionKernel, own: Part, index: int) -> None:
        X, k = own.X, self.plan.n_clusters
        if own.method == "explicit":
            rows = X[:] if isinstance(X, Rows) else X
            kernel.fit(rows, self.weight, k, self._distinct.setdefault(id(X), {}))
            return
        count = own.n_components
        count = auto_anchors(X.shape[0], k) if isinstance(count, str) else int(count)
        # As large for any budget: clusters should not depend on it.
        rows, weight = subsample_rows(X, self.weight, at_least=2 * count)
        # Draws of anchors differ: several of them see more than one.
        assert isinstance(kernel, HeatKernel)
        kernel.fit_anchors(rows, weight, k, count, self.seed + index)

    def _features(self, features: FeatureMap, X: Data, room: int) -> FeatureSpace:
        """Features held, if they fit, or else recomputed at each step."""
        whitening = features.whitening
        if whitening is not None and not features.residual_is_positive:
            warn_user(
                f"kernel={features.kernel.name} is not positive semi-definite on these data: what "
                "landmarks leave out of it has no bound. Use a positive semi-definite kernel."
            )
        n, itemsize = self.weight.shape[0], self.weight.dtype.itemsize
        there = features.moved(self.plan.device.put)
        raw = there.raw(*map(self.plan.device.put, features.read(X, slice(0, 1))))
        width = (raw if whitening is None else whitening).shape[1]
        columns = X.nnz // n if scipy.sparse.issparse(X) else X.shape[1]
        row_bytes = (columns + 2 * raw.shape[1] + 8 * self.plan.n_clusters) * itemsize
        # What threads are at work on counts where the whole is more.
        at_work = FILLED_BLOCKS * FILL_ROWS
        passing = at_work * row_bytes if n > at_work else 0
        needed = n * width * itemsize + passing
        fits = needed <= room
        if fits or features.kernel.precomputed:
            # Parts of a kernel matrix do not know their own diagonal.
            what = f"n_samples={n}: {width} components of each sample"
            budget = self.plan.budget._replace(n_bytes=room)
            budget.check(needed, what, "Use fewer components")
        if scipy.sparse.issparse(raw) or (fits and not isinstance(X, DaskRows)):
            return FeatureSpace.hold(features, X, self.weight, self.threads, self.plan.device)
        rows, weight = subsample_rows(X, self.weight, room // 8, columns=raw.shape[1])
        sample = FeatureSpace.hold(features, rows, weight, self.threads, self.plan.device)
        cluster = Cluster.find() if isinstance(X, DaskRows) else None
        if cluster is not None:
            held = fits_workers(cluster, sample, X, row_bytes)
            return stream_on_cluster(sample, X, self.weight, cluster, held)
        return self._streamed(sample, X, row_bytes, room)

    def _streamed(self, sample: FeatureSpace, X: Data, row_bytes: int, budget: int) -> FeatureSpace:
        room = budget // 2
        Budget(budget).check(
            2 * FEWEST_ROWS * row_bytes,
            f"n_samples={len(self.weight)}, n_clusters={self.plan.n_clusters}: {FEWEST_ROWS} rows "
            "and their features, in half of the memory budget,",
            f"Use fewer {_fewer(sample)}",
        )
        self.reasons[-1] += "; its features are recomputed at each step"
        most = max(FEWEST_ROWS, min(PART_BYTES, room // PARTS) // row_bytes)
        # A thread works on one part while another is read for it.
        in_flight = min(2 * self.threads.workers, room // (most * row_bytes))
        return stream(sample, X, row_blocks(X, most), self.weight, in_flight)


def fits_workers(cluster: Cluster, sample: FeatureSpace, X: DaskRows, row_bytes: int) -> bool:
    """Whether workers can keep all features; refused if one chunk is too large for them."""
    limits = cluster.memory_limits()
    if not limits:
        return True
    needed = X.chunk * row_bytes
    limit = int(WORKER_SHARE * min(n_bytes / n_threads for n_bytes, n_threads in limits))
    if needed > limit:
        raise too_large(
            needed,
            limit,
            f"{WORKER_SHARE:.0%} of a worker's memory for each of its threads",
            f"X: a chunk of {X.chunk} rows with its features",
            f"Rechunk X into smaller blocks of rows, use fewer {_fewer(sample)}, or give the "
            "workers more memory or fewer threads",
        )
    held = X.shape[0] * sample.features.origin.nbytes
    return held <= WORKER_SHARE * sum(limit for limit, _ in limits)


def _fewer(sample: FeatureSpace) -> str:
    """What makes features take less memory."""
    explicit = isinstance(sample.features, Explicit)
    return "clusters" if explicit else "components or clusters"
