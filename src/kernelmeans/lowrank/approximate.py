"""From a kernel and the wish for an approximation to a feature map."""

import math
from numbers import Integral

import numpy as np
import scipy.sparse
from sklearn.utils.extmath import row_norms

from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.kernels import Kernel, check_finite, check_range
from kernelmeans.lowrank.cholesky import Pivots, pivoted_cholesky
from kernelmeans.lowrank.draw import draw_rows
from kernelmeans.lowrank.landmarks import kmeans_centroids, kmeans_plusplus_points
from kernelmeans.lowrank.maps import RANDOM_MAPS, FeatureMap, Nystroem, is_definite

#: Components that ``n_components="auto"`` takes, and for each cluster, at least: labels of so many
#: cost what exact ones do, whatever the share of the trace left out (``benchmarks/auto.py``).
AUTO_COMPONENTS, AUTO_PER_CLUSTER = 200, 3
#: Most components that a share of the trace takes.
SHARE_MOST = 5000
#: Rows that say how many landmarks it takes, most values of a factor of theirs (they are more where
#: it takes many), and growth of the number of landmarks while it is too small.
CHECKED_ROWS, MOST_PIVOT_VALUES, GROWTH = 4096, 2**26, 1.25
#: Rows whose residual is computed at a time.
RESIDUAL_ROWS = 2048
#: What ``approximation`` may be: landmarks chosen in two ways, or a random map.
METHODS = ("landmarks", "rpcholesky", *RANDOM_MAPS)
#: Rows whose kernel matrix tells whether a kernel is positive semi-definite.
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
        Training rows, of which a draw is looked at; the kernel matrix if it is precomputed.
    sample_weight : ndarray of shape (n_samples,)
        Weights.
    method : {"landmarks", "rpcholesky", "rff"}
        Where features come from.
    n_components : int, float or "auto"
        How many; or the share of the trace to keep, in (0, 1), as far as 5000 components do, or
        the root of ``n_samples`` if that is more; ``"auto"`` is `auto_components`.
    seed : int
        Of all draws.
    n_clusters : int, default=1
        Clusters that are looked for.

    Returns
    -------
    FeatureMap
        From rows to features whose inner products come close to the kernel.

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
    most, share = _wanted(n_components, sample_weight.shape[0], n_clusters)
    if draw := RANDOM_MAPS.get(method):
        # They are no samples, and may be more.
        count = int(n_components) if isinstance(n_components, Integral) else most
        return draw(kernel, X.shape[1], count, seed, sample_weight.dtype)
    if kernel.precomputed:
        check_range(kernel, np.diagonal(X), sample_weight)
    else:
        columns = most * (method == "rpcholesky")
        # Some are drawn more than once.
        X, sample_weight = draw_rows(
            X, sample_weight, columns=columns, at_least=2 * most, seed=seed
        )
        with np.errstate(all="ignore"):
            diagonal = kernel.diagonal(X)
            check_finite(kernel, diagonal, row_norms(X, squared=True))
        check_range(kernel, diagonal, sample_weight)
    if method == "rpcholesky":
        indices = _pivots(kernel, X, sample_weight, most, 1 - share, seed).indices
        # A kernel that is zero has no pivot.
        indices = indices if len(indices) else np.array([0])
        found: FeatureMap = Nystroem.whitened(kernel, X, indices)
    elif share == 1:
        found = _landmarks(kernel, X, sample_weight, most, seed)
    else:
        found = _keeping(kernel, X, sample_weight, most, share, seed)
    if not kernel.surely_positive:
        found.residual_is_positive &= _covers(found, X) and _looks_definite(kernel, X, seed)
    return found


def _keeping(
    kernel: Kernel, X: Data, sample_weight: Array, most: int, share: float, seed: int
) -> FeatureMap:
    """Landmarks that keep a share of the trace, if ``most`` of them do."""
    order = np.random.default_rng(seed).permutation(np.flatnonzero(sample_weight > 0))
    # Not those that said how many it takes, if there are others.
    checked = order[-CHECKED_ROWS:]
    count = _count(kernel, X, sample_weight, order, most, 1 - share, seed)
    while True:
        found = _landmarks(kernel, X, sample_weight, count, seed)
        if count >= most or residual_share(found, X[checked], sample_weight[checked]) <= 1 - share:
            return found
        count = min(most, math.ceil(GROWTH * count))


def _looks_definite(kernel: Kernel, X: Data, seed: int) -> bool:
    """Whether the kernel matrix of some random rows is positive semi-definite up to rounding."""
    some = np.random.default_rng(seed).permutation(X.shape[0])[:DEFINITE_ROWS]
    rows = X[some]
    squared = np.diagonal(X)[some] if kernel.precomputed else kernel.squared_lengths(rows)
    features = Nystroem(kernel, some if kernel.precomputed else rows, squared)
    return is_definite(features.raw(rows, squared))


def check_method(kernel: Kernel, method: str, n_components: int | float | str) -> None:
    """Refuse what does not go together, before any work.

    Raises
    ------
    ValueError
        If the method does not go with the kernel or with ``n_components``.
    """
    if method == "landmarks" and kernel.precomputed:
        raise ValueError(
            "approximation='landmarks' needs rows of data, got kernel='precomputed'; use "
            "approximation='rpcholesky', which chooses among the samples."
        )
    draw = RANDOM_MAPS.get(method)
    if draw and not isinstance(n_components, str | Integral):
        raise ValueError(
            f"n_components={n_components!r}: random features keep no share of the trace; give "
            "their number, or use approximation='landmarks' or 'rpcholesky'."
        )
    if draw:
        draw(kernel, 1, 1, 0, np.dtype(np.float32))


def residual_share(features: FeatureMap, X: Data, sample_weight: Array) -> float:
    """Share of the residual in the weighted trace over these rows."""
    left = total = 0.0
    for start in range(0, X.shape[0], RESIDUAL_ROWS):
        block = slice(start, min(start + RESIDUAL_ROWS, X.shape[0]))
        residual, diagonal = _residual(features, X, block)
        left += float(sample_weight[block] @ np.maximum(residual, 0))
        total += float(sample_weight[block] @ diagonal)
    return left / total if total > 0 else 0.0


def _residual(features: FeatureMap, X: Data, block: slice) -> tuple[Array, Array]:
    """Residual of some rows, and their K(x, x)."""
    rows, squared = features.read(X, block)
    diagonal = features.diagonal(squared)
    return features.residual(features.coordinates(features.raw(rows, squared)), diagonal), diagonal


def _covers(features: FeatureMap, X: Data) -> bool:
    """Whether no residual is negative, as it may be for an indefinite kernel."""
    residual, diagonal = _residual(features, X, slice(0, min(X.shape[0], CHECKED_ROWS)))
    tolerance = np.sqrt(np.finfo(X.dtype).eps) * np.abs(diagonal).max(initial=0)
    return bool(residual.min(initial=0) >= -tolerance)


def auto_components(n_samples: int, n_clusters: int) -> int:
    """How many components ``n_components="auto"`` takes.

    The root of the number of samples keeps the statistical rate.
    """
    wanted = AUTO_COMPONENTS, AUTO_PER_CLUSTER * n_clusters, math.isqrt(n_samples)
    return min(n_samples, max(wanted))


def _wanted(n_components: int | float | str, n_samples: int, n_clusters: int) -> tuple[int, float]:
    """Most components, and the share of the trace that is enough."""
    if isinstance(n_components, str):
        return auto_components(n_samples, n_clusters), 1.0
    if isinstance(n_components, Integral):
        return min(n_samples, int(n_components)), 1.0
    return min(n_samples, max(SHARE_MOST, math.isqrt(n_samples))), float(n_components)


def _count(
    kernel: Kernel,
    X: Data,
    sample_weight: Array,
    order: IntArray,
    most: int,
    tolerance: float,
    seed: int,
) -> int:
    """Landmarks that reach the tolerance: as many as pivots among some samples."""
    size = CHECKED_ROWS
    while True:
        some = order[:size]
        whole = len(some) == len(order)
        target = tolerance if whole else tolerance / 2
        left = _pivots(kernel, X[some], sample_weight[some], most, target, seed).residual
        ranks = np.arange(1, len(left) + 1)
        if not whole:
            # Pivots leave nothing of themselves, which other samples do not know.
            left = left * len(some) / np.maximum(len(some) - ranks, 1)
        enough = np.flatnonzero(left <= tolerance)
        if len(enough):
            return int(ranks[enough[0]])
        if whole or len(ranks) >= most or 2 * size * len(ranks) > MOST_PIVOT_VALUES:
            return max(1, min(most, len(order)))
        size *= 2


def _landmarks(kernel: Kernel, X: Data, sample_weight: Array, count: int, seed: int) -> FeatureMap:
    """Centroids of k-means; samples where centroids would be dense, or may mean nothing."""
    if scipy.sparse.issparse(X) or callable(kernel.function):
        indices = kmeans_plusplus_points(X, count, sample_weight, seed)
        return Nystroem.whitened(kernel, X, indices)
    return Nystroem.whitened(kernel, X, kmeans_centroids(X, count, sample_weight, seed))


def _pivots(
    kernel: Kernel, X: Data, sample_weight: Array, most: int, tolerance: float, seed: int
) -> Pivots:
    lengths = kernel.lengths(X) if kernel.normalized else None

    def rows(indices: IntArray) -> Array:
        values = kernel.values(X[indices], X)
        check_finite(kernel, values)
        return values if lengths is None else values / lengths[indices, None] / lengths

    rng = np.random.default_rng(seed)
    return pivoted_cholesky(rows, kernel.diagonal(X), sample_weight, most, tolerance, rng)
