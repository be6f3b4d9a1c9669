"""The commands. Heavy imports wait until the arguments are right: ``--help`` answers at once."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from kernelmeans import __version__
from kernelmeans._dialect import speaking
from kernelmeans._errors import InputError
from kernelmeans.cli import options, outputs
from kernelmeans.cli.errors import FriendlyGroup, installed, require, warnings_as_lines


@click.group(cls=FriendlyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="kernelmeans", message="%(prog)s %(version)s")
def app() -> None:
    """Cluster the rows of a table with annealed kernel k-means.

    Exit codes: 0 done, 1 failed, 2 bad input or usage, 3 no clusters that would be found again (fit
    without a number of clusters), 130 interrupted, 129 and 143 ended by a signal.
    """


@app.command(
    cls=options.GroupedCommand,
    takes=options.for_fit,
    first="n_clusters drop categorical missing id_column label_column kernel plot page output_dir",
)
@click.argument("data", type=options.TABLE)
@click.pass_context
def fit(ctx: click.Context, /, **chosen: Any) -> None:
    """Cluster the rows of DATA, a table.

    With -k 5 there are five clusters. Without -k, or with -k auto, their number is first chosen as
    "kernelmeans choose" does, which takes longer.

    DATA is text (.csv, .tsv, .tab, .txt, .data, .dat, also with .gz or .zip), .xlsx, .h5ad,
    .parquet, .npy, .npz or .zarr, or - for text from standard input, whose files are named stdin.

    Writes files beside DATA, named as it is: data.labels.csv (one line per row, counted from 0),
    data.clusters.csv (what the clusters are), data.model.skops (for "kernelmeans predict") and
    data.summary.json, with --plot also data.png, with --report a page to read, data.report.html.
    In the help of options STEM stands for the name of DATA without its suffix.
    """
    parameters = options.estimator_parameters(ctx)

    with _prepared(chosen) as warned:
        from kernelmeans.cli.jobs import FitJob

        arguments = ctx.meta[options.ARGUMENTS]
        job = FitJob.of(chosen, parameters=parameters, arguments=arguments, warned=warned)

        from kernelmeans.cli.fit import run_fit

        run_fit(job)


@app.command(
    cls=options.GroupedCommand,
    takes=options.for_choose,
    first="n_clusters kernels drop label_column plot n_splits n_jobs as_json",
)
@click.argument("data", type=options.TABLE)
@click.pass_context
def choose(ctx: click.Context, /, **chosen: Any) -> None:
    """Choose the number of clusters of DATA, and a kernel.

    Halves of the rows are clustered again and again. A number of clusters counts if all of them are
    found again. It does not count if another number is found again far more surely. The answer is
    the largest number that counts, or that there are no clusters. Prints a table and the
    "kernelmeans fit" to run next. Writes STEM.choose.json beside DATA, where STEM is the name of
    DATA without its suffix, with --plot also STEM.choose.png.
    """
    parameters = options.estimator_parameters(ctx)
    search = {name: chosen[name] for name in options.SEARCH}
    for_fit = options.given_for_fit(ctx)

    with _prepared(chosen):
        from kernelmeans.cli.jobs import ChooseJob

        job = ChooseJob.of(chosen, parameters=parameters, search=search, options=for_fit)

        from kernelmeans.cli.choose import run_choose

        run_choose(job)


@app.command(
    cls=options.GroupedCommand,
    takes=options.for_predict,
    short_help="Assign new rows to the clusters of a model.",
)
@click.argument("model", type=options.EXISTING)
@click.argument("data", type=options.TABLE)
def predict(**chosen: Any) -> None:
    """Assign the rows of DATA to the clusters of MODEL, a file that "kernelmeans fit" wrote.

    Columns are found by name, in any order; columns that the model does not have are ignored.
    DATA is read by the options of the fit, such as --sheet, unless others are given. Loading a
    model runs no code from it: files from strangers are safe.

    Writes STEM.labels.csv, where STEM is the name of DATA without its suffix. Rows that cannot be
    placed have an empty label there, and with a fit with --outliers those of no cluster have -1.
    The column far marks rows that are unlike those of the fit: their distance to the nearest
    centroid, with heat kernels to the nearest row of the fit, is larger than that of 99 % of the
    rows of the fit.
    """
    with _prepared(chosen):
        from kernelmeans.cli.jobs import PredictJob

        job = PredictJob.of(chosen)

        from kernelmeans.cli.predict import run_predict

        run_predict(job, chosen["model"])


@app.command(cls=options.GroupedCommand, takes=options.for_demo)
@click.pass_context
def demo(ctx: click.Context, /, output_dir: Path | None, **switches: bool) -> None:
    """Cluster the 1797 handwritten digits that come with scikit-learn.

    Writes digits.csv and then does what "kernelmeans fit digits.csv -k 10 --no-scale
    --label-column digit --plot" does.
    """
    source = (output_dir or Path()) / "digits.csv"
    _require_for(source)

    outputs.check_writable([source], force=switches["force"])

    from kernelmeans.cli.demo import write_digits

    was_there = source.exists()
    write_digits(source)
    arguments = [str(source), "-k", "10", "--no-scale", "--label-column", "digit"]
    arguments += ["--plot"] * installed("matplotlib")
    if not (switches["quiet"] or switches["as_json"]):
        click.echo(f"kernelmeans fit {' '.join(arguments)}")
    arguments += [f"--{name.removeprefix('as_')}" for name, on in switches.items() if on]
    with fit.make_context("fit", arguments, parent=ctx) as fit_context:
        try:
            fit.invoke(fit_context)
        except (click.ClickException, InputError):
            if not was_there:
                source.unlink(missing_ok=True)
            raise


@contextmanager
def _prepared(chosen: Mapping[str, Any]) -> Iterator[list[str]]:
    """Require the packages that a command needs, let messages name options, and print warnings.

    Yields
    ------
    list of str
        The warnings so far; more are added as they come.
    """
    _require_for(chosen["data"], picture=chosen.get("plot") or chosen.get("plot_file"))
    names = options.flags(views=chosen.get("views"))
    with warnings_as_lines(quiet=chosen["quiet"]) as warned, speaking(names):
        yield warned


def _require_for(data: Path, *, picture: object = None) -> None:
    """Require the packages that reading a table needs, and a picture if there is one."""
    readers = {".xlsx": ["fastexcel"], ".h5ad": ["anndata"]}.get(data.suffix.lower(), [])
    readers += ["zarr"] * (data.is_dir() and data.suffix.lower() == ".zarr")
    require("polars", "rich", "skops", *readers, *["matplotlib"] * bool(picture))
