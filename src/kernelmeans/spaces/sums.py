"""Partial sums of blocks of samples, and how they are put together."""

import operator
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from kernelmeans._arrays import to_numpy
from kernelmeans._typing import Array

#: Sums of c_i phi_i over samples, arrays of shape (k, R, m) in the form of a space.
Sums = tuple[Array, ...]


class PartialSum(NamedTuple):
    """Sums over the samples of a block, or of several.

    Attributes
    ----------
    vectors : tuple of ndarray
        Of sum_i c_i phi_i, in the form of the space.
    sums : tuple of ndarray
        Of whatever else is wanted; plain sums.
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
        Held as long as the space is there.
    transient : int
        Held only while there is work in this very space.
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
