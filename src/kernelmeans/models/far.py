"""Rows that are farther from all clusters than nearly all training rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kernelmeans._fitted import on_host, taken, transformed
from kernelmeans._typing import Array
from kernelmeans.estimators.assigner import read_new
from kernelmeans.heat import HeatKernel
from kernelmeans.lowrank.sampling import subsample

#: Fraction of the training rows that are not far, and relative rounding error of distances.
NEAR, ROUNDING = 0.99, 1e-4
#: Most training rows whose nearest rows are searched for, with heat kernels. A search for all rows
#: would take half as long as the fit.
MOST_ROWS = 4_000


def remoteness(estimator: Any, X: Any, distances: Array, *, training: bool = False) -> Array:
    """Return how far rows are from the clusters.

    Parameters
    ----------
    estimator : estimator
        A fitted model.
    X : {ndarray, CSR matrix} of shape (n_rows, n_features)
        Rows in the form that the estimator takes.
    distances : ndarray of shape (n_rows,)
        Their distances to the nearest centroids.
    training : bool, default=False
        Whether they are training rows.

    Returns
    -------
    ndarray of shape (n_rows,)
        The distances to the nearest centroids. With a heat kernel, the distances to the nearest
        training rows or anchors instead, because in its feature space every row is near some
        training rows. With several heat kernels, the root of the sum of their squares.
    """
    heat = _heat_kernels(estimator)
    if not heat:
        return distances
    squares = [part.distances_to_nearest(X[:, columns], training) ** 2 for part, columns in heat]
    return np.asarray(np.sqrt(np.sum(squares, axis=0)))


def _heat_kernels(estimator: Any) -> list[tuple[HeatKernel, Any]]:
    """The kernels, each with its columns, if all are heat kernels; else an empty list."""
    parts = [(kernel, columns) for kernel, columns, _ in estimator.kernel_.parts]
    return parts if all(isinstance(part, HeatKernel) for part, _ in parts) else []


def far_beyond(
    estimator: Any, X: Any, weights: Any = None, transformers: Sequence[Any] = ()
) -> float:
    """Return the distance within which 99 % of the training rows lie, by `remoteness`.

    Parameters
    ----------
    estimator : estimator
        A fitted model.
    X : array-like, CSR matrix, data frame or Rows of shape (n_samples, n_features)
        The training rows. Heat kernels need a subsample of them, other kernels none.
    weights : ndarray of shape (n_samples,) or None, default=None
        Their sample weights.
    transformers : sequence, default=()
        Steps that turn these rows into the form that the estimator takes.

    Returns
    -------
    float
        The distance, a little rounded up.
    """
    nearest = on_host(estimator.distances_)[:, 0]
    weights = np.ones(len(nearest)) if weights is None else weights
    if _heat_kernels(estimator):
        rows: Any = np.arange(len(nearest))
        if len(rows) > MOST_ROWS:
            rows, weights = subsample(weights, MOST_ROWS)
        some = transformed(transformers, taken(X, rows, estimator))
        read, _ = read_new(estimator, some)
        nearest = remoteness(estimator, read[:], nearest, training=True)
    return bound(nearest, weights)


def bound(distances: Array, weights: Array) -> float:
    """Return the least distance within which 99 % of the weight lies, a little rounded up."""
    usual = np.quantile(distances, NEAR, weights=weights, method="inverted_cdf")
    return float(usual) * (1 + ROUNDING)
