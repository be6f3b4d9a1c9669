"""Predefined families of kernels."""

import math
from collections.abc import Sequence

import numpy as np
import scipy.sparse
from sklearn.metrics import pairwise_distances_chunked
from sklearn.metrics.pairwise import paired_euclidean_distances
from sklearn.utils import check_array

from kernelmeans._given import plain, received
from kernelmeans._typing import Array, Data
from kernelmeans.kernels.kernel import Kernel, check_finite
from kernelmeans.kernels.widths import column_moments, reciprocal, resolve_gamma
from kernelmeans.rows import Rows

#: Widths of the Gaussian kernels of Du et al., in units of the largest distance between rows.
DU2015_WIDTHS = (0.01, 0.05, 0.1, 1.0, 10.0, 50.0, 100.0)
#: Constants and degrees of their polynomial kernels.
DU2015_POLYNOMIALS = ((0, 2), (0, 4), (1, 2), (1, 4))
#: MiB of distances in memory at a time while the largest is found.
DISTANCE_BLOCK = 64


def width_family(
    X: Data,
    multiples: Sequence[float] = (0.25, 0.5, 1.0, 2.0, 4.0),
    sample_weight: Array | None = None,
) -> list[Kernel]:
    """Gaussian kernels whose widths are multiples of the root mean square distance of two rows.

    Parameters
    ----------
    X : {array, CSR matrix} of shape (n_samples, n_features)
        Training rows.
    multiples : sequence of float, default=(0.25, 0.5, 1.0, 2.0, 4.0)
        Widths sigma in units of that distance.
    sample_weight : ndarray of shape (n_samples,), default=None
        Sample weights, as for ``resolve_gamma``.

    Returns
    -------
    list of Kernel
        In the order of the multiples.

    Raises
    ------
    ValueError
        If a multiple is not positive and finite.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.kernels import width_family
    >>> width_family(np.array([[0.0], [2.0]]), multiples=(1.0, 2.0))
    [Kernel('rbf', {'gamma': 0.125}), Kernel('rbf', {'gamma': 0.03125})]
    """
    if not all(0 < multiple < math.inf for multiple in multiples):
        raise ValueError(
            f"multiples={multiples!r} must be positive and finite, because they are widths; remove "
            "the others."
        )
    gamma = resolve_gamma("rms", "rbf", X, sample_weight=sample_weight)
    return [Kernel("rbf", {"gamma": gamma / multiple**2}) for multiple in multiples]


@np.errstate(over="ignore", invalid="ignore")  # refused below
def du2015_family(X: Data, sample_weight: Array | None = None) -> list[Kernel]:
    """The twelve kernels of Du et al. (2015), which the paper's multi-kernel table uses too.

    Seven Gaussians exp(-d^2 / (2 t^2 D0^2)) with t = 0.01, 0.05, 0.1, 1, 10, 50, 100 and D0 the
    largest distance between two rows; four polynomials (a + x.y)^b with (a, b) = (0, 2), (0, 4),
    (1, 2), (1, 4); and x.y; each divided by sqrt(K(x, x) K(y, y)).

    Parameters
    ----------
    X : {array, CSR matrix} of shape (n_samples, n_features)
        Training rows, in memory.
    sample_weight : ndarray of shape (n_samples,), default=None
        Sample weights; rows of weight 0 do not count.

    Returns
    -------
    list of Kernel
        In that order.

    Raises
    ------
    ValueError
        If X is not in memory, or squared distances overflow or underflow.

    References
    ----------
    Du, Zhou, Shi, Wang, Fan, Wang and Shen (2015), Robust multiple kernel k-means using l2,1-norm.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.kernels import du2015_family
    >>> du2015_family(np.array([[1.0], [2.0]]))[3]
    Kernel('rbf', {'gamma': 0.5})
    """
    if isinstance(X, Rows):
        raise ValueError(
            "the largest distance between two rows can only be computed for rows in memory; "
            "pass an array, or use 'widths'."
        )
    X = plain(X)
    largest = _largest_distance(X if sample_weight is None else X[sample_weight > 0])
    varies = column_moments(X, sample_weight)[1].any()
    too_large = not 2 * DU2015_WIDTHS[-1] * largest < np.sqrt(np.finfo(np.float64).max)
    if too_large or (varies and DU2015_WIDTHS[0] * largest < np.sqrt(np.finfo(X.dtype).tiny)):
        raise ValueError(
            "squared distances between rows of X overflow or underflow; scale its columns."
        )
    gammas = [reciprocal(2 * (width * largest) ** 2, False) for width in DU2015_WIDTHS]
    gaussians = [Kernel("rbf", {"gamma": gamma}) for gamma in gammas]
    polynomials = [
        Kernel("poly", {"gamma": 1.0, "degree": degree, "coef0": constant})
        for constant, degree in DU2015_POLYNOMIALS
    ]
    family = [*gaussians, *polynomials, Kernel("linear", {})]
    return [kernel.normalize() for kernel in family]


def _largest_distance(X: Data) -> float:
    if not scipy.sparse.issparse(X):
        # Centered, because distances of rows far from zero lose digits.
        X = X - X.mean(axis=0, dtype=np.float64).astype(X.dtype)
    partners = pairwise_distances_chunked(
        X,
        reduce_func=lambda distances, start: distances.argmax(axis=1),
        working_memory=DISTANCE_BLOCK,
    )
    # Computed again, because rounding may give equal rows in a block a distance above 0.
    return float(paired_euclidean_distances(X, X[np.concatenate(list(partners))]).max())


@np.errstate(over="ignore", invalid="ignore")  # refused below
def du2015_kernels(X: Data) -> Array:
    """Kernel matrices of `du2015_family` between all rows of X.

    Parameters
    ----------
    X : {array, CSR matrix} of shape (n_samples, n_features)
        Training rows. Du et al. scale pixels to zero mean and unit variance and rows to norm 1
        for some of their sets.

    Returns
    -------
    ndarray of shape (12, n_samples, n_samples)
        The stack that ``kernels="precomputed"`` takes.

    Raises
    ------
    ValueError
        If X is no matrix of finite numbers, or kernel values overflow.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.kernels import du2015_kernels
    >>> du2015_kernels(np.eye(3)).shape
    (12, 3, 3)
    """
    X = check_array(received(X), accept_sparse="csr", dtype=(np.float64, np.float32))
    family = du2015_family(X)
    matrices = np.empty((len(family), X.shape[0], X.shape[0]), X.dtype)
    for kernel, matrix in zip(family, matrices, strict=True):
        matrix[:] = kernel(X, X)
        check_finite(kernel, matrix)
    return matrices
