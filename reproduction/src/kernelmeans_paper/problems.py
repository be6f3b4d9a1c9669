"""What methods are given: data prepared as in the literature, and the rows at which runs begin."""

from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike
from sklearn.cluster import kmeans_plusplus
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler, normalize

from kernelmeans.kernels import geodesic_kernel
from kernelmeans.simulate import make_sphere_clusters
from kernelmeans_paper import datasets
from kernelmeans_paper.arrays import Array, IntArray

#: What tables call the benchmark sets.
TITLES = {
    "yale": "Yale",
    "jaffe": "JAFFE",
    "tox_171": "TOX171",
    "seeds": "Seeds",
    "lung": "Lung",
    "isolet": "Isolet",
    "lung_discrete": "Lung discrete",
    "coil20": "COIL20",
    "glioma": "GLIOMA",
    "orl": "ORL",
    "lung_bhattacharjee": "lung_bhattacharjee",
    "digits": "digits",
}


class Problem(NamedTuple):
    """What a method is given.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Rows, for methods without a kernel.
    K : ndarray of shape (n_samples, n_samples)
        Kernel matrix.
    y : ndarray of shape (n_samples,)
        Classes, for the scores only; -1 for rows that do not count.
    k : int
        Number of clusters.
    starts : ndarray of shape (n_starts, k)
        Rows at which each matched run begins; none where a method has starts of its own.
    """

    X: Array
    K: Array
    y: IntArray
    k: int
    starts: IntArray = np.empty((0, 0), int)


def standardised(name: str) -> Problem:
    """Benchmark set with columns centred and scaled, and the paper's Gaussian kernel of it."""
    X, y = datasets.fetch(name, return_X_y=True)
    X = StandardScaler().fit_transform(X)
    return Problem(X, gaussian(X), y, len(np.unique(y)))


def gaussian(X: Array, width: float = 1.0) -> Array:
    """Gaussian kernel matrix of some rows, its width that of the paper times a factor.

    The paper's sigma is the root mean square distance of two rows.
    """
    sigma_squared = 2 * len(X) / (len(X) - 1) * X.var(axis=0).sum()
    return np.asarray(rbf_kernel(X, gamma=1 / (2 * sigma_squared * width**2)))


def on_sphere(
    k: int,
    seed: int,
    dtype: DTypeLike = np.float64,
    *,
    imbalance: float = 1.0,
    noise: float = 0.0,
) -> Problem:
    """Simulated clusters on the sphere, and the paper's kernel of them with sigma = 1."""
    X, y = make_sphere_clusters(k, imbalance=imbalance, noise=noise, random_state=seed)
    X = X.astype(dtype)
    return Problem(X, geodesic_kernel(X, gamma=0.5), y, k)


def prepared(name: str) -> tuple[Array, IntArray]:
    """Rows of a benchmark set as Du et al. (2015) prepared them, and classes."""
    X, y = datasets.fetch(name, return_X_y=True)
    if name in ("yale", "orl"):
        X = StandardScaler().fit_transform(X)
    return (X if name == "coil20" else normalize(X)), y


def random_starts(n: int, k: int, count: int) -> IntArray:
    """Return rows at which matched runs begin, k different ones for each."""
    rng = np.random.default_rng(0)
    return np.stack([rng.permutation(n)[:k] for _ in range(count)])


def plusplus_starts(K: Array, k: int, count: int) -> IntArray:
    """Return such rows, chosen by scikit-learn's greedy k-means++ in a kernel's feature space."""
    values, vectors = np.linalg.eigh(K)
    features = vectors * np.sqrt(np.maximum(values, 0))
    return np.stack([kmeans_plusplus(features, k, random_state=seed)[1] for seed in range(count)])
