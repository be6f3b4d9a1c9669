"""Running cells in processes of one thread each, so that none depends on how many there are."""

import multiprocessing
import os
import signal
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import NamedTuple

from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from kernelmeans_paper.experiments import EXPERIMENTS
from kernelmeans_paper.grid import Cell
from kernelmeans_paper.provenance import versions
from kernelmeans_paper.store import Store


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
        Called with each cell that is finished, or was already, and with its failure if it failed.

    Returns
    -------
    list of Failure
        Cells that raised an error; all others are done.

    Raises
    ------
    RuntimeError
        If a process was killed, by the system for want of memory perhaps.
    """
    wanted = [cell for cell in cells if store.read(cell) is None]
    for cell in cells:
        if cell not in wanted:
            on_done(cell, None)
    together = [cell for cell in wanted if not cell.alone]
    alone = [cell for cell in wanted if cell.alone]
    return [*_run(together, store, workers, on_done), *_run(alone, store, 1, on_done)]


def _run(
    cells: Sequence[Cell],
    store: Store,
    workers: int,
    on_done: Callable[[Cell, Failure | None], None],
) -> list[Failure]:
    failures = []
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, spawn, initializer=_settle) as pool:
        try:
            futures = {pool.submit(run_cell, cell, store): cell for cell in cells}
            for future in as_completed(futures):
                if failure := future.result():
                    failures.append(failure)
                on_done(futures[future], failure)
        except BrokenProcessPool as error:
            raise RuntimeError(
                "a process was killed, by the system for want of memory perhaps; what is finished "
                "is kept: run the same command again, with fewer --workers if memory is short"
            ) from error
        except BaseException:
            # Ctrl-C: nobody waits for what is under way.
            for process in multiprocessing.active_children():
                process.terminate()
            raise
    return failures


def run_cell(cell: Cell, store: Store) -> Failure | None:
    """Run one cell with a single thread and keep its outcome; an error is returned, not raised."""
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
    assert parent is not None

    def end_with_parent() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
