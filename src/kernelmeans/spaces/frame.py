"""Raw features of rows about an origin: what training and new rows have in common."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernelmeans._arrays import like, namespace, overwrite
from kernelmeans._typing import Array, DType
from kernelmeans.lowrank import FeatureMap


@dataclass(frozen=True)
class Frame:
    """A feature map and an origin.

    A sample is its raw features y, of m numbers: coordinates by themselves, or kernel values
    against landmarks, which a lift (m, r) makes coordinates of.

    Attributes
    ----------
    features : FeatureMap
        From rows to raw features.
    centre : ndarray of shape (m,)
        Raw features of the origin, in the precision of what is done for every sample.
    offset : ndarray of shape (m,) or None
        Vector whose product with raw features is that of their coordinates with the origin's;
        None where there is no lift.
    square : float, default=0.0
        Squared norm of the origin.
    """

    features: FeatureMap
    centre: Array
    offset: Array | None = None
    square: float = 0.0

    @classmethod
    def about(
        cls, features: FeatureMap, centre: Array, lift: Array | None, dtype: DType
    ) -> "Frame":
        """The frame with an origin of these raw features (m,), for coordinates of this lift."""
        if lift is None:
            return cls(features, centre.astype(dtype))
        origin = centre.astype(np.float64) @ lift
        offset = (lift @ origin).astype(dtype)
        return cls(features, centre.astype(dtype), offset, float(origin @ origin))

    def moved(self, move: Callable[[Any], Any]) -> "Frame":
        """The same with its arrays elsewhere."""
        offset = None if self.offset is None else move(self.offset)
        features, centre = self.features.moved(move), move(self.centre)
        return replace(self, features=features, centre=centre, offset=offset)

    def squared_norms(self, raw: Array, squared_lengths: Array) -> Array:
        """||phi(x)||^2 about the origin, with what landmarks leave out of it, shape (n,)."""
        xp = namespace(raw)
        norms: Array
        if self.offset is None:
            norms = xp.vecdot(raw, raw)
            return norms
        norms = self.features.diagonal(squared_lengths) - 2 * (raw @ self.offset) - self.square
        return overwrite(norms, xp.maximum, norms, like(0, norms))

    def diagonal(self, raw: Array, squared_norms: Array) -> Array:
        """K(x, x) of raw features about the origin, given the squared norms about it."""
        diagonal: Array
        if self.offset is None:
            diagonal = squared_norms + 2 * (raw @ self.centre) + self.centre @ self.centre
        else:
            diagonal = squared_norms + 2 * (raw @ self.offset) + self.square
        return diagonal
