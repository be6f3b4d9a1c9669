"""Everything taken from scikit-learn's private modules, or from versions that may lack it."""

from collections.abc import Callable
from typing import Any, TypeVar

from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

Method = TypeVar("Method", bound=Callable[..., Any])

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks

    #: Frames that scikit-learn's decorators put between `fit` and its caller.
    FIT_WRAPPERS = 2
except ImportError:  # scikit-learn < 1.9
    FIT_WRAPPERS = 1

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks."""

    def with_callbacks(method: Method) -> Method:
        """Leave the method as it is."""
        return method


__all__ = [
    "FIT_WRAPPERS",
    "CallbackSupportMixin",
    "Interval",
    "StrOptions",
    "_fit_context",
    "with_callbacks",
]
