"""Everything taken from scikit-learn's private modules, or from versions that may lack it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from sklearn.utils._indexing import _get_column_indices, _safe_indexing
from sklearn.utils._param_validation import Interval as _Interval
from sklearn.utils._param_validation import InvalidParameterError, StrOptions, make_constraint
from sklearn.utils.validation import (
    _check_feature_names_in,
    _check_n_features,
    _check_sample_weight,
    _num_samples,
)

from kernelmeans._typing import Array, IntArray

Method = TypeVar("Method", bound=Callable[..., Any])

if TYPE_CHECKING:
    from sklearn.callback import CallbackSupportMixin

    # scikit-learn has no annotations, and what it decorates would have none either.
    class ClusterMixin:
        def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> IntArray: ...

    class TransformerMixin:
        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Array: ...

    def _fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[Method], Method]: ...
    def with_callbacks(method: Method) -> Method: ...

else:
    from sklearn.base import ClusterMixin, TransformerMixin, _fit_context

    try:
        from sklearn.callback import CallbackSupportMixin, with_callbacks
    except ImportError:  # scikit-learn < 1.9

        class CallbackSupportMixin:
            """Stands in where scikit-learn has no callbacks."""

        def with_callbacks(method):
            """Leave the method as it is."""
            return method


class Interval(_Interval):  # type: ignore[misc]
    """Numbers of an interval. True and False do not count, although they are integers in Python."""

    def is_satisfied_by(self, val: Any) -> bool:
        """Whether a value is a number of the interval."""
        return not isinstance(val, bool) and bool(super().is_satisfied_by(val))


__all__ = [
    "CallbackSupportMixin",
    "ClusterMixin",
    "Interval",
    "InvalidParameterError",
    "StrOptions",
    "TransformerMixin",
    "_check_feature_names_in",
    "_check_n_features",
    "_check_sample_weight",
    "_fit_context",
    "_get_column_indices",
    "_num_samples",
    "_safe_indexing",
    "make_constraint",
    "with_callbacks",
]
