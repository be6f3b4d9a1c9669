"""The weight rules: what a block's distances say about how much each centroid draws each sample."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kernelmeans._typing import Array, IntArray

#: Weights relative to the nearest centroid's below which they count as zero. Left alone they
#: would become denormal numbers, which slow a matrix product up to fortyfold.
NEGLIGIBLE = 1e-25


class Loss(NamedTuple):
    """What a sample's squared distance to its own centroid costs: a concave function.

    Attributes
    ----------
    value, slope : callable
        The function and its derivative.
    """

    value: Callable[[Array], Array]
    slope: Callable[[Array], Array]


#: The cost of k-means.
SQUARES = Loss(lambda d: d, np.ones_like)
#: The distance itself, which outliers influence less.
LENGTHS = Loss(np.sqrt, lambda d: 0.5 / np.sqrt(d))


class Weights(NamedTuple):
    """Weights of one block, and what they say of it.

    Attributes
    ----------
    values : ndarray of shape (k, R, block)
        v_i w_ij.
    means : ndarray of shape (R, block)
        The power mean M_s of each sample's distances.
    certainty : ndarray of shape (R, block)
        Largest share of a sample's weights, max_j w_ij / sum_j w_ij.
    labels : ndarray of shape (R, block)
        Cluster of each sample where the weights are hard, else -1.
    """

    values: Array
    means: Array
    certainty: Array
    labels: IntArray


def power_weights(distances: Array, power: Array, sample_weight: Array) -> Weights:
    """Derivatives of the power mean of each sample's distances, in ratio form (Section 2).

    With m the smallest distance, r_j = m / d_j, t = -s and S = mean_j r_j^t:
    M_s = m S^(-1/t) and w_j = r_j^(t+1) S^(-(1 + 1/t)) / k, which cannot overflow.

    Parameters
    ----------
    distances : ndarray of shape (k, R, block)
        Squared distances, all positive; overwritten.
    power : ndarray of shape (R,)
        The powers s < 0, finite.
    sample_weight : ndarray of shape (block,)
        The v_i.

    Returns
    -------
    Weights
        Weights, power means and certainty.
    """
    k = distances.shape[0]
    t = -power[:, None].astype(distances.dtype)
    nearest = distances.min(axis=0)
    ratios = np.divide(nearest, distances, out=distances)
    weights = np.log(ratios)
    weights *= t + 1
    _exponential(weights)
    certainty = 1 / weights.sum(axis=0)
    mean = np.divide(weights, ratios, out=ratios).sum(axis=0) / k
    log_mean = np.log(mean)
    weights *= np.exp(-(1 + 1 / t) * log_mean) * (sample_weight / k)
    labels = np.full(nearest.shape, -1, np.int32)
    return Weights(weights, nearest * np.exp(-log_mean / t), certainty, labels)


def _exponential(x: Array) -> None:
    """Exponential of non-positive numbers, in place; exactly zero where it is negligible."""
    cut = np.log(NEGLIGIBLE).astype(x.dtype)
    if x.min(initial=0) > cut:
        np.exp(x, out=x)
        return
    # Not even in passing may the exponential be denormal.
    np.maximum(x, cut, out=x)
    np.exp(x, out=x)
    x -= np.exp(cut)
    np.maximum(x, 0, out=x)


def hard_weights(distances: Array, sample_weight: Array, loss: Loss = SQUARES) -> Weights:
    """Limit of `power_weights` for s -> -inf: all weight to the nearest centroid, first of equals.

    Parameters
    ----------
    distances : ndarray of shape (k, R, block)
        Squared distances, all positive.
    sample_weight : ndarray of shape (block,)
        The v_i.
    loss : Loss, default=SQUARES
        What a squared distance costs; its slope is the weight.

    Returns
    -------
    Weights
        Weights that are zero but for the nearest centroid, costs and certainty 1.
    """
    labels = distances.argmin(axis=0).astype(np.int32)
    nearest = distances.min(axis=0)
    weights = np.zeros_like(distances)
    np.put_along_axis(weights, labels[None], (sample_weight * loss.slope(nearest))[None], axis=0)
    return Weights(weights, loss.value(nearest), np.ones_like(nearest), labels)


def weigh(distances: Array, power: Array, sample_weight: Array, loss: Loss = SQUARES) -> Weights:
    """Weights at each restart's own power, finite or -inf; overwrites the distances."""
    hard = np.isneginf(power)
    if not hard.any():
        return power_weights(distances, power, sample_weight)
    if hard.all():
        return hard_weights(distances, sample_weight, loss)
    parts = (
        power_weights(distances[:, ~hard], power[~hard], sample_weight),
        hard_weights(distances[:, hard], sample_weight, loss),
    )
    # Restarts back in their old order: the soft ones come first in the concatenation.
    order = np.argsort(np.concatenate([np.flatnonzero(~hard), np.flatnonzero(hard)]))
    return Weights(
        *(np.concatenate(pair, axis=-2).take(order, axis=-2) for pair in zip(*parts, strict=True))
    )


def shares(distances: Array, power: float, floor: float) -> Array:
    """Weights of each sample scaled to sum to one, at one power.

    Parameters
    ----------
    distances : ndarray of shape (k, n)
        Squared distances.
    power : float
        The power s < 0, finite or -inf.
    floor : float
        Smallest distance told from zero.

    Returns
    -------
    ndarray of shape (k, n)
        w_ij / sum_l w_il.
    """
    ones = np.ones(distances.shape[1], distances.dtype)
    weights = weigh(np.maximum(distances, floor)[:, None], np.array([power]), ones).values[:, 0]
    return np.asarray(weights / weights.sum(axis=0))
