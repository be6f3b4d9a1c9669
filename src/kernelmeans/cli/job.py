"""The work of fit and choose: read, fit or search, and only then write."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

import click
import numpy as np
import polars as pl
from sklearn.datasets import load_digits
from sklearn.pipeline import Pipeline

from kernelmeans import ClusterSearch, KernelKMeans, KernelPowerKMeans, MultiKernelPowerKMeans
from kernelmeans._devices import HOST
from kernelmeans._errors import InputError
from kernelmeans._files import Writer
from kernelmeans._text import bounded
from kernelmeans._typing import DTypeName
from kernelmeans.cli import outputs
from kernelmeans.cli.data import ColumnChoice
from kernelmeans.cli.errors import NoClustersError, estimator_errors
from kernelmeans.cli.labels import identifiers, labels_writer
from kernelmeans.cli.outputs import as_json
from kernelmeans.cli.prepare import Task, prepare
from kernelmeans.cli.profiles import Profiles, names_of_rows
from kernelmeans.cli.progress import timed_fit
from kernelmeans.cli.report import report_writer
from kernelmeans.cli.search import numbers_to_try, run_search, search_text
from kernelmeans.cli.summary import as_text, columns_taken, fit_summary, percent_above
from kernelmeans.heat.metric import NORMS
from kernelmeans.models import Labels, Model, load_model
from kernelmeans.models.far import far_beyond
from kernelmeans.models.files import write_model
from kernelmeans.models.model import changed_columns, renumber
from kernelmeans.tables.files import Reading, stem_of
from kernelmeans.tables.files.tables import check_reading


@dataclass(frozen=True, kw_only=True)
class Job(Reading):
    """A command and its options; `kernelmeans.cli.options` makes the options of the parameters.

    Parameters
    ----------
    data : Path
        The table.
    memory_budget : str or None, default=None
        Memory to take, in bytes or as in 4GB, by default 80 % of all memory; Parquet, NPY and Zarr
        tables of more than a quarter of it stay on disk, and archives that unpack to more than it
        are refused.
    output_dir : folder or None, default=None
        Folder of the files written, by default that of the input.
    labels : output file or None, default=None
        Write the labels into this file instead of STEM.labels.csv.
    force : bool, default=False
        Overwrite files that exist.
    as_json : bool, default=False
        Print the summary as JSON.
    quiet : bool, default=False
        Print nothing but errors, and with --json the summary.
    """

    data: Path
    memory_budget: str | None = None
    output_dir: Path | None = None
    labels: Path | None = None
    force: bool = False
    as_json: bool = False
    quiet: bool = False

    @classmethod
    def of(cls, chosen: Mapping[str, Any], **more: Any) -> Self:
        """Make a job of the options of a command, and ignore options that are not of a job."""
        known = {field.name for field in fields(cls)} & chosen.keys()
        return cls(**{name: chosen[name] for name in known}, **more)

    def place(self, chosen: Path | None, ending: str) -> Path:
        """Return the path of a file: the chosen one, or one named after the input."""
        folder = self.data.parent if self.output_dir is None else self.output_dir
        return chosen or folder / (stem_of(self.data) + ending)

    def check(self) -> None:
        """Refuse values of options that can be told without the data."""
        self.budget()
        check_reading(self)

    def budget(self) -> int:
        """Return the bytes that the command may take."""
        try:
            return HOST.budget(self.memory_budget).n_bytes
        except ValueError as error:
            raise InputError(str(error)) from error

    def report(
        self, content: dict[str, Any], text: Callable[[dict[str, Any]], str] = as_text
    ) -> None:
        """Print a summary on stdout."""
        if self.as_json:
            click.echo(as_json(content))
        elif not self.quiet:
            click.echo(text(content))

    def say(self, text: str) -> None:
        """Print lines on stderr."""
        if not self.quiet:
            click.echo(text, err=True)

    def note(self, text: str) -> None:
        """Print a remark on stderr."""
        if not self.quiet:
            click.echo(f"Note: {bounded(text)}", err=True)


@dataclass(frozen=True, kw_only=True)
class TableJob(Job, ColumnChoice):
    """A fit or a search: what is done with the rows of a table.

    Parameters
    ----------
    parameters : dict
        Parameters of the estimator.
    n_clusters : numbers of clusters or None, default=None
        Number of clusters, or a range to choose it from; auto, the default, is 2-12.
    scale : bool, default=True
        Center every feature and scale it to unit variance; stored in the model. Columns stay as
        they are where their origin counts, as with the metric cosine.
    dtype : {"float64", "float32"}, default="float64"
        Precision; float32 needs half the memory.
    views : input file or None, default=None
        Several kernels, each of some columns, from a TOML file; their weights are learned.
    plot : bool, default=False
        Draw a map of the clusters into STEM.png, the scores of a choice into STEM.choose.png.
    plot_file : picture file or None, default=None
        Draw what is found into this file, .png, .svg or .pdf.
    """

    parameters: dict[str, Any]
    n_clusters: range | None = None
    scale: bool = True
    dtype: DTypeName = "float64"
    views: Path | None = None
    plot: bool = False
    plot_file: Path | None = None

    #: How the names of the files end, after that of the input.
    endings: ClassVar[dict[str, str]]

    def files(self) -> dict[str, Path]:
        """Return the paths of all files to write."""
        paths: dict[str, Path | None] = {**vars(self), "plot": self.plot_file}
        wanted = {"plot": self.plot or self.plot_file, "report": vars(self).get("page")}
        return {
            name: self.place(paths.get(name), ending)
            for name, ending in self.endings.items()
            if wanted.get(name, True)
        }

    @property
    def chooses(self) -> bool:
        """Whether the number of clusters is chosen."""
        return self.n_clusters is None or len(self.n_clusters) > 1

    def check(self) -> None:
        """Refuse values of options that can be told without the data."""
        super().check()
        if self.chooses and self.n_clusters is not None and self.n_clusters[0] < 2:
            raise InputError("-k is 2 or more: one cluster is always a possible answer")

    def check_writable(self) -> None:
        """Refuse files that could not be written."""
        outputs.check_writable(self.files().values(), source=self.data, force=self.force)

    @property
    def pairwise(self) -> bool:
        """Whether the columns are the rows again, as in a kernel matrix or a graph."""
        given = self.parameters
        matrix = given.get("kernel") in ("graph", "precomputed")
        return matrix or given.get("metric") == "precomputed"

    @property
    def sees_origin(self) -> str | None:
        """The choice with which rows that are moved, or scaled by columns, are other rows."""
        kernel, metric = self.parameters.get("kernel"), self.parameters.get("metric")
        if kernel in ("cosine", "geodesic"):
            return f"--kernel {kernel}"
        moves = kernel != "heat" or metric in (*NORMS, "precomputed", None)
        return None if moves else f"--metric {metric}"

    @property
    def scales(self) -> bool:
        """Whether columns are scaled."""
        return self.scale and not self.sees_origin


@dataclass(frozen=True, kw_only=True)
class FitJob(TableJob):
    """A fit.

    Parameters
    ----------
    compare : bool, default=False
        Fit plain kernel k-means from the same start too; the labels that cost less are written.
    model : output file or None, default=None
        Write the model into this file instead of STEM.model.skops.
    summary : output file or None, default=None
        Write the summary into this file instead of STEM.summary.json.
    profiles : output file or None, default=None
        Write what the clusters are, by all columns, into this file instead of STEM.clusters.csv.
    soft : bool, default=False
        Add the memberships in all clusters to the labels file.
    like : input file or None, default=None
        Keep the numbers of the clusters of this earlier model that are found again; columns are
        decided afresh.
    page : bool, default=False
        Write a report to read and to print into STEM.report.html: sizes, a map, what characterises
        the clusters, and how certain they are.
    rows : bool, default=False
        Show typical rows of each cluster in the report, which otherwise holds aggregates alone.
    arguments : sequence of str
        The command line, which the report repeats.
    """

    compare: bool = False
    model: Path | None = None
    summary: Path | None = None
    profiles: Path | None = None
    soft: bool = False
    like: Path | None = None
    page: bool = False
    rows: bool = False
    arguments: Sequence[str] = ()

    endings: ClassVar = {
        "labels": ".labels.csv",
        "model": ".model.skops",
        "summary": ".summary.json",
        "profiles": ".clusters.csv",
        "plot": ".png",
        "report": ".report.html",
    }

    def check_writable(self) -> None:
        """Refuse files that could not be written, those of a search included."""
        ours = self.files().values()
        others = [path for path in self.search_files().values() if path not in ours]
        outputs.check_writable([*ours, *others], source=self.data, force=self.force)

    def search_files(self) -> dict[str, Path]:
        """Return the paths of the files that were asked for, if no clusters would be found again.

        The picture shows the scores. It has the name that ``choose`` gives it, and is written
        beside that of the clusters too, unless ``--plot-file`` names one file for both.
        """
        files = {}
        if self.chooses and self.summary is not None:
            files["summary"] = self.summary
        if self.chooses and (self.plot or self.plot_file):
            files["plot"] = self.place(self.plot_file, ChooseJob.endings["plot"])
        return files


@dataclass(frozen=True, kw_only=True)
class ChooseJob(TableJob):
    """A search for the number of clusters and the kernel.

    Parameters
    ----------
    kernels : names of kernels, default=("heat",)
        Kernels to choose from, separated by commas.
    results : output file or None, default=None
        Write the results into this file instead of STEM.choose.json.
    search : dict
        Parameters of `kernelmeans.ClusterSearch`.
    options : mapping of str to sequence of str
        Options that the next fit takes too, as words of a command, by the names of parameters.
    """

    kernels: Sequence[str] = ("heat",)
    results: Path | None = None
    search: dict[str, Any]
    options: Mapping[str, Sequence[str]]

    endings: ClassVar = {"results": ".choose.json", "plot": ".choose.png"}
    chooses: ClassVar = True

    def check(self) -> None:
        """Refuse values of options that can be told without the data."""
        super().check()
        with estimator_errors():
            ClusterSearch(None, {}, **self.search)._validate_params()
        if len(self.kernels) > 1 and (self.pairwise or {"graph", "precomputed"} & {*self.kernels}):
            raise InputError(
                "--kernels takes a single kernel where the table is a kernel matrix or a graph"
            )


@dataclass(frozen=True)
class Fitted:
    """The fitted model, and with ``--compare`` plain kernel k-means from the same start."""

    annealed: KernelPowerKMeans | MultiKernelPowerKMeans
    preparation: Any
    seconds: float
    plain: KernelKMeans | None = None
    plain_seconds: float = 0.0

    @property
    def percent_above_plain(self) -> float:
        """By how many percent of the plain cost the annealed one lies above it."""
        if self.plain is None:
            return 0.0
        costs = self.annealed.inertia_, self.plain.inertia_
        return percent_above(*costs, self.annealed.objective_history_[0])

    @property
    def model(self) -> KernelPowerKMeans | MultiKernelPowerKMeans | KernelKMeans:
        """The model of lower cost."""
        if self.plain is not None and self.percent_above_plain > 0:
            return self.plain
        return self.annealed

    @property
    def pipeline(self) -> Pipeline:
        """What makes numbers of the table, if anything does, and the model."""
        before = [] if self.preparation is None else [("prepare", self.preparation)]
        return Pipeline([*before, ("cluster", self.model)])


def run_fit(job: FitJob) -> None:
    """Fit the job's data and write its files; choose the number of clusters first if need be."""
    begin, files = time.perf_counter(), job.files()
    others = [path for path in job.search_files().values() if path not in files.values()]
    task = prepare(job)
    names = identifiers(task.table, job.id_column)
    earlier = None if job.like is None else _earlier(job.like, job, task)
    search, chosen = None, {}
    if job.chooses:
        search, chosen["search"] = _choose_clusters(job, task)
        if (scores := job.search_files().get("plot")) in others:
            files["scores"] = scores
    with estimator_errors():
        fitted = fit(job, task, search)
        far = far_beyond(fitted.model, task.Z, task.weights)
    reading = task.table.reading.chosen()
    model, estimator = Model(fitted.pipeline, task.columns, job.dtype, reading, far), fitted.model
    if earlier is not None:
        _renumber(job, model, *earlier)
    row_names = names_of_rows(task, names)
    profiles = Profiles.of(job, task, estimator, row_names)
    if not profiles:
        del files["profiles"]
    summary = fit_summary(job, task, fitted, files) | chosen | profiles.summary()
    summary["seconds_in_all"] = time.perf_counter() - begin
    memberships = estimator.memberships_ if job.soft else None
    if job.soft and memberships is None:
        job.note("the memberships would not fit into memory and are left out")
    placed = np.full(len(estimator.labels_), True) if task.rows is None else task.rows
    known = estimator.labels_, estimator.distances_, estimator.certainty_
    labels = Labels.of_placed(placed, *known)
    writers: dict[Path, Writer] = {
        files["labels"]: labels_writer(labels, names, memberships),
        files["model"]: partial(write_model, model),
        files["summary"]: outputs.json_writer(summary),
    }
    if "profiles" in files:
        writers[files["profiles"]] = profiles.write
    if "plot" in files:
        from kernelmeans.plotting import plot_fit

        drawn = plot_fit(fitted.pipeline, task.X)
        writers[files["plot"]] = outputs.picture_writer(drawn, files["plot"])
    if search is not None and "scores" in files:
        writers[files["scores"]] = outputs.picture_writer(search.plot(), files["scores"])
    if "report" in files:
        writers[files["report"]] = report_writer(job, task, fitted.pipeline, search, row_names)
    outputs.write_all(writers)
    job.report(summary, partial(as_text, clusters=profiles.text()))


def _earlier(path: Path, job: FitJob, task: Task) -> tuple[Model, Any]:
    """An earlier model, and the labels that it gives the rows of the fit."""
    with estimator_errors():
        earlier = load_model(path, job.budget())
        labels = earlier.label(task.table).labels
    return earlier, labels if task.rows is None else labels[task.rows]


def _renumber(job: FitJob, model: Model, earlier: Model, labels: Any) -> None:
    """Keep the numbers of clusters of an earlier model, and say what has changed."""
    if changes := changed_columns(model, earlier):
        job.note(
            f"the columns are decided afresh, and are not those of {job.like}: {changes}; "
            "--columns and --drop choose them"
        )
    for remark in renumber(model, earlier, labels, str(job.like)):
        job.note(remark)


def fit(job: FitJob, task: Task, search: ClusterSearch | None = None) -> Fitted:
    """Fit the estimator, unless a search has, and plain kernel k-means too if the job compares."""
    estimator, weights = task.estimator, task.weights
    timed = partial(timed_fit, X=task.Z, quiet=job.quiet, sample_weight=weights)
    if search is not None and weights is None:
        estimator, seconds = search.best_estimator_, search.refit_time_
    else:
        seconds = timed(estimator, "clustering")
    if not job.compare:
        return Fitted(estimator, task.preparation, seconds)
    shared = KernelKMeans().get_params().keys() - {"n_swaps"}
    plain = KernelKMeans(**{name: getattr(estimator, name) for name in shared})
    plain_seconds = timed(plain, "comparing with plain k-means")
    return Fitted(estimator, task.preparation, seconds, plain, plain_seconds)


def _choose_clusters(job: FitJob, task: Task) -> tuple[ClusterSearch, dict[str, Any]]:
    """Set the number of clusters to the one that a search chooses."""
    counts = numbers_to_try(job, task.Z.shape[0])
    job.note(f"a number of clusters, as in -k {counts[-1]}, is fitted at once")
    search, found = run_search(job, task, counts, [job.parameters.get("kernel", "")])
    if found["chosen"] is None:
        _write_search(job, search, found, job.search_files())
        raise NoClustersError(
            f"{found['verdict']}. No model is written; -k with a number writes one all the same"
        )
    if not job.as_json:
        job.report(found, search_text)
    task.estimator.set_params(n_clusters=found["clusters"])
    return search, found


def run_choose(job: ChooseJob) -> None:
    """Search for the number of clusters and the kernel, and write the results."""
    task = prepare(job)
    counts = numbers_to_try(job, task.Z.shape[0])
    search, found = run_search(job, task, counts, job.kernels, job.options, **job.search)
    _write_search(job, search, found | columns_taken(task.preparation), job.files())


def _write_search(
    job: TableJob, search: ClusterSearch, found: dict[str, Any], files: Mapping[str, Path]
) -> None:
    found["files"] = {name: str(path) for name, path in files.items()}
    writers = {path: outputs.json_writer(found) for path in files.values()}
    if "plot" in files:
        writers[files["plot"]] = outputs.picture_writer(search.plot(), files["plot"])
    outputs.write_all(writers)
    job.report(found, search_text)


def write_digits(path: Path, label: str, *, force: bool) -> None:
    """Write 1797 handwritten digits, one image of 64 pixels a line, and which digit each is."""
    outputs.check_writable([path], force=force)
    digits = load_digits()
    names = [f"pixel_{row}_{column}" for row in range(8) for column in range(8)]
    frame = pl.DataFrame(digits.data.astype("int8"), schema=names)
    frame = frame.with_columns(pl.Series(label, digits.target))
    outputs.write_all({path: frame.write_csv})
