"""The command ``kernelmeans-paper``: run experiments, write the report of all that is finished."""

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from kernelmeans_paper.campaign import fetch_sets, write_report
from kernelmeans_paper.experiments import EXPERIMENTS
from kernelmeans_paper.grid import Cell, Scale
from kernelmeans_paper.runner import Failure, run_cells
from kernelmeans_paper.store import Store

#: Exit code after Ctrl-C, as shells have it.
INTERRUPTED = 130
#: Failed cells that are named on the terminal.
SHOWN = 5


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1, required=True, type=click.Choice(["all", *EXPERIMENTS]))
@click.option(
    "--out",
    "-o",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("paper-results"),
    show_default=True,
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
def main(names: tuple[str, ...], **options: Any) -> None:
    """Run the experiments of the paper, and ours, and write tables, figures and a page.

    NAMES are experiments, or "all". Everything goes into the folder --out: index.html, results.md,
    tables/, figures/, and cells/ with what is finished. The same command after an interruption
    goes on where it was.

    Exit codes: 0 done, 1 a cell or a file failed, 2 bad usage, 130 interrupted.
    """
    chosen = list(EXPERIMENTS if "all" in names else dict.fromkeys(names))
    try:
        _reproduce(chosen, **options)
    except KeyboardInterrupt:
        click.echo("Interrupted: what is finished is kept.", err=True)
        sys.exit(INTERRUPTED)


def _reproduce(
    names: Sequence[str],
    out: Path,
    quick: bool,
    datasets: int,
    workers: int | None,
    force: bool,
    quiet: bool,
) -> None:
    started = time.perf_counter()
    _check_folder(out)
    workers = workers or _cores()
    refusals = fetch_sets(names, Scale(quick, datasets))
    for refusal in filter(None, refusals.values() if not quiet else ()):
        click.echo(f"Warning: left out: {refusal}", err=True)
    scale = Scale(quick, datasets, frozenset(refusals))
    store = Store(out / "cells")
    cells = [cell for name in names for cell in EXPERIMENTS[name].cells(scale)]
    if force:
        for cell in cells:
            store.path(cell).unlink(missing_ok=True)
    try:
        with _progress(cells, quiet=quiet) as on_done:
            failures = run_cells(cells, store, workers, on_done)
    except RuntimeError as error:
        raise click.ClickException(str(error)) from error
    minutes = (time.perf_counter() - started) / 60
    failed = [_line(failure) for failure in failures]
    try:
        write_report(out, names, scale, store, workers=workers, minutes=minutes, failed=failed)
    except OSError as error:
        raise click.ClickException(f"cannot write {error.filename}: {error.strerror}") from error
    if not quiet:
        click.echo(f"Wrote {out / 'index.html'} in {minutes:.1f} minutes.")
    if failures:
        more = [f"... and {len(failures) - SHOWN} more"] * (len(failures) > SHOWN)
        what = f"{len(failures)} of {len(cells)} cells failed; what they would show is missing:"
        lines = [what, *failed[:SHOWN], *more, "The first of them:", failures[0].trace]
        raise click.ClickException("\n".join(lines))


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


def _cores() -> int:
    """How many cores this process may use."""
    affinity: Any = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


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


if __name__ == "__main__":
    main()
