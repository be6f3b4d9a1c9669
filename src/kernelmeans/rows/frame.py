"""Rows of a Parquet file, or of any lazy frame of polars."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from kernelmeans._text import shortened
from kernelmeans._typing import Array
from kernelmeans.rows.base import READ_BYTES, Rows, positions
from kernelmeans.rows.decoded import DecodedRows


class FrameRows(DecodedRows):
    """Rows of a lazy frame; missing values are NaN.

    Pages of a Parquet file are decoded as a whole, and hold some hundred thousand rows of a
    column. So rows are read many at a time, whatever the blocks.

    Parameters
    ----------
    frame : LazyFrame
        Its rows must have a fixed order.
    source : str
        What messages call it.
    file : Path, default=None
        What the frame reads; it is looked at before each block, for polars panics at less.

    Raises
    ------
    ValueError
        If a column holds something else than numbers and truth values.
    """

    def __init__(self, frame: pl.LazyFrame, source: str, file: Path | None = None) -> None:
        schema = frame.collect_schema()
        if other := [name for name, kind in schema.items() if not _is_number(kind)]:
            raise ValueError(
                f"{source}: non-numeric columns {', '.join(map(repr, other[:10]))}: leave them "
                "out, or turn them into numbers"
            )
        single = all(kind == pl.Float32 for kind in schema.values())
        dtype = np.dtype(np.float32 if single else np.float64)
        height = frame.select(pl.len()).collect().item() if schema else 0
        chunk = READ_BYTES // (max(1, len(schema)) * dtype.itemsize)
        super().__init__(source, (height, len(schema)), dtype, schema.names(), chunk)
        self._file, self._state = file, _state(file)
        self._frame = frame.select(pl.all().cast(pl.Float32 if single else pl.Float64))

    def _decode(self, start: int, stop: int) -> Array:
        if self._state != _state(self._file):
            raise OSError("it is not what it was when it was opened")
        try:
            frame = self._frame.slice(start, stop - start).collect()
        except pl.exceptions.PanicException as error:  # which is no Exception
            raise OSError(f"polars says: {shortened(str(error), 200)}") from error
        return frame.to_numpy(order="c", writable=True)

    def _select(self, positions: list[int]) -> Rows:
        names = self._frame.collect_schema().names()
        frame = self._frame.select([names[j] for j in positions])
        return FrameRows(frame, self.source, self._file)


def read_parquet(path: Path, columns: Sequence[str | int] | None = None) -> FrameRows:
    """Open a Parquet file.

    Parameters
    ----------
    path : Path
        The file.
    columns : sequence of str or int, default=None
        The columns to read, all when None.

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
            frame = frame.select([names[j] for j in found])
        return FrameRows(frame, str(path), path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise ValueError(f"{path}: cannot be read as PARQUET ({error}): write it again") from error


def _state(file: Path | None) -> tuple[int, int] | None:
    """Size and time of a file, which writing changes."""
    if file is None:
        return None
    found = file.stat()
    return found.st_size, found.st_mtime_ns


def _is_number(kind: pl.DataType) -> bool:
    return kind.is_numeric() or kind in (pl.Boolean, pl.Null)
