"""Robust kernel k-means: one kernel, distances instead of their squares."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from kernelmeans.estimators.parameters import ALTERNATING, KERNEL
from kernelmeans.estimators.single import OneKernelClusterer
from kernelmeans.solver import Alternating, Method
from kernelmeans.solver.power import LENGTHS
from kernelmeans.spaces import Space


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
        return Alternating(max_iter=self.max_iter, tol=self.tol, loss=LENGTHS)
