"""Reading CSV, TSV, Parquet, NPY, NPZ and Zarr files into tables of named columns."""

import csv
import math
import warnings
import zipfile
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl
import scipy.sparse

from kernelmeans._text import listed, shortened
from kernelmeans.cli.archive import refuse_beyond
from kernelmeans.cli.disk import RowsTable, open_table
from kernelmeans.cli.errors import BadInputError
from kernelmeans.cli.npz import read_npz, refuse_large

# Suffixes of tables that are loaded, and of those that can be read block by block as well.
_LOADED = (".csv", ".tsv", ".npz")
_ON_DISK = (".parquet", ".npy", ".zarr")

# Damaged files make polars panic, which is no Exception.
_UNREADABLE = (
    pl.exceptions.PolarsError,
    pl.exceptions.PanicException,
    EOFError,
    OSError,
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
)

# What people write into a cell that has no value, in lower case.
_MISSING = ("", "na", "n/a", "nan", "null", "none", "?", "-")


class Table(Protocol):
    """A file's columns: by name, or by position (as text) where the file has no names."""

    @property
    def source(self) -> Path:
        """The file."""

    @property
    def names(self) -> list[str]:
        """The names of the columns, in the file's order."""

    @property
    def named(self) -> bool:
        """Whether the file itself names its columns."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    def matrix(self, names: Sequence[str], dtype: str) -> Any:
        """Return these columns as numbers, NaN where a value is missing; as `Rows` if on disk."""

    def column(self, name: str) -> Any:
        """Return one column as it is."""


@dataclass(frozen=True)
class FrameTable:
    """The columns of a CSV, TSV or Parquet file."""

    source: Path
    frame: pl.DataFrame
    named: bool = True

    @property
    def names(self) -> list[str]:
        """The names of the columns, in the file's order."""
        return self.frame.columns

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.frame.shape

    def matrix(self, names: Sequence[str], dtype: str) -> Any:
        """Return these columns as numbers, NaN where a value is missing."""
        X = np.empty((self.frame.height, len(names)), dtype=dtype)
        text = []
        for j, name in enumerate(names):
            numbers = _as_numbers(self.frame[name])
            if numbers is None:
                text.append(name)
            else:
                with np.errstate(over="ignore"):  # infinite in float32, and then refused as such
                    X[:, j] = numbers.to_numpy()
        if text:
            raise BadInputError(self._non_numeric(text, alternative=len(text) < len(names)))
        return X

    def column(self, name: str) -> Any:
        """Return one column as it is."""
        return self.frame[name].to_numpy()

    def _non_numeric(self, text: list[str], *, alternative: bool) -> str:
        example = shortened(_example_of_text(self.frame[text[0]]), 60)
        columns = f"column{'s' if len(text) > 1 else ''} {listed(text)}"
        message = f"{self.source}: non-numeric {columns} (for example {example!r})"
        if not alternative:
            return f"{message}: clustering needs numbers, and no other column is left"
        return (
            f"{message}: leave out with --drop {','.join(text)!r}, or name the columns to use "
            "with --columns; a column of known classes goes into --label-column"
        )


@dataclass(frozen=True)
class ArrayTable:
    """The columns of an NPY, NPZ or Zarr file, dense or sparse; their names are their indices."""

    source: Path
    array: Any
    named: bool = False

    @property
    def names(self) -> list[str]:
        """The indices of the columns, as text."""
        return [str(j) for j in range(self.array.shape[1])]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self.array.shape
        return rows, columns

    def matrix(self, names: Sequence[str], dtype: str) -> Any:
        """Return these columns as numbers."""
        chosen = [int(name) for name in names]
        everything = chosen == list(range(self.array.shape[1]))
        part = self.array if everything else self.array[:, chosen]
        with np.errstate(over="ignore"):
            return part.astype(dtype, copy=False)

    def column(self, name: str) -> Any:
        """Return one column as it is."""
        column = self.array[:, [int(name)]]
        return (column.toarray() if scipy.sparse.issparse(column) else column).ravel()


def read_table(
    path: Path, *, header: bool = True, most: float = math.inf, budget: float = math.inf
) -> Table:
    """Read a file; what it is follows from its suffix.

    Parameters
    ----------
    path : Path
        A file with the suffix .csv, .tsv, .parquet, .npy or .npz, or a folder .zarr.
    header : bool
        Whether the first line of a CSV or TSV file holds the names of the columns.
    most : float
        Numbers that may be loaded. Larger Parquet, NPY and Zarr tables stay on disk.
    budget : float
        Bytes that a table may take that is loaded, whatever `most`, or that archives unpack to.

    Returns
    -------
    FrameTable, ArrayTable, ParquetTable or RowsTable
        At least one row and one column.
    """
    suffix = path.suffix.lower()
    if path.is_dir() and suffix != ".zarr":
        raise BadInputError(f"{path}: is a directory; of those only .zarr is read")
    if suffix not in (*_LOADED, *_ON_DISK):
        suffixes = ", ".join(_LOADED + _ON_DISK)
        raise BadInputError(f"{path}: unknown suffix {suffix!r}; {suffixes} are read")
    try:
        if suffix in _LOADED:
            table = _loaded(path, header, most, budget)
        else:
            table = _opened(path, most, budget)
    except _UNREADABLE as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        known = reason.startswith(f"{path}: ")
        prefix = "" if known else f"{path}: cannot be read as {suffix[1:].upper()}: "
        raise BadInputError(prefix + reason) from error
    rows, columns = table.shape
    if not rows or not columns:
        raise BadInputError(f"{path}: holds {rows} rows and {columns} columns; nothing to cluster")
    return table


def _opened(path: Path, most: float, budget: float) -> Table:
    """Open a table, and load it unless it is too large."""
    table = open_table(path)
    refuse_large(path, table.shape, budget)
    if math.prod(table.shape) > most:
        return table
    refuse_beyond(path, 8 * math.prod(table.shape), budget)
    if isinstance(table, RowsTable):
        return ArrayTable(path, table.rows[:])
    return FrameTable(path, pl.read_parquet(path))


def _loaded(path: Path, header: bool, most: float, budget: float) -> Table:
    """Load a table of a kind that cannot be read in parts."""
    if path.stat().st_size > 8 * most:
        warnings.warn(
            f"{path} is large and is loaded as a whole; {', '.join(_ON_DISK)} are read block by "
            "block",
            stacklevel=2,
        )
    if path.suffix.lower() == ".npz":
        return ArrayTable(path, read_npz(path, budget))
    return FrameTable(path, _read_text(path, header), named=header)


def _read_text(path: Path, header: bool) -> pl.DataFrame:
    separator = _separator(path)
    try:
        frame = pl.read_csv(
            path, separator=separator, has_header=header, infer_schema_length=None, glob=False
        )
    except pl.exceptions.NoDataError as error:
        raise BadInputError(f"{path}: the file is empty") from error
    except pl.exceptions.PolarsError:
        _refuse_ragged(path, separator)
        raise
    frame = _without_blank_end(frame)
    # polars fills short lines up with missing values, which then stand in the last column.
    if frame.width and frame[:, -1].null_count():
        _refuse_ragged(path, separator)
    frame = frame.rename(str.strip)
    if header:
        _warn_of_numbers(frame.columns)
    return frame


def _without_blank_end(frame: pl.DataFrame) -> pl.DataFrame:
    """Leave out blank lines at the end."""
    if not frame.height or any(value is not None for value in frame.row(-1)):
        return frame
    filled = frame.select(pl.any_horizontal(pl.all().is_not_null())).to_series().arg_true()
    return frame.head(filled[-1] + 1 if len(filled) else 0)


def _warn_of_numbers(names: Sequence[str]) -> None:
    """Say so when the line taken for the names may be the first row of data."""
    counts = [[str(start + j) for j in range(len(names))] for start in (0, 1)]
    numbers = _as_numbers(pl.Series(names, dtype=pl.String))
    if numbers is not None and numbers.is_not_null().all() and list(names) not in counts:
        warnings.warn(
            f"the first line holds only numbers ({listed(names, most=3)}) and is taken for the "
            "names of the columns; if it is data, add --no-header",
            stacklevel=2,
        )


def _separator(path: Path) -> str:
    try:
        with path.open("rb") as file:
            first = file.readline().decode()
    except UnicodeDecodeError as error:
        raise BadInputError(
            f"{path}: its first line is no text in UTF-8 ({error.reason}): save it as UTF-8, "
            "unpacked"
        ) from error
    if path.suffix.lower() == ".tsv":
        return "\t"
    return ";" if ";" in first and "," not in first else ","


def _refuse_ragged(path: Path, separator: str) -> None:
    """Raise if a line has more or fewer values than the first."""
    # The reader of lines takes no fields as long as those that polars takes.
    with path.open(newline="", errors="replace") as file, suppress(csv.Error):
        reader = csv.reader(file, delimiter=separator)
        width = len(next(reader, []))
        for line in reader:
            if line and len(line) != width:
                raise BadInputError(
                    f"{path}: line {reader.line_num} has {len(line)} values, "
                    f"but the first line has {width}"
                )


def _as_numbers(column: pl.Series) -> pl.Series | None:
    """Return a column as floats, None if it holds something that is not a number."""
    if column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null):
        return column.cast(pl.Float64)
    if column.dtype != pl.String:
        return None
    numbers, is_text = _parsed(column)
    return None if is_text.any() else numbers


def _parsed(column: pl.Series) -> tuple[pl.Series, pl.Series]:
    """The numbers in a column of text, and where it has something else."""
    trimmed = column.str.strip_chars()
    numbers = trimmed.cast(pl.Float64, strict=False)
    return numbers, numbers.is_null() & ~trimmed.str.to_lowercase().is_in(_MISSING)


def _example_of_text(column: pl.Series) -> str:
    """The first value that makes its column non-numeric."""
    found = column.filter(_parsed(column)[1] if column.dtype == pl.String else column.is_not_null())
    return str(found[0])
