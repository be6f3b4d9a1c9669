"""A fit with a progress bar of its steps, on stderr."""

import sys
import time
from typing import Any

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from kernelmeans.solver import Progress as Steps


class StepBar:
    """A scikit-learn callback that shows the step of a fit, and vanishes when the fit ends.

    scikit-learn's own bar writes to stdout, stays there, and says neither step nor power.

    Parameters
    ----------
    title : str
        The first words of the bar.
    """

    def __init__(self, title: str) -> None:
        columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
        self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self._title = title
        self._task = self._progress.add_task(f"{title}: preparing", total=None)

    def setup(self, estimator: Any, context: Any) -> None:
        """Show the bar when the fit begins."""
        self._progress.start()

    def teardown(self, estimator: Any, context: Any) -> None:
        """Remove the bar when the fit ends, however it ends."""
        self._progress.stop()

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Do nothing: steps count when they end."""

    def on_fit_task_end(
        self, estimator: Any, context: Any, *, metadata: dict[str, Any] | None = None
    ) -> None:
        """Show the step that has ended, or how many fits of a search have."""
        if metadata and "step" in metadata:
            status = Steps(**metadata).text
        elif context.parent is not None and context.parent.max_subtasks:
            tasks = context.parent
            status = f"{tasks.task_name}, {context.task_id + 1} of {tasks.max_subtasks} done"
        else:
            return
        self._progress.update(self._task, description=f"{self._title}: {status}")


def timed_fit(estimator: Any, title: str, X: Any, *, quiet: bool, **more: Any) -> float:
    """Fit, and return the seconds that it took.

    The bar is shown if stderr is a terminal and this scikit-learn has callbacks.
    """
    begin = time.perf_counter()
    shows = not quiet and sys.stderr.isatty() and hasattr(estimator, "set_callbacks")
    if shows:
        estimator.set_callbacks(StepBar(title))
    estimator.fit(X, **more)
    if shows:
        estimator.set_callbacks()  # the bar is not part of the fitted model
    return time.perf_counter() - begin
