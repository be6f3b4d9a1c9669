"""Tables of any kind as named columns: data frames of polars and pandas, and arrays."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils import check_array

from kernelmeans._typing import Array


class Table(Mapping[str, Array]):
    """The columns of a data frame or an array.

    Parameters
    ----------
    X : data frame or array-like of shape (n_rows, n_columns)
        A data frame of polars or pandas, or anything else that becomes an array.
    names : sequence of str or None, default=None
        Names of the columns of an array; "0", "1" and so on when None.

    Attributes
    ----------
    X : data frame or ndarray
        The table.
    names : list of str
        The names of its columns.
    named : bool
        Whether the names are those of a data frame.
    """

    def __init__(self, X: Any, names: Sequence[str] | None = None) -> None:
        self.named = hasattr(X, "columns")
        if not self.named:
            X = check_array(X, dtype=None, ensure_all_finite=False)
        columns = X.columns if self.named else range(X.shape[1])
        self.X, self.names = X, [str(name) for name in names or columns]
        self._places = {name: place for place, name in enumerate(self.names)}
        if len(self._places) < len(self.names):
            raise ValueError("X: several columns have the same name; give each its own.")
        if not self.names:
            raise ValueError("X: Found array with 0 feature(s), while a minimum of 1 is required.")
        if not len(X):
            raise ValueError("X: Found array with 0 sample(s), while a minimum of 1 is required.")

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.X)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __getitem__(self, name: str) -> Array:
        """The values of a column; missing ones are None or NaN."""
        place = self._places[name]
        if not self.named:
            column: Array = self.X[:, place]
            return column
        series = self.X.iloc[:, place] if hasattr(self.X, "iloc") else self.X[:, place]
        kind = getattr(series.dtype, "kind", "")  # of pandas, whose numbers may be no NumPy arrays
        if kind == "M":
            return np.asarray(series.to_numpy(dtype="datetime64[ns]"))
        if kind in "iuf" and kind and not isinstance(series.dtype, np.dtype):
            return np.asarray(series.to_numpy(dtype=float, na_value=np.nan))
        return np.asarray(series.to_numpy())
