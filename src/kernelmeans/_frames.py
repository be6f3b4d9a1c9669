"""Data frames of polars and pandas where rows of numbers are needed."""

from typing import Any

import numpy as np
from sklearn.utils import check_array

from kernelmeans._text import counted, first, shortened


def is_frame(X: Any) -> bool:
    """Whether this is a data frame in memory."""
    return hasattr(type(X), "columns") and (hasattr(X, "iloc") or hasattr(X, "get_column"))


def column_at(X: Any, place: int) -> Any:
    """A column of a data frame or an array."""
    return X.iloc[:, place] if hasattr(X, "iloc") else X[:, place]


def with_columns_of(X: Any, estimator: Any) -> Any:
    """The columns of a data frame that an estimator has seen in its fit, if all are there."""
    names = list(getattr(estimator, "feature_names_in_", ()))
    if not (names and is_frame(X)) or list(X.columns) == names or set(names) - set(X.columns):
        return X
    return X[names]


def is_time(dtype: Any) -> bool:
    """Whether a type of polars or pandas is of dates or times."""
    return getattr(dtype, "kind", "") in ("m", "M") or bool(
        hasattr(dtype, "is_temporal") and dtype.is_temporal()
    )


def check_no_times(X: Any) -> None:
    """Refuse a data frame with dates or times, which would become numbers of very small units."""
    if is_frame(X) and any(map(is_time, X.dtypes)):
        raise TypeError("X holds dates or times, which are no numbers.")


def no_numbers(X: Any) -> str:
    """Columns of a data frame that hold no numbers, or not in all rows; empty if there are none."""
    wrong, gaps = [], []
    for place, name in enumerate(X.columns if is_frame(X) else ()):
        column = column_at(X, place)
        try:
            numbers = check_array(column.to_frame(), dtype=np.float64, ensure_all_finite=False)
        except (TypeError, ValueError):
            numbers = None
        called = repr(shortened(str(name), 60))
        if numbers is None or is_time(column.dtype):
            wrong.append(f"{called} ({shortened(str(column.dtype).lower(), 30)})")
        elif missing := int(np.isnan(numbers).sum()):
            gaps.append(f"{called} ({counted(missing, 'row')})")
    texts = []
    for what, columns in {"no numbers": wrong, "missing values (NaN or None)": gaps}.items():
        texts += [f"{what} in {first(columns)}"] * bool(columns)
    return "; ".join(texts)
