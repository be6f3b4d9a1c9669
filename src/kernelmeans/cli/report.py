"""The report of a fit, as a file."""

import shlex
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from kernelmeans import ClusterReport
from kernelmeans.cli.data import Data
from kernelmeans.cli.errors import estimator_errors
from kernelmeans.cli.outputs import Writer

if TYPE_CHECKING:
    from kernelmeans.cli.job import FitJob
    from kernelmeans.cli.prepare import Task


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
    predict = ["kernelmeans", "predict", str(job.files()["model"]), "NEW.csv"]
    with estimator_errors():
        report = ClusterReport(
            model,
            task.Z,
            table=None if job.pairwise else _table(task.data),
            labels_true=task.data.labels,
            search=search,
            rows=job.rows,
            kernel_names=None if task.views is None else task.views.names,
            source=job.data,
            commands=[shlex.join(["kernelmeans", "fit", *job.arguments]), shlex.join(predict)],
        )
    return lambda file: file.write(report.to_html().encode())


def _table(data: Data) -> pl.DataFrame | None:
    """The columns as they stand in the file, if they are in memory."""
    if isinstance(data.X, np.ndarray):
        return pl.DataFrame(data.X, schema=data.columns)
    return None
