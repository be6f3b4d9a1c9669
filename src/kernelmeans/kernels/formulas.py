"""Named kernels for arrays of other libraries than NumPy, which scikit-learn does not take.

They are scikit-learn's up to rounding; the cosine is for NumPy and CSR too, because scikit-learn
takes short rows for zero. Rows come in checked: floats, finite, of one device.
"""

from collections.abc import Callable, Mapping

import numpy as np
import scipy.sparse

from kernelmeans._arrays import double, like, namespace
from kernelmeans._typing import Array, Data


def laplacian(X: Array, Y: Array, gamma: float) -> Array:
    """``exp(-gamma ||x - y||_1)``, shape (n_X, n_Y)."""
    xp = namespace(X)
    K = xp.zeros((X.shape[0], Y.shape[0]), dtype=X.dtype, device=X.device)
    # Column by column: all at once would take n_features times the memory.
    for column in range(X.shape[1]):
        K -= xp.abs(X[:, column, None] - Y[:, column])
    K *= gamma
    values: Array = xp.exp(K)
    return values


def poly(X: Array, Y: Array, gamma: float, degree: float, coef0: float) -> Array:
    """``(gamma x.y + coef0)^degree``, shape (n_X, n_Y)."""
    values: Array = (gamma * (X @ Y.T) + coef0) ** degree
    return values


def sigmoid(X: Array, Y: Array, gamma: float, coef0: float) -> Array:
    """``tanh(gamma x.y + coef0)``, shape (n_X, n_Y)."""
    values: Array = namespace(X).tanh(gamma * (X @ Y.T) + coef0)
    return values


def cosine(X: Data, Y: Data) -> Array:
    """Inner product of the rows scaled to length one, zero rows as they are."""
    values = unit_rows(X) @ unit_rows(Y).T
    dense: Array = values.toarray() if scipy.sparse.issparse(values) else values
    return dense


def linear(X: Array, Y: Array) -> Array:
    """Inner product of the rows."""
    return X @ Y.T


def geodesic(X: Array, Y: Array, gamma: float) -> Array:
    """``exp(-gamma arccos(x.y))`` of directions, shape (n_X, n_Y)."""
    xp = namespace(X)
    # Near 1 the arccosine has half the digits of the cosine.
    directions = []
    for rows in (X, Y):
        rows = double(rows)
        if not bool(xp.all(xp.any(rows != 0, axis=1))):
            raise ValueError(
                "X: a row is zero and has no direction, which kernel='geodesic' needs; leave such "
                "rows out, or use another kernel."
            )
        directions.append(unit_rows(rows))
    cosines = directions[0] @ directions[1].T
    values: Array = like(xp.exp(-gamma * xp.acos(xp.clip(cosines, -1.0, 1.0))), X)
    return values


def unit_rows(X: Data) -> Data:
    """Rows scaled to length one, zero rows as they are."""
    # Else squares of small or large numbers would be lost.
    X = _divided(X, largest_entries(X))
    if scipy.sparse.issparse(X):
        return _divided(X, np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel()))
    xp = namespace(X)
    return _divided(X, xp.sqrt(xp.vecdot(X, X)))


def largest_entries(X: Data) -> Array:
    """Largest absolute value in each row."""
    if scipy.sparse.issparse(X):
        sparse: Array = abs(X).max(axis=1).toarray().ravel()
        return sparse
    xp = namespace(X)
    dense: Array = xp.max(xp.abs(X), axis=1)
    return dense


def _divided(X: Data, lengths: Array) -> Data:
    """Rows over their lengths, those of length zero as they are."""
    lengths = namespace(lengths).where(lengths > 0, lengths, like(1, lengths))
    if not scipy.sparse.issparse(X):
        return X / lengths[:, None]
    data = X.data / np.repeat(lengths, np.diff(X.indptr))
    return scipy.sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)


FORMULAS: Mapping[str, Callable[..., Array]] = {
    "laplacian": laplacian,
    "poly": poly,
    "sigmoid": sigmoid,
    "cosine": cosine,
    "linear": linear,
    "geodesic": geodesic,
}
