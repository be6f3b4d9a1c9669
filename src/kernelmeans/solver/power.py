"""Weights of the samples in each cluster, from their distances to the centroids.

Arrays are of any library, all on one device; powers are NumPy's.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kernelmeans._arrays import like, namespace, overwrite, put_first, reduce, smallest, take
from kernelmeans._typing import Array, IntArray
from kernelmeans.solver.exchange import exchange_costs

#: Weights below this multiple of the nearest centroid's count as zero. They would become denormal
#: numbers, which slow a matrix product up to fortyfold.
NEGLIGIBLE = 1e-25
LOG_NEGLIGIBLE = math.log(NEGLIGIBLE)
#: |s| below which the sum in a power mean differs from k by little more than rounding.
SMALL_POWER = 0.1
#: |s| beyond which a power mean is the geometric one, or the minimum, to the last digit. Inside,
#: s and 1/s are finite in float32 too.
SMALLEST_POWER, LARGEST_POWER = 1e-20, 1e30


class CostFunction(NamedTuple):
    """A sample's cost, a concave function of the squared distance to its nearest centroid.

    Attributes
    ----------
    value : callable
        The function.
    slope : callable or None
        Its derivative, by which samples are weighted; None if all count alike.
    """

    value: Callable[[Array], Array]
    slope: Callable[[Array], Array] | None = None


#: The cost of k-means.
SQUARED_DISTANCE = CostFunction(lambda d: d)
#: The distance itself, which outliers influence less.
DISTANCE = CostFunction(lambda d: namespace(d).sqrt(d), lambda d: 0.5 / namespace(d).sqrt(d))


class Weights(NamedTuple):
    """Weights of one block, and what follows from them.

    Attributes
    ----------
    values : array of shape (k, R, block)
        v_i w_ij.
    means : array of shape (R, block)
        The power mean M_s of each sample's distances.
    certainty : array of shape (R, block)
        Largest membership of each sample, max_j w_ij / sum_j w_ij.
    labels : array of shape (R, block)
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
    distances : array of shape (k, R, block)
        Squared distances, all positive; overwritten.
    power : ndarray of shape (R,)
        The powers s < 0, finite.
    sample_weight : array of shape (block,)
        The v_i.

    Returns
    -------
    Weights
        Weights, power means and certainty.
    """
    xp = namespace(distances)
    k = distances.shape[0]
    powers = power.tolist()
    t = like([[min(max(-s, SMALLEST_POWER), LARGEST_POWER)] for s in powers], distances)
    nearest = reduce("min", distances, axis=0)
    ratios = overwrite(distances, xp.divide, nearest, distances)
    weights = xp.log(ratios)
    small = max(powers) > -SMALL_POWER
    if small:
        # S is nearly 1, and its difference from 1 counts, also that of negligible weights.
        log_mean = xp.log1p(reduce("sum", xp.expm1(t * weights), axis=0) / k)
    weights *= t + 1
    weights = _exponential(weights)
    certainty = 1 / reduce("sum", weights, axis=0)
    if not small:
        mean = reduce("sum", overwrite(ratios, xp.divide, weights, ratios), axis=0) / k
        log_mean = xp.log(mean)
    weights *= xp.exp(-(1 + 1 / t) * log_mean) * (sample_weight / k)
    labels = xp.full(nearest.shape, -1, dtype=xp.int32, device=distances.device)
    return Weights(weights, nearest * xp.exp(-log_mean / t), certainty, labels)


def _exponential(x: Array) -> Array:
    """Exponential of non-positive numbers, exactly zero where it is negligible; overwrites x."""
    xp = namespace(x)
    if reduce("min", x) > LOG_NEGLIGIBLE:
        return overwrite(x, xp.exp, x)
    # No intermediate result may be denormal either.
    cut = like(LOG_NEGLIGIBLE, x)
    x = overwrite(x, xp.maximum, x, cut)
    x = overwrite(x, xp.exp, x)
    x -= xp.exp(cut)
    return overwrite(x, xp.maximum, x, like(0, x))


def hard_weights(
    distances: Array,
    sample_weight: Array,
    cost: CostFunction = SQUARED_DISTANCE,
    cluster_weight: Array | None = None,
    residuals: Array | None = None,
) -> Weights:
    """Limit of `power_weights` for s -> -inf: all weight to the nearest centroid, first of equals.

    Parameters
    ----------
    distances : array of shape (k, R, block)
        Squared distances, all positive.
    sample_weight : array of shape (block,)
        The v_i.
    cost : CostFunction, default=SQUARED_DISTANCE
        A sample's cost.
    cluster_weight : ndarray of shape (k, R), default=None
        Where given, samples join the clusters where they cost least, each as if the others stayed.
    residuals : array of shape (block,), default=None
        Of the samples, for the same.

    Returns
    -------
    Weights
        Weights that are zero for all centroids but one, costs of the nearest, and certainty 1.
    """
    xp = namespace(distances)
    labels, nearest = smallest(distances)
    if cluster_weight is not None:
        saved, joins = exchange_costs(
            distances, labels, nearest, sample_weight, cluster_weight, residuals
        )
        labels, _ = smallest(put_first(joins, labels, saved))
    if cost.slope is not None:
        sample_weight = sample_weight * cost.slope(nearest)
    weights = put_first(xp.zeros_like(distances), labels, sample_weight)
    return Weights(weights, cost.value(nearest), xp.ones_like(nearest), labels)


def weigh(
    distances: Array,
    power: Array,
    sample_weight: Array,
    cost: CostFunction = SQUARED_DISTANCE,
    cluster_weight: Array | None = None,
    residuals: Array | None = None,
) -> Weights:
    """Weights at each restart's power, finite or -inf; overwrites the distances."""
    n_hard = power.tolist().count(-math.inf)
    if n_hard == 0:
        return power_weights(distances, power, sample_weight)
    if n_hard == len(power):
        return hard_weights(distances, sample_weight, cost, cluster_weight, residuals)
    is_hard = np.isneginf(power)
    soft, hard = np.flatnonzero(~is_hard), np.flatnonzero(is_hard)
    # Here no samples are exchanged: these are annealed restarts.
    parts = (
        power_weights(take(distances, soft, axis=1), power[soft], sample_weight),
        hard_weights(take(distances, hard, axis=1), sample_weight, cost),
    )
    # Restarts back in their old order: the soft ones come first in the concatenation.
    order = np.argsort(np.concatenate([soft, hard]))
    concat = namespace(distances).concat
    return Weights(
        *(take(concat(pair, axis=-2), order, axis=-2) for pair in zip(*parts, strict=True))
    )


def memberships(distances: Array, power: float, floor: float) -> Array:
    """Memberships at one power: the weights of each sample divided by their sum.

    Parameters
    ----------
    distances : array of shape (k, n)
        Squared distances.
    power : float
        The power s < 0, finite or -inf.
    floor : float
        Smallest squared distance that is more than rounding.

    Returns
    -------
    array of shape (k, n)
        w_ij / sum_l w_il.
    """
    weights = _at_power(distances, power, floor).values[:, 0, :]
    scaled: Array = weights / reduce("sum", weights, axis=0)
    return scaled


def certainty(distances: Array, power: float, floor: float) -> Array:
    """The largest of the memberships of each sample, shape (n,)."""
    found: Array = _at_power(distances, power, floor).certainty[0]
    return found


def _at_power(distances: Array, power: float, floor: float) -> Weights:
    xp = namespace(distances)
    raised = xp.maximum(distances, like(floor, distances))[:, None, :]
    return weigh(raised, np.array([power]), xp.ones_like(raised[0, 0, :]))
