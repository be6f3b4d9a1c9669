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
    kernel : str or callable, default="rbf"
        As for `KernelPowerKMeans`, whose default is ``"heat"``.
    gamma, degree, coef0, kernel_params, n_neighbors, t, metric
        As for `KernelPowerKMeans`.
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
    labels_, n_iter_, kernel_, gamma_, n_neighbors_, t_, eigenvalues_, n_pieces_, result_
        As for `KernelPowerKMeans`.
    objective_history_ : ndarray of shape (n_iter,)
        The objective with which each turn began.
    inertia_ : float
        Weighted sum of squared distances to the nearest centroid; equal to ``-score(X)``. Not the
        objective, which sums their roots.

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
