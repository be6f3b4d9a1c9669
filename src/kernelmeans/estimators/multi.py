"""The annealed estimator of several kernels or views."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernelmeans._sklearn import Interval
from kernelmeans._typing import (
    ApproximationName,
    Array,
    Auto,
    FamilyName,
    GivenStarts,
    ScalingName,
    SeedingName,
)
from kernelmeans.estimators.base import KernelClusterer
from kernelmeans.estimators.checks import ANNEALING, APPROXIMATION, COMMON, DEVICE, KERNELS
from kernelmeans.estimators.inputs import Input
from kernelmeans.estimators.several import KernelMatrices, Views
from kernelmeans.kernels import CombinedKernel, Kernel
from kernelmeans.solver import Method
from kernelmeans.spaces import EntropyRule, Space, WeightRule


class SeveralKernelsClusterer(KernelClusterer):
    """Estimators of several kernels, which are put on one scale."""

    kernels: FamilyName | list[Any] | tuple[Any, ...]
    kernel_scaling: ScalingName | None
    approximation_: list[str]
    approximation_reason_: list[str]
    kernel_: CombinedKernel
    kernels_: list[Kernel]
    kernel_factors_: Array
    kernel_weights_: Array
    kernel_weights_history_: Array

    def _make_input(self) -> Input:
        given = isinstance(self.kernels, str) and self.kernels == "precomputed"
        return (KernelMatrices if given else Views)(self.kernels, self.kernel_scaling)

    @property
    def kernel_names_(self) -> list[str]:
        """Names of the kernels: those of their views, or of the kernels themselves."""
        check_is_fitted(self)
        # Models of older files have other names.
        found: list[str] = getattr(self._input, "titles", None) or self._input.names or []
        return list(found)


class MultiKernelPowerKMeans(SeveralKernelsClusterer):
    """Kernel power k-means of several kernels or views, with learned kernel weights.

    A squared distance is the sum of the squared distances in the spaces of the kernels, each times
    a kernel weight. The weights sum to 1. They follow the costs in each kernel, in the same
    annealed run that moves the centroids, and a penalty on their entropy keeps them together
    (Algorithm 2 of the paper). At the end they are the best weights for the labels. Swap moves go
    by fixed kernel weights; if they have changed labels, the weights follow.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    kernels : {"neighbors", "widths", "du2015", "precomputed"} or list, default="neighbors"
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
    kernel_scaling : {"unit-variance", "cosine", "min-max"} or None, default="unit-variance"
        Common scale of the kernels, so that their units do not decide their weights.
        ``"unit-variance"`` divides each kernel by its variance, so that the mean squared distance
        from the mean is 1. ``"cosine"`` normalizes each kernel to k(x, x) = 1. ``"min-max"`` also
        stretches the values to lie between 0 and 1, as in the paper. None leaves kernels as they
        are. The scale is learned in fit and used in predict.
    entropy_weight : float, default=2.0
        Weight of the entropy of the kernel weights, the lambda of the paper. Its unit is the sum of
        the sample weights times the mean variance of the scaled kernels. With 0 one kernel gets all
        weight, with infinity all kernels have the same weight. Values from 0.1 to 0.5 single out
        the better kernels. They may also prefer a kernel of few columns that are easy to explain.
        Of two views that need each other they switch one off.
    s0 : "auto" or float, default="auto"
        First power, negative. ``"auto"`` is just below the critical power of the combined kernel,
        and never above -1. If ``init`` is the name of a seeding, two steps at -1 come first and
        draw all centroids close to the mean; from there they part along the directions that
        separate samples best. For another ``init``, ``"auto"`` is closer to 0 for well-separated
        clusters.
    eta : "auto" or float, default="auto"
        Factor on the power, at least 1. A number gives the steps of the paper. ``"auto"`` is 1.17,
        with over-relaxed steps, as long as samples do not change their clusters, and closer to 1
        while they choose between centroids. The growth is halved if the softness changes by 0.005
        in a step; the softness is the mean membership of samples outside their nearest cluster.
        Each restart has its own powers. With ``eta=1`` the power stays at ``s0``, the run ends by
        ``tol``, and there are no hard steps.
    anneal_every : int, default=1
        Number of steps from one factor ``eta`` to the next. The paper uses 5. No restart takes hard
        steps above the critical power for its own kernel weights, which is computed again when the
        weights have changed noticeably.
    init : {"k-means++", "random"}, array-like or callable, default="k-means++"
        Starting centroids. ``"k-means++"`` is greedy k-means++ in the combined feature space,
        ``"random"`` chooses random samples. An array of integers holds row indices, of shape (k,)
        or (n_init, k). An array of floats holds starting weights of shape (n_samples, k), or
        coordinates of shape (k, n_features), which precomputed kernels do not have. A callable
        ``init(X, n_clusters, random_state)`` returns such an array.
    n_init : "auto" or int, default="auto"
        Number of restarts. They run together in one batch, each with its own kernel weights, and
        the one of lowest objective is kept. ``"auto"`` is 1 for k-means++ and given starts, and 10
        otherwise.
    n_swaps : "auto" or int, default="auto"
        Number of swap moves that are tried at the end to lower the cost of the best restart; 0 for
        none. A swap move drops a centroid in one place and puts it in another. Before the moves, a
        few runs of plain kernel k-means from k-means++ seeds are compared with the best restart,
        and single samples are exchanged between clusters. ``"auto"`` stops when 4 + n_clusters
        moves in a row have gained less than 0.01 %. If moves are quick it continues for longer, but
        in any case it ends after some seconds: with a hundred clusters more moves would lower the
        cost. At a constant power it tries none. If samples are so many that subsamples are annealed
        first, it tries moves on the subsamples only.
    max_iter : int, default=1000
        Maximum number of steps of a restart.
    tol : float, default=1e-6
        Relative change of the objective that ends a run at constant power (``eta=1``).
    memory_budget : int, str or None, default=None
        Memory for the fit, in bytes or as a text such as ``"4GB"``. None is 80 % of all memory,
        free or not. Kernel matrices that do not fit into the budget together with the centroids are
        refused before they are computed. Without a budget, so are those that do not fit into the
        free memory. Restarts run in batches that fit.
    cache_kernel : bool, default=True
        Whether the matrices of exact kernels are kept in memory. If False, their rows are
        recomputed in each step, never more at a time than the budget holds. With
        ``approximation=None`` this works for any number of rows.
    approximation : {"auto", None, "landmarks", "rpcholesky", "rff"}, default="auto"
        Approximation that replaces each kernel matrix: ``"auto"`` takes the exact kernel as long as
        it is fast, and landmarks beyond. None is the exact kernel. An approximation gives each row
        a number of features for each kernel, and their inner products approximate the kernel. The
        features of ``"landmarks"`` come from kernel values with landmarks, which are the centroids
        of a short k-means, or rows chosen by k-means++ if X is sparse or the kernel is a callable.
        Those of ``"rpcholesky"`` come from kernel values with samples that randomly pivoted
        Cholesky chooses, also for precomputed kernels. ``"rff"`` are random Fourier features, for
        rbf and laplacian. With ``"auto"`` one exact kernel is fast up to about 6000 rows in ten
        clusters, or 19 000 rows of a precomputed kernel; several kernels share this time. Beyond,
        precomputed kernels take rpcholesky. The memory budget does not change this choice: a fit
        that exceeds it is refused. Linear and cosine kernels need no approximation. Heat kernels
        take the graph of all rows where that takes about a minute on two cores at most, as for
        600 000 rows of 64 columns. Beyond, they take the graph of their anchors, as with
        ``"landmarks"``; several kernels of the same rows have different anchors.
    n_components : "auto", int or float, default="auto"
        Number of features of an approximation, or the fraction of the trace of the kernel matrix to
        keep, between 0 and 1. A fraction is kept as far as 5000 features suffice. ``"auto"`` is
        200, three for each cluster, or the square root of the number of rows, whichever is the
        largest. The heat kernel has at least ten anchors for each cluster, and 2000, or a fifth of
        the rows if these are fewer.
    device : str or None, default=None
        Device to compute on, by its name in PyTorch: ``"cuda"``, ``"cuda:1"`` or ``"cpu"``. It
        needs the extra ``gpu``. None is where X is: the host for NumPy, or the device of a PyTorch
        or CuPy array. Labels and distances are returned in the library and on the device of X. Rows
        must be dense. A callable kernel is called with arrays of the device, or of NumPy while
        landmarks are chosen.
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
    kernel_weights_ : ndarray of shape (L,)
        Weight of each kernel; they sum to 1. A kernel that is constant on the data gets 0.
    kernel_weights_history_ : ndarray of shape (n_steps, L)
        Kernel weights at the beginning of each step, and those of each swap move that was kept.
    kernel_factors_ : ndarray of shape (L,)
        Factors by which ``kernel_scaling`` multiplies squared distances.
    inertia_ : float
        Cost: the weighted sum of squared distances to the nearest centroid, without the penalty. A
        squared distance is the sum over kernels of ``kernel_weights_ * kernel_factors_`` times the
        squared distance in its space. Only costs under the same kernels and weights can be
        compared. With ``n_neighbors="auto"`` or ``t="auto"`` heat kernels depend on ``n_clusters``.
    objective_history_ : ndarray of shape (n_steps,)
        Objective at the beginning of each step, with the penalty lambda sum_l a_l log(L a_l). Here
        a_l are the kernel weights, and lambda is ``entropy_weight`` in its absolute unit. The
        penalty differs from that of the paper by a constant, so that equal weights cost nothing.
    power_history_ : ndarray of shape (n_steps,)
        Power of each step; -inf for hard steps.
    n_iter_ : int
        Number of steps of the best restart, including those of all its swap moves.
    memberships_ : ndarray of shape (n_samples, n_clusters) or None
        Memberships of the training rows in the clusters, at the last finite power; those of a row
        sum to 1. None if they would take more than a quarter of the memory budget.
    certainty_ : ndarray of shape (n_samples,)
        Membership of each training row in its own cluster, which is the largest one.
    kernel_names_ : list of L str
        Names of the kernels: those of their views, or else of the kernels, with numbers if they
        would be alike.
    kernels_ : list of L kernelmeans.kernels.Kernel
        The kernels with their parameters settled. Heat kernels also have ``eigenvalues`` and
        ``n_pieces`` of their graphs.
    kernel_ : kernelmeans.kernels.CombinedKernel
        The combined kernel without constant kernels, a function of two matrices of rows.
    critical_power_ : float
        Critical power of the kernels combined with equal weights.
    approximation_, approximation_reason_ : list of L str
        How each kernel is held, and why. ``"exact"`` is a kernel matrix, ``"blocked"`` are kernel
        rows that are recomputed in each step, ``"explicit"`` are features whose inner product is
        the kernel, and other names are approximations. The features of heat kernels are the leading
        eigenpairs of their graphs.
    approximation_error_ : float or None
        Fraction of the trace of the combined kernel matrix that is residual; 0 for exact kernels.
        With heat kernels it is the part of the eigenpairs that are left out. None if a piece of a
        graph has more than 200 rows, with random features, with anchors, and if a kernel turns out
        not to be positive semi-definite.
    inertia_bounds_ : tuple of float or None
        Lower and upper bound of the cost of ``labels_`` under the exact kernels and these weights,
        if the centroids are the means of the clusters. Both are ``inertia_`` for exact kernels.
        Exact heat kernels have all eigenpairs: ``inertia_``, the cost with the leading ones, may
        lie outside the bounds. None if ``approximation_error_`` is None.
    separation_ : ndarray of shape (n_clusters,) or None
        For each cluster, the edges between its training rows and others, as a fraction of the edges
        of its rows, or of all other rows if those have fewer
        (``kernelmeans.heat.separation.conductances``). Edges join distinct rows with their nearest
        neighbours, and count alike; those of a given graph count by their weights. At a value near
        0 a cluster is well apart; above 0.5 it is hardly a cluster. With other kernels than heat,
        and with rows that are not in memory, at most 4096 rows and Euclidean distances are used.
        The graphs of all views count alike. None for kernel matrices.
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

    See Also
    --------
    KernelPowerKMeans : The method for one kernel.
    kernelmeans.baselines : Other methods that learn kernel weights, for comparison.

    References
    ----------
    Paul, Chakraborty, Das and Xu (2020), Kernel k-Means, By All Means: Algorithms and Strong
    Consistency.

    Examples
    --------
    Two views of the same flowers, as columns of one matrix:

    >>> from kernelmeans import MultiKernelPowerKMeans
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> views = [("rbf", slice(0, 2)), ("rbf", slice(2, 4))]
    >>> model = MultiKernelPowerKMeans(3, kernels=views, random_state=0).fit(X)
    >>> bool(model.kernel_weights_[1] > model.kernel_weights_[0])  # petals tell more
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **COMMON,
        **KERNELS,
        **DEVICE,
        **APPROXIMATION,
        "entropy_weight": [Interval(Real, 0, np.inf, closed="both")],
        **ANNEALING,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernels: FamilyName | list[Any] | tuple[Any, ...] = "neighbors",
        kernel_scaling: ScalingName | None = "unit-variance",
        entropy_weight: float = 2.0,
        s0: Auto | float = "auto",
        eta: Auto | float = "auto",
        anneal_every: int = 1,
        init: SeedingName | GivenStarts = "k-means++",
        n_init: Auto | int = "auto",
        n_swaps: Auto | int = "auto",
        max_iter: int = 1000,
        tol: float = 1e-6,
        memory_budget: int | str | None = None,
        cache_kernel: bool = True,
        approximation: Auto | ApproximationName | None = "auto",
        n_components: Auto | int | float = "auto",
        device: str | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernels = kernels
        self.kernel_scaling = kernel_scaling
        self.entropy_weight = entropy_weight
        self.s0 = s0
        self.eta = eta
        self.anneal_every = anneal_every
        self.init = init
        self.n_init = n_init
        self.n_swaps = n_swaps
        self.max_iter = max_iter
        self.tol = tol
        self.memory_budget = memory_budget
        self.cache_kernel = cache_kernel
        self.approximation = approximation
        self.n_components = n_components
        self.device = device
        self.verbose = verbose
        self.random_state = random_state

    def _method(self, space: Space) -> Method:
        # A start that the user gives is not forgotten.
        return self._annealed(space, forgets=isinstance(self.init, str), alternates=True)

    def _weight_rule(self, scale: float) -> WeightRule:
        # For constant data the scale is 0, and infinity times 0 would be NaN.
        return EntropyRule(self.entropy_weight * scale if scale > 0 else self.entropy_weight)
