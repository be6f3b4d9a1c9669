"""Spaces known through their kernel matrix only: cached, or recomputed row by row."""

import copy
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from kernelmeans._arrays import (
    beside,
    double,
    like,
    namespace,
    on_host,
    picked,
    put_rows,
    take,
    to_numpy,
)
from kernelmeans._devices import HOST, Device
from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.engines import Threads
from kernelmeans.kernels import Kernel, check_finite, check_range, lengths_of
from kernelmeans.spaces.base import Space
from kernelmeans.spaces.centroids import Centroids
from kernelmeans.spaces.predictor import LARGEST_BLOCK, ROW_BUDGET, Embedding, Predictor, portions
from kernelmeans.spaces.shares import Changes, Mixture, Move, Trace

#: On a device: bytes of kernel rows that are computed together to fill a cached matrix, most bytes
#: of rows that are held at a time, and how many arrays of that size it takes to compute them.
DEVICE_FILL_BYTES, DEVICE_ROW_BUDGET, DEVICE_COPIES = 2**28, 2**33, 4
#: Values of held kernel rows that are added up together where samples change clusters: starting
#: the work on fewer takes longer than the work.
VALUES_AT_ONCE = 2**22


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
        self.square = float(double(shares) @ double(means))

    def project(self, rows: Array) -> Array:
        """<phi(x), mu> for rows of kernel values against the samples."""
        means: Array = rows @ self.shares
        return means

    def squared_norms(self, diagonal: Array, means: Array) -> Array:
        """||phi(x) - mu||^2 from K(x, x) and <phi(x), mu>."""
        return diagonal - 2 * means + self.square

    def centre(self, rows: Array, own_means: Array, in_place: bool = False) -> Array:
        """<phi(x) - mu, phi_i - mu> for such rows."""
        own = (own_means - self.square)[:, None]
        if in_place:
            rows -= own
        else:
            rows = rows - own
        rows -= self.means
        return rows

    def moved(self, move: Callable[[Any], Any]) -> "Origin":
        """The same with its arrays elsewhere."""
        there = copy.copy(self)
        there.shares, there.means = move(self.shares), move(self.means)
        return there


def kernel_rows(
    kernel: Kernel, X: Data | None, lengths: Array | None
) -> Callable[[Data, Array | None], Array]:
    """The kernel values of rows against X as a function of them and, if precomputed, K(x, x).

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : {ndarray, CSR matrix} of shape (n_samples, n_features) or None
        Training rows; None where the kernel is precomputed.
    lengths : ndarray of shape (n_samples,) or None
        Their lengths in feature space, where the kernel is normalised.
    """
    against = kernel.against(X)

    def values_of(rows: Data, diagonal: Array | None) -> Array:
        if on_host(rows) and not kernel.precomputed:
            # NumPy multiplies a matrix with itself by another routine: labels of the training
            # rows must not depend on whether they are the very array of the fit.
            rows = rows.copy()
        values = against(rows)
        if lengths is None:
            return values
        squared = kernel.squared_lengths(rows) if diagonal is None else diagonal
        own = lengths_of(squared, kernel.name)[:, None]
        if kernel.precomputed:
            values = values / own
        else:
            values /= own
        values /= lengths
        return values

    return values_of


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
    engine : Threads
        Where kernel rows are computed, and blocks worked on.
    row_budget : int, default=4 * ROW_BUDGET
        Most bytes of kernel entries that may be held at any time; a quarter where it is large.
    device : Device, default=HOST
        Where they are computed. The rows of X go there; a kernel matrix does part by part.
    """

    keeps_coefficients = True

    def __init__(
        self,
        kernel: Kernel,
        X: Data,
        sample_weight: Array,
        engine: Threads,
        row_budget: int = 4 * ROW_BUDGET,
        device: Device = HOST,
    ) -> None:
        self.kernel = kernel
        self.X = X if kernel.precomputed else device.put(X)
        self.sample_weight = sample_weight
        self.engine = engine
        self._device_weight: Array = device.put(sample_weight)
        # Restarts want room too, but not what lets four threads work.
        share = min(row_budget, max(row_budget // 4, 4 * LARGEST_BLOCK), ROW_BUDGET)
        self.row_budget = share if device.is_host else min(row_budget, DEVICE_ROW_BUDGET)
        self._lengths = device.put(kernel.lengths(self.X)) if kernel.normalised else None
        self._diagonal = device.put(kernel.squared_lengths(X)) if kernel.precomputed else None
        self._values_of = kernel_rows(kernel, self.X, self._lengths)
        # What a callable returns is copied, for it may belong to somebody.
        copies = 2 if callable(kernel.function) else 1
        row_bytes = self.n_samples * self.dtype.itemsize
        self._rows_held, in_flight = portions(row_bytes, self.row_budget)
        self.max_in_flight = max(1, in_flight // copies)
        if not device.is_host:
            # One block, as large as can be, keeps all of a device at work.
            row_bytes *= copies * DEVICE_COPIES
            self._rows_held, self.max_in_flight = max(1, self.row_budget // row_bytes), 1
        self._prepare()

    def _prepare(self) -> None:
        shares = like(self.sample_weight / self.sample_weight.sum(), self.device_weight)
        means = namespace(shares).empty_like(shares)

        def project(block: slice) -> None:
            # What is not finite is refused below, with a message of its own.
            with np.errstate(all="ignore"):
                means[block] = self._read(block) @ shares

        self.engine.run(project, self._held_blocks(), self.max_in_flight)
        with np.errstate(all="ignore"):
            diagonal = like(self.kernel.diagonal(self.X), means)
        check_finite(self.kernel, to_numpy(means), to_numpy(diagonal))
        check_range(self.kernel, to_numpy(diagonal), self.sample_weight)
        self.origin = Origin(shares, means)
        self._squared_norms = self.origin.squared_norms(diagonal, means)
        self.trace = Trace(float(self.device_weight @ diagonal), 0.0)

    @property
    def device_weight(self) -> Array:
        return self._device_weight

    @cached_property
    def magnitude(self) -> float:
        # What centring took away has left its rounding behind.
        norms = np.abs(to_numpy(self._squared_norms))
        return float(np.average(norms, weights=self.sample_weight)) + abs(self.origin.square)

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
        return self.origin.centre(values, picked(self.origin.means, which), in_place=fresh)

    def columns(self, block: slice) -> Array:
        """The same as columns: the matrix is symmetric."""
        return self.rows(block).T

    def _values(self, which: slice | IntArray) -> Array:
        rows = beside(picked(self.X, which), self.device_weight)
        own = None if self._diagonal is None else picked(self._diagonal, which)
        values: Array = self._values_of(rows, own)
        return values

    def squared_norms(self, block: slice) -> Array:
        return self._squared_norms[block]

    def products(self, centroids: Centroids, block: slice) -> Array:
        return centroids.vectors[0][:, :, block]

    def accumulate(self, coefficients: Array, block: slice) -> tuple[Array, ...]:
        return (coefficients,)

    def empty_sum(self, k: int, restarts: int) -> tuple[Array, ...]:
        v = self.device_weight
        zeros = namespace(v).zeros
        return (zeros((k, restarts, self.n_samples), dtype=v.dtype, device=v.device),)

    def add(self, total: tuple[Array, ...], share: tuple[Array, ...], block: slice) -> None:
        total[0][:, :, block] = share[0]

    def moves(self, mixture: Mixture, old: Centroids | None) -> list[Move]:
        (increments,) = mixture.increments
        coefficients = mixture.coefficients
        assert coefficients is not None
        k, restarts, n = increments.shape
        xp = namespace(increments)
        flat = xp.reshape(increments, (-1, n))
        vectors = xp.empty_like(increments) if old is None else old.vectors[0]

        def multiply(block: slice) -> tuple[Array, Array]:
            products = xp.reshape(flat @ self.columns(block), (k, restarts, -1))
            moved = vectors[:, :, block]
            mixture.apply(products, moved)
            return (
                xp.vecdot(coefficients[:, :, block], moved),
                xp.vecdot(increments[:, :, block], moved),
            )

        if mixture.changes is not None:
            assert old is not None
            return [self._changed(mixture, mixture.changes, old)]
        return [Move(vectors, list(self._column_blocks(k * restarts)), multiply)]

    def _changed(self, mixture: Mixture, changes: Changes, old: Centroids) -> Move:
        """Centroids moved by the kernel rows of the samples that change clusters alone."""
        vectors, coefficients = old.vectors[0], mixture.coefficients
        assert coefficients is not None
        k, restarts, n = vectors.shape
        xp = namespace(vectors)
        flat, flat_coefficients = (xp.reshape(x, (-1, n)) for x in (vectors, coefficients))
        rest = like(mixture.rest.reshape(-1, 1), vectors)
        places = changes.clusters * restarts + changes.restarts
        unchanged = old.norms[0].ravel().copy()
        unchanged[places] = 0

        def multiply(part: slice) -> tuple[Array, Array]:
            own = places[part]
            moved = take(flat, own, axis=0)
            moved *= take(rest, own, axis=0)
            moved += self._weighted_rows(changes.coefficients[part])
            put_rows(vectors, (changes.clusters[part], changes.restarts[part]), moved)
            norms = np.zeros(k * restarts) if part.start else unchanged
            norms[own] = to_numpy(xp.vecdot(take(flat_coefficients, own, axis=0), moved))
            norms = norms.reshape(k, restarts)
            return norms, norms

        return Move(vectors, changes.parts(self._work_at_once), multiply)

    @property
    def _work_at_once(self) -> int:
        """Changes of samples that are worked on together; more only within a restart."""
        # Kernel rows are computed for one restart at a time.
        return 1

    def _weighted_rows(self, coefficients: Any) -> Array:
        """Combinations of kernel rows by a sparse matrix of shape (c, n_samples)."""
        samples = np.unique(coefficients.indices)
        dense = like(coefficients[:, samples].toarray(), self.device_weight)
        shape, xp = (dense.shape[0], self.n_samples), namespace(dense)
        total: Array = xp.zeros(shape, dtype=dense.dtype, device=dense.device)
        for start in range(0, len(samples), self._rows_held):
            some = slice(start, min(start + self._rows_held, len(samples)))
            total += dense[:, some] @ self.rows(samples[some])
        return total

    def at(self, indices: IntArray) -> Centroids:
        (coefficients,) = self.empty_sum(*indices.shape)
        xp = namespace(coefficients)
        products = xp.empty_like(coefficients)
        flat = xp.reshape(products, (-1, self.n_samples))
        for start in range(0, indices.size, self._rows_held):
            some = slice(start, min(start + self._rows_held, indices.size))
            flat[some, ...] = self.rows(indices.ravel()[some])
        for (j, r), index in np.ndenumerate(indices):
            coefficients[j, r, int(index)] = 1
        own = xp.asarray(indices[..., None], device=products.device)
        norms = to_numpy(xp.take_along_axis(products, own, axis=-1)[..., 0])
        weight = self.sample_weight[indices]
        mass = np.where(weight > 0, weight, np.nan)
        weights = np.ones((indices.shape[1], 1))
        return Centroids((products,), norms[None], weights, coefficients, mass=mass)

    def at_rows(self, rows: Data, shape: tuple[int, int]) -> Centroids:
        rows = beside(rows, self.device_weight)
        values = self.kernel(rows, self.X)
        means, xp = self.origin.project(values), namespace(values)
        products = xp.reshape(self.origin.centre(values, means), (*shape, -1))
        norms = to_numpy(self.origin.squared_norms(self.kernel.diagonal(rows), means))
        norms = norms.reshape(1, *shape)
        # Such a centroid is no sum of samples; the first step makes it one.
        return Centroids((products,), norms, np.ones((shape[1], 1)), xp.zeros_like(products))

    def restricted(self, indices: IntArray, sample_weight: Array) -> "CachedGramSpace":
        among = np.empty((len(indices), len(indices)), self.dtype)
        for start in range(0, len(indices), self._rows_held):
            some = slice(start, start + self._rows_held)
            among[some] = to_numpy(self.rows(indices[some]))[:, indices]
        return CachedGramSpace(Kernel("precomputed", {}), among, sample_weight, self.engine)

    def export(
        self, centroids: Centroids, copies: dict[int, Data] | None = None
    ) -> "GramPredictor":
        assert centroids.coefficients is not None
        copies = {} if copies is None else copies
        key = id(centroids.coefficients)
        if key not in copies:
            own = to_numpy(centroids.coefficients[:, 0, :])
            copies[key] = np.ascontiguousarray(own)
        coefficients = copies[key]
        X = None
        if not self.kernel.precomputed:
            if id(self.X) not in copies:
                copies[id(self.X)] = to_numpy(self.X).copy()
            X = copies[id(self.X)]
        lengths = None if self._lengths is None else to_numpy(self._lengths)
        origin, norms = self.origin.moved(to_numpy), self.norms(centroids)[:, 0]
        budget = min(self.row_budget, ROW_BUDGET)
        floor = float(self.floor(centroids)[0])
        return GramPredictor(self.kernel, origin, X, coefficients, norms, budget, lengths, floor)

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

    def _prepare(self) -> None:
        v, n = self.device_weight, self.n_samples
        self._matrix: Array = namespace(v).empty((n, n), dtype=v.dtype, device=v.device)
        super()._prepare()

        def centre(block: slice) -> None:
            self.origin.centre(self.rows(block), self.origin.means[block], in_place=True)

        self.engine.run(centre, self._held_blocks())
        # No kernel value will be computed again, and nothing held beside the matrix.
        del self._values_of
        self.max_in_flight = None
        self.keeps_rows = on_host(v)

    def _read(self, block: slice) -> Array:
        values = super()._read(block)
        self._matrix[block, ...] = values
        return values

    def _held_blocks(self) -> Iterator[slice]:
        rows = self._rows_held
        if not on_host(self.device_weight):
            rows = max(64, DEVICE_FILL_BYTES // (self.n_samples * self.dtype.itemsize))
        for start in range(0, self.n_samples, rows):
            yield slice(start, min(start + rows, self.n_samples))

    def _column_blocks(self, width: int) -> Iterator[slice]:
        return self.blocks(width)

    @property
    def _work_at_once(self) -> int:
        return 1 + VALUES_AT_ONCE // self.n_samples

    def _weighted_rows(self, coefficients: Any) -> Array:
        if not on_host(self._matrix):
            return super()._weighted_rows(coefficients)
        combined: Array = coefficients @ self._matrix
        return combined

    def embedded(self, block: slice) -> tuple[Array, Array]:
        # Computed as predictors do: the same function, the same blocks, and a copy, because some
        # libraries round a product by where in memory its operands begin.
        return self._matrix[block].copy(), self._squared_norms[block]

    @property
    def resident_bytes(self) -> int:
        return self.n_samples**2 * self.dtype.itemsize

    @property
    def passing_bytes(self) -> int:
        return 0

    def rows(self, which: slice | IntArray) -> Array:
        values: Array = picked(self._matrix, which)
        return values

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
        resolution: float,
    ) -> None:
        self.kernel = kernel
        self.origin = origin
        self.X = X
        self.lengths = lengths
        self.coefficients = np.ascontiguousarray(coefficients)
        self.norms = norms.copy()
        self.row_budget = row_budget
        self.resolution = resolution

    def embedding(self) -> Embedding:
        values_of = kernel_rows(self.kernel, self.X, self.lengths)

        def embed(rows: Data, diagonal: Array) -> tuple[Array, Array]:
            rows, diagonal = self.device.put(rows), self.device.put(diagonal)
            values = values_of(rows, diagonal if self.kernel.precomputed else None)
            if self.lengths is not None:
                squared = diagonal if self.kernel.precomputed else self.kernel.squared_lengths(rows)
                diagonal = like(squared > 0, values)
            means = self.origin.project(values)
            fresh = self.lengths is not None or not self.kernel.precomputed
            return (
                self.origin.centre(values, means, in_place=fresh),
                self.origin.squared_norms(diagonal, means),
            )

        return embed

    def _compare(self, embedded: tuple[Array, Array]) -> tuple[Array, Array]:
        rows, squared_norms = embedded
        return self.coefficients @ rows.T, squared_norms

    def _moved(self, move: Callable[[Any], Any]) -> None:
        self.origin, self.coefficients = self.origin.moved(move), move(self.coefficients)
        self.X = None if self.X is None else move(self.X)
        self.lengths = None if self.lengths is None else move(self.lengths)

    @property
    def _row_bytes(self) -> int:
        return int(self.coefficients.shape[1] * self.norms.itemsize)
