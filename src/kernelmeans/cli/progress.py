"""One progress bar over the steps of a fit, on stderr."""

import math
import sys
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn


class StepBar:
    """A scikit-learn callback that draws how far a fit has come.

    The number of steps is not known beforehand, so the bar moves until the fit ends. It
    vanishes then.

    Parameters
    ----------
    title : str
        What is going on.
    """

    def __init__(self, title: str) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[status]}"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._progress.add_task(title, total=None, status="preparing")

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
        """Move on by one step."""
        if metadata and "step" in metadata:
            self._progress.update(self._task, advance=1, status=step_status(metadata))


def step_status(metadata: dict[str, Any]) -> str:
    """Say in a few words where a step is."""
    power = metadata["power"]
    phase = f"power {power:.3g}" if math.isfinite(power) else "hard steps"
    finished, restarts = metadata["restarts_finished"], metadata["n_restarts"]
    return f"step {metadata['step']}, {phase}, restarts finished {finished}/{restarts}"


def show_progress(estimator: Any, title: str, *, quiet: bool) -> None:
    """Give `estimator` a bar if someone watches and its scikit-learn knows callbacks."""
    if not quiet and sys.stderr.isatty() and hasattr(estimator, "set_callbacks"):
        estimator.set_callbacks(StepBar(title))


def hide_progress(estimator: Any) -> None:
    """Take the bar off again: it is not part of the fitted model."""
    if hasattr(estimator, "set_callbacks"):
        estimator.set_callbacks()
