"""Rows that show what a cluster is: the nearest to its centroid, and those near to another one."""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import gen_batches

from kernelmeans._fitted import count_clusters, count_rows, on_host, readable, taken, transformed
from kernelmeans._typing import Array, IntArray
from kernelmeans._warnings import warn_user

#: Largest relative difference of the distances to the own and the second centroid, near a border.
NEAR_BORDER = 0.1
#: Rows whose distances are computed together.
_BLOCK = 1 << 16
#: Number of rows whose labels show whether the rows are the training data.
_CHECKED = 1000


class Placed(NamedTuple):
    """Rows and their distances.

    Attributes
    ----------
    labels : ndarray of int of shape (n_rows,)
        Their clusters.
    distances : ndarray of shape (n_rows,) or None
        To the own centroid; None if the estimator does not tell distances.
    border_gaps : ndarray of shape (n_rows,) or None
        How much farther the next centroid is, near the border; infinite for other rows.
    n_clusters : int or None
        Number of clusters, with rows or without; None if the labels alone tell.
    separation : ndarray of shape (n_clusters,) or None
        ``separation_`` of the fit, if these are its rows.
    """

    labels: IntArray
    distances: Array | None = None
    border_gaps: Array | None = None
    n_clusters: int | None = None
    separation: Array | None = None


def place(transformers: Sequence[Any], model: Any, X: Any) -> Placed:
    """Labels of rows and their distances, block by block.

    Parameters
    ----------
    transformers : sequence of transformers
        Applied to X before the model sees it.
    model : clusterer
        Fitted.
    X : array-like, sparse matrix, data frame or Rows
        The rows.

    Returns
    -------
    Placed
        Distances are those of the model's `transform`, if it gives one for each cluster.
    """
    X = readable(X, *transformers, model)
    n_rows = count_rows(X, model)

    def placed(rows: IntArray) -> tuple[IntArray, Any, Any]:
        return _placed(transformed(transformers, taken(X, rows, model)), model)

    if getattr(model, "distances_", None) is not None and len(model.labels_) == n_rows:
        fitted, some = of_fit(model), np.arange(0, n_rows, -(-n_rows // _CHECKED))
        # A fit has told of all its rows; counts of some would be others.
        with warnings.catch_warnings(action="ignore"):
            found, _, _ = placed(some)
        if np.array_equal(found, fitted.labels[some]):
            return fitted
    blocks = [placed(np.arange(one.start, one.stop)) for one in gen_batches(n_rows, _BLOCK)]
    labels = np.concatenate([labels for labels, _, _ in blocks])
    _warn_of_units(labels, getattr(model, "labels_", None))
    n_clusters = count_clusters(model)
    if any(own is None for _, own, _ in blocks):
        return Placed(labels, n_clusters=n_clusters)
    own, gaps = (np.concatenate([block[part] for block in blocks]) for part in (1, 2))
    return Placed(labels, own, gaps, n_clusters)


def _warn_of_units(labels: IntArray, fitted: Any) -> None:
    """Warn of rows that are as many as those of the fit, but get labels of few clusters."""
    if fitted is None or len(fitted) != len(labels):
        return
    n_found, n_fitted = (len(np.unique(own[own >= 0])) for own in (labels, on_host(fitted)))
    if n_found <= n_fitted / 2:
        warn_user(
            f"X has {len(labels)} rows, as many as the fit had, but only {n_found} of {n_fitted} "
            "clusters get any. If these are the rows of the fit before a scaler, give the scaled "
            "ones as X= beside the table, or fit a pipeline with the scaler in it."
        )


def of_fit(model: Any) -> Placed:
    """What a fitted clusterer keeps about its training rows."""
    labels = on_host(model.labels_)
    distances: Any = getattr(model, "distances_", None)
    n_clusters = count_clusters(model)
    # Those of AgglomerativeClustering are distances of merges.
    if np.ndim(distances) != 2:
        return Placed(labels, n_clusters=n_clusters)
    own, *others = on_host(distances).T
    gaps = _border_gaps(own, others[0] if others else np.inf)
    return Placed(labels, own, gaps, n_clusters, getattr(model, "separation_", None))


def _border_gaps(own: Array, second: Array | float) -> Array:
    """How much farther the second centroid is; infinite for rows that are not near the border."""
    gaps = second - own
    return np.where(gaps < NEAR_BORDER * own, gaps, np.inf)


def _placed(rows: Any, model: Any) -> tuple[IntArray, Any, Any]:
    """Labels, distances to the own centroid, and gaps near the border."""
    labels = on_host(model.predict(rows))
    found = np.array(on_host(model.transform(rows))) if hasattr(model, "transform") else np.empty(0)
    if found.shape != (len(labels), count_clusters(model)):
        return labels, None, None
    every = np.arange(len(labels))
    # Those of a row in no cluster (-1) say nothing.
    own = found[every, labels]
    found[every, labels] = np.inf
    return labels, own, _border_gaps(own, found.min(axis=1))


def first_of_each(
    values: Array, labels: IntArray, n_clusters: int, most: int
) -> list[tuple[int, ...]]:
    """The rows with the smallest values in each cluster.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        Infinite for rows that do not count.
    labels : ndarray of int of shape (n_rows,)
        The clusters of the rows, counted from 0; -1 for none.
    n_clusters : int
        Number of clusters.
    most : int
        Most rows of each cluster.

    Returns
    -------
    list of tuple of int
        The positions of the rows, those of the smallest values first. None of a cluster whose rows
        all have the same value, as in a piece of a graph: no row is the first.
    """
    counted = np.flatnonzero(np.isfinite(values) & (labels >= 0))
    order = counted[np.lexsort((values[counted], labels[counted]))]
    ends = np.bincount(labels[counted], minlength=n_clusters).cumsum()[:-1]
    return [
        tuple(rows[:most].tolist()) if len(rows) <= most or np.ptp(values[rows]) > 0 else ()
        for rows in np.split(order, ends)
    ]
