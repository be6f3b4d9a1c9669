"""The weight rules: what a block's distances say about how much each centroid draws each sample.

Arrays are of any library, all on one device; powers are NumPy's.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kernelmeans._arrays import like, namespace, overwrite, put_first, reduce, smallest, take
from kernelmeans._typing import Array, IntArray
from kernelmeans.solver.exchange import exchanged

#: Weights relative to the nearest centroid's below which they count as zero. Left alone they
#: would become denormal numbers, which slow a matrix product up to fortyfold.
NEGLIGIBLE = 1e-25
LOG_NEGLIGIBLE = math.log(NEGLIGIBLE)
#: |s| below which a power mean is not told from a sum of ones by their roundings.
SMALL_POWER = 0.1


class Loss(NamedTuple):
    """What a sample's squared distance to its own centroid costs: a concave function.

    Attributes
    ----------
    value, slope : callable
        The function and its derivative.
    weighs : bool
        Whether the derivative differs from sample to sample.
    """

    value: Callable[[Array], Array]
    slope: Callable[[Array], Array]
    weighs: bool = True

    @property
    def unweighted(self) -> "Loss":
        """The same cost, by which all samples weigh alike."""
        return Loss(self.value, SQUARES.slope, weighs=False)


#: The cost of k-means.
SQUARES = Loss(lambda d: d, lambda d: namespace(d).ones_like(d), weighs=False)
#: The distance itself, which outliers influence less.
LENGTHS = Loss(lambda d: namespace(d).sqrt(d), lambda d: 0.5 / namespace(d).sqrt(d))


class Weights(NamedTuple):
    """Weights of one block, and what they say of it.

    Attributes
    ----------
    values : array of shape (k, R, block)
        v_i w_ij.
    means : array of shape (R, block)
        The power mean M_s of each sample's distances.
    certainty : array of shape (R, block)
        Largest share of a sample's weights, max_j w_ij / sum_j w_ij.
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
    t = like(-power[:, None], distances)
    nearest = reduce("min", distances, axis=0)
    ratios = overwrite(distances, xp.divide, nearest, distances)
    weights = xp.log(ratios)
    small = bool((power > -SMALL_POWER).any())
    if small:
        # S is next to 1: what it lacks counts, also of those whose weights are negligible.
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
    # Not even in passing may the exponential be denormal.
    cut = like(LOG_NEGLIGIBLE, x)
    x = overwrite(x, xp.maximum, x, cut)
    x = overwrite(x, xp.exp, x)
    x -= xp.exp(cut)
    return overwrite(x, xp.maximum, x, like(0, x))


def hard_weights(
    distances: Array, sample_weight: Array, loss: Loss = SQUARES, mass: Array | None = None
) -> Weights:
    """Limit of `power_weights` for s -> -inf: all weight to the nearest centroid, first of equals.

    Parameters
    ----------
    distances : array of shape (k, R, block)
        Squared distances, all positive.
    sample_weight : array of shape (block,)
        The v_i.
    loss : Loss, default=SQUARES
        What a squared distance costs; its slope is the weight.
    mass : ndarray of shape (k, R), default=None
        Total weights of the clusters, where samples go by `exchanged`.

    Returns
    -------
    Weights
        Weights that are zero but for one centroid, costs of the nearest and certainty 1.
    """
    xp = namespace(distances)
    labels, nearest = smallest(distances)
    if mass is not None:
        labels = exchanged(distances, labels, nearest, sample_weight, mass)
    weights = put_first(xp.zeros_like(distances), labels, sample_weight * loss.slope(nearest))
    return Weights(weights, loss.value(nearest), xp.ones_like(nearest), labels)


def weigh(
    distances: Array,
    power: Array,
    sample_weight: Array,
    loss: Loss = SQUARES,
    mass: Array | None = None,
) -> Weights:
    """Weights at each restart's own power, finite or -inf; overwrites the distances."""
    is_hard = np.isneginf(power)
    if not is_hard.any():
        return power_weights(distances, power, sample_weight)
    if is_hard.all():
        return hard_weights(distances, sample_weight, loss, mass)
    soft, hard = np.flatnonzero(~is_hard), np.flatnonzero(is_hard)
    own_mass = None if mass is None else mass[:, hard]
    parts = (
        power_weights(take(distances, soft, axis=1), power[soft], sample_weight),
        hard_weights(take(distances, hard, axis=1), sample_weight, loss, own_mass),
    )
    # Restarts back in their old order: the soft ones come first in the concatenation.
    order = np.argsort(np.concatenate([soft, hard]))
    concat = namespace(distances).concat
    return Weights(
        *(take(concat(pair, axis=-2), order, axis=-2) for pair in zip(*parts, strict=True))
    )


def shares(distances: Array, power: float, floor: float) -> Array:
    """Weights of each sample scaled to sum to one, at one power.

    Parameters
    ----------
    distances : array of shape (k, n)
        Squared distances.
    power : float
        The power s < 0, finite or -inf.
    floor : float
        Smallest distance told from zero.

    Returns
    -------
    array of shape (k, n)
        w_ij / sum_l w_il.
    """
    xp = namespace(distances)
    raised = xp.maximum(distances, like(floor, distances))[:, None, :]
    weights = weigh(raised, np.array([power]), xp.ones_like(raised[0, 0, :])).values[:, 0, :]
    scaled: Array = weights / reduce("sum", weights, axis=0)
    return scaled
