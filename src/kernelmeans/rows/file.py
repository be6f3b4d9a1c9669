"""Rows of a file that holds them one after the other, read without mapping it into memory."""

import os
import weakref
from pathlib import Path
from typing import Any

import numpy as np

from kernelmeans._typing import Array, IntArray
from kernelmeans.rows.base import Rows


class FileRows(Rows):
    """Rows of an array in C order.

    A map of a file that has become shorter kills the process that looks at it; a read is short.

    Parameters
    ----------
    path : Path
        The file; it stays open, so that another in its place is not mixed with it.
    shape : tuple of int
        Rows and columns.
    dtype : dtype
        Of the stored numbers, in any byte order.
    offset : int
        Bytes of the file before the first number.
    """

    def __init__(self, path: Path, shape: tuple[int, ...], dtype: Any, offset: int) -> None:
        super().__init__(str(path), shape, dtype)
        self._path, self._stored, self._offset = path, np.dtype(dtype), offset
        self._file = os.open(path, os.O_RDONLY)
        weakref.finalize(self, os.close, self._file)

    def _range(self, start: int, stop: int) -> Array:
        X = np.empty((stop - start, self.shape[1]), self._stored)
        self._read(X, start)
        return X.astype(self.dtype, copy=False)

    def _take(self, indices: IntArray) -> Array:
        X = np.empty((len(indices), self.shape[1]), self._stored)
        for row, index in enumerate(indices.tolist()):
            self._read(X[row : row + 1], index)
        return X.astype(self.dtype, copy=False)

    def _read(self, X: Array, start: int) -> None:
        """Fill X with the rows from `start` on."""
        left = X.view(np.uint8).reshape(-1).data
        place = self._offset + start * self.shape[1] * self._stored.itemsize
        while left:
            count = os.preadv(self._file, [left], place)
            if not count:
                raise OSError(
                    f"{self.source}: rows {start} to {start + len(X) - 1} cannot be read, for the "
                    "file has become shorter: write it again, and leave it as it is meanwhile"
                )
            left, place = left[count:], place + count

    def __reduce__(self) -> tuple[Any, ...]:
        return FileRows, (self._path, self.shape, self._stored, self._offset)
