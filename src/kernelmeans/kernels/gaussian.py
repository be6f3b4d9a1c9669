"""Gaussian kernel values against fixed rows, in little more time than the exponentials take."""

import math
from typing import Any

import numpy as np
import scipy.sparse
import sklearn
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances

from kernelmeans._arrays import like, namespace, on_host, overwrite, reduce
from kernelmeans._typing import Array, BoolArray, Data
from kernelmeans.engines.threads import forkable_openmp

#: Largest exponent of a fixed row against the centre for which single precision is enough: the
#: errors of the values are then a few roundings.
LARGEST_EXPONENT = 2
#: Most rows from whose medians the centre is made.
MIDDLE_ROWS = 256
#: Exponents with a larger rounding error are computed from differences.
ROUNDING = 1e-6
#: Exponent beyond which a value counts as zero.
VANISHING = 80


class GaussianRows:
    """The kernel exp(-gamma ||x - y||^2) of any rows x against fixed rows y.

    The rows are centred and scaled by sqrt(2 gamma). The exponent is then the inner product of
    (x, 1, -||x||^2 / 2) and (y, -||y||^2 / 2, 1). This loses digits where both rows are far from
    the centre; there the exponent is computed from differences. Arrays may be of any library.

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
        # The median, because a few far rows must not cost the others their digits. It has the
        # precision of the rows, so that rows near the centre lose none.
        some = xp.sort(Y[:: -(-Y.shape[0] // MIDDLE_ROWS), ...], axis=0)
        self._center = some[some.shape[0] // 2, ...]
        self._scale = math.sqrt(2 * gamma)
        rows, self._farthest = self._extended(Y, Y.dtype)
        if self._farthest > LARGEST_EXPONENT and Y.dtype != xp.float64:
            rows, self._farthest = self._extended(Y, xp.float64)
        self._far = _far_from_center(rows)
        self._any_far = bool(xp.any(self._far))
        self._rows = xp.concat((rows[:, :-2], xp.flip(rows[:, -2:], axis=1)), axis=1)

    def __call__(self, X: Array) -> Array:
        """Kernel matrix of shape (n_rows, m), in the precision of X."""
        xp = namespace(X)
        rows, farthest = self._extended(X, xp.result_type(X.dtype, self._rows.dtype))
        exponents = rows @ xp.asarray(self._rows, dtype=rows.dtype).T
        if self._any_far:
            exponents = self._by_differences(exponents, rows)
        # The exponents of equal rows may be rounded to more than 0.
        exponents = overwrite(exponents, xp.minimum, exponents, like(0, exponents))
        values: Array = xp.asarray(exponents, dtype=X.dtype)
        if 2 * (farthest + self._farthest) > VANISHING:
            # Denormal numbers would slow the products that follow up to fortyfold.
            values[values < -VANISHING] = -xp.inf
        return overwrite(values, xp.exp, values)

    def _by_differences(self, exponents: Array, rows: Array) -> Array:
        """The exponents, those between two far rows computed from differences."""
        xp, far = namespace(rows), _far_from_center(rows)
        if not bool(xp.any(far)):
            return exponents
        if on_host(rows):
            squares = power_distances(rows[far, :-2], self._rows[self._far, :-2], 2)
            exponents[np.ix_(far, self._far)] = squares / -2
            return exponents
        # The array API standard cannot write to chosen rows and columns.
        squares = power_distances(rows[:, :-2], self._rows[:, :-2], 2)
        exact: Array = xp.where(far[:, None] & self._far, squares / -2, exponents)
        return exact

    def _extended(self, X: Array, dtype: Any) -> tuple[Array, float]:
        """Rows (x, 1, -||x||^2 / 2) about the centre, and the largest ||x||^2 / 2."""
        xp = namespace(X)
        # Overflow is refused later, where all sums are checked.
        with np.errstate(over="ignore", invalid="ignore"):
            near = xp.asarray(X, dtype=dtype) - xp.asarray(self._center, dtype=dtype)
            near *= self._scale
            halves = xp.vecdot(near, near)[:, None] / -2
        rows: Array = xp.concat((near, xp.ones_like(halves), halves), axis=1)
        return rows, -float(reduce("min", halves)) if X.shape[0] else 0.0


def _far_from_center(rows: Array) -> BoolArray:
    """Which extended rows have squared norms with too large a rounding error."""
    rounding = namespace(rows).finfo(rows.dtype).eps * -rows[:, -1]
    far: BoolArray = rounding > ROUNDING
    return far


def power_distances(X: Data, Y: Data, power: int) -> Array:
    """Sums of ``|x_p - y_p| ** power`` over the columns p, for a power of 1 or 2.

    Shape (n_X, n_Y). Those of dense rows are computed from differences, without loss of digits; on
    the host in float64. Those of sparse rows are expanded, and squares lose digits far from zero.
    """
    if scipy.sparse.issparse(X) or scipy.sparse.issparse(Y):
        # The rows have been checked; to check both again for each block is slow.
        with sklearn.config_context(assume_finite=True), forkable_openmp():
            sums: Array = (
                euclidean_distances(X, Y, squared=True) if power == 2 else manhattan_distances(X, Y)
            )
            return sums
    if on_host(X):
        sums = cdist(X, Y, "sqeuclidean" if power == 2 else "cityblock")
        return sums
    xp = namespace(X)
    sums = xp.zeros((X.shape[0], Y.shape[0]), dtype=X.dtype, device=X.device)
    # Column by column: all at once would take n_features times the memory.
    for column in range(X.shape[1]):
        sums += xp.abs(X[:, column, None] - Y[:, column]) ** power
    return sums
