"""Randomly pivoted Cholesky: samples whose kernel rows span nearly all of a kernel matrix."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from kernelmeans._typing import Array, IntArray

#: Pivots proposed at a time: enough for fast matrix products, and few enough that most are taken.
PROPOSALS = 128
#: Roundings of K(x, x) below which a residual counts as zero.
ROUNDINGS = 32


class Pivots(NamedTuple):
    """Samples in the order in which they were chosen, and the residual after each one.

    Attributes
    ----------
    indices : ndarray of shape (rank,)
        The samples.
    residual : ndarray of shape (rank,)
        Fraction of the weighted trace outside the span of the samples up to each one.
    """

    indices: IntArray
    residual: Array


def pivoted_cholesky(
    rows: Callable[[IntArray], Array],
    diagonal: Array,
    sample_weight: Array,
    most: int,
    tolerance: float,
    generator: np.random.Generator,
) -> Pivots:
    """Pivots of accelerated randomly pivoted Cholesky.

    Each is drawn in proportion to weight times residual, given all before it. Blocks are proposed
    from the present residual and thinned by rejection, which draws from the same distribution as
    one pivot at a time. A negative residual, of an indefinite kernel, counts as 0.
    Under `Threads` the pivots are the same on any number of cores.

    Parameters
    ----------
    rows : callable
        Kernel values of the samples with the given indices against all, shape (len, n_samples).
    diagonal : ndarray of shape (n_samples,)
        K(x, x).
    sample_weight : ndarray of shape (n_samples,)
        Sample weights; samples of weight 0 are never pivots.
    most : int
        Most pivots. Each takes the memory of two rows of kernel values.
    tolerance : float
        Fraction of the weighted trace at which the residual is small enough to stop.
    generator : Generator
        Source of randomness.

    Returns
    -------
    Pivots
        Fewer than ``most`` if they reach the tolerance, or if the residual is only rounding.

    References
    ----------
    Epperly, Tropp and Webber (2024), Embrace rejection: kernel matrix approximation by accelerated
    randomly pivoted Cholesky.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.lowrank.cholesky import pivoted_cholesky
    >>> K = np.diag([0.0, 8.0, 1.0, 1.0])
    >>> found = pivoted_cholesky(
    ...     K.__getitem__, np.diagonal(K), np.ones(4), 4, 0.15, np.random.default_rng(0)
    ... )
    >>> found.indices[0], found.residual.round(1)
    (np.int64(1), array([0.2, 0.1]))
    """
    weight = sample_weight.astype(np.float64)
    diagonal = np.maximum(diagonal, 0)
    # All that decides on pivots is float64. The factor keeps the precision of the kernel, because
    # its errors are roundings of K(x, x), as those of the kernel values are.
    residual = diagonal.astype(np.float64)
    floor = ROUNDINGS * np.finfo(diagonal.dtype).eps * residual
    total = weight @ residual
    factor = np.empty((0, len(diagonal)), diagonal.dtype)
    indices: list[int] = []
    fractions: list[float] = []
    while (room := most - len(indices)) and (potential := weight * residual).any():
        size = min(PROPOSALS, 2 * room)
        proposals = generator.choice(len(weight), size, p=potential / potential.sum())
        thresholds = np.maximum(
            generator.uniform(size=size) * residual[proposals], floor[proposals]
        )
        pivots, new = _factor_rows(rows, factor, proposals, thresholds, room)
        if not len(pivots):
            break
        factor = np.concatenate([factor, new])
        for pivot, row in zip(pivots, new, strict=True):
            residual -= np.square(row)
            residual[residual <= floor] = 0
            residual[pivot] = 0  # Whatever the rounding, no sample is a pivot twice.
            indices.append(pivot)
            fractions.append(float(weight @ residual / total))
            if fractions[-1] <= tolerance:
                return Pivots(np.array(indices), np.array(fractions))
    return Pivots(np.array(indices, np.intp), np.array(fractions))


def _factor_rows(
    rows: Callable[[IntArray], Array],
    factor: Array,
    proposals: IntArray,
    thresholds: Array,
    most: int,
) -> tuple[IntArray, Array]:
    """The proposals that become pivots, and their rows of the factor, shape (pivots, n)."""
    distinct, place = np.unique(proposals, return_inverse=True)
    K = rows(distinct)
    known = factor[:, proposals].astype(np.float64)
    accepted, lower = _accept(K[place[:, None], proposals] - known.T @ known, thresholds)
    accepted, lower = accepted[:most], lower[:most, :most].astype(factor.dtype)
    pivots = proposals[accepted]
    new = K[place[accepted]]
    new -= factor[:, pivots].T @ factor
    return pivots, solve_triangular(lower, new, lower=True, overwrite_b=True, check_finite=False)


def _accept(residual: Array, thresholds: Array) -> tuple[IntArray, Array]:
    """Accept, in order, the proposals whose residual is still large enough.

    Parameters
    ----------
    residual : ndarray of shape (proposals, proposals)
        Residual of the kernel between proposals, after all earlier pivots; overwritten.
    thresholds : ndarray of shape (proposals,)
        Residual above which each is accepted.

    Returns
    -------
    tuple of ndarray
        Positions of the accepted ones, and the Cholesky factor (accepted, accepted) of their
        residual.
    """
    accepted: list[int] = []
    columns = np.zeros_like(residual)
    for i, threshold in enumerate(thresholds):
        if residual[i, i] > threshold:
            column = residual[i:, i] / np.sqrt(residual[i, i])
            residual[i:, i:] -= np.outer(column, column)
            columns[i:, len(accepted)] = column
            accepted.append(i)
    return np.array(accepted, np.intp), columns[accepted, : len(accepted)]
