"""How long heat flows: until as many states are apart as there are clusters."""

import math

import numpy as np

from kernelmeans._typing import Array
from kernelmeans.heat.pieces import DEBRIS

#: States, beside those that stay apart for ever, that are left when all else counts as forgotten.
FORGOTTEN = 1e-3


def counts(vectors: Array, least_rows: float) -> Array:
    """How much of a state each eigenvector is: 1, or less where it lives on few rows.

    Parameters
    ----------
    vectors : ndarray of shape (n_rows, r)
        Eigenvectors, of length 1.
    least_rows : float
        Rows that make a whole state.

    Returns
    -------
    ndarray of shape (r,)
        min(1, p / least_rows) with the participation number p = 1 / sum_i u_i^4.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat.time import counts
    >>> counts(np.eye(2), 2.0)
    array([0.5, 0.5])
    """
    squares = vectors**2
    participation = 1 / np.einsum("ij,ij->j", squares, squares)
    count: Array = np.minimum(1, participation / least_rows)
    return count


def least_rows(n_rows: int, n_clusters: int) -> float:
    """Rows that make a whole state: fewer are debris."""
    return DEBRIS * n_rows / n_clusters


def states(values: Array, count: Array, t: float) -> float:
    """States that are apart at a time: sum_j c_j exp(-2 (1 - lambda_j) t)."""
    return float(count @ np.exp(-2 * t * (1 - values)))


def solve_time(values: Array, count: Array, n_clusters: int, n_pieces: int) -> float:
    """The time at which as many states are apart as there are clusters.

    Pieces of the graph stay apart for ever. Where they are as many as the clusters, or more, it is
    the time at which all else is forgotten.

    Parameters
    ----------
    values : ndarray of shape (r,)
        Eigenvalues, of which the ``n_pieces`` largest are 1.
    count : ndarray of shape (r,)
        How much of a state each is.
    n_clusters : int
        Clusters looked for.
    n_pieces : int
        Pieces of the graph.

    Returns
    -------
    float
        The time; 0 if there are not as many states to begin with.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat.time import solve_time, states
    >>> values, count = np.array([1.0, 0.9, 0.5, 0.1]), np.ones(4)
    >>> t = solve_time(values, count, n_clusters=2, n_pieces=1)
    >>> round(states(values, count, t), 6)
    2.0
    """
    order = np.argsort(-values, kind="stable")
    mortal, weight = values[order][n_pieces:], count[order][n_pieces:]
    left = max(n_clusters - float(count[order][:n_pieces].sum()), FORGOTTEN)
    if n_pieces >= n_clusters:
        left = FORGOTTEN
    if weight.sum() <= left:
        return 0.0
    # Between these the sum is above and below what is to be left.
    low, high = 0.0, math.log(weight.sum() / left) / (2 * max(1 - float(mortal[0]), 1e-15))
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if states(mortal, weight, middle) > left else (low, middle)
    return float(high)
