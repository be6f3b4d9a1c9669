"""Rows that are farther from all clusters than nearly all training rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kernelmeans._fitted import on_host, taken, transformed
from kernelmeans._typing import Array
from kernelmeans.estimators.assigner import read_new
from kernelmeans.heat import HeatKernel
from kernelmeans.kernels import CombinedKernel
from kernelmeans.lowrank.sampling import subsample

#: Fraction of the training rows that are not far, and what distances may differ by rounding.
NEAR, ROUNDING = 0.99, 1e-4
#: Training rows that a fit with a heat kernel looks at. A search for all would take as long as
#: half of the fit.
MOST_ROWS = 4_000


def remoteness(estimator: Any, X: Any, distances: Array, *, training: bool = False) -> Array:
    """Return how far rows are from the clusters.

    Parameters
    ----------
    estimator : estimator
        A fitted model.
    X : {ndarray, CSR matrix} of shape (n_rows, n_features)
        Rows, as the estimator takes them.
    distances : ndarray of shape (n_rows,)
        Their distances to the nearest centroids.
    training : bool, default=False
        Whether they are training rows.

    Returns
    -------
    ndarray of shape (n_rows,)
        The distances to the nearest centroids. With heat kernels, in whose feature space every row
        is near some training rows, those to the nearest training rows or anchors instead; of
        several such kernels the root of the sum of their squares.
    """
    heat = _heat_kernels(estimator)
    if not heat:
        return distances
    squares = [part.distances_to_nearest(X[:, columns], training) ** 2 for part, columns in heat]
    return np.asarray(np.sqrt(np.sum(squares, axis=0)))


def _heat_kernels(estimator: Any) -> list[tuple[HeatKernel, Any]]:
    """The kernels and their columns if all are heat kernels, else none."""
    kernel = estimator.kernel_
    parts: list[tuple[Any, Any]] = [(kernel, slice(None))]
    if isinstance(kernel, CombinedKernel):
        parts = list(zip(kernel.kernels, kernel.columns, strict=True))
    return parts if all(isinstance(part, HeatKernel) for part, _ in parts) else []


def far_beyond(
    estimator: Any, X: Any, weights: Any = None, transformers: Sequence[Any] = ()
) -> float:
    """Return what 99 % of the training rows keep within, by `remoteness`.

    Parameters
    ----------
    estimator : estimator
        A fitted model.
    X : array-like, CSR matrix, data frame or Rows of shape (n_samples, n_features)
        The training rows. With heat kernels a subsample is looked at, with others none.
    weights : ndarray of shape (n_samples,) or None, default=None
        Their sample weights.
    transformers : sequence, default=()
        Make of these rows what the estimator takes.

    Returns
    -------
    float
        A distance.
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
    """Return the least distance that 99 % of the weight keeps within, and a little more."""
    order = np.argsort(distances)
    within = np.cumsum(weights[order].astype(float))
    place = np.searchsorted(within, NEAR * within[-1])
    return float(distances[order[place]]) * (1 + ROUNDING)
