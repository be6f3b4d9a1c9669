"""Kernel functions, and the widths that suit the data."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse
import sklearn
from sklearn.metrics.pairwise import (
    euclidean_distances,
    manhattan_distances,
    pairwise_kernels,
)
from sklearn.preprocessing import normalize
from sklearn.utils import check_array, check_random_state
from sklearn.utils.extmath import row_norms, safe_sparse_dot
from sklearn.utils.sparsefuncs import mean_variance_axis

from kernelmeans._typing import Array, Data

#: Rows of data from which ``gamma="median"`` takes its pairwise distances.
MEDIAN_SAMPLE = 1000
#: Rows per call when only the diagonal of a kernel matrix is wanted.
DIAGONAL_ROWS = 128


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
    norms = row_norms(X)
    if not norms.all():
        raise ValueError(
            f"X: row {int(np.argmin(norms))} is zero and has no direction, which "
            "kernel='geodesic' needs; leave such rows out, or use another kernel."
        )
    return normalize(X)


#: The parameters that each named kernel takes.
PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "rbf": ("gamma",),
    "laplacian": ("gamma",),
    "geodesic": ("gamma",),
    "poly": ("gamma", "degree", "coef0"),
    "sigmoid": ("gamma", "coef0"),
    "cosine": (),
    "linear": (),
    "precomputed": (),
}
#: Kernels with K(x, x) = 1 for every x.
UNIT_DIAGONAL = frozenset({"rbf", "laplacian", "geodesic"})
#: Kernels that accept CSR matrices (a callable has to look after itself).
SPARSE = frozenset(PARAMETERS) - {"precomputed"}


class Kernel:
    """A kernel with its parameters settled: a function of two matrices.

    Parameters
    ----------
    function : str or callable
        A name out of `PARAMETERS`, or a callable taking two matrices of rows.
    parameters : mapping of str to Any
        Keyword arguments of the kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.kernels import Kernel
    >>> kernel = Kernel("rbf", {"gamma": 0.5})
    >>> kernel(np.array([[0.0], [1.0]]), np.array([[0.0]])).round(3)
    array([[1.   ],
           [0.607]])
    """

    def __init__(self, function: str | Callable[..., Any], parameters: Mapping[str, Any]) -> None:
        self.function = function
        self.parameters = dict(parameters)

    def __repr__(self) -> str:
        return f"Kernel({self.name!r}, {self.parameters})"

    @property
    def name(self) -> str:
        """What messages call it."""
        if isinstance(self.function, str):
            return self.function
        return getattr(self.function, "__name__", type(self.function).__name__)

    @property
    def precomputed(self) -> bool:
        """Whether rows of data are already rows of the kernel matrix."""
        return isinstance(self.function, str) and self.function == "precomputed"

    @property
    def surely_positive(self) -> bool:
        """Whether theory says that every kernel matrix is positive semi-definite."""
        if self.function == "poly":
            degree = self.parameters["degree"]
            return bool(self.parameters["coef0"] >= 0 and degree == int(degree))
        return self.function in UNIT_DIAGONAL | {"cosine", "linear"}

    def __call__(self, X: Data, Y: Data) -> Array:
        """Kernel matrix between the rows of X and those of Y, shape (n_X, n_Y)."""
        if self.precomputed:
            return np.asarray(X)
        if self.function == "geodesic":
            return geodesic_kernel(X, Y, **self.parameters)
        if isinstance(self.function, str):
            # The rows were checked when they came in; checking both again per block is dear.
            with sklearn.config_context(assume_finite=True):
                K = pairwise_kernels(X, Y, metric=self.function, **self.parameters)
            return np.asarray(K, dtype=X.dtype)
        return self._call_function(self.function, X, Y)

    def _call_function(self, function: Callable[..., Any], X: Data, Y: Data) -> Array:
        K = np.asarray(function(X, Y, **self.parameters))
        expected = (X.shape[0], Y.shape[0])
        if K.shape != expected:
            raise ValueError(
                f"kernel: the callable returned an array of shape {K.shape} for matrices of "
                f"{expected[0]} and {expected[1]} rows; it must return shape {expected}, the "
                "kernel between every row of the first and every row of the second."
            )
        if not np.isfinite(K).all():
            raise ValueError(
                "kernel: the callable returned NaN or infinite values; a kernel must be finite "
                "on every pair of rows."
            )
        # A copy, for the caller may write into it.
        return K.astype(X.dtype)

    def diagonal(self, X: Data) -> Array:
        """K(x, x) for every row of X, shape (n,)."""
        n = X.shape[0]
        if self.precomputed:
            return np.diagonal(X).copy()
        if self.function in UNIT_DIAGONAL:
            return np.ones(n, dtype=X.dtype)
        chunks = (X[i : i + DIAGONAL_ROWS] for i in range(0, n, DIAGONAL_ROWS))
        return np.concatenate([np.diagonal(self(rows, rows)) for rows in chunks])

    @property
    def has_features(self) -> bool:
        """Whether the kernel is a plain inner product of rows that `features` gives."""
        return self.function in ("linear", "cosine")

    def features(self, X: Data) -> Data:
        """Rows whose plain inner products are the kernel."""
        return normalize(X) if self.function == "cosine" else X


def resolve_kernel(
    kernel: str | Callable[..., Any],
    X: Data,
    *,
    gamma: str | float = "rms",
    degree: float = 3,
    coef0: float = 1,
    kernel_params: Mapping[str, Any] | None = None,
    random_state: Any = None,
) -> Kernel:
    """Settle a kernel's parameters from the data.

    Parameters
    ----------
    kernel : str or callable
        One of the names in `PARAMETERS`, or a callable taking two matrices.
    X : {array, CSR matrix} of shape (n_samples, n_features)
        The training rows, which decide the width.
    gamma : {"rms", "median", "scale"} or float, default="rms"
        Width; see `resolve_gamma`.
    degree, coef0 : float
        Of the ``poly`` and ``sigmoid`` kernels.
    kernel_params : mapping, default=None
        Keyword arguments of a callable kernel.
    random_state : int, RandomState or None
        Draws the sample of ``gamma="median"``.

    Returns
    -------
    Kernel
        The kernel as a function of two matrices.

    Raises
    ------
    ValueError
        If ``kernel_params`` comes with a named kernel, or sparse rows with a kernel that has none.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.kernels import resolve_kernel
    >>> resolve_kernel("rbf", np.array([[0.0], [2.0]])).parameters
    {'gamma': 0.125}
    """
    if not isinstance(kernel, str):
        return Kernel(kernel, kernel_params or {})
    if kernel_params is not None:
        raise ValueError(
            f"kernel_params={kernel_params!r} is only for a callable kernel, got "
            f"kernel={kernel!r}; use gamma, degree and coef0, or leave kernel_params=None."
        )
    if scipy.sparse.issparse(X) and kernel not in SPARSE:
        raise ValueError(f"X: kernel={kernel!r} needs a dense array; call X.toarray() first.")
    given = {"degree": degree, "coef0": coef0}
    if "gamma" in PARAMETERS[kernel]:
        given["gamma"] = resolve_gamma(gamma, kernel, X, random_state)
    return Kernel(kernel, {name: given[name] for name in PARAMETERS[kernel]})


def resolve_gamma(gamma: str | float, kernel: str, X: Data, random_state: Any = None) -> float:
    """Turn the name of a width into a number.

    ``"rms"`` is the paper's 1 / (2 sigma^2) for rbf, sigma^2 the mean squared distance of two
    different rows; 1 / n_features for laplacian, poly and sigmoid; 0.5 for geodesic.
    ``"median"`` puts the median distance of the different rows of a seeded sample in the place of
    sigma.
    ``"scale"`` is 1 / (n_features * variance of X), as in scikit-learn's SVC.

    Parameters
    ----------
    gamma : {"rms", "median", "scale"} or float
        The width asked for; a float is returned as it is.
    kernel : str
        Name of the kernel.
    X : {array, CSR matrix} of shape (n_samples, n_features)
        Training rows.
    random_state : int, RandomState or None
        Draws the sample for ``"median"``.

    Returns
    -------
    float
        The kernel's ``gamma``. Where all rows are equal any width gives the same kernel matrix,
        and it is 1.

    Raises
    ------
    ValueError
        If ``gamma="median"`` is asked of a kernel that is no function of a distance.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.kernels import resolve_gamma
    >>> resolve_gamma("median", "rbf", np.array([[0.0], [1.0], [2.0]]))
    0.5
    """
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma == "median":
        return _median_gamma(kernel, X, random_state)
    if gamma == "scale":
        # The variance of all entries together, whatever their column.
        mean, variance = _column_moments(X)
        return _reciprocal(X.shape[1] * float(np.mean(variance) + np.var(mean)))
    if kernel == "geodesic":
        return 0.5
    if kernel != "rbf":
        return 1 / float(X.shape[1])
    n = X.shape[0]
    _, variance = _column_moments(X)
    # sum_ij ||x_i - x_j||^2 = 2 n^2 sum_p var_p.
    return _reciprocal(4 * float(np.sum(variance)) * n / max(n - 1, 1))


def _reciprocal(value: float) -> float:
    return 1 / value if value > 0 and math.isfinite(1 / value) else 1.0


def _column_moments(X: Data) -> tuple[Array, Array]:
    if scipy.sparse.issparse(X):
        mean, variance = mean_variance_axis(X.astype(np.float64), axis=0)
        return mean, variance
    return np.mean(X, axis=0, dtype=np.float64), np.var(X, axis=0, dtype=np.float64)


def _median_gamma(kernel: str, X: Data, random_state: Any) -> float:
    if kernel not in UNIT_DIAGONAL:
        raise ValueError(
            f"gamma='median' needs a kernel that is a function of a distance (rbf, laplacian, "
            f"geodesic), got kernel={kernel!r}; use gamma='rms', 'scale' or a float."
        )
    n = X.shape[0]
    if n > MEDIAN_SAMPLE:
        X = X[check_random_state(random_state).choice(n, MEDIAN_SAMPLE, replace=False)]
    if kernel == "rbf":
        distances = euclidean_distances(X)
    elif kernel == "laplacian":
        distances = manhattan_distances(X)
    else:
        distances = -np.log(geodesic_kernel(X, gamma=1.0))
    distances = distances[np.triu_indices(distances.shape[0], k=1)]
    # Where most rows are repeated the median of all distances would be nil.
    median = float(np.median(distances[distances > 0])) if distances.any() else 0.0
    return _reciprocal(2 * median**2 if kernel == "rbf" else median)
