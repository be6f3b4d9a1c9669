"""Feature maps: from rows to vectors whose inner products are a kernel, or approximate it."""

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.linalg

from kernelmeans._arrays import double, like, namespace, on_host, overwrite, take, write
from kernelmeans._dialect import option
from kernelmeans._typing import Array, Data, DType, IntArray
from kernelmeans.kernels.kernel import Kernel, check_finite, floating

#: Eigenvalues of the landmarks' kernel matrix are dropped below this many roundings of the largest:
#: their eigenvectors are mostly rounding.
ROUNDINGS = 10


class FeatureMap(ABC):
    """From rows to features about an origin, for training rows and new ones alike.

    The raw features of a row are m numbers: its coordinates, or kernel values against landmarks,
    which the whitening turns into coordinates. The residual of a row is K(x, x) minus the squared
    norm of its coordinates. It has no direction, but adds to all distances of the row.

    Attributes
    ----------
    kernel : Kernel
        The kernel that inner products of coordinates approximate.
    whitening : ndarray of shape (m, r) or None
        From raw features to coordinates; None where they are the same.
    residual_is_positive : bool
        Whether the kernel minus the inner products is positive semi-definite. The residual then
        bounds the error of any cost.
    origin : ndarray of shape (m,)
        Raw features of the origin, in the precision of the samples; set by `about`.
    """

    kernel: Kernel
    residual_is_positive: bool = True
    whitening: Array | None = None
    origin: Array
    # The origin, whitened twice: its products with raw features are those of the coordinates.
    _offset: Array | None = None
    _square: float = 0.0

    @abstractmethod
    def raw(self, X: Data, diagonal: Array) -> Data:
        """Raw features (n, m) of rows, given their K(x, x) before any normalization."""

    def diagonal(self, X: Data) -> Array:
        """K(x, x) of rows before any normalization; zeros without memory if the map needs none."""
        zeros: Array = namespace(X).broadcast_to(like(0, X), (X.shape[0],))
        return zeros

    def read(self, X: Data, block: slice) -> tuple[Data, Array]:
        """Rows of a block of training rows, and their diagonal."""
        rows = X[block]
        return rows, np.diagonal(X)[block] if self.kernel.precomputed else self.diagonal(rows)

    def coordinates(self, raw: Data) -> Data:
        """Coordinates (n, r) of raw features (n, m), about the same origin."""
        return raw if self.whitening is None else raw @ like(self.whitening, raw)

    def folded(self, vectors: Array) -> Array:
        """Vectors (..., m) whose products with raw features are those of ``vectors`` (..., r)."""
        if self.whitening is None:
            return vectors
        return like(double(vectors) @ self.whitening.T, vectors)

    def residual(self, coordinates: Array, squared_norms: Array) -> Array:
        """Residual of rows with these squared norms; rounding may make it negative."""
        xp = namespace(squared_norms)
        if self.whitening is None:
            none: Array = xp.zeros_like(squared_norms)
            return none
        residual: Array = squared_norms - xp.vecdot(coordinates, coordinates)
        return residual

    def about(self, origin: Array, dtype: DType) -> "FeatureMap":
        """The same map about the origin of these raw features (m,)."""
        centered = copy.copy(self)
        centered.origin = origin.astype(dtype)
        if self.whitening is not None:
            coordinates = origin.astype(np.float64) @ self.whitening
            centered._offset = (self.whitening @ coordinates).astype(dtype)
            centered._square = float(coordinates @ coordinates)
        return centered

    def squared_norms(self, raw: Array, diagonal: Array) -> Array:
        """||phi(x)||^2 about the origin, with the residual, from raw features about it."""
        xp = namespace(raw)
        norms: Array
        if self._offset is None:
            norms = xp.vecdot(raw, raw)
            return norms
        norms = self.kernel.squared_norms(diagonal) - 2 * (raw @ self._offset) - self._square
        return overwrite(norms, xp.maximum, norms, like(0, norms))

    def uncentered_norms(self, raw: Array, squared_norms: Array) -> Array:
        """Squared norms about zero, from raw features and squared norms about the origin."""
        norms: Array
        if self._offset is None:
            norms = squared_norms + 2 * (raw @ self.origin) + self.origin @ self.origin
        else:
            norms = squared_norms + 2 * (raw @ self._offset) + self._square
        return norms

    def without_whitening(self) -> "FeatureMap":
        """The same map for centroids that are whitened already, as those of a model are."""
        raw = copy.copy(self)
        raw.whitening = None
        return raw

    def moved(self, move: Callable[[Any], Any]) -> "FeatureMap":
        """The same map with its arrays moved to a device, or back."""
        moved = copy.copy(self)
        for name, value in vars(self).items():
            if hasattr(value, "dtype"):
                setattr(moved, name, move(value))
        return moved


class Explicit(FeatureMap):
    """The features of a kernel that is an inner product by itself.

    Parameters
    ----------
    kernel : Kernel
        A linear, cosine or heat kernel.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def raw(self, X: Data, diagonal: Array) -> Data:
        return self.kernel.features(X)


class Fourier(FeatureMap):
    """Random Fourier features: cosines and sines of the rows at random frequencies.

    Parameters
    ----------
    kernel : Kernel
        A Gaussian or Laplacian kernel.
    frequencies : ndarray of shape (n_features, m / 2)
        The frequencies; rows are multiplied by them.

    References
    ----------
    Rahimi and Recht (2007), Random features for large-scale kernel machines.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.kernels import Kernel
    >>> from kernelmeans.lowrank import Fourier
    >>> X = np.array([[0.0], [1.0]])
    >>> features = Fourier.draw(Kernel("rbf", {"gamma": 0.5}), 1, 4000, 0, X.dtype)
    >>> Z = features.raw(X, features.diagonal(X))
    >>> (Z @ Z.T).round(1)
    array([[1. , 0.6],
           [0.6, 1. ]])
    """

    residual_is_positive = False

    def __init__(self, kernel: Kernel, frequencies: Array) -> None:
        self.kernel = kernel
        self.frequencies = frequencies

    @classmethod
    def draw(
        cls, kernel: Kernel, n_features: int, count: int, seed: int, dtype: DType
    ) -> "Fourier":
        """Draw frequencies from the spectral measure of a shift-invariant kernel.

        Parameters
        ----------
        kernel : Kernel
            ``rbf`` or ``laplacian``.
        n_features : int
            Columns of the data.
        count : int
            Number of features. They come in pairs, so an odd number is rounded up.
        seed : int
            Seed of all randomness.
        dtype : dtype
            Precision of the frequencies.

        Raises
        ------
        ValueError
            If the kernel is another one.
        """
        rng, shape = np.random.default_rng(seed), (n_features, (count + 1) // 2)
        if kernel.given_name == "rbf":
            drawn = np.sqrt(2 * kernel.parameters["gamma"]) * rng.standard_normal(shape)
        elif kernel.given_name == "laplacian":
            drawn = kernel.parameters["gamma"] * rng.standard_cauchy(shape)
        else:
            raise ValueError(
                f"{option('approximation', 'rff')} is only for {option('kernel', 'rbf')} and "
                f"{option('kernel', 'laplacian')}, got {option('kernel', kernel.name)}; use one "
                f"of these, or {option('approximation', 'landmarks')}."
            )
        return cls(kernel, np.asarray(drawn, dtype=dtype))

    def raw(self, X: Data, diagonal: Array) -> Data:
        half = self.frequencies.shape[1]
        angles = floating(X) @ self.frequencies
        xp = namespace(angles)
        Z: Array = xp.empty((angles.shape[0], 2 * half), dtype=angles.dtype, device=angles.device)
        write(Z[:, :half], xp.cos, angles)
        write(Z[:, half:], xp.sin, angles)
        # NumPy divides by its own scalars in float64, and by Python's in the precision of Z.
        Z /= np.sqrt(half) if on_host(Z) else math.sqrt(half)
        return Z


class Nystroem(FeatureMap):
    """Kernel values against landmarks.

    Parameters
    ----------
    kernel : Kernel
        Any kernel.
    landmarks : {ndarray, CSR matrix} of shape (m, n_features)
        Rows; indices of training rows, shape (m,), where the kernel is precomputed.
    diagonal : ndarray of shape (m,)
        Their K(x, x) before any normalization.
    """

    def __init__(self, kernel: Kernel, landmarks: Data, diagonal: Array) -> None:
        self.kernel = kernel
        self.landmarks = landmarks
        self._norms = kernel.norms(diagonal)

    @classmethod
    def whitened(cls, kernel: Kernel, X: Data, landmarks: Data | IntArray) -> "Nystroem":
        """The map with its whitening.

        Parameters
        ----------
        kernel : Kernel
            Any kernel.
        X : {ndarray, CSR matrix} of shape (n_samples, n_features)
            Training rows; the kernel matrix where it is precomputed.
        landmarks : {ndarray, CSR matrix} of shape (m, n_features) or ndarray of int of shape (m,)
            Rows, or indices of training rows.
        """
        if kernel.precomputed:
            rows = X[landmarks]
            diagonal = np.diagonal(rows[:, landmarks]).copy()
            features = cls(kernel, landmarks, diagonal)
            features.whitening = whitening_of(features.raw(rows, diagonal), rows.dtype)
            return features
        rows = X[landmarks] if np.ndim(landmarks) == 1 else landmarks
        # In float64 whatever the data, because the matrix is inverted.
        accurate = rows.astype(np.float64)
        diagonal = kernel.diagonal(accurate)
        gram = cls(kernel, accurate, diagonal).raw(accurate, diagonal)
        check_finite(kernel, gram)
        features = cls(kernel, rows, diagonal.astype(rows.dtype))
        features.whitening = whitening_of(gram, rows.dtype)
        return features

    def raw(self, X: Data, diagonal: Array) -> Array:
        values: Array
        if self.kernel.precomputed:
            values = X[:, self.landmarks] if on_host(X) else take(X, self.landmarks, axis=1)
        else:
            values = self.kernel.values(X, self.landmarks)
        return self.kernel.divide_by_norms(values, diagonal, self._norms)

    def diagonal(self, X: Data) -> Array:
        return self.kernel.diagonal(X)


#: Random maps that need no rows: functions of a kernel, the number of columns, the number of
#: features, a seed and a dtype. They refuse kernels that they are not for.
RANDOM_MAPS: Mapping[str, Callable[..., FeatureMap]] = {"rff": Fourier.draw}


def whitening_of(gram: Array, dtype: Any) -> Array:
    """An inverse square root of the landmarks' kernel matrix.

    Parameters
    ----------
    gram : ndarray of shape (m, m)
        Kernel matrix of the landmarks.
    dtype : dtype
        Precision that the raw features will have.

    Returns
    -------
    ndarray of shape (m, r)
        float64; W @ W.T is the pseudo-inverse of the matrix. At least one column.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.lowrank.maps import whitening_of
    >>> gram = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> W = whitening_of(gram, np.dtype("float64"))
    >>> np.allclose(W @ W.T, np.linalg.inv(gram))
    True
    """
    values, vectors = scipy.linalg.eigh(gram.astype(np.float64))
    rounding = max(np.finfo(dtype).eps, len(gram) * np.finfo(np.float64).eps)
    kept = values > ROUNDINGS * rounding * values[-1]
    if not kept.any():
        return np.zeros((len(gram), 1))
    # In C order, as workers receive it: the order decides how products are rounded.
    return np.ascontiguousarray(vectors[:, kept] / np.sqrt(values[kept]))


def is_definite(gram: Array) -> bool:
    """Whether a kernel matrix is positive semi-definite, up to rounding in its precision."""
    values = scipy.linalg.eigvalsh(gram.astype(np.float64))
    tolerance = np.sqrt(np.finfo(gram.dtype).eps) * max(values[-1], -values[0])
    return bool(values[0] >= -tolerance)
