"""Where annealing starts: the critical power, and the extreme eigenvalues behind it."""

from collections.abc import Callable, Sequence

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import LinearOperator, eigsh

from kernelmeans._typing import Array, BoolArray, DType
from kernelmeans._warnings import warn_user
from kernelmeans.engines import Threads
from kernelmeans.solver.blockwise import combination, distances_to
from kernelmeans.spaces import Centroids, Space

#: Accuracy of the eigenvalue relative to itself, ample for a starting power; and where only its
#: order of magnitude matters.
TOLERANCE, ROUGH = 1e-3, 0.1
#: Distance of two sets of kernel weights, in total variation, that is worth another computation.
MOVED = 0.1
#: Matrices up to this size are formed and decomposed: Lanczos needs some room.
DENSE_SIZE = 32


def critical_power(
    space: Space, threads: Threads, seed: int, tolerance: float = TOLERANCE
) -> float:
    """Power below which centroids that all sit at the mean begin to part.

    A small difference of two such centroids grows by 2 (1 - s) lam per step, lam the top
    eigenvalue of the mean outer product of the samples' directions from the mean. It shrinks for
    every s above s* = 1 - 1 / (2 lam). (Not in the paper.)

    Parameters
    ----------
    space : Space
        The samples and their weights.
    threads : Threads
        Where the products are computed.
    seed : int
        Of the Lanczos start vector.
    tolerance : float, default=TOLERANCE
        Accuracy of the eigenvalue.

    Returns
    -------
    float
        s*, at most 1/2; -inf where the samples do not vary.
    """
    weight = (space.sample_weight / space.sample_weight.sum()).astype(space.dtype)
    mean = combination(space, weight, threads)
    # About the mean, whatever the origin: the differences cancel exactly for constant data.
    squared = distances_to(space, mean, threads)[0, 0]
    varies = squared > 2 * space.floor(mean)
    if not varies.any():
        return -np.inf
    # Samples at the mean have no direction: the mean is over the others.
    share = np.where(varies, weight, 0) / weight[varies].sum()
    scale = np.sqrt(share / np.where(varies, squared, 1)).astype(space.dtype)

    def apply(x: Array) -> Array:
        y = scale * x.ravel()
        return np.asarray(scale * _centred_product(space, y, weight, threads))

    top = largest_eigenvalue(apply, space.n_samples, space.dtype, seed, tolerance)
    return float(1 - 1 / (2 * top)) if top > 0 else -np.inf


class CriticalPowers:
    """The critical power of each running restart, which follows its kernel weights.

    Parameters
    ----------
    value : float
        The critical power under the first kernel weights.
    kernel_weights : ndarray of shape (R, L)
        Those weights.

    Attributes
    ----------
    values : ndarray of shape (R,)
        The critical powers.
    """

    def __init__(self, value: float, kernel_weights: Array) -> None:
        self.values = np.full(len(kernel_weights), value)
        self._known = kernel_weights.copy()

    def follow(
        self,
        space: Space,
        kernel_weights: Array,
        which: BoolArray,
        seeds: Sequence[int],
        threads: Threads,
    ) -> None:
        """Compute it again where it is to count and the kernel weights have moved noticeably.

        Roughly, and never above the true value: it costs some products with every kernel.
        """
        moved = np.abs(kernel_weights - self._known).sum(axis=1) / 2 > MOVED
        for r in np.flatnonzero(moved & which & np.isfinite(self.values)).tolist():
            own = space.sample.reweighted(kernel_weights[r])
            self.values[r] = critical_power(own, threads, seeds[r], ROUGH)
            self._known[r] = kernel_weights[r]

    def keep(self, restarts: BoolArray) -> None:
        """Drop the other restarts."""
        self.values = self.values[restarts]
        self._known = self._known[restarts]


def smallest_eigenvalue(space: Space, threads: Threads, seed: int) -> tuple[float, float]:
    """Smallest and largest eigenvalue of the centred kernel matrix, by Lanczos iterations.

    Negative ones mean that squared distances can be negative. The smallest is never reported
    below its true value.

    Parameters
    ----------
    space : Space
        The samples.
    threads : Threads
        Where the products are computed.
    seed : int
        Of the Lanczos start vector.

    Returns
    -------
    smallest, largest : float
        Eigenvalues, accurate to about a thousandth of their difference.
    """
    uniform = np.full(space.n_samples, 1 / space.n_samples, space.dtype)

    def apply(x: Array) -> Array:
        return _centred_product(space, x.ravel(), uniform, threads)

    size = space.n_samples
    largest = largest_eigenvalue(apply, size, space.dtype, seed)
    reach = space.dtype.type(largest)
    reflected = largest_eigenvalue(lambda x: reach * x.ravel() - apply(x), size, space.dtype, seed)
    return largest - reflected, largest


def largest_eigenvalue(
    apply: Callable[[Array], Array],
    size: int,
    dtype: DType,
    seed: int,
    tolerance: float = TOLERANCE,
) -> float:
    """Largest eigenvalue of a symmetric matrix known by its products with vectors.

    Parameters
    ----------
    apply : callable
        Maps a vector of shape (size,) to its product with the matrix.
    size : int
        Order of the matrix.
    dtype : dtype
        Precision of the products.
    seed : int
        Of the start vector.
    tolerance : float, default=TOLERANCE
        Relative accuracy.

    Returns
    -------
    float
        The eigenvalue, approached from below.
    """
    if size <= DENSE_SIZE:
        matrix = np.stack([apply(column) for column in np.eye(size, dtype=dtype)])
        return float(scipy.linalg.eigvalsh(matrix)[-1])
    operator = LinearOperator((size, size), matvec=apply, dtype=dtype)
    start = np.random.default_rng(seed).standard_normal(size).astype(dtype)
    if not apply(start).any():
        return 0.0
    # The least products are as many as basis vectors.
    basis = 20 if tolerance <= TOLERANCE else 6
    value = eigsh(
        operator, 1, which="LA", tol=tolerance, ncv=basis, v0=start, return_eigenvectors=False
    )
    return float(value[0])


def _centred_product(space: Space, x: Array, weight: Array, threads: Threads) -> Array:
    """Product of x with the kernel matrix centred at the mean under ``weight``."""
    total = combination(space, x - weight * x.sum(), threads)
    (products,) = space.collect(_products, 1, threads, total)
    y = products[0, 0]
    return np.asarray(y - weight @ y)


def _products(space: Space, block: slice, centroids: Centroids) -> tuple[Array]:
    return (space.products(centroids, block),)


def warn_unless_positive(space: Space, threads: Threads, seed: int, name: str) -> None:
    """Warn when a kernel matrix is not positive semi-definite, with the size of the violation.

    Parameters
    ----------
    space : Space
        The samples.
    threads : Threads
        Where the products are computed.
    seed : int
        Of the Lanczos start vector.
    name : str
        What the message calls the kernel.
    """
    smallest, largest = smallest_eigenvalue(space, threads, seed)
    if smallest < -np.sqrt(np.finfo(space.dtype).eps) * max(largest, -smallest):
        warn_user(
            f"kernel={name}: the centred kernel matrix is not positive semi-definite (smallest "
            f"eigenvalue {smallest:.3g}, largest {largest:.3g}). Squared distances can be "
            "negative and the objective may rise; use a positive semi-definite kernel, or add "
            f"{-smallest:.3g} to the diagonal.",
        )
