"""Rows of an array that a file is mapped to: NumPy's own format, and `numpy.memmap`."""

import mmap
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelmeans._typing import Array, IntArray
from kernelmeans.rows.base import Rows
from kernelmeans.rows.file import FileRows

Mapped = np.memmap[Any, Any]


class MappedRows(Rows):
    """Rows of a memory-mapped array, in any byte order and any order of its axes.

    Parameters
    ----------
    array : ndarray of shape (n_rows, n_columns)
        Mapped to the file.
    path : Path or None
        The file; rows without one cannot be pickled.
    offset : int
        Bytes of the file before the first number.
    """

    def __init__(self, array: NDArray[Any], path: Path | None, offset: int) -> None:
        source = "a memory map" if path is None else str(path)
        super().__init__(source, array.shape, array.dtype)
        self._array, self._path, self._offset = array, path, offset
        steps = zip(array.shape, array.strides, strict=True)
        last = sum((count - 1) * max(step, 0) for count, step in steps)
        self._end = offset + last + array.itemsize

    def _range(self, start: int, stop: int) -> Array:
        self._refuse_shrunk()
        return np.array(self._array[start:stop], dtype=self.dtype, order="C")

    def _take(self, indices: IntArray) -> Array:
        self._refuse_shrunk()
        return np.ascontiguousarray(self._array[indices], dtype=self.dtype)

    def _refuse_shrunk(self) -> None:
        """Refuse a file that has become shorter: looking at what is gone kills the process.

        A file that is cut in the very moment in which a block is copied is not noticed in time.
        """
        if _map_of(self._array).size() < self._end:
            raise OSError(
                f"{self.source}: the file has become shorter since it was opened: write it again, "
                "and leave it as it is meanwhile"
            )

    def __reduce__(self) -> tuple[Any, ...]:
        # An array is pickled with all its numbers; the file has them already.
        if self._path is None:
            raise TypeError("a memory map of an unnamed file cannot be pickled: name the file")
        array = self._array
        return _reopened, (self._path, array.shape, array.dtype, array.strides, self._offset)


def read_npy(path: Path) -> Rows:
    """Open a ``.npy`` file.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    FileRows or MappedRows
        Its rows; mapped where they do not lie one after the other.

    Raises
    ------
    ValueError
        If it holds no matrix of real numbers, or less than its header says.
    """
    try:
        array = np.lib.format.open_memmap(path, mode="r")
    except (OSError, MemoryError):
        raise
    except Exception as error:  # a damaged header can fail in any way
        raise ValueError(
            f"{path}: cannot be read as NPY ({error}): write it again with numpy.save"
        ) from error
    if array.flags.c_contiguous and array.ndim == 2 and hasattr(os, "preadv"):
        return FileRows(path, array.shape, array.dtype, array.offset)
    return mapped_rows(array)


def mapped_rows(array: Mapped) -> MappedRows:
    """Rows of a memory-mapped array, or of a view of one.

    Parameters
    ----------
    array : memmap of shape (n_rows, n_columns)
        Mapped to a file.

    Returns
    -------
    MappedRows
        Its rows.
    """
    # A view has the attributes of the whole map: where it begins, only its address tells.
    begin = array.offset - array.offset % mmap.ALLOCATIONGRANULARITY
    within = _address(array) - _address(np.frombuffer(array._mmap, np.uint8))  # type: ignore[attr-defined]
    path = None if array.filename is None else Path(array.filename)
    return MappedRows(array.view(np.ndarray), path, begin + within)


def _reopened(
    path: Path, shape: tuple[int, ...], dtype: Any, strides: tuple[int, ...], offset: int
) -> MappedRows:
    file = np.memmap(path, np.uint8, "r")
    array: NDArray[Any] = np.ndarray(shape, dtype, file, offset, strides)
    return MappedRows(array, path, offset)


def _map_of(array: Any) -> mmap.mmap:
    """The map that an array is a view of; it knows the file even if its name is gone."""
    while not isinstance(array, mmap.mmap):
        array = array.base
    return array


def _address(array: NDArray[Any]) -> int:
    return int(array.__array_interface__["data"][0])
