"""Kernel functions with their parameters settled."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse

from kernelmeans._arrays import like, namespace, on_host, take_columns, take_rows, to_numpy
from kernelmeans._devices import HOST, Device
from kernelmeans._dialect import option
from kernelmeans._given import plain
from kernelmeans._text import check_name
from kernelmeans._typing import Array, Columns, Data
from kernelmeans.kernels.formulas import NAMED, NamedKernel, largest_entries, never_positive

#: Relative rounding of squared distances that is too much.
COARSE = 1e-3
#: Rows per call when only the diagonal of a kernel matrix is needed.
DIAGONAL_ROWS = 128
#: The parameters that each named kernel takes.
PARAMETERS = {name: named.parameters for name, named in NAMED.items()}
#: Kernels of rows of features, which can be restricted to some columns.
OF_FEATURES = tuple(name for name in NAMED if name not in ("graph", "precomputed"))


class Kernel:
    """A kernel with its parameters settled: a function of two matrices.

    Parameters
    ----------
    function : str or callable
        A name in `NAMED`, or a callable taking two matrices of rows.
    parameters : mapping of str to Any
        Keyword arguments of the kernel.
    normalized : bool, default=False
        Whether values are divided by sqrt(K(x, x) K(y, y)), so that K(x, x) = 1. Where K(x, x) = 0
        the row is a zero vector and stays one.

    Attributes
    ----------
    name : str
        The name in messages.
    given_name : str or None
        The name of a named kernel; None for a callable, which need not be hashable.
    precomputed : bool
        Whether rows of data are already rows of the kernel matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.kernels import Kernel
    >>> kernel = Kernel("rbf", {"gamma": 0.5})
    >>> kernel(np.array([[0.0], [1.0]]), np.array([[0.0]])).round(3)
    array([[1.   ],
           [0.607]])
    """

    def __init__(
        self,
        function: str | Callable[..., Any],
        parameters: Mapping[str, Any],
        normalized: bool = False,
    ) -> None:
        check_name("kernel", function, list(NAMED))
        self.function = function
        self.parameters = dict(parameters)
        self.normalized = normalized
        self.given_name = function if isinstance(function, str) else None
        self.name = self.given_name or str(getattr(function, "__name__", type(function).__name__))
        self.precomputed = self.given_name == "precomputed"

    def __repr__(self) -> str:
        return f"Kernel({self.name!r}, {self.parameters}{', normalized=True' * self.normalized})"

    @property
    def parts(self) -> list[tuple["Kernel", Columns, float]]:
        """Kernels that are added up, the columns of each, and its multiplier: itself alone."""
        return [(self, slice(None), 1.0)]

    @property
    def _properties(self) -> NamedKernel:
        """Its entry in `NAMED`; for a callable one that has values alone."""
        if isinstance(self.function, str):
            return NAMED[self.function]
        return NamedKernel(self.function, unit_diagonal=False, is_positive=never_positive)

    @property
    def is_positive(self) -> bool:
        """Whether theory says that every kernel matrix is positive semi-definite."""
        return bool(self._properties.is_positive(**self.parameters))

    def normalize(self) -> "Kernel":
        """The same kernel with K(x, x) = 1."""
        if self.given_name == "linear":
            return Kernel("cosine", {})
        if self.normalized or self._properties.unit_diagonal:
            return self
        return Kernel(self.function, self.parameters, normalized=True)

    def __call__(self, X: Data, Y: Data) -> Array:
        """Kernel matrix between the rows of X and those of Y, shape (n_X, n_Y)."""
        X, Y = floating(X), floating(Y)
        values = self.values(X, Y)
        if not self.normalized:
            return values
        if self.precomputed:
            raise ValueError(
                "kernel='precomputed': rows of a normalized kernel matrix do not hold their own "
                "k(x, x); normalize the matrix first."
            )
        return self.divide_by_norms(values, self.diagonal(X), self.norms(self.diagonal(Y)))

    def values(self, X: Data, Y: Data) -> Array:
        """Kernel matrix of rows of floats before any normalization, shape (n_X, n_Y)."""
        if not isinstance(self.function, str):
            return _checked(self.function(X, Y, **self.parameters), X, Y)
        return like(NAMED[self.function].values(X, Y, **self.parameters), X)

    def against(self, Y: Data) -> Callable[[Data], Array]:
        """`values` as a function of X: the part that depends on Y alone is computed once."""
        against = NAMED[self.function].against if isinstance(self.function, str) else None
        if against is None or scipy.sparse.issparse(Y):
            return partial(self.values, Y=Y)
        of_dense = against(Y, **self.parameters)
        return lambda X: self.values(X, Y) if scipy.sparse.issparse(X) else of_dense(X)

    def diagonal(self, X: Data, device: Device = HOST) -> Array:
        """K(x, x) before any normalization, shape (n,); a callable is called on the device."""
        X, n = floating(X), X.shape[0]
        if isinstance(self.function, str):
            return like(self._properties.diagonal(X, **self.parameters), X)
        blocks = [slice(i, min(i + DIAGONAL_ROWS, n)) for i in range(0, n, DIAGONAL_ROWS)]
        joined: Array = namespace(X).concat(
            [self._block_diagonal(X, block, device) for block in blocks]
        )
        return joined

    def _block_diagonal(self, X: Data, block: slice, device: Device) -> Array:
        rows = device.put(take_rows(X, block))
        values = self.values(rows, rows)
        diagonal: Array = namespace(values).linalg.diagonal(values)
        return to_numpy(diagonal) if on_host(X) else diagonal

    def is_nonzero(self, X: Data, diagonal: Array) -> bool:
        """Whether some k(x, x) are not 0 in exact arithmetic, given those that were computed.

        A named kernel that is 0 for a row of zeros is 0 for no other row.
        """
        known = self.given_name in OF_FEATURES and not self.diagonal(X[:1] * 0).any()
        return bool((largest_entries(X) if known else diagonal).any())

    def norms(self, diagonal: Array) -> Array | None:
        """Norms that values are divided by, from K(x, x); None if the kernel is not normalized."""
        return _norms(diagonal, self.name) if self.normalized else None

    def squared_norms(self, diagonal: Array) -> Array:
        """Squared norms after any normalization, from K(x, x) before it."""
        if not self.normalized:
            return diagonal
        # It refuses negative ones, as the matrix does.
        _norms(diagonal, self.name)
        return like(diagonal > 0, diagonal)

    def divide_by_norms(self, values: Array, diagonal: Array, norms: Array | None) -> Array:
        """Normalize kernel values in place, given K(x, x) of their rows and norms of the columns.

        They stay as they are if the norms are None.
        """
        if norms is not None:
            values /= _norms(diagonal, self.name)[:, None]
            values /= norms
        return values

    @property
    def has_features(self) -> bool:
        """Whether the kernel is the inner product of `features`."""
        return self._properties.features is not None and not self.normalized

    @property
    def distinct_rows(self) -> Any:
        """The distinct training rows, if the kernel knows their neighbours; else None."""
        return None

    @property
    def rows_at_once(self) -> int:
        """Fewest rows to be compared together, because fewer would take longer for each."""
        return 1

    def features(self, X: Data) -> Data:
        """Features of rows, whose inner products are the kernel."""
        assert self._properties.features is not None
        return self._properties.features(X)


class CombinedKernel:
    """Weighted sum of kernels, each of some of the columns.

    Parameters
    ----------
    kernels : sequence of Kernel
        The kernels.
    columns : sequence of slice, ndarray or int
        The part of the second axis of the data that each kernel takes.
    multipliers : ndarray of shape (L,), default=None
        What each kernel is multiplied by; ones when None.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.kernels import CombinedKernel, Kernel
    >>> linear = Kernel("linear", {})
    >>> both = CombinedKernel([linear, linear], [slice(0, 1), slice(1, 2)], np.array([1.0, 10.0]))
    >>> both(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[83.]])
    """

    name = "combined"

    def __init__(
        self,
        kernels: Sequence[Kernel],
        columns: Sequence[Columns],
        multipliers: Array | None = None,
    ) -> None:
        self.kernels = list(kernels)
        self.columns = list(columns)
        self.multipliers = np.ones(len(self.kernels)) if multipliers is None else multipliers

    @property
    def parts(self) -> list[tuple[Kernel, Columns, float]]:
        """The kernels that are added up, the columns of each, and its multiplier."""
        multipliers = np.asarray(self.multipliers).tolist()
        return list(zip(self.kernels, self.columns, multipliers, strict=True))

    @property
    def precomputed(self) -> bool:
        """Whether rows of data are already rows of kernel matrices."""
        return all(kernel.precomputed for kernel in self.kernels)

    @property
    def rows_at_once(self) -> int:
        """Fewest rows to be compared together."""
        return max(kernel.rows_at_once for kernel in self.kernels)

    def __call__(self, X: Data, Y: Data) -> Array:
        """Kernel matrix between the rows of X and those of Y, shape (n_X, n_Y)."""
        X, Y = floating(X), floating(Y)
        total = np.zeros((X.shape[0], Y.shape[0]), X.dtype)
        for kernel, columns, multiplier in self.parts:
            values = kernel(take_columns(X, columns), take_columns(Y, columns))
            total += X.dtype.type(multiplier) * values
        return total

    def diagonal(self, X: Data, device: Device = HOST) -> Array:
        """K(x, x) of each kernel before its normalization and weight, shape (n, L)."""
        diagonals = [
            kernel.diagonal(take_columns(X, columns), device) for kernel, columns, _ in self.parts
        ]
        return np.stack(diagonals, axis=1)


def _checked(K: Any, X: Data, Y: Data) -> Array:
    """The values of a callable, checked, as a new array like X."""
    if scipy.sparse.issparse(K):
        raise ValueError(
            "kernel: the callable returned a sparse matrix; it must return an array, which its "
            "method toarray() makes."
        )
    if on_host(X):
        K = np.asarray(plain(K, "kernel(X, Y)"))
    elif on_host(K) or type(K) is not type(X) or K.device != X.device:
        raise ValueError(
            f"kernel: the callable was given rows of type {type(X).__name__} on {X.device} and "
            f"returned a {type(K).__name__}; it must return an array of that library and "
            "device. Write it with operators and their methods, or set device=None and pass "
            "NumPy rows."
        )
    xp, expected = namespace(K), (X.shape[0], Y.shape[0])
    if K.shape != expected:
        raise ValueError(
            f"kernel: the callable returned an array of shape {K.shape} for matrices of "
            f"{expected[0]} and {expected[1]} rows; it must return shape {expected}, the "
            "kernel between every row of the first and every row of the second."
        )
    if not bool(xp.all(xp.isfinite(K))):
        raise ValueError(
            "kernel: the callable returned NaN or infinite values; a kernel must be finite "
            "on every pair of rows."
        )
    # A copy, because the caller may write into it.
    values: Array = xp.asarray(K, dtype=X.dtype, copy=True)
    return values


def floating(X: Data) -> Data:
    """Plain rows, of floats or else of float64: kernel values are no integers."""
    X = plain(X)
    # Types of PyTorch have no kind, and its rows are floats.
    return X if getattr(X.dtype, "kind", "f") == "f" else X.astype(np.float64)


def _norms(diagonal: Array, name: str) -> Array:
    """Square roots of K(x, x), 1 where it is 0; the name of the kernel is for the message."""
    xp = namespace(diagonal)
    if xp.any(diagonal < 0):
        values = to_numpy(diagonal)
        raise ValueError(
            f"kernel={name!r} has k(x, x) = {values.min():.3g} for row {int(values.argmin())}; "
            "it can only be normalized where no k(x, x) is negative. Use another kernel or scaling."
        )
    norms: Array = xp.where(diagonal > 0, xp.sqrt(diagonal), xp.ones_like(diagonal))
    return norms


def check_finite(kernel: Kernel, *values: Array) -> None:
    """Refuse a kernel that overflows or is not defined on the data.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    *values : ndarray
        Sums that contain every kernel value or feature.

    Raises
    ------
    ValueError
        If one is NaN or infinite.
    """
    if not all(np.isfinite(value).all() for value in values):
        raise ValueError(
            f"{option('kernel', kernel.name)} with parameters {kernel.parameters} is NaN or "
            f"infinite on these data in {values[0].dtype}; scale the columns of X, or choose "
            "another kernel or other parameters."
        )


def check_similarity(diagonal: Array, mean: float, name: str, remedy: str) -> None:
    """Refuse values that are small where rows are alike, as distances are.

    Of inner products none is larger than the largest k(x, x). Where all of these are 0 and the
    others positive, the squared distances k(x, x) + k(y, y) - 2 k(x, y) are negative.

    Parameters
    ----------
    diagonal : ndarray of shape (n_samples,)
        k(x, x) of the samples.
    mean : float
        Mean of all values.
    name : str
        What holds the values, for the message.
    remedy : str
        What to do with distances D, for the message.

    Raises
    ------
    ValueError
        If the diagonal is 0 up to rounding, and the mean is positive.
    """
    largest = float(np.abs(diagonal).max())
    # Sums that overflow are refused elsewhere.
    if 0 < mean < np.inf and largest <= np.sqrt(np.finfo(diagonal.dtype).eps) * mean:
        raise ValueError(
            f"{name} holds distances or edges and no kernel: it is 0 between each row and itself, "
            f"and {mean:.3g} on average. {remedy}."
        )


def check_callable(kernel: Kernel, diagonal: Array, mean: float) -> None:
    """The same for a kernel that is a function; others are known."""
    if kernel.given_name is None:
        check_similarity(
            diagonal,
            mean,
            f"kernel={kernel.name!r}",
            "Instead of distances D return np.exp(-D / c), where c is a typical distance, the same "
            f"in all calls, or leave the rows to {option('kernel', 'heat')}",
        )


def check_range(kernel: Kernel, squared_norms: Array, sample_weight: Array) -> None:
    """Refuse squared norms so large that distances, sums or costs of the samples may overflow.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    squared_norms : ndarray
        Squared norms of the samples.
    sample_weight : ndarray of shape (n_samples,)
        Sample weights.

    Raises
    ------
    ValueError
        If one is too large, NaN or infinite.
    """
    largest, n = float(np.abs(squared_norms).max(initial=0)), len(sample_weight)
    # Distances are at most four squared norms; products with unit vectors at most sqrt(n) of them.
    single = float(np.finfo(sample_weight.dtype).max) / (8 * np.sqrt(n))
    double = float(np.finfo(np.float64).max) / (8 * n)
    most = min(single, double / max(float(sample_weight.sum(dtype=np.float64)), 1.0))
    if not largest <= most:
        raise ValueError(
            f"{option('kernel', kernel.name)} with parameters {kernel.parameters} reaches "
            f"{largest:.3g} on these data, and sums of such numbers overflow in "
            f"{sample_weight.dtype} from {most:.3g} on; scale the columns of X or the kernel "
            "matrix, use float64, or choose another kernel or other parameters."
        )


def check_underflow(kernel: Kernel, squared_norms: Array, nonzero: Callable[[], bool]) -> None:
    """Refuse squared norms so small that distances of the samples lose their digits.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    squared_norms : ndarray
        Squared norms of the samples.
    nonzero : callable
        Returns whether some of them are not 0 in exact arithmetic.

    Raises
    ------
    ValueError
        If all are too small, and not all of them would be 0.
    """
    largest = float(np.abs(squared_norms).max(initial=0))
    least = float(np.finfo(squared_norms.dtype).tiny) / COARSE
    if largest < least and nonzero():
        raise ValueError(
            f"{option('kernel', kernel.name)} with parameters {kernel.parameters} reaches only "
            f"{largest:.3g} on these data, and numbers below {least:.3g} lose their digits in "
            f"{squared_norms.dtype}; multiply the columns of X or the kernel matrix by a large "
            "number, use float64, or choose another kernel or other parameters."
        )
