"""The work of fit: read a table, fit an estimator, and only then write."""

import math
import os
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline

from kernelmeans import ClusterSearch, KernelKMeans, KernelPowerKMeans, MultiKernelPowerKMeans
from kernelmeans._files import Writer
from kernelmeans._text import listed
from kernelmeans.cli import outputs
from kernelmeans.cli.choose import choose_clusters
from kernelmeans.cli.errors import estimator_errors
from kernelmeans.cli.jobs import FitJob
from kernelmeans.cli.labels import labels_writer, names_of
from kernelmeans.cli.prepare import Task, prepare
from kernelmeans.cli.progress import timed_fit
from kernelmeans.cli.report import description_of, names_of_rows, report_writer, told_columns
from kernelmeans.cli.summary import as_text, fit_summary
from kernelmeans.metrics import cluster_changes
from kernelmeans.models import Labels, Model, load_model
from kernelmeans.models.content import write_model
from kernelmeans.models.far import far_beyond
from kernelmeans.models.model import changed_columns, changed_logarithms

# Fraction of the first objective by which equal costs may differ.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Fitted:
    """The fitted model, and with ``--compare`` plain kernel k-means from the same start."""

    annealed: KernelPowerKMeans | MultiKernelPowerKMeans
    seconds: float
    plain: KernelKMeans | None = None
    plain_seconds: float = 0.0

    @property
    def percent_above_plain(self) -> float:
        """The percentage by which the annealed cost lies above the plain one, 0 within rounding."""
        if self.plain is None:
            return 0.0
        plain, difference = float(self.plain.inertia_), self.annealed.inertia_ - self.plain.inertia_
        if abs(difference) <= _ROUNDING * abs(self.annealed.objective_history_[0]):
            return 0.0
        return 100 * float(difference) / abs(plain) if plain else math.inf

    @property
    def model(self) -> KernelPowerKMeans | MultiKernelPowerKMeans | KernelKMeans:
        """The model of lower cost; the annealed one if the graph has preferred a higher cost."""
        dearer = self.percent_above_plain > 0 and self.annealed.result_.preferred is None
        return self.plain if self.plain is not None and dearer else self.annealed


def run_fit(job: FitJob) -> None:
    """Fit the data and write the files. Choose the number of clusters first if the job asks."""
    begin, files = time.perf_counter(), job.files()
    task = prepare(job)
    names = names_of(task.table, job)
    earlier, search = None, None
    chosen: dict[str, Any] = {}
    if job.like is not None:
        with estimator_errors():
            earlier = load_model(job.like, job.budget())
            task = replace(task, like=earlier.label(task.table).labels[task.rows])
    if job.chooses:
        search, chosen["search"] = choose_clusters(job, task)
    elif job.n_jobs != FitJob.n_jobs:
        job.note("--jobs has no effect where -k is a single number: a fit uses all cores anyway")
    with estimator_errors():
        fitted = fit_task(job, task, search)
        far = far_beyond(fitted.model, task.Z, task.weights)
    reading, used = task.table.reading.chosen(), list(task.columns)
    before = [] if task.preparation is None else [("prepare", task.preparation)]
    estimator, pipeline = fitted.model, Pipeline([*before, ("cluster", fitted.model)])
    model = Model(pipeline, used, job.dtype, reading, far)
    if earlier is not None:
        chosen["changes"] = _changes(job, task, model, earlier)
    row_names = names_of_rows(task, names)
    columns = told_columns(job, task, estimator.labels_)
    description = description_of(job, task, estimator, columns, row_names)
    if description is None:
        unwritten = files.pop("profiles")
        if job.profiles is not None:
            job.note(f"{unwritten} is not written: no column can describe the clusters")
    summary = fit_summary(job, task, fitted, files, description) | chosen
    summary["seconds_in_all"] = time.perf_counter() - begin
    memberships = estimator.memberships_ if job.soft else None
    if job.soft and memberships is None:
        job.note("the memberships would not fit into memory and are left out")
    known = estimator.labels_, estimator.distances_, estimator.certainty_
    labels = Labels.of_placed(task.rows, *known)
    writers: dict[Path, Writer] = {
        files["labels"]: labels_writer(labels, names, memberships),
        files["model"]: partial(write_model, model),
        files["summary"]: outputs.json_writer(summary),
    }
    if description is not None:
        writers[files["profiles"]] = description.columns.fill_nan(None).write_csv
    if "plot" in files:
        from kernelmeans.plotting import plot_fit

        drawn = plot_fit(pipeline, task.X)
        writers[files["plot"]] = outputs.picture_writer(drawn, files["plot"])
    if search is not None and "scores" in files:
        writers[files["scores"]] = outputs.picture_writer(search.plot(), files["scores"])
    if "report" in files:
        writers[files["report"]] = report_writer(job, task, pipeline, search, columns, row_names)
    outputs.write_all(writers)
    new = set(map(os.path.realpath, writers))
    usual = [path for path in job.usual_files() if path.exists()]
    if older := [path for path in usual if os.path.realpath(path) not in new]:
        job.note(f"not written anew: {listed(list(map(str, older)))}")
    job.report(summary, partial(as_text, description=description))


def _changes(job: FitJob, task: Task, model: Model, earlier: Model) -> list[dict[str, Any]]:
    """What has become of the clusters of an earlier model; note those that are not kept."""
    if columns := changed_columns(model, earlier):
        job.note(
            f"the columns are decided afresh, and are not those of {job.like}: {columns}; "
            "--columns and --drop choose them"
        )
    if columns := changed_logarithms(model, earlier):
        job.note(
            f"logarithms are decided afresh, and are not those of {job.like}: {columns}; "
            "their means and log means do not compare"
        )
    assert task.like is not None
    labels, every = model.pipeline[-1].labels_, range(earlier.pipeline[-1]._n_centroids)
    changes = cluster_changes(labels, task.like, task.weights, reference_clusters=every)
    others = [one for one in changes if one.kind != "kept" or one.cluster != one.before]
    for change in others:
        job.note(f"{change}, compared with {job.like}")
    if not others:
        job.note(f"all clusters are kept, with their numbers in {job.like}")
    return [change._asdict() for change in changes]


def fit_task(job: FitJob, task: Task, search: ClusterSearch | None = None) -> Fitted:
    """Fit the estimator, unless a search already did. Fit plain kernel k-means to compare."""
    estimator, weights = task.estimator, task.weights
    timed = partial(timed_fit, X=task.Z, quiet=job.quiet, sample_weight=weights, like=task.like)
    if search is not None and weights is None:
        estimator, seconds = search.best_estimator_, search.refit_time_
    else:
        seconds = timed(estimator, "clustering")
    if not job.compare:
        return Fitted(estimator, seconds)
    shared = KernelKMeans().get_params().keys() - {"n_swaps"}
    plain = KernelKMeans(**{name: getattr(estimator, name) for name in shared})
    plain_seconds = timed(plain, "comparing with plain k-means")
    return Fitted(estimator, seconds, plain, plain_seconds)
