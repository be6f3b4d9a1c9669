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
    kernels, kernel_scaling
        As for `MultiKernelPowerKMeans`, but not scaled by default, as published.
    exponent : float, default=0.4
        The g, from 0.05 to below 1. Near 0 kernel weights are nearly the reciprocals of the costs,
        near 1 one kernel takes all. The publication names 0.3, but its figures are those of 0.4.
    init : {"k-means++", "random"}, array-like or callable, default="random"
        As for `KernelPowerKMeans`; published with random samples.
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
    kernel_weights_ : ndarray of shape (L,)
        The a_l; their powers ``kernel_weights_ ** exponent`` sum to 1.
    kernel_weights_history_, kernel_factors_, kernel_, labels_, n_iter_, result_
        As for `MultiKernelPowerKMeans`.
    objective_history_ : ndarray of shape (n_iter,)
        The objective with which each turn began.
    inertia_ : float
        Weighted sum of squared distances sum_l a_l d_l to the nearest centroid; equal to
        ``-score(X)``. Not the objective, which sums their roots.

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

    def _input(self) -> Input:
        return several_kernels(self.kernels, self.kernel_scaling)

    def _method(self, space: Space) -> Method:
        return Alternating(max_iter=self.max_iter, tol=self.tol, loss=LENGTHS)

    def _weight_rule(self, scale: float) -> WeightRule:
        return PowerSumRule(self.exponent)
