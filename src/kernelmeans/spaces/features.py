"""Spaces of explicit features."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from kernelmeans._arrays import (
    double,
    like,
    namespace,
    on_host,
    overwrite,
    take_rows,
    to_device_of,
    to_numpy,
)
from kernelmeans._devices import HOST, Device
from kernelmeans._memory import cached_property
from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.engines import Threads, tree_sum
from kernelmeans.kernels.kernel import COARSE, Kernel, check_finite, check_range, check_underflow
from kernelmeans.lowrank import FeatureMap
from kernelmeans.lowrank.sampling import row_width, subsample_size
from kernelmeans.rows import Rows
from kernelmeans.spaces.base import Space
from kernelmeans.spaces.centroids import Centroids, Memory, PartialSum, Sums, Trace
from kernelmeans.spaces.kernel_rows import slices
from kernelmeans.spaces.predictor import Embedding, Predictor
from kernelmeans.spaces.step import Moved, Step

#: Size of a difference from the mean that may be rounding, in roundings of the mean.
ROUNDINGS = 8
#: Most features of rows in single precision that BLAS multiplies faster from the right.
NARROW = 32
#: Clusters, and clusters times features, from which on sums are faster without the coefficients
#: that are zero in hard steps.
MANY_CLUSTERS, MANY_PRODUCTS = 32, 2**11
#: Rows whose features are computed together.
FILL_ROWS = 2048


class Features(ABC):
    """Where the features of the samples come from.

    Attributes
    ----------
    raw : bool
        Whether they are raw, and need whitening; coordinates if not.
    width : int
        Features of a sample.
    """

    raw: bool
    width: int

    @abstractmethod
    def take(self, which: slice | IntArray) -> "HeldFeatures":
        """Those of some samples, about the origin."""


class HeldFeatures(Features):
    """Features that are held.

    Parameters
    ----------
    Z : {ndarray, CSR matrix} of shape (n_samples, width)
        The features; dense ones are about the origin.
    squared_norms : ndarray of shape (n_samples,)
        ||phi_i||^2 about the origin, residual included.
    raw : bool, default=False
        As above.
    residuals : ndarray of shape (n_samples,), default=None
        Residuals that the squared norms do not have, of features that are scaled to norm 1.
    """

    def __init__(
        self, Z: Data, squared_norms: Array, raw: bool = False, residuals: Array | None = None
    ) -> None:
        self.Z, self.squared_norms, self.raw, self.residuals = Z, squared_norms, raw, residuals
        self.width = int(Z.shape[1])

    def take(self, which: slice | IntArray) -> "HeldFeatures":
        if isinstance(which, slice) and which == slice(0, self.Z.shape[0]):
            # The only block of few samples: each step asks for it several times.
            return self
        residuals = None if self.residuals is None else take_rows(self.residuals, which)
        squared_norms = take_rows(self.squared_norms, which)
        return HeldFeatures(take_rows(self.Z, which), squared_norms, self.raw, residuals)


class FullFeatures(Features):
    """Features of norm 1, scaled back to what they are of a kernel with k(x, x) = 1.

    Parameters
    ----------
    source : HeldFeatures
        The features, with their residuals.
    origin : ndarray of shape (width,)
        Their origin.
    """

    raw = False

    def __init__(self, source: HeldFeatures, origin: Array) -> None:
        self.source, self.origin, self.width = source, origin, source.width

    def take(self, which: slice | IntArray) -> HeldFeatures:
        held = self.source.take(which)
        xp, residuals = namespace(held.Z), held.residuals
        assert residuals is not None
        Z = xp.sqrt(1 - residuals)[:, None] * (held.Z + self.origin) - self.origin
        return HeldFeatures(Z, xp.vecdot(Z, Z) + residuals)


@dataclass(eq=False, repr=False)
class FeatureSpace(Space):
    """Samples as vectors of numbers: features that are held, or computed whenever they are needed.

    Parameters
    ----------
    features : FeatureMap
        From rows to features about the origin.
    source : Features
        The features.
    sample_weight : ndarray of shape (n_samples,)
        Weights; its dtype is the precision.
    engine : Threads
        Where blocks are worked on.
    _subsample : Space, default=None
        A subsample, where the features of the samples are not held.
    """

    features: FeatureMap
    source: Features
    sample_weight: Array
    engine: Threads
    _subsample: Space | None = None

    def __post_init__(self) -> None:
        self.device_weight = like(self.sample_weight, self.features.origin)

    @classmethod
    def hold(
        cls,
        features: FeatureMap,
        X: Data,
        sample_weight: Array,
        engine: Threads,
        device: Device = HOST,
    ) -> "FeatureSpace":
        """The space of training rows, with their weighted mean as its origin.

        Parameters
        ----------
        features : FeatureMap
            From rows to features.
        X : {ndarray, CSR matrix} of shape (n_samples, n_features)
            Training rows.
        sample_weight : ndarray of shape (n_samples,)
            Weights; its dtype is the precision.
        engine : Threads
            Where features are computed, and blocks worked on.
        device : Device, default=HOST
            Where features are held; rows go there as they are read.

        Returns
        -------
        FeatureSpace
            The space; it holds coordinates.

        Raises
        ------
        ValueError
            If features are not finite.
        """
        dtype = sample_weight.dtype
        on_device = features.moved(device.put)
        first = on_device.raw(*map(device.put, features.read(X, slice(0, 1))))
        if scipy.sparse.issparse(first):
            return cls._of_sparse(features, X, sample_weight, engine)

        weight, v64 = device.put(sample_weight), sample_weight.astype(np.float64)
        xp, n, v = namespace(weight), X.shape[0], device.put(v64)
        width = on_device.coordinates(first).shape[1]
        Z = xp.empty((n, width), dtype=weight.dtype, device=weight.device)
        norms = xp.zeros_like(weight)

        def fill(block: slice) -> PartialSum:
            rows, diagonal = map(device.put, features.read(X, block))
            # Values that are not finite are refused below.
            with np.errstate(all="ignore"):
                raw = on_device.raw(rows, diagonal)
                Z[block, ...] = on_device.coordinates(raw)
                norms[block] = features.kernel.squared_norms(diagonal)
                return PartialSum((), (v[block] @ double(raw), v[block] @ double(Z[block, ...])))

        filled = engine.map(fill, row_blocks(X, FILL_ROWS))
        sums = tree_sum((own for _, own in filled), PartialSum.plus).sums
        raw_mean, mean = (to_numpy(own) / v64.sum() for own in sums)
        check_finite(features.kernel, mean)
        centered = features.about(raw_mean, dtype).moved(device.put)
        space = cls(centered, HeldFeatures(Z, norms), sample_weight, engine)
        shift = like(mean, weight)

        def center(block: slice) -> float:
            rows = Z[block, ...]
            residual = features.residual(rows, norms[block])
            none = xp.zeros_like(residual)
            if features.residual_is_positive:
                # Below zero it is rounding.
                residual = xp.maximum(residual, none)
            rows -= shift
            with np.errstate(all="ignore"):
                norms[block] = xp.maximum(xp.vecdot(rows, rows) + residual, none)
            return float(xp.sum(v[block] * residual))

        residual = sum(own for _, own in engine.map(center, row_blocks(Z, FILL_ROWS)))
        squares = to_numpy(norms)
        check_finite(features.kernel, squares)
        check_range(features.kernel, squares, sample_weight)
        # Of equal rows all differences from the mean are rounding.
        rounding = ROUNDINGS * float(np.finfo(dtype).eps * np.abs(mean).max(initial=0))

        def vanish() -> bool:
            largest = float(xp.max(xp.abs(Z)))
            # Where it does not, negative residuals have made the squared norms small.
            return rounding < largest < math.sqrt(float(np.finfo(dtype).tiny) / COARSE)

        check_underflow(features.kernel, squares, vanish)
        if features.residual_is_positive:
            space.trace = Trace(float(v64 @ squares + v64.sum() * (mean @ mean)), residual)
        return space

    @classmethod
    def _of_sparse(
        cls, features: FeatureMap, X: Data, sample_weight: Array, engine: Threads
    ) -> "FeatureSpace":
        # Centring would fill the matrix.
        Z = features.raw(*features.read(X, slice(0, X.shape[0])))
        norms = np.asarray(Z.multiply(Z).sum(axis=1)).ravel().astype(sample_weight.dtype)
        check_finite(features.kernel, norms)
        check_range(features.kernel, norms, sample_weight)
        check_underflow(features.kernel, norms, lambda: bool(Z.data.any()))
        features = features.about(np.zeros(Z.shape[1]), sample_weight.dtype)
        space = cls(features, HeldFeatures(Z, norms), sample_weight, engine)
        # In float32 the sum may overflow, though no distance does.
        space.trace = Trace(float(sample_weight.astype(np.float64) @ norms), 0.0)
        return space

    def keep_residuals(self, residuals: Array) -> None:
        """Keep residuals (n_samples,) of features of norm 1: for bounds alone, not for distances.

        With features scaled by sqrt(1 - residual), the rest of the kernel has to be positive
        semi-definite.
        """
        assert isinstance(self.source, HeldFeatures)
        self.source.residuals = like(residuals, self.device_weight)
        v = self.sample_weight.astype(np.float64)
        self.trace = Trace(float(v.sum()), float(v @ residuals))

    @cached_property
    def _full(self) -> Space | None:
        source = self.source
        if not isinstance(source, HeldFeatures) or source.residuals is None:
            return None
        scaled = FullFeatures(source, self.features.origin)
        return FeatureSpace(self.features, scaled, self.sample_weight, self.engine)

    @property
    def uncentered(self) -> float:
        if self.features.whitening is None or self.trace is None or not self.magnitude:
            return 1.0
        # Kernel values against landmarks are rounded before features are centered.
        return self.trace.total / (float(self.sample_weight.sum()) * self.magnitude)

    def squared_norms(self, block: slice) -> Array:
        return self.source.take(block).squared_norms

    def residuals(self, block: slice) -> Array | None:
        if self.features.whitening is None:
            return None
        found = self.source.take(block)
        Z = self.features.coordinates(found.Z) if found.raw else found.Z
        residuals = self.features.residual(Z, found.squared_norms)
        none: Array = namespace(residuals).zeros_like(residuals)
        return overwrite(residuals, namespace(residuals).maximum, residuals, none)

    def products(self, centroids: Centroids, block: slice) -> Array:
        theta = centroids.vectors[0]
        k, restarts, r = theta.shape
        reshape = namespace(theta).reshape
        flat = reshape(theta, (-1, r))
        if self.source.raw:
            flat = self.features.folded(flat)
        products: Array = _times_transpose(flat, self.source.take(block).Z)
        products = reshape(products, (k, restarts, -1))
        return products

    def accumulate(self, coefficients: Array, block: slice, labels: IntArray | None = None) -> Sums:
        k, restarts, rows = coefficients.shape
        xp = namespace(coefficients)
        Z = self.source.take(block).Z
        flat: Any = xp.reshape(coefficients, (-1, rows))
        many = k >= MANY_CLUSTERS and k * Z.shape[1] >= MANY_PRODUCTS
        if labels is not None and many and isinstance(Z, np.ndarray):
            flat = _one_of_each(coefficients, labels)
        return (xp.reshape(xp.asarray(flat @ Z), (k, restarts, -1)),)

    def add(self, total: Sums | None, partial: Sums, block: slice) -> Sums:
        if total is None:
            # Of many blocks: their roundings should not add up.
            return (double(partial[0]),)
        into = total[0]
        into += partial[0]
        return (into,)

    def move(self, step: Step) -> Moved:
        (increments,) = step.increments
        if self.source.raw:
            increments = self.features.coordinates(increments)
        increments = like(increments, self.device_weight)
        vectors = increments
        if step.old is not None:
            vectors = step.mixed(increments, step.old.vectors[0])
        vecdot = namespace(vectors).vecdot
        products = vecdot(vectors, vectors), vecdot(vectors, increments)
        norms, overlaps = (double(to_numpy(own))[None] for own in products)
        return Moved((vectors,), norms, overlaps)

    def at(self, indices: IntArray) -> Centroids:
        found = self.source.take(indices.ravel())
        return self._centroids(_dense(found.Z), found.raw, indices.shape)

    def at_rows(self, rows: Data, shape: tuple[int, int]) -> Centroids:
        rows = to_device_of(rows, self.device_weight)
        raw = self.features.raw(rows, self.features.diagonal(rows))
        return self._centroids(_dense(raw) - self.features.origin, True, shape)

    def _centroids(self, features: Array, raw: bool, shape: tuple[int, ...]) -> Centroids:
        if raw:
            features = like(self.features.coordinates(double(features)), features)
        xp = namespace(features)
        vectors = xp.reshape(features, (*shape, -1))
        norms = to_numpy(xp.vecdot(vectors, vectors))[None]
        return Centroids((vectors,), norms, np.ones((shape[1], 1)))

    @property
    def subsample_size(self) -> int:
        if self._subsample is not None:
            return self._subsample.n_samples
        source = self.source
        assert isinstance(source, HeldFeatures)
        return subsample_size(self.n_samples, row_width(source.Z) * self.dtype.itemsize)

    def restricted(self, indices: IntArray, sample_weight: Array) -> "FeatureSpace":
        source = self.source.take(indices)
        return FeatureSpace(self.features, source, sample_weight, self.engine)

    def part(self, chunk: slice) -> "FeatureSpace":
        weight = self.sample_weight[chunk]
        space = FeatureSpace(self.features, self.source.take(chunk), weight, Threads(1))
        space.first = self.first + chunk.start
        # One magnitude for all chunks, so that no distance depends on them.
        space.magnitude = (self._subsample or self).magnitude
        return space

    def export(
        self, centroids: Centroids, copies: dict[int, Data] | None = None
    ) -> "FeaturePredictor":
        theta = centroids.vectors[0][:, 0, :]
        folded = to_numpy(self.features.folded(theta))
        features = self.features.without_whitening().moved(to_numpy)
        return FeaturePredictor(features, folded, self.norms(centroids)[:, 0])

    def __sizeof__(self) -> int:
        # Dask asks for it before it moves features to an idle worker.
        source = self.source
        if not isinstance(source, HeldFeatures):
            return int(self.sample_weight.nbytes)
        held = source.Z.data if scipy.sparse.issparse(source.Z) else source.Z
        return int(held.nbytes + source.squared_norms.nbytes + self.sample_weight.nbytes)

    def memory(self, k: int) -> Memory:
        whitening, source, itemsize = self.features.whitening, self.source, self.dtype.itemsize
        width = source.width if whitening is None else max(whitening.shape)
        resident = 0 if self._subsample is None else self._subsample.memory(k).resident
        if isinstance(source, HeldFeatures) and not scipy.sparse.issparse(source.Z):
            resident = math.prod(source.Z.shape) * itemsize
        # Old and new centroids, copies of those that finish, and sums of blocks in flight.
        return Memory(resident, 0, 4 * k * width * itemsize)


class FeaturePredictor(Predictor):
    """Centroids as explicit vectors.

    Attributes
    ----------
    features : FeatureMap
        From rows to features about the origin, without the whitening.
    theta : ndarray of shape (k, m)
        Vectors whose products with raw features about the origin are those of the centroids.
    norms : ndarray of shape (k,)
        Squared norms of the centroids.
    """

    kernel: Kernel

    def __init__(self, features: FeatureMap, theta: Array, norms: Array) -> None:
        self.features = features
        self.kernel = features.kernel
        self.theta = np.ascontiguousarray(theta)
        self.norms = norms.copy()

    def embedding(self) -> Embedding:
        return self._embed

    def _embed(self, rows: Data, diagonal: Array) -> tuple[Data, Array]:
        rows, diagonal = self.device.put(rows), self.device.put(diagonal)
        if self.kernel.normalized and not self.kernel.precomputed:
            diagonal = self.kernel.diagonal(rows)
        raw = self.features.raw(rows, diagonal)
        origin = self.features.origin
        if scipy.sparse.issparse(raw):
            squared = np.asarray(raw.multiply(raw).sum(axis=1)).ravel()
            return raw, squared - 2 * (raw @ origin) + origin @ origin
        raw = raw - origin
        return raw, self.features.squared_norms(raw, diagonal)

    def _compare(self, embedded: tuple[Data, Array]) -> tuple[Array, Array]:
        raw, squared_norms = embedded
        products = _times_transpose(self.theta, raw)
        if scipy.sparse.issparse(raw):
            # Sparse features are not about the origin, which would make them dense.
            products = products - np.vecdot(self.theta, self.features.origin)[:, None]
        return products, squared_norms

    def _moved(self, move: Callable[[Any], Any]) -> None:
        self.features, self.theta = self.features.moved(move), move(self.theta)

    @property
    def _row_bytes(self) -> int:
        return int(self.theta.shape[1] * self.norms.itemsize)


def row_blocks(X: Data, most: int) -> list[slice]:
    """Rows in blocks; as they are best read, where they are on disk."""
    if isinstance(X, Rows):
        return X.blocks(most)
    return slices(X.shape[0], most)


def _dense(rows: Data) -> Array:
    dense: Array = rows.toarray() if scipy.sparse.issparse(rows) else rows
    return dense


def _one_of_each(coefficients: Array, labels: IntArray) -> Any:
    """Coefficients (k, R, block) as CSC array (k R, block) of those that the labels point at."""
    k, restarts, rows = coefficients.shape
    values = np.take_along_axis(coefficients, labels[None], axis=0)[0]
    places = labels * restarts + np.arange(restarts, dtype=labels.dtype)[:, None]
    edges = np.arange(0, restarts * rows + 1, restarts, dtype=labels.dtype)
    parts = values.T.ravel(), places.T.ravel(), edges
    return scipy.sparse.csc_array(parts, shape=(k * restarts, rows))


def _times_transpose(theta: Array, rows: Data) -> Array:
    """Theta @ rows.T for dense or CSR rows, the way round that is faster."""
    if isinstance(rows, np.ndarray) and (theta.dtype == np.float64 or rows.shape[1] <= NARROW):
        return np.asarray(theta @ rows.T)
    products = (rows @ theta.T).T
    return np.ascontiguousarray(products) if on_host(products) else products
