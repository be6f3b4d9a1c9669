"""Tables: files of named columns, loaded or left on disk."""

import csv
import math
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse

from kernelmeans._text import listed, shortened
from kernelmeans.cli.archives import check_shape, read_npz
from kernelmeans.cli.errors import BadInputError
from kernelmeans.rows import Rows, open_rows

#: Fraction of the memory budget that a loaded table may take; larger ones stay on disk.
LOADED_FRACTION = 0.25
_ON_DISK = (".parquet", ".npy", ".zarr")
_SUFFIXES = (".csv", ".tsv", ".npz", *_ON_DISK)
# Damaged files make polars panic, which is no Exception.
_POLARS_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
_UNREADABLE = (*_POLARS_ERRORS, EOFError, OSError, ValueError, zipfile.BadZipFile, zlib.error)
# Text in cells that have no value, in lower case.
_MISSING = ("", "na", "n/a", "nan", "null", "none", "?", "-")


class PreparedRows(Rows):
    """Other rows in some precision, after a function that may change them in place.

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
class FrameTable:
    """The columns of a CSV, TSV or Parquet file, by name."""

    source: Path
    frame: pl.LazyFrame
    named: bool = True
    budget: float = math.inf

    @cached_property
    def names(self) -> list[str]:
        """The names of the columns, in the file's order."""
        return self.frame.collect_schema().names()

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.frame.select(pl.len()).collect().item(), len(self.names)

    def stays_on_disk(self, names: Sequence[str], dtype: str) -> bool:
        """Whether these columns are too large to be loaded, and can be read block by block."""
        size = self.shape[0] * len(names) * np.dtype(dtype).itemsize
        return self.source.suffix.lower() == ".parquet" and size > LOADED_FRACTION * self.budget

    def matrix(self, names: Sequence[str], dtype: str) -> Any:
        """Return these columns as numbers, NaN where a value is missing.

        Parameters
        ----------
        names : sequence of str
            The columns.
        dtype : str
            The precision.

        Returns
        -------
        ndarray or Rows of shape (n_rows, n_names)
            The numbers; those of large Parquet files stay on disk.
        """
        if self.stays_on_disk(names, dtype):
            try:
                rows = PreparedRows(open_rows(self.source, names), dtype)
            except ValueError as error:
                raise BadInputError(f"{error} (--drop and --columns choose columns)") from error
            rows.names = None  # the model file has them; arrays in memory have none either
            return rows
        frame = self.collected(names)
        X = np.empty(frame.shape, dtype=dtype)
        text = []
        for j, column in enumerate(frame):
            numbers = _as_numbers(column)
            if numbers is None:
                text.append(column)
            else:
                with np.errstate(over="ignore"):  # infinite in float32, and then refused as such
                    X[:, j] = numbers.to_numpy()
        if text:
            raise BadInputError(self._non_numeric(text, alternative=len(text) < len(names)))
        return X

    def column(self, name: str) -> Any:
        """Return one column as it is."""
        return self.collected([name])[name].to_numpy()

    def collected(self, names: Sequence[str]) -> pl.DataFrame:
        """Return these columns as they are."""
        try:
            return self.frame.select(names).collect()
        except _POLARS_ERRORS as error:
            raise BadInputError(
                f"{self.source}: column{'s' * (len(names) > 1)} {listed(names)} cannot be read: "
                f"{error}"
            ) from error

    def _non_numeric(self, columns: list[pl.Series], *, alternative: bool) -> str:
        names = [column.name for column in columns]
        example = shortened(_example_of_text(columns[0]), 60)
        message = (
            f"{self.source}: non-numeric column{'s' * (len(names) > 1)} {listed(names)} "
            f"(for example {example!r})"
        )
        if not alternative:
            return f"{message}: clustering needs numbers, and no other column is left"
        return (
            f"{message}: leave {'them' if len(names) > 1 else 'it'} out with --drop "
            f"{','.join(names)!r}, or name the columns to use with --columns; a column of known "
            "classes goes into --label-column"
        )


@dataclass(frozen=True)
class ArrayTable:
    """The columns of an NPY, NPZ or Zarr file, whose names are their indices."""

    source: Path
    array: Any
    named: bool = False
    budget: float = math.inf

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
        """Return these columns as numbers; those of large files on disk stay there."""
        chosen = [int(name) for name in names]
        if isinstance(self.array, Rows):
            rows = PreparedRows(self.array.select(chosen), dtype)
            return rows if rows.nbytes > LOADED_FRACTION * self.budget else loaded(rows)
        everything = chosen == list(range(self.array.shape[1]))
        part = self.array if everything else self.array[:, chosen]
        with np.errstate(over="ignore"):
            return part.astype(dtype, copy=False)

    def column(self, name: str) -> Any:
        """Return one column as it is."""
        return flat(self.matrix([name], "float64"))


Table = FrameTable | ArrayTable


def read_table(path: Path, *, header: bool = True, budget: float = math.inf) -> Table:
    """Open a file; what it is follows from its suffix.

    Parameters
    ----------
    path : Path
        A file with the suffix .csv, .tsv, .parquet, .npy or .npz, or a folder .zarr.
    header : bool
        Whether the first line of a CSV or TSV file holds the names of the columns.
    budget : float
        Bytes that may be taken. Archives that unpack to more are refused. Of tables on disk,
        columns that would take more than a quarter stay there.

    Returns
    -------
    FrameTable or ArrayTable
        At least one row and one column.
    """
    suffix = path.suffix.lower()
    if path.is_dir() and suffix != ".zarr":
        raise BadInputError(f"{path}: is a directory; only .zarr directories are read")
    if suffix not in _SUFFIXES:
        raise BadInputError(f"{path}: unknown suffix {suffix!r}; {', '.join(_SUFFIXES)} are read")
    try:
        table = _open_table(path, suffix, header, budget)
        rows, columns = table.shape
    except _UNREADABLE as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        known = reason.startswith(f"{path}: ")
        prefix = "" if known else f"{path}: cannot be read as {suffix[1:].upper()}: "
        raise BadInputError(prefix + reason) from error
    if not rows or not columns:
        raise BadInputError(f"{path}: holds {rows} rows and {columns} columns; nothing to cluster")
    check_shape(path, table.shape, budget)
    return table


def _open_table(path: Path, suffix: str, header: bool, budget: float) -> Table:
    if suffix not in _ON_DISK and path.stat().st_size > LOADED_FRACTION * budget:
        warnings.warn(
            f"{path} is large and is loaded as a whole; {', '.join(_ON_DISK)} are read block by "
            "block",
            stacklevel=2,
        )
    if suffix == ".parquet":
        return FrameTable(path, pl.scan_parquet(path, glob=False), budget=budget)
    if suffix in (".csv", ".tsv"):
        return FrameTable(path, _read_text(path, header).lazy(), named=header)
    array = read_npz(path, budget) if suffix == ".npz" else open_rows(path)
    return ArrayTable(path, array, budget=budget)


def blocks(X: Any) -> Iterator[tuple[slice, Any]]:
    """Blocks of a matrix that fit into memory, and their places; one block if it is in memory."""
    if not isinstance(X, Rows):
        yield slice(0, X.shape[0]), X
        return
    for block in X.blocks():
        yield block, loaded(X, block)


def loaded(rows: Rows, block: slice = slice(None)) -> Any:
    """Read rows into memory, all of them or a block."""
    try:
        return rows[block]
    except OSError as error:
        raise BadInputError(str(error)) from error


def flat(X: Any) -> Any:
    """The numbers of a matrix of one column, in memory."""
    X = loaded(X) if isinstance(X, Rows) else X
    return (X.toarray() if scipy.sparse.issparse(X) else X).ravel()


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
    """Warn if the line taken for the names may be the first row of data."""
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
    # The reader of lines refuses long fields that polars accepts.
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
    """Return a column as floats, None if it holds anything that is not a number."""
    if column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null):
        return column.cast(pl.Float64)
    if column.dtype != pl.String:
        return None
    numbers, is_text = _parse_numbers(column)
    return None if is_text.any() else numbers


def _parse_numbers(column: pl.Series) -> tuple[pl.Series, pl.Series]:
    """The numbers in a column of text, and the places of other text."""
    trimmed = column.str.strip_chars()
    numbers = trimmed.cast(pl.Float64, strict=False)
    return numbers, numbers.is_null() & ~trimmed.str.to_lowercase().is_in(_MISSING)


def _example_of_text(column: pl.Series) -> str:
    """The first value that makes its column non-numeric."""
    is_text = _parse_numbers(column)[1] if column.dtype == pl.String else column.is_not_null()
    return str(column.filter(is_text)[0])
