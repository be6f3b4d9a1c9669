"""The estimators of one kernel: annealed, plain, and linear."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, cast

from kernelmeans._typing import Array
from kernelmeans.estimators.base import KernelClusterer
from kernelmeans.estimators.checks import ANNEALING, COMMON, DEVICE, KERNEL, OF_KERNEL
from kernelmeans.estimators.inputs import Graph, Input, KernelMatrix
from kernelmeans.kernels import Kernel
from kernelmeans.solver import Method, hard
from kernelmeans.spaces import FeaturePredictor, Space


class OneKernelClusterer(KernelClusterer):
    """Estimators with the kernel parameters of scikit-learn, and those of the heat kernel."""

    kernel: str | Callable[..., Any]
    metric: str
    kernel_: Kernel

    def _make_input(self) -> Input:
        parameters = {name: getattr(self, name) for name in OF_KERNEL}
        kernel = self.kernel if isinstance(self.kernel, str) else None
        if kernel == "precomputed":
            return KernelMatrix(parameters)
        if kernel == "graph" or (kernel == "heat" and self.metric == "precomputed"):
            return Graph(parameters)
        return Input(parameters)

    @property
    def gamma_(self) -> float | None:
        """Width used, where the kernel has one."""
        gamma: float | None = self.kernel_.parameters.get("gamma")
        return gamma

    @property
    def n_neighbors_(self) -> int | None:
        """Neighbours of a row, itself included, where the kernel has them."""
        n_neighbors: int | None = self.kernel_.parameters.get("n_neighbors")
        return n_neighbors

    @property
    def t_(self) -> float | None:
        """Time of the heat kernel, where it is one."""
        t: float | None = self.kernel_.parameters.get("t")
        return t

    @property
    def eigenvalues_(self) -> Array | None:
        """Eigenvalues of the graph of a heat kernel, where it is one."""
        return getattr(self.kernel_, "eigenvalues", None)

    @property
    def n_pieces_(self) -> int | None:
        """Connected components of the graph of a heat kernel, where it is one."""
        return getattr(self.kernel_, "n_pieces", None)


class KernelPowerKMeans(OneKernelClusterer):
    """Kernel power k-means: kernel k-means that is annealed instead of restarted.

    The smallest distance in the cost of kernel k-means is replaced by a power mean M_s of the
    distances, and the power s is lowered step by step until only the smallest counts
    (Algorithm 1 of the paper). One run ends, on average, well below the cost of kernel k-means
    from the same start.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    kernel : {"heat", "rbf", "laplacian", "poly", "cosine", "linear", "sigmoid", "geodesic", \
"graph", "precomputed"} or callable, default="heat"
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
        pieces than clusters. Of anchors (``approximation="landmarks"``): one of 50, at least 5.
    t : "auto" or float, default="auto"
        Time of the heat and graph kernels; ``"auto"`` is that at which heat has mixed within as
        many groups of rows as there are clusters, and has hardly flowed between them.
    metric : {"euclidean", "cosine", "precomputed"}, default="euclidean"
        What the heat kernel's neighbours are near in. ``"precomputed"``: X is a sparse matrix of
        distances to neighbours, as `sklearn.neighbors.KNeighborsTransformer` makes it. The graph
        kernel takes neither this nor ``n_neighbors``.
    s0 : "auto" or float, default="auto"
        First power, negative. ``"auto"`` starts just below the critical power, above which
        centroids collapse onto the mean; nearer to 0 where clusters are so clear that samples
        would hardly share centroids there; and at most at -1. The paper has -1.
    eta : "auto" or float, default="auto"
        Factor on the power, at least 1. A float takes the paper's plain steps (the paper has
        1.04). ``"auto"`` is 1.06 with steps that are over-relaxed 1.8 times, which reaches the
        same cost in fewer steps and cannot raise the objective either; 1.12 where swap moves
        follow. With ``eta=1`` the power stays at ``s0``, the run ends on ``tol``, and no hard step
        is taken.
    anneal_every : int, default=1
        Steps between two factors ``eta``. The paper has 5.
    init : {"k-means++", "random"}, array-like or callable, default="k-means++"
        Starting centroids. Greedy k-means++ in feature space; ``"random"`` data points; row indices
        of shape (k,) or (n_init, k); starting weights of shape (n_samples, k), the paper's W(0);
        coordinates of shape (k, n_features), not for precomputed kernels; or a callable
        ``init(X, n_clusters, random_state)`` that returns one of these. Integers are indices.
    n_init : "auto" or int, default="auto"
        Restarts, run together in one batch; the one of least cost is kept. ``"auto"``: 1 for
        k-means++ and given starts, else 10.
    n_swaps : "auto" or int, default="auto"
        Moves of single centroids that are tried at the end, to lower the cost of the best restart;
        0 for none. First a few runs of plain kernel k-means from k-means++ seeds are tried beside
        it, and single samples are exchanged between clusters. ``"auto"`` stops when 4 moves and one
        for each cluster in a row have gained less than 0.01 %, goes on for longer where that is
        quick, and ends after some seconds in any case: with a hundred clusters more moves would
        lower the cost. It tries none at a constant power, and only on subsamples where these have
        been annealed first.
    max_iter : int, default=1000
        Most steps of a restart.
    tol : float, default=1e-6
        Relative change of the objective that ends a run at constant power (``eta=1``).
    memory_budget : int, str or None, default=None
        Memory to take, in bytes or as ``"4GB"``; by default 80 % of all memory, free or not. A
        kernel matrix and centroids beyond it, or beyond what is free by then, are refused before
        they are computed; restarts are run in batches that fit.
    cache_kernel : bool, default=True
        Whether the matrix of an exact kernel is kept in memory, or its rows are computed again at
        each step. False never holds more of them than the budget; with ``approximation=None`` it
        does so for any number of rows.
    approximation : {"auto", None, "landmarks", "rpcholesky", "rff"}, default="auto"
        What replaces the kernel matrix: ``"auto"`` takes the exact kernel where that is fast, and
        landmarks beyond. None is the exact kernel. Else it is replaced by inner products of a few
        numbers for each row: its values against ``"landmarks"`` (centroids of a short k-means; rows
        drawn by k-means++ for sparse X and callables), or against samples that randomly pivoted
        Cholesky picks (``"rpcholesky"``, also for precomputed kernels), or random Fourier features
        (``"rff"``, for rbf and laplacian). ``"auto"`` takes the exact kernel where it is fast, up
        to some 6000 rows in ten clusters and 19 000 of a precomputed kernel, and landmarks or
        rpcholesky beyond; memory does not decide, it only refuses. Linear and cosine kernels need
        none. The heat kernel takes the graph of all rows up to 50 000, and beyond that of
        ``"landmarks"``, its anchors.
    n_components : "auto", int or float, default="auto"
        Features of an approximation: their number, or the share of the trace of the kernel matrix
        to keep, between 0 and 1. A share is kept as far as 5000 of them do. ``"auto"`` is 200,
        three for each cluster, or the root of the number of rows, whichever is more; of the heat
        kernel's anchors at least ten for each cluster.
    device : str or None, default=None
        Where to compute: a device of PyTorch, as ``"cuda"``, ``"cuda:1"`` or ``"cpu"``. It needs
        the extra ``gpu``. None is where X is: NumPy on the host, or the device of a PyTorch or CuPy
        array. Labels and distances come back in X's library, on its device. Rows must be dense; a
        callable kernel gets arrays of the device, or of NumPy where landmarks are chosen.
    random_state : int, RandomState or None, default=None
        Seed of all randomness.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each training row; equal to ``predict(X)``.
    inertia_ : float
        Weighted sum of squared distances, in feature space, to the nearest centroid; equal to
        ``-score(X, sample_weight=sample_weight)``. Costs compare under one kernel only. With
        ``n_neighbors="auto"`` or ``t="auto"`` each ``n_clusters`` has a heat kernel of its own: to
        compare numbers of clusters, give numbers for both, or look at ``eigenvalues_``.
    objective_history_, power_history_ : ndarray
        Objective and power of each step, from the centroids with which it began; the power is
        -inf in hard steps. Each batch of swap moves that lowered the cost adds it.
    n_iter_ : int
        Steps of the best restart, those of all its swap moves included.
    critical_power_ : float
        Power above which centroids at the mean stay there.
    memberships_ : ndarray of shape (n_samples, n_clusters) or None
        Share of each centroid in each training row, at the last finite power; rows sum to 1. None
        where they would take more than a quarter of the memory budget.
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
        How the kernel was held (``"exact"``, ``"blocked"``: rows recomputed, ``"explicit"``: an
        inner product of the rows, or an approximation), and why.
    approximation_error_ : float or None
        Share of the trace of the kernel matrix that the approximation leaves out; 0 for an exact
        kernel, None for random features, for anchors and where a kernel is seen to be indefinite.
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

    See Also
    --------
    KernelKMeans : The same without annealing; its default kernel is ``"rbf"``.
    PowerKMeans : The same in the space of the data.

    Notes
    -----
    A step costs one product with the kernel matrix, or with the components of an approximation.
    Where these are of more than 65 536 rows (or than 128 MB hold), seeds and the critical power
    come from a draw of them in proportion to the weights, and with ``s0="auto"`` k-means++ starts
    are annealed on a draw first: eight of them, of which the best goes on on all rows. Its steps
    on the draw are in no history.

    The labels are the same for any number of threads, and for the same seed on the same machine;
    across machines or versions of BLAS the last bits of the costs may differ, and labels on ties
    with them.

    References
    ----------
    Paul, Chakraborty, Das and Xu (2020), Kernel k-Means, By All Means: Algorithms and Strong
    Consistency.

    Examples
    --------
    >>> from kernelmeans import KernelPowerKMeans
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> X = StandardScaler().fit_transform(load_wine().data)
    >>> model = KernelPowerKMeans(n_clusters=3, random_state=0).fit(X)
    >>> bool((model.predict(X) == model.labels_).all())
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {**COMMON, **KERNEL, **DEVICE, **ANNEALING}

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: str | Callable[..., Any] = "heat",
        gamma: str | float = "rms",
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        n_neighbors: int | str = "auto",
        t: float | str = "auto",
        metric: str = "euclidean",
        s0: str | float = "auto",
        eta: str | float = "auto",
        anneal_every: int = 1,
        init: Any = "k-means++",
        n_init: int | str = "auto",
        n_swaps: int | str = "auto",
        max_iter: int = 1000,
        tol: float = 1e-6,
        memory_budget: int | str | None = None,
        cache_kernel: bool = True,
        approximation: str | None = "auto",
        n_components: int | float | str = "auto",
        device: str | None = None,
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
        self.random_state = random_state

    def _method(self, space: Space) -> Method:
        return self._annealed(space)


class KernelKMeans(OneKernelClusterer):
    """Kernel k-means: hard steps from the start, the limit s -> -inf of `KernelPowerKMeans`.

    Prefer `KernelPowerKMeans`; this one is here to compare with, and for data so easy that
    annealing is wasted.

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
        pieces than clusters. Of anchors (``approximation="landmarks"``): one of 50, at least 5.
    t : "auto" or float, default="auto"
        Time of the heat and graph kernels; ``"auto"`` is that at which heat has mixed within as
        many groups of rows as there are clusters, and has hardly flowed between them.
    metric : {"euclidean", "cosine", "precomputed"}, default="euclidean"
        What the heat kernel's neighbours are near in. ``"precomputed"``: X is a sparse matrix of
        distances to neighbours, as `sklearn.neighbors.KNeighborsTransformer` makes it. The graph
        kernel takes neither this nor ``n_neighbors``.
    init : {"k-means++", "random"}, array-like or callable, default="k-means++"
        Starting centroids. Greedy k-means++ in feature space; ``"random"`` data points; row indices
        of shape (k,) or (n_init, k); starting weights of shape (n_samples, k), the paper's W(0);
        coordinates of shape (k, n_features), not for precomputed kernels; or a callable
        ``init(X, n_clusters, random_state)`` that returns one of these. Integers are indices.
    n_init : "auto" or int, default="auto"
        Restarts, run together in one batch; the one of least cost is kept. ``"auto"``: 1 for
        k-means++ and given starts, else 10.
    n_swaps : int or "auto", default=0
        Moves of single centroids that are tried at the end, to lower the cost of the best restart;
        0, for plain kernel k-means, by default. First a few runs from k-means++ seeds are tried
        beside it, and single samples are exchanged between clusters. ``"auto"`` stops when 4 moves
        and one for each cluster in a row have gained less than 0.01 %, goes on for longer where
        that is quick, and ends after some seconds in any case. On many rows, or features of more
        than 128 MB, ``"auto"`` tries none.
    max_iter : int, default=1000
        Most steps of a restart.
    memory_budget : int, str or None, default=None
        Memory to take, in bytes or as ``"4GB"``; by default 80 % of all memory, free or not. A
        kernel matrix and centroids beyond it, or beyond what is free by then, are refused before
        they are computed; restarts are run in batches that fit.
    cache_kernel : bool, default=True
        Whether the matrix of an exact kernel is kept in memory, or its rows are computed again at
        each step. False never holds more of them than the budget; with ``approximation=None`` it
        does so for any number of rows.
    approximation : {"auto", None, "landmarks", "rpcholesky", "rff"}, default="auto"
        What replaces the kernel matrix: ``"auto"`` takes the exact kernel where that is fast, and
        landmarks beyond. None is the exact kernel. Else it is replaced by inner products of a few
        numbers for each row: its values against ``"landmarks"`` (centroids of a short k-means; rows
        drawn by k-means++ for sparse X and callables), or against samples that randomly pivoted
        Cholesky picks (``"rpcholesky"``, also for precomputed kernels), or random Fourier features
        (``"rff"``, for rbf and laplacian). ``"auto"`` takes the exact kernel where it is fast, up
        to some 6000 rows in ten clusters and 19 000 of a precomputed kernel, and landmarks or
        rpcholesky beyond; memory does not decide, it only refuses. Linear and cosine kernels need
        none. The heat kernel takes the graph of all rows up to 50 000, and beyond that of
        ``"landmarks"``, its anchors.
    n_components : "auto", int or float, default="auto"
        Features of an approximation: their number, or the share of the trace of the kernel matrix
        to keep, between 0 and 1. A share is kept as far as 5000 of them do. ``"auto"`` is 200,
        three for each cluster, or the root of the number of rows, whichever is more; of the heat
        kernel's anchors at least ten for each cluster.
    device : str or None, default=None
        Where to compute: a device of PyTorch, as ``"cuda"``, ``"cuda:1"`` or ``"cpu"``. It needs
        the extra ``gpu``. None is where X is: NumPy on the host, or the device of a PyTorch or CuPy
        array. Labels and distances come back in X's library, on its device. Rows must be dense; a
        callable kernel gets arrays of the device, or of NumPy where landmarks are chosen.
    random_state : int, RandomState or None, default=None
        Seed of all randomness.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each training row; equal to ``predict(X)``.
    inertia_ : float
        Weighted sum of squared distances, in feature space, to the nearest centroid; equal to
        ``-score(X, sample_weight=sample_weight)``. Costs compare under one kernel only. With
        ``n_neighbors="auto"`` or ``t="auto"`` each ``n_clusters`` has a heat kernel of its own: to
        compare numbers of clusters, give numbers for both, or look at ``eigenvalues_``.
    objective_history_ : ndarray of shape (n_steps,)
        Cost at the centroids with which each step began. Each batch of swap moves that lowered the
        cost adds it.
    power_history_ : ndarray of shape (n_steps,)
        The powers of the steps: -inf, for all of them are hard.
    n_iter_ : int
        Steps of the best restart, those of all its swap moves included.
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
        How the kernel was held (``"exact"``, ``"blocked"``: rows recomputed, ``"explicit"``: an
        inner product of the rows, or an approximation), and why.
    approximation_error_ : float or None
        Share of the trace of the kernel matrix that the approximation leaves out; 0 for an exact
        kernel, None for random features, for anchors and where a kernel is seen to be indefinite.
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
    Dhillon, Guan and Kulis (2004), Kernel k-means: spectral clustering and normalized cuts.

    Examples
    --------
    >>> from kernelmeans import KernelKMeans
    >>> model = KernelKMeans(n_clusters=2, random_state=0).fit([[0.0], [0.1], [5.0], [5.1]])
    >>> bool(model.labels_[0] == model.labels_[1] != model.labels_[2])
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {**COMMON, **KERNEL, **DEVICE}

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
        init: Any = "k-means++",
        n_init: int | str = "auto",
        n_swaps: int | str = 0,
        max_iter: int = 1000,
        memory_budget: int | str | None = None,
        cache_kernel: bool = True,
        approximation: str | None = "auto",
        n_components: int | float | str = "auto",
        device: str | None = None,
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
        self.n_swaps = n_swaps
        self.max_iter = max_iter
        self.memory_budget = memory_budget
        self.cache_kernel = cache_kernel
        self.approximation = approximation
        self.n_components = n_components
        self.device = device
        self.random_state = random_state

    def _method(self, space: Space) -> Method:
        return hard(space, n_swaps=self.n_swaps, max_iter=self.max_iter)


class PowerKMeans(KernelClusterer):
    """Power k-means: the annealed form of k-means, in the space of the data.

    `KernelPowerKMeans` with the linear kernel; centroids are points. For round clusters, and for
    many rows: a step costs time and memory in proportion to the size of X.

    ``PowerKMeans(s0=-1, eta=1)`` is k-harmonic means (Zhang, Hsu and Dayal 1999).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    s0 : "auto" or float, default="auto"
        First power, negative. ``"auto"`` starts just below the critical power, above which
        centroids collapse onto the mean; nearer to 0 where clusters are so clear that samples
        would hardly share centroids there; and at most at -1. The paper has -1.
    eta : "auto" or float, default="auto"
        Factor on the power, at least 1. A float takes the paper's plain steps (the paper has
        1.04). ``"auto"`` is 1.06 with steps that are over-relaxed 1.8 times, which reaches the
        same cost in fewer steps and cannot raise the objective either; 1.12 where swap moves
        follow. With ``eta=1`` the power stays at ``s0``, the run ends on ``tol``, and no hard step
        is taken.
    anneal_every : int, default=1
        Steps between two factors ``eta``. The paper has 5.
    init : {"k-means++", "random"}, array-like or callable, default="k-means++"
        Starting centroids. Greedy k-means++; ``"random"`` data points; row indices of shape (k,) or
        (n_init, k); starting weights of shape (n_samples, k); coordinates of shape (k, n_features);
        or a callable ``init(X, n_clusters, random_state)`` that returns one of these. Integers are
        indices.
    n_init : "auto" or int, default="auto"
        Restarts, run together in one batch; the one of least cost is kept. ``"auto"``: 1 for
        k-means++ and given starts, else 10.
    n_swaps : "auto" or int, default="auto"
        Moves of single centroids that are tried at the end, to lower the cost of the best restart;
        0 for none. First a few runs of k-means from k-means++ seeds are tried beside
        it, and single samples are exchanged between clusters. ``"auto"`` stops when 4 moves and one
        for each cluster in a row have gained less than 0.01 %, goes on for longer where that is
        quick, and ends after some seconds in any case: with a hundred clusters more moves would
        lower the cost. It tries none at a constant power, and only on subsamples where these have
        been annealed first.
    max_iter : int, default=1000
        Most steps of a restart.
    tol : float, default=1e-6
        Relative change of the objective that ends a run at constant power (``eta=1``).
    memory_budget : int, str or None, default=None
        Memory to take, in bytes or as ``"4GB"``; by default 80 % of all memory, free or not. Rows
        that do not fit are worked on block by block, and restarts in batches that fit.
    device : str or None, default=None
        Where to compute: a device of PyTorch, as ``"cuda"``, ``"cuda:1"`` or ``"cpu"``. It needs
        the extra ``gpu``. None is where X is: NumPy on the host, or the device of a PyTorch or CuPy
        array. Labels and distances come back in X's library, on its device. Rows must be dense.
    random_state : int, RandomState or None, default=None
        Seed of all randomness.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centroids.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each training row; equal to ``predict(X)``.
    inertia_ : float
        Weighted sum of squared distances to the nearest centroid; equal to ``-score(X,
        sample_weight=sample_weight)``.
    objective_history_, power_history_ : ndarray
        Objective and power of each step, from the centroids with which it began; the power is
        -inf in hard steps. Each batch of swap moves that lowered the cost adds it.
    n_iter_ : int
        Steps of the best restart, those of all its swap moves included.
    critical_power_ : float
        Power above which centroids at the mean stay there.
    memberships_ : ndarray of shape (n_samples, n_clusters) or None
        Share of each centroid in each training row, at the last finite power; rows sum to 1. None
        where they would take more than a quarter of the memory budget.
    kernel_ : kernelmeans.kernels.Kernel
        The linear kernel, a function of two matrices of rows.
    approximation_, approximation_reason_ : str
        How the kernel was held, ``"explicit"``: as an inner product of the rows, and why.
    approximation_error_ : float
        0: nothing is approximated.
    inertia_bounds_ : tuple of float
        The k-means cost of ``labels_``, about the means of the clusters, lies between them: it is
        both.
    result_ : kernelmeans.solver.Result
        Labels, costs and histories of all restarts, and why each ended
        (`kernelmeans.solver.Ending`).
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, where X had them.

    References
    ----------
    Xu and Lange (2019), Power k-means clustering.

    Examples
    --------
    >>> from kernelmeans import PowerKMeans
    >>> model = PowerKMeans(n_clusters=2, random_state=0).fit([[0.0], [0.2], [5.0], [5.2]])
    >>> sorted(model.cluster_centers_.ravel().round(6).tolist())
    [0.1, 5.1]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {**COMMON, **DEVICE, **ANNEALING}

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        s0: str | float = "auto",
        eta: str | float = "auto",
        anneal_every: int = 1,
        init: Any = "k-means++",
        n_init: int | str = "auto",
        n_swaps: int | str = "auto",
        max_iter: int = 1000,
        tol: float = 1e-6,
        memory_budget: int | str | None = None,
        device: str | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.s0 = s0
        self.eta = eta
        self.anneal_every = anneal_every
        self.init = init
        self.n_init = n_init
        self.n_swaps = n_swaps
        self.max_iter = max_iter
        self.tol = tol
        self.memory_budget = memory_budget
        self.device = device
        self.random_state = random_state

    def _make_input(self) -> Input:
        return Input({"kernel": "linear"})

    def _method(self, space: Space) -> Method:
        return self._annealed(space)

    @property
    def cluster_centers_(self) -> Array:
        """The centroids, shape (n_clusters, n_features)."""
        predictor = cast(FeaturePredictor, self._predictor)
        return predictor.theta + predictor.features.origin
