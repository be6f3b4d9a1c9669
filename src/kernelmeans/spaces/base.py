"""What a space is: the samples' feature vectors, in whatever form, answered block by block."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from kernelmeans._typing import Array, Data, DType, IntArray
from kernelmeans.kernels import Kernel
from kernelmeans.spaces.predictor import Predictor

#: Bytes of one (k, R, block) array; a handful of them then stay in a core's cache.
BLOCK_BYTES = 2**20
#: Fewest and most rows of a block: the products need some depth, the threads some blocks.
BLOCK_ROWS = (400, 4096)


class Centroids(NamedTuple):
    """k centroids of each of R restarts, in the form their space holds them.

    Attributes
    ----------
    vectors : tuple of ndarray of shape (k, R, m)
        Arrays that are linear in the centroid, so that centroids can be mixed.
    norms : ndarray of shape (k, R)
        Squared norms.
    """

    vectors: tuple[Array, ...]
    norms: Array

    def take(self, restarts: Array | IntArray) -> "Centroids":
        """The centroids of some restarts (a mask or indices over R)."""
        return Centroids(tuple(v[:, restarts] for v in self.vectors), self.norms[:, restarts])

    def pick(self, where: tuple[IntArray, IntArray]) -> "Centroids":
        """The centroids at (j, r), both of shape (m,), as an (m, 1) set."""
        vectors = tuple(v[where][:, None] for v in self.vectors)
        return Centroids(vectors, self.norms[where][:, None])

    def put(self, where: tuple[IntArray, IntArray], other: "Centroids") -> None:
        """Overwrite the centroids at (j, r) by an (m, 1) set."""
        for mine, theirs in zip(self.vectors, other.vectors, strict=True):
            mine[where] = theirs[:, 0]
        self.norms[where] = other.norms[:, 0]

    @classmethod
    def join(cls, parts: Sequence["Centroids"]) -> "Centroids":
        """Several sets of restarts as one."""
        vectors = zip(*(part.vectors for part in parts), strict=True)
        joined = tuple(np.concatenate(pieces, axis=1) for pieces in vectors)
        return cls(joined, np.concatenate([part.norms for part in parts], axis=1))


def check_finite(kernel: Kernel, *values: Array) -> None:
    """Refuse a kernel that overflows on the data, or is not defined there.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    *values : ndarray
        Sums that every kernel value or feature has entered.

    Raises
    ------
    ValueError
        If one is NaN or infinite.
    """
    if not all(np.isfinite(value).all() for value in values):
        raise ValueError(
            f"kernel={kernel.name!r} with parameters {kernel.parameters} is NaN or infinite on "
            f"these data in {values[0].dtype}; scale the columns of X, or choose another kernel or "
            "other parameters."
        )


class Space(ABC):
    """The samples as vectors phi_i of a feature space, with their sample weights.

    Clusters and restarts are the leading axes of every array and samples the last, because
    reductions over the clusters are an order of magnitude cheaper that way. A block is a slice
    of the samples. Inner products are taken about an origin of the space's own choice: distances
    do not depend on it, but rounding does.

    Attributes
    ----------
    sample_weight : ndarray of shape (n_samples,)
        Weights, none negative, not all zero.
    max_in_flight : int
        How many blocks may be worked on at once without breaking the memory budget.
    """

    sample_weight: Array
    max_in_flight: int

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return int(self.sample_weight.shape[0])

    @property
    def dtype(self) -> DType:
        """Precision of the arithmetic."""
        return self.sample_weight.dtype

    @abstractmethod
    def squared_norms(self, block: slice) -> Array:
        """||phi_i||^2, shape (block,)."""

    @abstractmethod
    def products(self, centroids: Centroids, block: slice) -> Array:
        """<phi_i, theta_j>, shape (k, R, block)."""

    @abstractmethod
    def accumulate(self, coefficients: Array, block: slice) -> tuple[Array, ...]:
        """Share of this block in sum_i c_i phi_i for coefficients (k, R, block) of any sign."""

    @abstractmethod
    def empty_sum(self, k: int, restarts: int) -> tuple[Array, ...]:
        """Zeros to which `add` adds the shares."""

    @abstractmethod
    def add(self, total: tuple[Array, ...], share: tuple[Array, ...], block: slice) -> None:
        """Add a block's share, in place; in block order, so that sums do not depend on threads."""

    @abstractmethod
    def norms(self, vectors: tuple[Array, ...]) -> Array:
        """||theta||^2 of sums of samples, one for each vector on the last axis."""

    @abstractmethod
    def at(self, indices: IntArray) -> Centroids:
        """Centroids that sit on samples; indices of shape (k, R)."""

    @abstractmethod
    def at_rows(self, rows: Data, shape: tuple[int, int]) -> Centroids:
        """Centroids that sit on rows of input data, k * R of them, restarts running fastest.

        They are good for products only, until the first step has replaced them by sums of samples.
        """

    @abstractmethod
    def export(self, centroids: Centroids) -> Predictor:
        """Predictor of one restart's centroids for new rows of input data."""

    @abstractmethod
    def bytes_per_restart(self, k: int) -> int:
        """Working memory that the solver needs for each restart in a batch."""

    @property
    @abstractmethod
    def resident_bytes(self) -> int:
        """Memory that the space itself holds, whatever the restarts."""

    def blocks(self, width: int) -> Iterator[slice]:
        """Blocks of samples for arrays of ``width`` values per sample."""
        smallest, largest = BLOCK_ROWS
        rows = min(BLOCK_BYTES // (width * self.dtype.itemsize), largest, -(-self.n_samples // 4))
        count = -(-self.n_samples // max(smallest, rows))
        # Even blocks, and a count that threads can share out evenly.
        count = -(-count // 4) * 4 if count > 4 else count
        edges = np.linspace(0, self.n_samples, count + 1).astype(int).tolist()
        for start, stop in pairwise(edges):
            yield slice(start, stop)

    def combine(
        self,
        total: tuple[Array, ...],
        mass: Array,
        old: Centroids | None = None,
        factor: Array | None = None,
    ) -> Centroids:
        """Centroids old + factor (total / mass - old), in place of the added shares.

        Parameters
        ----------
        total : tuple of ndarray of shape (k, R, m)
            Added shares; overwritten.
        mass : ndarray of shape (k, R)
            Their total coefficients. A centroid without mass stays where it was.
        old : Centroids, default=None
            Where the centroids were; overwritten.
        factor : ndarray of shape (R,), default=None
            1 for the plain step, more for an over-relaxed one; ones when None.

        Returns
        -------
        Centroids
            The new centroids.
        """
        step = np.ones(mass.shape) if factor is None else np.where(mass > 0, factor, 0)
        scale = (step / np.where(mass > 0, mass, 1))[..., None].astype(self.dtype)
        rest = (1 - step)[..., None].astype(self.dtype)
        norms = np.empty(mass.shape, self.dtype)
        # Cluster by cluster, so that the passes over a large array find it in the cache.
        for j in range(len(mass)):
            for i, vector in enumerate(total):
                vector[j] *= scale[j]
                if old is not None and rest[j].any():
                    before = old.vectors[i][j]
                    before *= rest[j]
                    vector[j] += before
            norms[j] = self.norms(tuple(vector[j] for vector in total))
        if old is not None:
            # A start at coordinates is no sum of samples: its norm cannot be had from its vectors.
            norms = np.where(mass > 0, norms, old.norms)
        return Centroids(total, norms)

    def distances(self, centroids: Centroids, block: slice) -> Array:
        """||phi_i - theta_j||^2, shape (k, R, block), held above rounding noise."""
        d = np.multiply(self.products(centroids, block), -2)
        d += centroids.norms[..., None]
        d += self.squared_norms(block)
        if d.min(initial=np.inf) < self.floor:
            np.maximum(d, self.floor, out=d)
        return d

    @cached_property
    def floor(self) -> float:
        """Smallest squared distance told from zero: a few roundings of the magnitude."""
        resolution = np.finfo(self.dtype)
        return float(max(8 * resolution.eps * self.magnitude, resolution.tiny))

    @cached_property
    def magnitude(self) -> float:
        """Size of the numbers that squared distances are computed from."""
        norms = np.abs(self.squared_norms(slice(0, self.n_samples)).astype(np.float64))
        return float(np.average(norms, weights=self.sample_weight))
