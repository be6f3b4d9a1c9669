"""A space of features that are made anew, part by part, whenever they are needed."""

from collections.abc import Sequence

import numpy as np

from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.engines import Threads
from kernelmeans.spaces.base import Share, Space, Trace, check_finite
from kernelmeans.spaces.centroids import Centroids
from kernelmeans.spaces.features import FeatureSpace


class PartedSpace(FeatureSpace):
    """Samples whose rows are read, and their features made, one part at a time.

    Nothing is held but the rows, wherever they are, and the weights. What parts say is added up in
    a tree, so that it does not matter where they are worked on.

    Parameters
    ----------
    sample : FeatureSpace
        A draw of the samples; its frame and lift are those of this space.
    rows : Data
        What slices and indices select rows from: an array, or rows on disk.
    parts : sequence of slice
        Rows that are read together.
    sample_weight : ndarray of shape (n_samples,)
        Weights; its dtype is the precision.
    parts_in_flight : int, default=None
        Parts open at a time.
    """

    def __init__(
        self,
        sample: FeatureSpace,
        rows: Data,
        parts: Sequence[slice],
        sample_weight: Array,
        parts_in_flight: int | None = None,
    ) -> None:
        self.sample = sample
        self.frame, self.lift, self.raw = sample.frame, sample.lift, sample.lift is not None
        self.rows = rows
        self.parts = list(parts)
        self.parts_in_flight = parts_in_flight
        self.sample_weight = sample_weight
        self._checks_rows = False

    def survey(self, threads: Threads) -> None:
        """Look at all rows once: whether they are finite, how large, and what is left out of them.

        Raises
        ------
        ValueError
            If they are not finite.
        """
        self._checks_rows = True
        weight, norms, total, left_out = self.reduce(_survey, (1, 1), threads).sums
        self._checks_rows = False
        check_finite(self.frame.features.kernel, norms)
        self.magnitude = float(norms / weight)
        if self.frame.features.certified:
            self.trace = Trace(float(total), float(left_out))

    def opened(self, part: slice) -> FeatureSpace:
        return self._made(self.rows[part], self.sample_weight[part], part.start or 0)

    def restricted(self, indices: IntArray, sample_weight: Array) -> FeatureSpace:
        return self._made(self.rows[indices], sample_weight)

    def _made(self, rows: Data, sample_weight: Array, first: int = 0) -> FeatureSpace:
        """The space of rows that have been read: with raw features, whose sums are lifted."""
        if self._checks_rows and not np.isfinite(rows).all():
            raise ValueError(
                f"X contains NaN or infinite values between rows {first} and {first + len(rows)}; "
                "leave those rows out, or fill in the values."
            )
        squared = self.frame.features.squared_lengths(rows)
        with np.errstate(all="ignore"):
            raw = self.frame.features.raw(rows, squared) - self.frame.centre
            norms = self.frame.squared_norms(raw, squared)
        return FeatureSpace(self.frame, raw, norms, sample_weight, self.lift, self.raw, first)

    @property
    def width(self) -> int:
        return len(self.frame.centre)

    def squared_norms(self, block: slice) -> Array:
        return self.opened(block).squared_norms(slice(None))

    def products(self, centroids: Centroids, block: slice) -> Array:
        return self.opened(block).products(centroids, slice(None))

    def accumulate(self, coefficients: Array, block: slice) -> tuple[Array, ...]:
        return self.opened(block).accumulate(coefficients, slice(None))

    def at(self, indices: IntArray) -> Centroids:
        return self.at_rows(self.rows[indices.ravel()], indices.shape)

    @property
    def resident_bytes(self) -> int:
        return self.sample.resident_bytes


def _survey(space: Space, block: slice) -> Share:
    """Sums of the weights, squared norms, K(x, x), and what is left out of it."""
    assert isinstance(space, FeatureSpace)
    v = space.sample_weight[block].astype(np.float64)
    norms, raw = space.squared_norms(block), space.Z[block]
    left = 0.0
    if space.lift is not None:
        coordinates = raw @ space.lift.astype(space.dtype)
        left = v @ np.maximum(norms - np.vecdot(coordinates, coordinates), 0)
    return Share((), (v.sum(), v @ norms, v @ space.frame.diagonal(raw, norms), left))
