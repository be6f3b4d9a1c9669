"""A space of features that are made anew, part by part, whenever they are needed."""

from collections.abc import Sequence

import numpy as np
import scipy.sparse

from kernelmeans._arrays import beside, double, namespace, picked, reduce
from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.engines import Threads
from kernelmeans.engines.cluster import Cluster, packed, unpacked, upright
from kernelmeans.kernels import check_finite, check_range
from kernelmeans.lowrank import FeatureMap
from kernelmeans.rows.dask import DaskRows
from kernelmeans.spaces.base import Space
from kernelmeans.spaces.centroids import Centroids
from kernelmeans.spaces.features import FeatureSpace
from kernelmeans.spaces.remote import Remote, equal_or_all
from kernelmeans.spaces.sums import PartialSum, Trace


class PartedSpace(FeatureSpace):
    """Samples whose rows are read, and their features made, one part at a time.

    Nothing is held but the rows, wherever they are, and the weights. What parts say is added up in
    a tree, so that it does not matter where they are worked on.

    Parameters
    ----------
    sample : FeatureSpace
        A draw of the samples; its features are those of this space.
    rows : Data
        What slices and indices select rows from: an array, or rows on disk.
    parts : sequence of slice
        Rows that are read together.
    sample_weight : ndarray of shape (n_samples,)
        Weights; its dtype is the precision.
    parts_in_flight : int, default=None
        Parts open at a time.
    """

    @classmethod
    def on_cluster(
        cls,
        sample: FeatureSpace,
        rows: DaskRows,
        sample_weight: Array,
        cluster: Cluster,
        held: bool,
    ) -> "PartedSpace":
        """The space of a Dask collection, each chunk of which is a part, and stays on the workers.

        Parameters
        ----------
        sample, rows, sample_weight
            As above.
        cluster : Cluster
            The workers.
        held : bool
            Whether workers keep features from one step to the next, or make them anew.

        Returns
        -------
        PartedSpace
            It answers as one in this process does, bit for bit.
        """
        from dask.delayed import delayed

        space = cls(sample, rows, rows.blocks(), sample_weight)
        # On its way once, however often features are made anew.
        reference = cluster.task(bytes, packed(sample.features, sample.magnitude))
        tasks = [
            delayed(_features_of_chunk)(reference, c, equal_or_all(sample_weight[part]), part.start)
            for c, part in zip(rows.delayed_blocks(), rows.blocks(), strict=True)
        ]
        space.remote = Remote(cluster, rows.blocks(), cluster.started(tasks) if held else tasks)
        return space

    _draw: FeatureSpace

    def __init__(
        self,
        sample: FeatureSpace,
        rows: Data,
        parts: Sequence[slice],
        sample_weight: Array,
        parts_in_flight: int | None = None,
    ) -> None:
        self._draw = sample
        self.features, self.raw = sample.features, sample.features.whitening is not None
        self.rows = rows
        self.parts = list(parts)
        self.parts_in_flight = parts_in_flight
        self.sample_weight = sample_weight
        self.engine = sample.engine
        self._checks_rows = False

    def survey(self) -> None:
        """Look at all rows once: whether they are finite, how large, and what is left out of them.

        Raises
        ------
        ValueError
            If they are not finite.
        """
        self._checks_rows = True
        weight, norms, total, left_out = self.reduce(_survey, (1, 1)).sums
        self._checks_rows = False
        check_finite(self.features.kernel, norms)
        self.magnitude = float(norms / weight)
        check_range(self.features.kernel, np.array([self.magnitude]), self.sample_weight)
        if self.features.residual_is_positive:
            self.trace = Trace(float(total), float(left_out))

    def opened(self, part: slice) -> FeatureSpace:
        rows, weight = self.rows[part], self.sample_weight[part]
        first, check, magnitude = part.start or 0, self._checks_rows, self.sample.magnitude
        return features_of(self.features, rows, weight, first, check, magnitude)

    def restricted(self, indices: IntArray, sample_weight: Array) -> FeatureSpace:
        space = features_of(self.features, self.rows[indices], sample_weight)
        space.engine = self.engine
        return space

    @property
    def sample_rows(self) -> int:
        # As many as the memory budget was found to hold.
        return self._draw.n_samples

    @property
    def width(self) -> int:
        return int(self.features.origin.shape[0])

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
        return self._draw.resident_bytes

    def __sizeof__(self) -> int:
        return int(self.resident_bytes + self.sample_weight.nbytes)


def features_of(
    features: FeatureMap,
    rows: Data,
    sample_weight: Array,
    first: int = 0,
    check: bool = False,
    magnitude: float | None = None,
) -> FeatureSpace:
    """The space of rows that have been read: with raw features, whose sums are whitened.

    Parameters
    ----------
    features : FeatureMap
        From rows to features about the origin.
    rows : Data of shape (n_rows, n_features)
        Rows.
    sample_weight : ndarray of shape (n_rows,)
        Weights.
    first : int, default=0
        Place of the first row among all.
    check : bool, default=False
        Whether to look for values that are not finite.
    magnitude : float, default=None
        That of all samples, so that no distance depends on the part; of these rows when None.

    Raises
    ------
    ValueError
        If there are any.
    """
    if check and not np.isfinite(rows.data if scipy.sparse.issparse(rows) else rows).all():
        raise ValueError(
            f"X contains NaN or infinite values between rows {first} and {first + rows.shape[0]}; "
            "leave those rows out, or fill in the values."
        )
    rows = beside(rows, features.origin)
    squared = features.squared_lengths(rows)
    needs_whitening = features.whitening is not None
    with np.errstate(all="ignore"):
        raw = features.raw(rows, squared)
        if needs_whitening:
            raw -= features.origin
        else:
            # They may be the rows themselves, which are the user's.
            raw = raw - features.origin
        norms = features.squared_norms(raw, squared)
    space = FeatureSpace(features, raw, norms, sample_weight, needs_whitening, first)
    if magnitude is not None:
        space.magnitude = magnitude
    return space


def _features_of_chunk(
    reference: bytes, rows: Array, sample_weight: Array, first: int
) -> FeatureSpace:
    weight = np.ascontiguousarray(np.broadcast_to(sample_weight, rows.shape[:1]))
    features, magnitude = unpacked(reference)
    with Threads(1):
        return features_of(features, upright(rows), weight, first, True, magnitude)


def _survey(space: Space, block: slice) -> PartialSum:
    """Sums of the weights, squared norms, K(x, x) and residuals."""
    assert isinstance(space, FeatureSpace)
    v = double(space.device_weight[block])
    xp = namespace(v)
    norms, raw = space.squared_norms(block), picked(space.Z, block)
    # What is not finite is refused afterwards, with a message of its own.
    with np.errstate(all="ignore"):
        residual = space.features.residual(space.features.coordinates(raw), norms)
        residual = xp.maximum(residual, xp.zeros_like(norms))
        values = norms, space.features.uncentered_norms(raw, norms), residual
        return PartialSum((), (reduce("sum", v), *(v @ double(own) for own in values)))
