"""Rows that are farther from all clusters than nearly all training rows."""

from typing import Any

import numpy as np

from kernelmeans._typing import Array
from kernelmeans.heat import HeatKernel
from kernelmeans.kernels import CombinedKernel
from kernelmeans.lowrank.sampling import chosen_rows

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


def far_beyond(estimator: Any, X: Any, weights: Any = None) -> float:
    """Return what 99 % of the training rows keep within, by `remoteness`.

    Parameters
    ----------
    estimator : estimator
        A fitted model.
    X : {ndarray, CSR matrix, Rows} of shape (n_samples, n_features)
        The training rows, as the estimator takes them. With heat kernels a subsample is enough.
    weights : ndarray of shape (n_samples,) or None, default=None
        Their sample weights.

    Returns
    -------
    float
        A distance.
    """
    weights = np.ones(X.shape[0]) if weights is None else weights
    nearest = estimator.distances_[:, 0]
    if _heat_kernels(estimator):
        X, weights = chosen_rows(X, weights, min(MOST_ROWS, X.shape[0]))
    return bound(remoteness(estimator, X, nearest, training=True), weights)


def bound(distances: Array, weights: Array) -> float:
    """Return the least distance that 99 % of the weight keeps within, and a little more."""
    order = np.argsort(distances)
    within = np.cumsum(weights[order].astype(float))
    place = np.searchsorted(within, NEAR * within[-1])
    return float(distances[order[place]]) * (1 + ROUNDING)
