"""The commands. Only click is imported here, so that ``--help`` answers at once."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kernelmeans.cli.errors import FriendlyGroup, warnings_as_lines
from kernelmeans.cli.extras import installed, require
from kernelmeans.cli.grouped import GroupedCommand
from kernelmeans.cli.options import (
    EXISTING,
    FOLDER,
    TABLE,
    check_views,
    data_options,
    estimator_parameters,
    file_options,
    header_option,
    kernel_options,
    memory_option,
    model_file_options,
    schedule_options,
    talk_options,
)

if TYPE_CHECKING:
    from kernelmeans.cli.outputs import OutputChoice


def _print_version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        from kernelmeans import __version__

        click.echo(f"kernelmeans {__version__}")
        ctx.exit()


@click.group(cls=FriendlyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
def app() -> None:
    """Cluster the rows of a table with annealed kernel k-means.

    Exit codes: 0 done, 1 failed, 2 bad input or usage, 130 interrupted, 129 and 143 ended by a
    signal.
    """


@app.command(cls=GroupedCommand)
@click.argument("data", type=TABLE)
@click.option("--n-clusters", "-k", default=8, show_default=True, help="Number of clusters.")
@data_options
@header_option
@memory_option
@kernel_options
@schedule_options
@file_options
@model_file_options
@talk_options
def fit(data: Path, n_clusters: int, **chosen: Any) -> None:
    """Cluster the rows of DATA (.csv, .tsv, .parquet, .npy, .npz or .zarr).

    Writes STEM.labels.csv (one line per row, counted from 0), STEM.model.skops (for
    "kernelmeans predict") and STEM.summary.json beside DATA, with --plot also STEM.png.
    """
    check_views(click.get_current_context())
    _require_for(data)
    outputs = _output_choice(chosen)
    if outputs.draws:
        require("matplotlib")

    from kernelmeans.cli.choice import ColumnChoice
    from kernelmeans.cli.job import FitJob, Talk, run_fit

    job = FitJob(
        source=data,
        parameters={"n_clusters": n_clusters, **estimator_parameters(chosen)},
        choice=ColumnChoice(
            chosen["columns"], chosen["drop"], chosen["label_column"], chosen["weight_column"]
        ),
        outputs=outputs,
        talk=Talk(chosen["quiet"], chosen["as_json"]),
        header=chosen["header"],
        scale=chosen["scale"],
        dtype=chosen["dtype"],
        soft=chosen["soft"],
        views=chosen["views"],
    )
    with warnings_as_lines(quiet=chosen["quiet"]):
        run_fit(job)


@app.command(cls=GroupedCommand)
@click.argument("model", type=EXISTING)
@click.argument("data", type=TABLE)
@header_option
@memory_option
@file_options
@talk_options
def predict(
    model: Path, data: Path, header: bool, memory_budget: str | None, **chosen: Any
) -> None:
    """Assign the rows of DATA to the clusters of MODEL, a file that "kernelmeans fit" wrote.

    Columns are found by name, in any order; others than the model's are ignored. Loading a
    model runs no code from it: files from strangers are safe. Writes STEM.labels.csv.
    """
    _require_for(data)

    from kernelmeans.cli.job import PredictJob, Talk, run_predict

    job = PredictJob(
        model=model,
        source=data,
        outputs=_output_choice(chosen),
        talk=Talk(chosen["quiet"], chosen["as_json"]),
        header=header,
        memory_budget=memory_budget,
    )
    with warnings_as_lines(quiet=chosen["quiet"]):
        run_predict(job)


@app.command(cls=GroupedCommand)
@click.option(
    "--output-dir",
    "-o",
    type=FOLDER,
    default=Path(),
    help="Folder of the files; default: the current one.",
)
@talk_options
@click.pass_context
def demo(ctx: click.Context, output_dir: Path, force: bool, as_json: bool, quiet: bool) -> None:
    """Cluster the 1797 handwritten digits that come with scikit-learn.

    Writes digits.csv and then does what "kernelmeans fit digits.csv -k 10 --no-scale
    --label-column digit --plot" does.
    """
    require("polars", "rich", "skops")

    from kernelmeans.cli.demo import LABEL, write_digits

    source = output_dir / "digits.csv"
    write_digits(source, force=force)
    arguments = [str(source), "-k", "10", "--no-scale", "--label-column", LABEL]
    if installed("matplotlib"):
        arguments.append("--plot")
    if not (quiet or as_json):
        click.echo(f"kernelmeans fit {' '.join(arguments)}")
    switches = {"--force": force, "--json": as_json, "--quiet": quiet}
    arguments += [name for name, on in switches.items() if on]
    with fit.make_context("fit", arguments, parent=ctx) as fit_context:
        fit.invoke(fit_context)


def _require_for(data: Path) -> None:
    """Ask for what a fit or a prediction needs."""
    require("polars", "rich", "skops", *(["zarr"] if data.is_dir() else []))


def _output_choice(chosen: dict[str, Any]) -> "OutputChoice":
    from kernelmeans.cli.outputs import OutputChoice

    return OutputChoice(
        folder=chosen["output_dir"],
        labels=chosen["labels"],
        model=chosen.get("model"),
        summary=chosen.get("summary"),
        plot=chosen.get("plot_file"),
        draw=chosen.get("plot", False),
        force=chosen["force"],
    )
