"""Feature maps: rows of input data as vectors whose inner products are a kernel, or near it."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import scipy.linalg

from kernelmeans._arrays import like, namespace, on_host, take
from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.kernels import Kernel, check_finite, lengths_of
from kernelmeans.lowrank.fourier import fourier_features

#: Eigenvalues of the landmarks' kernel matrix below this many roundings of the largest are left
#: out: their directions would be made of rounding.
ROUNDINGS = 10


class FeatureMap(ABC):
    """Raw features of rows, the same for training rows and new ones.

    Attributes
    ----------
    kernel : Kernel
        The kernel that their inner products stand for, once a lift has been applied.
    certified : bool
        Whether inner products differ from the kernel by a positive semi-definite one, so that
        what is left out of the trace bounds what is left out of any cost.
    """

    kernel: Kernel
    certified: bool = True
    _arrays: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def raw(self, X: Data, squared_lengths: Array) -> Data:
        """Raw features (n, m) of rows, given their K(x, x) before any normalisation."""

    def squared_lengths(self, X: Data) -> Array:
        """K(x, x) of rows, where `raw` or the diagonal need it; else zeros without memory."""
        zeros: Array = namespace(X).broadcast_to(like(0, X), (X.shape[0],))
        return zeros

    def diagonal(self, squared_lengths: Array) -> Array:
        """K(x, x) of rows, normalised where the kernel is."""
        if not self.kernel.normalised:
            return squared_lengths
        ones: Array = like(squared_lengths > 0, squared_lengths)
        return ones

    def moved(self, move: Callable[[Any], Any]) -> "FeatureMap":
        """The same with its arrays elsewhere."""
        there = copy.copy(self)
        for name in self._arrays:
            value = getattr(self, name)
            setattr(there, name, None if value is None else move(value))
        return there

    def read(self, X: Data, block: slice) -> tuple[Data, Array]:
        """Rows of a block of training rows, and their squared lengths."""
        if self.kernel.precomputed:
            return X[block], np.diagonal(X)[block]
        rows = X[block]
        return rows, self.squared_lengths(rows)


class Explicit(FeatureMap):
    """The features of a kernel that is an inner product by itself.

    Parameters
    ----------
    kernel : Kernel
        Linear, cosine or heat.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def raw(self, X: Data, squared_lengths: Array) -> Data:
        return self.kernel.features(X)


class Fourier(FeatureMap):
    """Random Fourier features.

    Parameters
    ----------
    kernel : Kernel
        Gaussian or Laplacian.
    frequencies : ndarray of shape (n_features, m / 2)
        What rows are multiplied by.
    """

    certified = False
    _arrays = ("frequencies",)

    def __init__(self, kernel: Kernel, frequencies: Array) -> None:
        self.kernel = kernel
        self.frequencies = frequencies

    def raw(self, X: Data, squared_lengths: Array) -> Data:
        return fourier_features(X, self.frequencies)


class Nystroem(FeatureMap):
    """Kernel values against landmarks; `lift` makes coordinates of them.

    Parameters
    ----------
    kernel : Kernel
        Any kernel.
    landmarks : {ndarray, CSR matrix} of shape (m, n_features)
        Rows; indices of training rows, shape (m,), where the kernel is precomputed.
    squared_lengths : ndarray of shape (m,)
        Their K(x, x) before any normalisation.

    Attributes
    ----------
    certified : bool
        Whether the kernel is taken to be positive semi-definite.
    """

    _arrays = ("landmarks", "_lengths")

    def __init__(self, kernel: Kernel, landmarks: Data, squared_lengths: Array) -> None:
        self.kernel = kernel
        self.landmarks = landmarks
        self._lengths = lengths_of(squared_lengths, kernel.name) if kernel.normalised else None

    def raw(self, X: Data, squared_lengths: Array) -> Array:
        values: Array
        if self.kernel.precomputed:
            values = X[:, self.landmarks] if on_host(X) else take(X, self.landmarks, axis=1)
        else:
            values = self.kernel.values(X, self.landmarks)
        if self._lengths is not None:
            values /= lengths_of(squared_lengths, self.kernel.name)[:, None]
            values /= self._lengths
        return values

    def squared_lengths(self, X: Data) -> Array:
        return self.kernel.squared_lengths(X)


def lift_of(gram: Array, dtype: Any) -> Array:
    """What raw features of a `Nystroem` map are multiplied by to become coordinates.

    Parameters
    ----------
    gram : ndarray of shape (m, m)
        Kernel matrix of the landmarks.
    dtype : dtype
        Precision that the raw features will have.

    Returns
    -------
    ndarray of shape (m, r)
        float64; lift @ lift.T is the pseudo-inverse of the matrix. At least one column.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.lowrank.maps import lift_of
    >>> gram = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> lift = lift_of(gram, np.dtype("float64"))
    >>> np.allclose(lift @ lift.T, np.linalg.inv(gram))
    True
    """
    values, vectors = scipy.linalg.eigh(gram.astype(np.float64))
    rounding = max(np.finfo(dtype).eps, len(gram) * np.finfo(np.float64).eps)
    kept = values > ROUNDINGS * rounding * values[-1]
    if not kept.any():
        return np.zeros((len(gram), 1))
    # As it arrives on workers: the order of an array decides how products with it are rounded.
    return np.ascontiguousarray(vectors[:, kept] / np.sqrt(values[kept]))


def is_definite(gram: Array) -> bool:
    """Whether a kernel matrix is positive semi-definite, up to rounding in its precision."""
    values = scipy.linalg.eigvalsh(gram.astype(np.float64))
    tolerance = np.sqrt(np.finfo(gram.dtype).eps) * max(values[-1], -values[0])
    return bool(values[0] >= -tolerance)


def nystroem(kernel: Kernel, X: Data, landmarks: Data | IntArray) -> tuple[Nystroem, Array]:
    """The map of landmarks, and its lift.

    Parameters
    ----------
    kernel : Kernel
        Any kernel.
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
        Training rows; the kernel matrix where it is precomputed.
    landmarks : {ndarray, CSR matrix} of shape (m, n_features) or ndarray of int of shape (m,)
        Rows, or indices of training rows.

    Returns
    -------
    features : Nystroem
        The map.
    lift : ndarray of shape (m, r)
        Its lift.
    """
    if kernel.precomputed:
        rows = X[landmarks]
        squared = np.diagonal(rows[:, landmarks]).copy()
        features = Nystroem(kernel, landmarks, squared)
        return features, lift_of(features.raw(rows, squared), rows.dtype)
    rows = X[landmarks] if np.ndim(landmarks) == 1 else landmarks
    # In float64 whatever the data: its inverse is what matters.
    accurate = rows.astype(np.float64)
    squared = kernel.squared_lengths(accurate)
    gram = Nystroem(kernel, accurate, squared).raw(accurate, squared)
    check_finite(kernel, gram)
    return Nystroem(kernel, rows, squared.astype(rows.dtype)), lift_of(gram, rows.dtype)
