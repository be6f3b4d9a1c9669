"""What a space is: the samples as vectors of a feature space, worked on block by block."""

import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from kernelmeans._arrays import like, namespace, on_host, overwrite, reduce, to_numpy
from kernelmeans._memory import cached_property
from kernelmeans._typing import Array, BoolArray, Data, DType, IntArray
from kernelmeans.engines import Threads
from kernelmeans.engines.cluster import align
from kernelmeans.lowrank import subsample
from kernelmeans.spaces.centroids import Centroids, Memory, PartialSum, Sums, Trace, side_by_side
from kernelmeans.spaces.chunks import Chunks
from kernelmeans.spaces.predictor import Predictor
from kernelmeans.spaces.step import Moved, Step

#: Bytes of one (k, R, block) array; a handful of them then stay in a core's cache.
BLOCK_BYTES = 2**20
#: Bytes below which starting the work on a block takes longer than the work.
SMALL_BLOCK_BYTES = 2**17
#: Fewest and most rows of a block: the products need some depth, the threads some blocks.
BLOCK_ROWS = (400, 4096)
#: Bytes of such an array on a device: starting its work takes longer than a small block does.
DEVICE_BLOCK_BYTES = 2**27


class Space(ABC):
    """The samples as vectors phi_i of a feature space, with their sample weights.

    A new space sets `sample_weight`, `device_weight` and `engine`, and writes the abstract methods.
    Whatever else is here has a default.

    Clusters and restarts are the leading axes of every array and samples the last, because
    reductions over the clusters are an order of magnitude cheaper that way. A block is a slice
    of the samples. Inner products are taken about an origin that the space chooses: distances do
    not depend on it, but rounding does.

    Attributes
    ----------
    sample_weight : ndarray of shape (n_samples,)
        Weights, none negative, not all zero.
    device_weight : ndarray of shape (n_samples,)
        The same where the samples are, and of the same library.
    engine : Threads
        Where its blocks are worked on.
    keeps_coefficients : bool
        Whether centroids are known by their coefficients over the samples. Sums are then those
        coefficients and nothing else.
    chunks : Chunks or None
        Samples that are opened together, where the space holds nothing of them in between.
    first : int
        Place of the first sample among all; above 0 in a chunk.
    kernel_weights : ndarray of shape (L,)
        Kernel weights that new centroids get.
    trace : Trace or None
        Traces that bound the error of an approximation; None where they do not.
    """

    sample_weight: Array
    device_weight: Array
    engine: Threads
    keeps_coefficients: bool = False
    chunks: Chunks | None = None
    first: int = 0
    kernel_weights: Array = np.ones(1)
    trace: Trace | None = None
    _subsample: "Space | None" = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Workers may pass features on to each other.
        vars(self).update(state)
        align(self)

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return int(self.sample_weight.shape[0])

    @cached_property
    def n_counting(self) -> int:
        """Number of samples of positive weight: the others decide nothing."""
        return int(np.count_nonzero(self.sample_weight))

    @property
    def dtype(self) -> DType:
        """Precision of the arithmetic."""
        return self.sample_weight.dtype

    @abstractmethod
    def squared_norms(self, block: slice) -> Array:
        """||phi_i||^2, shape (block,)."""

    def residuals(self, block: slice) -> Array | None:
        """The part of ||phi_i||^2 that the features lack, shape (block,); None if there is none."""
        return None

    @abstractmethod
    def products(self, centroids: Centroids, block: slice) -> Array:
        """<phi_i, theta_j>, shape (k, R, block)."""

    @abstractmethod
    def accumulate(self, coefficients: Array, block: slice, labels: IntArray | None = None) -> Sums:
        """Partial sums of c_i phi_i over this block, for coefficients (k, R, block) of any sign.

        Where labels (R, block) are given, the coefficients of all other clusters must be zero. They
        may be left out, which is faster.
        """

    @abstractmethod
    def add(self, total: Sums | None, partial: Sums, block: slice) -> Sums:
        """The total of the blocks before, None for the first, and a block's partial sums.

        In place, and in block order, so that sums do not depend on threads. Those of a single block
        may be its coefficients themselves.
        """

    @abstractmethod
    def move(self, step: Step) -> Moved:
        """Make new centroids; the increments and the old ones may be overwritten."""

    @abstractmethod
    def at(self, indices: IntArray) -> Centroids:
        """Centroids that sit on samples; indices of shape (k, R)."""

    @abstractmethod
    def at_rows(self, rows: Data, shape: tuple[int, int]) -> Centroids:
        """Centroids that sit on rows of input data, k * R of them, restarts running fastest.

        They are good for products only, until the first step has replaced them by sums of samples.
        """

    @abstractmethod
    def restricted(self, indices: IntArray, sample_weight: Array) -> "Space":
        """The space of some samples, with new weights (len(indices),)."""

    @abstractmethod
    def export(self, centroids: Centroids, copies: dict[int, Data] | None = None) -> Predictor:
        """Predictor of one restart's centroids for new rows of input data.

        Its arrays are copies, so that the model does not change when the user's rows do. Several
        predictors share the copies in ``copies``, where the id of the original is the key.
        """

    @abstractmethod
    def memory(self, k: int) -> Memory:
        """Bytes that it takes, with k centroids in each restart."""

    @property
    def embedded(self) -> Callable[[slice], Any] | None:
        """Rows of the samples as exported predictors embed them; None where they are not held.

        A function of a block, one of the predictor's own blocks. Its answer equals the embedding
        bit for bit.
        """
        return None

    def blocks(self, width: int) -> Iterator[slice]:
        """Blocks of samples for arrays of ``width`` values per sample."""
        smallest, largest = BLOCK_ROWS
        sample_bytes = width * self.dtype.itemsize
        if on_host(self.device_weight):
            rows = min(BLOCK_BYTES // sample_bytes, largest, -(-self.n_samples // 4))
            smallest = max(smallest, SMALL_BLOCK_BYTES // sample_bytes)
        else:
            rows = DEVICE_BLOCK_BYTES // sample_bytes
        count = max(1, min(-(-self.n_samples // max(1, rows)), self.n_samples // smallest))
        # Even blocks, in a number that threads can divide evenly.
        count = -(-count // 4) * 4 if count > 4 else count
        edges = [self.n_samples * i // count for i in range(count + 1)]
        for start, stop in pairwise(edges):
            yield slice(start, stop)

    def reduce(
        self,
        function: Callable[..., "PartialSum"],
        shape: tuple[int, int],
        *arguments: Any,
        per_sample: tuple[Array, ...] = (),
    ) -> "PartialSum":
        """Add up the results of a function for every block.

        Parameters
        ----------
        function : callable
            Called with the space, a block, the block's part of each array ``per_sample`` and the
            arguments; returns a `PartialSum`.
        shape : (k, R)
            Clusters and restarts of the sums.
        *arguments
            More arguments of the function.
        per_sample : tuple of ndarray of shape (..., n_samples)
            Arrays of which the function gets the block's part.

        Returns
        -------
        PartialSum
            The sums, in block order, so that they do not depend on the threads.
        """
        if self.chunks is not None:
            return self.chunks.total(self, Space.reduce, per_sample, function, shape, *arguments)
        work = self._work(function, per_sample, arguments)
        total: Sums | None = None
        sums: tuple[Any, ...] = ()
        for block, partial in self.engine.map(work, self.blocks(math.prod(shape))):
            if partial.vectors:
                total = self.add(total, partial.vectors, block)
            sums = tuple(map(operator.add, sums, partial.sums)) if sums else partial.sums
        return PartialSum(total or (), tuple(map(to_numpy, sums)))

    def collect(
        self,
        function: Callable[..., tuple[Any, ...]],
        width: int,
        *arguments: Any,
        per_sample: tuple[Array, ...] = (),
    ) -> tuple[Any, ...]:
        """Results of a function for every block, side by side.

        Parameters
        ----------
        function : callable
            Called as by `reduce`; returns arrays with the block's samples last.
        width : int
            Values per sample in its largest array.
        *arguments, per_sample
            As for `reduce`.

        Returns
        -------
        tuple of ndarray of shape (..., n_samples)
            For all samples.
        """
        if self.chunks is not None:
            pieces = self.chunks.map(self, Space.collect, per_sample, function, width, *arguments)
        else:
            work = self._work(function, per_sample, arguments)
            pieces = self.engine.map(work, self.blocks(width))
        return side_by_side(pieces, self.n_samples)

    def _work(
        self, function: Callable[..., Any], per_sample: Sequence[Array], arguments: Any
    ) -> Callable[[slice], Any]:
        def work(block: slice) -> Any:
            own = (like(a[..., block], self.device_weight) for a in per_sample)
            return function(self, block, *own, *arguments)

        return work

    def part(self, chunk: slice) -> "Space":
        """The space of a chunk, to be worked on as one block."""
        raise NotImplementedError

    @property
    def subsample(self) -> "Space":
        """The samples, or a random part of them where they are many: enough for seeding, say."""
        whole = self.subsample_size == self.n_samples
        if whole and self.chunks is None:
            # A space that held itself would outlive its last use.
            return self
        if self._subsample is None:
            every = np.arange(self.n_samples), self.sample_weight
            chosen = every if whole else subsample(self.sample_weight, self.subsample_size)
            self._subsample = self.restricted(*chosen)
        return self._subsample

    @property
    def subsample_size(self) -> int:
        """Samples in the subsample."""
        return self.n_samples

    def update(
        self,
        sums: Sums,
        cluster_weight: Array,
        old: Centroids | None = None,
        factor: Array | None = None,
        hard: BoolArray | None = None,
    ) -> Centroids:
        """Centroids old + factor (sums / weight - old).

        Parameters
        ----------
        sums : tuple of ndarray of shape (k, R, m)
            Sums over all samples; overwritten.
        cluster_weight : ndarray of shape (k, R)
            Their total coefficients. A centroid without any stays where it was.
        old : Centroids, default=None
            Where the centroids were; overwritten.
        factor : ndarray of shape (R,), default=None
            1 for the plain step, more for an over-relaxed one; ones when None.
        hard : ndarray of shape (R,), default=None
            Where each sample gave its whole weight to one cluster; nowhere when None.

        Returns
        -------
        Centroids
            The new centroids.
        """
        step = Step.of(self, sums, cluster_weight, old, factor, hard)
        return step.centroids(self.move(step), self.kernel_weights)

    def adapt(self, centroids: Centroids, which: BoolArray) -> Centroids:
        """Move the kernel weights of some restarts; a single kernel has none to move."""
        return centroids

    def penalty(self, centroids: Centroids) -> Array:
        """Penalty on the kernel weights of each restart, shape (R,)."""
        return np.zeros(centroids.shape[1])

    def traces(self, kernel_weights: Array) -> Trace | None:
        """The traces under kernel weights (L,)."""
        return self.trace

    @property
    def full(self) -> "Space":
        """The samples as the kernels that are approximated see them, for costs of partitions.

        Their squared norms have the residuals. Another space only where distances here do not: the
        features of a truncated heat kernel have norm 1.
        """
        return self._full or self

    @cached_property
    def _full(self) -> "Space | None":
        """The full space; None for this one, which must not hold itself: it would be freed late."""
        return None

    def reweighted(self, kernel_weights: Array) -> "Space":
        """The same samples under other kernel weights (L,)."""
        return self

    def norms(self, centroids: Centroids) -> Array:
        """||theta_j||^2, shape (k, R)."""
        norms: Array = centroids.norms[0].astype(self.dtype, copy=False)
        return norms

    def weighted_norms(self, kernel_weights: Array, block: slice) -> Array:
        """||phi_i||^2 under kernel weights (R, L), shape (R, block), or (block,) if all agree."""
        return self.squared_norms(block)

    def distances(self, centroids: Centroids, block: slice) -> Array:
        """||phi_i - theta_j||^2, shape (k, R, block), held above rounding noise."""
        d = self.products(centroids, block) * -2
        d += like(self.norms(centroids)[..., None], d)
        d += self.weighted_norms(centroids.kernel_weights, block)
        floor = self.floor(centroids)
        if reduce("min", d) < float(floor.max()):
            return overwrite(d, namespace(d).maximum, d, like(floor[:, None], d))
        return d

    def floor(self, centroids: Centroids) -> Array:
        """Smallest squared distance that is more than rounding, in each restart, shape (R,)."""
        return self.floors.repeat(centroids.shape[1])

    @cached_property
    def floors(self) -> Array:
        """Smallest squared distance that is more than rounding, for each kernel, shape (L,)."""
        resolution = np.finfo(self.dtype)
        floor = max(8 * float(resolution.eps) * self.magnitude, float(resolution.tiny))
        return np.array([floor], self.dtype)

    @property
    def uncentered(self) -> float:
        """Size of the numbers that inner products are computed from, over `magnitude`."""
        return 1.0

    @property
    def out_of_reach(self) -> Array:
        """Squared norms (L,) so large that no sample goes to a centroid that has them."""
        largest = 1e-4 * float(np.finfo(self.dtype).max)
        return np.array([min(1e3 * self.n_samples * self.magnitude, largest)])

    @cached_property
    def magnitude(self) -> float:
        """Size of the inner products that squared distances are computed from."""
        norms = np.abs(to_numpy(self.squared_norms(slice(0, self.n_samples))).astype(np.float64))
        return float(np.average(norms, weights=self.sample_weight))
