"""Fitted centroids that answer for new rows; also the code that makes the training labels."""

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.engines import Threads
from kernelmeans.kernels import Kernel

#: Bytes of kernel values or features that one block of new rows may take.
BLOCK_BYTES = 2**24
#: Most rows in a block of new rows.
BLOCK_ROWS = 2048


class Predictor(ABC):
    """k centroids in feature space and what it takes to compare new rows with them.

    Attributes
    ----------
    kernel : Kernel
        Kernel of the fit.
    norms : ndarray of shape (k,)
        Squared norms of the centroids.
    """

    kernel: Kernel
    norms: Array

    @abstractmethod
    def _compare(self, rows: Data, diagonal: Array) -> tuple[Array, Array]:
        """<phi(x), theta_j> of shape (k, n_rows), and ||phi(x)||^2 given K(x, x)."""

    @property
    @abstractmethod
    def _row_bytes(self) -> int:
        """Bytes that `_compare` takes for a row."""

    def distances(self, X: Data, diagonal: Array) -> Array:
        """Squared distances ||phi(x) - theta_j||^2, shape (k, n_rows).

        Parameters
        ----------
        X : {array, CSR matrix} of shape (n_rows, n_features)
            New rows; kernel rows against the training rows for a precomputed kernel.
        diagonal : ndarray of shape (n_rows,)
            K(x, x) of the rows.
        """
        out = np.empty((self.norms.shape[0], X.shape[0]), self.norms.dtype)

        def fill(block: slice) -> None:
            relative, squared_norms = self._relative(X[block], diagonal[block])
            np.maximum(relative + squared_norms, 0, out=out[:, block])

        self._run(fill, X.shape[0])
        return out

    def assign(self, X: Data, diagonal: Array) -> tuple[IntArray, Array]:
        """Nearest centroid of every row, the first of equals, and its squared distance.

        The labels do not depend on the diagonal.
        """
        labels = np.empty(X.shape[0], np.int32)
        nearest = np.empty(X.shape[0], self.norms.dtype)

        def fill(block: slice) -> None:
            relative, squared_norms = self._relative(X[block], diagonal[block])
            labels[block] = relative.argmin(axis=0)
            np.maximum(relative.min(axis=0) + squared_norms, 0, out=nearest[block])

        self._run(fill, X.shape[0])
        return labels, nearest

    def _relative(self, rows: Data, diagonal: Array) -> tuple[Array, Array]:
        """Squared distances less ||phi(x)||^2, and these squared norms."""
        products, squared_norms = self._compare(rows, diagonal)
        return self.norms[:, None] - 2 * products, squared_norms

    def _run(self, fill: Callable[[slice], None], n: int) -> None:
        # The blocks depend on nothing but the model, so that equal data get equal labels.
        rows = max(1, min(BLOCK_ROWS, BLOCK_BYTES // max(1, self._row_bytes)))
        with Threads() as threads:
            threads.run(fill, [slice(i, i + rows) for i in range(0, n, rows)])
