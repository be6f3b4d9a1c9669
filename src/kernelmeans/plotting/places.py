"""Places by the components of a kernel, or by two columns as they are."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse
from scipy.linalg import eigh
from scipy.spatial.distance import pdist
from sklearn.base import OneToOneFeatureMixin
from sklearn.decomposition import KernelPCA
from sklearn.manifold import smacof
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import check_array

from kernelmeans._fitted import is_pairwise
from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.estimators.assigner import read_new
from kernelmeans.estimators.base import KernelClusterer
from kernelmeans.heat import DiffusionKernel
from kernelmeans.kernels import CombinedKernel, Kernel
from kernelmeans.rows import Rows

# Spread of rows within clusters below which clusters are dots, as a fraction of the spread of all
# rows.
_DOT = 0.02
# Extent of a spread dot, as a fraction of the smallest distance between dots.
_ROOM = 0.3
# Most clusters whose centroids two components keep apart.
_FEW = 3
# Number of rows for each component from which ARPACK is faster than LAPACK, and relative range of
# kernel values below which there is no component to find.
_MANY, _FLAT = 10, 1e-12


def places(
    transformers: Sequence[Any],
    model: Any,
    shown: Any,
    rows: IntArray,
    n_rows: int,
    labels: IntArray,
) -> tuple[Array, tuple[str, str]]:
    """Places of rows on a map, and names of its axes.

    Parameters
    ----------
    transformers : sequence
        What was applied to the rows.
    model : clusterer
        Fitted.
    shown : array, sparse matrix, data frame or Rows
        The rows, as `predict` of the model takes them.
    rows : ndarray of int of shape (m,)
        Their positions.
    n_rows : int
        Number of all rows.
    labels : ndarray of int of shape (m,)
        Their clusters.

    Returns
    -------
    points : ndarray of shape (m, 2)
        The places.
    names : tuple of two str
        The names.
    """
    kernel, values = getattr(model, "kernel_", None), _read(model, shown)
    linear = Kernel("linear", {})
    is_sparse = scipy.sparse.issparse(values)
    if values.ndim == 2 and values.shape[1] == 2 and not (is_sparse or is_pairwise(model)):
        return _unscaled(transformers, values), _column_names([*transformers, model])
    K = _kernel_matrix(kernel or linear, values, rows, n_rows)
    if not isinstance(kernel, DiffusionKernel):
        kind = "principal component" if kernel is None else "kernel principal component"
        points = _components(K)[:, :2]
    else:
        is_few, points = len(np.unique(labels[labels >= 0])) <= _FEW, _projected(K, labels)
        kind = "heat component" if is_few else "heat projection"
        if kernel.has_coordinates and _are_dots(points, labels):
            kind = "principal component" if is_few else "linear projection"
            points = _projected(linear(values, values), labels)
        elif is_pairwise(model) and len(rows) == n_rows and _are_dots(points, labels):
            kind = "own component"
            points = _spread(points, scipy.sparse.csr_array(values), labels)
    return points, (f"{kind} 1", f"{kind} 2")


def _unscaled(transformers: Sequence[Any], values: Data) -> Array:
    """Values in the units that they had before they were scaled."""
    for transformer in reversed(transformers):
        scaler = getattr(transformer, "scaler_", transformer)
        is_scaler = isinstance(scaler, OneToOneFeatureMixin)
        if not (is_scaler and hasattr(scaler, "inverse_transform")):
            break
        values = scaler.inverse_transform(values)
        if scaler is not transformer:
            break
    return np.asarray(values, np.float64)


def _column_names(steps: Sequence[Any]) -> tuple[str, str]:
    """Names of the two columns that the last step has seen, or their numbers."""
    numbered = [f"column {n}" for n in range(getattr(steps[0], "n_features_in_", 2))]
    names = getattr(steps[0], "feature_names_in_", numbered)
    for step in steps[:-1]:
        columns = zip(names, getattr(step, "columns_", ()), strict=False)
        logarithms = [name for name, column in columns if column.is_logarithm]
        try:
            names = step.get_feature_names_out(names)
        except (AttributeError, ValueError):
            return "new column 0", "new column 1"
        names = [f"{name} (logarithm)" if name in logarithms else name for name in names]
    first, second = names if len(names) == 2 else numbered[:2]
    return str(first), str(second)


def _components(K: Array, count: int = 2) -> Array:
    """Leading kernel principal components; zeros beside them if there are not two."""
    K = np.asarray(K, dtype=np.float64)
    is_flat = np.ptp(K) <= _FLAT * np.abs(K).max()
    # ARPACK's start is random without a seed. An indefinite kernel is clipped, not refused.
    solver = "dense" if is_flat or len(K) <= _MANY * count else "arpack"
    pca = KernelPCA(min(count, len(K)), kernel="precomputed", eigen_solver=solver, random_state=0)
    found = pca.fit_transform(K)
    return np.pad(found, ((0, 0), (0, max(0, 2 - found.shape[1]))))


def _projected(K: Array, labels: IntArray) -> Array:
    """A linear projection of leading components that keeps centroids apart.

    Each pair of components alone lays most of many clusters on top of each other. So centroids get
    places on a plane by metric multidimensional scaling, and the projection is the one that takes
    rows nearest to the places of their centroids. Rows of no cluster (-1) have none.
    """
    placed = labels >= 0
    clusters, of_row = np.unique(labels[placed], return_inverse=True)
    if len(clusters) <= _FEW:
        return _components(K)
    found = _components(K, len(clusters) - 1)
    centroids = np.array([found[labels == cluster].mean(axis=0) for cluster in clusters])
    scaling: Any = {"n_init": 4, "random_state": 0, "normalized_stress": False}
    targets = smacof(euclidean_distances(centroids), **scaling)[0][of_row]
    plane = np.linalg.lstsq(found[placed], targets - targets.mean(axis=0))[0]
    return np.asarray(found @ plane)


def _are_dots(points: Array, labels: IntArray) -> bool:
    """Whether clusters are no more than dots on the map."""
    if not (placed := labels >= 0).any():
        return False
    points, labels = points[placed], labels[placed]
    distinct, clusters = np.unique(labels, return_inverse=True)
    means = np.array([points[labels == label].mean(axis=0) for label in distinct])
    within = np.square(points - means[clusters]).sum()
    return bool(within < _DOT**2 * np.square(points - points.mean(axis=0)).sum())


def _spread(points: Array, graph: Data, labels: IntArray) -> Array:
    """Clusters that are dots, each with its own leading components of the graph about its place."""
    distinct, clusters = np.unique(labels, return_inverse=True)
    means = np.array([points[labels == label].mean(axis=0) for label in distinct])
    found = means[clusters]
    room = _ROOM * pdist(means).min(initial=np.inf)
    for cluster in range(len(distinct)):
        own = np.flatnonzero(clusters == cluster)
        if len(own) > _MANY and np.isfinite(room):
            edges = graph[own][:, own].toarray()
            roots = np.sqrt(np.maximum(edges.sum(axis=1), np.finfo(float).tiny))
            # The last component is that of the degrees.
            last = len(own) - 1
            scaled = edges / np.outer(roots, roots)
            vectors = eigh(scaled, subset_by_index=(last - 2, last - 1))[1] / roots[:, None]
            found[own] += room * vectors / np.abs(vectors).max()
    return found


def _read(model: Any, shown: Any) -> Data:
    """Rows as the kernel takes them, checked as in `predict`."""
    if isinstance(model, KernelClusterer):
        values, _ = read_new(model, shown)
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
    for matrix, index, multiplier in kernel.parts:
        K, diagonal = np.array(stack[index], np.float64), np.diagonal(stack[index])
        total += multiplier * matrix.divide_by_norms(K, diagonal, matrix.norms(diagonal))
    return total
