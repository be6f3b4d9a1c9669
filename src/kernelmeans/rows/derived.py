"""Rows made of other rows: some of their columns, or each row after a function."""

from collections.abc import Callable
from typing import Any

import numpy as np

from kernelmeans._typing import Array, DType, IntArray
from kernelmeans.rows.base import Rows


class _DerivedRows(Rows):
    """Reads other rows and changes what it has read."""

    def __init__(self, rows: Rows, columns: int, dtype: DType, names: list[str] | None) -> None:
        super().__init__(rows.source, (len(rows), columns), dtype, names, rows.chunk)
        self._rows = rows

    @property
    def resident_bytes(self) -> int:
        return self._rows.resident_bytes

    def _changed(self, X: Array) -> Array:
        raise NotImplementedError

    def _range(self, start: int, stop: int) -> Array:
        return self._changed(self._rows[start:stop])

    def _take(self, indices: IntArray) -> Array:
        return self._changed(self._rows[indices])


class SelectedRows(_DerivedRows):
    """Some columns of other rows.

    Parameters
    ----------
    rows : Rows
        What is read.
    positions : list of int
        Its columns, in the order wanted.
    """

    def __init__(self, rows: Rows, positions: list[int]) -> None:
        names = None if rows.names is None else [rows.names[j] for j in positions]
        super().__init__(rows, len(positions), rows.dtype, names)
        self._columns = positions

    def _changed(self, X: Array) -> Array:
        return np.take(X, self._columns, axis=1)


class TransformedRows(_DerivedRows):
    """Other rows after a function.

    Parameters
    ----------
    rows : Rows
        What is read.
    function : callable
        From an array of rows to one of the same shape, each row for itself.
    dtype : dtype
        Into which its result is cast.
    """

    def __init__(self, rows: Rows, function: Callable[[Array], Any], dtype: DType) -> None:
        super().__init__(rows, rows.shape[1], dtype, rows.names)
        self._function = function

    def _changed(self, X: Array) -> Array:
        with np.errstate(over="ignore"):
            changed: Array = np.ascontiguousarray(self._function(X), dtype=self.dtype)
        if changed.shape != X.shape:
            raise ValueError(
                f"{self.source}: the function made shape {changed.shape} of rows of shape "
                f"{X.shape}; it must keep the shape"
            )
        return changed


class FiniteRows(_DerivedRows):
    """Other rows, whose numbers must be finite whenever they are read: files change.

    Parameters
    ----------
    rows : Rows
        What is read.
    """

    def __init__(self, rows: Rows) -> None:
        super().__init__(rows, rows.shape[1], rows.dtype, rows.names)

    def _range(self, start: int, stop: int) -> Array:
        return self._finite(self._rows[start:stop], f"rows {start} to {stop - 1}")

    def _take(self, indices: IntArray) -> Array:
        return self._finite(self._rows[indices], f"{len(indices)} single rows")

    def _finite(self, X: Array, which: str) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            # Of finite numbers the sum may overflow, but seldom does.
            finite = np.isfinite(X.sum()) or np.isfinite(X).all()
        if not finite:
            raise ValueError(
                f"{self.source}: Input X contains NaN or infinity in {which}; fill in or remove "
                "such values, and leave the file as it is while it is read"
            )
        return X

    def _select(self, positions: list[int]) -> Rows:
        return FiniteRows(self._rows._select(positions))


def unchanged(X: Array) -> Array:
    """The function that changes nothing."""
    return X
