"""Subsamples: enough samples for work that is repeated, where all of them are too many."""

import numpy as np
import scipy.sparse

from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.rows import Rows

#: Most rows of a subsample, most bytes for them, and fewest rows whatever their bytes.
MOST_ROWS, MOST_BYTES, FEWEST_ROWS = 2**16, 2**27, 2**12


def subsample_size(n_samples: int, row_bytes: int, at_least: int = 0) -> int:
    """The size of a subsample; all samples if they are few.

    No memory budget changes it, because seeds, powers and so the clusters depend on it.
    """
    fitting = MOST_BYTES // max(1, row_bytes)
    return min(n_samples, max(at_least, FEWEST_ROWS, min(MOST_ROWS, fitting)))


def subsample(sample_weight: Array, size: int, seed: int = 0) -> tuple[IntArray, Array]:
    """Samples drawn in proportion to their weights, one from each of equal parts of the total.

    A sample that weighs more than such a part is taken once, and keeps its weight. If it were drawn
    again and again, there would be no room for others.

    Parameters
    ----------
    sample_weight : ndarray of shape (n_samples,)
        Sample weights.
    size : int
        Number of draws.
    seed : int, default=0
        Seed of all randomness.

    Returns
    -------
    indices, weights : ndarray of shape (at most size,)
        Distinct samples in ascending order, and the weight that each stands for.
    """
    light = sample_weight.astype(np.float64)
    draws, heavy = size, light > light.sum() / size
    while draws and heavy.any():
        light[heavy] = 0
        draws = size - int(np.count_nonzero(light < sample_weight))
        # All of as many equal samples as draws may be heavy, by rounding.
        heavy = light > light.sum() / max(draws, 1)
    weights = np.where(light < sample_weight, sample_weight, 0).astype(np.float64)
    reached = np.cumsum(light)
    part = reached[-1] / draws if draws else 0.0
    if part:
        marks = (np.arange(draws) + np.random.default_rng(seed).uniform(size=draws)) * part
        # At most the last sample with any weight, because marks are rounded.
        last = np.searchsorted(reached, reached[-1])
        places = np.minimum(np.searchsorted(reached, marks, "right"), last)
        weights += part * np.bincount(places, minlength=len(weights))
    indices = np.flatnonzero(weights)
    return indices, weights[indices].astype(sample_weight.dtype)


def row_width(X: Data) -> int:
    """Numbers that a row holds: its columns, or the mean of those that are stored."""
    return int(X.nnz // X.shape[0] if scipy.sparse.issparse(X) else X.shape[1])


def subsample_rows(
    X: Data, sample_weight: Array, columns: int = 0, at_least: int = 0, seed: int = 0
) -> tuple[Data, Array]:
    """A subsample of rows in proportion to their weights, and the weight that each stands for.

    Its size is that of `subsample_size` for rows of at least so many columns.

    Raises
    ------
    ValueError
        If rows that had to be read are not finite.
    """
    row_bytes = max(row_width(X), columns) * sample_weight.dtype.itemsize
    return chosen_rows(
        X, sample_weight, subsample_size(len(sample_weight), row_bytes, at_least), seed
    )


def chosen_rows(X: Data, sample_weight: Array, size: int, seed: int = 0) -> tuple[Data, Array]:
    """The same for a given size.

    Raises
    ------
    ValueError
        If rows that had to be read are not finite.
    """
    if size == len(sample_weight):
        indices: IntArray = np.arange(size)
        weight, rows = sample_weight, X[:]
    else:
        indices, weight = subsample(sample_weight, size, seed)
        rows = X[indices]
    # Rows in memory have been checked before.
    if isinstance(X, Rows) and not np.isfinite(rows).all():
        place = indices[np.argmin(np.isfinite(rows).all(axis=1))]
        raise ValueError(
            f"X contains NaN or infinite values, in row {place} for one; leave such rows out, or "
            "fill in the values."
        )
    return rows, weight
