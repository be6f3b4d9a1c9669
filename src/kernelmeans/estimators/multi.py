"""The annealed estimator of several kernels or views."""

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from kernelmeans._sklearn import Interval
from kernelmeans.estimators.base import KernelClusterer
from kernelmeans.estimators.checks import ANNEALING, APPROXIMATION, COMMON, DEVICE, KERNELS
from kernelmeans.estimators.inputs import Input
from kernelmeans.estimators.several import KernelMatrices, Views
from kernelmeans.solver import Method
from kernelmeans.spaces import EntropyRule, Space, WeightRule


class SeveralKernelsClusterer(KernelClusterer):
    """Estimators of several kernels, which are put on one scale."""

    kernels: str | Sequence[Any]
    kernel_scaling: str | None

    def _make_input(self) -> Input:
        given = isinstance(self.kernels, str) and self.kernels == "precomputed"
        return (KernelMatrices if given else Views)(self.kernels, self.kernel_scaling)


class MultiKernelPowerKMeans(SeveralKernelsClusterer):
    """Kernel power k-means of several kernels or views, with learned kernel weights.

    Squared distances are the sum of those in each kernel's space, multiplied by weights on the
    simplex. The weights follow what each kernel costs, held together by their entropy (Algorithm
    2 of the paper), in the same annealed run that moves the centroids. In the end they are the best
    ones for the labels; swap moves leave them where they are.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    kernels : {"neighbors", "widths", "du2015", "precomputed"} or list, default="neighbors"
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
    kernel_scaling : {"unit-variance", "cosine", "min-max"} or None, default="unit-variance"
        How kernels are put on one scale, so that their units do not decide their weights.
        ``"unit-variance"`` divides by the kernel variance: the mean squared distance from the mean
        becomes 1. ``"cosine"`` normalizes to K(x, x) = 1. ``"min-max"`` does that and stretches
        values to lie between 0 and 1, as the paper does. None leaves kernels as they are. The scale
        is learned in fit and applied in predict.
    entropy_weight : float, default=2.0
        Weight of the entropy of the kernel weights, the paper's lambda, relative to the sum of the
        sample weights times the mean kernel variance. 0 leaves one kernel, infinity gives all the
        same weight. Values of 0.1 to 0.5 single out the better kernels, but also fall for one whose
        few columns are easy to explain.
    s0 : "auto" or float, default="auto"
        First power, negative. ``"auto"`` starts just below the critical power of the combined
        kernel, and at most at -1. Where ``init`` names a seeding, it first takes two steps at -1,
        after which all centroids lie near the mean: from there they part along what tells samples
        apart best. From another ``init`` it starts nearer to 0 where clusters are so clear that
        samples would hardly share centroids.
    eta : "auto" or float, default="auto"
        Factor on the power, at least 1. A float takes the paper's plain steps. ``"auto"`` is 1.17,
        with over-relaxed steps, where samples stay where they are, and closer to 1 while they
        choose between centroids: half of that growth when their softness (the mean share of their
        weight that is not the nearest centroid's) changes by 0.005 in a step. Each restart has its
        own powers. With ``eta=1`` the power stays at ``s0``, the run ends on ``tol``, and no hard
        step is taken.
    anneal_every : int, default=1
        Steps between two factors ``eta``. The paper has 5. No restart turns hard above the critical
        power of its own kernel weights: where these have moved noticeably it is computed again.
    init : {"k-means++", "random"}, array-like or callable, default="k-means++"
        Starting centroids. Greedy k-means++ in the combined feature space; ``"random"`` data
        points; row indices of shape (k,) or (n_init, k); starting weights of shape (n_samples, k);
        coordinates of shape (k, n_features), not for precomputed kernels; or a callable
        ``init(X, n_clusters, random_state)`` that returns one of these. Integers are indices.
    n_init : "auto" or int, default="auto"
        Restarts, run together in one batch, each with kernel weights of its own; the one of least
        cost, penalty included, is kept. ``"auto"``: 1 for k-means++ and given starts, else 10.
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
        Memory to take, in bytes or as ``"4GB"``; by default 80 % of all memory, free or not. Kernel
        matrices and centroids beyond it, or beyond what is free by then, are refused before
        they are computed; restarts are run in batches that fit.
    cache_kernel : bool, default=True
        Whether the matrices of exact kernels are kept in memory, or their rows are computed again
        at each step. False never holds more of them than the budget; with ``approximation=None`` it
        does so for any number of rows.
    approximation : {"auto", None, "landmarks", "rpcholesky", "rff"}, default="auto"
        What replaces a kernel matrix: ``"auto"`` takes the exact kernel where that is fast, and
        landmarks beyond. None is the exact kernel. Else each kernel is replaced, by itself, by
        inner products of a few numbers for each row: its values against ``"landmarks"`` (centroids
        of a short k-means; rows drawn by k-means++ for sparse X and callables), or against samples
        that randomly pivoted Cholesky picks (``"rpcholesky"``, also for precomputed kernels), or
        random Fourier features (``"rff"``, for rbf and laplacian). The kernels share what is fast
        for one: some 6000 rows in ten clusters, 19 000 of precomputed kernels; memory does not
        decide, it only refuses. Linear and cosine kernels need none. Heat kernels take the graph of
        all rows up to 50 000, and beyond that of ``"landmarks"``, their anchors, which differ where
        several are of the same rows.
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
    kernel_weights_ : ndarray of shape (L,)
        Weight of each kernel, which sum to 1. A kernel that is constant on the data gets 0.
    kernel_weights_history_ : ndarray of shape (n_steps, L)
        The weights with which each step began, and those of each swap move that was kept.
    kernel_factors_ : ndarray of shape (L,)
        By which ``kernel_scaling`` multiplies squared distances.
    inertia_ : float
        Weighted sum of squared distances to the nearest centroid, each the sum over kernels of
        ``kernel_weights_ * kernel_factors_`` times its own; without the penalty. Costs compare
        under the same kernels and weights only; with ``n_neighbors="auto"`` or ``t="auto"`` those
        of heat kernels depend on ``n_clusters``.
    objective_history_ : ndarray of shape (n_steps,)
        Objective of each step, with the penalty lambda sum_l a_l log(L a_l), lambda being
        ``entropy_weight`` in its absolute unit: the paper's penalty and a constant, so that uniform
        weights cost nothing.
    power_history_ : ndarray of shape (n_steps,)
        Power of each step; -inf in hard steps.
    n_iter_ : int
        Steps of the best restart, those of all its swap moves included.
    memberships_ : ndarray of shape (n_samples, n_clusters) or None
        Share of each centroid in each training row, at the last finite power; rows sum to 1. None
        where they would take more than a quarter of the memory budget.
    kernels_ : list of L kernelmeans.kernels.Kernel
        The kernels with their parameters settled; heat kernels have ``eigenvalues`` and
        ``n_pieces`` of their graphs too.
    kernel_ : kernelmeans.kernels.CombinedKernel
        The combined kernel as a function of two matrices of rows, constant kernels left out.
    critical_power_ : float
        Critical power of the kernels combined with equal weights.
    approximation_, approximation_reason_ : list of L str
        How each kernel was held (``"exact"``, ``"blocked"``: rows recomputed, ``"explicit"``: an
        inner product of the rows, or an approximation), and why.
    approximation_error_ : float or None
        Share of the trace of the combined kernel matrix that approximations leave out; 0 for exact
        kernels, None with random features, with anchors and where a kernel is seen to be
        indefinite.
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

    See Also
    --------
    KernelPowerKMeans : The same for one kernel.
    kernelmeans.baselines : Other ways to weigh kernels, to compare with.

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
        kernels: str | Sequence[Any] = "neighbors",
        kernel_scaling: str | None = "unit-variance",
        entropy_weight: float = 2.0,
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
        self.random_state = random_state

    def _method(self, space: Space) -> Method:
        # What begins where the user says is not forgotten.
        return self._annealed(space, forgets=isinstance(self.init, str), alternates=True)

    def _weight_rule(self, scale: float) -> WeightRule:
        # A scale of 0 (constant data) must not make infinity a NaN.
        return EntropyRule(self.entropy_weight * scale if scale > 0 else self.entropy_weight)
