"""The labels file: the cluster of each row, how near it is, and how certain that is."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from kernelmeans._errors import InputError
from kernelmeans._files import Writer
from kernelmeans._typing import Array, BoolArray
from kernelmeans.cli.data import known_column
from kernelmeans.cli.far import remoteness
from kernelmeans.cli.placing import NewRows
from kernelmeans.estimators.callbacks import refused_later
from kernelmeans.models.model import Model
from kernelmeans.tables.files.tables import FrameTable, Table

#: Columns of the file.
_COLUMNS = ("label", "distance", "second_distance", "membership", "far")
#: Digits of distances and memberships. With all their digits files would be twice as large.
_DIGITS = 6


@dataclass(frozen=True)
class Labels:
    """The clusters of some rows of a table.

    Parameters
    ----------
    label : ndarray of shape (n_placed,)
        The clusters.
    distances : ndarray of shape (n_placed, 1 or 2)
        Distances to the own centroid, and to the second nearest one.
    certainty : ndarray of shape (n_placed,)
        Memberships in the own clusters.
    far : ndarray of bool of shape (n_placed,) or None, default=None
        Which of them are far from every centroid.
    memberships : ndarray of shape (n_placed, n_clusters) or None, default=None
        Memberships in all clusters.
    placed : ndarray of bool of shape (n_rows,) or None, default=None
        Which rows of the table these are, if not all.
    """

    label: Array
    distances: Array
    certainty: Array
    far: Any = None
    memberships: Any = None
    placed: Any = None

    @classmethod
    def of_fit(cls, model: Any, memberships: Any = None, placed: Any = None) -> "Labels":
        """Take the labels of the training rows from a fitted model."""
        return cls(model.labels_, model.distances_, model.certainty_, None, memberships, placed)

    @classmethod
    @refused_later
    def of_new(cls, rows: NewRows, model: Model) -> "Labels":
        """Place new rows by a model, those of a block at a time."""
        estimator = model.pipeline[-1]

        def assigned(block: tuple[Any, BoolArray]) -> tuple[Any, Any, BoolArray]:
            X, placed = block
            if not placed.any():
                return estimator._no_assignment, np.empty(0), placed
            X = rows.prepared(X)
            found = estimator._assignment(X)
            return found, remoteness(estimator, X, np.sqrt(found["nearest"])), placed

        # A loop would hold its last block in memory while the next is read.
        found, away, placed = map(np.concatenate, zip(*map(assigned, rows), strict=True))
        near = [found["nearest"], found["second"]][: estimator._n_centroids]
        distances = np.sqrt(np.stack(near, axis=1))
        far = None if model.far is None else away > model.far
        return cls(found["label"], distances, found["certainty"], far, placed=placed)

    def writer(self, identifiers: pl.Series | None = None) -> Writer:
        """Write one line per row of the table, with its identifier, or else its number."""
        columns: dict[str, Any] = {"label": self.label}
        near = zip(("distance", "second_distance"), self.distances.T, strict=False)
        rounded = {**dict(near), "membership": self.certainty}
        columns |= {
            name: pl.Series(values).round_sig_figs(_DIGITS) for name, values in rounded.items()
        }
        if self.far is not None:
            columns["far"] = self.far
        if self.memberships is not None:
            columns |= {f"membership_{j}": values for j, values in enumerate(self.memberships.T)}
        frame = pl.DataFrame(columns)
        if self.placed is not None and not self.placed.all():
            places = np.where(self.placed, np.cumsum(self.placed) - 1, len(frame))
            frame = pl.concat([frame, frame.clear(1)])[places]  # other rows are empty
        rows = pl.Series("row", np.arange(len(frame))) if identifiers is None else identifiers
        return frame.insert_column(0, rows).write_csv


def identifiers(table: Table, name: str | None) -> pl.Series | None:
    """Return the column of ``--id-column``, or else the names that the file gives, as text."""
    if (name := name or table.row_names) is None:
        return None
    name = known_column(table, [*table.names, *table.annotations], name, "--id-column")
    if name in _COLUMNS or name.startswith("membership_"):
        raise InputError(
            f"{table.source}: --id-column names {name!r}, as a column of the labels file is "
            "called; give the column of the table another name"
        )
    if isinstance(table, FrameTable):
        column = table.frame.select(name).collect()[name]
    else:
        values = table.column(name)
        # polars does not look into an array of objects whose first value is missing.
        values = values.tolist() if values.dtype.hasobject else values
        column = pl.Series(name, values, strict=False)
    if column.dtype.is_float() and (column.floor() == column).all():
        column = column.cast(pl.Int64, strict=False)  # arrays hold all numbers as floats
    return column.cast(pl.String)
