"""What surrounds a fit: parameters are checked, callbacks called, and a failed fit is undone."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from kernelmeans._sklearn import _fit_context, with_callbacks
from kernelmeans._typing import Data
from kernelmeans.solver import Progress

Method = TypeVar("Method", bound=Callable[..., Any])
#: Decorates all that users call: an overflow does not warn, because it is refused afterwards.
refused_later = np.errstate(over="ignore", invalid="ignore", divide="ignore")


def fitting(fit: Method) -> Method:
    """Decorate a fit: it checks the parameters, and if it fails the estimator is as before."""
    body = with_callbacks(_fit_context(prefer_skip_nested_validation=True)(refused_later(fit)))

    @wraps(fit)
    def safe(estimator: Any, *arguments: Any, **given: Any) -> Any:
        before = dict(vars(estimator))
        try:
            return body(estimator, *arguments, **given)
        except BaseException:
            vars(estimator).clear()
            vars(estimator).update(before)
            raise

    return safe  # type: ignore[return-value]


class Reporter:
    """Passes the progress of a fit to its callbacks.

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
        if self._context is not None and hasattr(self._estimator, "_skl_callbacks"):
            finished = min(self.finished + progress.restarts_finished, self._n_restarts)
            metadata = progress._replace(
                restarts_finished=finished, n_restarts=self._n_restarts
            )._asdict()
            event = {"estimator": self._estimator, "X": self._X, "metadata": metadata}
            step = self._context.subcontext(task_name="step")
            step.call_on_fit_task_begin(**event)
            self.stopped |= bool(step.call_on_fit_task_end(**event))
        return self.stopped

    def on_subsample(self, progress: Progress) -> bool:
        """Report a step on a subsample, after which no restart has finished."""
        return self(progress._replace(restarts_finished=0))

    def end(self) -> None:
        """Report that the fit is over."""
        if self._context is not None:
            self._context.call_on_fit_task_end(estimator=self._estimator, X=self._X)
