"""Other methods, for comparison with kernel power k-means. They use the same solver."""

from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from kernelmeans._sklearn import Interval, StrOptions
from kernelmeans._typing import (
    Array,
    Auto,
    FamilyName,
    GivenStarts,
    KernelName,
    MetricName,
    ScalingName,
    SeedingName,
    WidthName,
)
from kernelmeans.estimators.checks import ALTERNATING, KERNELS, OF_KERNEL
from kernelmeans.estimators.multi import SeveralKernelsClusterer
from kernelmeans.estimators.single import OneKernelClusterer
from kernelmeans.solver import Alternating, Method
from kernelmeans.solver.power import DISTANCE
from kernelmeans.spaces import Space, WeightRule

__all__ = ["MKKM", "RKKM", "RMKKM"]


def _relative(costs: Array) -> Array:
    """The lowest cost of each restart (R, L) as a part of the others: more than 0, at most 1."""
    least = np.finfo(float).tiny
    costs = np.maximum(costs.astype(np.float64, copy=False), least)
    return np.asarray(np.maximum(costs.min(axis=1, keepdims=True) / costs, least))


class SquaredRule(WeightRule):
    """Squared weights on the simplex multiply distances: min sum_l a_l^2 b_l (Huang et al. 2012).

    The minimiser is a_l = (1 / b_l) / sum_t (1 / b_t).
    """

    def update(self, costs: Array) -> Array:
        weights = _relative(costs)
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
        logs = np.log(_relative(costs)) / (1 - g)
        top = logs.max(axis=1, keepdims=True)
        weights = np.exp(logs - top)
        return np.asarray(weights / (weights**g).sum(axis=1, keepdims=True) ** (1 / g))


class MKKM(SeveralKernelsClusterer):
    """Multiple kernel k-means: hard clusters and squared kernel weights, in turns.

    Minimises sum_i sum_l a_l^2 d_l(i, c(i)) over clusters and weights a on the simplex. Each turn
    moves the centroids, then the weights a_l = (1 / b_l) / sum_t (1 / b_t), with b_l the cost in
    kernel l, then assigns samples to clusters; none of these raises the objective. A cluster that
    becomes empty stays empty, as in the published program. Then fewer than n_clusters are found,
    with a warning.

    It is here for comparison with `MultiKernelPowerKMeans`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    kernels : {"neighbors", "widths", "du2015", "precomputed"} or list, default="widths"
        The kernels: a family, kernel matrices, or a list of kernels and the columns that each of
        them sees. The family ``"neighbors"`` holds two heat kernels on graphs of nearest neighbours
        (`kernelmeans.heat.neighbor_family`), ``"widths"`` five rbf kernels around the root mean
        square width (`kernelmeans.kernels.width_family`), and ``"du2015"`` twelve kernels
        (`kernelmeans.kernels.du2015_family`). With ``"precomputed"`` X is a stack of kernel
        matrices, shape (L, n, n), which cannot be cross-validated. An item of a list is the name of
        a kernel or family, a callable of two matrices, or a dict with the keys ``kernel``,
        ``gamma``, ``degree``, ``coef0``, ``kernel_params``, ``n_neighbors``, ``t``, ``metric`` and
        ``density``, which are the parameters of `KernelPowerKMeans`. A family takes no parameters,
        except ``metric`` for ``"neighbors"``. An item can also be a pair of one of these and
        columns of X, or a triple ``(name, kernel, columns)``. Columns are names, indices, a mask, a
        slice or a callable, as in scikit-learn's ColumnTransformer. Columns without an item are
        ignored, and in a table they may hold anything.
    kernel_scaling : {"unit-variance", "cosine", "min-max"} or None, default=None
        Common scale of the kernels, so that their units do not decide their weights.
        ``"unit-variance"`` divides each kernel by its variance, so that the mean squared distance
        from the mean is 1. ``"cosine"`` normalizes each kernel to k(x, x) = 1. ``"min-max"`` also
        stretches the values to lie between 0 and 1, as in the paper. None leaves kernels as they
        are. The scale is learned in fit and used in predict. By default kernels are not scaled, as
        published.
    init : {"random-partition", "k-means++", "random"}, array-like or callable, \
default="random-partition"
        Starting centroids. ``"random-partition"`` gives each sample a random cluster, as published;
        ``"k-means++"`` is greedy k-means++ in the combined feature space; ``"random"`` chooses
        random samples. An array of integers holds row indices, of shape (k,) or (n_init, k). An
        array of floats holds starting weights of shape (n_samples, k), or coordinates of shape
        (k, n_features), which precomputed kernels do not have. A callable
        ``init(X, n_clusters, random_state)`` returns such an array. Starting weights and random
        partitions also decide the first kernel weights; other starts begin with equal ones.
    n_init : "auto" or int, default="auto"
        Number of restarts, of which the one of lowest objective is kept. ``"auto"`` is 1 for
        k-means++ and given starts, and 10 otherwise.
    max_iter : int, default=100
        Maximum number of turns.
    tol : float, default=1e-5
        Relative change of the objective that ends a run.
    memory_budget : int, str or None, default=None
        Memory for the fit, in bytes or as a text such as ``"4GB"``. None is 80 % of all memory,
        free or not. Kernel matrices that do not fit into the budget together with the centroids are
        refused before they are computed. Without a budget, so are those that do not fit into the
        free memory. Restarts run in batches that fit.
    cache_kernel : bool, default=True
        Whether the kernel matrices are kept in memory. If False, their rows are recomputed in each
        step.
    verbose : int, default=0
        How much is printed: nothing for 0, a line for each restart and some at the end for 1, and a
        line for each step too for 2. Steps of swap moves have none.
    random_state : int, RandomState or None, default=None
        Seed of all randomness.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each training row; equal to ``predict(X)``. Clusters are numbered by weight, the
        largest first, unless ``init`` gives the starts or ``fit`` gets earlier labels.
    distances_ : ndarray of shape (n_samples, 2)
        Distances (not squared) of each training row to its own centroid and to the second nearest
        one; a single column for one cluster.
    inertia_ : float
        Objective at the end; equal to ``-score(X)``.
    objective_history_ : ndarray of shape (n_iter,)
        Objective at the beginning of each turn.
    power_history_ : ndarray of shape (n_iter,)
        -inf for each turn, because all steps are hard.
    n_iter_ : int
        Number of turns of the best restart.
    memberships_ : ndarray of shape (n_samples, n_clusters) or None
        1 for the cluster of a row, 0 for the others. None if they would take more than a quarter of
        the memory budget.
    certainty_ : ndarray of shape (n_samples,)
        Ones, because memberships are hard.
    kernel_weights_ : ndarray of shape (L,)
        Weight of each kernel; they sum to 1. A kernel that is constant on the data gets 0.
    kernel_weights_history_ : ndarray of shape (n_iter, L)
        Kernel weights at the beginning of each turn.
    kernel_factors_ : ndarray of shape (L,)
        Factors by which ``kernel_scaling`` multiplies squared distances.
    kernel_names_ : list of L str
        Names of the kernels: those of their views, or else of the kernels, with numbers if they
        would be alike.
    kernels_ : list of L kernelmeans.kernels.Kernel
        The kernels with their parameters settled. Heat kernels also have ``eigenvalues`` and
        ``n_pieces`` of their graphs.
    kernel_ : kernelmeans.kernels.CombinedKernel
        The combined kernel without constant kernels, a function of two matrices of rows.
    approximation_, approximation_reason_ : list of L str
        How each kernel is held, and why. ``"exact"`` is a kernel matrix, ``"blocked"`` are kernel
        rows that are recomputed in each step, and ``"explicit"`` are features whose inner product
        is the kernel.
    approximation_error_ : float or None
        0 for exact kernels. With heat kernels it is what `kernelmeans.MultiKernelPowerKMeans` says.
        None if a kernel turns out not to be positive semi-definite.
    inertia_bounds_ : tuple of float or None
        Lower and upper bound of the cost of ``labels_`` under the exact kernels and these weights,
        if the centroids are the means of the clusters. Both are ``inertia_`` for exact kernels.
        None if ``approximation_error_`` is None.
    separation_ : ndarray of shape (n_clusters,) or None
        How far each cluster is apart: at 0 it is well apart, and above 0.5 it is hardly a cluster.
        `kernelmeans.MultiKernelPowerKMeans` says what is counted. None for kernel matrices.
    changes_ : list of kernelmeans.metrics.ClusterChange or None
        Which clusters of the earlier labels that ``fit`` got as ``like`` are kept, split, merged or
        gone, and which clusters are new. None without earlier labels.
    tree_ : kernelmeans.estimators.tree.ClusterTree
        Which clusters are merged first: ``children_`` and ``distances_`` as those of
        `sklearn.cluster.AgglomerativeClustering`. The method `cut` merges clusters along it. Heat
        kernels merge the clusters with the smallest gap first. Without a heat kernel, those merge
        that add the least to the cost. Models of older files have none.
    result_ : kernelmeans.solver.Result
        Labels, costs and histories of all restarts, and why each restart ended
        (`kernelmeans.solver.Ending`).
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features seen in fit, if X has names.

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
        "init": [StrOptions({"random-partition", *get_args(SeedingName)}), callable, "array-like"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernels: FamilyName | list[Any] | tuple[Any, ...] = "widths",
        kernel_scaling: ScalingName | None = None,
        init: Literal["random-partition"] | SeedingName | GivenStarts = "random-partition",
        n_init: Auto | int = "auto",
        max_iter: int = 100,
        tol: float = 1e-5,
        memory_budget: int | str | None = None,
        cache_kernel: bool = True,
        verbose: int = 0,
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
        self.verbose = verbose
        self.random_state = random_state

    def _method(self, space: Space) -> Method:
        return Alternating(max_iter=self.max_iter, tol=self.tol, refills=False)

    def _weight_rule(self, scale: float) -> WeightRule:
        return SquaredRule()


class RKKM(OneKernelClusterer):
    """Robust kernel k-means: kernel k-means of distances instead of their squares.

    Minimises sum_i sqrt(d(i, c(i))). Each turn weighs every sample by 1 / (2 sqrt(d)), d its
    squared distance to its own centroid, moves the centroids to the weighted means, and assigns
    samples to clusters; none of these raises the objective. The first turn uses equal weights,
    because a centroid that starts at a sample would never leave it otherwise; this turn may raise
    the objective. An empty cluster moves to the sample with the highest cost, which cannot raise
    the objective. Distances are kept above rounding noise.

    It is here for comparison with `KernelPowerKMeans`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    kernel : {"heat", "rbf", "laplacian", "poly", "cosine", "linear", "sigmoid", "geodesic", \
"graph", "precomputed"} or callable, default="rbf"
        Similarity of two rows: ``"heat"`` finds clusters of any shape, ``"rbf"`` round ones.
        ``"heat"`` is the heat kernel of the graph of nearest neighbours
        (`kernelmeans.heat.HeatKernel`). ``"graph"`` is the same kernel where X itself is the graph,
        a symmetric matrix of edges (`kernelmeans.heat.GraphKernel`). ``"rbf"`` is the Gaussian
        kernel of the paper. ``"laplacian"``, ``"poly"``, ``"cosine"``, ``"linear"`` and
        ``"sigmoid"`` are kernels of scikit-learn. ``"geodesic"`` is
        `kernelmeans.kernels.geodesic_kernel`. With ``"precomputed"`` X is the kernel matrix. A
        callable takes two matrices of rows and returns the kernel values between them; it is called
        from several threads. A callable, ``"sigmoid"`` or ``"precomputed"`` kernel that is not
        positive semi-definite causes a warning with the size of the violation. A parameter that the
        kernel does not have causes a warning too. Only costs under the same kernel can be compared,
        and the default of `KernelPowerKMeans` is ``"heat"``.
    gamma : {"rms", "median", "scale"} or float, default="rms"
        Width of the kernel, if it has one. ``"rms"`` is 1 / (2 sigma^2) for rbf, as in the paper,
        where sigma is the root mean square distance between rows; 1 / n_features for laplacian,
        poly and sigmoid; and 0.5 for geodesic. With ``"median"`` sigma is the median distance in a
        random subsample. ``"scale"`` is 1 / (n_features * X.var()). Rows count by their sample
        weights.
    degree : float, default=3
        Degree of the poly kernel.
    coef0 : float, default=1
        Constant of the poly and sigmoid kernels.
    kernel_params : dict, default=None
        Keyword arguments for a callable kernel.
    n_neighbors : "auto" or int, default="auto"
        Number of neighbours of a row in the graph of the heat kernel, the row itself included.
        ``"auto"`` is 1 + log2(n_samples / n_clusters), rounded. For a single column it is twice
        that, but at most n_samples / n_clusters. Either doubles if the graph would have more large
        pieces than there are clusters.
    t : "auto", "states" or float, default="auto"
        Time of the heat and graph kernels. ``"states"`` is the time at which heat has mixed within
        as many groups of rows as there are clusters, and has hardly flowed between the groups. It
        counts the groups by the 2 n_clusters + 10 leading eigenvalues of the graph. ``"auto"`` is
        2 to 16 times as long, if that lowers a score by a third or more: the fraction of edges that
        connect clusters, divided by the entropy of the clusters. It does so where sizes differ
        much. Several kernels have one common factor. With fewer than 20 rows for each cluster it is
        ``"states"``.
    metric : {"euclidean", "l2", "manhattan", "l1", "cityblock", "chebyshev", "cosine", \
"correlation", "canberra", "braycurtis", "hamming", "jaccard", "dice", "rogerstanimoto", \
"sokalsneath", "precomputed"}, default="euclidean"
        Metric in which the heat kernel finds the neighbours of a row, as scikit-learn names it. The
        last four before ``"precomputed"`` take rows of 0 and 1. With ``"precomputed"`` X is a
        sparse matrix of distances to neighbours, as `sklearn.neighbors.KNeighborsTransformer` makes
        it. The graph kernel uses neither ``metric`` nor ``n_neighbors``.
    density : "auto" or float, default="auto"
        How much the density of rows counts in the graph of the heat kernel: the exponent, from 0 to
        100, by which edges through sparse places weigh less, in a graph of rows and anchors too.
        With 0 all edges count alike. ``"auto"`` is half the intrinsic dimension of the rows, plus
        2, and at most 16. Up to four dimensions it is four times that if clusters are much better,
        as those of spirals may be (`kernelmeans.heat.HeatKernel`).
    init : {"k-means++", "random"}, array-like or callable, default="random"
        Starting centroids. The publication uses ``"random"`` samples; ``"k-means++"`` is greedy
        k-means++ in the feature space. An array of integers holds row indices, of shape (k,) or
        (n_init, k). An array of floats holds starting weights of shape (n_samples, k), or
        coordinates of shape (k, n_features), which precomputed kernels do not have. A callable
        ``init(X, n_clusters, random_state)`` returns such an array.
    n_init : "auto" or int, default="auto"
        Number of restarts, of which the one of lowest objective is kept. ``"auto"`` is 1 for
        k-means++ and given starts, and 10 otherwise.
    max_iter : int, default=100
        Maximum number of turns.
    tol : float, default=1e-5
        Relative change of the objective that ends a run.
    memory_budget : int, str or None, default=None
        Memory for the fit, in bytes or as a text such as ``"4GB"``. None is 80 % of all memory,
        free or not. A kernel matrix that does not fit into the budget together with the centroids
        is refused before it is computed. Without a budget, so is one that does not fit into the
        free memory. Restarts run in batches that fit.
    cache_kernel : bool, default=True
        Whether the kernel matrix is kept in memory. If False, its rows are recomputed in each step.
    verbose : int, default=0
        How much is printed: nothing for 0, a line for each restart and some at the end for 1, and a
        line for each step too for 2. Steps of swap moves have none.
    random_state : int, RandomState or None, default=None
        Seed of all randomness.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each training row; equal to ``predict(X)``. Clusters are numbered by weight, the
        largest first, unless ``init`` gives the starts or ``fit`` gets earlier labels.
    distances_ : ndarray of shape (n_samples, 2)
        Distances (not squared) of each training row to its own centroid and to the second nearest
        one; a single column for one cluster.
    inertia_ : float
        Cost: the weighted sum of squared distances to the nearest centroid; equal to ``-score(X)``.
        It is not the objective, which sums the distances themselves.
    objective_history_ : ndarray of shape (n_iter,)
        Objective at the beginning of each turn.
    power_history_ : ndarray of shape (n_iter,)
        -inf for each turn, because all steps are hard.
    n_iter_ : int
        Number of turns of the best restart.
    memberships_ : ndarray of shape (n_samples, n_clusters) or None
        1 for the cluster of a row, 0 for the others. None if they would take more than a quarter of
        the memory budget.
    certainty_ : ndarray of shape (n_samples,)
        Ones, because memberships are hard.
    kernel_ : kernelmeans.kernels.Kernel
        The kernel with its parameters settled, a function of two matrices of rows.
    gamma_ : float or None
        Width of the kernel, if it has one.
    n_neighbors_, t_ : int and float, or None
        Number of neighbours of the heat kernel, and time of the heat and graph kernels; None for
        other kernels.
    density_, dimension_ : float or None
        How much density counts for the heat kernel, and the intrinsic dimension that
        ``density="auto"`` has followed; None where there is none.
    neighbor_recall_ : float or None
        The fraction of the true neighbours in the graph of the heat kernel: 1 where all rows were
        compared, and an estimate where many rows were sought in cells. None where there is no such
        graph.
    times_ : dict or None
        Times that ``t="auto"`` has tried with ``density_``: arrays ``"t"``; ``"cut"``, the fraction
        of all edges that connect clusters; and ``"entropy"``, that of the clusters. Both are
        geometric means by number and by weight (``kernelmeans.heat.choice``). None where none were
        tried.
    eigenvalues_ : ndarray of shape (r,) or None
        Eigenvalues of the graph of a heat or graph kernel, one for each feature, in descending
        order; None for other kernels.
    n_pieces_ : int or None
        Number of pieces (connected components) of that graph. Pieces that outnumber the clusters,
        or hold fewer rows than a twentieth of the mean cluster, are joined to the nearest pieces.
        Small ones of ten rows or more are kept if they are far from the large ones, and if at most
        ``n_clusters`` pieces have ten rows. In a graph that is given pieces that are not kept
        become one group, with a warning.
    approximation_, approximation_reason_ : str
        How the kernel is held, and why. ``"exact"`` is a kernel matrix, ``"blocked"`` are kernel
        rows that are recomputed in each step, and ``"explicit"`` are features whose inner product
        is the kernel.
    approximation_error_ : float or None
        0 for an exact kernel. With a heat or graph kernel it is what
        `kernelmeans.KernelPowerKMeans` says. None if the kernel turns out not to be positive
        semi-definite.
    inertia_bounds_ : tuple of float or None
        Lower and upper bound of the cost of ``labels_`` under the exact kernel, if the centroids
        are the means of the clusters. Both are ``inertia_`` for an exact kernel. None if
        ``approximation_error_`` is None.
    separation_ : ndarray of shape (n_clusters,) or None
        How far each cluster is apart: at 0 it is well apart, and above 0.5 it is hardly a cluster.
        `kernelmeans.KernelPowerKMeans` says what is counted. None for kernel matrices.
    changes_ : list of kernelmeans.metrics.ClusterChange or None
        Which clusters of the earlier labels that ``fit`` got as ``like`` are kept, split, merged or
        gone, and which clusters are new. None without earlier labels.
    tree_ : kernelmeans.estimators.tree.ClusterTree
        Which clusters are merged first: ``children_`` and ``distances_`` as those of
        `sklearn.cluster.AgglomerativeClustering`. The method `cut` merges clusters along it. Heat
        and graph kernels merge the clusters with the smallest gap first. Other kernels merge those
        that add the least to the cost. Models of older files have none.
    result_ : kernelmeans.solver.Result
        Labels, costs and histories of all restarts, and why each restart ended
        (`kernelmeans.solver.Ending`).
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features seen in fit, if X has names.

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

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ALTERNATING,
        **OF_KERNEL,
        "cache_kernel": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: KernelName | Callable[..., Any] = "rbf",
        gamma: WidthName | float = "rms",
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        n_neighbors: Auto | int = "auto",
        t: Literal["auto", "states"] | float = "auto",
        metric: MetricName = "euclidean",
        density: Auto | float = "auto",
        init: SeedingName | GivenStarts = "random",
        n_init: Auto | int = "auto",
        max_iter: int = 100,
        tol: float = 1e-5,
        memory_budget: int | str | None = None,
        cache_kernel: bool = True,
        verbose: int = 0,
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
        self.density = density
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.memory_budget = memory_budget
        self.cache_kernel = cache_kernel
        self.verbose = verbose
        self.random_state = random_state

    def _method(self, space: Space) -> Method:
        return Alternating(max_iter=self.max_iter, tol=self.tol, cost=DISTANCE)


class RMKKM(SeveralKernelsClusterer):
    """Robust multiple kernel k-means: distances instead of their squares, and kernel weights.

    Minimises sum_i sqrt(sum_l a_l d_l(i, c(i))) over clusters and weights with sum_l a_l^g = 1.
    Each turn weighs every sample by 1 / (2 sqrt(D)), D its distance to its own centroid, moves the
    centroids, then the weights a_l = h_l^(1/(g-1)) / (sum_t h_t^(g/(g-1)))^(1/g), with h_l the
    weighted cost in kernel l, then assigns samples to clusters; none of these raises the
    objective. The first turn uses equal weights, because a centroid that starts at a sample would
    never leave it otherwise; this turn may raise the objective. An empty cluster moves to the
    sample with the highest cost, which cannot raise the objective. Distances are kept above
    rounding noise.

    After each change of the kernel weights, the authors' program solves robust kernel k-means
    again from ten starts, which is slower. This estimator takes one turn of each.

    It is here for comparison with `MultiKernelPowerKMeans`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    kernels : {"neighbors", "widths", "du2015", "precomputed"} or list, default="widths"
        The kernels: a family, kernel matrices, or a list of kernels and the columns that each of
        them sees. The family ``"neighbors"`` holds two heat kernels on graphs of nearest neighbours
        (`kernelmeans.heat.neighbor_family`), ``"widths"`` five rbf kernels around the root mean
        square width (`kernelmeans.kernels.width_family`), and ``"du2015"`` twelve kernels
        (`kernelmeans.kernels.du2015_family`). With ``"precomputed"`` X is a stack of kernel
        matrices, shape (L, n, n), which cannot be cross-validated. An item of a list is the name of
        a kernel or family, a callable of two matrices, or a dict with the keys ``kernel``,
        ``gamma``, ``degree``, ``coef0``, ``kernel_params``, ``n_neighbors``, ``t``, ``metric`` and
        ``density``, which are the parameters of `KernelPowerKMeans`. A family takes no parameters,
        except ``metric`` for ``"neighbors"``. An item can also be a pair of one of these and
        columns of X, or a triple ``(name, kernel, columns)``. Columns are names, indices, a mask, a
        slice or a callable, as in scikit-learn's ColumnTransformer. Columns without an item are
        ignored, and in a table they may hold anything.
    kernel_scaling : {"unit-variance", "cosine", "min-max"} or None, default=None
        Common scale of the kernels, so that their units do not decide their weights.
        ``"unit-variance"`` divides each kernel by its variance, so that the mean squared distance
        from the mean is 1. ``"cosine"`` normalizes each kernel to k(x, x) = 1. ``"min-max"`` also
        stretches the values to lie between 0 and 1, as in the paper. None leaves kernels as they
        are. The scale is learned in fit and used in predict. By default kernels are not scaled, as
        published.
    exponent : float, default=0.4
        The exponent g, from 0.05 to below 1. Near 0 kernel weights are nearly the reciprocals of
        the costs, near 1 one kernel gets all weight. The publication names 0.3, but its figures
        belong to 0.4.
    init : {"k-means++", "random"}, array-like or callable, default="random"
        Starting centroids. The publication uses ``"random"`` samples; ``"k-means++"`` is greedy
        k-means++ in the feature space. An array of integers holds row indices, of shape (k,) or
        (n_init, k). An array of floats holds starting weights of shape (n_samples, k), or
        coordinates of shape (k, n_features), which precomputed kernels do not have. A callable
        ``init(X, n_clusters, random_state)`` returns such an array.
    n_init : "auto" or int, default="auto"
        Number of restarts, of which the one of lowest objective is kept. ``"auto"`` is 1 for
        k-means++ and given starts, and 10 otherwise.
    max_iter : int, default=100
        Maximum number of turns.
    tol : float, default=1e-5
        Relative change of the objective that ends a run.
    memory_budget : int, str or None, default=None
        Memory for the fit, in bytes or as a text such as ``"4GB"``. None is 80 % of all memory,
        free or not. Kernel matrices that do not fit into the budget together with the centroids are
        refused before they are computed. Without a budget, so are those that do not fit into the
        free memory. Restarts run in batches that fit.
    cache_kernel : bool, default=True
        Whether the kernel matrices are kept in memory. If False, their rows are recomputed in each
        step.
    verbose : int, default=0
        How much is printed: nothing for 0, a line for each restart and some at the end for 1, and a
        line for each step too for 2. Steps of swap moves have none.
    random_state : int, RandomState or None, default=None
        Seed of all randomness.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each training row; equal to ``predict(X)``. Clusters are numbered by weight, the
        largest first, unless ``init`` gives the starts or ``fit`` gets earlier labels.
    distances_ : ndarray of shape (n_samples, 2)
        Distances (not squared) of each training row to its own centroid and to the second nearest
        one; a single column for one cluster.
    inertia_ : float
        Cost: the weighted sum of squared distances sum_l a_l d_l to the nearest centroid; equal to
        ``-score(X)``. It is not the objective, which sums their roots.
    objective_history_ : ndarray of shape (n_iter,)
        Objective at the beginning of each turn.
    power_history_ : ndarray of shape (n_iter,)
        -inf for each turn, because all steps are hard.
    n_iter_ : int
        Number of turns of the best restart.
    memberships_ : ndarray of shape (n_samples, n_clusters) or None
        1 for the cluster of a row, 0 for the others. None if they would take more than a quarter of
        the memory budget.
    certainty_ : ndarray of shape (n_samples,)
        Ones, because memberships are hard.
    kernel_weights_ : ndarray of shape (L,)
        The kernel weights a_l; their powers ``kernel_weights_ ** exponent`` sum to 1. A kernel that
        is constant on the data gets 0.
    kernel_weights_history_ : ndarray of shape (n_iter, L)
        Kernel weights at the beginning of each turn.
    kernel_factors_ : ndarray of shape (L,)
        Factors by which ``kernel_scaling`` multiplies squared distances.
    kernel_names_ : list of L str
        Names of the kernels: those of their views, or else of the kernels, with numbers if they
        would be alike.
    kernels_ : list of L kernelmeans.kernels.Kernel
        The kernels with their parameters settled. Heat kernels also have ``eigenvalues`` and
        ``n_pieces`` of their graphs.
    kernel_ : kernelmeans.kernels.CombinedKernel
        The combined kernel without constant kernels, a function of two matrices of rows.
    approximation_, approximation_reason_ : list of L str
        How each kernel is held, and why. ``"exact"`` is a kernel matrix, ``"blocked"`` are kernel
        rows that are recomputed in each step, and ``"explicit"`` are features whose inner product
        is the kernel.
    approximation_error_ : float or None
        0 for exact kernels. With heat kernels it is what `kernelmeans.MultiKernelPowerKMeans` says.
        None if a kernel turns out not to be positive semi-definite.
    inertia_bounds_ : tuple of float or None
        Lower and upper bound of the cost of ``labels_`` under the exact kernels and these weights,
        if the centroids are the means of the clusters. Both are ``inertia_`` for exact kernels.
        None if ``approximation_error_`` is None.
    separation_ : ndarray of shape (n_clusters,) or None
        How far each cluster is apart: at 0 it is well apart, and above 0.5 it is hardly a cluster.
        `kernelmeans.MultiKernelPowerKMeans` says what is counted. None for kernel matrices.
    changes_ : list of kernelmeans.metrics.ClusterChange or None
        Which clusters of the earlier labels that ``fit`` got as ``like`` are kept, split, merged or
        gone, and which clusters are new. None without earlier labels.
    tree_ : kernelmeans.estimators.tree.ClusterTree
        Which clusters are merged first: ``children_`` and ``distances_`` as those of
        `sklearn.cluster.AgglomerativeClustering`. The method `cut` merges clusters along it. Heat
        kernels merge the clusters with the smallest gap first. Without a heat kernel, those merge
        that add the least to the cost. Models of older files have none.
    result_ : kernelmeans.solver.Result
        Labels, costs and histories of all restarts, and why each restart ended
        (`kernelmeans.solver.Ending`).
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features seen in fit, if X has names.

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
        # Weights are about L^(-1/g), which must not underflow.
        "exponent": [Interval(Real, 0.05, 1, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernels: FamilyName | list[Any] | tuple[Any, ...] = "widths",
        kernel_scaling: ScalingName | None = None,
        exponent: float = 0.4,
        init: SeedingName | GivenStarts = "random",
        n_init: Auto | int = "auto",
        max_iter: int = 100,
        tol: float = 1e-5,
        memory_budget: int | str | None = None,
        cache_kernel: bool = True,
        verbose: int = 0,
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
        self.verbose = verbose
        self.random_state = random_state

    def _method(self, space: Space) -> Method:
        return Alternating(max_iter=self.max_iter, tol=self.tol, cost=DISTANCE)

    def _weight_rule(self, scale: float) -> WeightRule:
        return PowerSumRule(self.exponent)
