"""Reading CSV, TSV, Parquet, NPY, NPZ and Zarr files into tables of named columns."""

import csv
import math
import warnings
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl
import scipy.sparse

from kernelmeans.cli.disk import RowsTable, open_table
from kernelmeans.cli.errors import BadInputError

# Suffixes of tables that are loaded, and of those that can be read block by block as well.
_LOADED = (".csv", ".tsv", ".npz")
_ON_DISK = (".parquet", ".npy", ".zarr")

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
        example = next(v for v in self.frame[text[0]] if v is not None and _is_text(v))
        columns = f"column{'s' if len(text) > 1 else ''} {listed(text)}"
        message = f"{self.source}: non-numeric {columns} (for example {str(example)!r})"
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


def read_table(path: Path, *, header: bool = True, most: float = math.inf) -> Table:
    """Read a file; what it is follows from its suffix.

    Parameters
    ----------
    path : Path
        A file with the suffix .csv, .tsv, .parquet, .npy or .npz, or a folder .zarr.
    header : bool
        Whether the first line of a CSV or TSV file holds the names of the columns.
    most : float
        Numbers that may be loaded. Larger Parquet, NPY and Zarr tables stay on disk.

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
        table = _loaded(path, header, most) if suffix in _LOADED else _opened(path, most)
    except (pl.exceptions.PolarsError, OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        known = reason.startswith(f"{path}: ")
        prefix = "" if known else f"{path}: cannot be read as {suffix[1:].upper()}: "
        raise BadInputError(prefix + reason) from error
    rows, columns = table.shape
    if not rows or not columns:
        raise BadInputError(f"{path}: holds {rows} rows and {columns} columns; nothing to cluster")
    return table


def _opened(path: Path, most: float) -> Table:
    """Open a table, and load it unless it is too large."""
    table = open_table(path)
    if math.prod(table.shape) > most:
        return table
    if isinstance(table, RowsTable):
        return ArrayTable(path, table.rows[:])
    return FrameTable(path, pl.read_parquet(path))


def _loaded(path: Path, header: bool, most: float) -> Table:
    """Load a table of a kind that cannot be read in parts."""
    if path.stat().st_size > 8 * most:
        warnings.warn(
            f"{path} is large and is loaded as a whole; {', '.join(_ON_DISK)} are read block by "
            "block",
            stacklevel=2,
        )
    if path.suffix.lower() == ".npz":
        return ArrayTable(path, _read_array(path))
    return FrameTable(path, _read_text(path, header), named=header)


def listed(names: Sequence[str], most: int = 10) -> str:
    """Return the first names, quoted, and how many more there are."""
    text = ", ".join(map(repr, names[:most]))
    return text if len(names) <= most else f"{text} and {len(names) - most} more"


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
    while frame.height and all(value is None for value in frame.row(-1)):
        frame = frame[:-1]  # blank lines at the end
    # polars fills short lines up with missing values, which then stand in the last column.
    if frame.width and frame[:, -1].null_count():
        _refuse_ragged(path, separator)
    frame = frame.rename(str.strip)
    if header:
        _warn_of_numbers(frame.columns)
    return frame


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
    if path.suffix.lower() == ".tsv":
        return "\t"
    with path.open(errors="replace") as file:
        first = file.readline()
    return ";" if ";" in first and "," not in first else ","


def _refuse_ragged(path: Path, separator: str) -> None:
    """Raise if a line has more or fewer values than the first."""
    with path.open(newline="", errors="replace") as file:
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
    trimmed = column.str.strip_chars()
    numbers = trimmed.cast(pl.Float64, strict=False)
    given = ~trimmed.str.to_lowercase().is_in(_MISSING)
    return None if (numbers.is_null() & given).any() else numbers


def _is_text(value: Any) -> bool:
    """Say whether `value` is what makes its column non-numeric."""
    return _as_numbers(pl.Series([value])) is None


def _read_array(path: Path) -> Any:
    """Read the one matrix of an NPZ file, as an array or in CSR format."""
    with path.open("rb") as file:
        stored = np.load(file, allow_pickle=False)
        if isinstance(stored, np.lib.npyio.NpzFile):
            if "format" in stored and "shape" in stored:
                return scipy.sparse.load_npz(path).tocsr()
            stored = _matrix_of(path, {name: stored[name] for name in stored.files})
    if stored.ndim != 2:
        raise BadInputError(f"{path}: the array has shape {stored.shape}; rows x columns is needed")
    if stored.dtype.kind not in "fiub":
        raise BadInputError(f"{path}: the array holds {stored.dtype} values, not real numbers")
    return stored


def _matrix_of(path: Path, arrays: dict[str, Any]) -> Any:
    if "X" in arrays:
        return arrays["X"]
    matrices = [array for array in arrays.values() if array.ndim == 2]
    if len(matrices) != 1:
        raise BadInputError(
            f"{path}: holds the arrays {listed(list(arrays))}; "
            "a single matrix, or one named 'X', is needed"
        )
    return matrices[0]
