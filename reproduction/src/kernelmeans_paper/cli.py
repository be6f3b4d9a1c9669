"""The command ``kernelmeans-paper``: run experiments, write the report of all that is finished."""

import os
import platform
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import click
import psutil
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from threadpoolctl import threadpool_info

from kernelmeans_paper.datasets import fetch, is_present
from kernelmeans_paper.experiments import EXPERIMENTS
from kernelmeans_paper.grid import Cell, Experiment, Scale
from kernelmeans_paper.report import write_document
from kernelmeans_paper.runner import Failure, run_cells
from kernelmeans_paper.store import Store

#: Exit code after Ctrl-C, as shells have it.
INTERRUPTED = 130
#: Failed cells that are named on the terminal.
SHOWN = 5
TITLE = "Kernel k-Means, By All Means: reproduced with kernelmeans"
SEEDS = (
    "matched random starts: NumPy's default_rng(0); data set i of a simulation, and run i of what "
    "has no starts of ours: seed i; sample i of consistency: default_rng((i, n)); all else: 0"
)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1, required=True, type=click.Choice(["all", *EXPERIMENTS]))
@click.option(
    "--out",
    "-o",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="Folder of the report; made if new.",
)
@click.option("--quick", is_flag=True, help="A small version of everything, in two minutes.")
@click.option(
    "--datasets",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="Data sets that each simulation is repeated on.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 61),  # as many as Windows can wait for
    help="Processes, of one thread each; default: the cores. Changes no result.",
)
@click.option("--force", is_flag=True, help="Run finished cells again.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")
@click.pass_context
def main(
    ctx: click.Context,
    names: tuple[str, ...],
    out: Path,
    quick: bool,
    datasets: int,
    workers: int | None,
    force: bool,
    quiet: bool,
) -> None:
    """Run the experiments of the paper, and ours, and write tables, figures and a page.

    NAMES are experiments, or "all". Everything goes into the folder --out: index.html, results.md,
    tables/, figures/, and cells/ with what is finished. The same command after an interruption
    goes on where it was.

    Exit codes: 0 done, 1 a cell or a file failed, 2 bad usage, 130 interrupted.
    """
    started = time.perf_counter()
    _check_folder(out)
    workers = workers or _default_workers()
    chosen = list(EXPERIMENTS if "all" in names else dict.fromkeys(names))
    asked = Scale(quick=quick, datasets=datasets)
    absent = _absent([EXPERIMENTS[name] for name in chosen], asked, quiet=quiet)
    scale = Scale(quick, datasets, absent)
    cells = [cell for name in chosen for cell in EXPERIMENTS[name].cells(scale)]
    store = Store(out / "cells")
    if force:
        for cell in cells:
            store.path(cell).unlink(missing_ok=True)
    try:
        with _progress(cells, quiet=quiet) as on_done:
            failures = run_cells(cells, store, workers, on_done)
    except KeyboardInterrupt:
        click.echo("Interrupted: what is finished is kept.", err=True)
        ctx.exit(INTERRUPTED)
    except RuntimeError as error:
        raise click.ClickException(str(error)) from error
    minutes = (time.perf_counter() - started) / 60
    run = {
        "command": _command(chosen, scale),
        "processes": workers,
        "time": f"{minutes:.1f} minutes for this run",
        "failed cells": "; ".join(map(_line, failures)) or "none",
    }
    _write(out, chosen, scale, store, run)
    if not quiet:
        click.echo(f"Wrote {out / 'index.html'} in {minutes:.1f} minutes.")
    if failures:
        raise click.ClickException(_summary(failures, len(cells)))


def _check_folder(out: Path) -> None:
    """Refuse a folder that cannot be written, or whose page is not ours to replace."""
    page = out / "index.html"
    if page.exists() and not (out / "run.json").exists():
        raise click.UsageError(
            f"would overwrite {page}, which no run of this command wrote: choose another --out"
        )
    try:
        out.mkdir(parents=True, exist_ok=True)
        # Permissions alone do not tell whether a file can be made.
        with TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise click.UsageError(f"cannot write into the folder {out}: {error.strerror}") from error


def _absent(experiments: Sequence[Experiment], scale: Scale, *, quiet: bool) -> frozenset[str]:
    """Benchmark sets that are not here: those needed now are fetched, or are a line on stderr."""
    needed = _needed(experiments, scale)
    absent = {
        name
        for name in _needed(EXPERIMENTS.values(), scale)
        if name not in needed and not is_present(name)
    }
    for name in needed:
        try:
            fetch(name, n_retries=1)
        except (OSError, ValueError) as error:
            absent.add(name)
            if not quiet:
                click.echo(f"Warning: left out: {error}", err=True)
    return frozenset(absent)


def _needed(experiments: Iterable[Experiment], scale: Scale) -> list[str]:
    return list(dict.fromkeys(name for e in experiments for name in e.data(scale)))


@contextmanager
def _progress(
    cells: Sequence[Cell], *, quiet: bool
) -> Iterator[Callable[[Cell, Failure | None], None]]:
    """A bar over all cells where someone watches, and a line for each finished experiment."""
    left = Counter(cell.experiment for cell in cells)
    failed: Counter[str] = Counter()
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=quiet or not console.is_terminal,
    )
    task = bar.add_task("running", total=len(cells))

    def on_done(cell: Cell, failure: Failure | None) -> None:
        name = cell.experiment
        left[name] -= 1
        failed[name] += failure is not None
        bar.update(task, advance=1, description=name)
        if not (left[name] or quiet):
            click.echo(f"{name}: {f'{failed[name]} cells failed' if failed[name] else 'done'}")

    with bar:
        yield on_done


def _line(failure: Failure) -> str:
    return f"{failure.cell.experiment} {dict(failure.cell.parameters)}: {failure.message}"


def _summary(failures: Sequence[Failure], n_cells: int) -> str:
    """What failed, and where the first error came from."""
    rest = [f"... and {len(failures) - SHOWN} more"] * (len(failures) > SHOWN)
    return "\n".join(
        [
            f"{len(failures)} of {n_cells} cells failed; what they would show is missing in the "
            "report:",
            *map(_line, failures[:SHOWN]),
            *rest,
            "The first of them:",
            failures[0].trace,
        ]
    )


def _write(
    out: Path, chosen: Sequence[str], scale: Scale, store: Store, run: dict[str, Any]
) -> None:
    """The report of all experiments that have anything to show, not of this run's alone."""
    sections, seconds = [], 0.0
    for name, experiment in EXPERIMENTS.items():
        cells = experiment.cells(scale)
        results = store.results(cells)
        seconds += store.seconds(cells)
        if name in chosen or len(results):
            sections.append(experiment.report(results, scale))
    memory = psutil.virtual_memory().total / 2**30
    provenance = {
        "command": run["command"],
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "versions": store.versions,
        "BLAS": _blas(),
        "seeds": SEEDS,
        "machine": f"{platform.system()} on {platform.machine()}, {os.cpu_count()} cores, "
        f"{memory:.0f} GiB",
        "processes": run["processes"],
        "time": f"{run['time']}; all cells of the report together "
        f"{seconds / 60:.1f} minutes of one thread",
        "sets not here": ", ".join(sorted(scale.absent)) or "none",
        "failed cells": run["failed cells"],
    }
    try:
        write_document(out, TITLE, sections, provenance)
    except OSError as error:
        raise click.ClickException(f"cannot write {error.filename}: {error.strerror}") from error


def _command(chosen: Sequence[str], scale: Scale) -> str:
    names = "all" if chosen == list(EXPERIMENTS) else " ".join(chosen)
    datasets = f" --datasets {scale.datasets}" * (scale.datasets != Scale().datasets)
    return f"kernelmeans-paper {names}{' --quick' * scale.quick}{datasets}"


def _blas() -> str:
    found = {f"{lib['internal_api']} {lib['version']}" for lib in threadpool_info()}
    return ", ".join(sorted(found))


def _default_workers() -> int:
    """As many processes as this one may use cores."""
    affinity: Any = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


if __name__ == "__main__":
    main()
