"""Places of rows on a map of the clusters: numbers alone, which any picture can use."""

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from sklearn.decomposition import KernelPCA
from sklearn.utils import check_array

from kernelmeans._arrays import to_numpy
from kernelmeans._fitted import count_rows, parts, readable, taken
from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.estimators.base import KernelClusterer
from kernelmeans.heat import GraphKernel, HeatKernel
from kernelmeans.kernels import CombinedKernel, Kernel
from kernelmeans.rows import Rows
from kernelmeans.rows.dask import computed, is_dask

# Spread of rows within clusters, as a fraction of that of all rows, below which they are dots.
_DOT = 0.02


class MapPoints(NamedTuple):
    """Rows on a map.

    Attributes
    ----------
    rows : ndarray of int of shape (m,)
        Positions of the drawn rows in X, in ascending order.
    points : ndarray of shape (m, 2)
        Their places.
    axis_names : tuple of two str
        Names of the axes.
    labels : ndarray of int of shape (m,)
        Clusters of the drawn rows.
    sizes : ndarray of int of shape (n_clusters,)
        Rows in each cluster: of all rows if these are the rows of the fit, else of the drawn ones.
    n_rows : int
        Number of all rows.
    """

    rows: IntArray
    points: Array
    axis_names: tuple[str, str]
    labels: IntArray
    sizes: IntArray
    n_rows: int


def map_points(
    estimator: Any,
    X: Any,
    *,
    coordinates: Any = None,
    max_points: int = 2000,
    random_state: int = 0,
) -> MapPoints:
    """Place rows on a map by the kernel of a fitted clusterer.

    Places are kernel principal components. The heat kernel draws clear clusters together to dots:
    then places are principal components of the rows, and rows of two columns are always placed as
    they are. An estimator without a kernel has principal components too. Labels are those of
    `predict`.

    Parameters
    ----------
    estimator : clusterer, Pipeline or ClusterSearch
        Fitted; a pipeline ends with a clusterer.
    X : array-like, sparse matrix, data frame or Rows
        The rows of the fit or new ones, as `predict` of the estimator takes them.
    coordinates : array-like of shape (n_rows, 2), default=None
        Places of all rows of X, from UMAP for instance; computed when None.
    max_points : int, default=2000
        Most rows on the map: a random subsample, if there are more. Without coordinates the kernel
        matrix between them is computed.
    random_state : int, default=0
        Seed of the subsample.

    Returns
    -------
    MapPoints
        Drawn rows, their places and labels, names of the axes, and sizes of the clusters.

    Raises
    ------
    NotFittedError
        If the estimator has not been fitted.
    TypeError
        If the estimator is no clusterer that can label rows, or X is not of rows.
    ValueError
        If the search has chosen no clusters, if X or the coordinates cannot be used, or if X holds
        kernel values of new rows and there are no coordinates.

    Examples
    --------
    >>> from kernelmeans import KernelPowerKMeans
    >>> from kernelmeans.plotting.points import map_points
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> found = map_points(KernelPowerKMeans(3, random_state=0).fit(X), X, max_points=60)
    >>> found.points.shape, found.axis_names[0], int(found.sizes.sum())
    ((60, 2), 'heat component 1', 150)
    """
    transformers, model = parts(estimator)
    X = readable(X)
    n_rows = count_rows(X, model)
    if not isinstance(max_points, Integral) or max_points < 1:
        raise ValueError(f"max_points={max_points!r} should be a positive number of rows.")
    rows = np.arange(n_rows)
    if n_rows > max_points:
        drawn = np.random.default_rng(random_state).choice(n_rows, max_points, replace=False)
        rows = np.sort(drawn)
    shown = taken(X, rows, model)
    for transformer in transformers:
        shown = transformer.transform(shown)
    labels = np.asarray(to_numpy(model.predict(shown)))
    if coordinates is None:
        points, names = _places(model, shown, rows, n_rows, labels)
    else:
        points, names = _given(coordinates, rows, n_rows)
    return MapPoints(rows, points, names, labels, _sizes(model, labels, rows, n_rows), n_rows)


def _given(coordinates: Any, rows: IntArray, n_rows: int) -> tuple[Array, tuple[str, str]]:
    """Places from the user, checked."""
    needed = f"two for each row of X: shape ({n_rows}, 2)"
    try:
        points = np.asarray(to_numpy(coordinates), np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"coordinates should be an array of numbers, {needed}: {error}") from error
    if points.shape != (n_rows, 2):
        raise ValueError(f"coordinates has shape {points.shape}; give {needed}.")
    points = points[rows]
    if not np.isfinite(points).all():
        raise ValueError(f"coordinates holds NaN or infinity; give finite numbers, {needed}.")
    first, second = getattr(coordinates, "columns", ("coordinate 1", "coordinate 2"))
    return points, (str(first), str(second))


def _sizes(model: Any, labels: IntArray, rows: IntArray, n_rows: int) -> IntArray:
    """Sizes of the clusters among all rows, if these have the labels of the fit."""
    known = getattr(model, "labels_", ())
    if len(known) == n_rows:
        known = np.asarray(computed(known) if is_dask(known) else to_numpy(known))
        if np.array_equal(known[rows], labels):
            labels = known
    n_clusters = getattr(model, "n_clusters", None)
    return np.bincount(labels, minlength=n_clusters if isinstance(n_clusters, Integral) else 0)


def _places(
    model: Any, shown: Any, rows: IntArray, n_rows: int, labels: IntArray
) -> tuple[Array, tuple[str, str]]:
    """Kernel principal components of rows, or rows of two columns as they are."""
    kernel, values = getattr(model, "kernel_", None), _read(model, shown)
    on_features = isinstance(kernel, HeatKernel)
    if on_features and values.shape[1] == 2 and not scipy.sparse.issparse(values):
        first, second = getattr(shown, "columns", ("column 1", "column 2"))
        return np.asarray(values, np.float64), (str(first), str(second))
    linear = Kernel("linear", {})
    points = _components(_kernel_matrix(kernel or linear, values, rows, n_rows))
    kind = "principal" if kernel is None else "kernel principal"
    if on_features or isinstance(kernel, GraphKernel):
        kind = "heat"
    if on_features and _are_dots(points, labels):
        points, kind = _components(linear(values, values)), "principal"
    return points, (f"{kind} component 1", f"{kind} component 2")


def _components(K: Array) -> Array:
    """Two kernel principal components; zeros if there are fewer."""
    # ARPACK's start is random without a seed. An indefinite kernel is clipped, not refused.
    count = min(2, len(K))
    pca = KernelPCA(count, kernel="precomputed", eigen_solver="auto", random_state=0)
    found = pca.fit_transform(np.asarray(K, dtype=np.float64))
    points = np.zeros((len(K), 2))
    points[:, : found.shape[1]] = found
    return points


def _are_dots(points: Array, labels: IntArray) -> bool:
    """Whether clusters are no more than dots on the map."""
    distinct, clusters = np.unique(labels, return_inverse=True)
    means = np.array([points[labels == label].mean(axis=0) for label in distinct])
    within = np.square(points - means[clusters]).sum()
    return bool(within < _DOT**2 * np.square(points - points.mean(axis=0)).sum())


def _read(model: Any, shown: Any) -> Data:
    """Rows as the kernel takes them, checked as in `predict`."""
    if isinstance(model, KernelClusterer):
        dtype = model._predictor.norms.dtype
        values = model._input.read(model, to_numpy(shown), dtype, reset=False)
        return values[:] if isinstance(values, Rows) else values
    found: Data = check_array(shown, accept_sparse="csr", dtype=[np.float64, np.float32])
    return found


def _kernel_matrix(kernel: Any, X: Data, rows: IntArray, n_rows: int) -> Array:
    """Kernel values between rows."""
    if not kernel.precomputed:
        K: Array = kernel(X, X)
        return K
    if X.shape[-1] == n_rows:
        K = X[..., rows]
        K = K if K.ndim == 2 else _combined(kernel, K.transpose(1, 0, 2))
        if np.allclose(K, K.T, atol=1e-6 * np.abs(K).max()):
            return K
    raise ValueError(
        "X holds kernel values between new rows and training rows, which do not tell how near new "
        "rows are to each other; pass coordinates=, two numbers for each row, or the training rows."
    )


def _combined(kernel: CombinedKernel, stack: Array) -> Array:
    """Weighted sum of kernel matrices, normalized by their diagonals if the kernels are."""
    total = np.zeros(stack.shape[1:])
    triples = zip(kernel.kernels, kernel.columns, kernel.multipliers, strict=True)
    for matrix, index, multiplier in triples:
        K, diagonal = np.array(stack[index], np.float64), np.diagonal(stack[index])
        total += multiplier * matrix.divide_by_norms(K, diagonal, matrix.norms(diagonal))
    return total
