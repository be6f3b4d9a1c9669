"""A fit with its steps on stderr: as a bar on a terminal, else a line from time to time."""

import sys
import time
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from kernelmeans.solver import Progress as Steps

#: Seconds between two lines.
_EVERY = 10.0


class StepLines:
    """A scikit-learn callback that prints the step of a fit, not too often.

    scikit-learn's own bar writes to stdout, stays there, and says neither step nor power.

    Parameters
    ----------
    title : str
        The first words of each line.
    """

    def __init__(self, title: str) -> None:
        self._title, self._told = title, time.monotonic()

    def setup(self, estimator: Any, context: Any) -> None:
        """Do nothing: a short fit prints no line."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Do nothing: there is nothing to remove."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Do nothing: steps count when they end."""

    def on_fit_task_end(
        self, estimator: Any, context: Any, *, metadata: dict[str, Any] | None = None
    ) -> None:
        """Show the step that has ended, or how far a search is."""
        if metadata:
            status = metadata.get("status") or Steps(**metadata).text
            self._show(f"{self._title}: {status}")

    def _show(self, text: str) -> None:
        if time.monotonic() >= self._told + _EVERY:
            self._told = time.monotonic()
            click.echo(text, err=True)


class StepBar(StepLines):
    """A bar with the step of a fit, which vanishes when the fit ends."""

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

    def _show(self, text: str) -> None:
        self._progress.update(self._task, description=text)


def timed_fit(estimator: Any, title: str, X: Any, *, quiet: bool, **more: Any) -> float:
    """Fit, and return the seconds that it took.

    Its steps are shown if this scikit-learn has callbacks.
    """
    begin = time.perf_counter()
    shows = not quiet and hasattr(estimator, "set_callbacks")
    if shows:
        estimator.set_callbacks((StepBar if sys.stderr.isatty() else StepLines)(title))
    estimator.fit(X, **more)
    if shows:
        estimator.set_callbacks()  # they are not part of the fitted model
    return time.perf_counter() - begin
