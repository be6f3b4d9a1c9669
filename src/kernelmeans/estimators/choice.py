"""The ``approximation`` parameter: how a kernel is held, and why."""

from numbers import Integral, Real
from typing import Any, NamedTuple

import scipy.sparse

from kernelmeans._sklearn import Interval, StrOptions
from kernelmeans._typing import Array, Data
from kernelmeans.heat import DiffusionKernel
from kernelmeans.kernels import Kernel
from kernelmeans.lowrank import auto_components, check_method
from kernelmeans.memory import readable
from kernelmeans.rows import Rows
from kernelmeans.rows.lazy import DaskRows
from kernelmeans.spaces import GramSpace

APPROXIMATION: dict[str, Any] = {
    "approximation": [StrOptions({"auto", "landmarks", "rpcholesky", "rff"}), None],
    "n_components": [
        StrOptions({"auto"}),
        Interval(Integral, 1, None, closed="left"),
        Interval(Real, 0, 1, closed="neither"),
    ],
}
#: What fits cost, in multiplications (``benchmarks/auto.py`` measures it): a kernel value, beside
#: two for each column, and the passes over all samples, of two for each cluster.
VALUE, PASSES = 20, 70
#: ``approximation="auto"`` takes the exact kernel where that costs no more than this, which is some
#: seconds on two cores, or where a low rank would not be so many times faster.
WORK, FASTER = 5e10, 5
#: Rows up to which ``approximation="auto"`` takes the graph of all rows for a heat kernel.
GRAPH_ROWS = 50_000
#: How many times as much a kernel matrix that is there may cost: no rows are left to make it of.
PRECOMPUTED = 10
#: Kernel rows that a step holds at least, where it recomputes them.
FEWEST_HELD = 8


class Choice(NamedTuple):
    """How one kernel is held.

    Attributes
    ----------
    method : str
        ``"explicit"`` (an inner product of the rows), ``"exact"`` (a kernel matrix), ``"blocked"``
        (its rows recomputed at each step), or an approximation.
    reason : str
        Why.
    n_components : int, float or "auto"
        As the estimators take it.
    """

    method: str
    reason: str
    n_components: int | float | str = "auto"


def choose(
    kernel: Kernel,
    X: Data,
    sample_weight: Array,
    approximation: str | None,
    n_components: int | float | str,
    cache_kernel: bool,
    n_clusters: int,
    matrix_budget: int,
    n_kernels: int = 1,
) -> Choice:
    """Decide how a kernel is held.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : {ndarray, CSR matrix, Rows} of shape (n_samples, n_features)
        Training rows.
    sample_weight : ndarray of shape (n_samples,)
        Weights.
    approximation, n_components, cache_kernel, n_clusters
        As the estimators take them.
    matrix_budget : int
        Bytes that its kernel matrix may take.
    n_kernels : int, default=1
        Kernels that share the time of a fit.

    Returns
    -------
    Choice
        What it is, and why.

    Raises
    ------
    ValueError
        If the approximation does not go with the kernel or with ``n_components``.
    """
    exact = "exact" if cache_kernel else "blocked"
    if isinstance(kernel, DiffusionKernel):
        return _choose_heat(kernel, X, approximation, n_components, n_clusters, matrix_budget)
    if kernel.has_features:
        return Choice("explicit", f"kernel={kernel.name!r} is an inner product of the rows")
    if approximation is None:
        return Choice(exact, "approximation=None")
    if approximation != "auto":
        check_method(kernel, approximation, n_components)
        return Choice(approximation, f"approximation={approximation!r}", n_components)
    n = len(sample_weight)
    method = "rpcholesky" if kernel.precomputed else "landmarks"
    if isinstance(X, DaskRows):
        return Choice(method, "Dask collections have no kernel matrix", n_components)
    if not exact_is_fast(kernel, X, n_clusters, n_kernels):
        reason = f"n_samples={n} are too many for the exact kernel to be fast"
        return Choice(method, reason, n_components)
    itemsize = sample_weight.dtype.itemsize
    needed = GramSpace.working_bytes(n_clusters, n, itemsize)
    needed += (n if cache_kernel else FEWEST_HELD) * n * itemsize
    if isinstance(X, Rows):
        needed += 2 * X.nbytes  # They have to be loaded, and the model keeps a copy.
    if needed > matrix_budget:
        reason = f"the exact kernel would take {readable(needed)} of memory"
        return Choice(method, reason, n_components)
    return Choice(exact, f"n_samples={n} are few enough for the exact kernel to be fast")


def _choose_heat(
    kernel: DiffusionKernel,
    X: Data,
    approximation: str | None,
    n_components: int | float | str,
    n_clusters: int,
    budget: int,
) -> Choice:
    """The graph of all rows, or anchors for more than it can have."""
    if not kernel.has_anchors and approximation not in ("auto", None):
        raise ValueError(
            f"approximation={approximation!r} does not go with a graph that is given, whose rows "
            "have no coordinates; use None or 'auto'."
        )
    if approximation not in ("auto", "landmarks", None):
        raise ValueError(
            f"approximation={approximation!r} does not go with kernel={kernel.name!r}; use None, "
            "the graph of all rows, 'landmarks', that of anchors, or 'auto', or another kernel as "
            "'rbf'."
        )
    if not isinstance(n_components, str | Integral):
        raise ValueError(
            f"n_components={n_components!r}: the anchors of kernel={kernel.name!r} keep no share "
            "of the trace; give their number, use n_components='auto', or another kernel as 'rbf'."
        )
    reason = _why_anchors(kernel, X, approximation, n_clusters, budget)
    if reason is None or not kernel.has_anchors:
        reason = f"kernel={kernel.name!r} is held by the eigenvectors of its graph"
        return Choice("explicit", reason)
    return Choice("landmarks", reason, n_components)


def _why_anchors(
    kernel: DiffusionKernel, X: Data, approximation: str | None, n_clusters: int, budget: int
) -> str | None:
    if approximation != "auto":
        return None if approximation is None else f"approximation={approximation!r}"
    if isinstance(X, DaskRows):
        return "Dask collections have no neighbour graph"
    if X.shape[0] > GRAPH_ROWS:
        return f"n_samples={X.shape[0]} are too many for a fast graph"
    if (needed := kernel.fit_bytes(X, n_clusters)) > budget:
        return f"the graph would take {readable(needed)} of memory"
    return None


def exact_is_fast(kernel: Kernel, X: Data, n_clusters: int, n_kernels: int = 1) -> bool:
    """Whether a fit with the kernel matrix is quick, or little slower than one of low rank."""
    n: int = X.shape[0]
    columns: int = X.shape[1]
    if scipy.sparse.issparse(X):
        columns = X.nnz // n
    if kernel.precomputed:
        return n * n * PASSES * 2 * n_clusters * n_kernels <= PRECOMPUTED * WORK
    # For each sample. Finding landmarks by k-means, and then features, takes eight times 2 columns.
    exact = n * (VALUE + 2 * columns + PASSES * 2 * n_clusters)
    m = auto_components(n, n_clusters)
    low_rank = m * (VALUE + 16 * columns + 2 * m + PASSES * 4 * n_clusters)
    return n * exact * n_kernels <= WORK or exact <= FASTER * low_rank
