"""The ``paper`` command: run experiments, then write the report of all that is finished."""

import os
import platform
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import psutil
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from threadpoolctl import threadpool_info

from kernelmeans import datasets
from kernelmeans.cli.atomic import check_writable
from kernelmeans.cli.errors import BadInputError, FailedError
from kernelmeans.paper import Cell, Experiment, Failure, Results, Scale, Store, run_cells
from kernelmeans.paper.experiments import EXPERIMENTS
from kernelmeans.report import write_document

#: Failed cells that are named on the terminal.
SHOWN = 5
TITLE = "Kernel k-Means, By All Means: reproduced with kernelmeans"
SEEDS = (
    "matched random starts: NumPy's default_rng(0); data set i of a simulation, and run i of what "
    "has no starts of ours: seed i; sample i of consistency: default_rng((i, n)); all else: 0"
)


@dataclass(frozen=True)
class PaperJob:
    """What is to be run, and where it goes.

    Attributes
    ----------
    names : sequence of str
        Experiments.
    out : Path
        Folder of the report; cells are kept in its folder ``cells``.
    scale : Scale
        Size of the grids.
    workers : int
        Processes.
    force : bool
        Whether finished cells are run again.
    quiet : bool
        Whether nothing is said but errors.
    """

    names: Sequence[str]
    out: Path
    scale: Scale
    workers: int
    force: bool
    quiet: bool


def run_paper(job: PaperJob) -> None:
    """Run the experiments and write the report; fail in the end if a cell did.

    Parameters
    ----------
    job : PaperJob
        What to run.
    """
    started = time.perf_counter()
    _check_folder(job.out)
    store = Store(job.out / "cells")
    chosen = [EXPERIMENTS[name] for name in job.names]
    say: Callable[[str], None] = (lambda text: None) if job.quiet else click.echo
    scale = replace(job.scale, absent=_absent(chosen, job.scale))
    cells = [cell for experiment in chosen for cell in experiment.cells(scale)]
    if job.force:
        for cell in cells:
            store.path(cell).unlink(missing_ok=True)
    with _progress(cells, say, quiet=job.quiet) as on_done:
        try:
            failures = run_cells(cells, store, job.workers, on_done)
        except RuntimeError as error:
            raise FailedError(str(error)) from error
    seconds = time.perf_counter() - started
    _write(job, scale, store, failures, seconds)
    say(f"Wrote {job.out / 'index.html'} in {seconds / 60:.1f} minutes.")
    if failures:
        shown = [_line(failure) for failure in failures[:SHOWN]]
        rest = [f"... and {len(failures) - SHOWN} more"] * (len(failures) > SHOWN)
        lines = [*shown, *rest, "The first of them:", failures[0].trace]
        raise FailedError(
            f"{len(failures)} of {len(cells)} cells failed; what they would show is missing in "
            "the report:\n" + "\n".join(lines)
        )


def _check_folder(out: Path) -> None:
    """Refuse a folder that cannot be written, or whose page is not ours to replace."""
    page = out / "index.html"
    check_writable([page], force=True)
    if page.exists() and not (out / "run.json").exists():
        raise BadInputError(
            f"would overwrite {page}, which no run of this command wrote: choose another --out"
        )


def _line(failure: Failure) -> str:
    return f"{failure.cell.experiment} {dict(failure.cell.parameters)}: {failure.message}"


def _absent(experiments: Sequence[Experiment], scale: Scale) -> frozenset[str]:
    """Benchmark sets that are not here: those needed now are fetched, or are a line on stderr."""
    needed = _needed(experiments, scale)
    absent = {
        name
        for name in _needed(EXPERIMENTS.values(), scale)
        if name not in needed and not datasets.is_present(name)
    }
    for name in needed:
        try:
            datasets.fetch(name, n_retries=1)
        except (OSError, ValueError) as error:
            absent.add(name)
            warnings.warn(f"left out: {error}", stacklevel=2)
    return frozenset(absent)


def _needed(experiments: Iterable[Experiment], scale: Scale) -> list[str]:
    return list(dict.fromkeys(name for e in experiments for name in e.data(scale)))


@contextmanager
def _progress(
    cells: Sequence[Cell], say: Callable[[str], None], *, quiet: bool
) -> Iterator[Callable[[Cell, Failure | None], None]]:
    """A bar over all cells where someone watches, else a line for each finished experiment."""
    left = Counter(cell.experiment for cell in cells)
    failed: Counter[str] = Counter()
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=quiet,
    )
    task = bar.add_task("running", total=len(cells))

    def on_done(cell: Cell, failure: Failure | None) -> None:
        name = cell.experiment
        left[name] -= 1
        failed[name] += failure is not None
        bar.update(task, advance=1, description=name)
        if not left[name]:
            say(f"{name}: {f'{failed[name]} cells failed' if failed[name] else 'done'}")

    if not bar.console.is_terminal:
        bar.disable = True
    with bar:
        yield on_done


def _write(
    job: PaperJob, scale: Scale, store: Store, failures: Sequence[Failure], seconds: float
) -> None:
    """The report of all experiments that have anything to show, not of this run's alone."""
    sections = []
    for experiment in EXPERIMENTS.values():
        results: Results = store.results(experiment.cells(scale))
        if experiment.name in job.names or len(results):
            sections.append(experiment.report(results, scale))
    cells = [cell for experiment in EXPERIMENTS.values() for cell in experiment.cells(scale)]
    provenance = {
        "command": _command(job),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "versions": store.versions,
        "BLAS": _blas(),
        "seeds": SEEDS,
        "machine": _machine(),
        "processes": job.workers,
        "time": f"{seconds / 60:.1f} minutes for this run; all cells of the report together "
        f"{store.seconds(cells) / 60:.1f} minutes of one thread",
        "sets not here": ", ".join(sorted(scale.absent)) or "none",
        "failed cells": "; ".join(map(_line, failures)) or "none",
    }
    try:
        write_document(job.out, TITLE, sections, provenance)
    except OSError as error:
        raise FailedError(f"cannot write {error.filename}: {error.strerror}") from error


def _command(job: PaperJob) -> str:
    names = "all" if tuple(job.names) == tuple(EXPERIMENTS) else " ".join(job.names)
    datasets = "" if job.scale.datasets == Scale().datasets else f" --datasets {job.scale.datasets}"
    return f"kernelmeans paper {names}{' --quick' * job.scale.quick}{datasets}"


def _blas() -> str:
    found = {f"{lib['internal_api']} {lib['version']}" for lib in threadpool_info()}
    return ", ".join(sorted(found))


def _machine() -> str:
    memory = psutil.virtual_memory().total / 2**30
    return f"{platform.system()} on {platform.machine()}, {os.cpu_count()} cores, {memory:.0f} GiB"


def default_workers() -> int:
    """Return as many processes as this one may use cores."""
    affinity: Any = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
