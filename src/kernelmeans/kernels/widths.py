"""Kernel widths that suit the data."""

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from sklearn.utils import check_random_state
from sklearn.utils.sparsefuncs import mean_variance_axis

from kernelmeans._dialect import option
from kernelmeans._given import plain
from kernelmeans._text import check_name
from kernelmeans._typing import Array, BoolArray, Data
from kernelmeans.kernels.formulas import NAMED, geodesic_kernel
from kernelmeans.kernels.gaussian import power_distances
from kernelmeans.rows import Rows

#: Rows of the subsample whose pairwise distances ``gamma="median"`` uses.
MEDIAN_ROWS = 1000


def resolve_gamma(
    gamma: str | float,
    kernel: str,
    X: Data,
    random_state: Any = None,
    sample_weight: Array | None = None,
) -> float:
    """Turn the name of a width into a number.

    ``"rms"`` is the paper's 1 / (2 sigma^2) for rbf, sigma^2 the mean squared distance of two
    different rows; 1 / n_features for laplacian, poly and sigmoid; 0.5 for geodesic.
    ``"median"`` takes for sigma the median distance between different rows of a random subsample.
    ``"scale"`` is 1 / (n_features * variance of X), as in scikit-learn's SVC.
    The weight of a pair of rows is the product of their weights. A row makes no pair with itself,
    whatever its weight: that is not the same as the row repeated, whose copies are pairs.

    Parameters
    ----------
    gamma : {"rms", "median", "scale"} or float
        The width; a float is returned as it is.
    kernel : str
        Name of the kernel.
    X : {array, CSR matrix} of shape (n_samples, n_features)
        Training rows.
    random_state : int, RandomState or None
        Seed of the subsample for ``"median"``.
    sample_weight : ndarray of shape (n_samples,), default=None
        Sample weights, some positive; equal when None. Only their ratios matter.

    Returns
    -------
    float
        The kernel's ``gamma``. It is 1 if all rows are equal, because any width then gives the
        same kernel matrix.

    Raises
    ------
    ValueError
        If ``gamma="median"`` comes with a kernel that is no function of a distance.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.kernels import resolve_gamma
    >>> resolve_gamma("median", "rbf", np.array([[0.0], [1.0], [2.0]]))
    0.5
    """
    if not isinstance(gamma, str):
        return float(gamma)
    check_name("gamma", gamma, ["rms", "median", "scale"])
    found = _named_gamma(gamma, kernel, plain(X), random_state, _uneven(sample_weight))
    if not 0 < found < math.inf:
        raise ValueError(
            f"{option('gamma', gamma)}: squared distances between rows of X overflow or "
            "underflow; scale its columns."
        )
    return found


def _named_gamma(
    gamma: str, kernel: str, X: Data, random_state: Any, weight: Array | None
) -> float:
    if gamma == "median":
        return _median_gamma(kernel, X, random_state, weight)
    if gamma == "scale":
        # The variance of all entries together, whatever their column.
        mean, variance = column_moments(X, weight)
        return reciprocal(X.shape[1] * float(np.mean(variance) + np.var(mean)), variance.any())
    distance = NAMED[kernel].distance
    if distance == "angle":
        return 0.5
    if distance != "euclidean":
        return 1 / float(X.shape[1])
    _, variance = column_moments(X, weight)
    # sum_ij v_i v_j ||x_i - x_j||^2 = 2 sum_p var_p for weights that sum to one.
    if weight is None:
        n = X.shape[0]
        return reciprocal(4 * float(np.sum(variance)) * n / max(n - 1, 1), variance.any())
    different = 1 - float(np.sum((weight / weight.sum()) ** 2))
    total = 4 * float(np.sum(variance)) / max(different, np.finfo(float).tiny)
    return reciprocal(total, variance.any())


def reciprocal(value: float, varies: Any) -> float:
    """1 / value; 1 for constant data, whose kernel matrix is the same for any width.

    Parameters
    ----------
    value : float
        Not negative.
    varies : bool
        Whether it is above 0 in exact arithmetic.

    Returns
    -------
    float
        Infinite if the value has underflowed.

    Examples
    --------
    >>> from kernelmeans.kernels.widths import reciprocal
    >>> reciprocal(4.0, True), reciprocal(0.0, True), reciprocal(0.0, False)
    (0.25, inf, 1.0)
    """
    if value > 0:
        return 1 / value
    return math.inf if varies else 1.0


def _uneven(sample_weight: Array | None) -> Array | None:
    """Weights in float64, relative to the largest; None where all are equal."""
    if sample_weight is None or np.ptp(sample_weight) == 0:
        return None
    return np.asarray(sample_weight.astype(np.float64) / float(sample_weight.max()))


class _Moments(NamedTuple):
    """Total weight of some rows, and mean, variance and extremes of their columns."""

    weight: float
    mean: Array
    variance: Array
    low: Array
    high: Array

    @classmethod
    def of(cls, X: Array, weight: Array | None = None) -> "_Moments":
        if weight is None:
            mean: Array = np.mean(X, axis=0, dtype=np.float64)
            variance: Array = np.var(X, axis=0, dtype=np.float64)
            return cls(len(X), mean, variance, np.min(X, axis=0), np.max(X, axis=0))
        X, weight = X[weight > 0], weight[weight > 0]
        if not len(X):
            none = np.zeros(X.shape[1])
            return cls(0.0, none, none, none + np.inf, none - np.inf)
        total = float(weight.sum())
        mean = weight @ X / total
        variance = weight @ (X - mean) ** 2 / total
        return cls(total, mean, variance, np.min(X, axis=0), np.max(X, axis=0))

    def plus(self, other: "_Moments") -> "_Moments":
        """Moments of the rows of both (Chan, Golub and LeVeque 1979)."""
        total = self.weight + other.weight
        step, fraction = other.mean - self.mean, other.weight / total if total else 0.0
        within = (1 - fraction) * self.variance + fraction * other.variance
        return _Moments(
            total,
            self.mean + step * fraction,
            within + step**2 * (fraction * (1 - fraction)),
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )


def column_moments(X: Data, weight: Array | None = None) -> tuple[Array, Array]:
    """Means and variances of the columns; of constant columns alone the variance is exactly 0.

    Parameters
    ----------
    X : {array, CSR matrix, Rows} of shape (n_samples, n_features)
        Rows.
    weight : ndarray of shape (n_samples,), default=None
        Sample weights; ones when None. Rows of weight 0 do not count.
    """
    if scipy.sparse.issparse(X):
        counts: slice | BoolArray = slice(None) if weight is None else weight > 0
        X, weight = X[counts], None if weight is None else weight[counts].astype(np.float64)
        mean, variance = mean_variance_axis(X.astype(np.float64), axis=0, weights=weight)
        spread = (X.max(axis=0) - X.min(axis=0)).toarray().ravel()
        return mean, _of_varying(variance, spread > 0)
    weights = () if weight is None else (weight,)
    if isinstance(X, Rows):
        moments = X.summed(_Moments.of, _Moments.plus, *weights)
    else:
        moments = _Moments.of(X, *weights)
    return moments.mean, _of_varying(moments.variance, moments.high > moments.low)


def _of_varying(variance: Array, varies: BoolArray) -> Array:
    """Variances, 0 for columns that do not vary and never for others, whose squares may vanish."""
    return np.where(varies, np.maximum(variance, np.nextafter(0, 1)), 0)


def _median_gamma(kernel: str, X: Data, random_state: Any, weight: Array | None) -> float:
    distance = NAMED[kernel].distance
    if distance is None:
        others = ", ".join(name for name, named in NAMED.items() if named.distance)
        raise ValueError(
            f"{option('gamma', 'median')} needs a kernel that is a function of a distance "
            f"({others}), got {option('kernel', kernel)}; use {option('gamma', 'rms')}, 'scale' "
            "or a float."
        )
    variance = column_moments(X, weight)[1]
    if not variance.any():
        return 1.0
    if distance == "euclidean" and variance.sum() < np.finfo(float).tiny:
        return math.inf
    counts = np.arange(X.shape[0]) if weight is None else np.flatnonzero(weight)
    weight = None if weight is None else _uneven(weight[counts])
    if len(counts) > MEDIAN_ROWS:
        p = None if weight is None else weight / weight.sum()
        rng = check_random_state(random_state)
        counts = rng.choice(counts, MEDIAN_ROWS, replace=weight is not None, p=p)
        weight = None
    X = X[counts]
    if distance == "angle":
        distances = -np.log(geodesic_kernel(X, gamma=1.0))
    else:
        power = 2 if distance == "euclidean" else 1
        distances = power_distances(X, X, power) ** (1 / power)
    pairs = np.triu_indices(distances.shape[0], k=1)
    weight = np.ones(distances.shape[0]) if weight is None else weight
    distances, weight = distances[pairs], weight[pairs[0]] * weight[pairs[1]]
    # Pairs of equal rows do not count: if most rows were repeated, the median would be 0.
    differ = (distances > 0) & (weight > 0)
    median = _weighted_median(distances[differ], weight[differ])
    return reciprocal(2 * median**2 if distance == "euclidean" else median, False)


def _weighted_median(values: Array, weight: Array) -> float:
    """Median of values with weights; 0 if there are no values."""
    if not len(values):
        return 0.0
    order = np.argsort(values)
    reached = np.cumsum(weight[order])
    middle = [np.searchsorted(reached, reached[-1] / 2, side) for side in ("left", "right")]
    return float(values[order[middle]].mean())
