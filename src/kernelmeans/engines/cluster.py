"""The workers of a Dask cluster."""

import asyncio
import pickle
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import wait
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

import numpy as np

from kernelmeans._sizes import readable
from kernelmeans._typing import Array
from kernelmeans._warnings import warn_user
from kernelmeans.engines.sums import tree_sum
from kernelmeans.engines.threads import Threads

#: Terms that one task adds up; a power of two, so that the tree is that of `tree_sum`.
FAN_IN = 8
#: Seconds between two looks at the workers, and seconds without work after which the wait for
#: results ends. Dask gives up a silent worker after the same time.
LOOK, STALLED = 5.0, 300.0
#: Clients that have had workers.
_SERVED: WeakSet[Any] = WeakSet()


def packed(*values: Any) -> bytes:
    """Values as bytes, so that arrays are aligned when they arrive.

    Dask puts the arrays of one message into one buffer, where they may begin at any address. NumPy
    rounds products of such arrays differently.
    """
    import cloudpickle

    data: bytes = cloudpickle.dumps(values)
    return data


def unpacked(data: bytes) -> Any:
    """The values that were `packed`, as a tuple; all arrays are new, and aligned."""
    return pickle.loads(data)


def aligned(array: Array) -> Array:
    """The array in C order and at an address where NumPy would put it; a copy only if needed."""
    return np.require(array, requirements=["C", "A"])


def align(thing: Any) -> None:
    """Align the arrays among an object's attributes, and among theirs, in place."""
    for name, value in vars(thing).items():
        if isinstance(value, np.ndarray):
            vars(thing)[name] = aligned(value)
        elif type(value).__module__.startswith("kernelmeans.") and hasattr(value, "__dict__"):
            align(value)


class Cluster:
    """Tasks on the workers that a ``distributed.Client`` stands for.

    When a worker dies, another one computes its results again, from the same tasks.

    Parameters
    ----------
    client : distributed.Client
        Connected.
    """

    def __init__(self, client: Any) -> None:
        self.client = client

    @classmethod
    def find(cls) -> "Cluster | None":
        """The cluster of the client in use; None if there is none.

        Raises
        ------
        RuntimeError
            If the client works in the event loop of this thread, which would wait for itself.
        """
        if "distributed" not in sys.modules:
            return None
        from distributed import default_client

        try:
            client = default_client()  # type: ignore[no-untyped-call]
        except ValueError:
            return None
        if client.asynchronous:
            raise RuntimeError(
                "Dask collections cannot be awaited by the thread whose event loop the Dask client "
                "works in: call from another thread (await asyncio.to_thread(model.fit, X)), or "
                "use a client without asynchronous=True."
            )
        return cls(client)

    def memory_limits(self) -> list[tuple[int, int]]:
        """Bytes of memory of each worker that has a limit, and its threads."""
        with self._connected():
            workers = self._workers().values()
        limited = [worker for worker in workers if worker["memory_limit"]]
        return [(worker["memory_limit"], worker["nthreads"]) for worker in limited]

    def task(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """A future of function(*arguments), any of which may be futures themselves."""
        (future,) = self.tasks(function, *([argument] for argument in arguments))
        return future

    def tasks(self, function: Callable[..., Any], *arguments: Sequence[Any]) -> list[Any]:
        """Futures of a function, called as by ``map``; they are sent together, which is faster."""
        from dask import config

        # The tasks need all that is sent with them: no warning could help.
        unwarned = config.set({"distributed.admin.large-graph-warning-threshold": sys.maxsize})
        with self._connected(), unwarned:
            futures: list[Any] = self.client.map(function, *arguments, pure=False)
        return futures

    def started(self, tasks: Sequence[Any]) -> list[Any]:
        """Futures of delayed tasks; futures stay what they are."""
        with self._connected():
            futures: list[Any] = self.client.compute(list(tasks))
        return futures

    def computed(self, collection: Any) -> Any:
        """The value of a Dask collection."""
        (future,) = self.started([collection])
        return self.result(future)

    def total(self, terms: Sequence[Any], add: Callable[[Any, Any], Any]) -> Any:
        """Sum of the results of futures, as `tree_sum` adds them up."""
        terms = list(terms)
        while len(terms) > 1:
            groups = [terms[i : i + FAN_IN] for i in range(0, len(terms), FAN_IN)]
            terms = self.tasks(tree_sum, groups, [add] * len(groups))
        return self.result(terms[0])

    def apart(self, function: Callable[..., Any], items: Sequence[Any], *arguments: Any) -> Any:
        """Results of a function of each item and the arguments, one task for each item."""
        order = self.task(bytes, packed(function, *arguments))
        found = self.results(self.tasks(_applied, list(items), [order] * len(items)))
        return [unpacked(result)[0] for result in found]

    def result(self, future: Any) -> Any:
        """The result of a future; as `results`."""
        return self.results([future])[0]

    def results(self, futures: Sequence[Any]) -> list[Any]:
        """The results of futures, fetched together, which is faster.

        Raises
        ------
        MemoryError
            If a worker runs out of memory, or workers die again and again, on a task.
        TimeoutError
            If no worker has done anything for some minutes.
        ConnectionError
            If the scheduler has ended, has forgotten the work, or does not answer for as long.
        """
        from distributed import KilledWorker

        try:
            with self._connected():
                return self._gathered(futures)
        except (KilledWorker, MemoryError) as error:
            out, limits = "out of memory", [limit for limit, _ in self.memory_limits()]
            memory = f", of {readable(min(limits))} each" if limits else ""
            raise MemoryError(
                f"Workers cannot do their work on a block of rows: {str(error) or out}. Most "
                f"likely it does not fit into their memory{memory}: rechunk X into smaller blocks "
                "of rows, use fewer components, or give the workers more memory."
            ) from error

    def _gathered(self, futures: Sequence[Any]) -> list[Any]:
        """The results of futures; refused if no worker works on them.

        Dask waits for ever in three cases. A dead worker is not replaced: a LocalCluster gives up
        one that dies twice in `distributed.deploy.lost-worker-timeout`. A task is lost
        (https://github.com/dask/distributed/issues/3196). Or all workers are paused.
        """
        gather = self.client.gather(list(futures), asynchronous=True)
        gathering = asyncio.run_coroutine_threadsafe(gather, self.client.loop.asyncio_loop)
        last, changed, answered = None, time.monotonic(), time.monotonic()
        try:
            while not wait([gathering], LOOK).done:
                try:
                    state = self._state()
                except ConnectionError:
                    if time.monotonic() - answered > STALLED:
                        raise
                    continue
                answered = time.monotonic()
                if state != {}:
                    _SERVED.add(self.client)
                if state is None or state != last:
                    last, changed = state, answered
                elif answered - changed > STALLED:
                    _refuse_or_warn(len(state), self.client in _SERVED)
                    changed = float("inf")
            found = _fetched(gathering, futures)
            _SERVED.add(self.client)
            return found
        finally:
            gathering.cancel()

    def _state(self) -> dict[str, tuple[Any, Any]] | None:
        """Results that each worker holds and has received; None while one of them is at work."""
        state = {}
        for address, worker in self._workers().items():
            counts = worker["metrics"].get("task_counts", {})
            if counts.get("executing") or counts.get("long-running"):
                return None
            received = worker["metrics"].get("transfer", {}).get("incoming_count_total")
            state[address] = counts.get("memory"), received
        return state

    def _workers(self) -> dict[str, dict[str, Any]]:
        """What the scheduler knows of its workers, by their addresses.

        Raises
        ------
        ConnectionError
            If it does not answer.
        """
        ask = self.client.scheduler.identity
        try:
            found = self.client.sync(ask, callback_timeout=STALLED)
        except OSError as error:
            raise _lost("it does not answer") from error
        workers: dict[str, dict[str, Any]] = found["workers"]
        return workers

    @contextmanager
    def _connected(self) -> Iterator[None]:
        """Say what has happened and what to do if the scheduler is lost within this context."""
        from distributed import CancelledError

        try:
            yield
        except Exception as error:
            # A client that loses its scheduler cancels all futures, and is closed some time later.
            if not isinstance(error, CancelledError) and self.client.status == "running":
                raise
            reason = getattr(error, "reason", f"the client is {self.client.status}")
            raise _lost(reason) from error


def _fetched(gathering: Any, futures: Sequence[Any]) -> list[Any]:
    """What has been gathered, unless no connection could be made to fetch it."""
    try:
        found: list[Any] = gathering.result()
    except OSError as error:
        # A client that has just connected again counts as running, and tasks fail in this way too.
        if any(future.status == "error" for future in futures):
            raise
        raise _lost(str(error)) from error
    return found


def _lost(reason: str) -> ConnectionError:
    return ConnectionError(
        f"The Dask scheduler has lost the work of this call ({reason}): it has ended, was "
        "restarted or hangs, or the network has failed. Restart the cluster if need be, connect a "
        "new Client, and call again."
    )


def _refuse_or_warn(n_workers: int, had_workers: bool) -> None:
    """Refuse to wait for workers that do nothing; warn where the first ones may still come."""
    if not had_workers:
        warn_user(
            f"The Dask cluster has had no workers for {STALLED:.0f} seconds: waiting for one. "
            "Start workers; the setting distributed.scheduler.no-workers-timeout limits the wait."
        )
        return
    raise TimeoutError(
        f"{n_workers} Dask workers are left and have done nothing for {STALLED:.0f} seconds, and "
        "results are missing. Most likely workers died, or their memory is full: restart the "
        "cluster, and fit again. Smaller blocks of rows (X.rechunk) or more memory for each "
        "worker help against both."
    )


def _applied(item: Any, order: bytes) -> bytes:
    function, *arguments = unpacked(order)
    with Threads(1):
        return packed(function(item, *arguments))
