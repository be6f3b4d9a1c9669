"""Rows of a Parquet file, or of any lazy frame of polars."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from kernelmeans._text import shortened
from kernelmeans._typing import Array
from kernelmeans.rows.base import READ_BYTES, Rows, positions


class Frame:
    """A lazy frame as an array; missing values are NaN.

    Parameters
    ----------
    frame : LazyFrame
        Its rows must have a fixed order.
    source : str
        Its name in messages.
    file : Path or None
        The file that the frame reads. Each read first looks whether it has changed, because polars
        panics at shorter files.

    Raises
    ------
    ValueError
        If a column holds anything but numbers and truth values.
    """

    def __init__(self, frame: pl.LazyFrame, source: str, file: Path | None) -> None:
        schema = frame.collect_schema()
        if other := [name for name, kind in schema.items() if not _is_number(kind)]:
            raise ValueError(
                f"{source}: non-numeric columns {', '.join(map(repr, other[:10]))}: leave them "
                "out, or turn them into numbers"
            )
        single = all(kind == pl.Float32 for kind in schema.values())
        height = frame.select(pl.len()).collect().item() if schema else 0
        self.names, self.shape = schema.names(), (height, len(schema))
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self.frame = frame.select(pl.all().cast(pl.Float32 if single else pl.Float64))
        self.file, self._state = file, _state(file)

    def __getitem__(self, rows: slice) -> Array:
        if self._state != _state(self.file):
            raise OSError("it has changed since it was opened")
        try:
            frame = self.frame.slice(rows.start, rows.stop - rows.start).collect()
        except pl.exceptions.PanicException as error:  # not a subclass of Exception
            raise OSError(f"polars says: {shortened(str(error), 200)}") from error
        return frame.to_numpy()


class FrameRows(Rows):
    """Rows of a lazy frame.

    Chunks are large, because Parquet is decoded in pages of some hundred thousand rows.

    Parameters
    ----------
    frame, source, file
        As for `Frame`.
    """

    def __init__(self, frame: pl.LazyFrame, source: str, file: Path | None = None) -> None:
        array = Frame(frame, source, file)
        chunk = READ_BYTES // (max(1, array.shape[1]) * array.dtype.itemsize)
        super().__init__(array, source, array.names, chunk)

    def _select(self, positions: list[int]) -> Rows:
        # The frame then does not decode other columns.
        names = [self.array.names[j] for j in positions]
        frame = self.array.frame.select(map(column_named, names))
        rows = FrameRows(frame, self.source, self.array.file)
        return rows.finite() if self._finite else rows


def column_named(name: str) -> pl.Expr:
    """The column of this name, also where polars would take the name for a pattern."""
    is_pattern = name == "*" or name[:1] + name[-1:] == "^$"
    return pl.col(f"^{re.escape(name)}$" if is_pattern else name)


def read_parquet(path: Path, columns: Sequence[str | int] | None = None) -> FrameRows:
    """Open a Parquet file.

    Parameters
    ----------
    path : Path
        The file.
    columns : sequence of str or int, default=None
        The columns to read; all when None.

    Returns
    -------
    FrameRows
        Its rows.

    Raises
    ------
    ValueError
        If it is no Parquet file, or a column is unknown or holds no numbers.
    """
    try:
        frame = pl.scan_parquet(path, glob=False)
        names = frame.collect_schema().names()
        if columns is not None:
            found = positions(str(path), columns, len(names), names)
            frame = frame.select(column_named(names[j]) for j in found)
        return FrameRows(frame, str(path), path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise ValueError(f"{path}: cannot be read as PARQUET ({error}): write it again") from error


def _state(file: Path | None) -> tuple[int, ...] | None:
    """Which file it is, its size and the time of the last write, which clocks may repeat."""
    if file is None:
        return None
    found = file.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _is_number(kind: pl.DataType) -> bool:
    return kind.is_numeric() or kind in (pl.Boolean, pl.Null)
