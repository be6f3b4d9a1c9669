"""The work behind the commands: read, fit or predict, and only then write."""

import inspect
import math
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click
import numpy as np
import scipy.sparse
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from kernelmeans import KernelKMeans, KernelPowerKMeans, MultiKernelPowerKMeans
from kernelmeans._text import bounded, listed
from kernelmeans.cli.atomic import check_writable, write_all
from kernelmeans.cli.choice import ColumnChoice, Data, finite_matrix, load_data
from kernelmeans.cli.disk import PreparedRows, blocks
from kernelmeans.cli.errors import BadInputError, estimator_errors
from kernelmeans.cli.model import Model, damaged_model_errors, load_model
from kernelmeans.cli.outputs import (
    OutputChoice,
    as_json,
    figure_writer,
    json_writer,
    labels_writer,
)
from kernelmeans.cli.progress import hide_progress, show_progress
from kernelmeans.cli.summary import as_text, fit_summary, predict_summary
from kernelmeans.cli.tables import Table, read_table
from kernelmeans.cli.views import FoundViews, NamedKernel, Views, read_views
from kernelmeans.memory import budget_bytes
from kernelmeans.rows import Rows

#: Share of the memory budget that the numbers of a table may take; larger ones stay on disk.
SHARE = 0.25
#: Fraction by which equal costs may differ.
ROUNDING = 1e-6


@dataclass(frozen=True)
class Talk:
    """How much a command says."""

    quiet: bool = False
    as_json: bool = False

    def summary(self, content: dict[str, Any]) -> None:
        """Print a summary on stdout."""
        if self.as_json:
            click.echo(as_json(content))
        elif not self.quiet:
            click.echo(as_text(content))

    def note(self, text: str) -> None:
        """Print a remark on stderr."""
        if not self.quiet:
            click.echo(f"Note: {bounded(text)}", err=True)


@dataclass(frozen=True)
class FitJob:
    """Everything that ``fit`` was asked to do."""

    source: Path
    parameters: dict[str, Any]
    choice: ColumnChoice = field(default_factory=ColumnChoice)
    outputs: OutputChoice = field(default_factory=OutputChoice)
    talk: Talk = field(default_factory=Talk)
    header: bool = True
    scale: bool = True
    dtype: str = "float64"
    soft: bool = False
    views: Path | None = None

    @property
    def pairwise(self) -> bool:
        """Whether the columns are the rows again, as those of a kernel matrix or a graph."""
        given = self.parameters
        matrix = given.get("kernel") in ("graph", "precomputed")
        return matrix or given.get("metric") == "precomputed"


@dataclass(frozen=True)
class PredictJob:
    """Everything that ``predict`` was asked to do."""

    model: Path
    source: Path
    outputs: OutputChoice
    talk: Talk
    header: bool = True
    memory_budget: str | None = None


@dataclass(frozen=True)
class Plain:
    """Plain kernel k-means from the model's start, to compare the model with."""

    model: KernelKMeans
    seconds: float


@dataclass(frozen=True)
class Fitted:
    """What was fitted.

    Costs under learned kernel weights compare with none under others: a model of views has
    `kernels`, and a model of one kernel has `plain`.
    """

    annealed: KernelPowerKMeans | MultiKernelPowerKMeans
    scaler: StandardScaler | None
    Z: Any
    seconds: float
    plain: Plain | None = None
    kernels: list[NamedKernel] | None = None

    @property
    def plain_won(self) -> bool:
        """Whether plain kernel k-means found the lower cost, by more than rounding."""
        if self.plain is None:
            return False
        return bool(self.annealed.inertia_ > (1 + ROUNDING) * self.plain.model.inertia_)

    @property
    def model(self) -> KernelPowerKMeans | MultiKernelPowerKMeans | KernelKMeans:
        """The model to write: nobody wants worse labels than have been computed."""
        if self.plain is not None and self.plain_won:
            return self.plain.model
        return self.annealed

    @property
    def scaled(self) -> bool:
        """Whether the features were scaled."""
        return self.scaler is not None

    @property
    def pipeline(self) -> Pipeline:
        """The scaler, if there is one, and the model."""
        scaling = [] if self.scaler is None else [("scale", self.scaler)]
        return Pipeline([*scaling, ("cluster", self.model)])


def run_fit(job: FitJob) -> None:
    """Fit the job's data and write its files."""
    files = job.outputs.fit_paths(job.source)
    check_writable(files.values(), source=job.source, force=job.outputs.force)
    views = None if job.views is None else read_views(job.views)
    budget = _budget(job.parameters["memory_budget"])
    # A kernel matrix or a graph is all that a fit with it holds.
    most = math.inf if job.pairwise else _most(budget, job.dtype)
    table = read_table(job.source, header=job.header, most=most, budget=budget)
    found = None if views is None else _find_views(views, table, job)
    choice = job.choice if found is None else replace(job.choice, columns=found.columns)
    data = load_data(table, choice, job.dtype, most)
    if isinstance(data.X, Rows):
        job.talk.note(
            f"{job.source} stays on disk, for it has more numbers than a quarter of the memory "
            "budget holds: it is read block by block, and not compared with plain k-means"
        )
    with estimator_errors():
        fitted = fit(job, data) if found is None else fit_views(job, data, found)
    summary = fit_summary(job.source, data, job.choice, fitted, files)
    memberships = fitted.model.memberships_ if job.soft else None
    if job.soft and memberships is None:
        job.talk.note("the memberships would not fit into memory and are left out")
    # The machine that predicts may have no such device.
    fitted.model.set_params(device=None)
    writers = {
        files["labels"]: labels_writer(fitted.model.labels_, memberships),
        files["model"]: Model(fitted.pipeline, data.columns, job.dtype).write,
        files["summary"]: json_writer(summary),
    }
    if "plot" in files:
        from kernelmeans.plotting import plot_fit

        figure = plot_fit(
            fitted.model, fitted.Z, kernel_names=None if found is None else found.names
        )
        writers[files["plot"]] = figure_writer(figure, files["plot"])
    write_all(writers)
    job.talk.summary(summary)


def fit(job: FitJob, data: Data) -> Fitted:
    """Scale the data and fit them, annealed and plain."""
    scaler, Z = _scaled(job, data)
    model = KernelPowerKMeans(**job.parameters)
    seconds = _timed_fit(model, Z, data.weights, "clustering", job.talk)
    plain = None if isinstance(Z, Rows) else _fit_plain(job, Z, data.weights)
    return Fitted(model, scaler, Z, seconds, plain=plain)


def _fit_plain(job: FitJob, Z: Any, weights: Any) -> Plain:
    shared = inspect.signature(KernelKMeans).parameters.keys() - {"n_swaps"}
    plain = KernelKMeans(**{name: job.parameters[name] for name in shared & job.parameters.keys()})
    return Plain(plain, _timed_fit(plain, Z, weights, "comparing with plain k-means", job.talk))


def fit_views(job: FitJob, data: Data, views: FoundViews) -> Fitted:
    """Scale the data and fit their views."""
    scaler, Z = _scaled(job, data)
    model = MultiKernelPowerKMeans(**views.parameters, **job.parameters)
    seconds = _timed_fit(model, Z, data.weights, "clustering", job.talk)
    return Fitted(model, scaler, Z, seconds, kernels=views.kernels)


def run_predict(job: PredictJob) -> None:
    """Assign the rows of a table to the clusters of a model and write their labels."""
    file = job.outputs.labels_path(job.source)
    check_writable([file], source=job.source, force=job.outputs.force)
    budget = _budget(job.memory_budget)
    model = load_model(job.model, budget)
    most = _most(budget, model.dtype)
    table = read_table(job.source, header=job.header, most=most, budget=budget)
    X = finite_matrix(table, _model_columns(table, model, job.talk), model.dtype)
    with estimator_errors(), damaged_model_errors(job.model):
        labels = np.concatenate([model.pipeline.predict(rows) for _, rows in blocks(X)])
    write_all({file: labels_writer(labels)})
    job.talk.summary(predict_summary(job.source, labels, model.pipeline[-1].n_clusters, file))


def _budget(memory_budget: str | None) -> int:
    """Bytes that a command may take."""
    with estimator_errors():
        return budget_bytes(memory_budget)


def _most(budget: int, dtype: str) -> float:
    """Numbers of a table that may be in memory."""
    return SHARE * budget / np.dtype(dtype).itemsize


def _find_views(views: Views, table: Table, job: FitJob) -> FoundViews:
    """Find the columns of views, and say which feature columns are in none."""
    features = job.choice.features(table)
    found = views.find(features)
    seen = set(found.columns)
    if ignored := [name for name in features if name not in seen]:
        job.talk.note(f"columns in no view of {views.source} are ignored: {listed(ignored)}")
    return found


def _scaler(job: FitJob, data: Data) -> StandardScaler | None:
    if not job.scale:
        return None
    if job.pairwise:
        what = "graph" if job.parameters["kernel"] != "precomputed" else "precomputed kernel"
        job.talk.note(f"--scale does not apply to a {what}, which stays as it is")
        return None
    # Centring would fill a sparse matrix; no kernel of ours but the dot products depends on it.
    scaler = StandardScaler(with_mean=not scipy.sparse.issparse(data.X))
    with estimator_errors():
        for block, rows in blocks(data.X):
            scaler.partial_fit(rows, None, None if data.weights is None else data.weights[block])
    return scaler


def _scaled(job: FitJob, data: Data) -> tuple[StandardScaler | None, Any]:
    scaler = _scaler(job, data)
    if scaler is None:
        return None, data.X
    if isinstance(data.X, Rows):
        return scaler, PreparedRows(data.X, data.X.dtype, scaler.transform)
    return scaler, scaler.transform(data.X)


def _timed_fit(estimator: Any, X: Any, weights: Any, title: str, talk: Talk) -> float:
    show_progress(estimator, title, quiet=talk.quiet)
    begin = time.perf_counter()
    try:
        estimator.fit(X, sample_weight=weights)
    finally:
        hide_progress(estimator)
    return time.perf_counter() - begin


def _model_columns(table: Table, model: Model, talk: Talk) -> list[str]:
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
        talk.note(f"the model does not use {listed(extra)}")
    return model.columns
