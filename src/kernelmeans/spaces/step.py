"""A step of all centroids: theta <- rest * theta + increment."""

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse

from kernelmeans._arrays import like, namespace, take, to_numpy
from kernelmeans._typing import Array, BoolArray, IntArray
from kernelmeans.spaces.centroids import Centroids

if TYPE_CHECKING:
    from kernelmeans.spaces.base import Space

#: Largest fraction of samples that change clusters, on average over restarts, if a step is to work
#: on these samples alone. Their kernel rows have to be gathered first.
MOST_CHANGED = 0.3
#: Multiplications in a step for all samples that takes no longer than a search for the changes.
QUICK = 2**22


class Moved(NamedTuple):
    """Centroids after a step, in each of L spaces.

    Attributes
    ----------
    vectors : tuple of L ndarray of shape (k, R, m)
        Where they are.
    norms : ndarray of shape (L, k, R)
        Their squared norms.
    overlaps : ndarray of shape (L, k, R)
        Their inner products with the increments.
    """

    vectors: tuple[Array, ...]
    norms: Array
    overlaps: Array


class Changes(NamedTuple):
    """What a hard step changes in the centroids of all restarts.

    Attributes
    ----------
    restarts, clusters : ndarray of shape (c,)
        The centroids that samples join or leave, in the order of their restarts.
    edges, samples, values : ndarray
        The CSR matrix (c, n_samples) of what samples add to them, of either sign.
    """

    restarts: IntArray
    clusters: IntArray
    edges: IntArray
    samples: IntArray
    values: Array

    def parts(self, work: int) -> list[slice]:
        """Centroids of whole restarts, one restart after the other, so much work or a bit more."""
        if len(self.samples) <= work:
            return [slice(0, len(self.restarts))]
        starts = np.flatnonzero(np.diff(self.restarts, prepend=-1))
        first = np.unique(self.edges[starts] // work, return_index=True)[1]
        edges = [0, *starts[first[1:]].tolist(), len(self.restarts)]
        return [slice(*pair) for pair in pairwise(edges)]

    def coefficients(self, part: slice, n_samples: int) -> Any:
        """What the samples add to some of the centroids, as a csr_array."""
        edges = self.edges[part.start : part.stop + 1]
        own = slice(edges[0], edges[-1])
        shape = len(edges) - 1, n_samples
        parts = self.values[own], self.samples[own], edges - edges[0]
        return scipy.sparse.csr_array(parts, shape=shape)


class Step(NamedTuple):
    """How sums over the samples become centroids: rest * old + increments.

    Attributes
    ----------
    increments : tuple of ndarray of shape (k, R, m)
        The sums, scaled to the weight that they have in the new centroids.
    rest : ndarray of shape (k, R, 1)
        What is left of the old centroids: 0 in a plain step.
    old : Centroids or None
        Where the centroids were; overwritten.
    cluster_weight : ndarray of shape (k, R)
        Total coefficients of the sums. A centroid without any stays where it was.
    coefficients : ndarray of shape (k, R, n_samples) or None
        Coefficients of the new centroids, if the space keeps any.
    mean_of : ndarray of shape (k, R) or None
        The cluster weight of centroids that are plain means of samples, NaN for others.
    changes : Changes or None
        The increments, if few samples change clusters. They replace ``increments``.
    """

    increments: tuple[Array, ...]
    rest: Array
    old: Centroids | None
    cluster_weight: Array
    coefficients: Array | None = None
    mean_of: Array | None = None
    changes: Changes | None = None

    @classmethod
    def of(
        cls,
        space: "Space",
        sums: tuple[Array, ...],
        weight: Array,
        old: Centroids | None,
        factor: Array | None,
        hard: BoolArray | None,
    ) -> "Step":
        """The step old + factor (sums / weight - old), from the arguments of `Space.update`."""
        mean_of = changes = None
        if space.keeps_coefficients and hard is not None and hard.any():
            mean_of = np.where(hard & (weight > 0), weight, np.nan)
            if len(sums) == 1 and weight.size * space.n_samples**2 > QUICK:
                changes = few_changes(sums[0], mean_of, old, space.sample_weight)
        if changes is not None:
            assert old is not None
            assert old.cluster_weight is not None
            scale, rest = 1 / weight, old.cluster_weight / weight
        else:
            filled = weight > 0
            length = np.ones(weight.shape) if factor is None else np.where(filled, factor, 0)
            scale, rest = length / np.where(filled, weight, 1), 1 - length
        for increments in sums:
            increments *= like(scale[..., None], increments)
        step = cls(sums, rest[..., None].astype(space.dtype), old, weight, None, mean_of, changes)
        if not space.keeps_coefficients:
            return step
        coefficients = sums[0]
        if changes is None and old is not None and step.rest.any():
            assert old.coefficients is not None
            coefficients = step.mixed(sums[0], old.coefficients)
        return step._replace(coefficients=coefficients)

    def member(self, index: int, slot: int) -> "Step":
        """The same step in one of several spaces, whose increments are in one of the slots."""
        old = None if self.old is None else self.old.member(index)
        return self._replace(increments=(self.increments[slot],), old=old)

    def mixed(self, increments: Array, vectors: Array) -> Array:
        """Vectors (k, R, m) after the step, in place; what they hold counts for ``rest`` only."""
        if self.rest.any():
            vectors *= like(self.rest, vectors)
            vectors += increments
        else:
            vectors[...] = increments
        return vectors

    def centroids(self, moved: Moved, kernel_weights: Array) -> Centroids:
        """The new centroids, those that have no old ones under the given kernel weights (L,)."""
        norms = moved.norms.astype(self.rest.dtype, copy=False)
        if self.old is None:
            weights = np.tile(kernel_weights, (norms.shape[2], 1))
        else:
            # A start at coordinates is no sum of samples: its norm cannot be had from its vectors.
            norms = np.where(self.cluster_weight > 0, norms, self.old.norms)
            weights = self.old.kernel_weights
        return Centroids(
            moved.vectors, norms, weights, self.coefficients, cluster_weight=self.mean_of
        )


def few_changes(
    total: Array, weight: Array, old: Centroids | None, sample_weight: Array
) -> Changes | None:
    """What a hard step changes in each restart; None where little is to be gained by it.

    A centroid that is the mean of its samples becomes the mean of others when those that join or
    leave it are added or taken away.

    Parameters
    ----------
    total : array of shape (k, R, n_samples)
        The weights of the samples in their new clusters, else 0.
    weight : ndarray of shape (k, R)
        Sums of these weights; NaN for centroids that are not the means of their samples.
    old : Centroids or None
        Where the centroids were.
    sample_weight : ndarray of shape (n_samples,)
        The weights.

    Returns
    -------
    Changes or None
        The changes. None also if a centroid is not the mean of its samples, or was not before.
    """
    if old is None or old.cluster_weight is None or np.isnan(weight + old.cluster_weight).any():
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
    values = sample_weight[samples] / weight[own_cluster, own_restart] * np.where(joins, 1, -1)
    firsts = np.flatnonzero(np.diff(centroids, prepend=-1))
    edges = np.append(firsts, len(where))
    values = values.astype(sample_weight.dtype)
    return Changes(own_restart[firsts], own_cluster[firsts], edges, samples, values)
