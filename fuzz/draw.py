"""Rows, weights, matrices and parameters at random, which all classes draw from."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils._param_validation import Interval, StrOptions

from fuzz import Rng


def pick(rng: Rng, *choices: Any) -> Any:
    """One of the choices."""
    return choices[rng.integers(len(choices))]


def rarely(rng: Rng, one_in: int = 10) -> bool:
    """True in one of so many cases."""
    return bool(rng.integers(one_in) == 0)


def plain_rows(rng: Rng, n: int, p: int) -> np.ndarray:
    """Rows of ordinary size: clouds, blobs, grids with duplicates, lines, or all the same."""
    return np.asarray(
        pick(
            rng,
            lambda: rng.standard_normal((n, p)),
            lambda: (
                rng.standard_normal((3, p))[rng.integers(3, size=n)] * 5 + rng.normal(size=(n, p))
            ),
            lambda: rng.integers(0, 3, (n, p)).astype(float),
            lambda: np.outer(rng.integers(-5, 6, n), rng.integers(-2, 3, p)).astype(float),
            lambda: np.ones((n, p)),
            lambda: rng.standard_cauchy((n, p)) ** 3,
        )()
    )


def rows(rng: Rng, n: int, p: int) -> Any:
    """Rows of any size, place, type and form, sometimes with what must be refused."""
    X = plain_rows(rng, n, p)
    X[:, rng.integers(p)] *= pick(rng, 1, 1, 1, 0, 1e-9, 1e9)
    X[rng.integers(n)] *= pick(rng, 1, 1, 1, 0, 1e6)
    X = X + pick(rng, 0, 0, 0, 1e3, 1e8)
    with np.errstate(over="ignore"):
        X = X * 10.0 ** pick(rng, *[0] * 9, -3, 3, -18, 18, -150, 75, 152, -300, 300)
    if rarely(rng, 8):
        return pick(rng, scipy.sparse.csr_array, scipy.sparse.csc_matrix)(X)
    dtype = pick(rng, *[np.float64] * 4, np.float32, np.float32, np.float16, np.int64)
    limits = np.iinfo(dtype) if dtype is np.int64 else np.finfo(dtype)
    X = np.clip(X, limits.min / 2, limits.max / 2).astype(dtype)
    if rarely(rng, 40) and dtype is not np.int64:
        X[rng.integers(n), rng.integers(p)] = pick(rng, np.nan, np.inf, -np.inf)
    return pick(rng, np.ascontiguousarray, np.asfortranarray)(X)


def sparse_form(rng: Rng, X: Any) -> Any:
    """Sparse rows of any type and form, with zeros that are held."""
    X = scipy.sparse.csr_array(X)
    if rarely(rng, 2):
        largest = np.finfo(np.float32).max / 2
        X.data = np.clip(X.data, -largest, largest)
        X = X.astype(np.float32)
    if rarely(rng, 3):
        X.data[rng.random(X.nnz) < 0.2] = 0
    form, kind = (
        pick(rng, "coo", "csr", "csr", "csc", "bsr", "lil", "dok"),
        pick(rng, "array", "matrix"),
    )
    X = scrambled(rng, X) if form in ("csr", "csc", "coo") else X
    return getattr(scipy.sparse, f"{form}_{kind}")(X)


def scrambled(rng: Rng, X: Any) -> Any:
    """The same CSR matrix, its entries as sums of two, out of order, or read-only."""
    data, indices, indptr = X.data, X.indices, X.indptr
    if rarely(rng, 2):
        share = pick(rng, 0.5, 2)  # both sums are exact
        data = np.outer(data, [share, 1 - share]).ravel().astype(data.dtype)
        indices, indptr = np.repeat(indices, 2), 2 * indptr
    if rarely(rng, 2):
        order = np.lexsort([rng.random(len(data)), np.repeat(range(X.shape[0]), np.diff(indptr))])
        data, indices = data[order], indices[order]
    X = type(X)((data, indices, indptr), X.shape, copy=True)
    if rarely(rng, 2):
        for part in (X.data, X.indices, X.indptr):
            part.flags.writeable = False
    return X


def canonical(X: Any) -> Any:
    """The same rows; sparse ones as CSR with each entry once and in order."""
    if not scipy.sparse.issparse(X):
        return X
    X = X.tocsr(copy=True)
    X.sum_duplicates()
    return X


def kernel_matrix(rng: Rng, n: int) -> np.ndarray:
    """A symmetric matrix, sometimes indefinite, by rounding or truly."""
    A = rng.standard_normal((n, pick(rng, 1, 2, n))) * 10.0 ** pick(rng, 0, 0, 0, 10, 60, 150)
    K = A @ A.T
    noise = rng.normal(size=(n, n))
    return np.asarray(K + pick(rng, 0, 0, 1e-12, 1e-3, 1) * np.abs(K).max() * (noise + noise.T))


def graph(rng: Rng, n: int) -> Any:
    """A symmetric matrix of edges, of any density, weights and scale."""
    A = rng.lognormal(0, pick(rng, 0, 1, 20), (n, n))
    A = A * (rng.random((n, n)) < pick(rng, 0.02, 0.05, 0.2, 0.5, 1))
    A = (A + A.T) * 10.0 ** pick(rng, 0, 0, 0, 0, -300, 250)
    if rarely(rng, 20):
        A[0, -1] = pick(rng, -1, np.nan, A.max() + 1)
    return pick(rng, np.asarray, scipy.sparse.csr_array, scipy.sparse.coo_array)(A)


def weights(rng: Rng, n: int) -> Any:
    """Sample weights: none, ordinary ones, zeros, and some that must be refused."""
    if rarely(rng):
        return pick(
            rng,
            lambda: 10.0 ** pick(rng, -200, -100, 100, 200) * rng.uniform(size=n),
            lambda: np.eye(n)[rng.integers(n)],
            lambda: rng.normal(size=n),
        )()
    return pick(
        rng,
        lambda: None,
        lambda: None,
        lambda: rng.integers(0, 3, n).astype(float),
        lambda: rng.uniform(size=n),
        lambda: 10.0 ** rng.uniform(-12, 12, n),
    )()


def parameter(rng: Rng, allowed: list[Any]) -> Any:
    """A value that scikit-learn's constraints of a parameter allow, rarely one just outside."""
    choices: list[Callable[[], Any]] = []
    for one in allowed:
        if isinstance(one, StrOptions):
            choices.append(partial(pick, rng, *sorted(one.options)))
        elif isinstance(one, Interval):
            choices.append(partial(_number, rng, one))
        elif one is None:
            choices.append(lambda: None)
        elif one == "boolean":
            choices.append(lambda: bool(rng.integers(2)))
        elif one == "verbose":
            choices.append(partial(pick, rng, 0, 1, 2, True))
    if rarely(rng, 30) or not choices:
        return pick(rng, -1, 0, 1.5, np.nan, np.inf, "x", None, [], 10**30, True)
    return pick(rng, *choices)()


def budget(rng: Rng) -> Any:
    """A value of ``memory_budget``: mostly enough."""
    return pick(rng, "1GB", "1 GiB", 10**9, 1e8, "500 kB", 20_000, "1", "x GB")


def _number(rng: Rng, interval: Interval) -> float:
    """A number in or at the ends of an interval; whole ones are small, as they are counts."""
    low = -np.inf if interval.left is None else interval.left
    high = np.inf if interval.right is None else interval.right
    if interval.type.__name__ == "Integral":
        return int(low + pick(rng, 0, 0, 1, 2, 6))
    values = [low, high, 1e-300, 1e-6, 0.5, 0.9, 1, 1.04, 2, 3, 30, 1e5, 1e300]
    inside = [value for value in values + [-value for value in values] if value in interval]
    return float(pick(rng, *inside))


def changed(
    rng: Rng, constraints: Mapping[str, list[Any]], one_in: int = 6, without: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Values for some of the parameters of an estimator."""
    names = [name for name in constraints if name not in without]
    return {name: parameter(rng, constraints[name]) for name in names if rarely(rng, one_in)}
