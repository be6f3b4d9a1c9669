"""Robust multiple kernel k-means (Du et al. 2015)."""

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar

from kernelmeans._sklearn import Interval
from kernelmeans.baselines.rules import PowerSumRule
from kernelmeans.estimators.base import KernelClusterer
from kernelmeans.estimators.inputs import Input
from kernelmeans.estimators.parameters import ALTERNATING, KERNELS
from kernelmeans.estimators.several import several_kernels
from kernelmeans.solver import Alternating, Method
from kernelmeans.solver.power import LENGTHS
from kernelmeans.spaces import Space, WeightRule


class RMKKM(KernelClusterer):
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

    def _make_input(self) -> Input:
        return several_kernels(self.kernels, self.kernel_scaling)

    def _method(self, space: Space) -> Method:
        return Alternating(max_iter=self.max_iter, tol=self.tol, loss=LENGTHS)

    def _weight_rule(self, scale: float) -> WeightRule:
        return PowerSumRule(self.exponent)
