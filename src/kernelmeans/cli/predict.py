"""The work of predict: read a model and a table, assign its rows, and only then write."""

from pathlib import Path
from typing import Any

import numpy as np

from kernelmeans._text import listed
from kernelmeans.cli import outputs
from kernelmeans.cli.errors import BadInputError, estimator_errors
from kernelmeans.cli.job import Job
from kernelmeans.cli.model import Model, damaged_model_errors, load_model
from kernelmeans.cli.placing import NewRows
from kernelmeans.cli.summary import summarized
from kernelmeans.cli.tables import Table, read_table
from kernelmeans.tables import TableTransformer


def run_predict(job: Job, model_file: Path) -> None:
    """Assign the rows of a table to the clusters of a model and write their labels."""
    file = job.place(job.labels, ".labels.csv")
    outputs.check_writable([file], source=job.data, force=job.force)
    budget = job.budget()
    model = load_model(model_file, budget)
    table = read_table(job.data, job.after(model.reading or {}), budget=budget)
    rows = NewRows(table, _model_columns(table, model, job), model)

    def labels_of(block: tuple[Any, Any]) -> tuple[Any, Any]:
        X, placed = block
        return model.pipeline.predict(X) if placed.any() else np.array([], int), placed

    with estimator_errors(), damaged_model_errors(model_file):
        # A loop would hold its last block in memory while the next is read.
        found, masks = zip(*map(labels_of, rows), strict=True)
    labels, placed = np.concatenate(found), np.concatenate(masks)
    for remark in rows.remarks():
        job.note(remark)
    if not placed.any():
        raise BadInputError(f"{table.source}: the model can place none of the rows")
    writer = outputs.labels_writer(labels, rows=None if placed.all() else placed)
    outputs.write_all({file: writer})
    n_clusters = model.pipeline[-1].n_clusters
    job.report(
        summarized(job.data, labels, n_clusters, {})
        | {"rows": len(placed), "unplaced": rows.n_unplaced, "files": {"labels": str(file)}},
    )


def _model_columns(table: Table, model: Model, job: Job) -> list[str]:
    """Find the model's columns in a table: by name, or by position where it has no names."""
    names = table.names
    known, wanted = set(names), set(model.columns)
    missing = [name for name in model.columns if name not in known]
    if missing and not table.named and len(names) == len(model.columns):
        return names
    if missing:
        raise BadInputError(
            f"{table.source}: the model needs {listed(missing)}, which the file does not have; "
            f"its columns are {listed(names)}"
        )
    extra = [name for name in names if name not in wanted]
    if extra and isinstance(model.pipeline[0], TableTransformer):
        left_out = {column.name for column in model.pipeline[0].columns_}
        extra = [name for name in extra if name not in left_out]
    if extra:
        job.note(f"the model does not use {listed(extra)}")
    return model.columns
