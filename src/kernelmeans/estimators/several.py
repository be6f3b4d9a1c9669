"""Inputs of estimators of several kernels: their views of X, or a stack of kernel matrices."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from kernelmeans._arrays import take_columns
from kernelmeans._devices import HOST, Device
from kernelmeans._dialect import option
from kernelmeans._frames import as_floats, read_as_numbers
from kernelmeans._sklearn import _safe_indexing
from kernelmeans._text import first
from kernelmeans._typing import Array, BoolArray, Columns, Data, IntArray
from kernelmeans._warnings import are_ignored, warn_user
from kernelmeans.engines import Threads
from kernelmeans.estimators.checks import check_gram, warn_if_far
from kernelmeans.estimators.holder import Holder
from kernelmeans.estimators.inputs import Input, TrainingDiagonal, distinct_rows
from kernelmeans.estimators.views import View, find_views, kernel_names
from kernelmeans.heat import HeatKernel
from kernelmeans.heat.digests import digests
from kernelmeans.heat.distinct import counting_rows
from kernelmeans.heat.separation import Borders
from kernelmeans.kernels import CombinedKernel, Kernel
from kernelmeans.rows import Rows, as_rows
from kernelmeans.solver import Result, warn_unless_positive
from kernelmeans.solver.blockwise import combination, distances_to
from kernelmeans.spaces import FeatureSpace, ProductSpace, Space, WeightRule

#: Rows whose kernel values are computed together to find the range of a kernel.
RANGE_ROWS = 256


class Views(Input):
    """Rows of features, and several kernels, each of all columns or of some.

    Parameters
    ----------
    kernels : str or sequence
        The parameter ``kernels`` of the estimator.
    scaling : str or None
        The parameter ``kernel_scaling``.

    Attributes
    ----------
    names : list of str
        Names of the kernels in messages.
    titles : list of str
        Their names for the user.
    factors : ndarray of shape (L,)
        Factors that put the kernels on one scale; 0 for kernels that are constant on the training
        rows.
    """

    names: list[str]
    titles: list[str]
    factors: Array
    views: list[View]

    def __init__(self, kernels: str | Sequence[Any], scaling: str | None) -> None:
        self.kernels = kernels
        self.scaling = scaling

    def read(self, estimator: Any, X: Any, dtype: Any, reset: bool) -> Data:
        if as_rows(X) is None and hasattr(X, "columns"):
            return self._read_table(estimator, X, dtype, reset)
        _refuse_matrices(X)
        rows = super().read(estimator, X, dtype, reset)
        if reset:
            self._find_views(rows)
        return rows

    def _find_views(self, X: Any) -> None:
        self.views = find_views(self.kernels, X)
        self.titles = kernel_names([(view.title, view.spec["kernel"]) for view in self.views])

    def _read_table(self, estimator: Any, X: Any, dtype: Any, reset: bool) -> Data:
        """The rows of a table. Columns that no view has may hold anything; they become zeros."""
        X = validate_data(estimator, X, skip_check_array=True, reset=reset)
        if reset:
            self._find_views(X)
        columns = np.arange(X.shape[1])
        used = np.unique(np.concatenate([columns[view.columns] for view in self.views]))
        values = _safe_indexing(X, used.tolist(), axis=1)
        given = {"accept_sparse": "csr", "dtype": dtype, "order": "C", "input_name": "X"}
        with read_as_numbers(values):
            values = as_floats(check_array(values, **given), dtype)
        if len(used) == len(columns):
            return values
        if scipy.sparse.issparse(values):
            places = (values.data, used[values.indices], values.indptr)
            return scipy.sparse.csr_array(places, shape=X.shape)
        rows = np.zeros(X.shape, values.dtype)
        rows[:, used] = values
        return rows

    def resolve(
        self, X: Data, sample_weight: Array, n_clusters: int, seed: int
    ) -> tuple[CombinedKernel, list[Kernel], list[Data]]:
        if isinstance(X, Rows) and self.scaling == "min-max":
            raise ValueError(
                "kernel_scaling='min-max' looks at all kernel values, which needs rows in memory; "
                "use 'unit-variance' or 'cosine', or pass an array."
            )
        kernels: list[Kernel] = []
        columns: list[Columns] = []
        rows: list[Data] = []
        self.names = []
        # Views of equal columns have the same rows, as one object.
        known: dict[Hashable, Data] = {}
        named: dict[str, Data] = {}
        for view in self.views:
            key = _key(view.columns)
            if key not in known:
                known[key] = named[option(view.name)] = _select(X, view.columns)
            found = view.kernels(known[key], sample_weight, seed)
            kernels += found
            columns += [view.columns] * len(found)
            rows += [known[key]] * len(found)
            self.names += [f"{option(view.name)}, {one.name}" for one in found]
        combined = self._combined(kernels, columns)
        if not isinstance(X, Rows):
            warn_of_few_rows(named, sample_weight, n_clusters)
        if scipy.sparse.issparse(X):
            warn_if_far(X, sample_weight, combined.name)
        return combined, combined.kernels, rows

    def _combined(self, kernels: list[Kernel], columns: Sequence[Columns]) -> CombinedKernel:
        if self.scaling in ("cosine", "min-max"):
            kernels = [kernel.normalize() for kernel in kernels]
        return CombinedKernel(kernels, columns)

    def space(
        self,
        kernel: CombinedKernel,
        spaces: Sequence[Space],
        holder: Holder,
        rule: Callable[[float], WeightRule],
    ) -> Space:
        weight, threads = holder.weight, holder.threads
        variance, rounding = variances(spaces)
        variance = np.where(variance > rounding, variance, 0)
        kept = self._informative(variance > 0)
        for index in kept:
            approximate = isinstance(spaces[index], FeatureSpace)
            if not (kernel.kernels[index].is_positive or approximate):
                warn_unless_positive(spaces[index], holder.seed, self.names[index])
        units = variance[kept]
        if self.scaling == "min-max":
            planned = [holder.plan.kernels[index] for index in kept]
            units = np.array([value_range(p.kernel, p.X, weight, threads) for p in planned])
        elif self.scaling != "unit-variance":
            units = np.ones(len(kept))
        self.factors = np.zeros(len(spaces))
        # A kernel whose unit is 0 keeps its scale.
        self.factors[kept] = 1 / np.where(units > 0, units, 1)
        factors = self.factors[kept]
        scale = float(weight.sum(dtype=np.float64) * (factors * variance[kept]).mean())
        members = [spaces[index] for index in kept]
        columns = [kernel.columns[index] for index in kept]
        return ProductSpace(members, columns, rule(scale), factors)

    def _informative(self, varies: BoolArray) -> list[int]:
        """Kernels that are not constant on the samples: a constant one would win, at no cost."""
        constant = np.flatnonzero(~varies)
        if len(constant) == len(varies):
            return list(range(len(varies)))
        if len(constant):
            names = "; ".join(self.names[index] for index in constant)
            warn_user(
                f"Constant on these data: {names}. Such kernels do not tell samples apart, and "
                "get weight 0; leave them out, or look at their columns."
            )
        return np.flatnonzero(varies).tolist()

    def attributes(self, holder: Holder, result: Result) -> dict[str, Any]:
        result.kernel_weights = self._with_constant(result.kernel_weights)
        histories = [self._with_constant(weights) for weights in result.kernel_weights_history]
        result.kernel_weights_history = histories
        return {
            "approximation_": [one.method for one in holder.plan.kernels],
            "approximation_reason_": holder.reasons,
            "kernels_": [one.kernel for one in holder.plan.kernels],
            "kernel_factors_": self.factors,
            "kernel_weights_": result.kernel_weights[result.best],
            "kernel_weights_history_": histories[result.best],
        }

    def _with_constant(self, weights: Array) -> Array:
        """Weights of all kernels: 0 for constant ones, which the fit leaves out."""
        complete = np.zeros((len(weights), len(self.factors)))
        complete[:, self.factors > 0] = weights
        return complete

    def borders(
        self,
        kernel: CombinedKernel,
        X: Data,
        labels: IntArray,
        sample_weight: Array,
        n_clusters: int,
    ) -> Borders | None:
        """The mean of the borders in the graphs of all views. The edges of each graph sum to 1."""
        found: dict[str, Borders] = {}
        pairs = list(zip(kernel.kernels, kernel.columns, strict=True))
        # Kernels of the same rows share one graph: that of a heat kernel, if there is one.
        for one, columns in sorted(pairs, key=lambda pair: not isinstance(pair[0], HeatKernel)):
            rows = _select(X, columns)
            distinct = distinct_rows(one, rows)
            metric = "euclidean" if distinct is None else distinct.nearest.metric
            key = f"{_key(columns)!r} {metric}"
            if key not in found:
                borders = super().borders(one, rows, labels, sample_weight, n_clusters)
                assert borders is not None
                found[key] = borders
        edges = np.mean([one.edges for one in found.values()], axis=0)
        close = [one.closeness for one in found.values() if one.closeness is not None]
        return Borders(edges, np.mean(close, axis=0) if close else None)

    def diagonal_for_labels(self, kernel: CombinedKernel, X: Data, given: Any = None) -> Array:
        return np.zeros((X.shape[0], len(kernel.kernels)), X.dtype)


class KernelMatrices(Views):
    """Kernel matrices (L, n_samples, n_samples); of new rows (L, n_rows, n_samples).

    They are kept with the rows first: (n_rows, L, n_samples).
    """

    # Not pairwise: a stack of kernel matrices cannot be split by rows.
    tags: ClassVar[dict[str, bool]] = {"sparse": False, "two_d_array": False, "three_d_array": True}
    pairwise = True
    holds_values = True

    def read(self, estimator: Any, X: Any, dtype: Any, reset: bool) -> Data:
        given = {"dtype": dtype, "order": "C", "ensure_2d": False, "allow_nd": True}
        with read_as_numbers(X, self.pairwise):
            X = check_array(X, input_name="X", **given)
        if reset:
            if X.ndim != 3 or X.shape[1] != X.shape[2]:
                raise ValueError(
                    "kernels='precomputed': X must hold L square kernel matrices, shape (L, n, n), "
                    f"got shape {X.shape}. One matrix is X[None]; matrices in a list: np.stack."
                )
            estimator.n_features_in_ = X.shape[2]
            self.n_kernels = X.shape[0]
        n_rows = X.shape[1] if X.ndim == 3 else "n_rows"
        expected = (self.n_kernels, n_rows, estimator.n_features_in_)
        if X.shape != expected:
            raise ValueError(
                f"kernels='precomputed': X has shape {X.shape}; pass the kernel values between new "
                f"rows and training rows, shape {expected} for this model."
            )
        return np.asarray(X.transpose(1, 0, 2))

    def resolve(
        self, X: Data, sample_weight: Array, n_clusters: int, seed: int
    ) -> tuple[CombinedKernel, list[Kernel], list[Data]]:
        matrices = [_select(X, index) for index in range(self.n_kernels)]
        self.names = self.titles = [f"X[{index}]" for index in range(self.n_kernels)]
        for name, matrix in zip(self.names, matrices, strict=True):
            check_gram(matrix, f"kernels='precomputed': {name}")
        kernels = [Kernel("precomputed", {}) for _ in matrices]
        combined = self._combined(kernels, list(range(self.n_kernels)))
        return combined, combined.kernels, matrices

    def borders(self, *given: Any) -> None:
        """None: kernel matrices have no neighbours."""

    def remember(self, kernel: CombinedKernel, X: Data) -> None:
        self.known = [TrainingDiagonal(X[:, index]) for index in kernel.columns]

    def diagonal(
        self, kernel: CombinedKernel, X: Data, device: Device = HOST, given: Any = None
    ) -> Array:
        every: Any = [None] * self.n_kernels if given is None else np.atleast_1d(given)
        if len(every) != self.n_kernels:
            raise ValueError(
                f"diagonal has length {len(every)}; give k(x, x) for each kernel and row, shape "
                f"({self.n_kernels}, {X.shape[0]})."
            )
        pairs = zip(self.known, kernel.columns, strict=True)
        return np.stack([known.of(X[:, i], every[i]) for known, i in pairs], axis=1)

    def diagonal_for_labels(self, kernel: CombinedKernel, X: Data, given: Any = None) -> Array:
        if any(one.normalized for one in kernel.kernels):
            return self.diagonal(kernel, X, given=given)
        return super().diagonal_for_labels(kernel, X)


def _refuse_matrices(X: Any) -> None:
    """Refuse several matrices, and say how views and kernel matrices are given."""
    items = list(X.values()) if isinstance(X, Mapping) else X
    if isinstance(X, np.ndarray) and X.ndim == 3 and X.shape[1] == X.shape[2]:
        items = list(X)
    if not isinstance(items, list | tuple):
        return
    shapes: list[tuple[int, ...]] = [getattr(one, "shape", ()) for one in items]
    if not shapes or any(len(shape) != 2 for shape in shapes):
        return
    remedy = "give each view the same rows"
    if len({n_rows for n_rows, _ in shapes}) == 1:
        given = "list(X.values())" if isinstance(X, Mapping) else "X"
        join = "scipy.sparse.hstack" if any(map(scipy.sparse.issparse, items)) else "np.hstack"
        stops = np.cumsum([width for _, width in shapes]).tolist()
        views = [f'("heat", slice({a}, {b}))' for a, b in pairwise([0, *stops])]
        remedy = f"pass {join}({given}) with kernels=[{first(views, 3)}]"
        if all(n_rows == width for n_rows, width in shapes):
            remedy += f". Kernel matrices are np.stack({given}) with kernels='precomputed'"
    raise ValueError(
        f"X must be one matrix, got a {type(X).__name__} of matrices of the shapes "
        f"{first([str(shape) for shape in dict.fromkeys(shapes)], 3)}. Views are columns of X: "
        f"{remedy}."
    )


def _key(columns: Columns) -> Hashable:
    """What equal columns have in common. The text of many indices leaves most of them out."""
    return columns.tobytes() if isinstance(columns, np.ndarray) else repr(columns)


def _select(X: Data, columns: Columns) -> Data:
    """Some columns of X, or X itself if they are all."""
    if isinstance(columns, slice) and columns == slice(None):
        return X
    if isinstance(X, Rows):
        return X.select(np.arange(X.shape[1])[columns].tolist())
    return take_columns(X, columns)


def warn_of_few_rows(views: Mapping[str, Data], sample_weight: Array, n_clusters: int) -> None:
    """Warn of views that few distinct rows fill, unless all views are such.

    Centroids at these rows cost nothing in such a view, and so it may win over the others.

    Parameters
    ----------
    views : mapping of {ndarray, CSR matrix}
        The training rows of each view, by its name in messages.
    sample_weight : ndarray of shape (n_samples,)
        Sample weights. Rows of weight 0 do not count.
    n_clusters : int
        Number of clusters.
    """
    if len(views) < 2 or are_ignored():
        return
    n_rows, n_varied, filled = np.count_nonzero(sample_weight), 0, []
    for name, rows in views.items():
        _, counts = np.unique(digests(counting_rows(rows, sample_weight)), return_counts=True)
        n_varied += len(counts) > 1  # others warn of a constant view
        most = np.sort(counts[counts > 1])[-n_clusters:]
        if len(counts) > 1 and 2 * most.sum() > n_rows:
            filled.append(f"{name} ({len(most)} make up {most.sum()} of {n_rows} rows)")
    if 0 < len(filled) < n_varied:
        warn_user(
            f"Few different rows fill {first(filled)}. Such a view may decide the clusters, "
            "because centroids at these rows cost nothing there. Put its columns into a view with "
            "others, leave them out, or cluster all columns, scaled, with one kernel."
        )


def variances(spaces: Sequence[Space]) -> tuple[Array, Array]:
    """Mean squared distance of the samples from their mean, in each space.

    Parameters
    ----------
    spaces : sequence of Space
        The spaces.

    Returns
    -------
    variances, rounding : ndarray of shape (L,)
        The variances, and how large a variance can be by rounding alone.
    """
    found = np.empty((2, len(spaces)))
    for index, space in enumerate(spaces):
        weights = space.sample_weight / space.sample_weight.sum()
        mean = combination(space, weights)
        squared = distances_to(space, mean)[0, 0].astype(np.float64)
        found[:, index] = weights.astype(np.float64) @ squared, 2 * space.floor(mean)[0]
    return found[0], found[1]


def value_range(kernel: Kernel, X: Data, weight: Array, threads: Threads) -> float:
    """Largest minus smallest value of a kernel between training rows of positive weight."""
    diagonal = kernel.diagonal(X)
    norms = kernel.norms(diagonal)
    counting = np.flatnonzero(weight > 0)
    blocks = [counting[i : i + RANGE_ROWS] for i in range(0, len(counting), RANGE_ROWS)]

    def extremes(rows: IntArray) -> tuple[float, float]:
        values = kernel.divide_by_norms(kernel.values(X[rows], X), diagonal[rows], norms)
        values = values[:, counting]
        return float(values.min()), float(values.max())

    pairs = [pair for _, pair in threads.map(extremes, blocks)]
    return max(high for _, high in pairs) - min(low for low, _ in pairs)
