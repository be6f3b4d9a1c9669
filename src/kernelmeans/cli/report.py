"""The report of a fit, as a file."""

import shlex
from typing import TYPE_CHECKING, Any

import polars as pl
from sklearn.pipeline import Pipeline

from kernelmeans import ClusterReport
from kernelmeans._files import Writer
from kernelmeans.cli.errors import estimator_errors
from kernelmeans.cli.profiles import MOST_COLUMNS, FileColumns, told_columns
from kernelmeans.tables.files import shown

if TYPE_CHECKING:
    from kernelmeans.cli.jobs import FitJob
    from kernelmeans.cli.prepare import Task

_PROGRAM = """\
from kernelmeans import load_model

model = load_model({!r})
labels = model.label(table).labels  # of a data frame with the columns of the file, or a path"""


def report_writer(
    job: "FitJob", task: "Task", pipeline: Pipeline, search: Any, row_names: pl.Series | None
) -> Writer:
    """Write the report of a fitted model.

    Parameters
    ----------
    job : FitJob
        The command.
    task : Task
        The table.
    pipeline : Pipeline
        Fitted to it.
    search : ClusterSearch or None
        What has chosen the number of clusters.
    row_names : Series or None
        What typical rows are called.

    Returns
    -------
    callable
        Writes the page to a binary file.
    """
    hidden = job.label_column, job.weight_column
    names = [name for name in told_columns(job, task.table) if name not in hidden]
    columns = FileColumns(task, names[:MOST_COLUMNS])
    classes = None
    if job.label_column is not None:
        classes = FileColumns(task, [])[job.label_column].astype(str)
    path = str(job.files()["model"])
    predict = ["kernelmeans", "predict", path, "NEW.csv"]
    if job.id_column is not None:
        predict += ["--id-column", job.id_column]
    with estimator_errors():
        report = ClusterReport(
            pipeline,
            task.X,
            table=columns if names else None,
            labels_true=classes,
            search=search,
            rows=job.rows,
            row_names=row_names,
            source=shown(job.data),
            commands=[shlex.join(["kernelmeans", "fit", *job.arguments]), shlex.join(predict)],
            program=_PROGRAM.format(path),
            categorical=[name for name in task.categories if name in columns],
        )
    return lambda file: file.write(report.to_html().encode())
