"""What the clusters of a fit are: their description, and the report as a file."""

import shlex
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse
from sklearn.feature_selection import f_classif
from sklearn.pipeline import Pipeline
from sklearn.utils import gen_batches

from kernelmeans import ClusterReport
from kernelmeans._files import Writer
from kernelmeans._typing import Array, IntArray
from kernelmeans.cli.errors import estimator_errors
from kernelmeans.cli.jobs import FitJob
from kernelmeans.cli.prepare import Task
from kernelmeans.profiles import Description
from kernelmeans.profiles.describing import described
from kernelmeans.profiles.rows import of_fit
from kernelmeans.tables.files import shown
from kernelmeans.tables.files.columns import FileColumns
from kernelmeans.tables.files.suffixes import known_suffix

#: Most columns that are described: each takes a few milliseconds, and a line for each cluster.
MOST_COLUMNS = 2000
#: Columns of a dense table that are compared at once, as the comparison copies them.
COMPARED = 500
_PROGRAM = """\
from kernelmeans import load_model

model = load_model({!r})
labels = model.label(table).labels  # of a data frame with the columns of the file, or a path"""


def told_columns(job: FitJob, task: Task, labels: IntArray) -> FileColumns:
    """The columns of the file that can describe clusters, used or not.

    Of too many these are taken: annotations, labels and weights, and the features in which clusters
    differ most.
    """
    columns = FileColumns.of(task.table, task.rows, pairwise=job.pairwise)
    columns = columns.without([job.id_column])
    if (count := len(columns)) <= MOST_COLUMNS:
        return columns
    difference = dict.fromkeys(columns, -1.0) | _differences(task, labels)
    own = (*task.table.annotations, job.label_column, job.weight_column)
    difference.update((name, np.inf) for name in own if name in difference)
    order = np.argsort([-difference[name] for name in columns], kind="stable")
    job.note(
        f"the clusters are described by the {MOST_COLUMNS} of {count} columns in which they differ "
        "most"
    )
    return replace(columns, names=[columns.names[at] for at in np.sort(order[:MOST_COLUMNS])])


def _differences(task: Task, labels: IntArray) -> dict[str, float]:
    """The F ratio of each column: its variance between clusters, to that within them."""
    Z = task.Z
    if len(np.unique(labels[labels >= 0])) < 2:
        return {}
    placed = np.flatnonzero(labels >= 0)
    blocks = [slice(None)] if scipy.sparse.issparse(Z) else gen_batches(Z.shape[1], COMPARED)
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
        ratios = [f_classif(Z[placed, block], labels[placed])[0] for block in blocks]
    found: Array = np.nan_to_num(np.concatenate(ratios), nan=0)  # a constant column has none
    found[found < 0] = np.inf  # no variance within clusters but rounding errors
    return {name: float(found[place].max()) for name, place in task.columns.items()}


def names_of_rows(task: Task, identifiers: pl.Series | None) -> Array:
    """The identifiers of the rows of a fit, or their places in the file."""
    names = np.arange(task.table.shape[0]) if identifiers is None else identifiers.to_numpy()
    return np.asarray(names[task.rows])


def description_of(
    job: FitJob, task: Task, model: Any, columns: FileColumns, row_names: Array
) -> Description | None:
    """Describe the clusters of a fitted model; None if no columns can describe them."""
    if not columns:
        return None
    kinds = dict.fromkeys(task.categories, "category")
    if job.label_column is not None:
        kinds[job.label_column] = "label"
    found = described(
        of_fit(model),
        columns,
        [task.preparation],
        weights=task.weights,
        kinds=kinds,
        used=task.columns,
        row_names=row_names,
    )
    left_out = task.table.shape[0] - len(row_names)
    return replace(found, n_unplaced=left_out, library="polars")


def report_writer(
    job: FitJob,
    task: Task,
    pipeline: Pipeline,
    search: Any,
    columns: FileColumns,
    row_names: Array,
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
    columns : FileColumns
        Columns that describe the clusters.
    row_names : ndarray of shape (n_rows,)
        What typical rows are called.

    Returns
    -------
    callable
        Writes the page to a binary file.
    """
    classes = None if job.label_column is None else columns[job.label_column].astype(str)
    columns = columns.without([job.label_column, job.weight_column])
    path = str(job.files()["model"])
    # Edges or distances of new rows to those of the fit have no names.
    suffix = ".npz" if job.pairwise else known_suffix(job.data)
    predict = ["kernelmeans", "predict", path, f"NEW{suffix}"]
    if job.id_column is not None:
        predict += ["--id-column", job.id_column]
    with estimator_errors():
        report = ClusterReport(
            pipeline,
            task.X,
            table=columns or None,
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
