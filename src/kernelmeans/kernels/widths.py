"""Kernel widths that suit the data."""

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances
from sklearn.utils import check_random_state
from sklearn.utils.sparsefuncs import mean_variance_axis

from kernelmeans._typing import Array, Data
from kernelmeans.kernels.geodesic import geodesic_kernel
from kernelmeans.rows import Rows

#: Rows of data from which ``gamma="median"`` takes its pairwise distances.
MEDIAN_SAMPLE = 1000


def resolve_gamma(gamma: str | float, kernel: str, X: Data, random_state: Any = None) -> float:
    """Turn the name of a width into a number.

    ``"rms"`` is the paper's 1 / (2 sigma^2) for rbf, sigma^2 the mean squared distance of two
    different rows; 1 / n_features for laplacian, poly and sigmoid; 0.5 for geodesic.
    ``"median"`` puts the median distance of the different rows of a seeded sample in the place of
    sigma.
    ``"scale"`` is 1 / (n_features * variance of X), as in scikit-learn's SVC.

    Parameters
    ----------
    gamma : {"rms", "median", "scale"} or float
        The width asked for; a float is returned as it is.
    kernel : str
        Name of the kernel.
    X : {array, CSR matrix} of shape (n_samples, n_features)
        Training rows.
    random_state : int, RandomState or None
        Draws the sample for ``"median"``.

    Returns
    -------
    float
        The kernel's ``gamma``. Where all rows are equal any width gives the same kernel matrix,
        and it is 1.

    Raises
    ------
    ValueError
        If ``gamma="median"`` is asked of a kernel that is no function of a distance.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.kernels import resolve_gamma
    >>> resolve_gamma("median", "rbf", np.array([[0.0], [1.0], [2.0]]))
    0.5
    """
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma == "median":
        return _median_gamma(kernel, X, random_state)
    if gamma == "scale":
        # The variance of all entries together, whatever their column.
        mean, variance = _column_moments(X)
        return reciprocal(X.shape[1] * float(np.mean(variance) + np.var(mean)))
    if kernel == "geodesic":
        return 0.5
    if kernel != "rbf":
        return 1 / float(X.shape[1])
    n = X.shape[0]
    _, variance = _column_moments(X)
    # sum_ij ||x_i - x_j||^2 = 2 n^2 sum_p var_p.
    return reciprocal(4 * float(np.sum(variance)) * n / max(n - 1, 1))


def reciprocal(value: float) -> float:
    """1 / value, or 1 where that is no number, as for the width of constant data.

    Parameters
    ----------
    value : float
        Not negative.

    Returns
    -------
    float
        Finite.

    Examples
    --------
    >>> from kernelmeans.kernels.widths import reciprocal
    >>> reciprocal(4.0), reciprocal(0.0)
    (0.25, 1.0)
    """
    return 1 / value if value > 0 and math.isfinite(1 / value) else 1.0


class _Moments(NamedTuple):
    """Of the columns of some rows: number, mean, sum of squared deviations, extremes."""

    number: int
    mean: Array
    squares: Array
    low: Array
    high: Array

    @classmethod
    def of(cls, X: Array) -> "_Moments":
        mean: Array = np.mean(X, axis=0, dtype=np.float64)
        squares: Array = np.var(X, axis=0, dtype=np.float64) * len(X)
        return cls(len(X), mean, squares, np.min(X, axis=0), np.max(X, axis=0))

    def plus(self, other: "_Moments") -> "_Moments":
        """Those of the rows of both (Chan, Golub and LeVeque 1979)."""
        number = self.number + other.number
        step = other.mean - self.mean
        return _Moments(
            number,
            self.mean + step * (other.number / number),
            self.squares + other.squares + step**2 * (self.number * other.number / number),
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )


def _column_moments(X: Data) -> tuple[Array, Array]:
    """Means and variances of the columns; constant columns have variance 0 without rounding."""
    if isinstance(X, Rows):
        moments = X.summed(_Moments.of, _Moments.plus)
        return moments.mean, np.where(moments.high > moments.low, moments.squares / X.shape[0], 0)
    if scipy.sparse.issparse(X):
        mean, variance = mean_variance_axis(X.astype(np.float64), axis=0)
        spread = (X.max(axis=0) - X.min(axis=0)).toarray().ravel()
    else:
        mean, variance = np.mean(X, axis=0, dtype=np.float64), np.var(X, axis=0, dtype=np.float64)
        spread = np.ptp(X, axis=0)
    return mean, np.where(spread > 0, variance, 0)


def _median_gamma(kernel: str, X: Data, random_state: Any) -> float:
    if kernel not in ("rbf", "laplacian", "geodesic"):
        raise ValueError(
            f"gamma='median' needs a kernel that is a function of a distance (rbf, laplacian, "
            f"geodesic), got kernel={kernel!r}; use gamma='rms', 'scale' or a float."
        )
    n = X.shape[0]
    if not _column_moments(X)[1].any():
        return 1.0
    if n > MEDIAN_SAMPLE:
        X = X[check_random_state(random_state).choice(n, MEDIAN_SAMPLE, replace=False)]
    if kernel == "rbf":
        distances = euclidean_distances(X)
    elif kernel == "laplacian":
        distances = manhattan_distances(X)
    else:
        distances = -np.log(geodesic_kernel(X, gamma=1.0))
    distances = distances[np.triu_indices(distances.shape[0], k=1)]
    # Where most rows are repeated the median of all distances would be nil.
    median = float(np.median(distances[distances > 0])) if distances.any() else 0.0
    return reciprocal(2 * median**2 if kernel == "rbf" else median)
