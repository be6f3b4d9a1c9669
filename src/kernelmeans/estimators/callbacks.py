"""What surrounds a fit: parameters are checked, callbacks called, and it changes all or nothing."""

import time
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from kernelmeans._sklearn import _fit_context, with_callbacks
from kernelmeans._text import counted
from kernelmeans._typing import Array, Data
from kernelmeans.heat.separation import in_words
from kernelmeans.solver import Ending, Progress, Result

Method = TypeVar("Method", bound=Callable[..., Any])
#: Decorates all that users call: an overflow does not warn, because it is refused afterwards.
refused_later = np.errstate(over="ignore", invalid="ignore", divide="ignore")


def fitting(fit: Method) -> Method:
    """Decorate a fit: it checks the parameters, and the estimator is as before until it is done."""
    body = with_callbacks(_fit_context(prefer_skip_nested_validation=True)(refused_later(fit)))

    @wraps(fit)
    def safe(estimator: Any, *arguments: Any, **given: Any) -> Any:
        begin = time.perf_counter()
        # The fit may fail, and other threads may predict with the estimator, or pickle it.
        fitted = object.__new__(type(estimator))
        vars(fitted).update(vars(estimator))
        body(fitted, *arguments, **given)
        estimator.__dict__ = vars(fitted)
        estimator._say(1, _ending(estimator, time.perf_counter() - begin))
        return estimator

    return safe  # type: ignore[return-value]


def _ending(estimator: Any, seconds: float) -> str:
    """How a fit ended."""
    result, best = estimator.result_, estimator.result_.best
    chosen = f"restart {best + 1} is the best: " * (len(result.cost) > 1)
    return (
        f"{chosen}cost {estimator.inertia_:.6g} after {counted(estimator.n_iter_, 'step')} and "
        f"{seconds:.3g} s, {_why(result, best)}"
    )


def _why(result: Result, restart: int) -> str:
    return Ending(result.endings[restart]).name.lower().replace("_", " ")


class Reporter:
    """Passes the progress of a fit to its callbacks, and prints it if ``verbose`` asks for it.

    Parameters
    ----------
    estimator : estimator
        The estimator that is being fitted.
    X : {ndarray, CSR matrix}
        Its training rows.
    n_restarts : int
        Restarts of the whole fit, in all batches.

    Attributes
    ----------
    stopped : bool
        Whether a callback has asked to end the fit.
    finished : int
        Restarts that finished in earlier batches.
    """

    def __init__(self, estimator: Any, X: Data, n_restarts: int) -> None:
        self._estimator = estimator
        self._X = X
        self._n_restarts = n_restarts
        self.stopped = False
        self.finished = 0
        self._context = None
        if hasattr(estimator, "_init_callback_context"):
            self._context = estimator._init_callback_context(max_subtasks=None)
            self._context.call_on_fit_task_begin(estimator=estimator, X=X)

    def __call__(self, progress: Progress) -> bool:
        """Report a step; True if the fit should end."""
        return self._report(progress, "")

    def _report(self, progress: Progress, where: str | None) -> bool:
        """Report a step, and print it unless it is nowhere."""
        printed = where is not None and self._estimator.verbose > 1
        hearing = self._context if hasattr(self._estimator, "_skl_callbacks") else None
        if hearing is None and not printed:
            return self.stopped
        finished = min(self.finished + progress.restarts_finished, self._n_restarts)
        progress = progress._replace(restarts_finished=finished, n_restarts=self._n_restarts)
        if printed:
            self._estimator._say(2, f"{where}{progress.text}, objective {progress.objective:.6g}")
        if hearing is not None:
            event = {"estimator": self._estimator, "X": self._X, "metadata": progress._asdict()}
            step = hearing.subcontext(task_name="step")
            step.call_on_fit_task_begin(**event)
            self.stopped |= bool(step.call_on_fit_task_end(**event))
        return self.stopped

    def on_subsample(self, progress: Progress) -> bool:
        """Report a step on a subsample, after which no restart has finished."""
        # Swap moves on subsamples take hard steps.
        where = "on a subsample: " if np.isfinite(progress.power) else None
        return self._report(progress._replace(restarts_finished=0), where)

    def on_swap(self, progress: Progress) -> bool:
        """Report a step of a swap move."""
        return self._report(progress, None)

    def restarts_done(self, result: Result) -> None:
        """Report the restarts of a batch."""
        for restart, steps in enumerate(result.n_iter.tolist()):
            self.finished += 1
            self._estimator._say(
                1,
                f"restart {self.finished} of {self._n_restarts}: cost {result.inertia[restart]:.6g}"
                f" after {counted(steps, 'step')}, {_why(result, restart)}",
            )

    def swaps_done(self, result: Result, steps_before: int) -> None:
        """Report the swap moves: the steps at the end are those of the restart and these."""
        more = counted(int(result.n_iter[result.best]) - steps_before, "more step")
        self._estimator._say(1, f"swap moves: cost {result.inertia[result.best]:.6g} after {more}")

    def pairs_done(self, result: Result, n_divided: int) -> None:
        """Report the pairs of clusters that have been divided anew, if there are some."""
        if n_divided:
            pairs = counted(n_divided, "pair")
            self._estimator._say(
                1, f"{pairs} of clusters divided anew: cost {result.inertia[result.best]:.6g}"
            )

    def judged(self, separation: Array | None) -> None:
        """Report how many neighbours of the rows of a cluster are in others."""
        if separation is not None:
            self._estimator._say(1, f"separation: {in_words(separation)}")

    def end(self) -> None:
        """Report that the fit is over."""
        if self._context is not None:
            self._context.call_on_fit_task_end(estimator=self._estimator, X=self._X)
