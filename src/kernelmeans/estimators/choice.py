"""The ``approximation`` parameter: how a kernel is held, and why."""

from numbers import Integral, Real
from typing import Any, NamedTuple

from kernelmeans._sklearn import Interval, StrOptions
from kernelmeans._typing import Array, Data
from kernelmeans.kernels import Kernel
from kernelmeans.lowrank import Approximation, approximate, check_method, draw_rows, left_out
from kernelmeans.memory import readable
from kernelmeans.rows import Rows

APPROXIMATION: dict[str, Any] = {
    "approximation": [StrOptions({"auto", "landmarks", "rpcholesky", "rff"}), None],
    "n_components": [
        StrOptions({"auto"}),
        Interval(Integral, 1, None, closed="left"),
        Interval(Real, 0, 1, closed="neither"),
    ],
}
#: ``approximation="auto"`` computes kernel matrices up to this many samples, where they fit; makes
#: their rows anew at each step up to the second number, where landmarks leave out more than the
#: third of the trace.
EXACT_ROWS, BLOCKED_ROWS, TOLERATED = 20_000, 50_000, 0.05


class Choice(NamedTuple):
    """How one kernel is held.

    Attributes
    ----------
    method : str
        ``"explicit"`` (an inner product of the rows), ``"exact"`` (a kernel matrix), ``"blocked"``
        (its rows made anew at each step), or an approximation.
    reason : str
        Why.
    n_components : int, float or "auto"
        As the estimators take it.
    found : Approximation or None
        The approximation, where it had to be tried.
    """

    method: str
    reason: str
    n_components: int | float | str = "auto"
    found: Approximation | None = None


def choose(
    kernel: Kernel,
    X: Data,
    sample_weight: Array,
    approximation: str | None,
    n_components: int | float | str,
    cache_kernel: bool,
    matrix_budget: int,
    seed: int,
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
    approximation, n_components, cache_kernel
        As the estimators take them.
    matrix_budget : int
        Bytes that its kernel matrix may take.
    seed : int
        Of an approximation.

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
    if kernel.has_features:
        return Choice("explicit", f"kernel={kernel.name!r} is an inner product of the rows")
    if approximation is None:
        return Choice(exact, "approximation=None")
    if approximation != "auto":
        check_method(kernel, approximation, n_components)
        return Choice(approximation, f"approximation={approximation!r}", n_components)
    n = len(sample_weight)
    size = n * n * sample_weight.dtype.itemsize
    in_memory = not isinstance(X, Rows)
    if in_memory and size <= matrix_budget and n <= EXACT_ROWS:
        return Choice(exact, f"a kernel matrix of n_samples={n} takes {readable(size)}")
    method = "rpcholesky" if kernel.precomputed else "landmarks"
    found = approximate(kernel, X, sample_weight, method, n_components, seed)
    # Rows of a kernel matrix are against all samples.
    drawn = (X, sample_weight) if kernel.precomputed else draw_rows(X, sample_weight)
    lost = left_out(found, *drawn)
    count = 1 if found.lift is None else len(found.lift)
    why = f"{count} landmarks leave {lost:.2%} of the trace out"
    if in_memory and lost > TOLERATED and n <= BLOCKED_ROWS:
        return Choice("blocked", f"{why}, and n_samples={n} rows can be made anew at each step")
    wall = f"a kernel matrix of n_samples={n} would take {readable(size)}"
    if not in_memory:
        wall = "the rows are not in memory"
    return Choice(method, f"{wall}; {why}", n_components, found)
