"""Passes over all blocks that are no steps: distances, nearest centroids, combinations."""

import math
from typing import NamedTuple

import numpy as np

from kernelmeans._typing import Array, IntArray
from kernelmeans.engines import Threads
from kernelmeans.spaces import Centroids, Space


class Assignment(NamedTuple):
    """Nearest centroids of all samples, for each restart.

    Attributes
    ----------
    labels : ndarray of shape (R, n_samples)
        Nearest centroid, the first of equals.
    nearest, second : ndarray of shape (R, n_samples)
        Smallest and second smallest squared distance.
    floor : ndarray of shape (R,)
        Smallest squared distance told from zero.
    """

    labels: IntArray
    nearest: Array
    second: Array
    floor: Array

    def inertia(self, space: Space) -> Array:
        """Weighted sum of the smallest distances, shape (R,)."""
        return np.asarray(self.nearest @ space.sample_weight.astype(np.float64))

    def costs(self, space: Space) -> Array:
        """Weighted smallest distances, shape (R, n_samples); nil where not told from zero."""
        distances = np.where(self.nearest > 2 * self.floor[:, None], self.nearest, 0)
        return np.asarray(distances * space.sample_weight.astype(np.float64))


def combination(space: Space, coefficients: Array, threads: Threads) -> Centroids:
    """Sum of c_i phi_i, for coefficients of shape (n_samples,) of any sign, as one centroid."""
    total = space.empty_sum(1, 1)

    def share(block: slice) -> tuple[Array, ...]:
        return space.accumulate(coefficients[None, None, block], block)

    for block, result in threads.map(share, space.blocks(1)):
        space.add(total, result, block)
    return space.combine(total, np.ones((1, 1)), threads)


def distances_to(space: Space, centroids: Centroids, threads: Threads) -> Array:
    """All squared distances, shape (k, R, n_samples)."""
    out = np.empty((*centroids.shape, space.n_samples), space.dtype)

    def fill(block: slice) -> None:
        out[:, :, block] = space.distances(centroids, block)

    threads.run(fill, space.blocks(math.prod(centroids.shape)))
    return out


def assign(space: Space, centroids: Centroids, threads: Threads) -> Assignment:
    """Nearest and second nearest centroid of every sample."""
    shape = (centroids.shape[1], space.n_samples)
    labels = np.empty(shape, np.int32)
    nearest, second = np.empty(shape, space.dtype), np.empty(shape, space.dtype)

    def fill(block: slice) -> None:
        d = space.distances(centroids, block)
        labels[:, block] = d.argmin(axis=0)
        nearest[:, block] = d.min(axis=0)
        np.put_along_axis(d, labels[None, :, block], np.inf, axis=0)
        second[:, block] = d.min(axis=0)

    threads.run(fill, space.blocks(math.prod(centroids.shape)))
    return Assignment(labels, nearest, second, space.floor(centroids))
