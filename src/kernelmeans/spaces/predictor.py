"""Fitted centroids that answer for new rows; also the code that makes the training labels."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from kernelmeans._arrays import like, reduce, to_numpy
from kernelmeans._devices import HOST, Device
from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.engines import Threads

#: Most bytes of kernel values or features that are held at a time: more gains no speed.
ROW_BUDGET = 2**26
#: Most rows in a block of new rows.
BLOCK_ROWS = 512


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
        Both at least 1. Quarters of the budget let four threads work, while the blocks, and with
        them the rounding, depend on the budget alone.
    """
    rows = max(1, budget // (4 * max(1, row_bytes)))
    return rows, max(1, min(budget // (rows * max(1, row_bytes)), 4))


class Comparison(NamedTuple):
    """Rows compared with k centroids.

    Attributes
    ----------
    labels : ndarray of shape (n_rows,)
        Nearest centroid, the first of equals.
    nearest : ndarray of shape (n_rows,)
        Squared distance to it.
    distances : ndarray of shape (k, n_rows) or None
        All squared distances, where they were asked for.
    """

    labels: IntArray
    nearest: Array
    distances: Array | None


class Predictor(ABC):
    """k centroids in feature space and what it takes to compare new rows with them.

    Attributes
    ----------
    kernel : Kernel or CombinedKernel
        Kernel of the fit.
    norms : ndarray of shape (k,)
        Squared norms of the centroids.
    row_budget : int
        Bytes of kernel values or features held at a time.
    device : Device
        Where rows are compared with the centroids.
    workers : int or None
        Threads that compare them; as many as BLAS would use when None.
    """

    kernel: Any
    norms: Array
    row_budget: int = ROW_BUDGET
    device: Device = HOST
    workers: int | None = None

    @abstractmethod
    def _compare(self, rows: Data, diagonal: Array) -> tuple[Array, Array]:
        """<phi(x), theta_j> of shape (k, n_rows), and ||phi(x)||^2 given K(x, x)."""

    @abstractmethod
    def _moved(self, move: Callable[[Any], Any]) -> None:
        """Put all large arrays elsewhere."""

    def on(self, device: Device) -> "Predictor":
        """The same predictor, which compares there; rows and answers stay on the host."""
        if device.is_host:
            return self
        there = copy.copy(self)
        there.device = device
        there._moved(device.put)
        return there

    @property
    @abstractmethod
    def _row_bytes(self) -> int:
        """Bytes that `_compare` takes for a row."""

    def compare(self, X: Data, diagonal: Array, keep_distances: bool = False) -> Comparison:
        """Compare rows with the centroids.

        Parameters
        ----------
        X : {array, CSR matrix} of shape (n_rows, n_features)
            New rows; kernel rows against the training rows for a precomputed kernel.
        diagonal : ndarray of shape (n_rows,)
            K(x, x) of the rows. The labels do not depend on it.
        keep_distances : bool, default=False
            Whether all k distances of a row are wanted.

        Returns
        -------
        Comparison
            Labels, and squared distances.
        """
        n, dtype = X.shape[0], self.norms.dtype
        labels, nearest = np.empty(n, np.int32), np.empty(n, dtype)
        distances = np.empty((self.norms.shape[0], n), dtype) if keep_distances else None

        def fill(block: slice) -> None:
            relative, squared_norms = self._relative(X[block], diagonal[block])
            labels[block] = to_numpy(reduce("argmin", relative, axis=0))
            least = to_numpy(reduce("min", relative, axis=0) + squared_norms)
            np.maximum(least, 0, out=nearest[block])
            if distances is not None:
                np.maximum(to_numpy(relative + squared_norms), 0, out=distances[:, block])

        # The blocks depend on nothing but the model, so that equal data get equal labels.
        rows, max_in_flight = portions(self._row_bytes, self.row_budget)
        rows = min(rows, BLOCK_ROWS if self.device.is_host else n)
        with Threads(self.workers if self.device.is_host else 1) as threads:
            threads.run(fill, [slice(i, i + rows) for i in range(0, n, rows)], max_in_flight)
        return Comparison(labels, nearest, distances)

    def _relative(self, rows: Data, diagonal: Array) -> tuple[Array, Array]:
        """Squared distances less ||phi(x)||^2, and these squared norms."""
        products, squared_norms = self._compare(rows, diagonal)
        return like(self.norms[:, None], products) - 2 * products, squared_norms
