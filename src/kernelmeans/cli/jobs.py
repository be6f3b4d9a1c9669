"""Jobs: commands with their options. They check these before anything heavy is imported."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Self

import click

from kernelmeans._errors import InputError
from kernelmeans._sizes import budget_bytes
from kernelmeans._text import bounded
from kernelmeans._typing import DTypeName
from kernelmeans.cli import outputs
from kernelmeans.cli.data import ColumnChoice
from kernelmeans.cli.errors import estimator_errors
from kernelmeans.tables.files import Reading, stem_of
from kernelmeans.tables.files.suffixes import known_suffix


@dataclass(frozen=True, kw_only=True)
class Job(Reading):
    """A command and its options. `kernelmeans.cli.options` makes an option of each parameter.

    Parameters
    ----------
    data : Path
        The table.
    memory_budget : str or None, default=None
        Memory to take, in bytes or as in 4GB, by default 80 % of all memory. Parquet, NPY and Zarr
        tables of more than a quarter of it stay on disk. Archives that unpack to more are refused.
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

    #: Endings of file names, after the name of the input.
    endings: ClassVar[dict[str, str]]

    @classmethod
    def of(cls, chosen: Mapping[str, Any], **more: Any) -> Self:
        """Make a job from the options of a command. Options that a job lacks are ignored.

        A job that is wrong whatever the table holds is refused before the table is opened.
        """
        known = {field.name for field in fields(cls)} & chosen.keys()
        job = cls(**{name: chosen[name] for name in known}, **more)
        job.check()
        known_suffix(job.data)
        outputs.check_writable(job.files().values(), source=job.data, force=job.force)
        return job

    def place(self, chosen: Path | None, ending: str) -> Path:
        """Return the path of a file: the chosen path, or one named after the input."""
        folder = self.data.parent if self.output_dir is None else self.output_dir
        return chosen or folder / (stem_of(self.data) + ending)

    def files(self) -> dict[str, Path]:
        """Return the paths of all files to write."""
        given = vars(self)
        paths: dict[str, Path | None] = {**given, "plot": given.get("plot_file")}
        wanted = {"plot": given.get("plot") or paths["plot"], "report": given.get("page")}
        return {
            name: self.place(paths.get(name), ending)
            for name, ending in self.endings.items()
            if wanted.get(name, True)
        }

    def usual_files(self) -> list[Path]:
        """Return the paths of all files that such a job can write, if no option names them."""
        return [self.place(None, ending) for ending in self.endings.values()]

    def check(self) -> None:
        """Refuse options that are wrong whatever the data."""
        super().check()
        if self.memory_budget is not None:
            with estimator_errors():
                budget_bytes(self.memory_budget)

    def budget(self) -> int:
        """Return the bytes that the command may take."""
        from kernelmeans._devices import HOST

        return HOST.budget(self.memory_budget).n_bytes

    def report(self, content: dict[str, Any], text: Callable[[dict[str, Any]], str]) -> None:
        """Print a summary on stdout."""
        if self.as_json:
            click.echo(outputs.as_json(content))
        elif not self.quiet:
            click.echo(text(content))

    def say(self, text: str) -> None:
        """Print lines on stderr."""
        if not self.quiet:
            click.echo(text, err=True)

    def note(self, text: str) -> None:
        """Print a remark on stderr."""
        self.say(f"Note: {bounded(text)}")


@dataclass(frozen=True, kw_only=True)
class TableJob(Job, ColumnChoice):
    """A fit or a search on the rows of a table.

    Parameters
    ----------
    parameters : dict
        Parameters of the estimator.
    n_clusters : numbers of clusters or None, default=None
        Number of clusters, or a range to choose it from, as in 2-12, of which all numbers are
        tried; auto, the default, tries 2 to 8, 10, 12, more while those are found again, and the
        numbers near the best.
    n_jobs : int, default=-1
        Fits of a choice at the same time, -1 for as many as cores; the results are the same.
    scale : bool, default=True
        Center every feature and scale it to unit variance; stored in the model. Columns stay as
        they are where their origin counts, as with the metric cosine, and so do those of obsm.
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
    n_jobs: int = -1
    scale: bool = True
    dtype: DTypeName = "float64"
    views: Path | None = None
    plot: bool = False
    plot_file: Path | None = None

    @property
    def chooses(self) -> bool:
        """Whether the number of clusters is chosen."""
        return self.n_clusters is None or len(self.n_clusters) > 1

    def check(self) -> None:
        """Refuse options that are wrong whatever the data."""
        super().check()
        first = 2 if self.n_clusters is None else self.n_clusters[0]
        if self.chooses and first < 2:
            raise InputError("-k is 2 or more: one cluster is always a possible answer")
        if first < 1:
            raise InputError(f"-k must be an int in the range [1, inf). Got {first} instead.")

    @property
    def pairwise(self) -> bool:
        """Whether each column stands for a row, as in a kernel matrix or a graph."""
        given = self.parameters
        matrix = given.get("kernel") in ("graph", "precomputed")
        return matrix or given.get("metric") == "precomputed"

    @property
    def sees_origin(self) -> str | None:
        """The option whose result changes if columns are centered or scaled; None if none is."""
        from kernelmeans.heat.metric import NORMS

        kernel, metric = self.parameters.get("kernel"), self.parameters.get("metric")
        if kernel in ("cosine", "geodesic"):
            return f"--kernel {kernel}"
        moves = kernel != "heat" or metric in (*NORMS, "precomputed", None)
        return None if moves else f"--metric {metric}"

    @property
    def unscaled(self) -> str | None:
        """Why columns are never scaled; None if they may be."""
        if (self.take or "").startswith("obsm:"):
            return "those of obsm, such as principal components, count as much as they vary"
        return self.sees_origin and f"{self.sees_origin} depends on their origin"

    @property
    def scales(self) -> bool:
        """Whether columns are scaled."""
        return self.scale and not self.unscaled


@dataclass(frozen=True, kw_only=True)
class FitJob(TableJob):
    """A fit.

    Parameters
    ----------
    compare : bool, default=False
        Fit plain kernel k-means from the same start too. The labels that cost less are written,
        unless the graph has decided for others of nearly the same cost.
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
        Show typical rows of each cluster in the report, their texts, and words of texts; otherwise
        it holds aggregates alone.
    arguments : sequence of str
        The command line, which the report repeats.
    warned : sequence of str
        The warnings so far, which the summary repeats.
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
    warned: Sequence[str] = ()

    endings: ClassVar = {
        "labels": ".labels.csv",
        "model": ".model.skops",
        "summary": ".summary.json",
        "profiles": ".clusters.csv",
        "plot": ".png",
        "report": ".report.html",
    }

    def files(self) -> dict[str, Path]:
        """Return the paths of all files to write.

        The scores of a choice have the name that ``choose`` gives them, and are drawn beside the
        clusters, unless ``--plot-file`` names one file for both.
        """
        files = super().files()
        if self.chooses and self.plot and self.plot_file is None:
            files["scores"] = self.place(None, ChooseJob.endings["plot"])
        return files

    def search_files(self) -> dict[str, Path]:
        """Return the paths of the files that were asked for, if no clusters would be found again.

        The picture shows the scores.
        """
        files = self.files()
        picture, page = files.get("scores", self.plot_file), files.get("report")
        chosen = {"summary": self.summary, "plot": picture, "report": page}
        return {name: path for name, path in chosen.items() if path is not None}


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
        """Refuse options that are wrong whatever the data."""
        super().check()
        if len(self.kernels) > 1 and (self.pairwise or {"graph", "precomputed"} & {*self.kernels}):
            raise InputError(
                "--kernels takes a single kernel where the table is a kernel matrix or a graph"
            )


@dataclass(frozen=True, kw_only=True)
class PredictJob(Job):
    """The clusters of new rows.

    Parameters
    ----------
    id_column : str or None, default=None
        Names of the rows, to be named again: no feature, but kept in the labels file.
    """

    id_column: str | None = None

    endings: ClassVar = {"labels": ".labels.csv"}

    def check(self) -> None:
        """Refuse a model in the place of the table."""
        super().check()
        if self.data.suffix == ".skops":
            raise InputError(
                f"{self.data}: is a model, which comes before the table, as in kernelmeans predict "
                f"{self.data} TABLE"
            )
