"""Inputs of estimators of one kernel: X holds rows of features, a kernel matrix or a graph."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from sklearn.utils.validation import validate_data

from kernelmeans._devices import HOST, Budget, Device
from kernelmeans._dialect import option
from kernelmeans._frames import as_floats, read_as_numbers
from kernelmeans._sklearn import _check_n_features, _check_sample_weight
from kernelmeans._typing import Array, Data, IntArray
from kernelmeans._warnings import warn_user
from kernelmeans.estimators.checks import (
    check_distances,
    check_edges,
    check_gram,
    check_graph,
    warn_if_far,
    warn_of_matrix,
)
from kernelmeans.estimators.holder import Holder
from kernelmeans.estimators.kernels import resolve_kernel
from kernelmeans.heat import GraphKernel, HeatKernel
from kernelmeans.heat.closeness import closeness_in_graph
from kernelmeans.heat.distinct import DistinctRows
from kernelmeans.heat.neighbors import AMPLE, nearest_stored, without_loops
from kernelmeans.heat.separation import (
    SOUGHT_ROWS,
    Borders,
    borders_of_neighbors,
    cluster_shares,
    edges_between,
)
from kernelmeans.kernels import Kernel
from kernelmeans.lowrank import subsample
from kernelmeans.rows import Rows, as_rows
from kernelmeans.rows.dask import DaskRows
from kernelmeans.solver import Result, warn_unless_positive
from kernelmeans.spaces import FeatureSpace, Space

#: Bytes of rows whose digests are computed at a time.
DIGEST_BYTES = 2**20


@dataclass(eq=False)
class Input:
    """Rows of features, and one kernel of them.

    An estimator makes one for each fit, and keeps it to read new rows.

    Parameters
    ----------
    parameters : mapping
        The kernel and its parameters, as `resolve_kernel` takes them.

    Attributes
    ----------
    names : list of str or None
        Names of the kernels in messages, if there are several.
    """

    #: The kinds of X that are allowed, as tags of scikit-learn.
    tags: ClassVar[dict[str, bool]] = {"sparse": True}
    #: Whether columns of X stand for training rows, as those of a kernel matrix or a graph do.
    pairwise: ClassVar[bool] = False
    #: Whether X holds kernel values. They cannot be sparse, and do not tell k(x, x) of new rows.
    holds_values: ClassVar[bool] = False
    parameters: Mapping[str, Any]
    names: list[str] | None = field(default=None, init=False)

    def read(self, estimator: Any, X: Any, dtype: Any, reset: bool) -> Data:
        """Check rows.

        Parameters
        ----------
        estimator : estimator
            Keeps number and names of the features in a fit; later ones must be equal.
        X : array-like
            The rows that the user passed.
        dtype : dtype or list of dtype
            Allowed types of the result.
        reset : bool
            Whether these are training rows.

        Returns
        -------
        {ndarray, CSR matrix, Rows}
            The rows, on the host or on disk.
        """
        rows = as_rows(X)
        if self.pairwise and reset and isinstance(rows, DaskRows):
            raise ValueError(
                "X: kernel matrices and graphs cannot be Dask collections; pass X.compute()."
            )
        if rows is not None and self.pairwise and not isinstance(rows, DaskRows):
            what = f"{rows.source}: a precomputed kernel, which is loaded as a whole,"
            n_bytes = HOST.budget(estimator.memory_budget).n_bytes
            Budget(n_bytes).check(rows.nbytes, what, "Give fewer rows")
            X, rows = rows[:], None
        if rows is not None:
            return check_rows(estimator, rows, reset)
        sparse: Any = False if self.holds_values else "csr"
        given = {"accept_sparse": sparse, "dtype": dtype, "order": "C"}
        try:
            with read_as_numbers(X, self.pairwise):
                return as_floats(validate_data(estimator, X, reset=reset, **given), dtype)
        except ValueError as error:
            if self.pairwise and "features, but" in str(error):
                raise ValueError(self._with_width(str(error), estimator.n_features_in_)) from error
            raise

    @property
    def title(self) -> str:
        """The parameter that says what X holds, and its value, for messages."""
        name = "metric" if self.parameters["kernel"] == "heat" else "kernel"
        return option(name, self.parameters[name])

    def _with_width(self, message: str, n_rows: int) -> str:
        """The words of scikit-learn on the width of X, and what new rows of a matrix hold."""
        values = {"heat": "distances", "graph": "edges"}
        return (
            f"{message.rstrip('.')}: with {self.title} new rows are given by their "
            f"{values.get(self.parameters['kernel'], 'kernel values')} to the {n_rows} rows of the "
            "fit, in the order of the fit."
        )

    def resolve(
        self, X: Data, sample_weight: Array, n_clusters: int, seed: int
    ) -> tuple[Any, list[Kernel], list[Data]]:
        """Settle the parameters of the kernel from the training rows.

        Returns
        -------
        kernel : Kernel or CombinedKernel
            The kernel of the fit.
        kernels, rows : list
            The kernels that it consists of, and the training rows as each of them takes them.
        """
        more: Any = {"random_state": seed, "sample_weight": sample_weight}
        kernel = resolve_kernel(X=X, **self.parameters, **more)
        if not (self.pairwise or isinstance(X, Rows)):
            warn_of_matrix(X)
        if scipy.sparse.issparse(X) and not self.pairwise:
            warn_if_far(X, sample_weight, kernel.name)
        return kernel, [kernel], [X]

    def space(self, kernel: Any, spaces: Sequence[Space], holder: Holder, rule: Any) -> Space:
        """The space of the fit, in which kernel weights follow the rule if there are several."""
        (space,) = spaces
        if not (kernel.is_positive or isinstance(space, FeatureSpace)):
            warn_unless_positive(space, holder.seed, option("kernel", kernel.name))
        return space

    def attributes(self, holder: Holder, result: Result) -> dict[str, Any]:
        """Fitted attributes of the kernels and of how they are held."""
        (planned,), (reason,) = holder.plan.kernels, holder.reasons
        return {"approximation_": planned.method, "approximation_reason_": reason}

    def remember(self, kernel: Any, X: Data) -> None:
        """Keep what `diagonal` needs to know about the training rows."""

    def borders(
        self, kernel: Any, X: Data, labels: IntArray, sample_weight: Array, n_clusters: int
    ) -> Borders | None:
        """The borders of clusters of training rows, in the graph of their neighbours."""
        density = kernel.parameters["density"] if isinstance(kernel, HeatKernel) else None
        given = X, labels, sample_weight, n_clusters
        return borders_of_neighbors(*given, distinct_rows(kernel, X), density)

    def check_compared(self, what: str, remedy: str = "") -> None:
        """Refuse to compare rows, as ``what`` does, where X holds none."""
        if self.pairwise:
            raise ValueError(
                f"{what} compares rows of features, and with {self.title} X holds none: "
                f"{remedy}pass the rows themselves."
            )

    def compared_rows(self, kernel: Any, X: Data, sample_weight: Array) -> DistinctRows:
        """Training rows that tell how strange others are: all distinct ones, or a sample."""
        if (distinct := distinct_rows(kernel, X)) is not None:
            return distinct
        size = min(SOUGHT_ROWS, int(np.count_nonzero(sample_weight)))
        rows, _ = subsample((sample_weight > 0).astype(np.float64), size)
        metric = "cosine" if kernel.name == "cosine" else "euclidean"
        return DistinctRows.of(X[rows], None, kernel.parameters.get("metric", metric))

    def check_new(self, kernel: Any, X: Data) -> None:
        """Refuse new rows in memory that the kernel says nothing about."""

    def check_diagonal(self, kernel: Any, X: Data, given: Any) -> None:
        """Refuse k(x, x) of new rows if it cannot be used, or would not be."""
        if given is None:
            return
        if not self.holds_values:
            raise ValueError(
                "diagonal: it is for precomputed kernels only; leave diagonal=None, because "
                f"kernel={kernel.name!r} computes k(x, x) from the rows."
            )
        if isinstance(X, Rows):
            raise ValueError(
                "diagonal: it cannot be used with Dask collections, because it is not divided into "
                "their chunks; pass the kernel values of some rows at a time as a NumPy array."
            )
        self.diagonal(kernel, X, given=given)

    def diagonal(self, kernel: Any, X: Data, device: Device = HOST, given: Any = None) -> Array:
        """k(x, x) of rows before any normalization, in the form that the predictor takes."""
        diagonal: Array = kernel.diagonal(X, device)
        return diagonal

    def diagonal_for_labels(self, kernel: Any, X: Data, given: Any = None) -> Array:
        """The same for `predict`, whose labels mostly do not depend on it: zeros."""
        return np.zeros(X.shape[0], X.dtype)


class KernelMatrix(Input):
    """A kernel matrix; of new rows, their kernel values with the training rows."""

    tags: ClassVar[dict[str, bool]] = {"pairwise": True, "sparse": False}
    pairwise = True
    holds_values = True

    def read(self, estimator: Any, X: Any, dtype: Any, reset: bool) -> Data:
        if scipy.sparse.issparse(X):  # scikit-learn's conventions ask for the first words
            raise TypeError(
                "Sparse data was passed for X, but a kernel matrix is dense. A sparse graph of "
                f"neighbours takes {option('kernel', 'graph')} if it holds similarities, and "
                f"{option('kernel', 'heat')} with {option('metric', 'precomputed')} if it holds "
                "distances."
            )
        K = super().read(estimator, X, dtype, reset)
        if reset:
            nearest = min(AMPLE, len(K) - 1)
            check_gram(
                K,
                more=f", or set {option('kernel', 'heat')} and {option('metric', 'precomputed')}, "
                f"and pass KNeighborsTransformer(metric='precomputed', n_neighbors={nearest})"
                f".fit_transform(D); for edges set {option('kernel', 'graph')}",
            )
        return K

    def remember(self, kernel: Any, X: Data) -> None:
        self.known = TrainingDiagonal(X)

    def borders(self, *given: Any) -> None:
        """None: a kernel matrix has no neighbours."""

    def diagonal(self, kernel: Any, X: Data, device: Device = HOST, given: Any = None) -> Array:
        return self.known.of(X, given)


class Graph(Input):
    """A graph, or distances to neighbours; of new rows, those to the training rows."""

    tags: ClassVar[dict[str, bool]] = {"pairwise": True, "sparse": True, "positive_only": True}
    pairwise = True

    def read(self, estimator: Any, X: Any, dtype: Any, reset: bool) -> Data:
        rows = super().read(estimator, X, dtype, reset)
        if reset:
            (check_graph if self.parameters["kernel"] == "graph" else check_distances)(rows)
        return rows

    def check_new(self, kernel: GraphKernel, X: Data) -> None:
        check_edges(X, kernel.title)
        kernel.check_connected(X)

    def borders(
        self, kernel: Any, X: Data, labels: IntArray, sample_weight: Array, n_clusters: int
    ) -> Borders:
        """The borders in the graph, by its weights, or in the graph of the neighbours in use."""
        counting = np.flatnonzero(sample_weight)
        graph = scipy.sparse.csr_array(X)[counting][:, counting]
        if (count := kernel.parameters.get("n_neighbors")) is not None:
            near = nearest_stored(without_loops(graph), count - 1)
            graph = ((near + near.T) > 0).astype(np.float64)
        graph, labels, n = without_loops(graph), labels[counting], len(counting)
        edges = edges_between(graph, cluster_shares(np.arange(n), labels, n, n_clusters))
        return Borders(edges, closeness_in_graph(graph, labels, n_clusters))


def distinct_rows(kernel: Kernel, X: Data) -> DistinctRows | None:
    """The distinct training rows, if X is in memory and a kernel knows their neighbours."""
    return None if isinstance(X, Rows) else kernel.distinct_rows


def check_rows(estimator: Any, rows: Rows, reset: bool) -> Rows:
    """Check number and names of the columns, as for arrays and tables.

    Raises
    ------
    ValueError
        If they differ from the columns of the fit.
    """
    if rows.names is None:
        validate_data(estimator, rows, skip_check_array=True, reset=reset)
        return rows.finite()
    # scikit-learn looks for names in `columns`, and would warn that they are missing.
    _check_n_features(estimator, rows, reset=reset)
    if reset:
        estimator.feature_names_in_ = np.array(rows.names, dtype=object)
    elif list(getattr(estimator, "feature_names_in_", rows.names)) != rows.names:
        raise ValueError(
            f"X has the columns {rows.names[:10]}, but the fit had "
            f"{list(estimator.feature_names_in_[:10])}; pass the same columns in the same order."
        )
    return rows.finite()


def check_weights(sample_weight: object, X: Data, n_clusters: int) -> Array:
    """Sample weights as an array of X's dtype.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,), float or None
        The weights that the user passed; None for ones.
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
        Training rows.
    n_clusters : int
        At least so many samples must have positive weight.

    Returns
    -------
    ndarray of shape (n_samples,)
        The weights.

    Raises
    ------
    ValueError
        If weights are negative, if fewer than ``n_clusters`` are positive, or if the square of
        their sum would overflow.
    """
    # Weights that X's dtype cannot hold become infinite, and are refused as such.
    with np.errstate(over="ignore"):
        weight = _check_sample_weight(sample_weight, X, dtype=X.dtype, ensure_non_negative=True)
    positive = int(np.count_nonzero(weight))
    if positive == 0:
        raise ValueError(
            "sample_weight: all weights are zero; give positive weights to the samples that "
            "count, or leave sample_weight=None."
        )
    limits = np.finfo(weight.dtype)
    total = float(weight.sum(dtype=np.float64))
    if not np.sqrt(limits.tiny) < total < np.sqrt(limits.max):
        raise ValueError(
            f"sample_weight: the sum of all weights is {total:.3g}; it must lie between "
            f"{np.sqrt(limits.tiny):.1g} and {np.sqrt(limits.max):.1g}, because {weight.dtype} has "
            "to hold its square. Only the ratios of weights matter: divide them by their mean."
        )
    if positive < n_clusters:
        of_positive_weight = "" if positive == X.shape[0] else " of positive weight"
        raise ValueError(
            f"n_samples={positive}{of_positive_weight} should be >= "
            f"{option('n_clusters', n_clusters)}; lower {option('n_clusters')} or give more "
            "samples."
        )
    return np.asarray(weight)


class TrainingDiagonal:
    """The diagonal of the training kernel matrix, from which k(x, x) of new rows is taken.

    Parameters
    ----------
    K : ndarray of shape (n_samples, n_samples)
        The training kernel matrix. Its diagonal is kept, and a digest of each row.
    """

    def __init__(self, K: Array) -> None:
        self.values = np.diagonal(K).copy()
        # If the diagonal is constant, no row has to be recognised.
        digests = _digests(K) if np.ptp(self.values) else np.empty(0, np.uint64)
        self._order = np.argsort(digests)
        self._sorted = digests[self._order]

    def is_well_formed(self) -> bool:
        """Say whether the parts, read from a file, fit together."""
        count = len(self.values) if np.ptp(self.values) else 0
        order = np.sort(self._order)
        fits = order.dtype.kind == "i" and np.array_equal(order, np.arange(count))
        return fits and self._sorted.shape == (count,)

    def of(self, rows: Array, given: Any = None) -> Array:
        """k(x, x) of new rows.

        Parameters
        ----------
        rows : ndarray of shape (n_rows, n_samples)
            Their kernel values with the training rows.
        given : array-like of shape (n_rows,), default=None
            The values that the user passed. When None, a row that equals a training row has its
            value. Other rows have the value of the training diagonal if it is constant, and else
            its mean, with a warning.

        Returns
        -------
        ndarray of shape (n_rows,)
            The diagonal.

        Raises
        ------
        ValueError
            If the given diagonal has the wrong shape or is not finite.
        """
        n = rows.shape[0]
        if given is not None:
            diagonal = np.asarray(given, dtype=rows.dtype)
            if diagonal.shape != (n,) or not np.isfinite(diagonal).all():
                raise ValueError(
                    f"diagonal must hold k(x, x), a finite number for each of the {n} rows of X, "
                    f"got shape {diagonal.shape}."
                )
            return diagonal
        if not np.ptp(self.values):
            return np.full(n, self.values[0])
        digests = _digests(rows)
        place = np.minimum(np.searchsorted(self._sorted, digests), len(self._sorted) - 1)
        known = self._sorted[place] == digests  # those that equal a training row
        mean = self.values.mean(dtype=np.float64)
        if not known.all() and np.ptp(self.values) > np.sqrt(np.finfo(rows.dtype).eps) * abs(mean):
            warn_user(
                f"{option('kernel', 'precomputed')}: k(x, x) of new rows is unknown, and the "
                "training diagonal is not constant; its mean is used. Pass diagonal= for exact "
                "distances."
            )
        return np.where(known, self.values[self._order[place]], rows.dtype.type(mean))


def _digests(rows: Array) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Eight bytes for each row; those of different rows are equal with probability 2^-32 at most.

    They are sums of the row's words times random numbers, modulo 2^64. No order of the additions
    changes them.
    """
    size = rows.shape[1] * rows.itemsize // 4
    factors = np.random.default_rng(0).integers(2**64, size=size, dtype=np.uint64)
    step = max(1, DIGEST_BYTES // (4 * size))
    digests = np.empty(len(rows), np.uint64)
    for start in range(0, len(rows), step):
        words = np.ascontiguousarray(rows[start : start + step]).view(np.uint32)
        digests[start : start + step] = words @ factors
    return digests
