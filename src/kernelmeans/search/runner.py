"""Runs tasks in parallel, and tells callbacks of each, and with ``verbose`` the user."""

import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from typing import Any

from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from kernelmeans.search.forecast import Forecast

#: Tasks for each job, at least: with few large ones, some jobs would wait for the last.
TASKS_PER_JOB = 2
#: Seconds of work for which processes are used: they take about one each to start.
WORTH = 4.0


class Runner:
    """Runs the tasks of a fit in parallel, each as a task of scikit-learn's callbacks.

    Parameters
    ----------
    search : ClusterSearch
        The estimator that is being fitted.
    X : object
        Its training rows.

    Attributes
    ----------
    forecast : Forecast
        How long the search will go on.
    stopped : bool
        Whether a callback has asked to end the fit.
    """

    def __init__(self, search: Any, X: Any) -> None:
        self.stopped = False
        self._search = search
        self._X = X
        self._context = None
        self.forecast = Forecast(search.n_splits)
        # The first tasks of processes, once these are started.
        self._starting: Iterator[Any] | None = None
        if hasattr(search, "_init_callback_context"):  # scikit-learn >= 1.9
            self._context = search._init_callback_context(max_subtasks=None)
            self._tell(self._context, "begin")

    def run(
        self,
        name: str,
        function: Callable[..., Iterator[Any]],
        items: Sequence[Any],
        arguments: Sequence[tuple[Any, ...]],
    ) -> Generator[Any, None, None]:
        """Results of ``function(items, *given)`` for each of the arguments, in their order.

        Close it to end what is running.

        Parameters
        ----------
        name : str
            What the callbacks see.
        function : callable
            Yields a result for each item. It is called with some of the items if there are
            several jobs.
        items : sequence
            The items.
        arguments : sequence of tuple
            More arguments.

        Yields
        ------
        object
            A result, until a callback stops them.
        """
        if self.stopped:
            return
        total = len(items) * len(arguments)
        self.forecast.expect(name, len(items), arguments)
        several = self._subtask(self._context, name, total)
        # Hundreds of fits would warn. The fit of the choice to all rows gives its warnings later.
        with warnings.catch_warnings(action="ignore"):
            results = self._results(function, items, arguments)
        try:
            for done in range(1, total + 1):
                task = self._subtask(several, "candidate")
                with warnings.catch_warnings(action="ignore"):
                    result = next(results)
                self.forecast.add()
                status = f"{name}: {done} of {total} fits done{self.forecast.text}"
                self.stopped |= self._tell(task, "end", metadata={"status": status})
                self._search._say(2 if done % len(items) else 1, status)
                yield result
                if self.stopped:
                    break
        finally:
            # joblib warns of tasks that it gives up.
            with warnings.catch_warnings(action="ignore"):
                results.close()
        self._tell(several, "end")

    def _results(
        self,
        function: Callable[..., Iterator[Any]],
        items: Sequence[Any],
        arguments: Sequence[tuple[Any, ...]],
    ) -> Generator[Any, None, None]:
        """Results one by one, or those of parallel tasks as these end."""
        n_jobs = effective_n_jobs(self._search.n_jobs)
        n_parts = -(-TASKS_PER_JOB * n_jobs // len(arguments)) if n_jobs > 1 else 1
        size = max(1, -(-len(items) // n_parts))
        parts = [items[start : start + size] for start in range(0, len(items), size)]
        tasks = [(part, *given) for given in arguments for part in parts]
        done, is_worth = 0, self._starting is not None
        while done < len(tasks) and not is_worth:
            begin = time.perf_counter()
            yield from function(*tasks[done])
            done += 1
            rest = (time.perf_counter() - begin) * (len(tasks) - done)
            is_worth = n_jobs > 1 and rest > WORTH
            # Where later tasks are worth it, processes start while this one works on.
            if n_jobs > 1 and self._starting is None and max(rest, self.forecast.seconds) > WORTH:
                self._starting = self._parallel([delayed(_listed)(iter, ())] * n_jobs)
        if done == len(tasks):
            return
        self.await_start()
        jobs = (delayed(_listed)(function, *task) for task in tasks[done:])
        with closing(self._parallel(jobs)) as several:
            for results in several:
                yield from results

    def _parallel(self, jobs: Iterable[Any]) -> Any:
        return Parallel(n_jobs=self._search.n_jobs, return_as="generator")(jobs)

    def await_start(self) -> None:
        """Wait for processes that are starting: joblib warns of tasks that nobody waits for."""
        begin = time.perf_counter()
        # Where processes cannot start, the tasks that need them say so.
        with suppress(Exception):
            list(self._starting or ())
        self.forecast.pause(time.perf_counter() - begin)

    def end(self) -> None:
        """Report that the fit is over."""
        self._tell(self._context, "end")

    def _subtask(self, context: Any, name: str, max_subtasks: int = 0) -> Any:
        if context is None:
            return None
        task = context.subcontext(task_name=name, max_subtasks=max_subtasks)
        self._tell(task, "begin")
        return task

    def _tell(self, context: Any, event: str, **more: Any) -> bool:
        if context is None:
            return False
        tell = getattr(context, f"call_on_fit_task_{event}")
        answer = tell(estimator=self._search, X=self._X, **more)
        return event == "end" and bool(answer)


def _listed(function: Callable[..., Iterator[Any]], *given: Any) -> list[Any]:
    return list(function(*given))
