"""The estimators of one kernel: annealed, plain, and linear."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal, cast

import numpy as np

from kernelmeans._devices import to_library_of
from kernelmeans._dialect import option
from kernelmeans._typing import (
    ApproximationName,
    Array,
    Auto,
    GivenStarts,
    KernelName,
    MetricName,
    SeedingName,
    WidthName,
)
from kernelmeans.estimators.base import KernelClusterer
from kernelmeans.estimators.callbacks import refused_later
from kernelmeans.estimators.checks import ANNEALING, COMMON, DEVICE, KERNEL, OF_KERNEL
from kernelmeans.estimators.inputs import Graph, Input, KernelMatrix
from kernelmeans.kernels import Kernel
from kernelmeans.solver import Method, hard
from kernelmeans.spaces import FeaturePredictor, Space


class OneKernelClusterer(KernelClusterer):
    """Estimators of one kernel: its parameters, and their settled values."""

    kernel: KernelName | Callable[..., Any]
    metric: MetricName
    kernel_: Kernel
    approximation_: str
    approximation_reason_: str

    def _make_input(self) -> Input:
        parameters = {name: getattr(self, name) for name in OF_KERNEL}
        kernel = self.kernel if isinstance(self.kernel, str) else None
        if kernel == "precomputed":
            return KernelMatrix(parameters)
        if kernel == "graph" or (kernel == "heat" and self.metric == "precomputed"):
            return Graph(parameters)
        return Input(parameters)

    @refused_later
    def outlier_score(self, X: Any) -> Array:
        """How strange rows are in their clusters: above 1 are outliers, larger is stranger.

        Where d is the intrinsic dimension of the rows, density goes as r^-d. Here r is the reach
        of a row, the least length of edges between neighbours that connect it with a tenth of its
        cluster. The usual density lies between that of the cluster and that of all clusters. The
        score is the logarithm of the usual density over that of the row, divided by the largest
        usual one (``kernelmeans.heat.outliers.Outliers``).

        Parameters
        ----------
        X : {array-like, CSR matrix, Rows, dask array} of shape (n_rows, n_features)
            Training rows or new ones.

        Returns
        -------
        scores : array of shape (n_rows,)
            The scores, in the library and on the device of X.

        Raises
        ------
        NotFittedError
            If the estimator has not been fitted.
        ValueError
            If X has the wrong number of features, or is NaN or infinite, or if the model knows no
            neighbours: without ``outliers`` only the heat kernel of a graph of all rows does.

        Examples
        --------
        >>> from kernelmeans import KernelPowerKMeans
        >>> from sklearn.datasets import load_iris
        >>> X = load_iris().data
        >>> model = KernelPowerKMeans(3, random_state=0).fit(X)
        >>> (model.outlier_score([X[0], 3 * X[0]]) > 1).tolist()
        [False, True]
        """
        assigner, rows, _ = self._asked(X, None)
        if assigner.outliers is None:
            if (distinct := self.kernel_.distinct_rows) is None:
                self._input.check_compared("outlier_score")
                has_parameter = "outliers" in self.get_params(deep=False)
                remedy = option("outliers", "auto") if has_parameter else option("kernel", "heat")
                raise ValueError(
                    "outlier_score: the model knows no neighbours of its training rows; set "
                    f"{remedy} and fit again."
                )
            assigner = replace(assigner, outliers=self._outliers_among(distinct))
        return cast(Array, to_library_of(assigner.outlier_scores(rows), X))

    @property
    def gamma_(self) -> float | None:
        """Width of the kernel, if it has one."""
        return self.kernel_.parameters.get("gamma")

    @property
    def n_neighbors_(self) -> int | None:
        """Number of neighbours of a row, itself included, for the heat kernel."""
        return self.kernel_.parameters.get("n_neighbors")

    @property
    def t_(self) -> float | None:
        """Time of a heat or graph kernel."""
        return self.kernel_.parameters.get("t")

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "density" not in state:
            # In model files of before, density did not count, and no time was chosen.
            t = "states" if state.get("t") == "auto" else state.get("t")
            state = state | {"density": 0.0, "t": t}
        super().__setstate__(state)

    @property
    def density_(self) -> float | None:
        """How much the density of rows counts for the heat kernel."""
        return self.kernel_.parameters.get("density")

    @property
    def dimension_(self) -> float | None:
        """Intrinsic dimension of the rows, if ``density="auto"`` has followed it."""
        return getattr(self.kernel_, "dimension", None)

    @property
    def neighbor_recall_(self) -> float | None:
        """The fraction of the true neighbours in the graph of a heat kernel, estimated."""
        return getattr(self.kernel_, "neighbor_recall", None)

    @property
    def times_(self) -> dict[str, Array] | None:
        """Times that ``t="auto"`` has tried, and how they were judged."""
        return getattr(self.kernel_, "times", None)

    @property
    def eigenvalues_(self) -> Array | None:
        """Eigenvalues of the graph of a heat or graph kernel."""
        return getattr(self.kernel_, "eigenvalues", None)

    @property
    def n_pieces_(self) -> int | None:
        """Number of connected components of the graph of a heat or graph kernel."""
        return getattr(self.kernel_, "n_pieces", None)


class KernelPowerKMeans(OneKernelClusterer):
    """Kernel power k-means: kernel k-means that is annealed instead of restarted.

    In the cost of kernel k-means only the distance to the nearest centroid counts. Here a power
    mean M_s of the distances to all centroids replaces it. The power s falls step by step until
    only the nearest centroid counts (Algorithm 1 of the paper). On average one run ends well below
    the cost of kernel k-means from the same start.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    kernel : {"heat", "rbf", "laplacian", "poly", "cosine", "linear", "sigmoid", "geodesic", \
"graph", "precomputed"} or callable, default="heat"
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
        kernel does not have causes a warning too.
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
        that, but at most n_samples / n_clusters. Either grows by half if the graph would have more
        large pieces than there are clusters, and doubles if half is not enough. If the graph
        connects rows with anchors (``approximation="landmarks"``), it is their number for each row,
        by default 5.
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
    outliers : "auto", float or None, default=None
        Which rows belong to no cluster, or what fraction: they get the label -1, in training and in
        `predict`. With None every row has a cluster. With ``"auto"`` they are the rows whose
        outlier score is above 1: sparse for their cluster, or beyond a gap. With a number, at most
        0.5, they are that fraction of the training rows, by sample weight, with the largest scores.
        In any case all rows take part in the fit, but those in sparse places hardly change the
        default kernel. Not for kernel matrices, graphs and distances.
    s0 : "auto" or float, default="auto"
        First power, negative. ``"auto"`` is just below the critical power, above which all
        centroids collapse onto the mean. It is closer to 0 for well-separated clusters, and never
        above -1. The paper uses -1.
    eta : "auto" or float, default="auto"
        Factor on the power, at least 1. A number gives the steps of the paper, which uses 1.04.
        ``"auto"`` is 1.06, or 1.12 if swap moves follow, with steps that are over-relaxed by a
        factor of 1.8. Over-relaxed steps reach the same cost in fewer steps, and cannot raise the
        objective either. With ``eta=1`` the power stays at ``s0``, the run ends by ``tol``, and
        there are no hard steps.
    anneal_every : int, default=1
        Number of steps from one factor ``eta`` to the next. The paper uses 5.
    init : {"k-means++", "random"}, array-like or callable, default="k-means++"
        Starting centroids. ``"k-means++"`` is greedy k-means++ in the feature space, ``"random"``
        chooses random samples. An array of integers holds row indices, of shape (k,) or
        (n_init, k). An array of floats holds starting weights of shape (n_samples, k), the W(0) of
        the paper, or coordinates of shape (k, n_features), which precomputed kernels do not have. A
        callable ``init(X, n_clusters, random_state)`` returns such an array.
    n_init : "auto" or int, default="auto"
        Number of restarts; ``"auto"`` is 1 for k-means++ and given starts, and 10 otherwise. They
        run together in one batch, and the one of lowest cost is kept.
    n_swaps : "auto" or int, default="auto"
        Number of swap moves that are tried at the end to lower the cost of the best restart; 0 for
        none. A swap move drops a centroid in one place and puts it in another. Before the moves, a
        few runs of plain kernel k-means from k-means++ seeds are compared with the best restart,
        and single samples are exchanged between clusters. ``"auto"`` stops when 4 + n_clusters
        moves in a row have gained less than 0.01 %. If moves are quick it continues for longer, but
        in any case it ends after some seconds: with a hundred clusters more moves would lower the
        cost. At a constant power it tries none. If samples are so many that subsamples are annealed
        first, it tries moves on the subsamples only. With ``"auto"`` and the graph of all rows of a
        heat kernel, pairs of clusters are divided anew at the end. A partition is kept if its cost
        is at most 1 % higher and its score a tenth lower. The score is the weight of the edges
        between clusters, over the entropy of the pair's sizes.
    max_iter : int, default=1000
        Maximum number of steps of a restart.
    tol : float, default=1e-6
        Relative change of the objective that ends a run at constant power (``eta=1``).
    memory_budget : int, str or None, default=None
        Memory for the fit, in bytes or as a text such as ``"4GB"``. None is 80 % of all memory,
        free or not. A kernel matrix that does not fit into the budget together with the centroids
        is refused before it is computed. Without a budget, so is one that does not fit into the
        free memory. Restarts run in batches that fit.
    cache_kernel : bool, default=True
        Whether the matrix of an exact kernel is kept in memory. If False, its rows are recomputed
        in each step, never more at a time than the budget holds. With ``approximation=None`` this
        works for any number of rows.
    approximation : {"auto", None, "landmarks", "rpcholesky", "rff"}, default="auto"
        Approximation that replaces the kernel matrix: ``"auto"`` takes the exact kernel as long as
        it is fast, and landmarks beyond. None is the exact kernel. An approximation gives each row
        a number of features, and their inner products approximate the kernel. The features of
        ``"landmarks"`` come from kernel values with landmarks, which are the centroids of a short
        k-means, or rows chosen by k-means++ if X is sparse or the kernel is a callable. Those of
        ``"rpcholesky"`` come from kernel values with samples that randomly pivoted Cholesky
        chooses, also for precomputed kernels. ``"rff"`` are random Fourier features, for rbf and
        laplacian. With ``"auto"`` the exact kernel is fast up to about 6000 rows in ten clusters,
        or 19 000 rows of a precomputed kernel. Beyond, a precomputed kernel takes rpcholesky. The
        memory budget does not change this choice: a fit that exceeds it is refused. Linear and
        cosine kernels need no approximation. The heat kernel takes the graph of all rows where that
        takes about a minute on two cores at most, as for 600 000 rows of 64 columns. Beyond, it
        takes the graph of its anchors, as with ``"landmarks"``.
    n_components : "auto", int or float, default="auto"
        Number of features of an approximation, or the fraction of the trace of the kernel matrix to
        keep, between 0 and 1. A fraction is kept as far as 5000 features suffice. ``"auto"`` is
        200, three for each cluster, or the square root of the number of rows, whichever is the
        largest. The heat kernel has at least ten anchors for each cluster, and 2000, or a fifth of
        the rows if these are fewer.
    device : str or None, default=None
        Device to compute on, by its name in PyTorch (``"cuda"``, ``"cuda:1"`` or ``"cpu"``), by
        default where X is. That is the host for NumPy, or the device of a PyTorch or CuPy array. A
        name needs the extra ``gpu``. Labels and distances are returned in the library and on the
        device of X. Rows must be dense. A callable kernel is called with arrays of the device, or
        of NumPy while landmarks are chosen.
    verbose : int, default=0
        How much is printed: nothing for 0, a line for each restart and some at the end for 1, and a
        line for each step too for 2. Steps of swap moves have none.
    random_state : int, RandomState or None, default=None
        Seed of all randomness: the same seed and input give the same clusters.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each training row; equal to ``predict(X)``. Clusters are numbered by weight, the
        largest first, unless ``init`` gives the starts or ``fit`` gets earlier labels. Rows of
        no cluster (``outliers``) have -1; their weight counts for the nearest.
    distances_ : ndarray of shape (n_samples, 2)
        Distances (not squared) of each training row to its own centroid and to the second nearest
        one; a single column for one cluster.
    inertia_ : float
        Cost: the weighted sum of squared distances to the nearest centroid in the feature space;
        equal to ``-score(X, sample_weight=sample_weight)``. Only costs under the same kernel can be
        compared. With ``n_neighbors="auto"`` or ``t="auto"`` the heat kernel depends on
        ``n_clusters``. To compare numbers of clusters, set both to numbers, or look at
        ``eigenvalues_``.
    objective_history_, power_history_ : ndarray
        Objective at the beginning of each step, and power of the step, which is -inf for hard
        steps. Each batch of swap moves that lowered the cost adds an entry. Pairs that are divided
        anew add none, so that ``inertia_`` can be up to 1 % above the last entry.
    n_iter_ : int
        Number of steps of the best restart, including those of all its swap moves.
    critical_power_ : float
        Power above which all centroids collapse onto the mean.
    memberships_ : ndarray of shape (n_samples, n_clusters) or None
        Memberships of the training rows in the clusters, at the last finite power; those of a row
        sum to 1. None if they would take more than a quarter of the memory budget.
    certainty_ : ndarray of shape (n_samples,)
        Membership of each training row in its own cluster, which is the largest one.
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
        rows that are recomputed in each step, ``"explicit"`` are features whose inner product is
        the kernel, and other names are approximations. The features of heat and graph kernels are
        the leading eigenpairs of the graph.
    approximation_error_ : float or None
        Fraction of the trace of the kernel matrix that is residual; 0 for an exact kernel. With a
        heat or graph kernel it is the part of the eigenpairs that are left out. None if a piece of
        the graph has more than 200 rows, for random features, for anchors, and if the kernel turns
        out not to be positive semi-definite.
    inertia_bounds_ : tuple of float or None
        Lower and upper bound of the cost of ``labels_`` under the exact kernel, if the centroids
        are the means of the clusters. Both are ``inertia_`` for an exact kernel. An exact heat or
        graph kernel has all eigenpairs: ``inertia_``, the cost with the leading ones, may lie
        outside the bounds. None if ``approximation_error_`` is None.
    separation_ : ndarray of shape (n_clusters,) or None
        For each cluster, the edges between its training rows and others, as a fraction of the edges
        of its rows, or of all other rows if those have fewer
        (``kernelmeans.heat.separation.conductances``). Edges join distinct rows with their nearest
        neighbours, and count alike; those of a given graph count by their weights. At a value near
        0 a cluster is well apart; above 0.5 it is hardly a cluster. With other kernels than heat,
        and with rows that are not in memory, at most 4096 rows and Euclidean distances are used.
        None for kernel matrices.
    outlier_score_ : ndarray of shape (n_samples,) or None
        How strange each training row is in its cluster, equal to ``outlier_score(X)``; None without
        ``outliers``.
    outlier_threshold_ : float or None
        The outlier score above which rows belong to no cluster; None without ``outliers``.
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

    See Also
    --------
    KernelKMeans : Kernel k-means without annealing; its default kernel is ``"rbf"``.
    PowerKMeans : Annealed k-means in the space of the data.

    Notes
    -----
    A step costs one product with the kernel matrix, or with the features of an approximation. For
    features of more than 65 536 rows or 128 MB, k-means++ and the critical power use a weighted
    random subsample. With ``s0="auto"`` and k-means++, eight runs are then annealed on subsamples
    first, and the best one continues on all rows. The histories hold its steps on all rows only.

    Labels are the same for the same seed on the same machine, with any number of threads. On other
    machines or with other versions of BLAS the last bits of the costs may differ, and with them the
    labels of samples that are equally near to two centroids.

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
        kernel: KernelName | Callable[..., Any] = "heat",
        gamma: WidthName | float = "rms",
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        n_neighbors: Auto | int = "auto",
        t: Literal["auto", "states"] | float = "auto",
        metric: MetricName = "euclidean",
        density: Auto | float = "auto",
        outliers: Auto | float | None = None,
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
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_neighbors = n_neighbors
        self.t = t
        self.metric = metric
        self.density = density
        self.outliers = outliers
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


class KernelKMeans(OneKernelClusterer):
    """Kernel k-means: hard steps from the start, the limit s -> -inf of `KernelPowerKMeans`.

    Prefer `KernelPowerKMeans`. This estimator is for comparison, and for data so easy that
    annealing is not worth its time.

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
        that, but at most n_samples / n_clusters. Either grows by half if the graph would have more
        large pieces than there are clusters, and doubles if half is not enough. If the graph
        connects rows with anchors (``approximation="landmarks"``), it is their number for each row,
        by default 5.
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
    outliers : "auto", float or None, default=None
        Which rows belong to no cluster, or what fraction: they get the label -1, in training and in
        `predict`. With None every row has a cluster. With ``"auto"`` they are the rows whose
        outlier score is above 1: sparse for their cluster, or beyond a gap. With a number, at most
        0.5, they are that fraction of the training rows, by sample weight, with the largest scores.
        In any case all rows take part in the fit, but those in sparse places hardly change the
        default kernel. Not for kernel matrices, graphs and distances.
    init : {"k-means++", "random"}, array-like or callable, default="k-means++"
        Starting centroids. ``"k-means++"`` is greedy k-means++ in the feature space, ``"random"``
        chooses random samples. An array of integers holds row indices, of shape (k,) or
        (n_init, k). An array of floats holds starting weights of shape (n_samples, k), the W(0) of
        the paper, or coordinates of shape (k, n_features), which precomputed kernels do not have. A
        callable ``init(X, n_clusters, random_state)`` returns such an array.
    n_init : "auto" or int, default="auto"
        Number of restarts. They run together in one batch, and the one of lowest cost is kept.
        ``"auto"`` is 1 for k-means++ and given starts, and 10 otherwise.
    n_swaps : int or "auto", default=0
        Number of swap moves that are tried at the end to lower the cost of the best restart; 0, for
        plain kernel k-means, by default. A swap move drops a centroid in one place and puts it in
        another. Before the moves, a few runs from k-means++ seeds are compared with the best
        restart, and single samples are exchanged between clusters. ``"auto"`` stops when 4 +
        n_clusters moves in a row have gained less than 0.01 %. If moves are quick it continues for
        longer, but in any case it ends after some seconds. For many rows, or features of more than
        128 MB, it tries none. With ``"auto"`` and a heat kernel, pairs of clusters are divided anew
        at the end, as by `KernelPowerKMeans`, and ``inertia_`` can be up to 1 % above the last of
        ``objective_history_``.
    max_iter : int, default=1000
        Maximum number of steps of a restart.
    memory_budget : int, str or None, default=None
        Memory for the fit, in bytes or as a text such as ``"4GB"``. None is 80 % of all memory,
        free or not. A kernel matrix that does not fit into the budget together with the centroids
        is refused before it is computed. Without a budget, so is one that does not fit into the
        free memory. Restarts run in batches that fit.
    cache_kernel : bool, default=True
        Whether the matrix of an exact kernel is kept in memory. If False, its rows are recomputed
        in each step, never more at a time than the budget holds. With ``approximation=None`` this
        works for any number of rows.
    approximation : {"auto", None, "landmarks", "rpcholesky", "rff"}, default="auto"
        Approximation that replaces the kernel matrix: ``"auto"`` takes the exact kernel as long as
        it is fast, and landmarks beyond. None is the exact kernel. An approximation gives each row
        a number of features, and their inner products approximate the kernel. The features of
        ``"landmarks"`` come from kernel values with landmarks, which are the centroids of a short
        k-means, or rows chosen by k-means++ if X is sparse or the kernel is a callable. Those of
        ``"rpcholesky"`` come from kernel values with samples that randomly pivoted Cholesky
        chooses, also for precomputed kernels. ``"rff"`` are random Fourier features, for rbf and
        laplacian. With ``"auto"`` the exact kernel is fast up to about 6000 rows in ten clusters,
        or 19 000 rows of a precomputed kernel. Beyond, a precomputed kernel takes rpcholesky. The
        memory budget does not change this choice: a fit that exceeds it is refused. Linear and
        cosine kernels need no approximation. The heat kernel takes the graph of all rows where that
        takes about a minute on two cores at most, as for 600 000 rows of 64 columns. Beyond, it
        takes the graph of its anchors, as with ``"landmarks"``.
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
        largest first, unless ``init`` gives the starts or ``fit`` gets earlier labels. Rows of
        no cluster (``outliers``) have -1; their weight counts for the nearest.
    distances_ : ndarray of shape (n_samples, 2)
        Distances (not squared) of each training row to its own centroid and to the second nearest
        one; a single column for one cluster.
    inertia_ : float
        Cost: the weighted sum of squared distances to the nearest centroid in the feature space;
        equal to ``-score(X, sample_weight=sample_weight)``. Only costs under the same kernel can be
        compared. With ``n_neighbors="auto"`` or ``t="auto"`` the heat kernel depends on
        ``n_clusters``. To compare numbers of clusters, set both to numbers, or look at
        ``eigenvalues_``.
    objective_history_ : ndarray of shape (n_steps,)
        Cost at the beginning of each step. Each batch of swap moves that lowered the cost adds an
        entry.
    power_history_ : ndarray of shape (n_steps,)
        The powers of the steps: -inf, because all of them are hard.
    n_iter_ : int
        Number of steps of the best restart, including those of all its swap moves.
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
        rows that are recomputed in each step, ``"explicit"`` are features whose inner product is
        the kernel, and other names are approximations. The features of heat and graph kernels are
        the leading eigenpairs of the graph.
    approximation_error_ : float or None
        Fraction of the trace of the kernel matrix that is residual; 0 for an exact kernel. With a
        heat or graph kernel it is the part of the eigenpairs that are left out. None if a piece of
        the graph has more than 200 rows, for random features, for anchors, and if the kernel turns
        out not to be positive semi-definite.
    inertia_bounds_ : tuple of float or None
        Lower and upper bound of the cost of ``labels_`` under the exact kernel, if the centroids
        are the means of the clusters. Both are ``inertia_`` for an exact kernel. An exact heat or
        graph kernel has all eigenpairs: ``inertia_``, the cost with the leading ones, may lie
        outside the bounds. None if ``approximation_error_`` is None.
    separation_ : ndarray of shape (n_clusters,) or None
        For each cluster, the edges between its training rows and others, as a fraction of the edges
        of its rows, or of all other rows if those have fewer
        (``kernelmeans.heat.separation.conductances``). Edges join distinct rows with their nearest
        neighbours, and count alike; those of a given graph count by their weights. At a value near
        0 a cluster is well apart; above 0.5 it is hardly a cluster. With other kernels than heat,
        and with rows that are not in memory, at most 4096 rows and Euclidean distances are used.
        None for kernel matrices.
    outlier_score_ : ndarray of shape (n_samples,) or None
        How strange each training row is in its cluster, equal to ``outlier_score(X)``; None without
        ``outliers``.
    outlier_threshold_ : float or None
        The outlier score above which rows belong to no cluster; None without ``outliers``.
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
        kernel: KernelName | Callable[..., Any] = "rbf",
        gamma: WidthName | float = "rms",
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        n_neighbors: Auto | int = "auto",
        t: Literal["auto", "states"] | float = "auto",
        metric: MetricName = "euclidean",
        density: Auto | float = "auto",
        outliers: Auto | float | None = None,
        init: SeedingName | GivenStarts = "k-means++",
        n_init: Auto | int = "auto",
        n_swaps: Auto | int = 0,
        max_iter: int = 1000,
        memory_budget: int | str | None = None,
        cache_kernel: bool = True,
        approximation: Auto | ApproximationName | None = "auto",
        n_components: Auto | int | float = "auto",
        device: str | None = None,
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
        self.outliers = outliers
        self.init = init
        self.n_init = n_init
        self.n_swaps = n_swaps
        self.max_iter = max_iter
        self.memory_budget = memory_budget
        self.cache_kernel = cache_kernel
        self.approximation = approximation
        self.n_components = n_components
        self.device = device
        self.verbose = verbose
        self.random_state = random_state

    def _method(self, space: Space) -> Method:
        return hard(space, n_swaps=self.n_swaps, max_iter=self.max_iter)


class PowerKMeans(KernelClusterer):
    """Power k-means: the annealed form of k-means, in the space of the data.

    It is `KernelPowerKMeans` with the linear kernel, so that centroids are points. It is for round
    clusters, and for many rows: time and memory of a step are proportional to the size of X.

    ``PowerKMeans(s0=-1, eta=1)`` is k-harmonic means (Zhang, Hsu and Dayal 1999).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    s0 : "auto" or float, default="auto"
        First power, negative. ``"auto"`` is just below the critical power, above which all
        centroids collapse onto the mean. It is closer to 0 for well-separated clusters, and never
        above -1. The paper uses -1.
    eta : "auto" or float, default="auto"
        Factor on the power, at least 1. A number gives the steps of the paper, which uses 1.04.
        ``"auto"`` is 1.06, or 1.12 if swap moves follow, with steps that are over-relaxed by a
        factor of 1.8. Over-relaxed steps reach the same cost in fewer steps, and cannot raise the
        objective either. With ``eta=1`` the power stays at ``s0``, the run ends by ``tol``, and
        there are no hard steps.
    anneal_every : int, default=1
        Number of steps from one factor ``eta`` to the next. The paper uses 5.
    init : {"k-means++", "random"}, array-like or callable, default="k-means++"
        Starting centroids. ``"k-means++"`` is greedy k-means++, ``"random"`` chooses random rows.
        An array of integers holds row indices, of shape (k,) or (n_init, k). An array of floats
        holds starting weights of shape (n_samples, k), or coordinates of shape (k, n_features). A
        callable ``init(X, n_clusters, random_state)`` returns such an array.
    n_init : "auto" or int, default="auto"
        Number of restarts. They run together in one batch, and the one of lowest cost is kept.
        ``"auto"`` is 1 for k-means++ and given starts, and 10 otherwise.
    n_swaps : "auto" or int, default="auto"
        Number of swap moves that are tried at the end to lower the cost of the best restart; 0 for
        none. A swap move drops a centroid in one place and puts it in another. Before the moves, a
        few runs of k-means from k-means++ seeds are compared with the best restart, and single
        samples are exchanged between clusters. ``"auto"`` stops when 4 + n_clusters moves in a row
        have gained less than 0.01 %. If moves are quick it continues for longer, but in any case it
        ends after some seconds: with a hundred clusters more moves would lower the cost. At a
        constant power it tries none. If samples are so many that subsamples are annealed first, it
        tries moves on the subsamples only.
    max_iter : int, default=1000
        Maximum number of steps of a restart.
    tol : float, default=1e-6
        Relative change of the objective that ends a run at constant power (``eta=1``).
    memory_budget : int, str or None, default=None
        Memory for the fit, in bytes or as a text such as ``"4GB"``. None is 80 % of all memory,
        free or not. Rows that do not fit are read block by block, and restarts run in batches that
        fit.
    device : str or None, default=None
        Device to compute on, by its name in PyTorch: ``"cuda"``, ``"cuda:1"`` or ``"cpu"``. It
        needs the extra ``gpu``. None is where X is: the host for NumPy, or the device of a PyTorch
        or CuPy array. Labels and distances are returned in the library and on the device of X. Rows
        must be dense.
    verbose : int, default=0
        How much is printed: nothing for 0, a line for each restart and some at the end for 1, and a
        line for each step too for 2. Steps of swap moves have none.
    random_state : int, RandomState or None, default=None
        Seed of all randomness.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centroids.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each training row; equal to ``predict(X)``. Clusters are numbered by weight, the
        largest first, unless ``init`` gives the starts or ``fit`` gets earlier labels.
    distances_ : ndarray of shape (n_samples, 2)
        Distances (not squared) of each training row to its own centroid and to the second nearest
        one; a single column for one cluster.
    inertia_ : float
        Cost: the weighted sum of squared distances to the nearest centroid; equal to
        ``-score(X, sample_weight=sample_weight)``.
    objective_history_, power_history_ : ndarray
        Objective at the beginning of each step, and power of the step, which is -inf for hard
        steps. Each batch of swap moves that lowered the cost adds an entry.
    n_iter_ : int
        Number of steps of the best restart, including those of all its swap moves.
    critical_power_ : float
        Power above which all centroids collapse onto the mean.
    memberships_ : ndarray of shape (n_samples, n_clusters) or None
        Memberships of the training rows in the clusters, at the last finite power; those of a row
        sum to 1. None if they would take more than a quarter of the memory budget.
    certainty_ : ndarray of shape (n_samples,)
        Membership of each training row in its own cluster, which is the largest one.
    kernel_ : kernelmeans.kernels.Kernel
        The linear kernel, a function of two matrices of rows.
    approximation_, approximation_reason_ : str
        How the kernel is held, and why: always ``"explicit"``, as an inner product of the rows.
    approximation_error_ : float
        0, because nothing is approximated.
    inertia_bounds_ : tuple of float
        Lower and upper bound of the cost of ``labels_``, if the centroids are the means of the
        clusters. Both are equal.
    separation_ : ndarray of shape (n_clusters,) or None
        For each cluster, the edges between its training rows and others, as a fraction of the edges
        of its rows, or of all other rows if those have fewer
        (``kernelmeans.heat.separation.conductances``). Edges join distinct rows with their nearest
        neighbours, and count alike; those of a given graph count by their weights. At a value near
        0 a cluster is well apart; above 0.5 it is hardly a cluster. With other kernels than heat,
        and with rows that are not in memory, at most 4096 rows and Euclidean distances are used.
        None for kernel matrices.
    changes_ : list of kernelmeans.metrics.ClusterChange or None
        Which clusters of the earlier labels that ``fit`` got as ``like`` are kept, split, merged or
        gone, and which clusters are new. None without earlier labels.
    tree_ : kernelmeans.estimators.tree.ClusterTree
        Which clusters are merged first: ``children_`` and ``distances_`` as those of
        `sklearn.cluster.AgglomerativeClustering`. The method `cut` merges clusters along it, those
        that add the least to the cost.
        Models of older files have none.
    result_ : kernelmeans.solver.Result
        Labels, costs and histories of all restarts, and why each restart ended
        (`kernelmeans.solver.Ending`).
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features seen in fit, if X has names.

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

    kernel_: Kernel
    approximation_: str
    approximation_reason_: str

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        s0: Auto | float = "auto",
        eta: Auto | float = "auto",
        anneal_every: int = 1,
        init: SeedingName | GivenStarts = "k-means++",
        n_init: Auto | int = "auto",
        n_swaps: Auto | int = "auto",
        max_iter: int = 1000,
        tol: float = 1e-6,
        memory_budget: int | str | None = None,
        device: str | None = None,
        verbose: int = 0,
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
        self.verbose = verbose
        self.random_state = random_state

    def _make_input(self) -> Input:
        return Input({"kernel": "linear"})

    @property
    def cluster_centers_(self) -> Array:
        """The centroids, shape (n_clusters, n_features)."""
        predictor = cast(FeaturePredictor, self._predictor)
        return predictor.theta[np.argsort(predictor.numbers)] + predictor.features.origin
