"""The labels file: the cluster of each row, how near it is, and how certain that is."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from kernelmeans._errors import InputError
from kernelmeans._files import Writer
from kernelmeans._text import counted
from kernelmeans.cli.data import known_column
from kernelmeans.cli.jobs import FitJob, PredictJob
from kernelmeans.models import Labels
from kernelmeans.models.labels import spread
from kernelmeans.tables import Column
from kernelmeans.tables.files.tables import FileTable
from kernelmeans.tables.inspection import shown

#: Fraction of different values above which a column names the rows.
_NAMED = 0.9
#: Names of columns in the labels file.
_COLUMNS = ("label", "distance", "second_distance", "membership", "far")
#: Significant digits of distances and memberships. With all digits files would be twice as large.
_DIGITS = 6


def labels_writer(
    found: Labels, identifiers: pl.Series | None = None, memberships: Any = None
) -> Writer:
    """Write a line for each row of the table, with its identifier or else its number.

    `memberships` has a row for each row with a label, and a column for each cluster.
    """
    columns: dict[str, Any] = {"label": found.labels}
    near = zip(("distance", "second_distance"), found.distances.T, strict=False)
    rounded = {**dict(near), "membership": found.certainty}
    columns |= {name: pl.Series(values).round_sig_figs(_DIGITS) for name, values in rounded.items()}
    if found.far is not None:
        columns["far"] = found.far
    if memberships is not None:
        every = spread(memberships, found.placed, np.nan)
        columns |= {f"membership_{j}": values for j, values in enumerate(every.T)}
    frame = pl.DataFrame(columns)
    if not found.placed.all():
        frame = frame.select(pl.when(pl.Series(found.placed)).then(pl.all()))  # others are empty
    rows = pl.Series("row", np.arange(len(frame))) if identifiers is None else identifiers
    return frame.insert_column(0, rows).write_csv


def identifiers(table: FileTable, name: str | None) -> pl.Series | None:
    """Return the column of ``--id-column`` as text, or else the names of rows in the file."""
    if (name := name or table.row_names) is None:
        return None
    name = known_column(table, name, "id_column")
    if _is_ours(name):
        raise InputError(
            f"{table.source}: --id-column names {name!r}, as a column of the labels file is "
            "called; give the column of the table another name"
        )
    column = table.series(name)
    if column.dtype.is_float() and (column.floor() == column).all():
        column = column.cast(pl.Int64, strict=False)  # arrays hold all numbers as floats
    return column.cast(pl.String)


def names_of(table: FileTable, job: FitJob | PredictJob) -> pl.Series | None:
    """Return the identifiers of the rows; a note says if some repeat."""
    names = identifiers(table, job.id_column)
    if names is not None and (repeated := names.is_duplicated()).any():
        rows, name = counted(int(repeated.sum()), "row"), shown(names.filter(repeated)[0])
        job.note(
            f"column {names.name!r}: {rows} with the value of another row, such as {name}: a merge "
            "by it would multiply rows"
        )
    return names


def first_identifier(table: FileTable, columns: Sequence[Column]) -> str | None:
    """The first column that a fit has left out because it names the rows."""
    for column in columns:
        if column.kind == "identifier" and not column.used and not _is_ours(column.name):
            texts = identifiers(table, column.name)
            if texts is not None and texts.n_unique() > _NAMED * len(texts):
                return column.name
    return None


def _is_ours(name: str) -> bool:
    """Whether a column of the labels file has this name."""
    return name in _COLUMNS or name.startswith("membership_")
