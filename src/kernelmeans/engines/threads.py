"""A pool of threads, each with a single-threaded BLAS."""

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import copy_context
from functools import lru_cache
from threading import Event, Lock
from typing import Any, TypeVar

import joblib
from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")
#: The process that has imported this module.
_PROCESS = os.getpid()

#: A BLAS library and its threads.
Limit = tuple[Any, int]


class _SingleThreadedBlas:
    """BLAS at one thread, for as long as anybody in the process needs it so."""

    def __init__(self) -> None:
        self.lock = Lock()
        self._holders = 0
        #: Libraries limited in the whole process, by path, and the number of threads that they had.
        self.held: dict[str, Limit] = {}

    def hold(self) -> list[Limit]:
        """Limit BLAS. Return the limits of the calling thread alone, which `release` needs."""
        with self.lock:
            self._holders += 1
            # A library at one thread already was limited by a caller who will undo that.
            before = [
                (*one, count)
                for one in _blas(len(sys.modules))
                if (count := one[0].num_threads) > 1
            ]
            _set_threads([(library, 1) for library, _, _ in before])
            own = []
            for library, is_of_thread, count in before:
                if is_of_thread:
                    own.append((library, count))
                else:
                    self.held.setdefault(library.filepath, (library, count))
            return own

    def release(self, own: list[Limit]) -> None:
        """Give the calling thread its limits back, and the process, if this was the last holder."""
        with self.lock:
            self._holders -= 1
            if not self._holders:
                own += self.held.values()
                self.held.clear()
            _set_threads(own)

    def forget_others(self) -> None:
        """In the child of a fork: the threads that held BLAS are in the parent alone."""
        self._holders = 0
        self.lock.release()


class ForkableLock:
    """A lock that is free in the child of a fork, whichever thread of the parent had it."""

    def __init__(self) -> None:
        self._renew()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._lock = Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()


@lru_cache(maxsize=1)
def _blas(n_modules: int) -> list[tuple[Any, bool]]:
    """The BLAS libraries, and whether a limit counts only in the thread that sets it.

    To look them up takes milliseconds, and none is loaded without a new module.
    """
    libraries = ThreadpoolController().select(user_api="blas").lib_controllers
    return [
        (one, one.internal_api == "openblas" and getattr(one, "threading_layer", "") == "openmp")
        for one in libraries
    ]


@lru_cache(maxsize=1)
def _openmp(n_modules: int) -> ThreadpoolController:
    return ThreadpoolController().select(user_api="openmp")


def _limit_worker() -> None:
    for library, is_of_thread in _blas(len(sys.modules)):
        if is_of_thread:
            library.set_num_threads(1)


def _set_threads(limits: list[Limit]) -> None:
    for library, count in limits:
        # From threadpoolctl 3.8 on only the first thread that ever set a limit may set another,
        # and calls of others are ignored: the right goes to this thread.
        take_over = getattr(library, "clear_controlling_thread", None)
        if take_over is not None:
            take_over(force=True)
        library.set_num_threads(count)
        if take_over is not None and count > 1:
            take_over(force=True)


_SINGLE_THREADED = _SingleThreadedBlas()
if hasattr(os, "register_at_fork"):
    # Without this, a child that is forked while another thread has the lock could never take it.
    os.register_at_fork(
        before=_SINGLE_THREADED.lock.acquire,
        after_in_parent=_SINGLE_THREADED.lock.release,
        after_in_child=_SINGLE_THREADED.forget_others,
    )


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """BLAS at one thread, as fits side by side need it.

    scikit-learn's search for neighbours limits BLAS, and gives it back as it was before. Where that
    happens during a fit of another thread, this would be one thread for ever.

    Examples
    --------
    >>> from kernelmeans.engines.threads import single_threaded_blas
    >>> with single_threaded_blas():
    ...     pass
    """
    own = _SINGLE_THREADED.hold()
    try:
        yield
    finally:
        _SINGLE_THREADED.release(own)


def single_threaded_openmp() -> AbstractContextManager[Any]:
    """OpenMP at one thread; a limit counts only in the thread that sets it.

    Returns
    -------
    context manager
        On exit the calling thread has its limit back.

    Examples
    --------
    >>> from kernelmeans.engines.threads import single_threaded_openmp
    >>> with single_threaded_openmp():
    ...     pass
    """
    limit: AbstractContextManager[Any] = _openmp(len(sys.modules)).limit(limits=1)
    return limit


def forkable_openmp() -> AbstractContextManager[Any]:
    """OpenMP at one thread in a process that was forked, and else as it is.

    GNU's OpenMP waits for ever there, for threads that only the parent has.

    Returns
    -------
    context manager
        As `single_threaded_openmp`.

    Examples
    --------
    >>> from kernelmeans.engines.threads import forkable_openmp
    >>> with forkable_openmp():
    ...     pass
    """
    return nullcontext() if os.getpid() == _PROCESS else single_threaded_openmp()


def in_this_process() -> AbstractContextManager[Any]:
    """Joblib's calls of scikit-learn stay in this thread, whatever backend is set around a fit.

    That of Dask would send them to other workers, and within a task it may wait for ever.

    Returns
    -------
    context manager
        Undoes it at its end.

    Examples
    --------
    >>> from kernelmeans.engines.threads import in_this_process
    >>> with in_this_process():
    ...     pass
    """
    backend: AbstractContextManager[Any] = joblib.parallel_config("sequential")
    return backend


def available_threads() -> int:
    """Threads that BLAS would use now: the machine's cores, less what the user has set aside.

    ``OMP_NUM_THREADS``, ``threadpoolctl.threadpool_limits`` and joblib's workers all count.

    Returns
    -------
    int
        At least 1.

    Examples
    --------
    >>> from threadpoolctl import threadpool_limits
    >>> from kernelmeans.engines.threads import available_threads
    >>> with threadpool_limits(1):
    ...     available_threads()
    1
    """
    with _SINGLE_THREADED.lock:
        held = _SINGLE_THREADED.held
        counts = [
            held.get(one.filepath, (one, one.num_threads))[1] for one, _ in _blas(len(sys.modules))
        ]
        return max(counts, default=os.cpu_count() or 1)


def _opened(workers: int) -> ThreadPoolExecutor | None:
    """A pool of as many threads as the system gives, up to so many; None if it gives none."""
    # Where limits count in one thread only, each worker sets its own, and ends with it.
    pool, started, go_on = ThreadPoolExecutor(workers, "", _limit_worker), 0, Event()
    try:
        # All at once, and each waits: where one is refused, as under `ulimit -v`, it is known now.
        with suppress(RuntimeError):
            while started < workers:
                pool.submit(go_on.wait)
                started += 1
    finally:
        go_on.set()  # after Ctrl-C too: Python does not end before its threads
    if started == workers:
        return pool
    pool.shutdown()
    return _opened(started) if started else None


class Threads:
    """Map a function over blocks in a pool of threads, results in the order of the blocks.

    BLAS is held at one thread while the pool is open, so that a block's numbers, and with them
    the labels, do not depend on how many threads there are. Before it is opened there is no pool,
    and functions run where they are called; so they do where the system gives no thread.

    Parameters
    ----------
    workers : int, default=None
        Threads; as many as BLAS would use when None.

    Examples
    --------
    >>> from kernelmeans.engines import Threads
    >>> with Threads() as threads:
    ...     list(threads.map(abs, [-1, 2, -3]))
    [(-1, 1), (2, 2), (-3, 3)]
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = available_threads() if workers is None else workers
        self._pool: ThreadPoolExecutor | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process has threads of its own: there functions run where they are called.
        return Threads, (self.workers,)

    def __enter__(self) -> "Threads":
        self._own_limits = _SINGLE_THREADED.hold()
        try:
            self._pool = _opened(self.workers) if self.workers > 1 else None
        except BaseException:
            _SINGLE_THREADED.release(self._own_limits)
            raise
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None
        _SINGLE_THREADED.release(self._own_limits)

    def map(
        self,
        function: Callable[[Item], Result],
        blocks: Iterable[Item],
        max_in_flight: int | None = None,
    ) -> Iterator[tuple[Item, Result]]:
        """Yield (block, function(block)), with few results waiting at any time.

        Parameters
        ----------
        function : callable
            Called with a block; must not depend on other blocks.
        blocks : iterable
            What to call it with.
        max_in_flight : int, default=None
            Bound on the calls running or waiting to be taken; two for each worker when None.
        """
        limit = min(max_in_flight or 2 * self.workers, 2 * self.workers)
        blocks = list(blocks)
        if self._pool is None or limit == 1 or len(blocks) == 1:
            for block in blocks:
                yield block, function(block)
            return
        waiting: deque[tuple[Item, Future[Result]]] = deque()
        for block in blocks:
            if len(waiting) == limit:
                first, future = waiting.popleft()
                yield first, future.result()
            # In the caller's context: what NumPy is to overlook is the same in every thread.
            waiting.append((block, self._pool.submit(copy_context().run, function, block)))
        while waiting:
            first, future = waiting.popleft()
            yield first, future.result()

    def run(
        self,
        function: Callable[[Item], None],
        blocks: Iterable[Item],
        max_in_flight: int | None = None,
    ) -> None:
        """Call a function that writes its results itself for every block; see `map`."""
        for _ in self.map(function, blocks, max_in_flight):
            pass
