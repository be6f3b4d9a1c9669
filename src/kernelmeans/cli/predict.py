"""The work of predict: read a model and a table, assign its rows, and only then write."""

from pathlib import Path
from typing import Any

import numpy as np

from kernelmeans._text import listed
from kernelmeans.cli import outputs
from kernelmeans.cli.data import finite_matrix
from kernelmeans.cli.errors import BadInputError, estimator_errors
from kernelmeans.cli.job import Job
from kernelmeans.cli.model import Model, damaged_model_errors, load_model
from kernelmeans.cli.summary import summarized
from kernelmeans.cli.tables import Table, blocks, read_table


def run_predict(job: Job, model_file: Path) -> None:
    """Assign the rows of a table to the clusters of a model and write their labels."""
    file = job.place(job.labels, ".labels.csv")
    outputs.check_writable([file], source=job.data, force=job.force)
    budget = job.budget()
    model = load_model(model_file, budget)
    table = read_table(job.data, job.after(model.reading or {}), budget=budget)
    X = finite_matrix(table, _model_columns(table, model, job), model.dtype)

    def labels_of(block: tuple[slice, Any]) -> Any:
        return model.pipeline.predict(block[1])

    with estimator_errors(), damaged_model_errors(model_file):
        # A loop would hold its last block in memory while the next is read.
        labels = np.concatenate(list(map(labels_of, blocks(X))))
    outputs.write_all({file: outputs.labels_writer(labels)})
    n_clusters = model.pipeline[-1].n_clusters
    job.report(
        summarized(job.data, labels, n_clusters, {}) | {"files": {"labels": str(file)}},
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
    if extra := [name for name in names if name not in wanted]:
        job.note(f"the model does not use {listed(extra)}")
    return model.columns
