"""The choice of a feature map that approximates a kernel."""

import math
from numbers import Integral

import numpy as np
import scipy.sparse
from sklearn.utils.extmath import row_norms

from kernelmeans._dialect import option
from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.kernels import Kernel
from kernelmeans.kernels.kernel import check_callable, check_finite, check_range, check_underflow
from kernelmeans.lowrank.cholesky import Pivots, pivoted_cholesky
from kernelmeans.lowrank.landmarks import kmeans_centroids, kmeans_plusplus_points
from kernelmeans.lowrank.maps import RANDOM_MAPS, FeatureMap, Nystroem, is_definite
from kernelmeans.lowrank.sampling import subsample_rows

#: Fewest components for ``n_components="auto"``, in all and per cluster. With so many, labels have
#: the cost of exact ones, whatever the residual (``benchmarks/auto.py``).
AUTO_COMPONENTS, AUTO_PER_CLUSTER = 200, 3
#: Most components that keep a fraction of the trace.
FRACTION_MOST = 5000
#: Number of rows in the first search for the landmarks that keep a fraction of the trace, and most
#: values of a Cholesky factor. Each further search has twice as many rows, up to this size.
CHECKED_ROWS, MOST_PIVOT_VALUES = 4096, 2**26
#: Growth of the number of landmarks while they keep too little.
GROWTH = 1.25
#: Approximations by name: landmarks chosen in two ways, or a random map.
METHODS = ("landmarks", "rpcholesky", *RANDOM_MAPS)
#: Rows whose kernel matrix shows whether a kernel is positive semi-definite.
DEFINITE_ROWS = 512


def approximate(
    kernel: Kernel,
    X: Data,
    sample_weight: Array,
    method: str,
    n_components: int | float | str,
    seed: int,
    n_clusters: int = 1,
) -> FeatureMap:
    """Find landmarks or random features for training rows.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : {ndarray, CSR matrix, Rows} of shape (n_samples, n_features)
        Training rows, of which a subsample is used; the kernel matrix if it is precomputed.
    sample_weight : ndarray of shape (n_samples,)
        Sample weights.
    method : {"landmarks", "rpcholesky", "rff"}
        The kind of features.
    n_components : int, float or "auto"
        Number of components. A float in (0, 1) is the fraction of the trace to keep, with at most
        5000 components, or the root of ``n_samples`` if that is more. ``"auto"`` is
        `auto_components`.
    seed : int
        Seed of all randomness.
    n_clusters : int, default=1
        Number of clusters.

    Returns
    -------
    FeatureMap
        From rows to features whose inner products approximate the kernel.

    Raises
    ------
    ValueError
        If the method does not go with the kernel or with ``n_components``.

    References
    ----------
    Calandriello and Rosasco (2018), Statistical and computational trade-offs in kernel k-means.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.kernels import Kernel
    >>> from kernelmeans.lowrank import approximate
    >>> X = np.random.default_rng(0).standard_normal((500, 2))
    >>> kernel = Kernel("rbf", {"gamma": 0.1})
    >>> found = approximate(kernel, X, np.ones(500), "landmarks", 40, seed=0)
    >>> Z = found.coordinates(found.raw(X, np.ones(500)))
    >>> bool(abs(Z @ Z.T - kernel(X, X)).max() < 1e-3)
    True
    """
    check_method(kernel, method, n_components)
    # Rows of weight 0 do not count.
    n_samples = int(np.count_nonzero(sample_weight))
    most, fraction = _limits(n_components, n_samples, n_clusters)
    if random_map := RANDOM_MAPS.get(method):
        # There may be more random features than samples.
        count = int(n_components) if isinstance(n_components, Integral) else most
        return random_map(kernel, X.shape[1], count, seed, sample_weight.dtype)
    if kernel.precomputed:
        diagonal = np.diagonal(X)
        check_range(kernel, diagonal, sample_weight)
    else:
        columns = most * (method == "rpcholesky")
        # Twice as many rows as landmarks, because a row can be drawn more than once.
        X, sample_weight = subsample_rows(
            X, sample_weight, columns=columns, at_least=2 * most, seed=seed
        )
        with np.errstate(all="ignore"):
            diagonal = kernel.diagonal(X)
            squared_norms = kernel.squared_norms(diagonal)
            check_finite(kernel, squared_norms, row_norms(X, squared=True))
        check_range(kernel, squared_norms, sample_weight)
        if kernel.given_name is None:
            some = X[:DEFINITE_ROWS]
            check_callable(kernel, squared_norms, float(np.mean(kernel.values(some, some))))
    check_underflow(kernel, diagonal, lambda: kernel.is_nonzero(X, diagonal))
    if method == "rpcholesky":
        indices = _pivots(kernel, X, sample_weight, most, 1 - fraction, seed).indices
        # The zero kernel has no pivot.
        indices = indices if len(indices) else np.array([0])
        found: FeatureMap = Nystroem.whitened(kernel, X, indices)
    elif fraction == 1:
        found = _landmarks(kernel, X, sample_weight, most, seed)
    else:
        found = _keeping(kernel, X, sample_weight, most, fraction, seed)
    if not kernel.is_positive:
        found.residual_is_positive &= _covers(found, X) and _looks_definite(kernel, X, seed)
    return found


def _keeping(
    kernel: Kernel, X: Data, sample_weight: Array, most: int, fraction: float, seed: int
) -> FeatureMap:
    """Landmarks that keep a fraction of the trace, or ``most`` landmarks."""
    order = np.random.default_rng(seed).permutation(np.flatnonzero(sample_weight > 0))
    # Rows other than those that decided the number, if there are any.
    checked = order[-CHECKED_ROWS:]
    count = _count(kernel, X, sample_weight, order, most, 1 - fraction, seed)
    while True:
        found = _landmarks(kernel, X, sample_weight, count, seed)
        if count >= most:
            return found
        if residual_fraction(found, X[checked], sample_weight[checked]) <= 1 - fraction:
            return found
        count = min(most, math.ceil(GROWTH * count))


def _looks_definite(kernel: Kernel, X: Data, seed: int) -> bool:
    """Whether the kernel matrix of some random rows is positive semi-definite up to rounding."""
    some = np.random.default_rng(seed).permutation(X.shape[0])[:DEFINITE_ROWS]
    rows = X[some]
    diagonal = np.diagonal(X)[some] if kernel.precomputed else kernel.diagonal(rows)
    features = Nystroem(kernel, some if kernel.precomputed else rows, diagonal)
    return is_definite(features.raw(rows, diagonal))


def check_method(kernel: Kernel, method: str, n_components: int | float | str) -> None:
    """Refuse an approximation that does not go with the kernel, before any work.

    Raises
    ------
    ValueError
        If the method does not go with the kernel or with ``n_components``.
    """
    if method == "landmarks" and kernel.precomputed:
        raise ValueError(
            f"{option('approximation', 'landmarks')} needs rows of data, got "
            f"{option('kernel', 'precomputed')}; use {option('approximation', 'rpcholesky')}, "
            "which chooses among the samples."
        )
    random_map = RANDOM_MAPS.get(method)
    if random_map and not isinstance(n_components, str | Integral):
        raise ValueError(
            f"{option('n_components', n_components)}: random features keep no fraction of the "
            f"trace; give their number, or use {option('approximation', 'landmarks')} or "
            "'rpcholesky'."
        )
    if random_map:
        random_map(kernel, 1, 1, 0, np.dtype(np.float32))


def residual_fraction(features: FeatureMap, X: Data, sample_weight: Array) -> float:
    """Fraction of the weighted trace over these rows that is residual."""
    residual, squared_norms = _residual(features, X, slice(0, X.shape[0]))
    total = float(sample_weight @ squared_norms)
    return float(sample_weight @ np.maximum(residual, 0)) / total if total > 0 else 0.0


def _residual(features: FeatureMap, X: Data, block: slice) -> tuple[Array, Array]:
    """Residual of some rows, and their squared norms."""
    rows, diagonal = features.read(X, block)
    squared_norms = features.kernel.squared_norms(diagonal)
    coordinates = features.coordinates(features.raw(rows, diagonal))
    return features.residual(coordinates, squared_norms), squared_norms


def _covers(features: FeatureMap, X: Data) -> bool:
    """Whether no residual is negative, as that of an indefinite kernel can be."""
    residual, squared_norms = _residual(features, X, slice(0, min(X.shape[0], CHECKED_ROWS)))
    tolerance = np.sqrt(np.finfo(X.dtype).eps) * np.abs(squared_norms).max(initial=0)
    return bool(residual.min(initial=0) >= -tolerance)


def auto_components(n_samples: int, n_clusters: int) -> int:
    """The number of components for ``n_components="auto"``.

    It is at least the root of the number of samples, which keeps the statistical rate.
    """
    enough = max(AUTO_COMPONENTS, AUTO_PER_CLUSTER * n_clusters, math.isqrt(n_samples))
    return min(n_samples, enough)


def _limits(n_components: int | float | str, n_samples: int, n_clusters: int) -> tuple[int, float]:
    """Most components, and the fraction of the trace that is enough."""
    if isinstance(n_components, str):
        return auto_components(n_samples, n_clusters), 1.0
    if isinstance(n_components, Integral):
        return min(n_samples, int(n_components)), 1.0
    return min(n_samples, max(FRACTION_MOST, math.isqrt(n_samples))), float(n_components)


def _count(
    kernel: Kernel,
    X: Data,
    sample_weight: Array,
    order: IntArray,
    most: int,
    tolerance: float,
    seed: int,
) -> int:
    """Number of landmarks: as many as pivots among some samples need to reach the tolerance."""
    size = CHECKED_ROWS
    while True:
        some = order[:size]
        whole = len(some) == len(order)
        target = tolerance if whole else tolerance / 2
        residual = _pivots(kernel, X[some], sample_weight[some], most, target, seed).residual
        ranks = np.arange(1, len(residual) + 1)
        if not whole:
            # The mean over samples that are no pivots, because the residual of a pivot is 0.
            residual = residual * len(some) / np.maximum(len(some) - ranks, 1)
        enough = np.flatnonzero(residual <= tolerance)
        if len(enough):
            return int(ranks[enough[0]])
        if whole or len(ranks) >= most or 2 * size * len(ranks) > MOST_PIVOT_VALUES:
            return max(1, min(most, len(order)))
        size *= 2


def _landmarks(kernel: Kernel, X: Data, sample_weight: Array, count: int, seed: int) -> FeatureMap:
    """Centroids of k-means; samples if X is sparse, or for a callable, which may not take means."""
    if scipy.sparse.issparse(X) or callable(kernel.function):
        indices = kmeans_plusplus_points(X, count, sample_weight, seed)
        return Nystroem.whitened(kernel, X, indices)
    return Nystroem.whitened(kernel, X, kmeans_centroids(X, count, sample_weight, seed))


def _pivots(
    kernel: Kernel, X: Data, sample_weight: Array, most: int, tolerance: float, seed: int
) -> Pivots:
    diagonal = kernel.diagonal(X)
    norms, squared_norms = kernel.norms(diagonal), kernel.squared_norms(diagonal)

    def rows(indices: IntArray) -> Array:
        values = kernel.values(X[indices], X)
        check_finite(kernel, values)
        return kernel.divide_by_norms(values, diagonal[indices], norms)

    rng = np.random.default_rng(seed)
    return pivoted_cholesky(rows, squared_norms, sample_weight, most, tolerance, rng)
