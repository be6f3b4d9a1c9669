"""The Laplacian kernel of the angle between rows."""

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.extmath import safe_sparse_dot

from kernelmeans._typing import Array, Data
from kernelmeans.kernels.formulas import largest_entries, unit_rows


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
    # Near 1 the arccosine has half the digits of the cosine.
    X = _directions(X)
    Y = X if Y is None else _directions(Y)
    cosines = safe_sparse_dot(X, Y.T, dense_output=True)
    angles = np.arccos(np.clip(cosines, -1, 1, out=cosines), out=cosines)
    angles *= -gamma
    return np.asarray(np.exp(angles, out=angles), dtype=dtype)


def _directions(X: Data) -> Data:
    X = check_array(X, accept_sparse="csr", dtype=np.float64)
    largest = largest_entries(X)
    if not largest.all():
        raise ValueError(
            f"X: row {int(np.argmin(largest))} is zero and has no direction, which "
            "kernel='geodesic' needs; leave such rows out, or use another kernel."
        )
    return unit_rows(X)
