"""The work of predict: read a model and a table, assign the rows, and only then write."""

from pathlib import Path
from typing import Any

from kernelmeans._errors import InputError
from kernelmeans._text import listed
from kernelmeans.cli import outputs
from kernelmeans.cli.errors import estimator_errors
from kernelmeans.cli.jobs import PredictJob
from kernelmeans.cli.labels import labels_writer, names_of
from kernelmeans.cli.summary import as_text, summarized
from kernelmeans.models import load_model
from kernelmeans.models.placing import columns_in, open_table
from kernelmeans.tables import TableTransformer


def run_predict(job: PredictJob, model_file: Path) -> None:
    """Assign the rows of a table to the clusters of a model and write their labels."""
    budget, file = job.budget(), job.files()["labels"]
    with estimator_errors():
        model = load_model(model_file, budget)
    table = open_table(model, job.data, job, budget=budget, verbatim=job.id_column)
    names = names_of(table, job)
    known, prepare = {*columns_in(model, table), job.id_column}, model.pipeline[0]
    if isinstance(prepare, TableTransformer):
        marks = {"decimal": job.decimal, "thousands": job.thousands}
        prepare.set_params(**{name: mark for name, mark in marks.items() if mark is not None})
        known |= {one.name for one in prepare.columns_}
    if extra := [name for name in table.names if name not in known]:
        kept = "" if names is not None else "; --id-column keeps one column in the labels file"
        job.note(f"the model does not use {listed(extra)}{kept}")
    with estimator_errors(f"{table.source}, with the model {model_file}"):
        found = model.label(table)
    for remark in found.remarks:
        job.note(remark)
    if not found.placed.any():
        raise InputError(f"{table.source}: the model can place none of the rows")
    if found.far is None:
        job.note(
            f"{model_file} does not say which rows are far: it is of an earlier version, or was "
            "saved in Python without the rows of its fit"
        )
    outputs.write_all({file: labels_writer(found, names)})
    more: dict[str, Any] = {} if found.far is None else {"far": int(found.far.sum())}
    more |= {"rows": len(found.labels), "unplaced": int((~found.placed).sum())}
    labels = found.labels[found.placed]
    summary = summarized(job.data, model.pipeline[-1], labels, more)
    job.report(summary | {"files": {"labels": str(file)}}, as_text)
