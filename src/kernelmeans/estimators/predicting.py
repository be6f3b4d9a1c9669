"""What fitted estimators answer of new rows: predict, transform and score."""

from typing import Any, cast

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted, validate_data

from kernelmeans._devices import HOST, Device, answer, device_of, hosted
from kernelmeans._sklearn import _check_sample_weight
from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.estimators.checks import refused_later
from kernelmeans.estimators.lazy import by_blocks, check_rows, refuse_elsewhere
from kernelmeans.memory import check_memory
from kernelmeans.rows import Rows, as_rows
from kernelmeans.rows.dask import DaskRows, computed
from kernelmeans.spaces import Comparison, Predictor


class Predicting(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """New rows are checked as in the fit, and compared with its centroids."""

    n_clusters: int
    memory_budget: int | str | None
    device: str | None = None
    _predictor: Predictor

    @property
    def _precomputed(self) -> bool:
        return False

    @property
    def _pairwise(self) -> bool:
        """Whether columns of X are training rows: those of a kernel matrix, say, or a graph."""
        return self._precomputed

    def _squared_lengths(self, X: Data, given: Any = None, device: Device = HOST) -> Array:
        """K(x, x) of rows, before any normalisation, in the form that the predictor takes."""
        raise NotImplementedError

    def _lengths_for_labels(self, X: Data, given: Any = None) -> Array:
        """What `predict` needs of it: nothing, mostly."""
        return np.zeros(X.shape[0], self._predictor.norms.dtype)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_predictor")

    @refused_later
    def predict(self, X: Any) -> IntArray:
        """Nearest centroid, in feature space, of each row.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_rows, n_features)
            Rows; for ``kernel="precomputed"``, ``kernel="graph"`` and ``metric="precomputed"``
            their kernel values with the training rows, edges or distances to them, shape
            (n_rows, n_samples).

        Returns
        -------
        labels : array of shape (n_rows,)
            Index of the cluster of each row; of X's library and on its device.

        Raises
        ------
        NotFittedError
            If the estimator has not been fitted.
        ValueError
            If X has the wrong number of features, it or its kernel NaN or infinite values, or a row
            of a graph no edge.
        """
        check_is_fitted(self)
        given, (X, device) = X, self._received(X, reset=False)
        labels: IntArray
        if isinstance(X, Rows):
            labels = by_blocks(self, type(self).predict, X, np.int32)
            return labels
        labels = self._predictor.on(device).compare(X, self._lengths_for_labels(X)).labels
        return cast(IntArray, answer(labels, given))

    @refused_later
    def transform(self, X: Any, *, diagonal: Any = None) -> Array:
        """Distances, not squared, of each row to the centroids in feature space.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_rows, n_features)
            Rows, as for `predict`.
        diagonal : array-like of shape (n_rows,), default=None
            k(x, x) of each row, which only ``kernel="precomputed"`` cannot know; shape (L, n_rows)
            for ``kernels="precomputed"``. When None it is that of an equal training row, or the
            training diagonal if constant, or its mean with a warning.

        Returns
        -------
        distances : array of shape (n_rows, n_clusters)
            Distances; of X's library and on its device.

        Raises
        ------
        NotFittedError
            If the estimator has not been fitted.
        ValueError
            If X has the wrong number of features, NaN or infinite values, or the diagonal is unfit.
        """
        check_is_fitted(self)
        given, (X, device) = X, self._received(X, reset=False)
        self._check_diagonal(diagonal, X)
        if isinstance(X, Rows):
            dtype, width = self._predictor.norms.dtype, self.n_clusters
            # Not `transform` itself: blocks are plain numbers, whatever set_output asks for.
            found: Array = by_blocks(self, Predicting._checked_distances, X, dtype, width)
            return found
        return cast(Array, answer(self._distances(X, hosted(diagonal), device), given))

    @refused_later
    def score(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, diagonal: Any = None
    ) -> float:
        """Minus the weighted sum of squared distances to the nearest centroid.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_rows, n_features)
            Rows, as for `predict`.
        y : Ignored
            Not used, present for API consistency by convention.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights; all ones when None.
        diagonal : array-like of shape (n_rows,), default=None
            As for `transform`.

        Returns
        -------
        score : float
            Minus the cost; on the training data, with the weights of the fit, ``-inertia_``. It
            compares fits of one kernel. With ``n_neighbors="auto"`` or ``t="auto"`` the heat kernel
            depends on ``n_clusters``, and a search over that cannot go by this score.

        Raises
        ------
        NotFittedError
            If the estimator has not been fitted.
        ValueError
            If X has the wrong number of features, NaN or infinite values, or the diagonal is unfit.
        """
        check_is_fitted(self)
        X, device = self._received(X, reset=False)
        self._check_diagonal(diagonal, X)
        weight = _check_sample_weight(hosted(sample_weight), X, dtype=X.dtype)
        if isinstance(X, Rows):
            dtype = self._predictor.norms.dtype
            nearest = by_blocks(self, Predicting._checked_nearest, X, dtype)
            nearest = computed(nearest) if isinstance(X, DaskRows) else nearest
        else:
            nearest = self._nearest(X, hosted(diagonal), device)
        return -total_cost(nearest, weight)

    def _check_diagonal(self, diagonal: Any, X: Data) -> None:
        """Refuse k(x, x) where it would be passed over."""
        if diagonal is None:
            return
        if not self._precomputed:
            raise ValueError(
                "diagonal: only a precomputed kernel cannot know k(x, x); leave diagonal=None, for "
                f"kernel={self._predictor.kernel.name!r} computes it from the rows."
            )
        if isinstance(X, Rows):
            raise ValueError(
                "diagonal: cannot be had with Dask collections, whose chunks are worked on alone; "
                "pass the kernel values of some rows at a time as a NumPy array."
            )

    def _checked_distances(self, X: Data) -> Array:
        return self._distances(self._validated(X, reset=False))

    def _distances(self, X: Data, diagonal: Any = None, device: Device | None = None) -> Array:
        """Distances to all centroids."""
        compared = self._compared(X, diagonal, device, keep_distances=True)
        return np.sqrt(cast(Array, compared.distances)).T

    def _checked_nearest(self, X: Data) -> Array:
        return self._nearest(self._validated(X, reset=False))

    def _nearest(self, X: Data, diagonal: Any = None, device: Device | None = None) -> Array:
        """Squared distances to the nearest centroids."""
        return self._compared(X, diagonal, device).nearest

    @refused_later
    def _compared(
        self,
        X: Data,
        diagonal: Any = None,
        device: Device | None = None,
        keep_distances: bool = False,
    ) -> Comparison:
        # Blocks of rows on disk are the host's: where to compare them, the parameter says.
        device = device_of(self.device, X) if device is None else device
        squared = self._squared_lengths(X, diagonal, device)
        return self._predictor.on(device).compare(X, squared, keep_distances)

    def _received(self, X: Any, reset: bool) -> tuple[Data, Device]:
        """Rows checked, on the host, and where to compute."""
        device = device_of(self.device, X)
        rows = self._validated(hosted(X), reset)
        refuse_elsewhere(rows, device)
        if reset and not device.is_host and rows.dtype == np.float32:
            device.warn_if_rounding()
        return rows, device

    def _assigned(self, X: Data) -> Array:
        """Labels, and squared distances to the nearest centroids, of checked rows."""
        found = self._compared(X)
        kind = [("label", found.labels.dtype), ("nearest", found.nearest.dtype)]
        assigned = np.empty(len(found.labels), kind)
        assigned["label"], assigned["nearest"] = found.labels, found.nearest
        return assigned

    def _validated(self, X: Any, reset: bool) -> Data:
        rows = as_rows(X)
        if rows is not None and self._pairwise and not isinstance(rows, DaskRows):
            # A kernel matrix or a graph is needed as a whole.
            what = f"{rows.source}: a precomputed kernel, which is loaded as a whole,"
            budget = HOST.budget(self.memory_budget).n_bytes
            check_memory(rows.nbytes, budget, what, "Give fewer rows")
            X, rows = rows[:], None
        if rows is not None:
            return check_rows(self, rows, reset)
        dtype = [np.float64, np.float32] if reset else self._predictor.norms.dtype
        sparse: Any = False if self._precomputed else "csr"
        return validate_data(self, X, accept_sparse=sparse, dtype=dtype, order="C", reset=reset)

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._pairwise
        tags.input_tags.sparse = not self._precomputed
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def total_cost(nearest: Array, weight: Array) -> float:
    """Weighted sum of squared distances, in float64."""
    return float(nearest.astype(np.float64) @ weight.astype(np.float64))
