"""What the commands share: cells that are found, run and shown on the terminal."""

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from kernelmeans_paper.campaign import fetch_sets, needed_sets
from kernelmeans_paper.experiments import EXPERIMENTS
from kernelmeans_paper.grid import Cell, Scale
from kernelmeans_paper.runner import Failure, run_cells
from kernelmeans_paper.store import Store

#: Exit code after Ctrl-C, as shells have it.
INTERRUPTED = 130
#: Failed cells that are named on the terminal.
SHOWN = 5


@contextmanager
def interruptible(message: str) -> Iterator[None]:
    """End with a message and an exit code of its own after Ctrl-C."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo(message, err=True)
        sys.exit(INTERRUPTED)


def check_sets(names: Sequence[str], sets: Sequence[str]) -> None:
    """Refuse sets that none of the experiments has."""
    known = needed_sets(names, Scale())
    for name in sets:
        if name not in known:
            theirs = f"their sets are {', '.join(known)}" if known else "they simulate their data"
            raise click.UsageError(f"--set {name}: not of {', '.join(names)}; {theirs}")


def find_cells(
    names: Sequence[str], scale: Scale, verdict: str, *, quiet: bool
) -> tuple[Scale, list[Cell]]:
    """Get the benchmark sets, and the cells of the experiments that can be run with them.

    Parameters
    ----------
    names : sequence of str
        The experiments.
    scale : Scale
        Size of their grids.
    verdict : str
        What is said of sets that are not to be had.
    quiet : bool
        Whether that is left unsaid.

    Returns
    -------
    scale : Scale
        The scale without those sets.
    cells : list of Cell
        At least one.

    Raises
    ------
    click.ClickException
        If no cell is left, with the files that are wanted.
    """
    refusals = fetch_sets(names, scale)
    reasons = [reason for reason in refusals.values() if reason]
    scale = replace(scale, absent=frozenset(refusals))
    cells = [cell for name in names for cell in EXPERIMENTS[name].cells(scale)]
    if not cells:
        raise click.ClickException("\n".join(["no data are here for any of it.", *reasons]))
    for reason in () if quiet else reasons:
        click.echo(f"Warning: {verdict}: {reason}", err=True)
    return scale, cells


def run_shown(cells: Sequence[Cell], store: Store, workers: int, *, quiet: bool) -> list[Failure]:
    """Run cells with a bar of progress, each in one of so many processes."""
    try:
        with _progress(cells, quiet=quiet) as on_done:
            return run_cells(cells, store, workers, on_done)
    except RuntimeError as error:
        raise click.ClickException(str(error)) from error


def cores() -> int:
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


def line(failure: Failure) -> str:
    """The cell and its error."""
    return f"{failure.cell.experiment} {dict(failure.cell.parameters)}: {failure.message}"


def refuse_failures(failures: Sequence[Failure], count: int) -> None:
    """End with the failed cells, of so many, if there are any."""
    if failures:
        more = [f"... and {len(failures) - SHOWN} more"] * (len(failures) > SHOWN)
        what = f"{len(failures)} of {count} cells failed; what they would show is missing:"
        shown = [line(failure) for failure in failures[:SHOWN]]
        trace = ["The first of them:", failures[0].trace]
        raise click.ClickException("\n".join([what, *shown, *more, *trace]))
