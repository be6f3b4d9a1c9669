"""The plan: how each kernel is held, at which price in bytes, and why."""

import math
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, NamedTuple

from kernelmeans._arrays import on_host
from kernelmeans._devices import HOST, Budget, Device
from kernelmeans._dialect import option
from kernelmeans._text import duration
from kernelmeans._typing import Data
from kernelmeans.heat import DiffusionKernel, auto_anchors
from kernelmeans.heat.eigenpairs import pair_count
from kernelmeans.heat.metric import WITH_ANCHORS
from kernelmeans.heat.neighbors import PRODUCTS, TREE_COLUMNS, are_sought_in_cells
from kernelmeans.kernels import Kernel
from kernelmeans.lowrank import auto_components, check_method
from kernelmeans.lowrank.sampling import row_width
from kernelmeans.rows import Rows
from kernelmeans.rows.dask import DaskRows
from kernelmeans.spaces import GramSpace

#: Multiplications for a kernel value in addition to two for each column, and number of passes of a
#: fit over the samples (``benchmarks/auto.py``). In a pass a sample costs two multiplications for
#: each cluster.
VALUE, PASSES = 20, 70
#: Largest cost for which ``approximation="auto"`` takes the exact kernel, some seconds on two
#: cores. Beyond, a low rank must be so many times faster.
WORK, FASTER = 5e10, 5
#: Rows up to which ``approximation="auto"`` always takes the graph of all rows for a heat kernel.
#: More rows of at most `TREE_COLUMNS` columns get anchors: 2000 of them see as much there.
GRAPH_ROWS = 50_000
#: Most seconds of one core for such a graph of more columns, which is a minute on two cores. And
#: seconds of a whole fit above which a message says how long it takes.
GRAPH_SECONDS, NOTICED = 120.0, 20.0
#: Seconds of one core for a row, for an eigenpair of a row, and for a product in the search for
#: neighbours; and for annealing and swap moves, over the cube of the number of clusters.
ROW, PAIR, PRODUCT, ANNEALING = 4e-5, 4e-7, 5e-11, 8e-6
#: Searches among anchors for each row, roughly: to draw and weigh the anchors, for features, and
#: for borders.
ANCHOR_SEARCHES = 3
#: Cells that are searched for a row: 4 to 64, most where rows have many directions.
SEARCHED = 32
#: Factor on `WORK` for a precomputed kernel matrix. There are no rows, so an approximation has to
#: read the matrix as well.
PRECOMPUTED = 10
#: Fewest kernel rows that a step holds, where it recomputes them.
FEWEST_HELD = 8


class Request(NamedTuple):
    """The parameters of an estimator that a plan depends on.

    Attributes
    ----------
    n_clusters : int
        Number of clusters. Their centroids take time and memory.
    approximation, n_components, cache_kernel
        The parameters of these names.
    has_approximation : bool
        Whether the estimator has these parameters, so that messages can name them.
    """

    n_clusters: int
    approximation: str | None = None
    n_components: int | float | str = "auto"
    cache_kernel: bool = True
    has_approximation: bool = True

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> "Request":
        """Take what there is of these among the parameters of an estimator."""
        given = {name: value for name, value in parameters.items() if name in cls._fields}
        return cls(**given, has_approximation="approximation" in given)


class KernelPlan(NamedTuple):
    """The plan for one kernel.

    Attributes
    ----------
    kernel : Kernel
        The kernel.
    X : {ndarray, CSR matrix, Rows} of shape (n_samples, n_features)
        Training rows.
    method : str
        ``"explicit"`` (an inner product of the rows), ``"exact"`` (a kernel matrix), ``"blocked"``
        (its rows recomputed at each step), or an approximation.
    reason : str
        Why it is held in this way.
    n_components : int, float or "auto"
        The parameter of the estimator, for an approximation.
    n_bytes : int
        Memory for the whole fit; 0 for features, whose number is not known yet.
    seconds : float
        Seconds of one core that the fit takes by a graph; 0 of other kernels.
    """

    kernel: Kernel
    X: Data
    method: str
    reason: str
    n_components: int | float | str = "auto"
    n_bytes: int = 0
    seconds: float = 0.0


class Plan(NamedTuple):
    """The plan for all kernels of a fit.

    Attributes
    ----------
    kernels : list of KernelPlan
        The plan for each kernel.
    whole : dict
        Training rows that are loaded, or copied to the device, as a whole; keys are their ``id``.
    n_bytes : int
        Memory for everything but features and recomputed rows.
    n_clusters : int
        Number of clusters. Their centroids take memory too.
    budget : Budget
        Memory for the whole fit.
    device : Device
        Where the kernels are held.
    """

    kernels: list[KernelPlan]
    whole: dict[int, Data]
    n_bytes: int
    n_clusters: int
    budget: Budget
    device: Device

    @property
    def forecast(self) -> str | None:
        """How long the fit may take by its graphs, in words; None where it is short."""
        seconds = sum(one.seconds for one in self.kernels)
        return f"about {duration(seconds / 2)} on two cores" if seconds > NOTICED else None


def make_plan(
    kernels: Sequence[Kernel],
    rows: Sequence[Data],
    request: Request,
    budget: Budget,
    device: Device = HOST,
) -> Plan:
    """Decide how kernels are held.

    The decision depends on the request and on the number of rows, columns and clusters. Memory only
    refuses.

    Parameters
    ----------
    kernels : sequence of Kernel
        The kernels.
    rows : sequence of {ndarray, CSR matrix, Rows}
        Training rows of each kernel; equal ones are one object.
    request : Request
        The parameters of the estimator.
    budget : Budget
        Memory for the whole fit.
    device : Device, default=HOST
        Where the kernels are held.

    Returns
    -------
    Plan
        How each kernel is held, at which price, and why.

    Raises
    ------
    ValueError
        If the approximation does not go with a kernel or with ``n_components``, or if the plan
        needs all rows of a Dask collection at once.
    MemoryError
        If the plan does not fit into the budget.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.estimators.plan import Request, make_plan
    >>> from kernelmeans.kernels import Kernel
    >>> from kernelmeans._devices import Budget
    >>> X = np.zeros((100, 2))
    >>> kernel = Kernel("laplacian", {"gamma": 1.0})
    >>> plan = make_plan([kernel], [X], Request(8, "auto"), Budget(10**6))
    >>> plan.kernels[0].method, plan.n_bytes
    ('exact', 112000)
    >>> plan.kernels[0].reason
    'n_samples=100 are few enough for the exact kernel to be fast'
    """
    n_kernels = len(kernels)
    plans = [_plan(one, X, request, n_kernels) for one, X in zip(kernels, rows, strict=True)]
    needed = {id(one.X): one.X for one in plans if one.n_bytes and not one.kernel.precomputed}
    whole = {
        key: X
        for key, X in needed.items()
        if isinstance(X, Rows) or (not device.is_host and on_host(X))
    }
    # The model keeps a copy of rows that are loaded.
    n_bytes = sum(X.nbytes * (2 if isinstance(X, Rows) else 1) for X in whole.values())
    n_bytes += sum(one.n_bytes for one in plans)
    plan = Plan(plans, whole, int(n_bytes), request.n_clusters, budget, device)
    _refuse_matrices(plan, request)
    features = [one for one in plans if not one.n_bytes]
    for one in features:
        if one.method == "explicit" and isinstance(one.kernel, DiffusionKernel):
            _refuse_graph(one.kernel, one.X, plan, len(features))
    return plan


def _plan(kernel: Kernel, X: Data, request: Request, n_kernels: int) -> KernelPlan:
    if isinstance(kernel, DiffusionKernel):
        return _graph(kernel, X, request)
    if kernel.has_features:
        reason = f"kernel={kernel.name!r} is an inner product of the rows"
        return KernelPlan(kernel, X, "explicit", reason)
    n, asked, on_dask = X.shape[0], request.approximation, isinstance(X, DaskRows)
    if asked not in ("auto", None):
        check_method(kernel, asked, request.n_components)
        return KernelPlan(kernel, X, asked, f"approximation={asked!r}", request.n_components)
    if asked == "auto" and (on_dask or not exact_is_fast(kernel, X, request.n_clusters, n_kernels)):
        method = "rpcholesky" if kernel.precomputed else "landmarks"
        reason = f"n_samples={n} are too many for the exact kernel to be fast"
        reason = "Dask collections have no kernel matrix" if on_dask else reason
        return KernelPlan(kernel, X, method, reason, request.n_components)
    if on_dask:
        estimator = "an estimator with approximation='landmarks', 'rpcholesky' or 'rff'"
        raise _not_on_dask("kernel matrices", f"use a linear or cosine kernel, or {estimator}")
    reason = f"n_samples={n} are few enough for the exact kernel to be fast"
    if asked is None:
        reason = "approximation=None"
    n_bytes = GramSpace.restart_bytes(request.n_clusters, n, X.dtype.itemsize)
    if not request.cache_kernel:
        return KernelPlan(kernel, X, "blocked", reason, n_bytes=n_bytes)
    return KernelPlan(kernel, X, "exact", reason, n_bytes=n_bytes + n * n * X.dtype.itemsize)


def _graph(kernel: DiffusionKernel, X: Data, request: Request) -> KernelPlan:
    """The plan for a graph: that of all rows, or that of anchors if there are too many rows."""
    asked = request.approximation
    if not kernel.has_coordinates and asked not in ("auto", None):
        raise ValueError(
            f"{option('approximation', asked)} does not go with a graph that is given, whose rows "
            "have no coordinates; use None or 'auto'."
        )
    if asked not in ("auto", "landmarks", None):
        raise ValueError(
            f"{option('approximation', asked)} does not go with {option('kernel', kernel.name)}; "
            "use None (the graph of all rows), 'landmarks' (the graph of anchors) or 'auto', or "
            "another kernel such as 'rbf'."
        )
    if not isinstance(request.n_components, str | Integral):
        raise ValueError(
            f"{option('n_components', request.n_components)}: the anchors of "
            f"{option('kernel', kernel.name)} keep no fraction of the trace; give their number, "
            f"or use {option('n_components', 'auto')}, or another kernel such as 'rbf'."
        )
    if not isinstance(X, Rows):
        kernel.check_rows(X)
    if (reason := _why_anchors(kernel, X, request)) is not None:
        if not kernel.has_anchors:
            raise _no_anchors(kernel, X, reason)
        seconds = anchor_seconds(X, request.n_clusters)
        return KernelPlan(kernel, X, "landmarks", reason, request.n_components, seconds=seconds)
    if isinstance(X, DaskRows):
        anchors = "use an estimator with approximation='auto' or 'landmarks'"
        remedy = anchors if kernel.has_anchors else "pass X.compute()"
        raise _not_on_dask("the neighbour graph of kernel='heat'", remedy)
    reason = f"kernel={kernel.name!r} is held by the leading eigenvectors of its graph"
    seconds = 0.0
    if kernel.has_coordinates:
        search = graph_seconds(kernel, X, request.n_clusters)
        seconds = search + _annealing(request.n_clusters)
        if asked == "auto" and kernel.has_anchors and seconds > NOTICED:
            reason += f", which takes {_costs(search, X, request.n_clusters)}, and see less"
    return KernelPlan(kernel, X, "explicit", reason, seconds=seconds)


def _why_anchors(kernel: DiffusionKernel, X: Data, request: Request) -> str | None:
    """Why the graph is that of anchors; None if it is that of all rows."""
    if request.approximation == "landmarks":
        return "approximation='landmarks'"
    if request.approximation is None or not kernel.has_coordinates:
        return None
    if isinstance(X, DaskRows):
        return "Dask collections have no neighbour graph"
    if X.shape[0] <= GRAPH_ROWS:
        return None
    if kernel.has_anchors and row_width(X) <= TREE_COLUMNS:
        return f"n_samples={X.shape[0]} in few columns: anchors see as much as a graph"
    seconds = graph_seconds(kernel, X, request.n_clusters)
    if seconds <= GRAPH_SECONDS:
        return None
    costs = _costs(seconds, X, request.n_clusters)
    return f"n_samples={X.shape[0]} are too many for a fast graph, which would take {costs}"


def _costs(seconds: float, X: Data, n_clusters: int) -> str:
    """How long a fit takes by a graph whose seconds are known, and by anchors."""
    both = seconds + _annealing(n_clusters), anchor_seconds(X, n_clusters)
    by_graph, by_anchors = (duration(each / 2) for each in both)
    return f"about {by_graph} on two cores, while anchors take {by_anchors}"


def graph_seconds(kernel: DiffusionKernel, X: Data, n_clusters: int) -> float:
    """Seconds of one core for the neighbours of all rows and the eigenpairs of their graph."""
    n, columns = X.shape[0], row_width(X)
    compared = n
    if are_sought_in_cells(X, kernel.parameters["metric"]):
        compared = SEARCHED * math.sqrt(n)
    search = PRODUCT * compared * (columns + PRODUCTS)
    return float(n * (search + ROW + PAIR * pair_count(n_clusters)))


def anchor_seconds(X: Data, n_clusters: int) -> float:
    """Seconds of one core for a fit by anchors."""
    n, compared = X.shape[0], auto_anchors(X.shape[0], n_clusters)
    search = ANCHOR_SEARCHES * PRODUCT * compared * (row_width(X) + PRODUCTS)
    return float(n * (search + PAIR * pair_count(n_clusters))) + _annealing(n_clusters)


def _annealing(n_clusters: int) -> float:
    """Seconds of one core for annealing and swap moves, whatever the rows."""
    return ANNEALING * n_clusters**3


def _no_anchors(kernel: DiffusionKernel, X: Data, reason: str) -> ValueError:
    """The error for a metric that takes no anchors, where anchors are needed."""
    load = "pass X.compute() and " * isinstance(X, DaskRows)
    return ValueError(
        f"{option('metric', kernel.parameters['metric'])} takes no anchors, which are means of "
        f"rows, but {reason}. Use one of {', '.join(map(repr, WITH_ANCHORS))}, or {load}set "
        f"{option('approximation', None)} (the graph of all rows, which takes time)."
    )


def _not_on_dask(what: str, remedy: str) -> ValueError:
    """The error that something needs all rows of a Dask collection at once."""
    return ValueError(f"X: {what} cannot be computed for Dask collections; {remedy}.")


def exact_is_fast(kernel: Kernel, X: Data, n_clusters: int, n_kernels: int = 1) -> bool:
    """Whether a fit with the kernel matrix is fast, or not much slower than one of low rank."""
    n: int = X.shape[0]
    columns = row_width(X)
    if kernel.precomputed:
        return n * n * PASSES * 2 * n_clusters * n_kernels <= PRECOMPUTED * WORK
    # Both costs are for one sample. The k-means that finds landmarks costs 16 for each column.
    exact = n * (VALUE + 2 * columns + PASSES * 2 * n_clusters)
    if n * exact * n_kernels <= WORK:
        return True
    m = auto_components(n, n_clusters)
    return exact <= FASTER * m * (VALUE + 16 * columns + 2 * m + PASSES * 4 * n_clusters)


def _refuse_matrices(plan: Plan, request: Request) -> None:
    """Refuse kernel matrices, or steps with recomputed rows, that take too much memory."""
    grams = [one for one in plan.kernels if one.n_bytes]
    if not grams:
        return
    X, precomputed = grams[0].X, all(one.kernel.precomputed for one in grams)
    needed, n, itemsize = plan.n_bytes, X.shape[0], X.dtype.itemsize
    half = "" if itemsize == 4 else ", pass float32 data (half the memory)"
    method = "rpcholesky" if precomputed else "landmarks"
    low_rank = (
        f"{option('approximation', method)} (low rank), or " if request.has_approximation else ""
    )
    if request.cache_kernel:
        matrices = f"{len(grams)} kernel matrices" if len(grams) > 1 else "the kernel matrix"
        matrices = "a centred copy of X" if precomputed else matrices
        what = f"n_samples={n}: {matrices}, with the centroids,"
        remedies = (
            f"Set {low_rank}{option('cache_kernel', False)} (kernel rows are "
            f"recomputed at each step: slower, but little memory){half}"
        )
    else:
        # Rows are recomputed for one kernel at a time.
        needed += FEWEST_HELD * n * itemsize
        what = (
            f"n_samples={n}, {option('n_clusters', plan.n_clusters)}: a step with recomputed rows"
        )
        what += f" of {len(grams)} kernels" if len(grams) > 1 else ""
        remedies = f"Use {low_rank}fewer rows or clusters{half}"
    if plan.whole:
        what = f"{what.rstrip(',')} and the rows of X,"
    plan.budget.check(needed, what, remedies)


def _refuse_graph(kernel: DiffusionKernel, X: Data, plan: Plan, n_features: int) -> None:
    """Refuse the graph of a heat kernel that takes more than its part of the memory."""
    k = plan.n_clusters
    anchors = f"{option('approximation', 'landmarks')}, or " if kernel.has_anchors else ""
    left = plan.budget.n_bytes - plan.n_bytes
    plan.budget._replace(n_bytes=left // n_features).check(
        kernel.fit_bytes(X, k),
        f"n_samples={X.shape[0]}, {option('n_clusters', k)}: the graph of "
        f"{option('kernel', kernel.name)}, with eigenvectors,",
        f"Use {anchors}fewer rows, clusters or neighbours",
    )
