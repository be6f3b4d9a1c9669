"""A draw of the samples: enough to look at often where all of them are too many."""

import numpy as np

from kernelmeans._typing import Array, IntArray

#: Most rows of a draw, most bytes of what is held of them, and fewest rows all the same.
MOST_ROWS, MOST_BYTES, FEWEST_ROWS = 2**16, 2**27, 2**12


def draw_size(n_samples: int, row_bytes: int, most_bytes: int = MOST_BYTES) -> int:
    """How many samples to draw; all of them where they are few."""
    fitting = min(most_bytes, MOST_BYTES) // max(1, row_bytes)
    return min(n_samples, MOST_ROWS, max(FEWEST_ROWS, fitting))


def drawn(sample_weight: Array, size: int) -> tuple[IntArray, Array]:
    """Samples drawn in proportion to their weights, one from each of ``size`` equal shares of it.

    Parameters
    ----------
    sample_weight : ndarray of shape (n_samples,)
        Weights.
    size : int
        Draws.

    Returns
    -------
    indices, counts : ndarray of shape (at most size,)
        Different samples in their order, and how often each was drawn, as weights.
    """
    reached = np.cumsum(sample_weight, dtype=np.float64)
    uniform = np.random.default_rng(0).uniform(size=size)
    places = np.searchsorted(reached, (np.arange(size) + uniform) / size * reached[-1], "right")
    indices, counts = np.unique(np.minimum(places, len(reached) - 1), return_counts=True)
    return indices, counts.astype(sample_weight.dtype)
