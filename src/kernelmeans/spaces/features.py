"""A space held as an explicit matrix of features."""

import numpy as np
import scipy.sparse

from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.kernels import Kernel
from kernelmeans.spaces.base import Mixture, Move, Space, check_finite
from kernelmeans.spaces.centroids import Centroids
from kernelmeans.spaces.predictor import Predictor


class FeatureSpace(Space):
    """Samples as the rows of a matrix Z, dense (centred in a copy) or CSR (left as it is).

    Parameters
    ----------
    kernel : Kernel
        A kernel that has features.
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
        Training rows.
    sample_weight : ndarray of shape (n_samples,)
        Weights; its dtype is the precision.
    """

    def __init__(self, kernel: Kernel, X: Data, sample_weight: Array) -> None:
        self.kernel = kernel
        self.sample_weight = sample_weight
        Z = kernel.features(X)
        if scipy.sparse.issparse(Z):
            # Centring would fill the matrix.
            self.centre = np.zeros(Z.shape[1], self.dtype)
            self.Z = Z
            self._squared_norms = np.asarray(Z.multiply(Z).sum(axis=1)).ravel().astype(self.dtype)
        else:
            shares = (sample_weight / sample_weight.sum()).astype(self.dtype)
            self.centre = shares @ Z
            self.Z = Z - self.centre
            with np.errstate(all="ignore"):
                self._squared_norms = np.vecdot(self.Z, self.Z)
        check_finite(kernel, self._squared_norms)

    def squared_norms(self, block: slice) -> Array:
        return self._squared_norms[block]

    def products(self, centroids: Centroids, block: slice) -> Array:
        theta = centroids.vectors[0]
        k, restarts, r = theta.shape
        return _times_transpose(theta.reshape(-1, r), self.Z[block]).reshape(k, restarts, -1)

    def accumulate(self, coefficients: Array, block: slice) -> tuple[Array, ...]:
        k, restarts, rows = coefficients.shape
        share = coefficients.reshape(-1, rows) @ self.Z[block]
        return (np.asarray(share).reshape(k, restarts, -1),)

    def empty_sum(self, k: int, restarts: int) -> tuple[Array, ...]:
        return (np.zeros((k, restarts, self.Z.shape[1]), self.dtype),)

    def add(self, total: tuple[Array, ...], share: tuple[Array, ...], block: slice) -> None:
        np.add(total[0], share[0], out=total[0])

    def moves(self, mixture: Mixture, old: Centroids | None) -> list[Move]:
        (increments,) = mixture.increments
        vectors = increments if old is None else old.vectors[0]

        def add(_: slice) -> tuple[Array, Array]:
            mixture.apply(increments, vectors)
            return np.vecdot(vectors, vectors), np.vecdot(vectors, increments)

        return [Move(vectors, [slice(None)], add)]

    def at(self, indices: IntArray) -> Centroids:
        return self._centroids(_dense(self.Z[indices.ravel()]), indices.shape)

    def at_rows(self, rows: Data, shape: tuple[int, int]) -> Centroids:
        return self._centroids(_dense(self.kernel.features(rows)) - self.centre, shape)

    def _centroids(self, features: Array, shape: tuple[int, ...]) -> Centroids:
        vectors = features.reshape(*shape, -1)
        norms = np.vecdot(vectors, vectors)[None]
        return Centroids((vectors,), norms, np.ones((shape[1], 1)))

    def export(
        self, centroids: Centroids, copies: dict[int, Data] | None = None
    ) -> "FeaturePredictor":
        theta = centroids.vectors[0][:, 0]
        return FeaturePredictor(self.kernel, self.centre, theta, self.norms(centroids)[:, 0])

    @property
    def resident_bytes(self) -> int:
        return 0 if scipy.sparse.issparse(self.Z) else int(self.Z.nbytes)

    def vector_bytes(self, k: int) -> int:
        return k * int(self.Z.shape[1]) * self.dtype.itemsize


class FeaturePredictor(Predictor):
    """Centroids as explicit vectors.

    Attributes
    ----------
    centre : ndarray of shape (r,)
        Origin of the features.
    theta : ndarray of shape (k, r)
        Centroids about that origin.
    """

    kernel: Kernel

    def __init__(self, kernel: Kernel, centre: Array, theta: Array, norms: Array) -> None:
        self.kernel = kernel
        self.centre = centre
        self.theta = np.ascontiguousarray(theta)
        self.norms = norms.copy()

    def _compare(self, rows: Data, diagonal: Array) -> tuple[Array, Array]:
        features = self.kernel.features(rows)
        if scipy.sparse.issparse(features):
            squared = np.asarray(features.multiply(features).sum(axis=1)).ravel()
            squared = squared - 2 * (features @ self.centre) + self.centre @ self.centre
            offset = (self.theta @ self.centre)[:, None]
            return _times_transpose(self.theta, features) - offset, squared
        features = features - self.centre
        return _times_transpose(self.theta, features), np.vecdot(features, features)

    @property
    def _row_bytes(self) -> int:
        return int(self.theta.shape[1] * self.theta.itemsize)


def _dense(rows: Data) -> Array:
    return np.asarray(rows.toarray() if scipy.sparse.issparse(rows) else rows)


def _times_transpose(theta: Array, rows: Data) -> Array:
    """Theta @ rows.T for dense or CSR rows, as the transpose of what BLAS does faster."""
    return np.ascontiguousarray((rows @ theta.T).T)
