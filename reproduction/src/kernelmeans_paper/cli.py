"""The command ``kernelmeans-paper``: run experiments and write a report, or check a stored one."""

import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

import click

from kernelmeans_paper.campaign import left_out, needed_sets, write_report
from kernelmeans_paper.check import NAMES, SETS, compare, stored_tables
from kernelmeans_paper.datasets import data_folder
from kernelmeans_paper.experiments import EXPERIMENTS
from kernelmeans_paper.grid import Scale
from kernelmeans_paper.statistics import COST_TOLERANCE, MEAN_TOLERANCE
from kernelmeans_paper.store import Store
from kernelmeans_paper.terminal import (
    check_sets,
    cores,
    find_cells,
    interruptible,
    line,
    refuse_failures,
    run_shown,
)


class _Program(click.Group):
    """Experiments are what this program is for: their command ``run`` need not be named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        named = args and args[0] in self.commands
        return super().parse_args(ctx, args if named else ["run", *args])


@click.group(cls=_Program, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """The experiments of the paper on kernel power k-means."""


_ALL_SETS = needed_sets(EXPERIMENTS, Scale())
_SETS = click.option(
    "--set",
    "sets",
    multiple=True,
    type=click.Choice(_ALL_SETS, case_sensitive=False),
    metavar="NAME",
    help="Benchmark set to run on; can be given several times. Simulations run in any case.",
)
_WORKERS = click.option(
    "--workers",
    type=click.IntRange(1, 61),  # as many as Windows can wait for
    help="Processes, of one thread each; default: the cores. Changes no result.",
)
_QUIET = click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")
#: Last words of both help texts.
_DATA = (
    "Files of benchmark sets are downloaded once, and kept in the folder that the environment "
    "variable KERNELMEANS_DATA names, or else in the user's cache folder; here it is "
    f"{data_folder()}. The sets are {', '.join(_ALL_SETS)}. The file of lung has no public "
    "address: put it there as lung.mat."
)


@main.command(epilog=_DATA)
@click.argument("names", nargs=-1, required=True, type=click.Choice(["all", *EXPERIMENTS]))
@click.option(
    "--out",
    "-o",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("paper-results"),
    show_default=True,
    help="Folder of the report; made if new.",
)
@click.option(
    "--quick", is_flag=True, help="A small version of everything, on few sets, in three minutes."
)
@click.option(
    "--datasets",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="Data sets that each simulation is repeated on.",
)
@_SETS
@_WORKERS
@click.option("--force", is_flag=True, help="Run finished cells again.")
@_QUIET
@click.version_option(package_name="kernelmeans-paper")
def run(names: tuple[str, ...], sets: tuple[str, ...], **options: Any) -> None:
    """Run the experiments of the paper, and ours, and write tables, figures and a page.

    NAMES are experiments, or "all": motivating and sphere are figures 1 and 2 of the paper, single
    is table 1 and the appendix, multi is table 2. The word "run" can be left out. Everything goes
    into the folder --out: index.html, results.md, tables/, figures/, and cells/ with what is
    finished. The same command after an interruption goes on where it was.

    "kernelmeans-paper check" compares a part of it with stored results.

    Exit codes: 0 done, 1 a cell or a file failed, or no data are here, 2 bad usage, 130
    interrupted.
    """
    chosen = list(EXPERIMENTS if "all" in names else dict.fromkeys(names))
    check_sets(chosen, sets)
    with interruptible("Interrupted: what is finished is kept."):
        _reproduce(chosen, frozenset(sets), **options)


@main.command(
    epilog=_DATA,
    help=f"""Run a part of the experiments again, and compare its tables with stored ones.

    NAMES are experiments, by default all that can be compared, on the sets {", ".join(SETS)}.
    Means have to agree within two of their standard errors over starts and {MEAN_TOLERANCE}, and
    costs within {COST_TOLERANCE} %. Steps and times are not compared.

    Exit codes: 0 all agree, 1 some do not, or no data are here, 2 bad usage, 130 interrupted.""",
)
@click.argument("names", nargs=-1, type=click.Choice(NAMES))
@click.option(
    "--results",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("reproduction", "results"),
    show_default=True,
    help="Folder of the report that is checked.",
)
@_SETS
@_WORKERS
@_QUIET
def check(names: tuple[str, ...], sets: tuple[str, ...], **options: Any) -> None:
    """Run a part of the experiments again, and compare its tables with stored ones."""
    chosen = list(dict.fromkeys(names or NAMES))
    check_sets(chosen, sets)
    with interruptible("Interrupted: nothing is checked."):
        _check(chosen, frozenset(sets or SETS), **options)


def _reproduce(
    names: Sequence[str],
    sets: frozenset[str],
    out: Path,
    quick: bool,
    datasets: int,
    workers: int | None,
    force: bool,
    quiet: bool,
) -> None:
    started = time.perf_counter()
    _check_folder(out)
    scale, cells = find_cells(names, Scale(quick, datasets, sets=sets), "left out", quiet=quiet)
    for name in names if quick and not quiet else ():
        if note := left_out(name, scale):
            click.echo(f"{name}: {note}")
    store = Store(out / "cells")
    if force:
        for cell in cells:
            store.path(cell).unlink(missing_ok=True)
    workers = workers or cores()
    failures = run_shown(cells, store, workers, quiet=quiet)
    minutes = (time.perf_counter() - started) / 60
    failed = [line(failure) for failure in failures]
    try:
        write_report(out, names, scale, store, workers=workers, minutes=minutes, failed=failed)
    except OSError as error:
        raise click.ClickException(f"cannot write {error.filename}: {error.strerror}") from error
    if not quiet:
        click.echo(f"Wrote {out / 'index.html'} in {minutes:.1f} minutes.")
    refuse_failures(failures, len(cells))


def _check(
    names: Sequence[str], sets: frozenset[str], results: Path, workers: int | None, quiet: bool
) -> None:
    try:
        stored = stored_tables(results)
    except FileNotFoundError as error:
        raise click.UsageError(str(error)) from error
    scale, cells = find_cells(names, Scale(sets=sets), "not checked", quiet=quiet)
    with TemporaryDirectory(prefix="kernelmeans-check-") as folder:
        store = Store(Path(folder))
        refuse_failures(run_shown(cells, store, workers or cores(), quiet=quiet), len(cells))
        sections = [
            EXPERIMENTS[name].report(store.results(EXPERIMENTS[name].cells(scale)), scale)
            for name in names
        ]
    tables = [table for section in sections for table in section.tables]
    compared, differences = compare(tables, stored)
    if differences:
        what = f"{len(differences)} of {compared} numbers differ from those in {results}:"
        raise click.ClickException("\n".join([what, *differences]))
    if not quiet:
        click.echo(f"{compared} numbers agree with those in {results}.")


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


if __name__ == "__main__":
    main()
