"""What the clusters of a fit are: for the terminal, the summary and a file."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, BinaryIO, Self

import numpy as np
import scipy.sparse

from kernelmeans._typing import Array
from kernelmeans.cli.data import Data
from kernelmeans.cli.tables import Table
from kernelmeans.profiles import Description
from kernelmeans.profiles.describing import described
from kernelmeans.profiles.description import Cluster
from kernelmeans.profiles.rows import Placed, of_fit
from kernelmeans.rows import Rows

if TYPE_CHECKING:
    from kernelmeans.cli.job import FitJob

#: Columns that the terminal and the summary tell of each cluster.
_TOLD = 3
#: Most columns that are described: each takes a few milliseconds, and a line for each cluster.
MOST_COLUMNS = 2000


@dataclass(frozen=True)
class _Columns:
    """Some columns of a file, of which one at a time is in memory."""

    table: Table
    names: Sequence[str]

    def __getitem__(self, name: str) -> Array:
        values: Array = self.table.column(name)
        return values


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
    def of(cls, job: "FitJob", data: Data, model: Any, identifiers: Any = None) -> Self:
        """Describe the clusters of a fitted model; identifiers call rows by name."""
        table, names = data.table, told_columns(job, data.table)
        if not names:
            return cls(None)
        if len(names) > MOST_COLUMNS:
            job.note(f"the first {MOST_COLUMNS} of {len(names)} columns describe the clusters")
        placed, weights = of_fit(model), data.weights
        if data.rows is not None:
            placed = Placed(
                _spread(placed.labels, data.rows, -1),
                _spread(placed.distances, data.rows, np.inf),
                _spread(placed.gaps, data.rows, np.inf),
                placed.n_clusters,
            )
            weights = None if weights is None else _spread(weights, data.rows, 0)
        columns = _Columns(table, names[:MOST_COLUMNS])
        found = described(placed, columns, weights=weights)
        if identifiers is not None:
            found = replace(found, records=tuple(_named(one, identifiers) for one in found.records))
        return cls(found)

    def __bool__(self) -> bool:
        return self.description is not None

    def summary(self) -> dict[str, Any]:
        """The most telling columns of each cluster, for JSON."""
        if self.description is None:
            return {}
        return {"profiles": self.description.to_dict(_TOLD)["clusters"]}

    def text(self) -> str:
        """The most telling columns of each cluster, to read."""
        return f"\n\n{self.description.text(_TOLD)}" if self.description else ""

    def write(self, file: BinaryIO) -> None:
        """Write all columns in all clusters as CSV."""
        if self.description is not None:
            frame = replace(self.description, library="polars").columns
            frame.fill_nan(None).write_csv(file)


def _named(record: Cluster, identifiers: Any) -> Cluster:
    """A cluster whose rows are called by name."""
    typical, border = (
        None if rows is None else tuple(identifiers[row] for row in rows)
        for rows in (record.typical_rows, record.border_rows)
    )
    return record._replace(typical_rows=typical, border_rows=border)


def told_columns(job: "FitJob", table: Table) -> list[str]:
    """Names of the columns that can be told of, one by one."""
    names, array = list(table.annotations), getattr(table, "array", None)
    if not job.pairwise and not scipy.sparse.issparse(array) and not isinstance(array, Rows):
        names += table.names
    return names


def _spread(values: Any, rows: Any, missing: float) -> Any:
    """Values of some rows of a file, and another value for its other rows."""
    every = np.full(len(rows), missing, dtype=values.dtype)
    every[rows] = values
    return every
