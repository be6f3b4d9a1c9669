"""The work of predict: read a model and a table, assign its rows, and only then write."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelmeans._errors import InputError
from kernelmeans._text import counted, listed
from kernelmeans._warnings import warn_user
from kernelmeans.cli import outputs
from kernelmeans.cli.errors import estimator_errors
from kernelmeans.cli.job import Job
from kernelmeans.cli.labels import Labels, identifiers
from kernelmeans.cli.placing import NewRows
from kernelmeans.cli.summary import summarized
from kernelmeans.models.model import damaged_model_errors, load_model
from kernelmeans.tables import TableTransformer
from kernelmeans.tables.files.tables import read_table

#: Fraction of far rows from which on something is wrong with a whole table.
_MANY_FAR = 0.25


@dataclass(frozen=True, kw_only=True)
class PredictJob(Job):
    """The clusters of new rows.

    Parameters
    ----------
    id_column : str or None, default=None
        Names of the rows: no feature, but kept in the labels file.
    """

    id_column: str | None = None


def run_predict(job: PredictJob, model_file: Path) -> None:
    """Assign the rows of a table to the clusters of a model and write their labels."""
    job.check()
    budget = job.budget()
    model = load_model(model_file, budget)
    file = job.place(job.labels, ".labels.csv")
    outputs.check_writable([file], source=job.data, force=job.force)
    reading = job.after(model.reading or {})
    table = read_table(job.data, reading, budget=budget, verbatim=job.id_column)
    names = identifiers(table, job.id_column)
    columns, prepare = model.columns_in(table), model.pipeline[0]
    if isinstance(prepare, TableTransformer) and (marks := job.given_marks()):
        prepare.set_params(**marks)
    known = {*columns, job.id_column}
    if isinstance(prepare, TableTransformer):
        known |= {one.name for one in prepare.columns_}
    if extra := [name for name in table.names if name not in known]:
        job.note(f"the model does not use {listed(extra)}")
    rows = NewRows(table, columns, model)
    source = f"{table.source}, with the model {model_file}"
    with estimator_errors(source), damaged_model_errors(model_file, model):
        labels = Labels.of_new(rows, model)
    for remark in rows.remarks():
        job.note(remark)
    if not len(labels.label):
        raise InputError(f"{table.source}: the model can place none of the rows")
    if labels.far is not None and (n_far := int(labels.far.sum())) > _MANY_FAR * len(labels.far):
        warn_user(
            f"far from all that the model has seen: {n_far} of {counted(len(labels.far), 'row')}. "
            f"{rows.most_unlike(len(labels.label))}Other units, or other columns?"
        )
    if model.far is None:
        job.note(
            f"{model_file} does not say which rows are far: only fit of this version stores that"
        )
    outputs.write_all({file: labels.writer(names)})
    more: dict[str, Any] = {} if labels.far is None else {"far": int(labels.far.sum())}
    more |= {"rows": len(labels.placed), "unplaced": int((~labels.placed).sum())}
    found = summarized(job.data, labels.label, model.pipeline[-1]._n_centroids, more)
    job.report(found | {"files": {"labels": str(file)}})
