"""The work of choose: search for a number of clusters and a kernel, and only then write."""

import shlex
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

import kernelmeans
from kernelmeans import ClusterSearch
from kernelmeans._dialect import option
from kernelmeans._errors import InputError
from kernelmeans.cli import outputs
from kernelmeans.cli.errors import NoClustersError, estimator_errors
from kernelmeans.cli.jobs import ChooseJob, FitJob, TableJob
from kernelmeans.cli.prepare import Task, prepare
from kernelmeans.cli.progress import timed_fit
from kernelmeans.cli.summary import columns_taken
from kernelmeans.kernels.kernel import PARAMETERS
from kernelmeans.report.page import search_page
from kernelmeans.report.searches import answer, found_by
from kernelmeans.search.ladder import FIRST_TOP, most_clusters, steps
from kernelmeans.search.results import most_stable
from kernelmeans.search.rules import FOUND_AGAIN
from kernelmeans.search.search import MOST_ROWS
from kernelmeans.tables.files import shown

_WIDTH = 78
#: Categories that advice names at most.
_NAMED = 5
#: The head of the table, and what stands below.
_TABLE = {
    "k": "clusters",
    "kernel": "kernel",
    "stability": "stability",
    "in noise": "stability_without_clusters",
    "smallest Jaccard": "smallest_jaccard",
    "prediction strength": "prediction_strength",
    "near neighbours": "neighbor_consistency",
    "found again": "found_again",
    "ARI": "ari",
}


def run_choose(job: ChooseJob) -> None:
    """Search for the number of clusters and the kernel, and write the results."""
    task = prepare(job)
    _check_rows(job, task.Z.shape[0])
    search, found = _run_search(job, task, job.kernels, **job.search)
    _write(job, search, found | columns_taken(task.preparation), job.files())


def choose_clusters(job: FitJob, task: Task) -> tuple[ClusterSearch, dict[str, Any]]:
    """Search for the number of clusters, and set it."""
    _check_rows(job, task.Z.shape[0])
    job.note("a number of clusters, as in -k 5, is fitted at once")
    search, found = _run_search(job, task, [job.parameters.get("kernel", "")])
    if found["chosen"] is None:
        advice = _advice(job, found | columns_taken(task.preparation))
        _write(job, search, found, job.search_files(), advice)
        raise NoClustersError(f"{found['verdict']}. {advice}")
    if not job.as_json:
        job.report(found, _text)
    task.estimator.set_params(n_clusters=found["clusters"])
    return search, found


def _write(
    job: TableJob,
    search: ClusterSearch,
    found: dict[str, Any],
    files: Mapping[str, Path],
    advice: str = "",
) -> None:
    found["files"] = {name: str(path) for name, path in files.items()}
    writers = {path: outputs.json_writer(found) for path in files.values()}
    if "plot" in files:
        writers[files["plot"]] = outputs.picture_writer(search.plot(), files["plot"])
    if "report" in files:
        title = f"Clusters of {shown(job.data).name}"
        writers[files["report"]] = lambda file: file.write(
            search_page(search, title, advice).encode()
        )
    outputs.write_all(writers)
    job.report(found, _text)


def _advice(job: FitJob, found: Mapping[str, Any]) -> str:
    """What was tried in vain, and what to try next."""
    rows, kernel = found["candidates"], job.parameters.get("kernel")
    tried = f"{rows[0]['clusters']} to {rows[-1]['clusters']} clusters"
    tried += f" with kernel {kernel}" * (kernel is not None)
    ways: list[str] = []
    # First what hides clusters that are there.
    used = [one for one in found.get("columns", ()) if one["used"]]
    answers = [one["name"] for one in used if one["kind"] in ("category", "flag")]
    # A name with a comma could not be pasted.
    if 0 < len(answers) < len(used) and not any("," in name for name in answers):
        ways.append(f"fewer categories, as in {option('drop', answers[:_NAMED])}")
    if kernel is not None and not job.pairwise:
        ways.append(f"another kernel, as in --kernel {'heat' if kernel == 'rbf' else 'rbf'}")
    if job.n_clusters is None:
        most = rows[-1]["clusters"]
        ways.append(f"more clusters, if you expect them, as in -k {most}-{3 * most}")
    if found["rows_used"] == found["rows"]:
        ways.append("more rows may show clusters")
    may_help = f" What may help: {'; '.join(ways)}" * bool(ways)
    return (
        f"Tried: {tried}. A cluster is found again from an overlap of {FOUND_AGAIN} on. "
        f"No model is written.{may_help}"
    )


def _check_rows(job: TableJob, n_rows: int) -> None:
    """Refuse fewer rows than halves need to hold the numbers of clusters."""
    # A single number would be no choice: it is taken, whether its clusters are found again or not.
    most = 3 if job.n_clusters is None else job.n_clusters[-1]
    if most > n_rows // 2:
        lower = "lower the range after -k, or " * (job.n_clusters is not None)
        raise InputError(
            f"{job.data}: half of the rows have to hold {most} clusters, so at least "
            f"{2 * most} rows are needed; there are {n_rows}: {lower}give fit "
            "a number of clusters, as in -k 2, which is fitted without a choice"
        )


def _run_search(
    job: TableJob,
    task: Task,
    kernels: Sequence[str],
    **settings: Any,
) -> tuple[ClusterSearch, dict[str, Any]]:
    """Search, and return the search and its summary; Ctrl-C prints what is known so far.

    Parameters
    ----------
    job : TableJob
        Where the rows come from, and the numbers of clusters to choose from; the ladder of
        `ClusterSearch` if there are none.
    task : Task
        The rows and the estimator.
    kernels : sequence of str
        Kernels to choose from, unless there are views.
    **settings
        More parameters of the search.
    """
    if task.weights is not None:
        job.note("the search counts every row once; sample weights count in the fit")
    counts = job.n_clusters
    grid: dict[str, Any] = {"n_clusters": "auto" if counts is None else list(counts)}
    if task.view_columns is None:
        grid["kernel"] = list(kernels)
    seed = job.parameters["random_state"]
    search = ClusterSearch(task.estimator, grid, random_state=seed, n_jobs=job.n_jobs, **settings)
    job.note(_plan(counts, grid.get("kernel", []), search.n_splits, task.Z.shape[0]))
    begin = time.perf_counter()

    def summary() -> dict[str, Any]:
        found = _summary(job, task, search) | {"seconds": time.perf_counter() - begin}
        if isinstance(job, ChooseJob):
            found["command"] = _command(job, found, most_stable(search.results_))
        return found

    try:
        with estimator_errors():
            timed_fit(search, "choosing", task.Z, quiet=job.quiet, like=task.like)
    except KeyboardInterrupt as error:
        if str(error):
            job.note(str(error))
        if hasattr(search, "verdict_"):
            job.report(summary(), _text)
        raise
    return search, summary()


def _plan(counts: range | None, kernels: Sequence[str], n_splits: int, n_rows: int) -> str:
    """What a search will do."""
    if counts is None:
        ladder = steps(min(FIRST_TOP, most_clusters(n_rows)))
        several = f"{', '.join(map(str, ladder))} and other numbers of clusters near the best"
    else:
        upwards = f" to {counts[-1]}" * (len(counts) > 1)
        several = f"{counts[0]}{upwards} clusters"
    of_kernels = f" with kernel {', '.join(kernels)}" * bool(kernels)
    drawn = f"{MOST_ROWS} of {n_rows}" if n_rows > MOST_ROWS else f"{n_rows}"
    return (
        f"trying {several}{of_kernels}, in at most {n_splits} "
        f"splits of {drawn} rows; splits end as soon as the choice is clear"
    )


def _summary(job: TableJob, task: Task, search: ClusterSearch) -> dict[str, Any]:
    """Return what a search has found, ready for JSON."""
    found = found_by(search)
    for one in found["candidates"]:
        one |= one.pop("others")
    if task.labels is not None:
        known = task.labels[search.rows_used_]
        for one, labels in zip(found["candidates"], search.labels_by_candidate_, strict=True):
            # A candidate that failed has no labels.
            one["ari"] = np.nan if (labels < 0).all() else adjusted_rand_score(known, labels)
    return {
        "kernelmeans": kernelmeans.__version__,
        "input": str(job.data),
        "rows": task.Z.shape[0],
        "scoring": search.scoring,
        **found,
    }


def _command(job: ChooseJob, found: dict[str, Any], stablest: int | None) -> str:
    """Return the fit to run next; of no clusters the most stable ones, and a remark."""
    rows, remark = found["candidates"], ""
    if (best := found["chosen"]) is None:
        best = stablest or 0
        remark = "  # the most stable, though not found again"
        most, largest = rows[-1]["clusters"], found["rows_used"] // 2
        if job.n_clusters is None and largest > most:
            remark += f"; choose -k {most}-{min(3 * most, largest)} tries more than {most}"
    arguments = ["kernelmeans", "fit", str(job.data), "-k", str(rows[best]["clusters"])]
    useless: set[str] = set()
    if "kernel" in rows[best]:
        arguments += ["--kernel", rows[best]["kernel"]]
        # Another candidate may have needed them.
        useless = set().union(*PARAMETERS.values()) - set(PARAMETERS[rows[best]["kernel"]])
    words = [word for name, given in job.options.items() if name not in useless for word in given]
    return shlex.join([*arguments, *words]) + remark


def _text(found: dict[str, Any]) -> str:
    """Return what a search has found as a table, the answer in words, and what comes next."""
    columns = {head: name for head, name in _TABLE.items() if name in found["candidates"][0]}
    # Heads of two words take two lines.
    table = [[head.rpartition(" ")[part] for head in columns] for part in (0, 2)]
    table += [[_shown(row, name) for name in columns.values()] for row in found["candidates"]]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        "  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True))
        for row in table
    ]
    chosen = -1 if found["chosen"] is None else 2 + found["chosen"]
    lines = [f"{'*' if row == chosen else ' '} {line}".rstrip() for row, line in enumerate(lines)]
    rest = [f"Written: {', '.join(found['files'].values())}"] if found.get("files") else []
    rest += [f"Next: {found['command']}"] if "command" in found else [""]
    return "\n".join([*lines, "", fill(answer(found), _WIDTH), *rest])


def _shown(candidate: dict[str, Any], name: str) -> str:
    value = candidate[name]
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "-" if np.isnan(value) else f"{value:.2f}"
    return str(value)
