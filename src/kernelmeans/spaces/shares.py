"""What blocks of samples contribute, and how it is put together."""

import operator
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

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


class Changes(NamedTuple):
    """What a hard step changes in the centroids of all restarts.

    Attributes
    ----------
    restarts, clusters : ndarray of shape (c,)
        The centroids that samples join or leave, in the order of their restarts.
    coefficients : csr_array of shape (c, n_samples)
        What the samples add to them, of either sign.
    """

    restarts: IntArray
    clusters: IntArray
    coefficients: Any

    def parts(self, work: int) -> list[slice]:
        """Centroids of whole restarts, one restart after the other, so much work or a bit more."""
        starts = np.flatnonzero(np.diff(self.restarts, prepend=-1))
        first = np.unique(self.coefficients.indptr[starts] // work, return_index=True)[1]
        edges = [0, *starts[first[1:]].tolist(), len(self.restarts)]
        return [slice(*pair) for pair in pairwise(edges)]


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
    changes : Changes or None
        The increments where few samples have any; they count instead of those.
    """

    increments: tuple[Array, ...]
    rest: Array
    coefficients: Array | None
    changes: Changes | None = None

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
) -> Changes | None:
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
    Changes or None
        None also where a centroid is no mean of samples, or was none.
    """
    if old is None or old.mass is None or np.isnan(mass + old.mass).any():
        return None
    assert old.coefficients is not None
    k, restarts, n_samples = total.shape
    xp = namespace(total)
    now = xp.permute_dims(total != 0, (1, 0, 2))
    changed = xp.reshape(now != xp.permute_dims(old.coefficients != 0, (1, 0, 2)), (-1,))
    # Who goes to another cluster leaves one and joins one.
    if int(xp.count_nonzero(changed)) > 2 * MOST_CHANGED * restarts * n_samples:
        return None
    where = to_numpy(xp.nonzero(changed)[0])
    joins = to_numpy(take(xp.reshape(now, (-1,)), where, axis=0))
    centroids, samples = np.divmod(where, n_samples)
    own_restart, own_cluster = np.divmod(centroids, k)
    values = sample_weight[samples] / mass[own_cluster, own_restart] * np.where(joins, 1, -1)
    firsts = np.flatnonzero(np.diff(centroids, prepend=-1))
    rows = scipy.sparse.csr_array(
        (values.astype(sample_weight.dtype), samples, np.append(firsts, len(where))),
        shape=(len(firsts), n_samples),
    )
    return Changes(own_restart[firsts], own_cluster[firsts], rows)
