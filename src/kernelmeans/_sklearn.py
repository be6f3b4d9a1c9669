"""Everything taken from scikit-learn's private modules, or from versions that may lack it."""

from collections.abc import Callable
from typing import Any, TypeVar

from sklearn.base import _fit_context
from sklearn.utils._indexing import _get_column_indices, _safe_indexing
from sklearn.utils._param_validation import (
    Interval,
    InvalidParameterError,
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils.validation import (
    _check_feature_names_in,
    _check_n_features,
    _check_sample_weight,
    _num_samples,
)

Method = TypeVar("Method", bound=Callable[..., Any])

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn < 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks."""

    def with_callbacks(method: Method) -> Method:
        """Leave the method as it is."""
        return method


__all__ = [
    "CallbackSupportMixin",
    "Interval",
    "InvalidParameterError",
    "StrOptions",
    "_check_feature_names_in",
    "_check_n_features",
    "_check_sample_weight",
    "_fit_context",
    "_get_column_indices",
    "_num_samples",
    "_safe_indexing",
    "validate_parameter_constraints",
    "with_callbacks",
]
