"""What code over any array library needs beside the array API standard.

Large arrays stay where they came from: NumPy's, or on a device as PyTorch's or CuPy's. What is
small, of size (k, R) or less, and decides what happens next is NumPy's throughout.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
from array_api_compat import array_namespace, is_cupy_array, is_torch_array, to_device
from numpy.typing import ArrayLike

from kernelmeans._typing import Array, IntArray

HOST_TYPES = (np.ndarray, np.generic)


def namespace(x: Array) -> Any:
    """Functions of the array API standard for an array's library; for NumPy and CSR NumPy's."""
    return np if isinstance(x, np.ndarray) or on_host(x) else array_namespace(x)


def on_host(x: Any) -> bool:
    """Whether this is an array of NumPy's, or a sparse one, which are the host's."""
    return isinstance(x, HOST_TYPES) or scipy.sparse.issparse(x)


def to_numpy(x: Any) -> Any:
    """The array as NumPy's: itself, or the values that are on a device."""
    if on_host(x):
        return x
    if is_torch_array(x):
        return np.asarray(to_device(x.detach(), "cpu"))
    if is_cupy_array(x):
        return np.asarray(to_device(x, "cpu"))
    return np.from_dlpack(x)


def like(values: ArrayLike, x: Array) -> Any:
    """Values of the host as an array of x's library, device and precision."""
    if isinstance(x, np.ndarray):
        return np.asarray(values, x.dtype)
    return namespace(x).asarray(values, dtype=x.dtype, device=getattr(x, "device", None))


def beside(values: Any, x: Array) -> Any:
    """Values of the host, in their own precision, as an array of x's library and device."""
    if on_host(x) or not on_host(values):
        return values
    # Libraries that share the host's memory complain of what may not be written.
    values = values if values.flags.writeable else values.copy()
    return namespace(x).asarray(values, device=x.device)


def all_finite(x: Array) -> bool:
    """Whether no value is NaN or infinite."""
    xp = namespace(x)
    return bool(xp.all(xp.isfinite(x)))


def double(x: Array) -> Array:
    """The array in float64; itself, or a copy row by row, as NumPy's own products make it."""
    if on_host(x):
        return x if x.dtype == np.float64 else x.astype(np.float64, order="C")
    xp = namespace(x)
    values: Array = xp.asarray(x, dtype=xp.float64)
    return values


def picked(x: Any, which: slice | IntArray) -> Any:
    """Some rows: a view for a slice, a copy for indices of the host."""
    if on_host(x):
        return x[which]
    return x[which, ...] if isinstance(which, slice) else take(x, which, axis=0)


def take(x: Any, indices: IntArray, axis: int) -> Any:
    """A copy of some entries along an axis; the indices are the host's."""
    xp = namespace(x)
    return xp.take(x, xp.asarray(indices, device=x.device), axis=axis)


def smallest(x: Array) -> tuple[IntArray, Array]:
    """Place of the smallest value along the first axis, the first of equals, and that value."""
    least = reduce("min", x, axis=0)
    if isinstance(x, np.ndarray):
        # NumPy copies what it looks for places in, but finds the largest of small numbers fast.
        last = len(x) - 1
        from_last = np.arange(last, -1, -1, dtype=np.min_scalar_type(last))
        truths = (x == least) * from_last.reshape(-1, *[1] * least.ndim)
        return last - truths.max(axis=0).astype(np.int32), least
    xp = namespace(x)
    return xp.asarray(reduce("argmin", x, axis=0), dtype=xp.int32), least


def put_rows(x: Array, where: tuple[IntArray, IntArray], rows: Array) -> None:
    """Overwrite x[j, r, :] by one of the rows for each (j, r); the indices are the host's."""
    if isinstance(x, np.ndarray):
        x[where] = rows
        return
    # The standard writes to slices alone.
    for row, (j, r) in enumerate(zip(*(part.tolist() for part in where), strict=True)):
        x[j, r, :] = rows[row, :]


def put_first(x: Array, indices: IntArray, values: Array | float) -> Array:
    """X (k, R, block) with values at ``indices`` (R, block) along its first axis; overwrites x."""
    if isinstance(x, np.ndarray):
        np.put_along_axis(x, indices[None], values, axis=0)
        return x
    # The standard has no such function.
    xp = namespace(x)
    clusters = xp.arange(x.shape[0], dtype=indices.dtype, device=x.device)
    replaced: Array = xp.where(clusters[:, None, None] == indices[None, ...], values, x)
    return replaced


def overwrite(x: Array, function: Callable[..., Array], *arguments: Array | float) -> Array:
    """``function(*arguments)``, in x itself where NumPy's blocks so stay in a core's cache."""
    return function(*arguments, out=x) if isinstance(x, np.ndarray) else function(*arguments)


def write(x: Array, function: Callable[..., Array], *arguments: Array | float) -> None:
    """Put ``function(*arguments)`` into x; NumPy's without a copy in between."""
    if isinstance(x, np.ndarray):
        function(*arguments, out=x)
    else:
        x[...] = function(*arguments)


def reduce(name: str, x: Array, axis: int | None = None) -> Any:
    """Function of that name; NumPy's methods, for its functions cost a small block 5 % more."""
    if isinstance(x, np.ndarray):
        return getattr(x, name)(axis=axis)
    return getattr(namespace(x), name)(x, axis=axis)
