"""Checks: of parameters and rows before any heavy work, and of the result."""

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from numbers import Integral, Real
from typing import Any, get_args

import numpy as np
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning

from kernelmeans._arrays import take_columns, to_numpy
from kernelmeans._devices import Device
from kernelmeans._dialect import option
from kernelmeans._sklearn import Interval, StrOptions
from kernelmeans._typing import (
    Array,
    BoolArray,
    Columns,
    Data,
    IntArray,
    MetricName,
    ScalingName,
    SeedingName,
    WidthName,
)
from kernelmeans._warnings import warn_user
from kernelmeans.heat import DiffusionKernel, neighbor_family
from kernelmeans.heat.metric import DIRECTIONS, MetricOptions, from_first
from kernelmeans.heat.neighbors import AMPLE
from kernelmeans.kernels import PARAMETERS, CombinedKernel, Kernel, du2015_family, width_family
from kernelmeans.kernels.formulas import largest_entries
from kernelmeans.kernels.kernel import COARSE, OF_FEATURES, check_similarity
from kernelmeans.kernels.widths import column_moments
from kernelmeans.lowrank import METHODS, Nystroem
from kernelmeans.rows import DaskRows, Rows
from kernelmeans.solver import Ending, Method, Result
from kernelmeans.spaces.features import FILL_ROWS, row_blocks

#: Size of a difference that may be rounding, in roundings of the numbers.
ROUNDINGS = 4
#: Rows and columns of a matrix that are compared at a time to check its symmetry.
SYMMETRY_ROWS = 256
#: Fewest rows of square X that are taken for vertices of a graph. A few may be symmetric by chance.
FEWEST_VERTICES = 10
#: Rows on which a callable kernel is called to check its symmetry.
CALLED_ROWS = 32
#: Families of kernels, by the name that stands for all of them.
FAMILIES: Mapping[str, Callable[..., list[Kernel]]] = {
    "widths": width_family,
    "du2015": du2015_family,
    "neighbors": neighbor_family,
}
COMMON: dict[str, Any] = {
    "n_clusters": [Interval(Integral, 1, None, closed="left")],
    "init": [StrOptions(set(get_args(SeedingName))), callable, "array-like"],
    # Each restart has another seed.
    "n_init": [StrOptions({"auto"}), Interval(Integral, 1, 2_147_483_647, closed="both")],
    "n_swaps": [StrOptions({"auto"}), Interval(Integral, 0, None, closed="left")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "memory_budget": [Interval(Real, 0, None, closed="neither"), str, None],
    "verbose": ["verbose"],
    "random_state": ["random_state"],
}
DEVICE: dict[str, Any] = {"device": [str, None]}
#: Parameters of estimators without annealing and swap moves, whose runs end on ``tol``.
ALTERNATING: dict[str, Any] = {
    **{name: allowed for name, allowed in COMMON.items() if name != "n_swaps"},
    "tol": [Interval(Real, 0, None, closed="left")],
}
APPROXIMATION: dict[str, Any] = {
    "approximation": [StrOptions({"auto", *METHODS}), None],
    "n_components": [
        StrOptions({"auto"}),
        Interval(Integral, 1, None, closed="left"),
        Interval(Real, 0, 1, closed="neither"),
    ],
}
#: A kernel and its parameters, as `kernelmeans.estimators.kernels.resolve_kernel` takes them.
OF_KERNEL: dict[str, Any] = {
    "kernel": [StrOptions(set(PARAMETERS)), callable],
    "gamma": [
        StrOptions(set(get_args(WidthName))),
        Interval(Real, 0, None, closed="neither"),
    ],
    "degree": [Interval(Real, 0, None, closed="left")],
    "coef0": [Interval(Real, None, None, closed="neither")],
    "kernel_params": [dict, None],
    "n_neighbors": [StrOptions({"auto"}), Interval(Integral, 2, None, closed="left")],
    "t": [StrOptions({"auto", "states"}), Interval(Real, 0, None, closed="left")],
    "metric": [MetricOptions(set(get_args(MetricName)))],
    # Weights are at most ten to this power.
    "density": [StrOptions({"auto"}), Interval(Real, 0, 100, closed="both")],
}
KERNEL: dict[str, Any] = {
    **OF_KERNEL,
    "outliers": [StrOptions({"auto"}), Interval(Real, 0, 0.5, closed="right"), None],
    "cache_kernel": ["boolean"],
    **APPROXIMATION,
}
ANNEALING: dict[str, Any] = {
    "s0": [StrOptions({"auto"}), Interval(Real, None, 0, closed="neither")],
    "eta": [StrOptions({"auto"}), Interval(Real, 1, None, closed="left")],
    "anneal_every": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left")],
}
#: Parameters of estimators of several kernels.
KERNELS: dict[str, Any] = {
    "kernels": [StrOptions({*FAMILIES, "precomputed"}), list, tuple],
    "kernel_scaling": [StrOptions(set(get_args(ScalingName))), None],
    "cache_kernel": ["boolean"],
}


def check_gram(K: Data, name: str | None = None, more: str = "") -> None:
    """Refuse a training kernel matrix that is not square and symmetric, or holds distances.

    Parameters
    ----------
    K : ndarray of shape (n_samples, n_samples)
        The matrix.
    name : str, default=None
        Its name in messages, unless it is X.
    more : str
        What else to do with distances or edges, for a message.

    Raises
    ------
    ValueError
        If it is not square, or not symmetric up to rounding, or if its diagonal is 0 and its mean
        is positive.
    """
    name = name or f"{option('kernel', 'precomputed')}: X"
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f"{name} must be a square kernel matrix, got shape {K.shape}. Pass "
            "the kernel between all training rows, or another kernel with the rows themselves."
        )
    scale = max(float(np.max(np.abs(np.diagonal(K)))), np.finfo(K.dtype).tiny)
    tolerance = np.sqrt(np.finfo(K.dtype).eps)
    for rows, difference in _asymmetries(K):
        if difference > tolerance * scale and difference > tolerance * np.max(np.abs(K[rows])):
            raise ValueError(
                f"{name} must be a symmetric kernel matrix, but K[i, j] and "
                f"K[j, i] differ by up to {difference:.3g}. If rounding is to blame, pass "
                "(K + K.T) / 2."
            )
    with np.errstate(over="ignore"):
        mean = float(np.mean(K, dtype=np.float64))
    check_similarity(
        np.diagonal(K), mean, name, "For distances D pass np.exp(-D / D.mean())" + more
    )


def _asymmetries(K: Array) -> Iterator[tuple[slice, float]]:
    """Rows of a square matrix, and how much they differ from the columns from there on."""
    n = len(K)
    tiles = [slice(start, start + SYMMETRY_ROWS) for start in range(0, n, SYMMETRY_ROWS)]
    for index, rows in enumerate(tiles):
        # Both tiles fit into a core's cache.
        difference = max(
            float(np.max(np.abs(K[rows, columns] - K[columns, rows].T)))
            for columns in tiles[index:]
        )
        yield rows, difference


@contextmanager
def named_errors(names: Sequence[str] | None, index: int = 0) -> Iterator[None]:
    """Put the name of a kernel, if it has one, before an error."""
    try:
        yield
    except ValueError as error:
        if names is None:
            raise
        raise ValueError(f"{names[index]}: {error}") from error


def check_callables(
    kernels: Sequence[Kernel],
    rows: Sequence[Data],
    sample_weight: Array,
    device: Device,
    names: Sequence[str] | None,
) -> None:
    """Refuse callable kernels that are not symmetric, as far as a few rows tell.

    Parameters
    ----------
    kernels : sequence of Kernel
        The kernels of a fit.
    rows : sequence of {ndarray, CSR matrix, Rows} of shape (n_samples, n_features)
        The training rows as each of them takes them.
    sample_weight : ndarray of shape (n_samples,)
        Sample weights. Rows of weight 0 are not looked at.
    device : Device
        Where kernel values are computed.
    names : sequence of str or None
        Names of the kernels in messages, if there are several.

    Raises
    ------
    ValueError
        If kernel values between two sets of rows change with the order of the sets, by more than
        rounding; or if a callable returns no finite array of the right shape.
    """
    counting = np.flatnonzero(sample_weight)
    # At random, because rows that follow each other may be equal.
    n_called = min(CALLED_ROWS, len(counting))
    some = np.random.default_rng(0).choice(counting, n_called, replace=False)
    for index, (kernel, X) in enumerate(zip(kernels, rows, strict=True)):
        if kernel.given_name is not None or len(some) < 2:
            continue
        A, B = (device.put(X[half]) for half in (some[::2], some[1::2]))
        with named_errors(names, index):
            _check_symmetric(kernel, A, B)


def _check_symmetric(kernel: Kernel, A: Data, B: Data) -> None:
    """Refuse a kernel whose values between rows A and rows B are not those between B and A."""
    values = kernel.values(A, B), kernel.values(B, A).T, kernel.diagonal(A)
    forth, back, diagonal = map(to_numpy, values)
    difference = float(np.max(np.abs(forth - back)))
    scale = max(float(np.max(np.abs(part))) for part in (forth, back, diagonal))
    if difference > np.sqrt(np.finfo(forth.dtype).eps) * scale:
        raise ValueError(
            f"kernel={kernel.name!r} must be symmetric, but k(X, Y) and k(Y, X).T differ by up to "
            f"{difference:.3g} on rows of X, the largest value being {scale:.3g}. Use a function "
            "with the same value for both orders; if rounding is to blame, return "
            "(k(X, Y) + k(Y, X).T) / 2."
        )


def check_graph(A: Data) -> None:
    """Refuse a training graph that is not square and symmetric, or has negative edges or none.

    Parameters
    ----------
    A : {ndarray, CSR matrix} of shape (n_samples, n_samples)
        The graph.

    Raises
    ------
    ValueError
        If it is not square, not symmetric up to rounding, or has negative edges or no edge.
    """
    _check_between_all(A, option("kernel", "graph"), "the edges")
    largest = float(_entries(A).max(initial=0))
    if largest == 0:
        raise ValueError(
            f"{option('kernel', 'graph')}: X has no edge, because all entries are 0; pass an "
            "adjacency or affinity matrix, or another kernel with the rows themselves."
        )
    if scipy.sparse.issparse(A):
        difference = float(abs(A - A.T).max())
    else:
        difference = max(difference for _, difference in _asymmetries(A))
    if difference > np.sqrt(np.finfo(A.dtype).eps) * largest:
        raise ValueError(
            f"{option('kernel', 'graph')}: X must be a symmetric matrix of edges, but X[i, j] and "
            f"X[j, i] differ by up to {difference:.3g}, its largest entry being {largest:.3g}. "
            "Pass (X + X.T) / 2 if they are neighbours or affinities of different directions; if "
            f"they are distances to neighbours, set {option('kernel', 'heat')} and "
            f"{option('metric', 'precomputed')}."
        )


def check_distances(D: Data) -> None:
    """Refuse anything but a sparse matrix of distances between training rows.

    Parameters
    ----------
    D : {ndarray, CSR matrix} of shape (n_samples, n_samples)
        Distances of each row to its neighbours.

    Raises
    ------
    ValueError
        If the matrix is not square or not sparse, holds no distance, or a negative one.
    """
    _check_between_all(D, option("metric", "precomputed"), "the distances")
    if not scipy.sparse.issparse(D):
        raise ValueError(
            f"{option('metric', 'precomputed')}: X must be a sparse matrix of distances to "
            "neighbours, got an array; make it a sparse matrix by "
            "sklearn.neighbors.KNeighborsTransformer(metric='precomputed', "
            f"n_neighbors={min(AMPLE, D.shape[0] - 1)}).fit_transform(X)."
        )
    if not D.nnz:
        raise ValueError(
            f"{option('metric', 'precomputed')}: X holds no distance; store the distances of each "
            "row to its neighbours."
        )


def _check_between_all(X: Data, name: str, what: str) -> None:
    """Refuse a matrix of edges or distances that is not square, or has negative entries."""
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            f"{name}: X must be square, {what} between all training rows, got shape {X.shape}. "
            f"For rows of features use {option('kernel', 'heat')} with "
            f"{option('metric', 'euclidean')}."
        )
    check_edges(X, name)


def check_edges(X: Data, name: str) -> None:
    """Refuse negative edges or distances, of training rows or new rows.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_rows, n_samples)
        The matrix.
    name : str
        The parameter and its value, for messages.

    Raises
    ------
    ValueError
        If an entry is negative.
    """
    least = float(_entries(X).min(initial=0))
    if least < 0:
        raise ValueError(
            f"{name}: Negative values in data, down to {least:.3g}; edges and distances are 0 or "
            "more. Do not pass a kernel matrix or rows of features."
        )


def _entries(X: Data) -> Array:
    entries: Array = X.data if scipy.sparse.issparse(X) else X
    return entries


def refuse_elsewhere(X: Data, device: Device) -> None:
    """Refuse rows that a device other than the host cannot compute with.

    Raises
    ------
    ValueError
        If X is sparse or a Dask collection.
    """
    if device.is_host:
        return
    where = option("device", str(device.anchor.device))
    if isinstance(X, DaskRows):
        raise ValueError(
            f"{where}: the workers of Dask compute with NumPy; set device=None, or pass rows on "
            "disk (kernelmeans.rows.open_rows) instead of a Dask collection."
        )
    if scipy.sparse.issparse(X):
        raise ValueError(
            f"{where}: X is sparse, and devices compute with dense rows only; set "
            f"{option('device', None)}, or pass X.toarray()."
        )


def warn_of_matrix(X: Data) -> None:
    """Warn of rows that look like a kernel matrix, a graph or distances between rows.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
        Training rows.
    """
    n_rows, n_features = X.shape
    # One entry in each row are categories, not pairs.
    if not FEWEST_VERTICES <= n_rows == n_features < np.count_nonzero(_entries(X)):
        return
    if scipy.sparse.issparse(X):
        if X.data.min() < 0:
            return
        # Distances to the k nearest others: as many in each row, and mostly not symmetric.
        nearest = not X.diagonal().any() and np.ptp(np.diff(X.indptr)) == 0
        if not nearest and (X != X.T).nnz:
            return
        look = "sparse and square, and looks like a graph"
    else:
        tolerance = np.sqrt(np.finfo(X.dtype).eps) * np.max(np.abs(X))
        if any(difference > tolerance for _, difference in _asymmetries(X)):
            return
        look = "square and symmetric, like a kernel matrix"
    warn_user(
        f"X is {look}, but its rows are taken for features of samples. For a kernel matrix set "
        f"{option('kernel', 'precomputed')}, for edges {option('kernel', 'graph')}, for distances "
        f"to neighbours {option('metric', 'precomputed')}."
    )


def warn_if_far(X: Data, sample_weight: Array, kernel: str) -> None:
    """Warn of sparse rows so far from zero that squared distances lose their digits.

    Dense rows are centred before. Sparse rows are not, because they would become dense.

    Parameters
    ----------
    X : CSR matrix of shape (n_samples, n_features)
        Training rows.
    sample_weight : ndarray of shape (n_samples,)
        Sample weights. Where few rows have nearly all, only these need to lie close together.
    kernel : str
        Name of the kernel.
    """
    # The Laplacian kernel adds up differences, which are exact.
    if kernel == "laplacian":
        return
    eps, share = float(np.finfo(X.dtype).eps), np.asarray(sample_weight, dtype=np.float64)
    share = share / share.sum()
    # A cheap test first: most rows are near to zero.
    square = float(np.sum(np.square(X.T @ share)))
    squares = np.square(X.data, dtype=np.float64)
    squares = scipy.sparse.csr_array((squares, X.indices, X.indptr), shape=X.shape)
    if eps * square <= COARSE * (float(np.sum(squares.T @ share)) - square):
        return
    mean, variance = column_moments(X, sample_weight)
    ratio = float(np.divide(mean @ mean, variance.sum()))
    if eps * ratio > COARSE and np.isfinite(ratio):
        warn_user(
            f"X is sparse, and the mean of its rows is {np.sqrt(ratio):.2g} times as far from zero "
            f"as the rows are from each other: in {X.dtype} squared distances keep only "
            f"{max(0, int(-np.log10(eps * ratio)))} digits. Pass X.toarray(), which will be "
            "centred, subtract a constant from the columns, or use float64."
        )


def warn_of_zero_rows(kernel: Kernel | CombinedKernel, X: Data) -> None:
    """Warn of rows without a direction, where nothing but that could place them."""
    if zeros := zero_rows(kernel, X):
        warn_user(without_direction(kernel, zeros, X.shape[0]))


def zero_rows(kernel: Kernel | CombinedKernel, X: Data) -> int:
    """Count rows without a direction, where nothing but that could place them.

    Parameters
    ----------
    kernel : Kernel or CombinedKernel
        The kernel of the fit. Of several kernels each has to compare directions alone.
    X : {ndarray, CSR matrix, Rows} of shape (n_rows, n_features)
        Training rows, or new ones.

    Returns
    -------
    int
        Their number.
    """
    kernels, parts, _ = zip(*kernel.parts, strict=True)
    if not all(compares_directions(one, X.dtype) for one in kernels):
        return 0
    metrics = [one.parameters.get("metric") for one in kernels]
    count = partial(_count_zeros, parts=parts, metrics=metrics)
    return int(X.summed(count, operator.add) if isinstance(X, Rows) else count(X))


def without_direction(kernel: Kernel | CombinedKernel, zeros: int, n_rows: int) -> str:
    """The warning of so many rows without a direction."""
    kernels = [one for one, _, _ in kernel.parts]
    metrics = [one.parameters.get("metric") for one in kernels]
    what = "of one value" if "correlation" in metrics else "zero"
    of_kernel = option("kernel", kernels[0].name)
    name = of_kernel if metrics[0] is None else option("metric", metrics[0])
    return (
        f"X: {zeros} of {n_rows} rows are {what} and have no direction. {name} finds them "
        "alike to no row: their labels mean little. Leave them out, or use another kernel."
    )


def compares_directions(kernel: Kernel, dtype: Any) -> bool:
    """Whether a kernel of rows of features has a vector of zeros for a row of zeros."""
    if kernel.given_name == "heat":
        return kernel.parameters.get("metric") in DIRECTIONS
    scaled = kernel.normalized or kernel.given_name == "cosine"
    known = kernel.given_name in OF_FEATURES
    return known and scaled and not kernel.diagonal(np.zeros((1, 1), dtype)).any()


def _count_zeros(X: Data, parts: Sequence[Columns], metrics: Sequence[str | None]) -> int:
    """Number of rows that are zero in all these columns, or of one value for a correlation."""
    zero = np.ones(X.shape[0], bool)
    for columns, metric in zip(parts, metrics, strict=True):
        rows = take_columns(X, columns)
        sparse = scipy.sparse.issparse(rows)
        if metric == "correlation":
            rows, sparse = from_first(rows.toarray() if sparse else rows), False
        zero &= largest_entries(rows) == 0 if sparse else ~rows.any(axis=1)
    return int(np.count_nonzero(zero))


def check_result(*values: Array | float) -> None:
    """Refuse a fit whose numbers are not finite.

    Parameters
    ----------
    *values : ndarray or float
        Costs, norms and weights.

    Raises
    ------
    ValueError
        If one is NaN or infinite.
    """
    if not all(np.isfinite(value).all() for value in values):
        raise ValueError(
            "X, sample_weight: the fit reached NaN or infinite values. Some numbers are too large, "
            "or their sizes differ too much. Scale the columns of X and the weights, use float64, "
            "or choose another kernel or other parameters."
        )


def warn_if_coarse(
    kernels: Sequence[Kernel], rows: Sequence[Data], labels: IntArray, sample_weight: Array
) -> bool:
    """Warn if distances to centroids are rounding in float32, and would not be in float64.

    Parameters
    ----------
    kernels : sequence of Kernel
        The kernels of the fit.
    rows : sequence of {ndarray, CSR matrix, Rows}
        Training rows of each.
    labels : ndarray of shape (n_samples,)
        Clusters whose distances to centroids are known to be rounding in float32.
    sample_weight : ndarray of shape (n_samples,)
        Sample weights. Rows of weight 0 do not count.

    Returns
    -------
    bool
        Whether there was a warning. There is none if the rows of each cluster are equal.
    """
    pairs = zip(kernels, rows, strict=True)
    coarse = any(_hides_distances(kernel, X, labels, sample_weight > 0) for kernel, X in pairs)
    if coarse:
        warn_user(
            "X: the rows of a cluster are so near to each other, beside the size of the numbers or "
            "the distances of other rows, that float32 does not tell them apart. Float64 does: "
            "pass X.astype(np.float64), or leave out rows that are far from all others."
        )
    return coarse


def _hides_distances(kernel: Kernel, X: Data, labels: IntArray, counts: BoolArray) -> bool:
    """Whether float64 separates a row from the first of its cluster where float32 may not."""
    unknown = isinstance(X, DaskRows) or isinstance(kernel, DiffusionKernel)
    # The geodesic kernel squares no distance, and its arc cosine costs float64 half of the digits.
    if unknown or kernel.given_name == "geodesic" or X.dtype != np.float32:
        return False
    # Differences of this size are rounding of the rows, or of given kernel values.
    least = ROUNDINGS * float(np.finfo(np.float32).eps)
    least = least if kernel.precomputed else least**2
    clusters, own = np.unique(labels, return_inverse=True)
    first = np.array([np.argmax(counts & (own == j)) for j in range(len(clusters))])
    heads = X[first].astype(np.float64)
    diagonal = np.diagonal(heads[:, first]) if kernel.precomputed else kernel.diagonal(heads)
    heads_norms = kernel.squared_norms(diagonal)
    near = Nystroem(kernel, first if kernel.precomputed else heads, diagonal)
    for block in row_blocks(X, FILL_ROWS):
        rows, diagonal = near.read(X, block)
        rows = rows.astype(np.float64)
        diagonal = diagonal.astype(np.float64) if kernel.precomputed else kernel.diagonal(rows)
        values = near.raw(rows, diagonal)[np.arange(len(diagonal)), own[block]]
        norms = kernel.squared_norms(diagonal) + heads_norms[own[block]]
        if (counts[block] & (norms - 2 * values > least * norms)).any():
            return True
    return False


def warn_of_end(
    result: Result, method: Method, n_clusters: int, pairwise: bool, explained: bool
) -> None:
    """Warn if the best restart ended too early, or found fewer clusters than asked for.

    Parameters
    ----------
    result : Result
        All restarts.
    method : Method
        The method of the restarts.
    n_clusters : int
        Number of clusters asked for.
    pairwise : bool
        Whether the columns of X are samples too.
    explained : bool
        Whether another warning says why clusters are missing, if they are.
    """
    best = result.best
    if result.endings[best] == Ending.OUT_OF_STEPS:
        power = float(result.power_history[best][-1])
        warn_user(
            f"The best restart did not converge within {option('max_iter', method.max_iter)} "
            f"steps: {method.unfinished(power)}.",
            ConvergenceWarning,
        )
    found = len(np.unique(result.labels[best]))
    if found < n_clusters and not explained:
        why = _why_few(float(result.power_history[best][-1]), method, pairwise)
        warn_user(
            f"Number of distinct clusters ({found}) found smaller than {option('n_clusters')} "
            f"({n_clusters}). Possibly due to {why}.",
            ConvergenceWarning,
        )


def _why_few(power: float, method: Method, pairwise: bool) -> str:
    """Why clusters have no rows after a last step at this power."""
    if np.isfinite(power):
        return (
            f"centroids that coincide at the power {power:.3g} of the last step: lower "
            f"{option('s0')}, or raise {option('eta')} or {option('max_iter')}"
        )
    if not method.refills:
        return "empty clusters, which this method does not fill again"
    # Hard steps put the centroids of empty clusters on other rows, as long as rows differ.
    if pairwise:
        return "rows that are alike in X"
    return "duplicate points in X, or rows that the kernel does not tell apart"
