"""Running cells in processes of one thread each, so that none depends on how many there are."""

import multiprocessing
import os
import signal
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import NamedTuple

from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from kernelmeans_paper.grid import Cell
from kernelmeans_paper.store import Store, versions


class Failure(NamedTuple):
    """A cell that raised an error.

    Attributes
    ----------
    cell : Cell
        The cell.
    message : str
        The error in one line.
    trace : str
        Where it came from.
    """

    cell: Cell
    message: str
    trace: str


def run_cells(
    cells: Sequence[Cell],
    store: Store,
    workers: int,
    on_done: Callable[[Cell, Failure | None], None] = lambda cell, failure: None,
) -> list[Failure]:
    """Run the cells that the store does not have, and keep each as soon as it is finished.

    Parameters
    ----------
    cells : sequence of Cell
        What is wanted; those that measure time run last, nothing beside them.
    store : Store
        Where outcomes are kept.
    workers : int
        Processes.
    on_done : callable
        Told of each cell that is finished, or was already, and of its failure if it failed.

    Returns
    -------
    list of Failure
        Cells that raised an error; all others are done.

    Raises
    ------
    RuntimeError
        If a process was killed, by the system for want of memory perhaps.
    """
    todo = [cell for cell in cells if store.read(cell) is None]
    waiting = set(map(store.path, todo))
    for cell in cells:
        if store.path(cell) not in waiting:
            on_done(cell, None)
    failures = []
    beside = [cell for cell in todo if not cell.alone]
    alone = [cell for cell in todo if cell.alone]
    for group, processes in ((beside, workers), (alone, 1)):
        failures += _run_group(group, store, processes, on_done)
    return failures


def _run_group(
    cells: Sequence[Cell],
    store: Store,
    workers: int,
    on_done: Callable[[Cell, Failure | None], None],
) -> list[Failure]:
    failures: list[Failure] = []
    if not cells:
        return failures
    others = set(multiprocessing.active_children())
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(workers, len(cells)), context, initializer=_settle)
    try:
        futures: dict[Future[Failure | None], Cell] = {
            pool.submit(run_cell, cell, store): cell for cell in cells
        }
        for future in as_completed(futures):
            failure = future.result()
            if failure:
                failures.append(failure)
            on_done(futures[future], failure)
    except BrokenProcessPool as error:
        raise RuntimeError(
            "a process was killed, by the system for want of memory perhaps; what is finished is "
            "kept: run the same command again, with fewer --workers if memory is short"
        ) from error
    except BaseException:
        # Ctrl-C: nobody waits for what is under way.
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
    return failures


def run_cell(cell: Cell, store: Store) -> Failure | None:
    """Run one cell with a single thread and keep its outcome; an error is returned, not raised."""
    from kernelmeans_paper.experiments import EXPERIMENTS

    try:
        if versions() != store.versions:
            raise RuntimeError("the code was changed while it ran: run the same command again")
        # Runs that end at max_iter, and clusters that are left empty, count as they are.
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            start = time.perf_counter()
            outcome = EXPERIMENTS[cell.experiment].run(**cell.parameters)
        store.write(cell, outcome, time.perf_counter() - start)
    except Exception as error:
        return Failure(cell, f"{type(error).__name__}: {error}", traceback.format_exc())
    return None


def _settle() -> None:
    """Leave Ctrl-C to the parent, and do not outlive it: when it is killed, nobody wants more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
