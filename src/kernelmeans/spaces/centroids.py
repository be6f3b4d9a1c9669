"""Centroids in the form of their space, and the partial sums they are made of."""

import copy
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kernelmeans._arrays import namespace, put_rows, take, to_numpy
from kernelmeans._typing import Array, BoolArray, IntArray

#: Sums of c_i phi_i over samples, arrays of shape (k, R, m) in the form of a space.
Sums = tuple[Array, ...]
#: The axis of the restarts in each array of `Centroids`; in those of ``vectors`` it is the second.
_RESTARTS = {"norms": 2, "kernel_weights": 0, "coefficients": 1, "costs": 0, "cluster_weight": 1}


class PartialSum(NamedTuple):
    """Sums over the samples of a block, or of several.

    Attributes
    ----------
    vectors : tuple of ndarray
        Sums of c_i phi_i, in the form of the space.
    sums : tuple of ndarray
        Other sums.
    """

    vectors: Sums
    sums: tuple[Any, ...] = ()

    def plus(self, other: "PartialSum") -> "PartialSum":
        """The sum of both, where vectors add up plainly."""
        pairs = zip(self, other, strict=True)
        return PartialSum(*(tuple(map(operator.add, a, b)) for a, b in pairs))


class Trace(NamedTuple):
    """Weighted traces of the kernel matrix and of the residual of an approximation.

    Attributes
    ----------
    total, residual : float
        Weighted sums over the samples of K(x, x), and of their residuals.
    """

    total: float
    residual: float


class Memory(NamedTuple):
    """Bytes that a space takes.

    Attributes
    ----------
    resident : int
        Held as long as the space lives.
    transient : int
        Held only while this space is at work.
    per_restart : int
        Working memory of the solver for each restart in a batch.
    """

    resident: int
    transient: int
    per_restart: int


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


@dataclass
class Centroids:
    """k centroids of each of R restarts, in each of L spaces (one, but for a product of several).

    Attributes
    ----------
    vectors : tuple of L ndarray of shape (k, R, m)
        Arrays that are linear in the centroids, so that they can be mixed.
    norms : ndarray of shape (L, k, R)
        Squared norms.
    kernel_weights : ndarray of shape (R, L)
        Kernel weights of each restart; ones for a single space.
    coefficients : ndarray of shape (k, R, n_samples) or None
        The centroids as combinations of the samples, the same in every space, where one needs it.
    costs : ndarray of shape (R, L) or None
        Cost in each space of the memberships that made the centroids, where there are several.
    cluster_weight : ndarray of shape (k, R) or None
        Weight of the samples that a centroid is the plain mean of, where its space keeps
        coefficients: the next hard step then only has to move the samples that change clusters.
        NaN for a centroid that is no such mean.
    """

    vectors: tuple[Array, ...]
    norms: Array
    kernel_weights: Array
    coefficients: Array | None = None
    costs: Array | None = None
    cluster_weight: Array | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Clusters and restarts."""
        return self.norms.shape[1], self.norms.shape[2]

    def member(self, index: int) -> "Centroids":
        """The same centroids in one of the spaces (a view)."""
        ones = np.ones((self.shape[1], 1))
        norms = self.norms[index : index + 1]
        return Centroids((self.vectors[index],), norms, ones, self.coefficients)

    def take(self, restarts: BoolArray | IntArray) -> "Centroids":
        """A copy for some restarts (a mask or indices over R)."""
        taken = copy.copy(self)
        taken.keep(restarts)
        return taken

    def keep(self, restarts: BoolArray | IntArray) -> None:
        """Drop the other restarts, one array after the other to save memory."""
        indices = np.arange(self.shape[1])[restarts]
        for index, vector in enumerate(self.vectors):
            kept = take(vector, indices, axis=1)
            self.vectors = (*self.vectors[:index], kept, *self.vectors[index + 1 :])
        for name, axis in _RESTARTS.items():
            if (values := getattr(self, name)) is not None:
                setattr(self, name, take(values, indices, axis=axis))

    def copy(self) -> "Centroids":
        """A copy of everything."""
        return self.take(np.arange(self.shape[1]))

    def put(self, where: tuple[IntArray, IntArray], other: "Centroids") -> None:
        """Overwrite the centroids at (j, r) by an (m, 1) set; the kernel weights stay."""
        pairs = list(zip(self.vectors, other.vectors, strict=True))
        if self.coefficients is not None and other.coefficients is not None:
            pairs.append((self.coefficients, other.coefficients))
        for whole, new in pairs:
            put_rows(whole, where, new[:, 0, :])
        self.norms[:, *where] = other.norms[:, :, 0]
        if self.cluster_weight is not None:
            weight = other.cluster_weight
            self.cluster_weight[where] = np.nan if weight is None else weight[:, 0]

    @classmethod
    def join(cls, parts: Sequence["Centroids"]) -> "Centroids":
        """Several sets of restarts as one."""

        def joined(values: Sequence[Any], axis: int) -> Any:
            known = all(one is not None for one in values)
            return namespace(values[0]).concat(values, axis=axis) if known else None

        vectors = zip(*(part.vectors for part in parts), strict=True)
        others = {
            name: joined([getattr(part, name) for part in parts], axis)
            for name, axis in _RESTARTS.items()
        }
        return cls(tuple(joined(pieces, 1) for pieces in vectors), **others)
