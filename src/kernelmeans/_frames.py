"""Data frames of polars and pandas, and other arrays, where rows of numbers are needed."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse
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


def as_floats(rows: Any, dtype: Any) -> Any:
    """Checked rows in a type, or the first of a list: scikit-learn may leave flags of a frame."""
    first = dtype[0] if isinstance(dtype, list) else dtype
    return rows if rows.dtype.kind == "f" else rows.astype(first)


@contextmanager
def read_as_numbers(X: Any, pairwise: bool = False) -> Iterator[None]:
    """Refuse dates, and say in words of ours why X cannot be read in this context.

    Gaps in a matrix between rows (`pairwise`) cannot be filled, nor can its columns be left out.
    """
    try:
        if any(map(is_time, X.dtypes if is_frame(X) else [getattr(X, "dtype", None)])):
            raise TypeError("dates and times are no numbers")
        yield
    except (TypeError, ValueError) as error:
        if not (found := "" if pairwise else _no_numbers(X)):
            _refuse_array(X, error, pairwise)
            raise
        remedy = (
            "Leave these columns out, or make numbers of them: "
            "kernelmeans.tables.TableTransformer does it, as the first step of a pipeline."
        )
        names = [name for n, name in enumerate(X.columns) if are_vectors(column_at(X, n))]
        if names:
            remedy = f"Give the arrays in {names[0]!r} alone: np.vstack(X[{names[0]!r}])."
        raise ValueError(f"X: {found}. {remedy}") from error


def _refuse_array(X: Any, error: ValueError | TypeError, pairwise: bool) -> None:
    """Raise an error in words of ours if there are no numbers in X, or no finite ones."""
    gaps = str(error).startswith("Input X contains")
    if gaps and (where := _not_finite(X, pairwise)):
        raise ValueError(f"{str(error).splitlines()[0]} {where}") from error
    if scipy.sparse.issparse(X) or not (found := _no_array(X)):
        return
    # scikit-learn's conventions ask for the words of the conversion too.
    reason = str(error).rstrip(".")
    has_dicts = isinstance(X, list) and isinstance(X[0], Mapping)
    form = "a data frame of the dicts, pandas.DataFrame(X)" if has_dicts else "an array of numbers"
    form += ", np.vstack(X)" * (hasattr(X, "__len__") and are_vectors(X))
    raise type(error)(f"X: {found} ({reason}). Give {form}.") from error


def _not_finite(X: Any, pairwise: bool) -> str:
    """Where the numbers of an array or a sparse matrix are not finite, and what to do.

    Empty if they are finite, and too large for the type of the fit alone.
    """
    if scipy.sparse.issparse(X):
        entries = scipy.sparse.coo_array(X)
        values = entries.data
        places = np.column_stack(entries.coords)[~np.isfinite(values)]
        places = places[np.lexsort(places.T[::-1])]
    else:
        values = np.asarray(X, dtype=np.float64)
        places = np.argwhere(~np.isfinite(values))
    if not len(places):
        return ""
    *_, row, column = places[0].tolist()
    fill = ", or fill gaps by kernelmeans.tables.TableTransformer or sklearn.impute.SimpleImputer"
    if np.isinf(values).any():  # which both refuse
        fill = ", or correct them"
    return (
        f"The first is in row {row} and column {column}, counted from 0; rows with such values: "
        f"{len(np.unique(places[:, -2]))}. Leave them out{'' if pairwise else fill}."
    )


def _no_array(X: Any) -> str:
    """Why lists or an array cannot be numbers; empty if they can."""
    try:
        array = np.asarray(X)
    except ValueError:
        return "not all rows have the same length"
    if array.dtype.kind not in "biufcO":
        return f"values of the type {array.dtype} are no numbers"
    try:
        array.astype(np.complex128)
    except (TypeError, ValueError):
        return "some values are no numbers"
    return ""


def are_vectors(values: Any) -> bool:
    """Whether all values are vectors of numbers, of one length, as embeddings in a column are."""
    try:
        arrays = list(map(np.asarray, values))
    except (TypeError, ValueError):  # a ragged list, or a single value
        return False
    are_alike = len({one.shape for one in arrays}) == 1
    return are_alike and all(one.ndim == 1 and one.dtype.kind in "biuf" for one in arrays)


def _no_numbers(X: Any) -> str:
    """Columns of a data frame that hold no numbers, or not in all rows; empty if there are none.

    A frame without rows has other faults than its columns.
    """
    wrong, gaps = [], []
    for place, name in enumerate(X.columns if is_frame(X) and len(X) else ()):
        column = column_at(X, place)
        try:
            given = {"accept_sparse": True, "dtype": np.float64, "ensure_all_finite": False}
            numbers = check_array(column.to_frame(), **given)
        except (TypeError, ValueError):
            numbers = None
        called = repr(shortened(str(name), 60))
        if numbers is None or is_time(column.dtype):
            wrong.append(f"{called} ({shortened(str(column.dtype).lower(), 30)})")
        elif missing := int((numbers != numbers).sum()):  # sparse, if the column is
            gaps.append(f"{called} ({counted(missing, 'row')})")
    found = {"no numbers": wrong, "missing values (NaN or None)": gaps}
    return "; ".join(f"{what} in {first(columns)}" for what, columns in found.items() if columns)
