"""How long heat flows: until as many states are apart as there are clusters."""

import math

import numpy as np

from kernelmeans._typing import Array

#: States, beside those that stay apart for ever, that are left when all else counts as forgotten.
FORGOTTEN = 1e-3
#: Relative accuracy of a time.
ACCURACY = 1e-9


def states(values: Array, t: float) -> float:
    """States that are apart at a time: the trace sum_j exp(-2 (1 - lambda_j) t) of the kernel.

    Parameters
    ----------
    values : ndarray of shape (r,)
        Eigenvalues of the normalised graph.
    t : float
        The time.

    Returns
    -------
    float
        Their number: all at first, the number of pieces of the graph in the end.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat.time import states
    >>> states(np.array([1.0, 0.5, 0.0]), 0.0)
    3.0
    """
    return float(np.exp(-2 * t * (1 - values)).sum())


def solve_time(values: Array, n_clusters: int, n_pieces: int) -> float:
    """The time at which as many states are apart as there are clusters.

    Pieces of the graph stay apart for ever. Where they are as many as the clusters, or more, it is
    the time at which all else is forgotten.

    Parameters
    ----------
    values : ndarray of shape (r,)
        Eigenvalues, of which the ``n_pieces`` largest are 1.
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
    >>> values = np.array([1.0, 0.9, 0.5, 0.1])
    >>> round(states(values, solve_time(values, n_clusters=2, n_pieces=1)), 6)
    2.0
    """
    mortal = np.sort(values)[::-1][n_pieces:]
    left = max(n_clusters - n_pieces, FORGOTTEN)
    if len(mortal) <= left:
        return 0.0
    # At the first of these times more are left, and at the second fewer.
    low, high = 0.0, math.log(len(mortal) / left) / (2 * max(1 - float(mortal[0]), 1e-15))
    while high - low > ACCURACY * high:
        middle = (low + high) / 2
        low, high = (middle, high) if states(mortal, middle) > left else (low, middle)
    return high
