"""Multiple kernel k-means (Huang, Chuang and Chen 2012), the version with hard clusters."""

from collections.abc import Sequence
from typing import Any, ClassVar

from kernelmeans._sklearn import StrOptions
from kernelmeans.baselines.rules import SquaredRule
from kernelmeans.estimators.base import KernelClusterer
from kernelmeans.estimators.inputs import Input
from kernelmeans.estimators.parameters import ALTERNATING, KERNELS
from kernelmeans.estimators.several import several_kernels
from kernelmeans.solver import Alternating, Method
from kernelmeans.spaces import Space, WeightRule


class MKKM(KernelClusterer):
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
    kernels, kernel_scaling
        As for `MultiKernelPowerKMeans`, but not scaled by default, as published.
    init : {"random-partition", "k-means++", "random"}, array-like or callable, \
default="random-partition"
        A random cluster for every sample, as published, or what `KernelPowerKMeans` takes. A start
        from weights also gives the first kernel weights; others begin with equal ones.
    n_init : "auto" or int, default="auto"
        Restarts, of which the one of least objective is kept; 10 for random starts.
    max_iter : int, default=100
        Most turns.
    tol : float, default=1e-5
        Relative change of the objective that ends a run.
    memory_budget, cache_kernel, random_state
        As for `KernelPowerKMeans`.

    Attributes
    ----------
    kernel_weights_, kernel_weights_history_, kernel_factors_, kernel_, labels_, n_iter_, result_
        As for `MultiKernelPowerKMeans`.
    objective_history_ : ndarray of shape (n_iter,)
        The objective with which each turn began.
    inertia_ : float
        The objective at the end; equal to ``-score(X)``.

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

    def _input(self) -> Input:
        return several_kernels(self.kernels, self.kernel_scaling)

    def _method(self, space: Space) -> Method:
        return Alternating(max_iter=self.max_iter, tol=self.tol, refills=False)

    def _weight_rule(self, scale: float) -> WeightRule:
        return SquaredRule()
