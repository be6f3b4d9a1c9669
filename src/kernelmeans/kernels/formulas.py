"""The named kernels: their formulas, and one table of their properties.

A formula takes dense arrays of any library, and sparse rows. The rows have been checked: they are
finite floats on one device.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
import sklearn
from sklearn.preprocessing import normalize
from sklearn.utils import check_array
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from kernelmeans._arrays import double, like, namespace, on_host, overwrite, to_numpy
from kernelmeans._dialect import option
from kernelmeans._given import received
from kernelmeans._typing import Array, Data
from kernelmeans.kernels.gaussian import GaussianRows, power_distances

Function = Callable[..., Any]


def ones(X: Data, **_: Any) -> Array:
    """One for every row, shape (n,)."""
    values: Array = namespace(X).ones(X.shape[0], dtype=X.dtype, device=getattr(X, "device", None))
    return values


class NamedKernel(NamedTuple):
    """The properties of a kernel that has a name.

    Attributes
    ----------
    values : callable
        Kernel matrix (n_X, n_Y) of rows X and rows Y, given the parameters.
    parameters : tuple of str
        Names of the parameters.
    diagonal : callable
        K(x, x) of rows X, shape (n_X,), given the parameters.
    unit_diagonal : bool
        Whether K(x, x) is 1, or 0 for a row that is zero.
    is_positive : callable
        Whether every kernel matrix is positive semi-definite, given the parameters.
    sparse : bool
        Whether rows may be a CSR matrix.
    distance : {"euclidean", "manhattan", "angle"} or None
        The distance that the kernel is a function of. It decides the default width.
    features : callable or None
        Features of rows X, if there are any whose inner products are the kernel.
    against : callable or None
        Given dense rows Y and the parameters, ``values`` as a function of dense rows X. None if no
        part of the work depends on Y alone.
    """

    values: Function
    parameters: tuple[str, ...] = ()
    diagonal: Function = ones
    unit_diagonal: bool = True
    is_positive: Function = lambda **_: True
    sparse: bool = True
    distance: str | None = None
    features: Function | None = None
    against: Function | None = None


def rbf(X: Data, Y: Data, gamma: float) -> Array:
    """``exp(-gamma ||x - y||^2)``, shape (n_X, n_Y)."""
    if scipy.sparse.issparse(X) or scipy.sparse.issparse(Y):
        return _exponential(power_distances(X, Y, 2), gamma)
    return GaussianRows(Y, gamma)(X)


def laplacian(X: Data, Y: Data, gamma: float) -> Array:
    """``exp(-gamma ||x - y||_1)``, shape (n_X, n_Y)."""
    return _exponential(power_distances(X, Y, 1), gamma)


def _exponential(distances: Array, gamma: float) -> Array:
    distances *= -gamma
    return overwrite(distances, namespace(distances).exp, distances)


def geodesic_kernel(X: Data, Y: Data | None = None, gamma: float = 0.5) -> Array:
    """Laplacian kernel of the angle between rows, ``exp(-gamma * arccos(x.y))``.

    Positive definite on the unit sphere, to which the rows are scaled. With ``gamma=0.5`` it is
    the kernel of the paper's simulation study (Section 4, sigma = 1).

    Parameters
    ----------
    X : {array-like, CSR matrix} of shape (n_samples_X, n_features)
        Rows to compare.
    Y : {array-like, CSR matrix} of shape (n_samples_Y, n_features), default=None
        Rows to compare with; ``X`` itself when None.
    gamma : float, default=0.5
        Decay per radian.

    Returns
    -------
    K : ndarray of shape (n_samples_X, n_samples_Y)
        Kernel values in (0, 1].

    Raises
    ------
    ValueError
        If a row is zero.

    Examples
    --------
    >>> from kernelmeans.kernels import geodesic_kernel
    >>> geodesic_kernel([[2.0, 0.0]], [[1.0, 0.0], [-3.0, 0.0]]).round(3)
    array([[1.   , 0.208]])
    """
    dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
    X = check_array(received(X), accept_sparse="csr", dtype=np.float64)
    if Y is not None:
        Y = check_array(received(Y, "Y"), accept_sparse="csr", dtype=np.float64)
    return geodesic(X, X if Y is None else Y, gamma).astype(dtype, copy=False)


def geodesic(X: Data, Y: Data, gamma: float) -> Array:
    """``exp(-gamma arccos(x.y))`` of rows scaled to norm 1, shape (n_X, n_Y)."""
    # Near 1 the arccosine has half the digits of the cosine, hence float64.
    K = inner_products(_directions(X), _directions(Y))
    xp = namespace(K)
    K = overwrite(K, xp.clip, K, -1.0, 1.0)
    K = overwrite(K, xp.acos, K)
    return like(_exponential(K, gamma), X)


def _directions(X: Data) -> Data:
    X = X.astype(np.float64) if scipy.sparse.issparse(X) else double(X)
    largest = to_numpy(largest_entries(X))
    if not largest.all():
        raise ValueError(
            f"X: row {int(np.argmin(largest))} is zero and has no direction, which "
            f"{option('kernel', 'geodesic')} needs; leave such rows out, or use another kernel."
        )
    return unit_rows(X)


def cosine(X: Data, Y: Data) -> Array:
    """Inner products of the rows scaled to norm 1; zero rows stay zero."""
    # scikit-learn treats rows of small norm as zero.
    return inner_products(unit_rows(X), unit_rows(Y))


def inner_products(X: Data, Y: Data) -> Array:
    """Inner products of the rows, shape (n_X, n_Y), dense."""
    products: Array = safe_sparse_dot(X, Y.T, dense_output=True)
    return products


def _poly(products: Array, gamma: float, degree: float, coef0: float) -> Array:
    products *= gamma
    products += coef0
    products **= degree
    return products


def _sigmoid(products: Array, gamma: float, coef0: float) -> Array:
    products *= gamma
    products += coef0
    return overwrite(products, namespace(products).tanh, products)


def squared_norms(X: Data) -> Array:
    """Squared Euclidean norms of the rows, shape (n,)."""
    norms: Array = row_norms(X, squared=True) if on_host(X) else namespace(X).vecdot(X, X)
    return norms


def matrix_diagonal(K: Array) -> Array:
    """A copy of the diagonal of a matrix."""
    xp = namespace(K)
    diagonal: Array = xp.asarray(xp.linalg.diagonal(K), copy=True)
    return diagonal


def unit_rows(X: Data) -> Data:
    """Rows scaled to norm 1; zero rows stay zero."""
    # First by the largest entry, because squares of small or large numbers would be lost.
    if scipy.sparse.issparse(X):
        with sklearn.config_context(assume_finite=True):
            return normalize(normalize(X, "max"))
    X = _divided(X, largest_entries(X))
    return _divided(X, namespace(X).sqrt(squared_norms(X)))


def _divided(X: Array, norms: Array) -> Array:
    """Rows divided by their norms; those of norm 0 stay as they are."""
    divided: Array = X / namespace(X).where(norms > 0, norms, like(1, norms))[:, None]
    return divided


def largest_entries(X: Data) -> Array:
    """Largest absolute value in each row, shape (n,)."""
    if scipy.sparse.issparse(X):
        sparse: Array = abs(X).max(axis=1).toarray().ravel()
        return sparse
    xp = namespace(X)
    dense: Array = xp.max(xp.abs(X), axis=1)
    return dense


def _of_inner_product(
    function: Function, parameters: tuple[str, ...], is_positive: Function
) -> NamedKernel:
    return NamedKernel(
        lambda X, Y, **given: function(inner_products(X, Y), **given),
        parameters,
        lambda X, **given: function(squared_norms(X), **given),
        unit_diagonal=False,
        is_positive=is_positive,
    )


def _poly_is_positive(gamma: float, degree: float, coef0: float) -> bool:
    return coef0 >= 0 and degree == int(degree)


def never_positive(**_: Any) -> bool:
    """No kernel matrix is known to be positive semi-definite."""
    return False


def _of_training_rows(X: Data, Y: Data, **_: Any) -> Array:
    raise NotImplementedError("kernelmeans.heat.HeatKernel computes it")


#: The properties of each kernel. ``heat`` and ``graph`` depend on all training rows.
NAMED: Mapping[str, NamedKernel] = {
    "rbf": NamedKernel(rbf, ("gamma",), distance="euclidean", against=GaussianRows),
    "laplacian": NamedKernel(laplacian, ("gamma",), distance="manhattan"),
    "geodesic": NamedKernel(geodesic, ("gamma",), distance="angle"),
    "poly": _of_inner_product(_poly, ("gamma", "degree", "coef0"), _poly_is_positive),
    "sigmoid": _of_inner_product(_sigmoid, ("gamma", "coef0"), never_positive),
    "cosine": NamedKernel(cosine, (), lambda X: largest_entries(X) > 0, features=unit_rows),
    "linear": NamedKernel(inner_products, (), squared_norms, False, features=lambda X: X),
    "heat": NamedKernel(_of_training_rows, ("n_neighbors", "t", "metric", "density")),
    "graph": NamedKernel(_of_training_rows, ("t",)),
    "precomputed": NamedKernel(
        lambda X, Y: X, (), matrix_diagonal, False, never_positive, sparse=False
    ),
}
