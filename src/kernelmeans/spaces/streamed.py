"""Features that are computed whenever they are needed, of rows that are read then."""

from collections.abc import Sequence

import numpy as np
import scipy.sparse

from kernelmeans._arrays import double, namespace, reduce, to_device_of
from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.engines import Threads
from kernelmeans.engines.cluster import Cluster, aligned, packed, unpacked
from kernelmeans.kernels.kernel import check_finite, check_range
from kernelmeans.lowrank import FeatureMap
from kernelmeans.rows.dask import DaskRows
from kernelmeans.spaces.base import Space
from kernelmeans.spaces.centroids import PartialSum, Trace
from kernelmeans.spaces.chunks import ClusterChunks, LocalChunks
from kernelmeans.spaces.features import Features, FeatureSpace, HeldFeatures


class StreamedFeatures(Features):
    """Raw features of rows, wherever these are.

    Parameters
    ----------
    features : FeatureMap
        From rows to features.
    rows : Data
        An array, or rows on disk.
    """

    def __init__(self, features: FeatureMap, rows: Data) -> None:
        self.features, self.rows = features, rows
        self.raw = features.whitening is not None
        self.width = int(features.origin.shape[0])
        self.checks_rows = False

    def take(self, which: slice | IntArray) -> HeldFeatures:
        rows = self.rows[which]
        if self.checks_rows and isinstance(which, slice):
            check_rows(rows, which.start)
        return features_of(self.features, rows)


def stream(
    subsample: FeatureSpace,
    rows: Data,
    slices: Sequence[slice],
    sample_weight: Array,
    in_flight: int | None = None,
) -> FeatureSpace:
    """The space of rows of which nothing is held but the weights.

    Parameters
    ----------
    subsample : FeatureSpace
        A subsample; its feature map is that of the space.
    rows : Data
        An array, or rows on disk.
    slices : sequence of slice
        Rows that are read together.
    sample_weight : ndarray of shape (n_samples,)
        Weights; its dtype is the precision.
    in_flight : int, default=None
        How many of those may be open at once.

    Raises
    ------
    ValueError
        If rows or features are not finite.
    """
    source = StreamedFeatures(subsample.features, rows)
    space = FeatureSpace(subsample.features, source, sample_weight, subsample.engine, subsample)
    space.chunks = LocalChunks(slices, in_flight)
    source.checks_rows = True
    _survey(space)
    source.checks_rows = False
    return space


def stream_on_cluster(
    subsample: FeatureSpace, rows: DaskRows, sample_weight: Array, cluster: Cluster, held: bool
) -> FeatureSpace:
    """The space of a Dask collection, whose chunks stay on the workers.

    Parameters
    ----------
    subsample, rows, sample_weight
        As above.
    cluster : Cluster
        The workers.
    held : bool
        Whether workers keep features from one step to the next, or compute them again.

    Returns
    -------
    FeatureSpace
        It answers as one in this process does, bit for bit.
    """
    from dask.delayed import delayed

    slices = rows.blocks()
    source = StreamedFeatures(subsample.features, rows)
    space = FeatureSpace(subsample.features, source, sample_weight, subsample.engine, subsample)
    # A task of its own, so that it travels once, however often features are computed.
    reference = cluster.task(bytes, packed(subsample.features, subsample.magnitude))
    tasks = [
        delayed(_space_of_chunk)(reference, own, _equal_or_all(sample_weight[chunk]), chunk.start)
        for own, chunk in zip(rows.delayed_blocks(), slices, strict=True)
    ]
    space.chunks = ClusterChunks(slices, cluster, cluster.started(tasks) if held else tasks)
    _survey(space)
    return space


def features_of(features: FeatureMap, rows: Data) -> HeldFeatures:
    """Raw features of rows that have been read, about the origin."""
    rows = to_device_of(rows, features.origin)
    diagonal = features.diagonal(rows)
    raw_differs = features.whitening is not None
    with np.errstate(all="ignore"):
        raw = features.raw(rows, diagonal)
        if raw_differs:
            raw -= features.origin
        else:
            # Raw features may be the user's rows themselves.
            raw = raw - features.origin
        return HeldFeatures(raw, features.squared_norms(raw, diagonal), raw_differs)


def check_rows(rows: Data, first: int) -> None:
    """Refuse rows that are not finite; the first of them has this place among all.

    Raises
    ------
    ValueError
        If there are any.
    """
    if not np.isfinite(rows.data if scipy.sparse.issparse(rows) else rows).all():
        raise ValueError(
            f"X contains NaN or infinite values between rows {first} and {first + rows.shape[0]}; "
            "leave those rows out, or fill in the values."
        )


def _space_of_chunk(
    reference: bytes, rows: Array, sample_weight: Array, first: int
) -> FeatureSpace:
    weight = np.ascontiguousarray(np.broadcast_to(sample_weight, rows.shape[:1]))
    features, magnitude = unpacked(reference)
    check_rows(rows, first)
    with Threads(1):
        source = features_of(features, aligned(rows))
        space = FeatureSpace(features, source, weight, Threads(1))
    space.first, space.magnitude = first, magnitude
    return space


def _equal_or_all(sample_weight: Array) -> Array:
    """The weights, or a single one where all are equal: less to send."""
    equal = (sample_weight == sample_weight[0]).all()
    return np.ascontiguousarray(sample_weight[:1] if equal else sample_weight)


def _survey(space: FeatureSpace) -> None:
    """Read all rows once: refuse those that are not finite, and find their size and residuals."""
    weight, norms, total, residual = space.reduce(_survey_block, (1, 1)).sums
    kernel = space.features.kernel
    check_finite(kernel, norms)
    space.magnitude = float(norms / weight)
    check_range(kernel, np.array([space.magnitude]), space.sample_weight)
    if space.features.residual_is_positive:
        space.trace = Trace(float(total), float(residual))


def _survey_block(space: Space, block: slice) -> PartialSum:
    """Sums of the weights, squared norms, K(x, x) and residuals."""
    assert isinstance(space, FeatureSpace)
    v, features = double(space.device_weight[block]), space.features
    found = space.source.take(block)
    raw, norms = found.Z, found.squared_norms
    xp = namespace(v)
    # Values that are not finite are refused afterwards.
    with np.errstate(all="ignore"):
        residual = features.residual(features.coordinates(raw), norms)
        residual = xp.maximum(residual, xp.zeros_like(norms))
        values = norms, features.uncentered_norms(raw, norms), residual
        return PartialSum((), (reduce("sum", v), *(v @ double(own) for own in values)))
