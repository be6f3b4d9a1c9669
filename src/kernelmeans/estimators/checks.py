"""Checks of the input, made before any heavy work."""

import numpy as np

from kernelmeans._sklearn import _check_sample_weight
from kernelmeans._typing import Array, Data
from kernelmeans.memory import readable

#: Rows and columns compared at a time when a matrix is checked for symmetry.
SYMMETRY_ROWS = 256
#: What messages call the budget that ``memory_budget`` sets.
OWN_BUDGET = "the memory budget"


def check_weights(sample_weight: object, X: Data, n_clusters: int) -> Array:
    """Sample weights as an array of X's dtype.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,), float or None
        What the user gave; None for ones.
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
        Training rows.
    n_clusters : int
        As many samples must have positive weight.

    Returns
    -------
    ndarray of shape (n_samples,)
        The weights.

    Raises
    ------
    ValueError
        If weights are negative, all zero, or positive for fewer than n_clusters samples.
    """
    weight = _check_sample_weight(sample_weight, X, dtype=X.dtype, ensure_non_negative=True)
    positive = int(np.count_nonzero(weight))
    if positive == 0:
        raise ValueError(
            "sample_weight: all weights are zero; give positive weights to the samples that "
            "should count, or leave sample_weight=None."
        )
    if positive < n_clusters:
        of_positive_weight = "" if positive == X.shape[0] else " of positive weight"
        raise ValueError(
            f"n_samples={positive}{of_positive_weight} should be >= n_clusters={n_clusters}; "
            "lower n_clusters or give more samples."
        )
    return np.asarray(weight)


def check_gram(K: Data, name: str = "kernel='precomputed': X") -> None:
    """Refuse a training kernel matrix that is not square and symmetric.

    Parameters
    ----------
    K : ndarray of shape (n_samples, n_samples)
        The matrix.
    name : str
        What messages call it.

    Raises
    ------
    ValueError
        If it is not square, or asymmetric beyond rounding.
    """
    n, n_columns = K.shape
    if n != n_columns:
        raise ValueError(
            f"{name} must be a square kernel matrix, got shape {K.shape}. Pass "
            "the kernel between all training rows, or another kernel with the rows themselves."
        )
    scale = max(float(np.max(np.abs(np.diagonal(K)))), np.finfo(K.dtype).tiny)
    tolerance = np.sqrt(np.finfo(K.dtype).eps)
    tiles = [slice(start, start + SYMMETRY_ROWS) for start in range(0, n, SYMMETRY_ROWS)]
    for index, rows in enumerate(tiles):
        # Tile by tile, so that both lie in a core's cache.
        difference = max(
            float(np.max(np.abs(K[rows, columns] - K[columns, rows].T)))
            for columns in tiles[index:]
        )
        if difference > tolerance * scale and difference > tolerance * np.max(np.abs(K[rows])):
            raise ValueError(
                f"{name} must be a symmetric kernel matrix, but K[i, j] and "
                f"K[j, i] differ by up to {difference:.3g}. If rounding is to blame, pass "
                "(K + K.T) / 2."
            )


def check_memory(
    needed: int, budget: float, what: str, remedies: str, whose: str = OWN_BUDGET
) -> None:
    """Refuse what does not fit into memory, naming the ways out.

    Parameters
    ----------
    needed : int
        Bytes that it takes.
    budget : float
        Bytes that a fit may take.
    what : str
        What takes them.
    remedies : str
        What to do.
    whose : str
        What the budget is called.

    Raises
    ------
    MemoryError
        If more is needed than the budget.
    """
    if needed > budget:
        raised = "" if whose != OWN_BUDGET else ", or raise memory_budget if there is memory"
        raise MemoryError(
            f"{what} takes {readable(needed)}, more than {whose} of {readable(budget)}. "
            f"{remedies}{raised}."
        )
