"""The report of a fit, as a file."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kernelmeans import ClusterReport
from kernelmeans._typing import Array
from kernelmeans.cli.data import Data
from kernelmeans.cli.errors import estimator_errors
from kernelmeans.cli.labels import identifiers
from kernelmeans.cli.outputs import Writer
from kernelmeans.cli.profiles import MOST_COLUMNS, told_columns
from kernelmeans.cli.reading import shown

if TYPE_CHECKING:
    from kernelmeans.cli.job import FitJob
    from kernelmeans.cli.prepare import Task

_PROGRAM = """\
from pathlib import Path
from kernelmeans.cli.model import load_model

model = load_model(Path({!r})).pipeline
model.predict(table)  # a data frame with the columns of the file"""


@dataclass(frozen=True)
class FileColumns(Mapping[str, Array]):
    """Columns of the rows of a fit as they stand in the file, of which one is in memory."""

    data: Data
    names: Sequence[str]

    def __getitem__(self, name: str) -> Array:
        values = np.asarray(self.data.table.column(name))
        return values if self.data.rows is None else values[self.data.rows]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


def report_writer(job: "FitJob", task: "Task", model: Any, search: Any) -> Writer:
    """Write the report of a fitted model.

    Parameters
    ----------
    job : FitJob
        The command.
    task : Task
        The table.
    model : estimator
        Fitted to it.
    search : ClusterSearch or None
        What has chosen the number of clusters.

    Returns
    -------
    callable
        Writes the page to a binary file.
    """
    data, hidden = task.data, (job.id_column, job.label_column, job.weight_column)
    names = [name for name in told_columns(job, data.table) if name not in hidden]
    columns = FileColumns(data, names[:MOST_COLUMNS])
    classes = None
    if job.label_column is not None:
        classes = FileColumns(data, [])[job.label_column].astype(str)
    path = str(job.files()["model"])
    predict = ["kernelmeans", "predict", path, "NEW.csv"]
    with estimator_errors():
        report = ClusterReport(
            model,
            task.Z,
            table=columns if names else None,
            labels_true=classes,
            search=search,
            rows=job.rows,
            kernel_names=None if task.views is None else task.views.names,
            row_names=_row_names(job, data),
            source=shown(job.data),
            commands=[shlex.join(["kernelmeans", "fit", *job.arguments]), shlex.join(predict)],
            program=_PROGRAM.format(path),
        )
    return lambda file: file.write(report.to_html().encode())


def _row_names(job: "FitJob", data: Data) -> Any:
    """The identifiers of the rows of a fit, or their places in the file; None if all are in it."""
    given = identifiers(data.table, job.id_column)
    if given is None:
        return None if data.rows is None else np.flatnonzero(data.rows)
    names = given.to_numpy()
    return names if data.rows is None else names[data.rows]
