"""What blocks of samples contribute, and how it is put together."""

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from kernelmeans._arrays import like, to_numpy
from kernelmeans._typing import Array


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
    """

    increments: tuple[Array, ...]
    rest: Array
    coefficients: Array | None

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
