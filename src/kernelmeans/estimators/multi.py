"""The annealed estimator of several kernels or views."""

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from kernelmeans._sklearn import Interval
from kernelmeans.estimators.base import KernelClusterer
from kernelmeans.estimators.inputs import Input
from kernelmeans.estimators.parameters import ANNEALING, APPROXIMATION, COMMON, DEVICE, KERNELS
from kernelmeans.estimators.several import several_kernels
from kernelmeans.solver import Method, annealed
from kernelmeans.spaces import EntropyRule, Space, WeightRule


class MultiKernelPowerKMeans(KernelClusterer):
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
        A family: ``"neighbors"``, two heat kernels on graphs of nearest neighbours
        (`kernelmeans.heat.neighbor_family`), ``"widths"``, five rbf kernels around the root mean
        square width (`kernelmeans.kernels.width_family`), or ``"du2015"``, twelve kernels
        (`kernelmeans.kernels.du2015_family`). ``"precomputed"``: X is a stack of kernel matrices,
        shape (L, n, n), which cannot be cross-validated. Or a list whose items are a kernel or a
        family by name, a callable of two matrices, ``dict(kernel=, gamma=, degree=, coef0=,
        kernel_params=, n_neighbors=, t=, metric=)`` as for `KernelPowerKMeans` (the family
        ``"neighbors"`` takes ``metric`` too), or a pair of one of these and columns of X: names,
        indices, a mask, a slice or a callable, as in scikit-learn's ColumnTransformer. Columns that
        no item names are ignored; in a table they may hold anything.
    kernel_scaling : {"unit-variance", "cosine", "min-max"} or None, default="unit-variance"
        How kernels are put on one scale, lest it decide their weights: divided by the kernel
        variance (the mean squared distance from the mean becomes 1); normalised to K(x, x) = 1;
        that and then stretched to values between 0 and 1, as the paper does; or not at all. It is
        learned in fit and applied in predict.
    entropy_weight : float, default=2.0
        The paper's lambda: weight of the entropy of the kernel weights, relative to the sum of the
        sample weights times the mean kernel variance. 0 leaves one kernel, infinity gives all the
        same weight. Values of 0.1 to 0.5 single out the better kernels, but also fall for one whose
        few columns are easy to explain.
    s0 : "auto" or float, default="auto"
        First power, negative. ``"auto"`` starts just below the critical power of the combined
        kernel, and at most at -1; but where ``init`` names a seeding, it begins with two steps at
        -1, after which all centroids lie near the mean: from there they part along what tells
        samples apart best. From another ``init`` it starts as `KernelPowerKMeans` does.
    eta : "auto" or float, default="auto"
        Factor on the power, as for `KernelPowerKMeans`, but ``"auto"`` is 1.17 where samples stay
        where they are, and closer to 1 while they choose between centroids: half of that growth
        when their softness (the mean share of their weight that is not the nearest centroid's)
        changes by .005 in a step. Each restart has its own powers.
    anneal_every
        As for `KernelPowerKMeans`. No restart turns hard above the critical power of its own kernel
        weights: where these have moved noticeably it is computed again.
    init, n_init, n_swaps, max_iter, tol, memory_budget, cache_kernel, approximation,
    n_components, device, random_state
        As for `KernelPowerKMeans`; each kernel is approximated by itself, several heat kernels of
        the same rows by different anchors. Restarts have kernel weights of their own, and the one
        with the least cost, penalty included, is kept.

    Attributes
    ----------
    kernel_weights_ : ndarray of shape (L,)
        Weight of each kernel, which sum to 1. A kernel that is constant on the data gets 0.
    kernel_weights_history_ : ndarray of shape (n_steps, L)
        The weights with which each step began, and those of each swap move that was kept.
    kernel_factors_ : ndarray of shape (L,)
        By which ``kernel_scaling`` multiplies squared distances.
    inertia_ : float
        Weighted sum of squared distances to the nearest centroid, each the sum over kernels of
        ``kernel_weights_ * kernel_factors_`` times its own; without the penalty. Costs compare
        under the same kernels and weights only; those of heat kernels depend on ``n_clusters``, as
        for `KernelPowerKMeans`.
    objective_history_ : ndarray of shape (n_steps,)
        Objective of each step, with the penalty lambda sum_l a_l log(L a_l), lambda being
        ``entropy_weight`` in its absolute unit: the paper's penalty and a constant, so that uniform
        weights cost nothing.
    kernels_ : list of L kernelmeans.kernels.Kernel
        The kernels with their parameters settled; heat kernels have ``eigenvalues`` and
        ``n_pieces`` of their graphs too.
    kernel_ : kernelmeans.kernels.CombinedKernel
        The combined kernel as a function of two matrices of rows, constant kernels left out.
    critical_power_ : float
        Critical power of the kernels combined with equal weights.
    approximation_, approximation_reason_ : list of L str
        How each kernel was held, and why.
    labels_, power_history_, n_iter_, memberships_, approximation_error_, inertia_bounds_, result_,
    n_features_in_, feature_names_in_
        As for `KernelPowerKMeans`.

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

    def _input(self) -> Input:
        return several_kernels(self.kernels, self.kernel_scaling)

    def _method(self, space: Space) -> Method:
        method = annealed(
            space,
            self.n_clusters,
            s0=self.s0,
            eta=self.eta,
            anneal_every=self.anneal_every,
            max_iter=self.max_iter,
            tol=self.tol,
            n_swaps=self.n_swaps,
            # Not where the start is the user's.
            forgets=isinstance(self.init, str),
            alternates=True,
        )
        self.critical_power_ = method.critical_power
        return method

    def _weight_rule(self, scale: float) -> WeightRule:
        # A scale of 0 (constant data) must not make infinity a NaN.
        return EntropyRule(self.entropy_weight * scale if scale > 0 else self.entropy_weight)
