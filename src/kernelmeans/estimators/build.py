"""From kernels and rows to spaces, within the memory budget."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import scipy.sparse
from sklearn.utils import assert_all_finite

from kernelmeans._arrays import on_host
from kernelmeans._devices import HOST, Device
from kernelmeans._typing import Array, Data
from kernelmeans._warnings import warn_user
from kernelmeans.engines import Threads
from kernelmeans.engines.cluster import Cluster
from kernelmeans.estimators.checks import check_memory
from kernelmeans.estimators.choice import FEWEST_HELD, Choice
from kernelmeans.estimators.lazy import refuse_dask
from kernelmeans.heat import DiffusionKernel, DistinctRows, HeatKernel, auto_anchors
from kernelmeans.kernels import Kernel
from kernelmeans.lowrank import Approximation, Explicit, approximate, draw_rows
from kernelmeans.rows import Rows
from kernelmeans.rows.lazy import DaskRows
from kernelmeans.spaces import CachedGramSpace, FeatureSpace, GramSpace, PartedSpace, Space
from kernelmeans.spaces.features import FILL_ROWS, row_blocks

#: Most bytes of a part's rows and features, which more would not make faster, and fewest rows.
PART_BYTES, FEWEST_ROWS = 2**25, 64
#: Parts that half of the budget holds, if not more, and blocks that are filled at a time. Not as
#: many as threads ask for: the parts, and with them the rounding, must not depend on these.
PARTS, FILLED_BLOCKS = 16, 8
#: Bytes that are never refused for what is free at the moment.
ALWAYS_FREE = 2**26
#: Share of their memory that Dask workers may fill with features, and with the work on a chunk.
WORKER_SHARE = 0.5


@dataclass(frozen=True)
class Builder:
    """Makes the space of each kernel.

    Attributes
    ----------
    n_clusters : int
        Clusters, whose centroids take memory too.
    budget : int
        Bytes that all spaces may take together.
    weight : ndarray of shape (n_samples,)
        Sample weights.
    threads : Threads
        Where kernel values are computed.
    seed : int
        Of landmarks and random features.
    approximates : bool, default=True
        Whether the estimator has an ``approximation`` parameter to point at.
    device : Device, default=HOST
        Where the spaces compute.
    free : float, default=inf
        Bytes free there, if they count: nothing is planned by them, but more is refused.
    """

    n_clusters: int
    budget: int
    weight: Array
    threads: Threads
    seed: int
    approximates: bool = True
    device: Device = HOST
    free: float = math.inf
    _distinct: dict[int, dict[str, DistinctRows]] = field(default_factory=dict, init=False)

    def spaces(
        self,
        kernels: Sequence[Kernel],
        rows: Sequence[Data],
        choices: Sequence[Choice],
        names: Sequence[str] | None = None,
    ) -> list[Space]:
        """A space for each kernel.

        Parameters
        ----------
        kernels : sequence of Kernel
            The kernels.
        rows : sequence of {ndarray, CSR matrix, Rows}
            What each kernel is of.
        choices : sequence of Choice
            How each is to be held.
        names : sequence of str, default=None
            What messages call the kernels.

        Returns
        -------
        list of Space
            In the order of the kernels.

        Raises
        ------
        MemoryError
            If they would not fit into the budget.
        ValueError
            If a kernel is not finite on the rows, or cannot be normalised.
        """
        budget = self.budget - self._checked(kernels, rows, choices)
        spaces: list[Space] = []
        # Equal rows are one object, and are read, or go to a device, once.
        placed = {id(X): self._placed(X) for X in self._wanted_whole(kernels, rows, choices)}
        made_of_features = [choice.method not in ("exact", "blocked") for choice in choices]
        for index, (kernel, X, choice) in enumerate(zip(kernels, rows, choices, strict=True)):
            # What one kernel leaves of its share is the next ones'.
            share = budget // sum(made_of_features[index:]) if made_of_features[index] else budget
            try:
                space = self._space(kernel, placed.get(id(X), X), choice, share, index)
            except ValueError as error:
                if names is None:
                    raise
                raise ValueError(f"{names[index]}: {error}") from error
            if isinstance(space, FeatureSpace):
                budget = max(budget - space.resident_bytes, 0)
            spaces.append(space)
        return spaces

    def _wanted_whole(
        self, kernels: Sequence[Kernel], rows: Sequence[Data], choices: Sequence[Choice]
    ) -> list[Data]:
        """Different rows that kernel values are computed of, and that are not where these are."""
        held = {
            id(X): X
            for kernel, X, choice in zip(kernels, rows, choices, strict=True)
            if choice.method in ("exact", "blocked") and not kernel.precomputed
        }
        for X in held.values():
            estimator = "an estimator with approximation='landmarks', 'rpcholesky' or 'rff'"
            refuse_dask(X, "kernel matrices", f"use a linear or cosine kernel, or {estimator}")
        elsewhere = not self.device.is_host
        return [X for X in held.values() if isinstance(X, Rows) or (elsewhere and on_host(X))]

    def _placed(self, X: Data) -> Data:
        if isinstance(X, Rows):
            X = X[:]
            assert_all_finite(X, input_name="X")
        return self.device.put(X)

    def _checked(
        self, kernels: Sequence[Kernel], rows: Sequence[Data], choices: Sequence[Choice]
    ) -> int:
        """Bytes that all but features and recomputed rows take; refused if they are too many."""
        n, itemsize = self.weight.shape[0], self.weight.dtype.itemsize
        cached = sum(choice.method == "exact" for choice in choices)
        n_gram = cached + sum(choice.method == "blocked" for choice in choices)
        working = GramSpace.working_bytes(self.n_clusters, n, itemsize) * n_gram
        # Rows are recomputed for one kernel at a time.
        passing = FEWEST_HELD * n * (n_gram > cached) * itemsize
        whole = self._wanted_whole(kernels, rows, choices)
        # The model keeps a copy of rows that are read.
        held = sum(X.nbytes * (2 if isinstance(X, Rows) else 1) for X in whole)
        needed = working + cached * n * n * itemsize + passing + held
        what, remedies = self._description(kernels, n, itemsize, n_gram, cached)
        if held:
            what = f"{what.rstrip(',')} and the rows of X,"
        self._check(needed, self.budget, what, remedies)
        return int(needed - passing)

    def _check(self, needed: int, budget: int, what: str, remedies: str) -> None:
        """Refuse what is beyond a budget, or would make the machine run out of memory."""
        check_memory(needed, budget, what, remedies)
        if needed > ALWAYS_FREE:
            others = remedies[0].lower() + remedies[1:]
            remedies = f"Set memory_budget to what the fit may take, or {others}"
            check_memory(needed, self.free, what, remedies, "the free memory")

    def _description(
        self, kernels: Sequence[Kernel], n: int, itemsize: int, n_gram: int, cached: int
    ) -> tuple[str, str]:
        """What takes the memory, and what to do about it."""
        half = "" if itemsize == 4 else ", pass float32 data (half the memory)"
        low_rank = "approximation='auto' (low rank), or " if self.approximates else ""
        if not cached:
            what = f"n_samples={n}, n_clusters={self.n_clusters}: a step with recomputed rows"
            if n_gram > 1:
                what += f" of {n_gram} kernels"
            return what, f"Use {low_rank}fewer rows or clusters{half}"
        matrices = f"{cached} kernel matrices" if cached > 1 else "the kernel matrix"
        if all(kernel.precomputed for kernel in kernels):
            matrices = "a centred copy of X"
        remedies = (
            f"Set {low_rank}cache_kernel=False (kernel rows are recomputed at each step: slower, "
            f"but little memory){half}"
        )
        return f"n_samples={n}: {matrices}, with the centroids,", remedies

    def _space(self, kernel: Kernel, X: Data, choice: Choice, budget: int, index: int) -> Space:
        if choice.method == "exact":
            return CachedGramSpace(kernel, X, self.weight, self.threads, device=self.device)
        if choice.method == "blocked":
            return GramSpace(kernel, X, self.weight, self.threads, budget, self.device)
        found = Approximation(Explicit(kernel), None)
        if isinstance(kernel, DiffusionKernel):
            # Draws of anchors differ: several of them see more than one.
            self._fit_heat(kernel, X, choice, budget, self.seed + index)
            # Anchors stand for another graph than that of all rows, by nobody knows how much.
            found.features.certified = choice.method == "explicit"
        elif choice.method != "explicit":
            wish = choice.method, choice.n_components, self.seed, self.n_clusters
            found = approximate(kernel, X, self.weight, *wish)
        return self._features(found, X, budget)

    def _fit_heat(
        self, kernel: DiffusionKernel, X: Data, choice: Choice, budget: int, seed: int
    ) -> None:
        n, k = X.shape[0], self.n_clusters
        if choice.method == "explicit":
            remedy = "use an estimator with approximation='auto' or 'landmarks'"
            refuse_dask(X, "the neighbour graph of kernel='heat'", remedy)
            graph = f"the graph of kernel={kernel.name!r}, with eigenvectors,"
            what = f"n_samples={n}, n_clusters={k}: {graph}"
            anchors = "approximation='landmarks', or " if kernel.has_anchors else ""
            remedies = f"Use {anchors}fewer rows, clusters or neighbours"
            self._check(kernel.fit_bytes(X, k), budget, what, remedies)
            rows = X[:] if isinstance(X, Rows) else X
            kernel.fit(rows, self.weight, k, self._distinct.setdefault(id(X), {}))
            return
        count = choice.n_components
        count = auto_anchors(n, k) if isinstance(count, str) else int(count)
        # As large for any budget: clusters should not depend on it.
        rows, weight = draw_rows(X, self.weight, at_least=2 * count)
        assert isinstance(kernel, HeatKernel)
        kernel.fit_anchors(rows, weight, k, count, seed)

    def _features(self, found: Approximation, X: Data, budget: int) -> FeatureSpace:
        """Features held, if they fit, or else recomputed at each step."""
        features, lift = found
        if lift is not None and not features.certified:
            warn_user(
                f"kernel={features.kernel.name} is not positive semi-definite on these data: what "
                "landmarks leave out of it has no bound. Use a positive semi-definite kernel."
            )
        n, itemsize = self.weight.shape[0], self.weight.dtype.itemsize
        there = features.moved(self.device.put)
        raw = there.raw(*map(self.device.put, features.read(X, slice(0, 1))))
        width = raw.shape[1] if lift is None else lift.shape[1]
        columns = X.nnz // n if scipy.sparse.issparse(X) else X.shape[1]
        row_bytes = (columns + 2 * raw.shape[1] + 8 * self.n_clusters) * itemsize
        # What threads are at work on counts where the whole is more.
        at_work = FILLED_BLOCKS * FILL_ROWS
        passing = at_work * row_bytes if n > at_work else 0
        needed = n * width * itemsize + passing
        fits = needed <= budget
        if fits or features.kernel.precomputed:
            # Parts of a kernel matrix do not know their own diagonal.
            what = f"n_samples={n}: {width} components of each sample"
            self._check(needed, budget, what, "Use fewer components")
        if scipy.sparse.issparse(raw) or (fits and not isinstance(X, DaskRows)):
            return FeatureSpace.hold(features, X, self.weight, self.threads, lift, self.device)
        rows, weight = draw_rows(X, self.weight, budget // 8, columns=raw.shape[1])
        sample = FeatureSpace.hold(features, rows, weight, self.threads, lift, self.device)
        cluster = Cluster.find() if isinstance(X, DaskRows) else None
        if cluster is not None:
            held = self._fits_workers(cluster, sample, X, row_bytes)
            space = PartedSpace.on_cluster(sample, X, self.weight, cluster, held)
        else:
            space = self._parted(sample, X, row_bytes, budget)
        space.survey(self.threads)
        return space

    def _parted(self, sample: FeatureSpace, X: Data, row_bytes: int, budget: int) -> PartedSpace:
        room = budget // 2
        check_memory(
            2 * FEWEST_ROWS * row_bytes,
            budget,
            f"n_samples={len(self.weight)}, n_clusters={self.n_clusters}: {FEWEST_ROWS} rows and "
            "their features, in half of the memory budget,",
            f"Use fewer {_fewer(sample)}",
        )
        most = max(FEWEST_ROWS, min(PART_BYTES, room // PARTS) // row_bytes)
        # A thread works on one part while another is read for it.
        in_flight = min(2 * self.threads.workers, room // (most * row_bytes))
        return PartedSpace(sample, X, row_blocks(X, most), self.weight, in_flight)

    def _fits_workers(
        self, cluster: Cluster, sample: FeatureSpace, X: DaskRows, row_bytes: int
    ) -> bool:
        """Whether workers can keep all features; refused if one chunk is too large for them."""
        limits = cluster.memory_limits()
        if not limits:
            return True
        check_memory(
            X.chunk * row_bytes,
            int(WORKER_SHARE * min(limit / n_threads for limit, n_threads in limits)),
            f"X: a chunk of {X.chunk} rows with its features",
            f"Rechunk X into smaller blocks of rows, use fewer {_fewer(sample)}, or give the "
            "workers more memory or fewer threads",
            f"{WORKER_SHARE:.0%} of a worker's memory for each of its threads",
        )
        held = X.shape[0] * sample.frame.centre.nbytes
        return held <= WORKER_SHARE * sum(limit for limit, _ in limits)


def _fewer(sample: FeatureSpace) -> str:
    """What makes features take less memory."""
    explicit = isinstance(sample.frame.features, Explicit)
    return "clusters" if explicit else "components or clusters"
