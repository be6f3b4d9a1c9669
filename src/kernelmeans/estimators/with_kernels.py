"""What estimators of several kernels or views share."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import scipy.sparse
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from kernelmeans._devices import HOST, Device, answer, hosted
from kernelmeans._sklearn import StrOptions, _safe_indexing
from kernelmeans._typing import Array, BoolArray, Columns, Data, IntArray
from kernelmeans._warnings import warn_user
from kernelmeans.engines import Threads
from kernelmeans.estimators.checks import check_gram, refused_later
from kernelmeans.estimators.diagonal import TrainingDiagonal
from kernelmeans.estimators.plan import Holder, plan
from kernelmeans.estimators.scaling import value_range, variances
from kernelmeans.estimators.shell import KernelClusterer
from kernelmeans.estimators.views import FAMILIES, find_views, used_columns
from kernelmeans.kernels import CombinedKernel, Kernel
from kernelmeans.rows import Rows, as_rows
from kernelmeans.solver import Result, warn_unless_positive
from kernelmeans.spaces import FeatureSpace, ProductSpace, Space, WeightRule

KERNELS: dict[str, Any] = {
    "kernels": [StrOptions({*FAMILIES, "precomputed"}), list, tuple],
    "kernel_scaling": [StrOptions({"unit-variance", "cosine", "min-max"}), None],
    "cache_kernel": ["boolean"],
}


class WithKernels(KernelClusterer):
    """Estimators of several kernels, each of all columns of X, of some, or precomputed."""

    kernel_: CombinedKernel
    kernels: str | Sequence[Any]
    kernel_scaling: str | None

    def _weight_rule(self, scale: float) -> WeightRule:
        """How kernel weights follow the costs, whose sum for k = 1 and equal weights is `scale`."""
        raise NotImplementedError

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.kernels, str) and self.kernels == "precomputed"

    def _validated(self, X: Any, reset: bool) -> Data:
        """X as rows first: (n_rows, n_columns), or (n_rows, L, n_samples) where precomputed."""
        dtype = [np.float64, np.float32] if reset else self._predictor.norms.dtype
        if self._precomputed:
            return self._validated_stack(X, dtype, reset)
        if as_rows(X) is not None:
            rows = super()._validated(X, reset)
            if reset:
                self._views = find_views(self.kernels, rows)
            return rows
        if not hasattr(X, "columns"):
            X = super()._validated(X, reset)
            if reset:
                self._views = find_views(self.kernels, X)
            return X
        # Columns of a table that no view sees may hold anything; they count as zeros.
        X = validate_data(self, X, skip_check_array=True, reset=reset)
        if reset:
            self._views = find_views(self.kernels, X)
        used = used_columns(self._views, X.shape[1])
        part = _safe_indexing(X, used.tolist(), axis=1)
        try:
            part = check_array(part, accept_sparse="csr", dtype=dtype, order="C", input_name="X")
        except ValueError as error:
            names = np.asarray(X.columns)[used].tolist()
            raise ValueError(
                f"X: the columns that kernels see, {names[:10]}{'...' * (len(names) > 10)}, must "
                f"hold finite numbers ({error}); leave others out of kernels."
            ) from error
        if len(used) == X.shape[1]:
            return part
        if scipy.sparse.issparse(part):
            places = (part.data, used[part.indices], part.indptr)
            return scipy.sparse.csr_array(places, shape=X.shape)
        rows = np.zeros(X.shape, part.dtype)
        rows[:, used] = part
        return rows

    def _validated_stack(self, X: Any, dtype: Any, reset: bool) -> Array:
        X = check_array(X, dtype=dtype, order="C", ensure_2d=False, allow_nd=True, input_name="X")
        if reset:
            if X.ndim != 3 or X.shape[1] != X.shape[2]:
                raise ValueError(
                    "kernels='precomputed': X must hold L square kernel matrices, shape (L, n, n), "
                    f"got shape {X.shape}. One matrix is X[None]; matrices in a list: np.stack."
                )
            self.n_features_in_ = X.shape[2]
            self._n_kernels = X.shape[0]
        expected = (self._n_kernels, X.shape[1] if X.ndim == 3 else "n_rows", self.n_features_in_)
        if X.shape != expected:
            raise ValueError(
                f"kernels='precomputed': X has shape {X.shape}; new rows are given by their kernel "
                f"values against the training rows, shape {expected} for this model."
            )
        return np.asarray(X.transpose(1, 0, 2))

    def _check_pairs(self, X: Array) -> None:
        for index in range(X.shape[1]):
            check_gram(X[:, index], f"kernels='precomputed': X[{index}]")

    def _resolve_kernel(self, X: Data, weight: Array, seed: int) -> CombinedKernel:
        if isinstance(X, Rows) and self.kernel_scaling == "min-max":
            raise ValueError(
                "kernel_scaling='min-max' looks at all kernel values, for which the rows have to "
                "be in memory; use 'unit-variance' or 'cosine', or pass an array."
            )
        kernels: list[Kernel] = []
        columns: list[Columns] = []
        self._kernel_names: list[str] = []
        if self._precomputed:
            columns = list(range(X.shape[1]))
            kernels = [Kernel("precomputed", {}) for _ in columns]
            self._kernel_names = [f"X[{index}]" for index in columns]
        else:
            for view in self._views:
                found = view.kernels(_columns(X, view.columns), weight, seed)
                kernels += found
                columns += [view.columns] * len(found)
                self._kernel_names += [f"{view.name}, {own.name}" for own in found]
        if self.kernel_scaling in ("cosine", "min-max"):
            kernels = [kernel.normalise() for kernel in kernels]
        return CombinedKernel(kernels, columns)

    def _space(self, kernel: CombinedKernel, X: Data, holder: Holder) -> ProductSpace:
        weight, threads = holder.weight, holder.threads
        self.kernels_ = kernel.kernels
        rows = _rows(X, kernel.columns)
        plans = plan(kernel.kernels, rows, self._wish(), holder.budget, holder.device)
        self.approximation_ = [own.method for own in plans]
        self.approximation_reason_ = [own.reason for own in plans]
        spaces = holder.hold(plans, self._kernel_names)
        variance, rounding = variances(spaces)
        variance = np.where(variance > rounding, variance, 0)
        kept = self._informative(variance > 0)
        for index in kept:
            approximate = isinstance(spaces[index], FeatureSpace)
            if not (kernel.kernels[index].surely_positive or approximate):
                name = self._kernel_names[index]
                warn_unless_positive(spaces[index], holder.seed, name)
        self.kernel_factors_ = np.zeros(len(spaces))
        self.kernel_factors_[kept] = self._factors(kernel, rows, weight, variance, kept, threads)
        factors = self.kernel_factors_[kept]
        scale = float(weight.sum(dtype=np.float64) * (factors * variance[kept]).mean())
        members: list[Space] = [spaces[index] for index in kept]
        columns = [kernel.columns[index] for index in kept]
        return ProductSpace(members, columns, self._weight_rule(scale), factors)

    def _factors(
        self,
        kernel: CombinedKernel,
        rows: list[Data],
        weight: Array,
        variance: Array,
        kept: list[int],
        threads: Threads,
    ) -> Array:
        """What puts the kernels that are kept on one scale; 1 for data that do not vary."""
        if self.kernel_scaling == "unit-variance":
            units = variance[kept]
        elif self.kernel_scaling == "min-max":
            units = np.array(
                [value_range(kernel.kernels[i], rows[i], weight, threads) for i in kept]
            )
        else:
            return np.ones(len(kept))
        return np.asarray(1 / np.where(units > 0, units, 1))

    def _informative(self, varies: BoolArray) -> list[int]:
        """Kernels that tell any two samples apart: the others would win, at no cost."""
        constant = np.flatnonzero(~varies)
        if len(constant) == len(varies):
            return list(range(len(varies)))
        if len(constant):
            names = "; ".join(self._kernel_names[index] for index in constant)
            warn_user(
                f"Constant on these data: {names}. Such kernels tell no samples apart and get "
                "weight 0; leave them out, or look at their columns."
            )
        return np.flatnonzero(varies).tolist()

    def _set_fitted(self, *fitted: Any) -> None:
        super()._set_fitted(*fitted)
        result: Result = self.result_
        result.kernel_weights = self._with_constant(result.kernel_weights)
        histories = [self._with_constant(own) for own in result.kernel_weights_history]
        result.kernel_weights_history = histories
        self.kernel_weights_ = result.kernel_weights[result.best]
        self.kernel_weights_history_ = histories[result.best]

    def _with_constant(self, weights: Array) -> Array:
        """Weights of all kernels, 0 for those that were left out."""
        complete = np.zeros((len(weights), len(self.kernel_factors_)))
        complete[:, self.kernel_factors_ > 0] = weights
        return complete

    def _remember(self, X: Data) -> None:
        self._training_diagonals = (
            [TrainingDiagonal(X[:, index]) for index in self.kernel_.columns]
            if self._precomputed
            else None
        )

    def _training_squared_lengths(self, X: Data, device: Device) -> Array:
        return self.kernel_.squared_lengths(X, device)

    def _squared_lengths(self, X: Data, given: Any = None, device: Device = HOST) -> Array:
        if self._training_diagonals is None:
            return self.kernel_.squared_lengths(X, device)
        known: Any = [None] * self._n_kernels if given is None else np.atleast_1d(given)
        if len(known) != self._n_kernels:
            raise ValueError(
                f"diagonal has length {len(known)}; give k(x, x) of every kernel and row, shape "
                f"({self._n_kernels}, {X.shape[0]})."
            )
        pairs = zip(self._training_diagonals, self.kernel_.columns, strict=True)
        return np.stack([own.of(X[:, i], known[i]) for own, i in pairs], axis=1)

    @refused_later
    def predict(self, X: Any, *, diagonal: Any = None) -> IntArray:
        """Nearest centroid, in the combined feature space, of each row.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_rows, n_features)
            Rows; for ``kernels="precomputed"`` their kernel values against the training rows,
            shape (L, n_rows, n_samples).
        diagonal : array-like of shape (L, n_rows), default=None
            k(x, x) of each kernel and row. Labels depend on it only for precomputed kernels that
            are normalised (``kernel_scaling="cosine"`` or ``"min-max"``); else as for `transform`.

        Returns
        -------
        labels : array of shape (n_rows,)
            Index of the cluster of each row; of X's library and on its device.

        Raises
        ------
        NotFittedError
            If the estimator has not been fitted.
        ValueError
            If X has the wrong shape, NaN or infinite values, or the diagonal is unfit.
        """
        if diagonal is None:
            return super().predict(X)
        check_is_fitted(self)
        given, (X, device) = X, self._received(X, reset=False)
        self._check_diagonal(diagonal, X)
        squared = self._lengths_for_labels(X, hosted(diagonal))
        labels = self._predictor.on(device).compare(X, squared).labels
        return cast(IntArray, answer(labels, given))

    def _lengths_for_labels(self, X: Data, given: Any = None) -> Array:
        if self._precomputed and any(kernel.normalised for kernel in self.kernel_.kernels):
            return self._squared_lengths(X, given)
        return np.zeros((X.shape[0], len(self.kernel_.kernels)), self._predictor.norms.dtype)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # A stack of kernel matrices cannot be split by rows, as pairwise input can.
        tags.input_tags.pairwise = False
        tags.input_tags.two_d_array = not self._precomputed
        tags.input_tags.three_d_array = self._precomputed
        return tags


def _rows(X: Data, columns: Sequence[Columns]) -> list[Data]:
    """What each kernel is of; equal columns are one object."""
    views: dict[str, Data] = {}
    rows = []
    for own in columns:
        key = repr(own.tolist() if isinstance(own, np.ndarray) else own)
        if key not in views:
            views[key] = _columns(X, own)
        rows.append(views[key])
    return rows


def _columns(X: Data, columns: Columns) -> Data:
    """Some columns of X; X itself where they are all."""
    if isinstance(columns, slice) and columns == slice(None):
        return X
    if isinstance(X, Rows):
        return X.select(np.arange(X.shape[1])[columns].tolist())
    # In the order in which predictors have them: it decides how products with them are rounded.
    return X[:, columns] if scipy.sparse.issparse(X) else np.ascontiguousarray(X[:, columns])
