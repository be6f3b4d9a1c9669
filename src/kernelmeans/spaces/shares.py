"""What blocks of samples contribute, and how it is put together."""

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from kernelmeans._arrays import like, namespace, take, to_numpy
from kernelmeans._typing import Array, IntArray
from kernelmeans.spaces.centroids import Centroids

#: Largest fraction of the samples, on average over restarts, that change clusters in a step which
#: is then done for these alone. Their kernel rows have to be gathered first.
MOST_CHANGED = 0.3


class Share(NamedTuple):
    """What a block, or several, add to a sum over the samples.

    Attributes
    ----------
    vectors : tuple of ndarray
        Of sum_i c_i phi_i, in the form of the space.
    sums : tuple of ndarray
        Of whatever else is wanted; plain sums.
    """

    vectors: tuple[Array, ...]
    sums: tuple[Any, ...] = ()

    def plus(self, other: "Share") -> "Share":
        """The sum of two shares of parts, which add up plainly."""
        return Share(*(tuple(map(operator.add, a, b)) for a, b in zip(self, other, strict=True)))


class Trace(NamedTuple):
    """Weighted traces of the kernel matrix and of what an approximation leaves out of it.

    Attributes
    ----------
    total, left_out : float
        Weighted sums over the samples of K(x, x), and of what of it is left out.
    """

    total: float
    left_out: float


class Change(NamedTuple):
    """What a hard step changes in one restart's centroids.

    Attributes
    ----------
    samples : ndarray of shape (m,)
        Samples that join or leave a cluster.
    clusters : ndarray of shape (c,)
        Those clusters.
    coefficients : array of shape (c, m)
        What the samples add to the centroids, of either sign.
    """

    samples: IntArray
    clusters: IntArray
    coefficients: Array


class Mixture(NamedTuple):
    """How added shares become centroids: increments + rest * old.

    Attributes
    ----------
    increments : tuple of ndarray of shape (k, R, m)
        The added shares, scaled to the mass that they have in the new centroids.
    rest : ndarray of shape (k, R, 1)
        What is left of the old centroids: 0 in a plain step.
    coefficients : ndarray of shape (k, R, n_samples) or None
        Those of the new centroids, where the space keeps them.
    changes : sequence of Change or None
        The increments of each restart, where few samples have any; they count instead of those.
    """

    increments: tuple[Array, ...]
    rest: Array
    coefficients: Array | None
    changes: Sequence[Change] | None = None

    def apply(self, increments: Array, vectors: Array) -> None:
        """Move vectors (k, R, m), in place; what they hold counts for ``rest`` only."""
        if self.rest.any():
            vectors *= like(self.rest, vectors)
            vectors += increments
        else:
            vectors[...] = increments


class Move(NamedTuple):
    """What is to be done to make new centroids in one space.

    Attributes
    ----------
    vectors : ndarray of shape (k, R, m)
        Where they come to stand.
    blocks : sequence of slice
        Parts of the work.
    work : callable
        Does a part; returns its shares in the squared norms of the new centroids and in their
        inner products with the increments, both of shape (k, R).
    """

    vectors: Array
    blocks: Sequence[slice]
    work: Callable[[slice], tuple[Array, Array]]


def side_by_side(
    pieces: Iterable[tuple[slice, tuple[Any, ...]]], n_samples: int
) -> tuple[Any, ...]:
    """Arrays of blocks of samples, their last axis, as arrays of all samples."""
    found: tuple[Any, ...] = ()
    for block, others in pieces:
        parts = tuple(map(to_numpy, others))
        if not found:
            found = tuple(np.empty((*part.shape[:-1], n_samples), part.dtype) for part in parts)
        for whole, part in zip(found, parts, strict=True):
            whole[..., block] = part
    return found


def few_changes(
    total: Array, mass: Array, old: Centroids | None, sample_weight: Array
) -> list[Change] | None:
    """What a hard step changes in each restart; None where little is to be gained by it.

    A centroid that is the mean of its samples becomes the mean of others when those that join or
    leave it are added or taken away.

    Parameters
    ----------
    total : array of shape (k, R, n_samples)
        The weights of the samples in their new clusters, else 0.
    mass : ndarray of shape (k, R)
        Their sums; NaN for centroids that are no such means.
    old : Centroids or None
        Where the centroids were.
    sample_weight : ndarray of shape (n_samples,)
        The weights.

    Returns
    -------
    list of Change or None
        One for each restart; None also where a centroid is no mean of samples, or was none.
    """
    if old is None or old.mass is None or np.isnan(mass + old.mass).any():
        return None
    assert old.coefficients is not None
    xp = namespace(total)
    was, now = old.coefficients != 0, total != 0
    joined, left = now & ~was, was & ~now
    moved = to_numpy(xp.any(joined | left, axis=0))
    if moved.sum() > MOST_CHANGED * moved.size:
        return None
    changes = []
    for r, own in enumerate(moved):
        samples = np.flatnonzero(own)
        signs = take(joined[:, r, :], samples, axis=1), take(left[:, r, :], samples, axis=1)
        clusters = np.flatnonzero(to_numpy(xp.any(signs[0] | signs[1], axis=1)))
        added, removed = (
            xp.astype(take(sign, clusters, axis=0), total.dtype, copy=False) for sign in signs
        )
        weight = like(sample_weight[samples] / mass[clusters, r, None], total)
        changes.append(Change(samples, clusters, (added - removed) * weight))
    return changes
