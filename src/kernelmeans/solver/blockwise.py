"""Functions of all samples, computed block by block: distances, costs, combinations."""

import math
from typing import NamedTuple

import numpy as np

from kernelmeans._arrays import double, put_first, reduce, smallest, to_numpy
from kernelmeans._typing import Array, IntArray
from kernelmeans.solver.power import hard_weights
from kernelmeans.spaces import Centroids, PartialSum, Space


class Assignment(NamedTuple):
    """Nearest centroids of all samples, for each restart.

    Attributes
    ----------
    labels : ndarray of shape (R, n_samples)
        Nearest centroid, the first of equals.
    nearest, second : ndarray of shape (R, n_samples)
        Smallest and second smallest squared distance.
    floor : ndarray of shape (R,)
        Smallest squared distance that is more than rounding.
    """

    labels: IntArray
    nearest: Array
    second: Array
    floor: Array

    def inertia(self, space: Space) -> Array:
        """Weighted sum of the smallest distances, shape (R,)."""
        return np.asarray(self.nearest @ space.sample_weight.astype(np.float64))

    def costs(self, space: Space) -> Array:
        """Weighted smallest distances, shape (R, n_samples); 0 where they may be rounding."""
        distances = np.where(self.nearest > 2 * self.floor[:, None], self.nearest, 0)
        return np.asarray(distances * space.sample_weight.astype(np.float64))


def combination(space: Space, coefficients: Array) -> Centroids:
    """Sum of c_i phi_i as one centroid, for coefficients (n_samples,) of any sign."""
    return combinations(space, coefficients[None, None], np.ones((1, 1)))


def combinations(space: Space, coefficients: Array, divisors: Array) -> Centroids:
    """Sums of c_i phi_i over divisors (k, R), for coefficients (k, R, n_samples)."""
    # A copy, because sums over a single block may be its coefficients themselves.
    total = space.reduce(_accumulate, divisors.shape, per_sample=(coefficients.copy(),))
    return space.update(total.vectors, divisors)


def _accumulate(space: Space, block: slice, coefficients: Array) -> PartialSum:
    return PartialSum(space.accumulate(coefficients, block))


def distances_to(space: Space, centroids: Centroids) -> Array:
    """All squared distances, shape (k, R, n_samples)."""
    (d,) = space.collect(_distances, math.prod(centroids.shape), centroids)
    return np.asarray(d)


def _distances(space: Space, block: slice, centroids: Centroids) -> tuple[Array]:
    return (space.distances(centroids, block),)


def partition_cost(space: Space, centroids: Centroids) -> float:
    """Weighted squared distances to the means of the clusters of one restart's centroids.

    The centroids decide on the clusters in the space, and the cost is that in its full space.
    """
    space = space.reweighted(centroids.kernel_weights[0])
    total = space.reduce(_partition, centroids.shape, centroids)
    cluster_weight, squares = total.sums
    means = space.full.update(total.vectors, cluster_weight, centroids.copy())
    return float(squares - (cluster_weight * space.norms(means)).sum())


def _partition(space: Space, block: slice, centroids: Centroids) -> PartialSum:
    v = space.device_weight[block]
    weights = hard_weights(space.distances(centroids, block), v).values
    cluster_weight = double(reduce("sum", weights, axis=-1))
    full = space.full
    squares = double(v) @ double(full.squared_norms(block))
    return PartialSum(full.accumulate(weights, block), (cluster_weight, squares))


def hard_costs(space: Space, centroids: Centroids) -> Array:
    """Weighted sum of the smallest squared distances, plus the penalty on kernel weights, (R,)."""
    total = space.reduce(_hard_cost, centroids.shape, centroids)
    return np.asarray(total.sums[0] + space.penalty(centroids))


def _hard_cost(space: Space, block: slice, centroids: Centroids) -> PartialSum:
    nearest = to_numpy(reduce("min", space.distances(centroids, block), axis=0))
    return PartialSum((), (nearest @ space.sample_weight[block].astype(np.float64),))


def assign(space: Space, centroids: Centroids) -> Assignment:
    """Nearest and second nearest centroid of every sample."""
    width = math.prod(centroids.shape)
    labels, nearest, second = space.collect(_nearest, width, centroids)
    return Assignment(labels, nearest, second, space.floor(centroids))


def _nearest(space: Space, block: slice, centroids: Centroids) -> tuple[IntArray, Array, Array]:
    d = space.distances(centroids, block)
    labels, nearest = smallest(d)
    return labels, nearest, reduce("min", put_first(d, labels, np.inf), axis=0)
