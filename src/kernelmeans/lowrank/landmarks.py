"""Landmarks: rows whose kernel values against the samples replace the whole kernel matrix."""

import numpy as np
import scipy.sparse
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.engines import Threads

#: Steps of Lloyd's algorithm; more do not lower the residual.
STEPS = 2
#: Rows in the uniform subsample for k-means++: so many for each seed, and the fewest. With all rows
#: it takes far longer than the rest of the fit, and is no better.
ROWS_PER_SEED, MIN_ROWS = 8, 4096
#: Most seeds that are drawn one by one; fraction of the earlier seeds that are drawn at once if
#: there are more; and most seeds drawn at once. Products of matrices are several times as fast as
#: those with vectors.
MOST_SINGLY, TOGETHER, MOST_TOGETHER = 1000, 1 / 16, 64
#: Squared distance, relative to squared norms, at which two rows count as equal.
SAME = 32 * np.finfo(np.float64).eps
#: Rows in a block that is assigned at once.
BLOCK_ROWS = 1024


def kmeans_centroids(X: Array, count: int, sample_weight: Array, seed: int) -> Array:
    """Centroids of a short run of k-means, the same for any number of threads.

    scikit-learn's `KMeans` seeds from all rows, which takes most of its time and gives no better
    landmarks. Its sums depend on the number of threads.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Rows.
    count : int
        Number of centroids.
    sample_weight : ndarray of shape (n_samples,)
        Sample weights, some positive.
    seed : int
        Seed of all randomness.

    Returns
    -------
    ndarray of shape (<= count, n_features)
        Centroids in the precision of X; fewer if there are fewer distinct rows.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.lowrank.landmarks import kmeans_centroids
    >>> X = np.array([[0.0], [2.0], [10.0], [14.0], [99.0]])
    >>> np.sort(kmeans_centroids(X, 2, np.array([1.0, 1.0, 1.0, 3.0, 0.0]), seed=0), axis=0)
    array([[ 1.],
           [13.]])
    """
    # Relative to the largest, so that weights cannot overflow in the precision of X.
    weight: Array = (sample_weight / sample_weight.max()).astype(X.dtype)
    X, weight = X[weight > 0], weight[weight > 0]
    # About the mean, squared distances lose fewer digits.
    origin = np.average(X, axis=0, weights=weight).astype(X.dtype)
    X = X - origin
    with Threads() as threads:
        centroids: Array = X[kmeans_plusplus_points(X, count, weight, seed)]
        for _ in range(STEPS):
            labels = _nearest(X, centroids, threads)
            centroids = _means(X, weight, labels, len(centroids))
    return np.asarray(centroids + origin)


def _nearest(X: Array, centroids: Array, threads: Threads) -> IntArray:
    half_norms = np.einsum("ij,ij->i", centroids, centroids) / 2
    blocks = [slice(i, i + BLOCK_ROWS) for i in range(0, len(X), BLOCK_ROWS)]
    found = threads.map(lambda rows: (half_norms - X[rows] @ centroids.T).argmin(axis=1), blocks)
    return np.concatenate([labels for _, labels in found])


def _means(X: Array, weight: Array, labels: IntArray, count: int) -> Array:
    """Weighted means of the clusters that have rows."""
    membership = scipy.sparse.csr_array(
        (weight, labels, np.arange(len(X) + 1)), shape=(len(X), count)
    )
    cluster_weight = np.bincount(labels, weights=weight, minlength=count)
    filled = cluster_weight > 0
    means = (membership.T @ X)[filled] / cluster_weight[filled, None]
    return np.asarray(means, dtype=X.dtype)


def kmeans_plusplus_points(X: Data, count: int, sample_weight: Array, seed: int) -> IntArray:
    """Rows drawn by k-means++ from a subsample.

    Each is drawn in proportion to its weight times the squared distance from those before it. Of
    more than 1000, several are drawn at once.

    Parameters
    ----------
    X : {array, CSR matrix} of shape (n_samples, n_features)
        Rows.
    count : int
        Number of rows.
    sample_weight : ndarray of shape (n_samples,)
        Sample weights, some positive; rows of weight 0 are never drawn.
    seed : int
        Seed of all randomness.

    Returns
    -------
    ndarray of shape (<= count,)
        Indices of distinct rows, in the order in which they were drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.lowrank.landmarks import kmeans_plusplus_points
    >>> X = np.array([[0.0], [0.0], [5.0], [7.0]])
    >>> sorted(X[kmeans_plusplus_points(X, 3, np.array([1.0, 2.0, 1.0, 0.0]), seed=0), 0].tolist())
    [0.0, 5.0]
    """
    rng = np.random.default_rng(seed)
    eligible = rng.permutation(np.flatnonzero(sample_weight > 0))
    eligible = eligible[: max(ROWS_PER_SEED * count, MIN_ROWS)]
    X, weight = X[eligible].astype(np.float64), sample_weight[eligible].astype(np.float64)
    X, weight = near_one(X), near_one(weight)
    squared = row_norms(X, squared=True)
    potential, closest = weight, np.full(len(weight), np.inf)
    chosen: list[int] = []
    with Threads():
        while len(chosen) < count and potential.any():
            draws = min(int(TOGETHER * len(chosen)), MOST_TOGETHER, count - len(chosen))
            draws = 1 if count <= MOST_SINGLY else max(1, draws)
            drawn = np.unique(rng.choice(len(weight), draws, p=potential / potential.sum()))
            products = safe_sparse_dot(X, X[drawn].T, dense_output=True)
            norms = squared[:, None] + squared[drawn]
            distances = norms - 2 * products
            # The distance of equal rows is 0, not a rounding.
            distances[distances <= SAME * norms] = 0
            closest = np.minimum(closest, distances.min(axis=1))
            potential = weight * closest
            # Only the first of equal rows counts if they are drawn together.
            chosen.extend(drawn[~np.triu(distances[drawn] == 0, 1).any(axis=0)])
    return np.asarray(eligible[chosen])


def near_one(X: Data) -> Data:
    """Values over a power of two near the largest: exact, and no square or sum overflows."""
    exponent = np.frexp(abs(X).max())[1]
    if not scipy.sparse.issparse(X):
        return np.ldexp(X, -exponent)
    # SciPy would multiply by the inverse, which denormal values do not have.
    return scipy.sparse.csr_array((np.ldexp(X.data, -exponent), X.indices, X.indptr), X.shape)
