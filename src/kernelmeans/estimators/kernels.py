"""From the parameters of an estimator, and its rows, to a kernel."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import scipy.sparse

from kernelmeans._dialect import option
from kernelmeans._text import check_name
from kernelmeans._typing import Array, Data
from kernelmeans._warnings import warn_user
from kernelmeans.heat import DistancesKernel, GraphKernel, HeatKernel
from kernelmeans.kernels import PARAMETERS, Kernel, resolve_gamma
from kernelmeans.kernels.formulas import NAMED


def resolve_kernel(
    kernel: str | Callable[..., Any],
    X: Data,
    *,
    gamma: str | float = "rms",
    degree: float = 3,
    coef0: float = 1,
    kernel_params: Mapping[str, Any] | None = None,
    n_neighbors: int | str = "auto",
    t: float | str = "auto",
    metric: str = "euclidean",
    density: float | str = "auto",
    random_state: Any = None,
    sample_weight: Array | None = None,
) -> Kernel:
    """Settle a kernel's parameters from the data.

    A parameter that the kernel does not take causes a warning, unless it has its default value.

    Parameters
    ----------
    kernel : str or callable
        One of the names in `NAMED`, or a callable taking two matrices.
    X : {array, CSR matrix} of shape (n_samples, n_features)
        The training rows, which decide the width.
    gamma : {"rms", "median", "scale"} or float, default="rms"
        Width; see `resolve_gamma`.
    degree, coef0 : float
        Parameters of the ``poly`` and ``sigmoid`` kernels.
    kernel_params : mapping, default=None
        Keyword arguments of a callable kernel.
    n_neighbors, t, metric, density
        Parameters of the ``heat`` kernel, which is returned unfitted: see
        `kernelmeans.heat.HeatKernel`, and for ``metric="precomputed"``
        `kernelmeans.heat.DistancesKernel`. ``graph`` takes ``t`` alone: see
        `kernelmeans.heat.GraphKernel`.
    random_state : int, RandomState or None
        Seed of the subsample for ``gamma="median"``.
    sample_weight : ndarray of shape (n_samples,), default=None
        Sample weights, as for `resolve_gamma`.

    Returns
    -------
    Kernel
        A function of two matrices of rows.

    Raises
    ------
    ValueError
        If ``kernel_params`` comes with a named kernel, sparse rows with a kernel that takes none,
        or ``metric="precomputed"`` with another kernel than heat.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.estimators.kernels import resolve_kernel
    >>> resolve_kernel("rbf", np.array([[0.0], [2.0]])).parameters
    {'gamma': 0.125}
    """
    check_name("kernel", kernel, list(NAMED))
    if metric == "precomputed" and not (isinstance(kernel, str) and kernel == "heat"):
        raise ValueError(
            f"{option('metric', 'precomputed')}, with which X holds distances to neighbours, goes "
            f"with {option('kernel', 'heat')}, got {option('kernel', kernel)}; a graph of "
            f"affinities is {option('kernel', 'graph')}, and a kernel matrix "
            f"{option('kernel', 'precomputed')}, both with {option('metric', 'euclidean')}."
        )
    given = {"gamma": gamma, "degree": degree, "coef0": coef0}
    of_graphs = {"n_neighbors": n_neighbors, "t": t, "metric": metric, "density": density}
    _warn_of_ignored(kernel, given | of_graphs)
    if not isinstance(kernel, str):
        return Kernel(kernel, kernel_params or {})
    if kernel_params is not None:
        raise ValueError(
            f"kernel_params={kernel_params!r} is only for a callable kernel, got "
            f"kernel={kernel!r}; use its own parameters, or leave kernel_params=None."
        )
    if scipy.sparse.issparse(X) and not NAMED[kernel].sparse:
        raise ValueError(
            f"X: {option('kernel', kernel)} needs a dense array; call X.toarray() first."
        )
    if kernel in ("heat", "graph"):
        if kernel == "graph":
            return GraphKernel(t)
        if metric == "precomputed":
            return DistancesKernel(n_neighbors, t, density)
        return HeatKernel(n_neighbors, t, metric, density)
    if "gamma" in PARAMETERS[kernel]:
        given["gamma"] = resolve_gamma(gamma, kernel, X, random_state, sample_weight)
    return Kernel(kernel, {name: given[name] for name in PARAMETERS[kernel]})


def _warn_of_ignored(kernel: str | Callable[..., Any], given: Mapping[str, Any]) -> None:
    """Warn of parameters that were set and that the kernel does not take."""
    defaults = inspect.signature(resolve_kernel).parameters
    takes = PARAMETERS[kernel] if isinstance(kernel, str) else ()
    for name, value in given.items():
        if name in takes or value == defaults[name].default:
            continue
        others = [repr(other) for other, parameters in PARAMETERS.items() if name in parameters]
        remedy = f"choose a kernel that has it ({', '.join(others)})"
        if callable(kernel):
            remedy = "write it into kernel_params"
        warn_user(
            f"{option(name, value)} has no effect with "
            f"{option('kernel', Kernel(kernel, {}).name)}: {remedy}, or leave {option(name)} out."
        )
