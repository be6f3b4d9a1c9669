"""Functions for arrays of any library, in addition to the array API standard.

Large arrays stay in the library and on the device that they came from. Small ones, of size (k, R)
or less, that decide what happens next are always NumPy's.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
from array_api_compat import (
    array_namespace,
    is_cupy_array,
    is_dask_array,
    is_jax_array,
    is_torch_array,
    to_device,
)
from numpy.typing import ArrayLike

from kernelmeans._typing import Array, Columns, IntArray

HOST_TYPES = (np.ndarray, np.generic)


def namespace(x: Array) -> Any:
    """The array API functions of an array's library; NumPy's for CSR matrices."""
    return np if isinstance(x, np.ndarray) or on_host(x) else array_namespace(x)


def on_host(x: Any) -> bool:
    """Whether this is a NumPy array or a sparse one, and so on the host."""
    return isinstance(x, HOST_TYPES) or scipy.sparse.issparse(x)


def is_foreign(x: Any) -> bool:
    """Whether this is an array of another library than NumPy, in memory and writable."""
    if isinstance(x, np.ndarray):
        return False
    if is_torch_array(x) or is_cupy_array(x):
        return True
    known = on_host(x) or is_dask_array(x) or is_jax_array(x)
    return hasattr(x, "__array_namespace__") and hasattr(x, "__dlpack__") and not known


def to_numpy(x: Any) -> Any:
    """An array of another library as NumPy's; anything else as it is."""
    if x is None or isinstance(x, HOST_TYPES) or not is_foreign(x):
        return x
    if is_torch_array(x):
        return np.asarray(to_device(x.detach(), "cpu"))
    if is_cupy_array(x):
        return np.asarray(to_device(x, "cpu"))
    return np.from_dlpack(x)


def like(values: ArrayLike, x: Array) -> Array:
    """Values on the host as an array of the library, device and precision of x."""
    if isinstance(x, np.ndarray):
        return np.asarray(values, x.dtype)
    return namespace(x).asarray(values, dtype=x.dtype, device=getattr(x, "device", None))


def to_device_of(values: Any, x: Array) -> Any:
    """Values on the host as an array of the library and device of x, in their own precision."""
    if on_host(x) or not on_host(values):
        return values
    # A copy of read-only values, because libraries that use the same memory warn of these.
    values = values if values.flags.writeable else values.copy()
    return namespace(x).asarray(values, device=x.device)


def canonical(x: Any) -> Any:
    """A sparse matrix in CSR format, with each entry once and in order; anything else as it is.

    Formulas take entries one by one, and SciPy would put them in order in place. Indices are short
    where they fit, because some formulas of scikit-learn take no others.
    """
    if not scipy.sparse.issparse(x) or x.ndim != 2:
        return x
    rows = x.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    is_long = np.int64 in (rows.indices.dtype, rows.indptr.dtype)
    if is_long and max(rows.nnz, *rows.shape) <= np.iinfo(np.int32).max:
        columns, ends = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
        return type(rows)((rows.data, columns, ends), rows.shape)
    return rows


def all_finite(x: Array) -> bool:
    """Whether no value is NaN or infinite."""
    xp = namespace(x)
    return bool(xp.all(xp.isfinite(x)))


def double(x: Array) -> Array:
    """The array in float64: itself, or a copy in C order, as NumPy's products make it."""
    if on_host(x):
        return x if x.dtype == np.float64 else x.astype(np.float64, order="C")
    xp = namespace(x)
    values: Array = xp.asarray(x, dtype=xp.float64)
    return values


def take_rows(x: Any, which: slice | IntArray) -> Any:
    """Some rows: a view for a slice, a copy for indices on the host."""
    if isinstance(which, slice):
        return x[which, ...]
    return x[which] if on_host(x) else take(x, which, axis=0)


def take_columns(x: Any, columns: Columns) -> Any:
    """Some columns, on the host in C order, which decides how products are rounded."""
    found = x[:, columns]
    return np.ascontiguousarray(found) if isinstance(found, np.ndarray) else canonical(found)


def take(x: Any, indices: IntArray, axis: int) -> Any:
    """A copy of some entries along an axis; the indices are on the host."""
    xp = namespace(x)
    return xp.take(x, xp.asarray(indices, device=x.device), axis=axis)


def smallest(x: Array) -> tuple[IntArray, Array]:
    """Index of the smallest value along the first axis (the first of equal ones), and the value."""
    least = reduce("min", x, axis=0)
    if isinstance(x, np.ndarray):
        # argmax copies its array first; the largest of small integers needs no copy.
        last = len(x) - 1
        from_last = np.arange(last, -1, -1, dtype=np.min_scalar_type(last))
        marked = (x == least) * from_last.reshape(-1, *[1] * least.ndim)
        return last - marked.max(axis=0).astype(np.int32), least
    xp = namespace(x)
    return xp.asarray(reduce("argmin", x, axis=0), dtype=xp.int32), least


def put_rows(x: Array, where: tuple[IntArray, IntArray], rows: Array) -> None:
    """Overwrite x[j, r, :] by one of the rows for each (j, r); the indices are on the host."""
    if isinstance(x, np.ndarray):
        x[where] = rows
        return
    # The standard can only write to slices.
    for row, (j, r) in enumerate(zip(*(part.tolist() for part in where), strict=True)):
        x[j, r, :] = rows[row, :]


def put_first(x: Array, indices: IntArray, values: Array | float) -> Array:
    """Put values into x (k, R, block) at ``indices`` (R, block) along the first axis."""
    if isinstance(x, np.ndarray):
        restarts, samples = (np.arange(size) for size in indices.shape)
        x[indices, restarts[:, None], samples] = values
        return x
    # The standard has no such function, so this is a copy.
    xp = namespace(x)
    clusters = xp.arange(x.shape[0], dtype=indices.dtype, device=x.device)
    return xp.where(clusters[:, None, None] == indices[None, ...], values, x)


def overwrite(x: Array, function: Callable[..., Array], *arguments: Array | float) -> Array:
    """``function(*arguments)``; for NumPy in x itself, so that blocks stay in a core's cache."""
    return function(*arguments, out=x) if isinstance(x, np.ndarray) else function(*arguments)


def write(x: Array, function: Callable[..., Array], *arguments: Array | float) -> None:
    """Put ``function(*arguments)`` into x; for NumPy without a copy in between."""
    if isinstance(x, np.ndarray):
        function(*arguments, out=x)
    else:
        x[...] = function(*arguments)


def reduce(name: str, x: Array, axis: int | None = None) -> Any:
    """The reduction of that name; a method for NumPy, because functions take 5 % longer."""
    if isinstance(x, np.ndarray):
        return getattr(x, name)(axis=axis)
    return getattr(namespace(x), name)(x, axis=axis)
