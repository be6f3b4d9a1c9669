"""A draw of the samples: enough to look at often where all of them are too many."""

import numpy as np
import scipy.sparse

from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.rows import Rows

#: Most rows of a draw, most bytes of what is held of them, and fewest rows all the same.
MOST_ROWS, MOST_BYTES, FEWEST_ROWS = 2**16, 2**27, 2**12


def draw_size(
    n_samples: int, row_bytes: int, most_bytes: int = MOST_BYTES, at_least: int = 0
) -> int:
    """How many samples to draw; all of them where they are few."""
    fitting = min(most_bytes, MOST_BYTES) // max(1, row_bytes)
    return min(n_samples, max(at_least, FEWEST_ROWS, min(MOST_ROWS, fitting)))


def drawn(sample_weight: Array, size: int, seed: int = 0) -> tuple[IntArray, Array]:
    """Samples drawn in proportion to their weights, one from each of equal shares of it.

    Samples that weigh more than such a share are taken once, and keep their weight: drawn again and
    again they would leave no room for others.

    Parameters
    ----------
    sample_weight : ndarray of shape (n_samples,)
        Weights.
    size : int
        Draws.
    seed : int, default=0
        Of the draws.

    Returns
    -------
    indices, weights : ndarray of shape (at most size,)
        Different samples in their order, and the weight that each stands for.
    """
    light = sample_weight.astype(np.float64)
    draws, heavy = size, light > light.sum() / size
    while heavy.any():
        light[heavy] = 0
        draws = size - int(np.count_nonzero(light < sample_weight))
        heavy = light > light.sum() / draws
    weights = np.where(light < sample_weight, sample_weight, 0).astype(np.float64)
    reached = np.cumsum(light)
    share = reached[-1] / draws
    if share:
        marks = (np.arange(draws) + np.random.default_rng(seed).uniform(size=draws)) * share
        # The last sample with any weight, if rounding should go beyond.
        last = np.searchsorted(reached, reached[-1])
        places = np.minimum(np.searchsorted(reached, marks, "right"), last)
        weights += share * np.bincount(places, minlength=len(weights))
    indices = np.flatnonzero(weights)
    return indices, weights[indices].astype(sample_weight.dtype)


def draw_rows(
    X: Data,
    sample_weight: Array,
    most_bytes: int = MOST_BYTES,
    columns: int = 0,
    at_least: int = 0,
    seed: int = 0,
) -> tuple[Data, Array]:
    """A draw of rows in proportion to their weights, and the weight that each stands for.

    Not more than take ``most_bytes``, themselves or with so many columns instead of theirs, but
    ``at_least`` so many rows.

    Raises
    ------
    ValueError
        If rows that had to be read are not finite.
    """
    own = X.nnz // X.shape[0] if scipy.sparse.issparse(X) else X.shape[1]
    row_bytes = max(own, columns) * sample_weight.dtype.itemsize
    size = draw_size(len(sample_weight), row_bytes, most_bytes, at_least)
    if size == len(sample_weight):
        indices: IntArray = np.arange(size)
        weight, rows = sample_weight, X[:]
    else:
        indices, weight = drawn(sample_weight, size, seed)
        rows = X[indices]
    # What is in memory has been looked at.
    if isinstance(X, Rows) and not np.isfinite(rows).all():
        place = indices[np.argmin(np.isfinite(rows).all(axis=1))]
        raise ValueError(
            f"X contains NaN or infinite values, in row {place} for one; leave such rows out, or "
            "fill in the values."
        )
    return rows, weight
