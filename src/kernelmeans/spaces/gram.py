"""Samples known through their kernel matrix alone."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from kernelmeans._arrays import like, namespace, on_host, put_rows, take, to_device_of, to_numpy
from kernelmeans._devices import HOST, Device
from kernelmeans._memory import cached_property
from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.engines import Threads
from kernelmeans.kernels import Kernel
from kernelmeans.kernels.kernel import check_callable, check_finite, check_range, check_underflow
from kernelmeans.spaces.base import Space
from kernelmeans.spaces.centroids import Centroids, Memory, Sums, Trace
from kernelmeans.spaces.kernel_rows import (
    ROW_BUDGET,
    ComputedRows,
    HeldRows,
    KernelRows,
    Origin,
    kernel_rows,
    slices,
)
from kernelmeans.spaces.predictor import Embedding, Predictor
from kernelmeans.spaces.step import Changes, Moved, Step


@dataclass(eq=False, repr=False)
class GramSpace(Space):
    """Samples known by their kernel rows alone.

    A centroid is its coefficients A over the samples, the products A K and its squared norm. So a
    step costs one product with the kernel matrix: partial sums are collected, and multiplied once
    all of them have come, a block of columns at a time.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
        Training rows, on the device; the kernel matrix itself where it is precomputed.
    rows : KernelRows
        The kernel rows of the samples, about the origin.
    origin : Origin
        Weighted mean of the samples.
    centered_norms : ndarray of shape (n_samples,)
        ||phi_i||^2 about the origin.
    sample_weight : ndarray of shape (n_samples,)
        Weights; its dtype is the precision.
    engine : Threads
        Where blocks are worked on.
    """

    kernel: Kernel
    X: Data
    rows: KernelRows
    origin: Origin
    centered_norms: Array
    sample_weight: Array
    engine: Threads
    keeps_coefficients = True

    def __post_init__(self) -> None:
        self.device_weight = to_device_of(self.sample_weight, self.origin.weights)

    @classmethod
    def hold(
        cls,
        kernel: Kernel,
        X: Data,
        sample_weight: Array,
        engine: Threads,
        device: Device = HOST,
        row_budget: int | None = None,
    ) -> Self:
        """The space of training rows, with their weighted mean as its origin.

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
        device : Device, default=HOST
            Where they are computed. The rows of X go there at once, a kernel matrix block by block.
        row_budget : int, default=None
            Most bytes of kernel entries that may be held at any time, if rows are to be computed
            whenever they are needed; the whole matrix is held when None.

        Returns
        -------
        GramSpace
            The space.

        Raises
        ------
        ValueError
            If kernel values are not finite, or the kernel cannot be normalized.
        """
        X = X if kernel.precomputed else device.put(X)
        weight, n, itemsize = device.put(sample_weight), len(sample_weight), sample_weight.itemsize
        budget = 4 * ROW_BUDGET if row_budget is None else row_budget
        computed = ComputedRows(kernel, X, itemsize, device, budget)
        rows: KernelRows = computed
        weights = weight / float(sample_weight.sum())
        xp, matrix = namespace(weights), None
        if row_budget is None:
            matrix = xp.empty((n, n), dtype=weights.dtype, device=weights.device)
            rows = HeldRows(matrix, itemsize, computed, device)

        def project(block: slice) -> Array:
            # Values that are not finite are refused below.
            with np.errstate(all="ignore"):
                values = computed.values(block)
                if matrix is not None:
                    matrix[block, ...] = values
                projected: Array = values @ weights
                return projected

        means = xp.empty_like(weights)
        for block, projected in engine.map(project, slices(n, rows.at_a_time), rows.in_flight):
            means[block] = projected
        with np.errstate(all="ignore"):
            own = kernel.diagonal(X)
            diagonal = like(kernel.squared_norms(own), means)
        check_finite(kernel, to_numpy(means), to_numpy(diagonal))
        check_callable(kernel, to_numpy(diagonal), float(weights @ means))
        check_range(kernel, to_numpy(diagonal), sample_weight)
        check_underflow(kernel, to_numpy(own), lambda: kernel.is_nonzero(X, own))
        origin = Origin(weights, means)
        squared_norms = origin.squared_norms(diagonal, means)
        rows.center(origin, engine)
        space = cls(kernel, X, rows, origin, squared_norms, sample_weight, engine)
        # In float32 the sum may overflow, though no distance does.
        space.trace = Trace(float(sample_weight.astype(np.float64) @ to_numpy(diagonal)), 0.0)
        return space

    @cached_property
    def magnitude(self) -> float:
        # Rounding is that of the values before they were centered.
        norms = np.abs(to_numpy(self.centered_norms))
        return float(np.average(norms, weights=self.sample_weight)) + abs(self.origin.square)

    def squared_norms(self, block: slice) -> Array:
        return self.centered_norms[block]

    def products(self, centroids: Centroids, block: slice) -> Array:
        return centroids.vectors[0][:, :, block]

    def accumulate(self, coefficients: Array, block: slice, labels: IntArray | None = None) -> Sums:
        return (coefficients,)

    def add(self, total: Sums | None, partial: Sums, block: slice) -> Sums:
        if partial[0].shape[-1] == self.n_samples:
            return partial
        (into,) = total or (self._zeros(*partial[0].shape[:2]),)
        into[:, :, block] = partial[0]
        return (into,)

    def _zeros(self, k: int, restarts: int) -> Array:
        v = self.device_weight
        shape = k, restarts, self.n_samples
        zeros: Array = namespace(v).zeros(shape, dtype=v.dtype, device=v.device)
        return zeros

    def move(self, step: Step) -> Moved:
        if step.changes is not None:
            return self._move_few(step, step.changes)
        (increments,), coefficients = step.increments, step.coefficients
        assert coefficients is not None
        k, restarts, n = increments.shape
        xp = namespace(increments)
        flat = xp.reshape(increments, (-1, n))
        vectors = xp.empty_like(increments) if step.old is None else step.old.vectors[0]

        def multiply(block: slice) -> tuple[Array, Array]:
            # The matrix is symmetric.
            products = xp.reshape(flat @ self.rows.read(block).T, (k, restarts, -1))
            moved = step.mixed(products, vectors[:, :, block])
            return (
                xp.vecdot(coefficients[:, :, block], moved),
                xp.vecdot(increments[:, :, block], moved),
            )

        return self._moved(vectors, multiply, self._column_blocks(k * restarts))

    def _move_few(self, step: Step, changes: Changes) -> Moved:
        """Move by the kernel rows of the samples that change clusters alone."""
        assert step.old is not None
        assert step.coefficients is not None
        vectors = step.old.vectors[0]
        k, restarts, n = vectors.shape
        xp = namespace(vectors)
        flat, coefficients = (xp.reshape(x, (-1, n)) for x in (vectors, step.coefficients))
        rest = like(step.rest.reshape(-1, 1), vectors)
        places = changes.clusters * restarts + changes.restarts
        unchanged = step.old.norms[0].ravel().copy()
        unchanged[places] = 0

        def multiply(part: slice) -> tuple[Array, Array]:
            own = places[part]
            moved = take(flat, own, axis=0)
            moved *= take(rest, own, axis=0)
            moved += self.rows.combined(changes.coefficients(part, n), self.device_weight)
            put_rows(vectors, (changes.clusters[part], changes.restarts[part]), moved)
            norms = np.zeros(k * restarts) if part.start else unchanged
            norms[own] = to_numpy(xp.vecdot(take(coefficients, own, axis=0), moved))
            norms = norms.reshape(k, restarts)
            return norms, norms

        return self._moved(vectors, multiply, changes.parts(self.rows.changes_at_once))

    def _moved(
        self,
        vectors: Array,
        multiply: Callable[[slice], tuple[Array, Array]],
        blocks: Iterable[slice],
    ) -> Moved:
        """The vectors, once blocks of them have been multiplied; norms and overlaps add up."""
        norms, overlaps = np.zeros((2, 1, *vectors.shape[:2]))
        for _, (norm, overlap) in self.engine.map(multiply, blocks, self.rows.in_flight):
            norms[0] += to_numpy(norm)
            overlaps[0] += to_numpy(overlap)
        return Moved((vectors,), norms, overlaps)

    def _column_blocks(self, width: int) -> Iterable[slice]:
        if isinstance(self.rows, HeldRows):
            return self.blocks(width)
        return slices(self.n_samples, self.rows.at_a_time)

    def at(self, indices: IntArray) -> Centroids:
        products = self._zeros(*indices.shape)
        xp = namespace(products)
        flat = xp.reshape(products, (-1, self.n_samples))
        for some in slices(indices.size, self.rows.at_a_time):
            flat[some, ...] = self.rows.read(indices.ravel()[some])
        own = xp.asarray(indices[..., None], device=products.device)
        every = xp.arange(self.n_samples, device=products.device)
        coefficients = xp.astype(own == every, products.dtype)
        norms = to_numpy(xp.take_along_axis(products, own, axis=-1)[..., 0])
        weight = self.sample_weight[indices]
        cluster_weight = np.where(weight > 0, weight, np.nan)
        weights = np.ones((indices.shape[1], 1))
        return Centroids(
            (products,), norms[None], weights, coefficients, cluster_weight=cluster_weight
        )

    def at_rows(self, rows: Data, shape: tuple[int, int]) -> Centroids:
        rows = to_device_of(rows, self.device_weight)
        values = self.kernel(rows, self.X)
        means, xp = self.origin.project(values), namespace(values)
        products = xp.reshape(self.origin.center(values, means), (*shape, -1))
        diagonal = self.kernel.squared_norms(self.kernel.diagonal(rows))
        norms = to_numpy(self.origin.squared_norms(diagonal, means))
        norms = norms.reshape(1, *shape)
        # Such a centroid is no sum of samples; the first step makes it one.
        return Centroids((products,), norms, np.ones((shape[1], 1)), xp.zeros_like(products))

    def restricted(self, indices: IntArray, sample_weight: Array) -> "GramSpace":
        among = np.empty((len(indices), len(indices)), self.dtype)
        for some in slices(len(indices), self.rows.at_a_time):
            among[some] = to_numpy(self.rows.read(indices[some]))[:, indices]
        return GramSpace.hold(Kernel("precomputed", {}), among, sample_weight, self.engine)

    def export(
        self, centroids: Centroids, copies: dict[int, Data] | None = None
    ) -> "GramPredictor":
        assert centroids.coefficients is not None
        copies = {} if copies is None else copies
        key = id(centroids.coefficients)
        if key not in copies:
            copies[key] = np.ascontiguousarray(to_numpy(centroids.coefficients[:, 0, :]))
        X = None
        if not self.kernel.precomputed:
            if id(self.X) not in copies:
                copies[id(self.X)] = to_numpy(self.X).copy()
            X = copies[id(self.X)]
        own = None if self.rows.norms is None else to_numpy(self.rows.norms)
        origin, norms = self.origin.moved(to_numpy), self.norms(centroids)[:, 0].copy()
        budget = min(self.rows.row_budget, ROW_BUDGET)
        floor = float(self.floor(centroids)[0])
        return GramPredictor(self.kernel, origin, X, copies[key], own, norms, budget, floor)

    @property
    def embedded(self) -> Callable[[slice], tuple[Array, Array]] | None:
        held = isinstance(self.rows, HeldRows) and on_host(self.device_weight)
        return self._embedded if held else None

    def _embedded(self, block: slice) -> tuple[Array, Array]:
        # The function and the blocks are those of predictors. A copy, because some libraries round
        # a product by where in memory its operands begin.
        return self.rows.read(block).copy(), self.centered_norms[block]

    @staticmethod
    def restart_bytes(k: int, n_samples: int, itemsize: int) -> int:
        """Working memory of one restart, before there is a space.

        Coefficients, their products, the sums that become the next ones, and room for copies.
        """
        return 5 * k * n_samples * itemsize

    def memory(self, k: int) -> Memory:
        n, itemsize = self.n_samples, self.dtype.itemsize
        working = self.restart_bytes(k, n, itemsize)
        if isinstance(self.rows, HeldRows):
            return Memory(n * n * itemsize, 0, working)
        return Memory(0, self.rows.row_budget, working)


@dataclass(eq=False, repr=False)
class GramPredictor(Predictor):
    """Centroids as coefficients over the training rows.

    Attributes
    ----------
    kernel : Kernel
        Kernel of the fit.
    origin : Origin
        Mean of the training rows.
    X : {ndarray, CSR matrix} of shape (n_samples, n_features) or None
        Training rows; None where the kernel is precomputed.
    coefficients : ndarray of shape (k, n_samples)
        Centroids as combinations of the training rows.
    sample_norms : ndarray of shape (n_samples,) or None
        Norms of the training rows before normalization; None if the kernel is not normalized.
    norms : ndarray of shape (k,)
        Squared norms of the centroids.
    row_budget : int
        Bytes of kernel values held at a time.
    resolution : float
        Difference of squared distances that is rounding: the first of such centroids is nearest.
    """

    kernel: Kernel
    origin: Origin
    X: Data | None
    coefficients: Array
    sample_norms: Array | None
    norms: Array
    row_budget: int
    resolution: float

    def embedding(self) -> Embedding:
        values_of = kernel_rows(self.kernel, self.X, self.sample_norms)

        def embed(rows: Data, diagonal: Array) -> tuple[Array, Array]:
            rows, diagonal = self.device.put(rows), self.device.put(diagonal)
            values = values_of(rows, diagonal if self.kernel.precomputed else None)
            if self.kernel.normalized and not self.kernel.precomputed:
                diagonal = self.kernel.diagonal(rows)
            squared_norms = like(self.kernel.squared_norms(diagonal), values)
            means = self.origin.project(values)
            squared_norms = self.origin.squared_norms(squared_norms, means)
            return self.origin.center(values, means), squared_norms

        return embed

    def _compare(self, embedded: tuple[Array, Array]) -> tuple[Array, Array]:
        rows, squared_norms = embedded
        return self.coefficients @ rows.T, squared_norms

    def _moved(self, move: Callable[[Any], Any]) -> None:
        self.origin, self.coefficients = self.origin.moved(move), move(self.coefficients)
        self.X = None if self.X is None else move(self.X)
        self.sample_norms = None if self.sample_norms is None else move(self.sample_norms)

    @property
    def _row_bytes(self) -> int:
        return int(self.coefficients.shape[1] * self.norms.itemsize)
