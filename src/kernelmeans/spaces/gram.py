"""Spaces known through their kernel matrix only: cached, or recomputed row by row."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.engines import Threads
from kernelmeans.kernels import Kernel
from kernelmeans.spaces.base import Centroids, Space, check_finite
from kernelmeans.spaces.predictor import ROW_BUDGET, Predictor, portions


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


class GramSpace(Space):
    """Samples known by their kernel rows, which are computed whenever they are needed.

    A centroid is its coefficients A over the samples, their products A K and its squared norm, so
    that a step costs one product with the kernel matrix.

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
        return self.kernel(self.X[block], self.X)

    def blocks(self, width: int) -> Iterator[slice]:
        return self._held_blocks()

    def rows(self, which: slice | IntArray) -> Array:
        """Centred kernel rows of some samples, shape (len(which), n_samples)."""
        return self._centred(self.kernel(self.X[which], self.X), self.origin.means[which])

    def _centred(self, values: Array, own_means: Array) -> Array:
        # In place where the values are fresh: a second copy would break the budget.
        out = None if self.kernel.precomputed else values
        return self.origin.centre(values, own_means, out=out)

    def squared_norms(self, block: slice) -> Array:
        return self._squared_norms[block]

    def products(self, centroids: Centroids, block: slice) -> Array:
        return centroids.vectors[1][:, :, block]

    def accumulate(self, coefficients: Array, block: slice) -> tuple[Array, ...]:
        flat = coefficients.reshape(-1, coefficients.shape[-1])
        share = flat @ self.rows(block)
        return coefficients, share.reshape(*coefficients.shape[:2], -1)

    def empty_sum(self, k: int, restarts: int) -> tuple[Array, ...]:
        shape = (k, restarts, self.n_samples)
        return np.zeros(shape, self.dtype), np.zeros(shape, self.dtype)

    def add(self, total: tuple[Array, ...], share: tuple[Array, ...], block: slice) -> None:
        total[0][:, :, block] = share[0]
        np.add(total[1], share[1], out=total[1])

    def norms(self, vectors: tuple[Array, ...]) -> Array:
        return np.asarray(np.vecdot(*vectors))

    def at(self, indices: IntArray) -> Centroids:
        coefficients = np.zeros((*indices.shape, self.n_samples), self.dtype)
        np.put_along_axis(coefficients, indices[..., None], 1, axis=-1)
        products = np.empty_like(coefficients)
        flat = products.reshape(-1, self.n_samples)
        for start in range(0, indices.size, self._rows_held):
            some = slice(start, start + self._rows_held)
            flat[some] = self.rows(indices.ravel()[some])
        norms = np.take_along_axis(products, indices[..., None], axis=-1)[..., 0]
        return Centroids((coefficients, products), norms)

    def at_rows(self, rows: Data, shape: tuple[int, int]) -> Centroids:
        values = self.kernel(rows, self.X)
        means = self.origin.project(values)
        products = self.origin.centre(values, means).reshape(*shape, -1)
        norms = self.origin.squared_norms(self.kernel.diagonal(rows), means).reshape(shape)
        # Such a centroid is no sum of samples; the first step makes it one.
        return Centroids((np.zeros_like(products), products), norms)

    def export(self, centroids: Centroids) -> "GramPredictor":
        coefficients = centroids.vectors[0][:, 0]
        # A copy: the model must not change when the user's array does.
        X = None if self.kernel.precomputed else self.X.copy()
        norms = centroids.norms[:, 0]
        return GramPredictor(self.kernel, self.origin, X, coefficients, norms, self.row_budget)

    @staticmethod
    def working_bytes(k: int, n_samples: int, itemsize: int) -> int:
        """Working memory of one restart, before there is a space.

        Coefficients and products of the old and the new centroids, and two shares in flight.
        """
        return 6 * k * n_samples * itemsize

    def bytes_per_restart(self, k: int) -> int:
        return self.working_bytes(k, self.n_samples, self.dtype.itemsize)

    @property
    def resident_bytes(self) -> int:
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

    def blocks(self, width: int) -> Iterator[slice]:
        return Space.blocks(self, width)

    @property
    def resident_bytes(self) -> int:
        return int(self._matrix.nbytes)

    def rows(self, which: slice | IntArray) -> Array:
        return self._matrix[which]


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
    """

    def __init__(
        self,
        kernel: Kernel,
        origin: Origin,
        X: Data | None,
        coefficients: Array,
        norms: Array,
        row_budget: int,
    ) -> None:
        self.kernel = kernel
        self.origin = origin
        self.X = X
        self.coefficients = np.ascontiguousarray(coefficients)
        self.norms = norms.copy()
        self.row_budget = row_budget

    def _compare(self, rows: Data, diagonal: Array) -> tuple[Array, Array]:
        # A copy, because NumPy multiplies a matrix with itself by another routine: the labels of
        # the training rows must not depend on whether they are the very array of the fit.
        values = self.kernel(rows if self.kernel.precomputed else rows.copy(), self.X)
        means = self.origin.project(values)
        out = None if self.kernel.precomputed else values
        products = self.coefficients @ self.origin.centre(values, means, out=out).T
        return products, self.origin.squared_norms(diagonal, means)

    @property
    def _row_bytes(self) -> int:
        return int(self.coefficients.shape[1] * self.coefficients.itemsize)
