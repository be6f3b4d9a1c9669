"""Tables that stay on disk, and are read block by block."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from kernelmeans.cli.errors import BadInputError
from kernelmeans.rows import Rows, open_rows


class PreparedRows(Rows):
    """Other rows in some precision, after a function of each row that may write into it.

    Numbers that are too large for float32 become infinite.
    """

    def __init__(
        self, rows: Rows, dtype: Any, function: Callable[[Any], Any] | None = None
    ) -> None:
        super().__init__(rows, rows.source, rows.names, rows.chunk)
        self.dtype, self.function = np.dtype(dtype), function

    def _load(self, start: int, stop: int) -> Any:
        X = self.array[start:stop]
        return X if self.function is None else self.function(X)


@dataclass(frozen=True)
class ParquetTable:
    """The columns of a Parquet file."""

    source: Path
    frame: pl.LazyFrame
    named: bool = True

    @cached_property
    def names(self) -> list[str]:
        """The names of the columns, in the file's order."""
        return self.frame.collect_schema().names()

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.frame.select(pl.len()).collect().item(), len(self.names)

    def matrix(self, names: Sequence[str], dtype: str) -> Rows:
        """Return these columns as rows that are read when they are asked for."""
        try:
            rows = PreparedRows(open_rows(self.source, names), dtype)
        except ValueError as error:
            raise BadInputError(f"{error} (--drop and --columns choose columns)") from error
        rows.names = None  # the model file has them; arrays in memory have none either
        return rows

    def column(self, name: str) -> Any:
        """Return one column as it is."""
        try:
            return self.frame.select(name).collect()[name].to_numpy()
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise BadInputError(
                f"{self.source}: column {name!r} cannot be read: {error}"
            ) from error


@dataclass(frozen=True)
class RowsTable:
    """The columns of an NPY file or a Zarr array; their names are their indices."""

    source: Path
    rows: Rows
    named: bool = False

    @cached_property
    def names(self) -> list[str]:
        """The indices of the columns, as text."""
        return [str(j) for j in range(self.rows.shape[1])]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.rows.shape

    def matrix(self, names: Sequence[str], dtype: str) -> Rows:
        """Return these columns as rows that are read when they are asked for."""
        return PreparedRows(self.rows.select([int(name) for name in names]), dtype)

    def column(self, name: str) -> Any:
        """Return one column as it is."""
        return in_memory(self.rows.select([int(name)])).ravel()


def open_table(path: Path) -> ParquetTable | RowsTable:
    """Open a file without loading it.

    Parameters
    ----------
    path : Path
        A .parquet or .npy file, or the folder of a Zarr array.

    Returns
    -------
    ParquetTable or RowsTable
        Its columns.

    Raises
    ------
    ValueError
        If the file is damaged or holds no matrix.
    polars.exceptions.PolarsError
        If it is no Parquet file.
    """
    if path.suffix.lower() == ".parquet":
        return ParquetTable(path, pl.scan_parquet(path, glob=False))
    return RowsTable(path, open_rows(path))


def in_memory(X: Any, most: float = math.inf) -> Any:
    """A matrix as it is, or loaded if it is on disk and has no more numbers than `most`."""
    return X[:] if isinstance(X, Rows) and math.prod(X.shape) <= most else X


def blocks(X: Any) -> Iterator[tuple[slice, Any]]:
    """Pieces of a matrix that fit into memory, and where they are; the whole if it is there."""
    if isinstance(X, Rows):
        for block in X.blocks():
            try:
                values = X[block]
            except OSError as error:
                raise BadInputError(str(error)) from error
            yield block, values
    else:
        yield slice(0, X.shape[0]), X
