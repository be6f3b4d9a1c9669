"""Rows of a file, or of an array that is not in memory."""

import mmap
import os
import sys
import weakref
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from kernelmeans._typing import Array
from kernelmeans.rows.base import Rows
from kernelmeans.rows.dask import DaskRows, is_dask

#: Arrays in memory have one of these attributes, arrays on disk have none.
_ARITHMETIC = ("__array_ufunc__", "__array_namespace__", "__array_interface__")


def open_rows(path: str | PathLike[str], columns: Sequence[str | int] | None = None) -> Rows:
    """Open a file as rows, without reading them.

    Parameters
    ----------
    path : path-like
        A file with the suffix .npy or .parquet, or the folder of a Zarr array.
    columns : sequence of str or int, default=None
        The columns to read, by name or position; all when None. Others may hold anything.

    Returns
    -------
    Rows
        The rows; each is read when it is used.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ImportError
        If polars (Parquet) or zarr is not installed.
    ValueError
        If the file is of another kind, is damaged or holds no matrix of numbers, or a column is
        unknown.

    Examples
    --------
    >>> import tempfile
    >>> import polars as pl
    >>> from kernelmeans.rows import open_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     frame = pl.DataFrame({"a": [1, 2], "town": ["Rome", "Pisa"], "b": [0.5, None]})
    ...     frame.write_parquet(f"{folder}/data.parquet")
    ...     open_rows(f"{folder}/data.parquet", columns=["b", "a"])[:]
    array([[0.5, 1. ],
           [nan, 2. ]])
    """
    file = Path(path)
    file.stat()  # raises if there is none
    suffix = file.suffix.lower()
    try:
        if file.is_dir():
            rows = _read_zarr(file)
        elif suffix == ".npy":
            rows = _read_npy(file)
        elif suffix == ".parquet":
            from kernelmeans.rows.parquet import read_parquet

            return read_parquet(file, columns)
        else:
            raise ValueError(
                f"{file}: unknown suffix {suffix!r}; .npy and .parquet files and the folders of "
                "Zarr arrays are read block by block: convert it, or load it into memory"
            )
    except ModuleNotFoundError as error:
        raise ImportError(
            f'{file}: {error.name} is needed to read it: pip install "kernelmeans[disk]"'
        ) from error
    return rows if columns is None else rows.select(columns)


def as_rows(X: Any) -> Rows | None:
    """Rows of a matrix that is not in memory.

    Parameters
    ----------
    X : object
        A `Rows`, a `numpy.memmap`, a ``polars.LazyFrame`` whose rows have a fixed order, a Dask
        array or data frame, or an array on disk. The last is anything with ``shape``, ``dtype`` and
        slices but without arithmetic, such as ``zarr.Array`` and ``h5py.Dataset``.

    Returns
    -------
    Rows or None
        None if X is in memory, or no matrix.

    Raises
    ------
    TypeError
        If it is a sparse matrix on disk, as of annotated data.
    ValueError
        If it is a matrix without rows, or of anything but real numbers; or if it is a Dask
        collection of anything but NumPy arrays.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.rows import as_rows
    >>> as_rows(np.zeros((3, 2))) is None
    True
    """
    if isinstance(X, Rows):
        return X
    if isinstance(X, np.ndarray):
        # The copy of a map is a memmap too, but in memory.
        return _mapped(X) if X.ndim == 2 and getattr(X, "_mmap", None) is not None else None
    if is_dask(X):
        return DaskRows(X)
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(X, polars.LazyFrame):
        from kernelmeans.rows.parquet import FrameRows

        return FrameRows(X, "LazyFrame")
    if not _is_on_disk(X):
        return None
    if hasattr(X, "to_memory"):  # its slices are sparse
        raise TypeError("X is a sparse matrix on disk; load it by X.to_memory().")
    return _stored(X, f"{type(X).__name__} {getattr(X, 'name', '')}")


class NpyFile:
    """An array in C order in a file, read without a memory map.

    A process that reads the map of a file that has become shorter is killed.

    Parameters
    ----------
    path : str
        The file. It stays open, so that another file in its place is not mixed with it.
    shape : tuple of int
        Rows and columns.
    dtype : dtype
        Of the stored numbers, in any byte order.
    offset : int
        Bytes of the file before the first number.
    """

    def __init__(self, path: str, shape: tuple[int, ...], dtype: Any, offset: int) -> None:
        self.path, self.shape, self.dtype, self.offset = path, shape, dtype, offset
        self._file = os.open(path, os.O_RDONLY)
        weakref.finalize(self, os.close, self._file)

    def __getitem__(self, rows: slice) -> Array:
        X = np.empty((rows.stop - rows.start, self.shape[1]), self.dtype)
        unread = X.view(np.uint8).reshape(-1).data
        place = self.offset + rows.start * X.strides[0]
        while unread:
            count = os.preadv(self._file, [unread], place)
            if not count:
                raise OSError("the file has become shorter")
            unread, place = unread[count:], place + count
        return X

    def __reduce__(self) -> tuple[Any, ...]:
        return NpyFile, (self.path, self.shape, self.dtype, self.offset)


class MemoryMap:
    """A memory-mapped array, in any byte order and any order of its axes.

    A file that becomes shorter while a block is copied is not noticed in time.

    Parameters
    ----------
    array : memmap of shape (n_rows, n_columns)
        Mapped to a file, or a view of one.
    """

    def __init__(self, array: NDArray[Any]) -> None:
        self.array, self.shape, self.dtype = array, array.shape, array.dtype
        # The offset of a view may be wrong, but not that of the map that it is a view of.
        whole: Any = array
        while not isinstance(whole.base, mmap.mmap):
            whole = whole.base
        self._whole = whole
        start = whole.offset - whole.offset % mmap.ALLOCATIONGRANULARITY
        self._end = start + len(whole.base)

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        if self._whole.base.size() < self._end:
            raise OSError("the file has become shorter since it was opened")
        return self.array[rows]

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickled alone, an array takes its numbers along; joblib mistakes negative strides.
        array, whole = self.array, self._whole
        if whole.filename is None:
            raise TypeError("a memory map of an unnamed file cannot be pickled: name the file")
        offset = whole.offset + _address(array) - _address(whole)
        return _mapped_again, (whole.filename, array.shape, array.dtype, array.strides, offset)


def _mapped_again(
    path: str, shape: tuple[int, ...], dtype: Any, strides: tuple[int, ...], offset: int
) -> MemoryMap:
    return MemoryMap(np.ndarray(shape, dtype, np.memmap(path, np.uint8, "r"), offset, strides))


def _address(array: NDArray[Any]) -> int:
    return int(array.__array_interface__["data"][0])


@np.errstate(over="ignore")  # of a header that promises too much
def _read_npy(path: Path) -> Rows:
    try:
        array = np.lib.format.open_memmap(path, mode="r")
    except (OSError, MemoryError):
        raise
    except Exception as error:  # a damaged header can fail in any way
        raise ValueError(
            f"{path}: cannot be read as NPY ({error}): write it again, as floats: "
            "numpy.save(path, numpy.vstack(X).astype(float))"
        ) from error
    if array.flags.c_contiguous and array.ndim == 2 and hasattr(os, "preadv"):
        return Rows(NpyFile(str(path), array.shape, array.dtype, array.offset), str(path))
    return Rows(MemoryMap(array), str(path))


def _mapped(array: Any) -> Rows:
    return Rows(MemoryMap(array), str(array.filename or "a memory map"))


@np.errstate(over="ignore")  # of a fill value that is too large for its type
def _read_zarr(path: Path) -> Rows:
    """Rows of a Zarr array; of a group, those of its only array, or of the one named X."""
    import zarr

    try:
        node = zarr.open(path, mode="r")
        arrays = dict(node.arrays()) if isinstance(node, zarr.Group) else {"X": node}
    except Exception as error:  # damaged metadata can fail in any way
        raise ValueError(
            f"{path}: cannot be read as ZARR ({error}): write it again, or give the folder of an "
            "array"
        ) from error
    if "X" not in arrays and len(arrays) != 1:
        raise ValueError(
            f"{path}: a group of the arrays {', '.join(map(repr, arrays)) or '(none)'}; a single "
            "one, or one named 'X', is needed: give the folder of an array"
        )
    return _stored(arrays["X"] if "X" in arrays else arrays.popitem()[1], str(path))


def _stored(array: Any, source: str) -> Rows:
    chunks = getattr(array, "chunks", None)
    return Rows(array, source.rstrip(), chunk=chunks[0] if chunks else 1)


def _is_on_disk(X: Any) -> bool:
    shape = getattr(X, "shape", None)
    if not isinstance(shape, tuple) or len(shape) != 2 or not hasattr(X, "__getitem__"):
        return False
    if scipy.sparse.issparse(X) or any(hasattr(X, name) for name in _ARITHMETIC):
        return False
    try:
        np.dtype(getattr(X, "dtype", "no type"))
    except TypeError:  # the type of another library's arrays
        return False
    return True
