"""A pool of threads, each with a single-threaded BLAS."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from threading import Lock
from types import TracebackType
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")


@lru_cache(maxsize=1)
def _blas() -> Any:
    # Looking up the loaded libraries takes milliseconds: once is enough.
    return ThreadpoolController().select(user_api="blas")


class _SingleThreadedBlas:
    """BLAS at one thread, for as long as anybody in the process needs it so."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._holders = 0

    def threads(self) -> int:
        """Threads that BLAS uses when nobody holds it back."""
        with self._lock:
            return self._before if self._holders else self._count()

    def hold(self) -> None:
        """Limit BLAS, unless another holder has done so."""
        with self._lock:
            if self._holders == 0:
                self._before = self._count()
                self._limit = _blas().limit(limits=1)
            self._holders += 1

    def release(self) -> None:
        """Give BLAS its threads back, if this was the last holder."""
        with self._lock:
            self._holders -= 1
            if self._holders == 0:
                self._limit.restore_original_limits()

    @staticmethod
    def _count() -> int:
        counts = [library["num_threads"] for library in _blas().info()]
        return max(counts, default=os.cpu_count() or 1)


_SINGLE_THREADED = _SingleThreadedBlas()


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
    return _SINGLE_THREADED.threads()


class Threads:
    """Map a function over blocks in a pool of threads, results in the order of the blocks.

    BLAS is held at one thread while the pool is open, so that a block's numbers, and with them
    the labels, do not depend on how many threads there are. Before it is opened there is no pool,
    and functions run where they are called.

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

    def __enter__(self) -> "Threads":
        _SINGLE_THREADED.hold()
        self._pool = ThreadPoolExecutor(self.workers) if self.workers > 1 else None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        _SINGLE_THREADED.release()

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
            waiting.append((block, self._pool.submit(function, block)))
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
