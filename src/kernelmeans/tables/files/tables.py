"""Tables: files of named columns, loaded or left on disk."""

import math
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import scipy.sparse

from kernelmeans._dialect import first_row, row_name
from kernelmeans._errors import InputError
from kernelmeans._memory import cached_property
from kernelmeans._text import listed, shortened
from kernelmeans._warnings import warn_user
from kernelmeans.rows import Rows, open_rows
from kernelmeans.rows.parquet import column_named
from kernelmeans.tables.files.archives import check_shape, read_npz
from kernelmeans.tables.files.encodings import read_content, to_utf8
from kernelmeans.tables.files.headings import tidied, without_words
from kernelmeans.tables.files.plain import with_types
from kernelmeans.tables.files.settings import DASH, Reading, shown
from kernelmeans.tables.files.suffixes import ANY_TEXT, ON_DISK, known_suffix
from kernelmeans.tables.files.text import read_text
from kernelmeans.tables.frames import Table, as_array
from kernelmeans.tables.kinds import marks_of
from kernelmeans.tables.spellings import Marks, all_numbers
from kernelmeans.tables.values import Texts

#: Rows of an array that become a data frame at a time, because several copies of them are made.
COPIED_ROWS = 2**14
#: Fraction of the memory budget that a loaded table may take; larger ones stay on disk.
LOADED_FRACTION = 0.25
# Damaged files make polars panic, which is no Exception.
_POLARS_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
_UNREADABLE = (*_POLARS_ERRORS, EOFError, OSError, ValueError, zipfile.BadZipFile, zlib.error)


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
class _File:
    """A file, how the next such file is to be read, and the lines that hold its rows."""

    source: Path
    _: KW_ONLY
    budget: float = math.inf
    reading: Reading = field(default_factory=Reading)
    lines: Sequence[int] | None = None

    def row(self, number: int) -> str:
        """What to call a row in messages."""
        return row_name(number, self.lines)

    @property
    def first_row(self) -> str:
        """What to add to messages that number rows."""
        return first_row(self.lines)


@dataclass(frozen=True)
class FrameTable(_File):
    """The columns of a text, a workbook or a Parquet file, by name."""

    frame: pl.LazyFrame
    named: bool = True
    #: The decimal mark of numbers that may have either, if nothing else tells it.
    guess: str = "."

    #: Columns of labels, weights and identifiers that are no features.
    annotations: ClassVar[Mapping[str, Any]] = {}
    #: The column that names the rows, if the file says which.
    row_names: ClassVar[None] = None

    @cached_property
    def names(self) -> list[str]:
        """The names of the columns, in the file's order."""
        return self.frame.collect_schema().names()

    @property
    def categories(self) -> list[str]:
        """The columns that are categories by their type."""
        types = self.frame.collect_schema().items()
        return [name for name, dtype in types if dtype in (pl.Categorical, pl.Enum)]

    @property
    def nested(self) -> list[str]:
        """The columns of lists, arrays and structs."""
        types = self.frame.collect_schema().items()
        return [name for name, dtype in types if dtype.is_nested()]

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
            if self.reading.missing_values:
                raise InputError(
                    f"{self.source}: stays on disk, where --missing-values is not looked at: "
                    "allow more with --memory-budget"
                )
            try:
                rows = PreparedRows(open_rows(self.source, names), dtype)
            except ValueError as error:
                raise InputError(f"{error} (--drop and --columns choose columns)") from error
            rows.names = None  # the model file has them; arrays in memory have none either
            return rows
        frame = self.collected(names)
        X, examples = np.empty(frame.shape, dtype=dtype), dict[str, str]()
        marks = marks_of(Table(frame), names, self.marks())
        for place, column in enumerate(frame):
            numbers, other = _wanted_numbers(column, marks)
            if other is not None:
                examples[column.name] = other
            else:
                # Infinite in float32, and then refused as such; or a signaling NaN.
                with np.errstate(over="ignore", invalid="ignore"):
                    X[:, place] = numbers.to_numpy()
        if examples:
            raise InputError(self._non_numeric(examples, len(names)))
        return X

    def whole(self, names: Sequence[str], dtype: str) -> Any:
        """Return these columns as they are, or None if they stay on disk."""
        return None if self.stays_on_disk(names, dtype) else self.collected(names)

    def column(self, name: str) -> Any:
        """Return one column as it is."""
        return as_array(self.series(name))

    def series(self, name: str) -> pl.Series:
        """Return one column as it is, as polars has it."""
        return self.collected([name])[name]

    def renamed(self, names: Mapping[str, str], dtype: str, most: int) -> Iterator[pl.DataFrame]:
        """Yield blocks of at most so many rows of some columns, under other names."""
        columns = [column_named(name).alias(new) for name, new in names.items()]
        for start in range(0, self.shape[0], most):
            yield self.frame.select(columns).slice(start, most).collect()

    def collected(self, names: Sequence[str]) -> pl.DataFrame:
        """Return these columns as they are."""
        try:
            return self.frame.select(map(column_named, names)).collect()
        except _POLARS_ERRORS as error:
            raise InputError(
                f"{self.source}: column{'s' * (len(names) > 1)} {listed(names)} cannot be read: "
                f"{error}"
            ) from error

    def marks(self) -> Marks:
        """Return the marks of numbers that are known."""
        return self.reading.marks()._replace(guess=self.guess)

    def _non_numeric(self, examples: Mapping[str, str], n_columns: int) -> str:
        names, (example, *_) = list(examples), examples.values()
        several, has_digits = len(names) > 1, any(map(str.isdigit, example))
        marks = "; --decimal and --thousands say how numbers are written" * has_digits
        message = (
            f"{self.source}: non-numeric column{'s' * several} {listed(names)} "
            f"(for example {shortened(example, 60)!r}){marks}: "
        )
        if len(names) == n_columns:
            return f"{message}clustering needs numbers, and no other column is left"
        return (
            f"{message}leave {'them' if several else 'it'} out with --drop {','.join(names)!r}, or "
            "name the columns to use with --columns; a column of known classes goes into "
            "--label-column"
        )


@dataclass(frozen=True)
class ArrayTable(_File):
    """The columns of an array, whose names are their indices unless it has names.

    Parameters
    ----------
    source : Path
        The file.
    array : ndarray, CSR matrix or Rows of shape (n_rows, n_columns)
        The numbers.
    columns : list of str or None, default=None
        The names of the columns.
    annotations : mapping of str to ndarray of shape (n_rows,)
        Columns of labels, weights and identifiers, which are no features.
    categories : sequence of str, default=()
        The columns that are categories by their type.
    row_names : str or None, default=None
        The annotation that names the rows.
    budget : float, default=inf
        Bytes that may be taken.
    reading : Reading
        How the next such file is to be read.
    """

    array: Any
    columns: Sequence[str] | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict)
    categories: Sequence[str] = ()
    row_names: str | None = None

    #: Columns of lists and structs, which such files do not have.
    nested: ClassVar[Sequence[str]] = ()

    @property
    def named(self) -> bool:
        """Whether the columns have names."""
        return self.columns is not None

    @property
    def names(self) -> list[str]:
        """The names of the columns, or their indices as text."""
        return list(self.columns or map(str, range(self.array.shape[1])))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self.array.shape
        return rows, columns

    def matrix(self, names: Sequence[str], dtype: str) -> Any:
        """Return these columns as numbers; those of large files on disk stay there."""
        if names[0] in self.annotations:
            try:
                return self.annotations[names[0]].astype(dtype)[:, None]
            except (TypeError, ValueError) as error:
                raise InputError(f"{self.source}: {names[0]!r} is not numeric ({error})") from error
        chosen = [self._places[name] for name in names]
        if isinstance(self.array, Rows):
            rows = PreparedRows(self.array.select(chosen), dtype)
            return rows if rows.nbytes > LOADED_FRACTION * self.budget else loaded(rows)
        everything = chosen == list(range(self.array.shape[1]))
        part = self.array if everything else self.array[:, chosen]
        with np.errstate(over="ignore", invalid="ignore"):
            return part.astype(dtype, copy=False)

    def column(self, name: str) -> Any:
        """Return one column as it is."""
        if name in self.annotations:
            return self.annotations[name]
        return flat(self.matrix([name], "float64"))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    def series(self, name: str) -> pl.Series:
        """Return one column as it is, as polars has it."""
        values = self.column(name)
        # polars does not look into an array of objects whose first value is missing.
        return pl.Series(name, values.tolist() if values.dtype.hasobject else values, strict=False)

    def renamed(self, names: Mapping[str, str], dtype: str, most: int) -> Iterator[pl.DataFrame]:
        """Yield blocks of some columns as numbers, under other names."""
        most = min(most, COPIED_ROWS)
        for _, X in blocks(self.matrix(list(names), dtype)):
            for start in range(0, X.shape[0], most):
                rows = X[start : start + most]
                dense = rows.toarray() if scipy.sparse.issparse(rows) else rows
                yield pl.DataFrame(dense, schema=list(names.values()), orient="row")

    def whole(self, names: Sequence[str], dtype: str) -> Any:
        """Return these columns as they are, or None if they are sparse or stay on disk."""
        X = self.matrix(names, dtype)
        if isinstance(X, Rows) or scipy.sparse.issparse(X):
            return None
        if not self.named and names == self.names:
            return X
        # Without orient, polars takes a square array in Fortran's order for its transpose.
        return pl.DataFrame(X, schema=names, orient="row")


FileTable = FrameTable | ArrayTable


def _wanted_numbers(column: pl.Series, marks: Marks) -> tuple[pl.Series, str | None]:
    """The numbers of a column that should hold nothing else, and the first other value."""
    if column.dtype.is_temporal() or column.dtype.is_nested():
        return column, next(iter(map(str, column.drop_nulls())), None)
    if column.dtype != pl.String:
        return column.cast(pl.Float64), None
    texts = Texts(as_array(column))
    numbers = all_numbers(texts.counts, marks)
    other = next((text for text in texts.counts if text not in numbers), None)
    return pl.Series(texts.map(lambda text: numbers.get(text, np.inf))), other


def open_file(
    path: Path,
    reading: Reading | None = None,
    *,
    budget: float = math.inf,
    verbatim: str | None = None,
) -> FileTable:
    """Open a file; what it is follows from its suffix.

    Parameters
    ----------
    path : Path
        A file with the suffix .csv, .tsv, .tab, .txt, .data or .dat, packed (.gz, .zip) or not,
        .xlsx, .h5ad, .parquet, .npy or .npz, or a folder .zarr; ``-`` is text from standard input.
    reading : Reading, default=None
        How to read it, where that cannot be told or guessed.
    budget : float
        Bytes that may be taken. Archives that unpack to more are refused. Of tables on disk,
        columns that would take more than a quarter stay there.
    verbatim : str or None, default=None
        A column of text that is not read as numbers: that of ``--id-column``.

    Returns
    -------
    FrameTable or ArrayTable
        At least one row and one column.
    """
    source, suffix = shown(path), known_suffix(path)
    try:
        table = _open_table(path, suffix, reading or Reading(), budget, verbatim)
        rows, columns = table.shape
    except _UNREADABLE as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        known = reason.startswith(f"{source}: ")
        prefix = "" if known else f"{source}: cannot be read as {suffix[1:].upper()}: "
        raise InputError(prefix + reason) from error
    if not rows or not columns:
        raise InputError(f"{source}: holds {rows} rows and {columns} columns; nothing to cluster")
    check_shape(source, table.shape, budget)
    return table


def _open_table(
    path: Path, suffix: str, reading: Reading, budget: float, verbatim: str | None
) -> FileTable:
    if suffix not in ON_DISK and path != DASH and path.stat().st_size > LOADED_FRACTION * budget:
        warn_user(
            f"{path} is large and is loaded as a whole; {', '.join(ON_DISK)} are read block by "
            "block"
        )
    if suffix == ".parquet":
        scan = without_words(pl.scan_parquet(path, glob=False), reading.words())
        told = Reading(missing_values=reading.missing_values)
        return FrameTable(path, scan, budget=budget, reading=told)
    if suffix == ".xlsx":
        from kernelmeans.tables.files.workbooks import read_workbook

        frame, names, lines = read_workbook(path, reading, budget)
        return _frame_table(path, frame, names, reading, lines, verbatim)
    if suffix == ".h5ad":
        from kernelmeans.tables.files.annotated import read_annotated

        found = read_annotated(path, reading.take, budget)
        return ArrayTable(path, *found, budget=budget, reading=reading)
    if suffix in ANY_TEXT:
        source = shown(path)
        # No name keeps the text in memory, which the columns do not need.
        frame, layout = read_text(
            source, to_utf8(source, read_content(path, budget), reading.encoding), reading, verbatim
        )
        # Files with semicolons come from where a comma is the decimal mark.
        guess = "," if layout.separator == ";" else "."
        return _frame_table(source, frame, layout.names, reading, layout.lines, verbatim, guess)
    array = read_npz(path, budget) if suffix == ".npz" else open_rows(path)
    return ArrayTable(path, array, budget=budget)


def _frame_table(
    source: Path,
    frame: pl.DataFrame,
    names: Sequence[str],
    reading: Reading,
    lines: Sequence[int] | None,
    verbatim: str | None,
    guess: str = ".",
) -> FrameTable:
    """The table of a frame whose columns have these names in the file."""
    frame = without_words(tidied(frame, names), reading.words())
    written = Counter(filter(None, map(str.strip, names)))
    if reading.header and (named := [name for name in frame.columns if name not in written]):
        doubt = "; if the names are data, add --no-header" * (max(written.values(), default=0) > 1)
        warn_user(
            f"{source}: columns without a name, or with that of another, are called "
            f"{listed(named)}{doubt}"
        )
    frame = with_types(frame, verbatim)
    return FrameTable(
        source, frame.lazy(), reading.header, reading=reading, lines=lines, guess=guess
    )


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
        raise InputError(str(error)) from error


def flat(X: Any) -> Any:
    """The numbers of a matrix of one column, in memory."""
    X = loaded(X) if isinstance(X, Rows) else X
    return (X.toarray() if scipy.sparse.issparse(X) else X).ravel()
