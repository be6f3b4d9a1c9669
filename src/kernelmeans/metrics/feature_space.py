"""Measures of given labels in the feature space of a fitted estimator."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import silhouette_samples
from sklearn.utils.validation import check_is_fitted

from kernelmeans._arrays import double, namespace, reduce, take_columns
from kernelmeans._devices import HOST, Device
from kernelmeans._given import received
from kernelmeans._labels import encoded
from kernelmeans._text import counted
from kernelmeans._typing import Array, Data
from kernelmeans.engines import Threads
from kernelmeans.estimators.assigner import read_new
from kernelmeans.estimators.base import KernelClusterer
from kernelmeans.estimators.checks import check_gram
from kernelmeans.estimators.inputs import check_weights
from kernelmeans.kernels import CombinedKernel, Kernel
from kernelmeans.lowrank import Explicit
from kernelmeans.rows import Rows
from kernelmeans.solver.blockwise import distances_to
from kernelmeans.spaces import FeatureSpace, GramSpace, PartialSum, Space
from kernelmeans.spaces.kernel_rows import ROW_BUDGET, slices

#: Rows whose distances to all others are computed together.
DISTANCE_ROWS = 64
#: Arrays of n by n distances that silhouettes take at a time.
DISTANCE_COPIES = 3


def kernel_inertia(
    estimator: Any, X: Any, labels: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Cost of given labels under the kernel of a fitted estimator, whoever found them.

    It is the objective of weighted kernel k-means (Dhillon, Guan and Kulis 2004, section 2): the
    sum over rows of weight times squared distance to the mean of the cluster, in feature space. So
    labels of several methods can be compared. Costs under different kernels, or with different
    numbers of clusters, cannot be compared.

    Parameters
    ----------
    estimator : KernelPowerKMeans, MultiKernelPowerKMeans or another of this package
        A fitted estimator, which says what the kernel is. Several kernels count with its kernel
        weights.
    X : {array-like, CSR matrix, Rows, dask array} of shape (n_rows, n_features)
        The rows, as the estimator's `predict` takes them; they are loaded into memory. For
        precomputed kernels X is the matrix between all rows, as in `fit`.
    labels : array-like of shape (n_rows,)
        Any labels of the rows. Rows of no cluster (-1) count as one more: leave them out.
    sample_weight : array-like of shape (n_rows,), default=None
        Sample weights; all ones when None.

    Returns
    -------
    inertia : float
        The cost. For ``labels_``, X and the weights of a fit without ``outliers`` it is
        ``inertia_``, up to rounding, if the kernel is exact and the centroids are the means of
        their clusters, as they are once hard steps have converged.

    Raises
    ------
    NotFittedError
        If the estimator has not been fitted.
    TypeError
        If it is no estimator of this package.
    ValueError
        If X, labels or weights cannot be used, or if a precomputed matrix is not square and
        symmetric.

    Notes
    -----
    The kernel is exact even where the estimator has approximated it. The cost then lies within
    ``inertia_bounds_``. All n_rows^2 kernel values are computed twice, a few rows at a time, unless
    the kernel is an inner product of features, as linear and heat kernels are. Heat and graph
    kernels are those of the fit, which consist of leading eigenpairs; ``inertia_bounds_`` are
    about all eigenpairs.

    References
    ----------
    Dhillon, Guan and Kulis (2004), Kernel k-means, spectral clustering and normalized cuts.

    Examples
    --------
    >>> from kernelmeans import KernelPowerKMeans
    >>> from kernelmeans.metrics import kernel_inertia
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> model = KernelPowerKMeans(3, kernel="rbf", random_state=0).fit(X)
    >>> abs(kernel_inertia(model, X, model.labels_) - model.inertia_) < 1e-9
    True
    >>> others = KMeans(3, random_state=0).fit_predict(X)
    >>> kernel_inertia(model, X, others) >= model.inertia_
    True
    """
    rows, device = _received(estimator, X)
    distinct, codes = encoded("labels", labels, rows.shape[0])
    weight = check_weights(received(sample_weight, "sample_weight"), rows, n_clusters=1)
    spaces = _spaces(estimator.kernel_, rows, weight, device)
    return sum(factor * _cost(space, codes, len(distinct)) for factor, space in spaces)


def kernel_silhouette_samples(estimator: Any, X: Any, labels: ArrayLike) -> Array:
    """Silhouette of each row in the feature space of a fitted estimator.

    It is (b - a) / max(a, b) (Rousseeuw 1987). Here a is the mean distance to the other rows of its
    cluster, and b is the smallest mean distance to the rows of another cluster. Distances are those
    in feature space, not squared. It is for pictures of one clustering. It is no criterion for
    the kernel or for the number of clusters: the kernel decides the distances.

    Parameters
    ----------
    estimator : KernelPowerKMeans, MultiKernelPowerKMeans or another of this package
        A fitted estimator, which says what the kernel is. Several kernels count with its kernel
        weights.
    X : {array-like, CSR matrix, Rows, dask array} of shape (n_rows, n_features)
        The rows, as for `kernel_inertia`.
    labels : array-like of shape (n_rows,)
        Any labels of the rows, of at least two clusters and fewer clusters than rows. Rows of no
        cluster (-1) count as one more: leave them out.

    Returns
    -------
    silhouettes : ndarray of shape (n_rows,)
        Between -1 and 1; 0 for the row of a cluster of one row.

    Raises
    ------
    NotFittedError
        If the estimator has not been fitted.
    TypeError
        If it is no estimator of this package.
    ValueError
        If X or labels cannot be used.
    MemoryError
        If all n_rows^2 distances do not fit into the ``memory_budget`` of the estimator.

    References
    ----------
    Rousseeuw (1987), Silhouettes: a graphical aid to the interpretation and validation of cluster
    analysis.

    Examples
    --------
    >>> from kernelmeans import KernelPowerKMeans
    >>> from kernelmeans.metrics import kernel_silhouette_samples
    >>> X = [[0.0], [0.1], [5.0], [5.1]]
    >>> model = KernelPowerKMeans(2, kernel="linear", random_state=0).fit(X)
    >>> kernel_silhouette_samples(model, X, model.labels_).round(2)
    array([0.98, 0.98, 0.98, 0.98])
    """
    rows, device = _received(estimator, X)
    n = rows.shape[0]
    distinct, codes = encoded("labels", labels, n)
    if not 1 < len(distinct) < n:
        raise ValueError(
            f"labels has {counted(len(distinct), 'cluster')} of {counted(n, 'row')}: silhouettes "
            "need at least two clusters, and fewer clusters than rows."
        )
    HOST.budget(estimator.memory_budget).check(
        DISTANCE_COPIES * n * n * 8,
        f"n_rows={n}: the distances between all rows",
        "Give a random part of the rows and their labels",
    )
    squared = np.zeros((n, n))
    for factor, space in _spaces(estimator.kernel_, rows, np.ones(n, rows.dtype), device):
        for some in slices(n, DISTANCE_ROWS):
            own = space.at(np.arange(n)[some, None])
            squared[some] += factor * distances_to(space, own)[:, 0]
    np.fill_diagonal(squared, 0)
    found: Array = silhouette_samples(np.sqrt(squared), codes, metric="precomputed")
    return found


def _received(estimator: Any, X: Any) -> tuple[Data, Device]:
    """The rows in memory, checked as for `predict`, and the estimator's device."""
    if not isinstance(estimator, KernelClusterer):
        raise TypeError(
            f"estimator={estimator!r} is no estimator of kernelmeans: give a fitted one, such as "
            "KernelPowerKMeans. In a pipeline that is its last step, and X what this step gets."
        )
    check_is_fitted(estimator)
    rows, device = read_new(estimator, X)
    return rows[:] if isinstance(rows, Rows) else rows, device


def _spaces(
    kernel: Kernel | CombinedKernel, X: Data, weight: Array, device: Device
) -> Iterator[tuple[float, Space]]:
    """The factor on the squared distances of each kernel, and its space, one kernel at a time."""
    with Threads(None if device.is_host else 1) as threads:
        for one, columns, factor in kernel.parts:
            yield factor, _space(one, take_columns(X, columns), weight, threads, device)


def _space(kernel: Kernel, X: Data, weight: Array, threads: Threads, device: Device) -> Space:
    """The space of an exact kernel: its features, or its kernel rows whenever they are needed."""
    if kernel.has_features:
        return FeatureSpace.hold(Explicit(kernel), X, weight, threads, device)
    if kernel.precomputed:
        check_gram(X)
    return GramSpace.hold(kernel, X, weight, threads, device, ROW_BUDGET)


def _cost(space: Space, codes: Any, n_clusters: int) -> float:
    """Weighted squared distances to the means of clusters."""
    total = space.reduce(_block_sums, (n_clusters, 1), n_clusters, per_sample=(codes,))
    cluster_weight, squares = total.sums
    means = space.update(total.vectors, cluster_weight)
    # Rounding may put a cost of 0 below 0.
    return max(0.0, float(squares - (cluster_weight * space.norms(means)).sum()))


def _block_sums(space: Space, block: slice, codes: Array, n_clusters: int) -> PartialSum:
    v = space.device_weight[block]
    xp = namespace(v)
    clusters = xp.arange(n_clusters, dtype=v.dtype, device=v.device)
    weights = xp.where(codes == clusters[:, None, None], v, xp.zeros_like(v))
    cluster_weight = double(reduce("sum", weights, axis=-1))
    squares = double(v) @ double(space.squared_norms(block))
    return PartialSum(space.accumulate(weights, block), (cluster_weight, squares))
