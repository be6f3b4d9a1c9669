"""Gaussian kernel values against fixed rows, in one product: the exponentials are the price."""

import math
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from kernelmeans._arrays import like, namespace, on_host, overwrite, reduce
from kernelmeans._typing import Array, IntArray

#: Exponent of the farthest fixed row from the centre up to which single precision is enough:
#: values are then wrong by a few roundings, and equal rows less than told from each other.
LARGEST_EXPONENT = 2
#: Rows whose middle is that of all.
MIDDLE_ROWS = 256
#: Rounding of an exponent from which on it is computed by differences.
ROUNDING = 1e-6
#: Exponent beyond which a value counts as zero.
VANISHING = 80


class GaussianRows:
    """The kernel exp(-gamma ||x - y||^2) of any rows x against fixed rows y.

    With rows about the middle of the y, in units of 1 / sqrt(2 gamma), the exponent is the product
    of (x, 1, -||x||^2 / 2) and (y, -||y||^2 / 2, 1). Where both rows are so far from the middle
    that this loses digits, it is computed by differences (on the host). Arrays of any library.

    Parameters
    ----------
    Y : ndarray of shape (m, n_features)
        The fixed rows.
    gamma : float
        Width.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.kernels.gaussian import GaussianRows
    >>> GaussianRows(np.array([[0.0], [2.0]]), gamma=0.5)(np.array([[1.0], [2.0]])).round(3)
    array([[0.607, 0.607],
           [0.135, 1.   ]])
    """

    def __init__(self, Y: Array, gamma: float) -> None:
        xp = namespace(Y)
        # Medians of some of the rows: few far ones must not cost the others their digits. In the
        # rows' own precision, so that those near to the centre lose none.
        some = xp.sort(Y[:: -(-Y.shape[0] // MIDDLE_ROWS), ...], axis=0)
        self._centre = some[some.shape[0] // 2, ...]
        self._scale = math.sqrt(2 * gamma)
        rows, self._farthest = self._extended(Y, Y.dtype)
        if self._farthest > LARGEST_EXPONENT and Y.dtype != xp.float64:
            rows, self._farthest = self._extended(Y, xp.float64)
        self._far = self._far_among(rows)
        self._far_rows = rows[self._far, :-2] if len(self._far) else rows[:0, :-2]
        self._rows = xp.concat((rows[:, :-2], xp.flip(rows[:, -2:], axis=1)), axis=1)

    def __call__(self, X: Array) -> Array:
        """Kernel matrix of shape (n_rows, m), in the precision of X."""
        xp = namespace(X)
        rows, farthest = self._extended(X, xp.result_type(X.dtype, self._rows.dtype))
        exponents = rows @ xp.asarray(self._rows, dtype=rows.dtype).T
        far = self._far_among(rows) if len(self._far) else self._far
        if len(far):
            squares = cdist(rows[far, :-2], self._far_rows, "sqeuclidean")
            exponents[np.ix_(far, self._far)] = squares / -2
        # Rounding may leave it above 0, where the rows are equal.
        exponents = overwrite(exponents, xp.minimum, exponents, like(0, exponents))
        values: Array = xp.asarray(exponents, dtype=X.dtype)
        if 2 * (farthest + self._farthest) > VANISHING:
            # Denormal numbers would slow the products that follow up to fortyfold.
            values[values < -VANISHING] = -xp.inf
        return overwrite(values, xp.exp, values)

    @staticmethod
    def _far_among(rows: Array) -> IntArray:
        """Extended rows whose squared lengths round by more than is good; none on a device."""
        if not on_host(rows):
            return np.empty(0, np.intp)
        return np.flatnonzero(np.finfo(rows.dtype).eps * -rows[:, -1] > ROUNDING)

    def _extended(self, X: Array, dtype: Any) -> tuple[Array, float]:
        """Rows (x, 1, -||x||^2 / 2) about the centre, and the largest ||x||^2 / 2."""
        xp = namespace(X)
        # What overflows is refused where all sums are checked.
        with np.errstate(over="ignore", invalid="ignore"):
            near = xp.asarray(X, dtype=dtype) - xp.asarray(self._centre, dtype=dtype)
            near *= self._scale
            halves = xp.vecdot(near, near)[:, None] / -2
        rows: Array = xp.concat((near, xp.ones_like(halves), halves), axis=1)
        return rows, -float(reduce("min", halves)) if X.shape[0] else 0.0
