"""Putting kernels on one scale, so that it is not their units that decide their weights."""

from collections.abc import Sequence

import numpy as np

from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.engines import Threads
from kernelmeans.kernels import Kernel
from kernelmeans.solver.blockwise import combination, distances_to
from kernelmeans.spaces import Space

#: Rows of kernel values looked at together.
RANGE_ROWS = 256


def variances(spaces: Sequence[Space]) -> tuple[Array, Array]:
    """Mean squared distance of the samples from their mean in each space, and what counts as nil.

    Parameters
    ----------
    spaces : sequence of Space
        The spaces.

    Returns
    -------
    variances, rounding : ndarray of shape (L,)
        The variances; those up to the rounding cannot be told from zero.
    """
    found = np.empty((2, len(spaces)))
    for index, space in enumerate(spaces):
        share = space.sample_weight / space.sample_weight.sum()
        mean = combination(space, share)
        distances = distances_to(space, mean)[0, 0].astype(np.float64)
        found[:, index] = share.astype(np.float64) @ distances, 2 * space.floor(mean)[0]
    return found[0], found[1]


def value_range(kernel: Kernel, X: Data, weight: Array, threads: Threads) -> float:
    """Largest minus smallest value of a kernel between training rows of positive weight."""
    lengths = kernel.lengths(X) if kernel.normalised else None
    counting = np.flatnonzero(weight > 0)
    blocks = [counting[i : i + RANGE_ROWS] for i in range(0, len(counting), RANGE_ROWS)]

    def extremes(rows: IntArray) -> tuple[float, float]:
        values = kernel.values(X[rows], X)
        if lengths is not None:
            values = values / (lengths[rows][:, None] * lengths)
        values = values[:, counting]
        return float(values.min()), float(values.max())

    pairs = [pair for _, pair in threads.map(extremes, blocks)]
    return max(high for _, high in pairs) - min(low for low, _ in pairs)
