"""Centered kernel rows of the samples, held in a matrix or computed when needed."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from kernelmeans._arrays import double, like, namespace, on_host, take_rows
from kernelmeans._devices import Device
from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.engines import Threads
from kernelmeans.kernels import Kernel

#: Most bytes of recomputed kernel values or features that are held at a time: enough for one block
#: in each of as many threads as there may be cores.
ROW_BUDGET = 2**28
#: Bytes of a block of kernel rows, which then stays in a core's cache; fewest and most rows, and
#: bytes that the fewest may take.
BLOCK_BYTES, BLOCK_ROWS, LARGEST_BLOCK = 2**22, (64, 512), 2**24
#: On a device: bytes of kernel rows that are computed together to fill a cached matrix, most bytes
#: of rows that are held at a time, and how many arrays of that size it takes to compute them.
DEVICE_FILL_BYTES, DEVICE_ROW_BUDGET, DEVICE_COPIES = 2**28, 2**33, 4
#: Values of held kernel rows that are added up together where samples change clusters: starting
#: the work on fewer takes longer than the work.
VALUES_AT_ONCE = 2**22


def portions(row_bytes: int, budget: int) -> tuple[int, int]:
    """Rows in a block, and blocks at a time, that keep rows of kernel values within a budget.

    Parameters
    ----------
    row_bytes : int
        Bytes of a row.
    budget : int
        Bytes that all rows held at a time may take.

    Returns
    -------
    rows, max_in_flight : int
        Both at least 1. The rows, a power of two, and with them the rounding depend on nothing
        but the bytes; there is room for four blocks or more.
    """
    row_bytes = max(1, row_bytes)
    fewest, most = BLOCK_ROWS
    largest = min(budget // 4, LARGEST_BLOCK)
    rows = min(max(fewest, BLOCK_BYTES // row_bytes), most, largest // row_bytes)
    rows = 1 << (max(1, rows).bit_length() - 1)
    return rows, max(1, budget // (rows * row_bytes))


def slices(n: int, most: int) -> list[slice]:
    """The places from 0 to n, so many at a time."""
    return [slice(i, min(i + most, n)) for i in range(0, n, most)]


class Origin:
    """Weighted mean of the samples, about which kernel rows are centered.

    Attributes
    ----------
    weights : ndarray of shape (n_samples,)
        Sample weights that sum to one.
    means : ndarray of shape (n_samples,)
        <phi_i, mu> for every sample.
    square : float
        ||mu||^2.
    """

    def __init__(self, weights: Array, means: Array) -> None:
        self.weights = weights
        self.means = means
        self.square = float(double(weights) @ double(means))

    def project(self, rows: Array) -> Array:
        """<phi(x), mu> for rows of kernel values against the samples."""
        means: Array = rows @ self.weights
        return means

    def squared_norms(self, diagonal: Array, means: Array) -> Array:
        """||phi(x) - mu||^2 from K(x, x) and <phi(x), mu>."""
        return diagonal - 2 * means + self.square

    def center(self, rows: Array, own_means: Array) -> Array:
        """<phi(x) - mu, phi_i - mu> for such rows, in place: a second copy would need room."""
        rows -= (own_means - self.square)[:, None]
        rows -= self.means
        return rows

    def moved(self, move: Callable[[Any], Any]) -> "Origin":
        """The same with its arrays on another device."""
        moved = copy.copy(self)
        moved.weights, moved.means = move(self.weights), move(self.means)
        return moved


def kernel_rows(
    kernel: Kernel, X: Data | None, norms: Array | None
) -> Callable[[Data, Array | None], Array]:
    """The kernel values of rows against X as a function of them and, if precomputed, K(x, x).

    The values are a new array.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : {ndarray, CSR matrix} of shape (n_samples, n_features) or None
        Training rows; None where the kernel is precomputed.
    norms : ndarray of shape (n_samples,) or None
        Their norms before normalization; None if the kernel is not normalized.
    """
    against = None if kernel.precomputed else kernel.against(X)

    def values_of(rows: Data, diagonal: Array | None) -> Array:
        if against is None:
            values: Array = namespace(rows).asarray(rows, copy=True)
        else:
            # NumPy multiplies a matrix with itself by another routine: labels of the training
            # rows must not depend on whether they are the very array of the fit.
            values = against(rows.copy() if on_host(rows) else rows)
        if norms is None:
            return values
        diagonal = kernel.diagonal(rows) if diagonal is None else diagonal
        return kernel.divide_by_norms(values, diagonal, norms)

    return values_of


class KernelRows(ABC):
    """Where the centered kernel rows of the samples come from.

    Attributes
    ----------
    norms : ndarray of shape (n_samples,) or None
        Norms of the samples before normalization; None if the kernel is not normalized.
    row_budget : int
        Most bytes of kernel entries that are computed and held at a time.
    at_a_time : int
        Rows that are read together.
    in_flight : int or None
        Blocks of them that may be worked on at once without breaking the memory budget.
    changes_at_once : int
        Changes of samples that are worked on together; more only within a restart.
    """

    norms: Array | None = None
    row_budget: int
    at_a_time: int
    in_flight: int | None = None
    changes_at_once: int = 1

    @abstractmethod
    def center(self, origin: Origin, engine: Threads) -> None:
        """Center them, once all have been computed."""

    @abstractmethod
    def read(self, which: slice | IntArray) -> Array:
        """Rows of some samples, shape (len(which), n_samples)."""

    def combined(self, coefficients: Any, weight: Array) -> Array:
        """Combinations of rows by a sparse matrix (c, n_samples), as an array like the weights."""
        samples = np.unique(coefficients.indices)
        dense = like(coefficients[:, samples].toarray(), weight)
        shape, xp = coefficients.shape, namespace(dense)
        total: Array = xp.zeros(shape, dtype=dense.dtype, device=dense.device)
        for some in slices(len(samples), self.at_a_time):
            total += dense[:, some] @ self.read(samples[some])
        return total


class ComputedRows(KernelRows):
    """Rows that are computed whenever they are needed.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
        Training rows, where they are computed; the kernel matrix itself if it is precomputed.
    itemsize : int
        Bytes of a kernel entry.
    device : Device
        Where they are computed.
    row_budget : int
        Most bytes of kernel entries that may be held at any time; a quarter where it is large.
    """

    def __init__(
        self, kernel: Kernel, X: Data, itemsize: int, device: Device, row_budget: int
    ) -> None:
        self._kernel, self._X, self._device = kernel, X, device
        self._diagonal: Array | None = None
        if kernel.normalized or kernel.precomputed:
            diagonal = device.put(kernel.diagonal(X))
            self.norms = kernel.norms(diagonal)
            self._diagonal = diagonal if kernel.precomputed else None
        self._values_of = kernel_rows(kernel, X, self.norms)
        # Restarts need room too, but four threads must be able to work.
        part = min(row_budget, max(row_budget // 4, 4 * LARGEST_BLOCK), ROW_BUDGET)
        self.row_budget = part if device.is_host else min(row_budget, DEVICE_ROW_BUDGET)
        # The result of a callable is copied, because the user may keep it.
        copies = 2 if callable(kernel.function) else 1
        row_bytes = X.shape[0] * itemsize
        self.at_a_time, in_flight = portions(row_bytes, self.row_budget)
        self.in_flight = max(1, in_flight // copies)
        if not device.is_host:
            # One block, as large as can be, keeps all of a device at work.
            row_bytes *= copies * DEVICE_COPIES
            self.at_a_time, self.in_flight = max(1, self.row_budget // row_bytes), 1

    def values(self, which: slice | IntArray) -> Array:
        """Rows of some samples before centering."""
        rows = self._device.put(take_rows(self._X, which))
        own = None if self._diagonal is None else take_rows(self._diagonal, which)
        values: Array = self._values_of(rows, own)
        return values

    def center(self, origin: Origin, engine: Threads) -> None:
        self._origin = origin

    def read(self, which: slice | IntArray) -> Array:
        return self._origin.center(self.values(which), take_rows(self._origin.means, which))


class HeldRows(KernelRows):
    """Rows of a matrix that is kept.

    Parameters
    ----------
    matrix : ndarray of shape (n_samples, n_samples)
        Where it is held, to be filled before it is centered.
    itemsize : int
        Bytes of a kernel entry.
    computed : ComputedRows
        Where its values come from.
    device : Device
        Where they are computed.
    """

    def __init__(
        self, matrix: Array, itemsize: int, computed: ComputedRows, device: Device
    ) -> None:
        n = matrix.shape[0]
        self.matrix = matrix
        self.norms, self.row_budget = computed.norms, computed.row_budget
        self.at_a_time, self.in_flight = computed.at_a_time, computed.in_flight
        if not device.is_host:
            self.at_a_time = max(64, DEVICE_FILL_BYTES // (n * itemsize))
        self.changes_at_once = 1 + VALUES_AT_ONCE // n

    def center(self, origin: Origin, engine: Threads) -> None:
        # No kernel value will be computed again, and nothing held beside the matrix.
        self.in_flight = None

        def center(block: slice) -> None:
            origin.center(self.matrix[block, ...], origin.means[block])

        engine.run(center, slices(self.matrix.shape[0], self.at_a_time))

    def read(self, which: slice | IntArray) -> Array:
        rows: Array = take_rows(self.matrix, which)
        return rows

    def combined(self, coefficients: Any, weight: Array) -> Array:
        if not on_host(self.matrix):
            return super().combined(coefficients, weight)
        combined: Array = coefficients @ self.matrix
        return combined
