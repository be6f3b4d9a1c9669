"""Runs tasks in parallel, and tells callbacks of each."""

import warnings
from collections.abc import Callable, Generator, Sequence
from typing import Any

from sklearn.utils.parallel import Parallel, delayed


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
    stopped : bool
        Whether a callback has asked to end the fit.
    """

    def __init__(self, search: Any, X: Any) -> None:
        self.stopped = False
        self._search = search
        self._X = X
        self._context = None
        if hasattr(search, "_init_callback_context"):  # scikit-learn >= 1.9
            self._context = search._init_callback_context(max_subtasks=None)
            self._tell(self._context, "begin")

    def run(
        self, name: str, function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]
    ) -> Generator[Any, None, None]:
        """Results in the order of the arguments, until a callback stops them.

        Close it to end what is running.
        """
        if self.stopped:
            return
        several = self._subtask(self._context, name, len(arguments))
        parallel = Parallel(n_jobs=self._search.n_jobs, return_as="generator")
        jobs = (delayed(function)(*given) for given in arguments)
        # Hundreds of warnings; those of the choice come when it is fitted to all rows.
        with warnings.catch_warnings(action="ignore"):
            results = parallel(jobs)
        try:
            for _ in arguments:
                task = self._subtask(several, "candidate")
                with warnings.catch_warnings(action="ignore"):
                    result = next(results)
                self.stopped |= self._tell(task, "end")
                yield result
                if self.stopped:
                    break
        finally:
            # joblib warns of tasks that it gives up.
            with warnings.catch_warnings(action="ignore"):
                results.close()
        self._tell(several, "end")

    def end(self) -> None:
        """Report that the fit is over."""
        self._tell(self._context, "end")

    def _subtask(self, context: Any, name: str, max_subtasks: int = 0) -> Any:
        if context is None:
            return None
        task = context.subcontext(task_name=name, max_subtasks=max_subtasks)
        self._tell(task, "begin")
        return task

    def _tell(self, context: Any, event: str) -> bool:
        if context is None:
            return False
        tell = getattr(context, f"call_on_fit_task_{event}")
        answer = tell(estimator=self._search, X=self._X)
        return event == "end" and bool(answer)
