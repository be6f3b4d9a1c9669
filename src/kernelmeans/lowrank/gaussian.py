"""Gaussian kernel values against fixed rows, in one product: made anew at each step, they count."""

import numpy as np

from kernelmeans._typing import Array

#: Exponent up to which single precision is enough: its rounding is then below 1e-5.
LARGEST_EXPONENT = 64
#: Exponent beyond which a value counts as zero.
VANISHING = 80


class GaussianRows:
    """The kernel exp(-gamma ||x - y||^2) of any rows x against fixed rows y.

    About the mean of the y, the exponent is the product of (x, 1, ||x||^2) with a matrix of the y.

    Parameters
    ----------
    Y : ndarray of shape (m, n_features)
        The fixed rows.
    gamma : float
        Width.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.lowrank.gaussian import GaussianRows
    >>> GaussianRows(np.array([[0.0], [2.0]]), gamma=0.5)(np.array([[1.0], [2.0]])).round(3)
    array([[0.607, 0.607],
           [0.135, 1.   ]])
    """

    def __init__(self, Y: Array, gamma: float) -> None:
        self.centre = Y.mean(axis=0, dtype=np.float64)
        self.gamma = gamma
        Y = Y - self.centre
        squares = np.vecdot(Y, Y)
        self._farthest = float(squares.max())
        self.matrix = gamma * np.vstack([2 * Y.T, -squares, np.full(len(Y), -1.0)])

    def __call__(self, X: Array) -> Array:
        """Kernel matrix of shape (n_rows, m), in the precision of X."""
        rows, largest = self._extended(X, X.dtype)
        if X.dtype != np.float64 and self.gamma * largest > LARGEST_EXPONENT:
            rows, _ = self._extended(X, np.dtype(np.float64))
        exponents = rows @ self.matrix.astype(rows.dtype)
        # Rounding may leave it above 0, where the rows are equal.
        np.minimum(exponents, 0, out=exponents)
        values: Array = exponents.astype(X.dtype, copy=False)
        if 2 * self.gamma * (largest + self._farthest) > VANISHING:
            # Denormal numbers would slow the products that follow up to fortyfold.
            values[values < -VANISHING] = -np.inf
        return np.exp(values, out=values)

    def _extended(self, X: Array, dtype: "np.dtype[np.floating]") -> tuple[Array, float]:
        """Rows (x, 1, ||x||^2) about the centre, and the largest square."""
        rows = np.empty((X.shape[0], X.shape[1] + 2), dtype)
        np.subtract(X, self.centre.astype(dtype), out=rows[:, :-2])
        rows[:, -2] = 1
        with np.errstate(over="ignore"):
            rows[:, -1] = np.vecdot(rows[:, :-2], rows[:, :-2])
        return rows, float(rows[:, -1].max(initial=0))
