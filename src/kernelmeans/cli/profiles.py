"""What the clusters of a fit are: for the terminal, the summary and a file."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, BinaryIO, Self

import numpy as np
import polars as pl
import scipy.sparse

from kernelmeans._typing import Array
from kernelmeans.profiles import Description
from kernelmeans.profiles.describing import described
from kernelmeans.profiles.description import Cluster
from kernelmeans.profiles.rows import of_fit
from kernelmeans.rows import Rows
from kernelmeans.tables.files.tables import Table

if TYPE_CHECKING:
    from kernelmeans.cli.jobs import FitJob
    from kernelmeans.cli.prepare import Task

#: Columns that the terminal and the summary tell of each cluster.
_TOLD = 3
_WORDS = {True: "yes", False: "no", None: None}
#: Most columns that are described: each takes a few milliseconds, and a line for each cluster.
MOST_COLUMNS = 2000


@dataclass(frozen=True)
class FileColumns(Mapping[str, Array]):
    """Columns of the rows of a fit as they stand in the file, of which one is in memory."""

    task: "Task"
    names: Sequence[str]

    def __getitem__(self, name: str) -> Array:
        values = _in_words(np.asarray(self.task.table.column(name)))
        return values if self.task.rows is None else values[self.task.rows]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True)
class Profiles:
    """What the clusters of a fit are, by all columns of the file, used or not.

    Parameters
    ----------
    description : Description or None
        None if no column can be told: those of a kernel matrix are rows, and those of a sparse
        matrix or of an array on disk are not read one by one.
    """

    description: Description | None

    @classmethod
    def of(cls, job: "FitJob", task: "Task", model: Any, row_names: pl.Series | None) -> Self:
        """Describe the clusters of a fitted model."""
        names = told_columns(job, task.table)
        if not names:
            return cls(None)
        if len(names) > MOST_COLUMNS:
            job.note(f"the first {MOST_COLUMNS} of {len(names)} columns describe the clusters")
        kinds = dict.fromkeys(task.categories, "category")
        if job.label_column is not None:
            kinds[job.label_column] = "label"
        columns = FileColumns(task, names[:MOST_COLUMNS])
        steps, weights = [task.preparation], task.weights
        found = described(
            of_fit(model), columns, steps, weights=weights, kinds=kinds, used=task.columns
        )
        if task.rows is not None:
            found = replace(found, n_unplaced=int((~task.rows).sum()))
        if row_names is not None:
            found = replace(found, records=tuple(_named(one, row_names) for one in found.records))
        return cls(found)

    def __bool__(self) -> bool:
        return self.description is not None

    def summary(self) -> dict[str, Any]:
        """The most telling columns of each cluster, for JSON."""
        if self.description is None:
            return {}
        told = self.description.to_dict(_TOLD)
        return {"profiles": told["clusters"], "alike": told["alike"]}

    def text(self) -> str:
        """The most telling columns of each cluster, to read."""
        if self.description is None:
            return ""
        # The summary has told the numbers of rows and clusters.
        _, _, rest = self.description.text(_TOLD).partition("\n")
        return f"\n\n{rest.lstrip()}"

    def write(self, file: BinaryIO) -> None:
        """Write all columns in all clusters as CSV."""
        if self.description is not None:
            frame = replace(self.description, library="polars").columns
            frame.fill_nan(None).write_csv(file)


def _in_words(values: Array) -> Array:
    """Values, with words for true and false."""
    if values.dtype.kind in "bO" and {*map(type, values.tolist())} <= {bool, type(None)}:
        return np.array([_WORDS[value] for value in values.tolist()], dtype=object)
    return values


def names_of_rows(task: "Task", identifiers: pl.Series | None) -> pl.Series | None:
    """The identifiers of the rows of a fit, or their places in the file; None if all are in it."""
    if task.rows is None:
        return identifiers
    if identifiers is None:
        return pl.Series(np.flatnonzero(task.rows))
    return identifiers.filter(pl.Series(task.rows))


def _named(record: Cluster, names: pl.Series) -> Cluster:
    """A cluster whose rows are called by name."""
    typical, border = (
        None if rows is None else tuple(names[row] for row in rows)
        for rows in (record.typical_rows, record.border_rows)
    )
    return record._replace(typical_rows=typical, border_rows=border)


def told_columns(job: "FitJob", table: Table) -> list[str]:
    """Names of the columns that can be told of, one by one; none that names the rows."""
    names, array = list(table.annotations), getattr(table, "array", None)
    if not job.pairwise and not scipy.sparse.issparse(array) and not isinstance(array, Rows):
        names += table.names
    return [name for name in names if name not in (job.id_column, table.row_names)]
