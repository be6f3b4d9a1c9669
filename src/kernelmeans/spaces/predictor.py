"""Fitted centroids that answer for new rows; also the code that makes the training labels."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.engines import Threads
from kernelmeans.kernels import Kernel

#: Bytes of kernel values or features that one block of new rows may take.
BLOCK_BYTES = 2**24
#: Most rows in a block of new rows.
BLOCK_ROWS = 512


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
            labels[block] = relative.argmin(axis=0)
            np.maximum(relative.min(axis=0) + squared_norms, 0, out=nearest[block])
            if distances is not None:
                np.maximum(relative + squared_norms, 0, out=distances[:, block])

        # The blocks depend on nothing but the model, so that equal data get equal labels.
        rows = max(1, min(BLOCK_ROWS, BLOCK_BYTES // max(1, self._row_bytes)))
        with Threads() as threads:
            threads.run(fill, [slice(i, i + rows) for i in range(0, n, rows)])
        return Comparison(labels, nearest, distances)

    def _relative(self, rows: Data, diagonal: Array) -> tuple[Array, Array]:
        """Squared distances less ||phi(x)||^2, and these squared norms."""
        products, squared_norms = self._compare(rows, diagonal)
        return self.norms[:, None] - 2 * products, squared_norms
