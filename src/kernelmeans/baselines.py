"""Methods that kernel power k-means is compared with, as other rules for the same driver."""

from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from kernelmeans._sklearn import Interval, StrOptions
from kernelmeans._typing import Array
from kernelmeans.estimators.checks import ALTERNATING, KERNEL, KERNELS
from kernelmeans.estimators.multi import SeveralKernelsClusterer
from kernelmeans.estimators.single import OneKernelClusterer
from kernelmeans.solver import Alternating, Method
from kernelmeans.solver.power import DISTANCE
from kernelmeans.spaces import Space, WeightRule

__all__ = ["MKKM", "RKKM", "RMKKM"]

#: Least cost of a kernel relative to the dearest one: its reciprocal must be finite.
LEAST_COST = 1e-12


def _positive(costs: Array) -> Array:
    """Costs (R, L) held above zero."""
    largest = np.maximum(costs.max(axis=1, keepdims=True), np.finfo(float).tiny)
    return np.asarray(np.maximum(costs / largest, LEAST_COST))


class SquaredRule(WeightRule):
    """Squared weights on the simplex multiply distances: min sum_l a_l^2 b_l (Huang et al. 2012).

    The minimiser is a_l = (1 / b_l) / sum_t (1 / b_t).
    """

    def start(self, n_kernels: int) -> Array:
        return np.full(n_kernels, 1 / n_kernels)

    def update(self, costs: Array) -> Array:
        weights = 1 / _positive(costs)
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def multipliers(self, weights: Array) -> Array:
        return weights**2


class PowerSumRule(WeightRule):
    """Weights whose powers sum to one: min sum_l a_l h_l with sum_l a_l^g = 1 (Du et al. 2015).

    For 0 < g < 1 the minimiser is a_l = h_l^(1/(g-1)) / (sum_t h_t^(g/(g-1)))^(1/g).

    Parameters
    ----------
    exponent : float
        The g, between 0 and 1.
    """

    def __init__(self, exponent: float) -> None:
        self.exponent = exponent

    def start(self, n_kernels: int) -> Array:
        return np.full(n_kernels, n_kernels ** (-1 / self.exponent))

    def update(self, costs: Array) -> Array:
        g = self.exponent
        # The unit of the costs cancels.
        logs = np.log(_positive(costs)) / (g - 1)
        top = logs.max(axis=1, keepdims=True)
        weights = np.exp(logs - top)
        return np.asarray(weights / (weights**g).sum(axis=1, keepdims=True) ** (1 / g))


class MKKM(SeveralKernelsClusterer):
    """Multiple kernel k-means: hard clusters and squared kernel weights, in turns.

    Minimises sum_i sum_l a_l^2 d_l(i, c(i)) over clusters and weights a on the simplex. Each turn
    moves the centroids, then the weights a_l = (1 / b_l) / sum_t (1 / b_t), with b_l the cost in
    kernel l, then assigns samples to clusters; none of these raises the objective. A cluster that
    gets empty stays empty, as in the published program: fewer than n_clusters may be found, with
    a warning.

    Here to compare `MultiKernelPowerKMeans` with.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    kernels : {"neighbors", "widths", "du2015", "precomputed"} or list, default="widths"
        The kernels: a family, kernel matrices, or a list of kernels and the columns that each of
        them sees. The families are ``"neighbors"``, two heat kernels on graphs of nearest
        neighbours (`kernelmeans.heat.neighbor_family`), ``"widths"``, five rbf kernels around the
        root mean square width (`kernelmeans.kernels.width_family`), and ``"du2015"``, twelve
        kernels (`kernelmeans.kernels.du2015_family`). With ``"precomputed"`` X is a stack of kernel
        matrices, shape (L, n, n), which cannot be cross-validated. Items of a list are a kernel or
        a family by name, a callable of two matrices, or ``dict(kernel=, gamma=, degree=, coef0=,
        kernel_params=, n_neighbors=, t=, metric=)``, the parameters of `KernelPowerKMeans` (the
        family ``"neighbors"`` takes ``metric`` too); or a pair of one of these and columns of X:
        names, indices, a mask, a slice or a callable, as in scikit-learn's ColumnTransformer.
        Columns that no item names are ignored; in a table they may hold anything.
    kernel_scaling : {"unit-variance", "cosine", "min-max"} or None, default=None
        How kernels are put on one scale, so that their units do not decide their weights.
        ``"unit-variance"`` divides by the kernel variance: the mean squared distance from the mean
        becomes 1. ``"cosine"`` normalizes to K(x, x) = 1. ``"min-max"`` does that and stretches
        values to lie between 0 and 1, as the paper does. None leaves kernels as they are. The scale
        is learned in fit and applied in predict.
        By default kernels are not scaled, as published.
    init : {"random-partition", "k-means++", "random"}, array-like or callable, \
default="random-partition"
        A random cluster for every sample, as published; ``"k-means++"``, greedy k-means++ in the
        combined feature space; ``"random"`` samples; row indices of shape (k,) or (n_init, k);
        starting weights of shape (n_samples, k); coordinates of shape (k, n_features), not for
        precomputed kernels; or a callable ``init(X, n_clusters, random_state)`` that returns one of
        these. Integers are indices. A start from weights also gives the first kernel weights;
        others begin with equal ones.
    n_init : "auto" or int, default="auto"
        Restarts, of which the one of least objective is kept. ``"auto"``: 1 for k-means++ and given
        starts, else 10.
    max_iter : int, default=100
        Most turns.
    tol : float, default=1e-5
        Relative change of the objective that ends a run.
    memory_budget : int, str or None, default=None
        Memory to take, in bytes or as ``"4GB"``; by default 80 % of all memory, free or not. A
        kernel matrix and centroids beyond it, or beyond what is free by then, are refused before
        they are computed; restarts are run in batches that fit.
    cache_kernel : bool, default=True
        Whether kernel matrices are kept in memory, or their rows are computed again at each step.
    random_state : int, RandomState or None, default=None
        Seed of all randomness.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each training row; equal to ``predict(X)``.
    inertia_ : float
        The objective at the end; equal to ``-score(X)``.
    objective_history_ : ndarray of shape (n_iter,)
        The objective with which each turn began.
    power_history_ : ndarray of shape (n_iter,)
        -inf: all steps are hard.
    n_iter_ : int
        Turns of the best restart.
    memberships_ : ndarray of shape (n_samples, n_clusters) or None
        1 for the cluster of a row, 0 for the others. None where they would take more than a quarter
        of the memory budget.
    kernel_weights_ : ndarray of shape (L,)
        Weight of each kernel, which sum to 1. A kernel that is constant on the data gets 0.
    kernel_weights_history_ : ndarray of shape (n_iter, L)
        The weights with which each turn began.
    kernel_factors_ : ndarray of shape (L,)
        By which ``kernel_scaling`` multiplies squared distances.
    kernels_ : list of L kernelmeans.kernels.Kernel
        The kernels with their parameters settled; heat kernels have ``eigenvalues`` and
        ``n_pieces`` of their graphs too.
    kernel_ : kernelmeans.kernels.CombinedKernel
        The combined kernel as a function of two matrices of rows, constant kernels left out.
    approximation_, approximation_reason_ : list of L str
        How each kernel was held (``"exact"``, ``"blocked"``: rows recomputed, or ``"explicit"``: an
        inner product of the rows), and why.
    approximation_error_ : float or None
        0; None where a kernel is seen to be indefinite.
    inertia_bounds_ : tuple of float or None
        The cost of ``labels_`` under the exact kernels and these weights, about the means of the
        clusters, lies between them; ``inertia_`` twice for exact kernels, None as above.
    result_ : kernelmeans.solver.Result
        Labels, costs and histories of all restarts, and why each ended
        (`kernelmeans.solver.Ending`).
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, where X had them.

    References
    ----------
    Huang, Chuang and Chen (2012), Multiple kernel fuzzy clustering.

    Examples
    --------
    >>> from kernelmeans.baselines import MKKM
    >>> from sklearn.datasets import load_iris
    >>> model = MKKM(3, random_state=0).fit(load_iris().data)
    >>> float(model.kernel_weights_.sum().round(6))
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ALTERNATING,
        **KERNELS,
        "init": [StrOptions({"random-partition", "k-means++", "random"}), callable, "array-like"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernels: str | Sequence[Any] = "widths",
        kernel_scaling: str | None = None,
        init: Any = "random-partition",
        n_init: int | str = "auto",
        max_iter: int = 100,
        tol: float = 1e-5,
        memory_budget: int | str | None = None,
        cache_kernel: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernels = kernels
        self.kernel_scaling = kernel_scaling
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.memory_budget = memory_budget
        self.cache_kernel = cache_kernel
        self.random_state = random_state

    def _method(self, space: Space) -> Method:
        return Alternating(max_iter=self.max_iter, tol=self.tol, refills=False)

    def _weight_rule(self, scale: float) -> WeightRule:
        return SquaredRule()


class RKKM(OneKernelClusterer):
    """Robust kernel k-means: kernel k-means of distances instead of their squares.

    Minimises sum_i sqrt(d(i, c(i))). Each turn weighs every sample by 1 / (2 sqrt(d)), d its
    squared distance to its own centroid, moves the centroids to the weighted means, and assigns
    samples to clusters; none of these raises the objective. Only the first turn weighs all samples
    alike, because a start on one would hold its centroid there; it may raise it. A cluster that
    gets empty is put on the costliest sample, which does not raise the objective either. Distances
    are held above rounding noise.

    Here to compare `KernelPowerKMeans` with.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    kernel : {"heat", "rbf", "laplacian", "poly", "cosine", "linear", "sigmoid", "geodesic", \
"graph", "precomputed"} or callable, default="rbf"
        How alike two rows are: ``"heat"`` finds clusters of any shape, ``"rbf"`` round ones.
        ``"heat"`` is the heat kernel of the graph of nearest neighbours
        (`kernelmeans.heat.HeatKernel`), and ``"graph"`` the same where X itself is the graph, a
        symmetric matrix of edges (`kernelmeans.heat.GraphKernel`). ``"rbf"`` is the paper's
        Gaussian; ``"laplacian"``, ``"poly"``, ``"cosine"``, ``"linear"`` and ``"sigmoid"`` are
        scikit-learn's; ``"geodesic"`` is `kernelmeans.kernels.geodesic_kernel`. With
        ``"precomputed"`` X is the kernel matrix. A callable takes two matrices of rows and returns
        the kernel between them; it is called from several threads. A callable, ``"sigmoid"`` or
        ``"precomputed"`` kernel that is not positive semi-definite brings a warning with the size
        of the violation. Parameters that the kernel does not have bring a warning too.
        Costs compare only where the kernels are the same: the default of `KernelPowerKMeans` is
        ``"heat"``.
    gamma : {"rms", "median", "scale"} or float, default="rms"
        Width, where the kernel has one. ``"rms"``: the paper's 1 / (2 sigma^2) for rbf, sigma the
        root mean square distance of two rows; 1 / n_features for laplacian, poly and sigmoid; 0.5
        for geodesic. ``"median"``: sigma the median distance of a seeded sample. ``"scale"``:
        1 / (n_features * X.var()). Rows count by their weights.
    degree : float, default=3
        Degree of the poly kernel.
    coef0 : float, default=1
        Constant of the poly and sigmoid kernels.
    kernel_params : dict, default=None
        Keyword arguments for a callable kernel.
    n_neighbors : "auto" or int, default="auto"
        Neighbours of a row in the graph of the heat kernel, itself included. ``"auto"``:
        1 + log2(n_samples / n_clusters), rounded; twice that where the graph would be in more
        pieces than clusters.
    t : "auto" or float, default="auto"
        Time of the heat and graph kernels; ``"auto"`` is that at which heat has mixed within as
        many groups of rows as there are clusters, and has hardly flowed between them.
    metric : {"euclidean", "cosine", "precomputed"}, default="euclidean"
        What the heat kernel's neighbours are near in. ``"precomputed"``: X is a sparse matrix of
        distances to neighbours, as `sklearn.neighbors.KNeighborsTransformer` makes it. The graph
        kernel takes neither this nor ``n_neighbors``.
    init : {"k-means++", "random"}, array-like or callable, default="random"
        Starting centroids; published with ``"random"`` samples. ``"k-means++"`` is greedy k-means++
        in feature space. Or row indices of shape (k,) or (n_init, k); starting weights of shape
        (n_samples, k); coordinates of shape (k, n_features), not for precomputed kernels; or a
        callable ``init(X, n_clusters, random_state)`` that returns one of these. Integers are
        indices.
    n_init : "auto" or int, default="auto"
        Restarts, of which the one of least objective is kept. ``"auto"``: 1 for k-means++ and given
        starts, else 10.
    max_iter : int, default=100
        Most turns.
    tol : float, default=1e-5
        Relative change of the objective that ends a run.
    memory_budget : int, str or None, default=None
        Memory to take, in bytes or as ``"4GB"``; by default 80 % of all memory, free or not. A
        kernel matrix and centroids beyond it, or beyond what is free by then, are refused before
        they are computed; restarts are run in batches that fit.
    cache_kernel : bool, default=True
        Whether kernel matrices are kept in memory, or their rows are computed again at each step.
    random_state : int, RandomState or None, default=None
        Seed of all randomness.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each training row; equal to ``predict(X)``.
    inertia_ : float
        Weighted sum of squared distances to the nearest centroid; equal to ``-score(X)``. Not the
        objective, which sums their roots.
    objective_history_ : ndarray of shape (n_iter,)
        The objective with which each turn began.
    power_history_ : ndarray of shape (n_iter,)
        -inf: all steps are hard.
    n_iter_ : int
        Turns of the best restart.
    memberships_ : ndarray of shape (n_samples, n_clusters) or None
        1 for the cluster of a row, 0 for the others. None where they would take more than a quarter
        of the memory budget.
    kernel_ : kernelmeans.kernels.Kernel
        The kernel with its parameters settled, a function of two matrices of rows.
    gamma_ : float or None
        Width used, where the kernel has one.
    n_neighbors_, t_ : int and float, or None
        Neighbours of the heat kernel, and time of the heat and graph kernels; None for others.
    eigenvalues_ : ndarray of shape (r,) or None
        Eigenvalues of its graph, one for each feature, in descending order.
    n_pieces_ : int or None
        Connected components of its graph. Where they outnumber the clusters, or hold fewer rows
        than a twentieth of the mean cluster, they join what is nearest to them; of a graph that is
        given they are one group, with a warning.
    approximation_, approximation_reason_ : str
        How the kernel was held (``"exact"``, ``"blocked"``: rows recomputed, or ``"explicit"``: an
        inner product of the rows), and why.
    approximation_error_ : float or None
        0; None where the kernel is seen to be indefinite.
    inertia_bounds_ : tuple of float or None
        The kernel k-means cost of ``labels_`` under the exact kernel, about the means of the
        clusters, lies between them; ``inertia_`` twice for an exact kernel, None as above.
    result_ : kernelmeans.solver.Result
        Labels, costs and histories of all restarts, and why each ended
        (`kernelmeans.solver.Ending`).
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, where X had them.

    References
    ----------
    Du, Zhou, Shi, Wang, Wang, Li and Wang (2015), Robust multiple kernel k-means using l2,1-norm.

    Examples
    --------
    >>> from kernelmeans.baselines import RKKM
    >>> model = RKKM(2, random_state=0).fit([[0.0], [0.1], [5.0], [5.1]])
    >>> bool(model.labels_[0] == model.labels_[1] != model.labels_[2])
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {**ALTERNATING, **KERNEL}

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: str | Callable[..., Any] = "rbf",
        gamma: str | float = "rms",
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        n_neighbors: int | str = "auto",
        t: float | str = "auto",
        metric: str = "euclidean",
        init: Any = "random",
        n_init: int | str = "auto",
        max_iter: int = 100,
        tol: float = 1e-5,
        memory_budget: int | str | None = None,
        cache_kernel: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_neighbors = n_neighbors
        self.t = t
        self.metric = metric
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.memory_budget = memory_budget
        self.cache_kernel = cache_kernel
        self.random_state = random_state

    def _method(self, space: Space) -> Method:
        return Alternating(max_iter=self.max_iter, tol=self.tol, cost=DISTANCE)


class RMKKM(SeveralKernelsClusterer):
    """Robust multiple kernel k-means: distances instead of their squares, and kernel weights.

    Minimises sum_i sqrt(sum_l a_l d_l(i, c(i))) over clusters and weights with sum_l a_l^g = 1.
    Each turn weighs every sample by 1 / (2 sqrt(D)), D its distance to its own centroid, moves the
    centroids, then the weights a_l = h_l^(1/(g-1)) / (sum_t h_t^(g/(g-1)))^(1/g), with h_l the
    weighted cost in kernel l, then assigns samples to clusters; none of these raises the
    objective. Only the first turn weighs all samples alike, because a start on one would hold its
    centroid there; it may raise it. A cluster that gets empty is put on the costliest sample, which
    does not raise the objective either. Distances are held above rounding noise.

    The authors' program solves robust kernel k-means anew, from ten starts, after each change of
    the weights, which is slower; this one takes one turn of each.

    Here to compare `MultiKernelPowerKMeans` with.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    kernels : {"neighbors", "widths", "du2015", "precomputed"} or list, default="widths"
        The kernels: a family, kernel matrices, or a list of kernels and the columns that each of
        them sees. The families are ``"neighbors"``, two heat kernels on graphs of nearest
        neighbours (`kernelmeans.heat.neighbor_family`), ``"widths"``, five rbf kernels around the
        root mean square width (`kernelmeans.kernels.width_family`), and ``"du2015"``, twelve
        kernels (`kernelmeans.kernels.du2015_family`). With ``"precomputed"`` X is a stack of kernel
        matrices, shape (L, n, n), which cannot be cross-validated. Items of a list are a kernel or
        a family by name, a callable of two matrices, or ``dict(kernel=, gamma=, degree=, coef0=,
        kernel_params=, n_neighbors=, t=, metric=)``, the parameters of `KernelPowerKMeans` (the
        family ``"neighbors"`` takes ``metric`` too); or a pair of one of these and columns of X:
        names, indices, a mask, a slice or a callable, as in scikit-learn's ColumnTransformer.
        Columns that no item names are ignored; in a table they may hold anything.
    kernel_scaling : {"unit-variance", "cosine", "min-max"} or None, default=None
        How kernels are put on one scale, so that their units do not decide their weights.
        ``"unit-variance"`` divides by the kernel variance: the mean squared distance from the mean
        becomes 1. ``"cosine"`` normalizes to K(x, x) = 1. ``"min-max"`` does that and stretches
        values to lie between 0 and 1, as the paper does. None leaves kernels as they are. The scale
        is learned in fit and applied in predict.
        By default kernels are not scaled, as published.
    exponent : float, default=0.4
        The g, from 0.05 to below 1. Near 0 kernel weights are nearly the reciprocals of the costs,
        near 1 one kernel takes all. The publication names 0.3, but its figures are those of 0.4.
    init : {"k-means++", "random"}, array-like or callable, default="random"
        Starting centroids; published with ``"random"`` samples. ``"k-means++"`` is greedy k-means++
        in feature space. Or row indices of shape (k,) or (n_init, k); starting weights of shape
        (n_samples, k); coordinates of shape (k, n_features), not for precomputed kernels; or a
        callable ``init(X, n_clusters, random_state)`` that returns one of these. Integers are
        indices.
    n_init : "auto" or int, default="auto"
        Restarts, of which the one of least objective is kept. ``"auto"``: 1 for k-means++ and given
        starts, else 10.
    max_iter : int, default=100
        Most turns.
    tol : float, default=1e-5
        Relative change of the objective that ends a run.
    memory_budget : int, str or None, default=None
        Memory to take, in bytes or as ``"4GB"``; by default 80 % of all memory, free or not. A
        kernel matrix and centroids beyond it, or beyond what is free by then, are refused before
        they are computed; restarts are run in batches that fit.
    cache_kernel : bool, default=True
        Whether kernel matrices are kept in memory, or their rows are computed again at each step.
    random_state : int, RandomState or None, default=None
        Seed of all randomness.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each training row; equal to ``predict(X)``.
    inertia_ : float
        Weighted sum of squared distances sum_l a_l d_l to the nearest centroid; equal to
        ``-score(X)``. Not the objective, which sums their roots.
    objective_history_ : ndarray of shape (n_iter,)
        The objective with which each turn began.
    power_history_ : ndarray of shape (n_iter,)
        -inf: all steps are hard.
    n_iter_ : int
        Turns of the best restart.
    memberships_ : ndarray of shape (n_samples, n_clusters) or None
        1 for the cluster of a row, 0 for the others. None where they would take more than a quarter
        of the memory budget.
    kernel_weights_ : ndarray of shape (L,)
        The a_l; their powers ``kernel_weights_ ** exponent`` sum to 1. A kernel that is constant on
        the data gets 0.
    kernel_weights_history_ : ndarray of shape (n_iter, L)
        The weights with which each turn began.
    kernel_factors_ : ndarray of shape (L,)
        By which ``kernel_scaling`` multiplies squared distances.
    kernels_ : list of L kernelmeans.kernels.Kernel
        The kernels with their parameters settled; heat kernels have ``eigenvalues`` and
        ``n_pieces`` of their graphs too.
    kernel_ : kernelmeans.kernels.CombinedKernel
        The combined kernel as a function of two matrices of rows, constant kernels left out.
    approximation_, approximation_reason_ : list of L str
        How each kernel was held (``"exact"``, ``"blocked"``: rows recomputed, or ``"explicit"``: an
        inner product of the rows), and why.
    approximation_error_ : float or None
        0; None where a kernel is seen to be indefinite.
    inertia_bounds_ : tuple of float or None
        The cost of ``labels_`` under the exact kernels and these weights, about the means of the
        clusters, lies between them; ``inertia_`` twice for exact kernels, None as above.
    result_ : kernelmeans.solver.Result
        Labels, costs and histories of all restarts, and why each ended
        (`kernelmeans.solver.Ending`).
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, where X had them.

    References
    ----------
    Du, Zhou, Shi, Wang, Wang, Li and Wang (2015), Robust multiple kernel k-means using l2,1-norm.

    Examples
    --------
    >>> from kernelmeans.baselines import RMKKM
    >>> from sklearn.datasets import load_iris
    >>> model = RMKKM(3, random_state=0).fit(load_iris().data)
    >>> float((model.kernel_weights_**0.4).sum().round(6))
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ALTERNATING,
        **KERNELS,
        # Weights are about L^(-1/g), which has to stay a number.
        "exponent": [Interval(Real, 0.05, 1, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernels: str | Sequence[Any] = "widths",
        kernel_scaling: str | None = None,
        exponent: float = 0.4,
        init: Any = "random",
        n_init: int | str = "auto",
        max_iter: int = 100,
        tol: float = 1e-5,
        memory_budget: int | str | None = None,
        cache_kernel: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernels = kernels
        self.kernel_scaling = kernel_scaling
        self.exponent = exponent
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.memory_budget = memory_budget
        self.cache_kernel = cache_kernel
        self.random_state = random_state

    def _method(self, space: Space) -> Method:
        return Alternating(max_iter=self.max_iter, tol=self.tol, cost=DISTANCE)

    def _weight_rule(self, scale: float) -> WeightRule:
        return PowerSumRule(self.exponent)
