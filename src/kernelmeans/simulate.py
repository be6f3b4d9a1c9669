"""Simulated data with known clusters, to try the claims of the paper on."""

import numpy as np
from scipy.stats import vonmises_fisher
from sklearn.utils import check_random_state

from kernelmeans._given import is_integer
from kernelmeans._typing import Array, IntArray

#: Class of rows that belong to no cluster.
NOISE = -1


def make_sphere_clusters(
    n_clusters: int = 10,
    *,
    points_per_cluster: int = 20,
    n_features: int = 20,
    concentration: float = 30.0,
    imbalance: float = 1.0,
    noise: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[Array, IntArray]:
    """Draw von Mises-Fisher clusters on the unit sphere, the paper's simulation study.

    Mean directions are uniform on the sphere.

    Parameters
    ----------
    n_clusters : int, default=10
        Number of clusters k.
    points_per_cluster : int, default=20
        Rows of each cluster; the mean number if clusters are imbalanced.
    n_features : int, default=20
        Dimension of the space around the sphere.
    concentration : float, default=30
        The kappa of the distribution: 0 is uniform, large is narrow.
    imbalance : float, default=1
        Ratio of the largest cluster to the smallest; the sizes are a geometric sequence.
    noise : float, default=0
        Rows that are added, uniform on the sphere, as a fraction of the others.
    random_state : int, RandomState or None, default=None
        Seed of all randomness.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Rows of norm 1, in random order.
    y : ndarray of shape (n_samples,)
        Cluster of each row, counted from 0; -1 for noise.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    References
    ----------
    Paul, Chakraborty, Das and Xu (2020), Kernel k-Means, By All Means, Section 4, which draws 20
    rows in all; here they are 20 for each of the up to 100 clusters.

    Examples
    --------
    >>> from kernelmeans.simulate import make_sphere_clusters
    >>> X, y = make_sphere_clusters(3, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((60, 20), [0, 1, 2])
    """
    _check_least("n_clusters", n_clusters, 1)
    _check_least("points_per_cluster", points_per_cluster, 1)
    _check_least("n_features", n_features, 2)
    _check_finite("concentration", concentration, 0)
    rng = check_random_state(random_state)
    sizes = _sizes(n_clusters, points_per_cluster, imbalance)
    directions = _uniform_directions(n_clusters, n_features, rng)
    clusters = [
        # SciPy does not take a concentration of 0, which is the uniform distribution.
        vonmises_fisher(mu, concentration).rvs(size, random_state=rng)
        if concentration > 0
        else _uniform_directions(size, n_features, rng)
        for mu, size in zip(directions, sizes, strict=True)
    ]
    stray = _uniform_directions(_noise_rows(noise, sizes), n_features, rng)
    return _shuffled([*clusters, stray], sizes, rng)


def make_rings(
    *,
    points_per_blob: int = 50,
    blobs_per_ring: int = 5,
    radii: tuple[float, ...] = (2.0, 5.0),
    spread: float = 0.35,
    imbalance: float = 1.0,
    noise: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[Array, IntArray]:
    """Draw Gaussian blobs on concentric rings, after the paper's motivating example.

    The paper only shows a picture of its ten clusters in the plane. These numbers give kernel
    k-means about the agreement that it reports.

    Parameters
    ----------
    points_per_blob : int, default=50
        Rows of each blob; the mean number if blobs are imbalanced.
    blobs_per_ring : int, default=5
        Blobs, evenly spaced, on each ring.
    radii : tuple of float, default=(2, 5)
        Radii of the rings.
    spread : float, default=0.35
        Standard deviation of a blob along each axis.
    imbalance : float, default=1
        Ratio of the largest blob to the smallest; the sizes are a geometric sequence.
    noise : float, default=0
        Rows that are added, uniform on the square around the rings, as a fraction of the others.
    random_state : int, RandomState or None, default=None
        Seed of all randomness.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        Rows, in random order.
    y : ndarray of shape (n_samples,)
        Blob of each row, counted from 0, the first ring's first; -1 for noise.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Examples
    --------
    >>> from kernelmeans.simulate import make_rings
    >>> X, y = make_rings(noise=0.1, random_state=0)
    >>> X.shape, int((y == -1).sum())
    ((550, 2), 50)
    """
    _check_least("points_per_blob", points_per_blob, 1)
    _check_least("blobs_per_ring", blobs_per_ring, 1)
    if not len(radii) or not all(0 <= radius < np.inf for radius in radii):
        raise ValueError(f"radii={radii}: give at least one number from 0 on, none infinite.")
    _check_finite("spread", spread, 0)
    rng = check_random_state(random_state)
    sizes = _sizes(blobs_per_ring * len(radii), points_per_blob, imbalance)
    angles = 2 * np.pi * np.arange(blobs_per_ring) / blobs_per_ring
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    centers = np.concatenate([radius * circle for radius in radii])
    blobs = [
        center + spread * rng.standard_normal((size, 2))
        for center, size in zip(centers, sizes, strict=True)
    ]
    reach = max(radii) + 3 * spread
    stray = rng.uniform(-reach, reach, (_noise_rows(noise, sizes), 2))
    return _shuffled([*blobs, stray], sizes, rng)


def _check_least(name: str, value: int, least: int) -> None:
    if not is_integer(value) or value < least:
        raise ValueError(f"{name}={value}: give an integer of at least {least}.")


def _check_finite(name: str, value: float, least: int) -> None:
    if not least <= value < np.inf:
        raise ValueError(f"{name}={value}: give a number from {least} on, not infinite.")


def _sizes(n_clusters: int, mean: int, imbalance: float) -> IntArray:
    """Rows of each cluster; they sum to their number times the mean, and none is empty."""
    _check_finite("imbalance", imbalance, 1)
    ratios = np.geomspace(imbalance, 1, n_clusters)
    edges = np.rint(n_clusters * mean * np.cumsum(ratios) / ratios.sum()).astype(int)
    sizes = np.diff(edges, prepend=0)
    if not sizes.all():
        raise ValueError(
            f"imbalance={imbalance} leaves clusters of {mean} points on average empty; give a "
            "smaller one, or more points."
        )
    return np.asarray(sizes)


def _noise_rows(noise: float, sizes: IntArray) -> int:
    _check_finite("noise", noise, 0)
    return round(noise * int(sizes.sum()))


def _uniform_directions(n: int, n_features: int, rng: np.random.RandomState) -> Array:
    points = rng.standard_normal((n, n_features))
    return np.asarray(points / np.linalg.norm(points, axis=1, keepdims=True))


def _shuffled(
    groups: list[Array], sizes: IntArray, rng: np.random.RandomState
) -> tuple[Array, IntArray]:
    """Rows of all groups in random order; the groups are the clusters, and last the noise."""
    y = np.concatenate([np.repeat(np.arange(len(sizes)), sizes), np.full(len(groups[-1]), NOISE)])
    order = rng.permutation(len(y))
    return np.concatenate(groups)[order], y[order]
