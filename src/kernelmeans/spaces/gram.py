"""Spaces known through their kernel matrix only: cached, or recomputed row by row."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.engines import Threads
from kernelmeans.kernels import Kernel, lengths_of
from kernelmeans.spaces.base import Mixture, Move, Space, Trace, check_finite
from kernelmeans.spaces.centroids import Centroids
from kernelmeans.spaces.predictor import ROW_BUDGET, Predictor, portions

#: Bytes of kernel rows that are computed together to fill a cached matrix, and fewest rows.
FILL_BYTES, FILL_ROWS = 2**21, 64


class Origin:
    """Weighted mean of the samples, about which kernel rows are centred.

    Attributes
    ----------
    shares : ndarray of shape (n_samples,)
        Sample weights that sum to one.
    means : ndarray of shape (n_samples,)
        <phi_i, mu> for every sample.
    square : float
        ||mu||^2.
    """

    def __init__(self, shares: Array, means: Array) -> None:
        self.shares = shares
        self.means = means
        self.square = float(shares.astype(np.float64) @ means.astype(np.float64))

    def project(self, rows: Array) -> Array:
        """<phi(x), mu> for rows of kernel values against the samples."""
        return np.asarray(rows @ self.shares)

    def squared_norms(self, diagonal: Array, means: Array) -> Array:
        """||phi(x) - mu||^2 from K(x, x) and <phi(x), mu>."""
        return diagonal - 2 * means + diagonal.dtype.type(self.square)

    def centre(self, rows: Array, own_means: Array, out: Array | None = None) -> Array:
        """<phi(x) - mu, phi_i - mu> for such rows."""
        dtype = rows.dtype.type
        rows = np.subtract(rows, (own_means - dtype(self.square))[:, None], out=out)
        return np.subtract(rows, self.means, out=rows)


def normalised(values: Array, own: Array, others: Array, copy: bool) -> Array:
    """Kernel values between rows of these lengths, divided by both; in place unless copied."""
    values = np.divide(values, own[:, None], out=None if copy else values)
    return np.divide(values, others, out=values)


class GramSpace(Space):
    """Samples known by their kernel rows, which are computed whenever they are needed.

    A centroid is its coefficients A over the samples, their products A K and its squared norm, so
    that a step costs one product with the kernel matrix: shares are only collected, and multiplied
    once all are there, a block of columns at a time.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
        Training rows; the kernel matrix itself where it is precomputed.
    sample_weight : ndarray of shape (n_samples,)
        Weights; its dtype is the precision.
    threads : Threads
        Where kernel rows are computed.
    row_budget : int, default=ROW_BUDGET
        Most bytes of kernel entries that may be held at any time.
    """

    keeps_coefficients = True

    def __init__(
        self,
        kernel: Kernel,
        X: Data,
        sample_weight: Array,
        threads: Threads,
        row_budget: int = ROW_BUDGET,
    ) -> None:
        self.kernel = kernel
        self.X = X
        self.sample_weight = sample_weight
        self.row_budget = min(row_budget, ROW_BUDGET)
        self._lengths = kernel.lengths(X) if kernel.normalised else None
        # What a callable returns is copied, for it may belong to somebody.
        copies = 2 if callable(kernel.function) else 1
        row_bytes = copies * self.n_samples * self.dtype.itemsize
        self._rows_held, self.max_in_flight = portions(row_bytes, self.row_budget)
        self._prepare(threads)

    def _prepare(self, threads: Threads) -> None:
        shares = (self.sample_weight / self.sample_weight.sum()).astype(self.dtype)
        means = np.empty_like(shares)

        def project(block: slice) -> None:
            # What is not finite is refused below, with a message of its own.
            with np.errstate(all="ignore"):
                means[block] = self._read(block) @ shares

        threads.run(project, self._held_blocks(), self.max_in_flight)
        with np.errstate(all="ignore"):
            diagonal = self.kernel.diagonal(self.X).astype(self.dtype, copy=False)
        check_finite(self.kernel, means, diagonal)
        self.origin = Origin(shares, means)
        self._squared_norms = self.origin.squared_norms(diagonal, means)
        self.trace = Trace(float(self.sample_weight @ diagonal), 0.0)

    @cached_property
    def magnitude(self) -> float:
        # What centring took away has left its rounding behind.
        return float(np.average(np.abs(self._squared_norms), weights=self.sample_weight)) + abs(
            self.origin.square
        )

    def _held_blocks(self) -> Iterator[slice]:
        for start in range(0, self.n_samples, self._rows_held):
            yield slice(start, min(start + self._rows_held, self.n_samples))

    def _read(self, block: slice) -> Array:
        """Kernel rows of a block before centring."""
        return self._values(block)

    def _column_blocks(self, width: int) -> Iterator[slice]:
        return self._held_blocks()

    def rows(self, which: slice | IntArray) -> Array:
        """Centred kernel rows of some samples, shape (len(which), n_samples)."""
        values = self._values(which)
        # In place where the values are fresh: a second copy would break the budget.
        fresh = self._lengths is not None or not self.kernel.precomputed
        out = values if fresh else None
        return self.origin.centre(values, self.origin.means[which], out=out)

    def columns(self, block: slice) -> Array:
        """The same as columns: the matrix is symmetric."""
        return self.rows(block).T

    def _values(self, which: slice | IntArray) -> Array:
        values = self.kernel.values(self.X[which], self.X)
        if self._lengths is None:
            return values
        return normalised(values, self._lengths[which], self._lengths, self.kernel.precomputed)

    def squared_norms(self, block: slice) -> Array:
        return self._squared_norms[block]

    def products(self, centroids: Centroids, block: slice) -> Array:
        return centroids.vectors[0][:, :, block]

    def accumulate(self, coefficients: Array, block: slice) -> tuple[Array, ...]:
        return (coefficients,)

    def empty_sum(self, k: int, restarts: int) -> tuple[Array, ...]:
        return (np.zeros((k, restarts, self.n_samples), self.dtype),)

    def add(self, total: tuple[Array, ...], share: tuple[Array, ...], block: slice) -> None:
        total[0][:, :, block] = share[0]

    def moves(self, mixture: Mixture, old: Centroids | None) -> list[Move]:
        (increments,) = mixture.increments
        coefficients = mixture.coefficients
        assert coefficients is not None
        k, restarts, n = increments.shape
        flat = increments.reshape(-1, n)
        vectors = np.empty_like(increments) if old is None else old.vectors[0]

        def multiply(block: slice) -> tuple[Array, Array]:
            products = (flat @ self.columns(block)).reshape(k, restarts, -1)
            moved = vectors[:, :, block]
            mixture.apply(products, moved)
            return (
                np.vecdot(coefficients[:, :, block], moved),
                np.vecdot(increments[:, :, block], moved),
            )

        return [Move(vectors, list(self._column_blocks(k * restarts)), multiply)]

    def at(self, indices: IntArray) -> Centroids:
        coefficients = np.zeros((*indices.shape, self.n_samples), self.dtype)
        np.put_along_axis(coefficients, indices[..., None], 1, axis=-1)
        products = np.empty_like(coefficients)
        flat = products.reshape(-1, self.n_samples)
        for start in range(0, indices.size, self._rows_held):
            some = slice(start, start + self._rows_held)
            flat[some] = self.rows(indices.ravel()[some])
        norms = np.take_along_axis(products, indices[..., None], axis=-1)[..., 0]
        return Centroids((products,), norms[None], np.ones((indices.shape[1], 1)), coefficients)

    def at_rows(self, rows: Data, shape: tuple[int, int]) -> Centroids:
        values = self.kernel(rows, self.X)
        means = self.origin.project(values)
        products = self.origin.centre(values, means).reshape(*shape, -1)
        norms = self.origin.squared_norms(self.kernel.diagonal(rows), means).reshape(shape)
        # Such a centroid is no sum of samples; the first step makes it one.
        return Centroids((products,), norms[None], np.ones((shape[1], 1)), np.zeros_like(products))

    def export(
        self, centroids: Centroids, copies: dict[int, Data] | None = None
    ) -> "GramPredictor":
        assert centroids.coefficients is not None
        copies = {} if copies is None else copies
        key = id(centroids.coefficients)
        if key not in copies:
            copies[key] = np.ascontiguousarray(centroids.coefficients[:, 0])
        coefficients = copies[key]
        X = None
        if not self.kernel.precomputed:
            if id(self.X) not in copies:
                copies[id(self.X)] = self.X.copy()
            X = copies[id(self.X)]
        norms = self.norms(centroids)[:, 0]
        return GramPredictor(
            self.kernel, self.origin, X, coefficients, norms, self.row_budget, self._lengths
        )

    @staticmethod
    def working_bytes(k: int, n_samples: int, itemsize: int) -> int:
        """Working memory of one restart, before there is a space.

        Coefficients, their products, the shares that become the next ones, and room for copies.
        """
        return 5 * k * n_samples * itemsize

    def bytes_per_restart(self, k: int) -> int:
        return self.working_bytes(k, self.n_samples, self.dtype.itemsize)

    def vector_bytes(self, k: int) -> int:
        return k * self.n_samples * self.dtype.itemsize

    @property
    def resident_bytes(self) -> int:
        return self.row_budget

    @property
    def passing_bytes(self) -> int:
        return self.row_budget


class CachedGramSpace(GramSpace):
    """Samples known by a kernel matrix that is computed once, centred, and kept."""

    def _prepare(self, threads: Threads) -> None:
        self._matrix = np.empty((self.n_samples, self.n_samples), self.dtype)
        super()._prepare(threads)

        def centre(block: slice) -> None:
            rows = self._matrix[block]
            self.origin.centre(rows, self.origin.means[block], out=rows)

        threads.run(centre, self._held_blocks())

    def _read(self, block: slice) -> Array:
        rows = self._matrix[block]
        rows[:] = super()._read(block)
        return rows

    def _held_blocks(self) -> Iterator[slice]:
        # Rows are copied into the matrix: what is held beside it should be little.
        rows = max(FILL_ROWS, FILL_BYTES // (self.n_samples * self.dtype.itemsize))
        for start in range(0, self.n_samples, rows):
            yield slice(start, min(start + rows, self.n_samples))

    def _column_blocks(self, width: int) -> Iterator[slice]:
        return self.blocks(width)

    @property
    def resident_bytes(self) -> int:
        return int(self._matrix.nbytes)

    @property
    def passing_bytes(self) -> int:
        return 0

    def rows(self, which: slice | IntArray) -> Array:
        return self._matrix[which]

    def columns(self, block: slice) -> Array:
        return self._matrix[:, block]


class GramPredictor(Predictor):
    """Centroids as coefficients over the training rows.

    Attributes
    ----------
    origin : Origin
        Mean of the training rows.
    X : {ndarray, CSR matrix} of shape (n_samples, n_features) or None
        Training rows; None where the kernel is precomputed.
    coefficients : ndarray of shape (k, n_samples)
        Centroids as combinations of the training rows.
    lengths : ndarray of shape (n_samples,) or None
        Lengths of the training rows in feature space, where the kernel is normalised.
    """

    kernel: Kernel

    def __init__(
        self,
        kernel: Kernel,
        origin: Origin,
        X: Data | None,
        coefficients: Array,
        norms: Array,
        row_budget: int,
        lengths: Array | None,
    ) -> None:
        self.kernel = kernel
        self.origin = origin
        self.X = X
        self.lengths = lengths
        self.coefficients = np.ascontiguousarray(coefficients)
        self.norms = norms.copy()
        self.row_budget = row_budget

    def _compare(self, rows: Data, diagonal: Array) -> tuple[Array, Array]:
        # A copy, because NumPy multiplies a matrix with itself by another routine: the labels of
        # the training rows must not depend on whether they are the very array of the fit.
        precomputed = self.kernel.precomputed
        values = self.kernel.values(rows if precomputed else rows.copy(), self.X)
        if self.lengths is not None:
            squared = diagonal if precomputed else self.kernel.squared_lengths(rows)
            own = lengths_of(squared, self.kernel.name)
            values = normalised(values, own, self.lengths, precomputed)
            diagonal = (squared > 0).astype(values.dtype)
        means = self.origin.project(values)
        out = None if precomputed else values
        products = self.coefficients @ self.origin.centre(values, means, out=out).T
        return products, self.origin.squared_norms(diagonal, means)

    @property
    def _row_bytes(self) -> int:
        return int(self.coefficients.shape[1] * self.coefficients.itemsize)
