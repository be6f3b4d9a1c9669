"""Before and after the cells: the benchmark sets that they need, and the report of all of them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from kernelmeans_paper.datasets import fetch, is_present
from kernelmeans_paper.experiments import EXPERIMENTS
from kernelmeans_paper.grid import Scale
from kernelmeans_paper.problems import TITLES
from kernelmeans_paper.provenance import blas, machine
from kernelmeans_paper.report import Section, write_document
from kernelmeans_paper.store import Store

TITLE = "Kernel k-Means, By All Means: reproduced with kernelmeans"
SEEDS = (
    "matched random starts: NumPy's default_rng(0); data set i of a simulation, and run i of what "
    "has no starts of ours: seed i; sample i of consistency: default_rng((i, n)); all else: 0"
)


def fetch_sets(names: Iterable[str], scale: Scale) -> dict[str, str]:
    """Fetch the benchmark sets that some experiments need.

    Parameters
    ----------
    names : iterable of str
        The experiments.
    scale : Scale
        Size of their grids.

    Returns
    -------
    dict of str to str
        The sets that are not here, and why; of those that only other experiments need, nothing.
    """
    needed = needed_sets(names, scale)
    others = [name for name in needed_sets(EXPERIMENTS, scale) if name not in needed]
    refusals = {name: "" for name in others if not is_present(name)}
    for name in needed:
        try:
            fetch(name, n_retries=1)
        except (OSError, ValueError) as error:
            refusals[name] = str(error)
    return refusals


def needed_sets(names: Iterable[str], scale: Scale) -> list[str]:
    """The benchmark sets that some experiments need, each once."""
    return list(dict.fromkeys(data for name in names for data in EXPERIMENTS[name].data(scale)))


def left_out(name: str, scale: Scale) -> str:
    """The benchmark sets that an experiment has at full scale only, in a sentence, or nothing."""
    titles = [TITLES[data] for data in EXPERIMENTS[name].left_out(scale)]
    why = "not named by --set" if scale.sets else "--quick"
    return f"Left out ({why}): {', '.join(titles)}." if titles else ""


def write_report(
    out: Path,
    names: Sequence[str],
    scale: Scale,
    store: Store,
    *,
    workers: int,
    minutes: float,
    failed: Sequence[str],
) -> None:
    """Write the report of all experiments that have anything to show, not of this run's alone.

    Parameters
    ----------
    out : Path
        Its folder.
    names : sequence of str
        The experiments of this run, which are shown even if nothing of them is there.
    scale : Scale
        Size of the grids.
    store : Store
        What is finished.
    workers : int
        Processes of this run.
    minutes : float
        How long it took.
    failed : sequence of str
        Its failed cells.
    """
    sections, seconds = [], 0.0
    for name, experiment in EXPERIMENTS.items():
        cells = experiment.cells(scale)
        results = store.results(cells)
        seconds += store.seconds(cells)
        if name in names or len(results):
            sections.append(_section(name, experiment.report(results, scale), scale))
    provenance = {
        "command": _command(names, scale),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "versions": store.versions,
        "BLAS": blas(),
        "seeds": SEEDS,
        "machine": machine(),
        "processes": workers,
        "time": f"{minutes:.1f} minutes for this run; all cells of the report together "
        f"{seconds / 60:.1f} minutes of one thread",
        "sets not here": ", ".join(sorted(scale.absent)) or "none",
        "failed cells": "; ".join(failed) or "none",
    }
    write_document(out, TITLE, sections, provenance)


def _section(name: str, section: Section, scale: Scale) -> Section:
    note = left_out(name, scale)
    return replace(section, text=(*section.text, note)) if note else section


def _command(names: Sequence[str], scale: Scale) -> str:
    chosen = "all" if list(names) == list(EXPERIMENTS) else " ".join(names)
    datasets = f" --datasets {scale.datasets}" * (scale.datasets != Scale().datasets)
    chosen_sets = "".join(f" --set {name}" for name in sorted(scale.sets))
    return f"kernelmeans-paper {chosen}{' --quick' * scale.quick}{datasets}{chosen_sets}"
