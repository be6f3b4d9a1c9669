"""Features of rows that a heat kernel has not seen, from those of its training rows."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from sklearn.preprocessing import normalize

from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.heat.digests import Digests, find
from kernelmeans.kernels.formulas import unit_rows


class TrainingRows(Protocol):
    """Training rows that other rows are compared with."""

    def read(self, X: Data, dtype: Any) -> Data:
        """Rows in the form of the training rows."""

    def digests(self, rows: Data) -> Digests:
        """A digest of each row; those of equal rows are equal."""

    def weights(self, rows: Data, n_neighbors: int) -> Data:
        """CSR array (n_new, n_rows) of weights on the distinct rows; rows sum to 1, or to 0."""


@dataclass(eq=False, repr=False)
class Extension:
    """Features of any row: those of the training row that it equals, or a mean near it.

    The mean is that of the diffusion coordinates of training rows, D^-1/2 U exp(-(1 - lambda) t),
    of which the features are the directions. A random walk from the new row ends there, if its
    first step leads to one of these rows. Rows of wide or small clusters have long coordinates,
    because less heat is there. In many columns the rows near a new row of a wide cluster are mostly
    those of a dense one. Long coordinates keep it from being lost to them.

    Parameters
    ----------
    rows : TrainingRows
        The training rows.
    known : ndarray of shape (n_rows,)
        Digests of the distinct training rows, in ascending order.
    features : ndarray of shape (n_rows, r)
        Their features.
    n_neighbors : int
        Number of training rows near a new one that count, unless edges say which.
    residuals : ndarray of shape (n_rows,), default=None
        Those of `kernelmeans.heat.basis.Basis` for the training rows, if they are known.
    norms : ndarray of shape (n_rows,), default=None
        The norms of diffusion coordinates. When None, all are alike.

    References
    ----------
    Coifman and Lafon (2006), Geometric harmonics: a novel tool for multiscale out-of-sample
    extension of empirical functions.
    """

    rows: TrainingRows
    known: Digests
    features: Array
    n_neighbors: int
    #: Older model files have neither.
    residuals: Array | None = None
    norms: Array | None = None

    def __call__(self, X: Data) -> Array:
        """Features of norm 1, or zeros for a row that is near none."""
        rows, places = self.find(X)
        found: Array = self.features[places]
        new = np.flatnonzero(places < 0)
        if len(new):
            weights = self._weights(rows[new])
            means = weights @ self.features
            # Features that cancel each other out have no direction, so the row that counts most
            # decides.
            cancelled = np.einsum("ij,ij->i", means, means) < np.finfo(means.dtype).eps
            for row in np.flatnonzero(cancelled & (np.diff(weights.indptr) > 0)):
                entries = slice(*weights.indptr[row : row + 2])
                most = weights.indices[entries][weights.data[entries].argmax()]
                means[row] = self.features[most]
            found[new] = unit_rows(means)
        return found

    def _weights(self, rows: Data) -> Data:
        """Weights of new rows on the features of training rows; they sum to 1, or to 0."""
        weights = self.rows.weights(rows, self.n_neighbors)
        if self.norms is None:
            return weights
        weights.data *= self.norms[weights.indices]
        return normalize(weights, "l1", copy=False)

    def find(self, X: Data) -> tuple[Data, IntArray]:
        """Rows in the form of the training rows, and the place of an equal one, or -1, for each."""
        rows = self.rows.read(X, self.features.dtype)
        return rows, find(self.known, self.rows.digests(rows))
