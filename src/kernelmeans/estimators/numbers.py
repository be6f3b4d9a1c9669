"""Numbers of clusters, earlier labels, and labels under other numbers."""

from typing import Any

import numpy as np
from sklearn.utils import check_array

from kernelmeans._arrays import to_device_of
from kernelmeans._given import received
from kernelmeans._typing import IntArray
from kernelmeans.rows.dask import computed


def earlier_labels(like: Any, n_rows: int) -> IntArray:
    """Earlier labels of the rows of a fit.

    Parameters
    ----------
    like : array-like or dask array of shape (n_rows,)
        The labels; below 0 or missing, as NaN, for rows that had no cluster.
    n_rows : int
        Rows of the fit.

    Returns
    -------
    ndarray of shape (n_rows,)
        The labels, on the host, and -1 for rows that had no cluster.

    Raises
    ------
    TypeError
        If an estimator is given in place of its labels.
    ValueError
        If there is not one integer for each row.
    """
    if hasattr(like, "fit") or hasattr(like, "pipeline"):
        ask = "predict(X)" if hasattr(like, "fit") else "label(X).labels"
        raise TypeError(
            f"like={type(like).__name__} is a model: give its labels of the rows of this fit, "
            f"in the form that it takes: like=earlier.{ask}."
        )
    labels: IntArray = _whole(received(computed(like), "like"))
    if labels.shape != (n_rows,) or labels.dtype.kind not in "iu":
        raise ValueError(
            f"like must be {n_rows} integers, an earlier label for each row, got {labels.dtype} of "
            f"shape {labels.shape}; -1 or NaN stands for rows that had none."
        )
    return np.maximum(labels.astype(np.int64), -1)


def _whole(labels: Any) -> Any:
    """Labels as integers, -1 for missing ones, if all others are whole; else as they are.

    An outer join of tables makes floats of integers, or missing values of pandas.
    """
    found = np.asarray(labels)
    kind = getattr(getattr(labels, "dtype", None), "kind", "O")
    if found.dtype.kind == "O" and kind in ("i", "u", "f"):
        given: Any = {"dtype": np.float64, "ensure_2d": False}
        found = check_array(labels, ensure_all_finite="allow-nan", **given)
    if found.dtype.kind != "f":
        return found
    numbers = np.where(np.isnan(found), -1, found)
    # Larger floats are all whole, and not exact.
    is_whole = (numbers == np.round(numbers)) & (np.abs(numbers) < 2**53)
    return numbers.astype(np.int64) if is_whole.all() else found


def completed_numbers(numbers: Any, n_clusters: int) -> IntArray:
    """New numbers of all clusters.

    Parameters
    ----------
    numbers : array-like of shape (n_clusters,)
        A number for each cluster; those outside of the range stand for any that is free.
    n_clusters : int
        Number of clusters.

    Returns
    -------
    ndarray of shape (n_clusters,)
        Each number from 0 to n_clusters - 1.

    Raises
    ------
    ValueError
        If there are not as many numbers as clusters, or if two are the same.
    """
    given = np.asarray(numbers)
    if given.shape != (n_clusters,) or given.dtype.kind not in "iu":
        raise ValueError(
            f"numbers must be {n_clusters} integers, one for each cluster, got {given.dtype} of "
            f"shape {given.shape}."
        )
    valid = (given >= 0) & (given < n_clusters)
    if len(np.unique(given[valid])) < np.count_nonzero(valid):
        raise ValueError(
            f"numbers must be different, got {given.tolist()}; -1 stands for any that is free."
        )
    completed = given.astype(np.int32)
    completed[~valid] = np.setdiff1d(np.arange(n_clusters), given[valid])
    return completed


def renumbered(labels: Any, numbers: IntArray) -> Any:
    """Labels under new numbers, in the library of the labels; -1 stays."""
    numbers = np.append(numbers, numbers.dtype.type(-1))
    if hasattr(labels, "map_blocks"):
        return labels.map_blocks(numbers.__getitem__, dtype=numbers.dtype)
    return to_device_of(numbers, labels)[labels]
