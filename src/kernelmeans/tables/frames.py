"""Tables of any kind as named columns: data frames of polars and pandas, and arrays."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils import check_array

from kernelmeans._dialect import first_row, row_name
from kernelmeans._frames import column_at, is_frame
from kernelmeans._given import holds_none, plain, with_gaps
from kernelmeans._text import counted, listed, single_blanks
from kernelmeans._typing import Array
from kernelmeans.tables.numerals import number_of

#: What `read_table`, and what pandas calls the second of two columns with the same name.
_OURS, _OF_PANDAS = re.compile(r"(.+)_([2-9]|[1-9][0-9]+)"), re.compile(r"(.+)\.([1-9][0-9]*)")
#: What pandas calls a column without a name on a level.
_UNNAMED = re.compile(r"Unnamed: \d+_level_\d+")


def other_names(names: Collection[str]) -> dict[str, str]:
    """Names that mean the same columns.

    Blanks around a name and double blanks do not count: files of text are read without the former,
    but pandas keeps them. The second of two columns called ``x`` is ``x_2`` here, and ``x.1`` for
    pandas.

    Parameters
    ----------
    names : collection of str
        The names of the columns of a table.

    Returns
    -------
    dict of str
        The name of the column for each other name.

    Examples
    --------
    >>> from kernelmeans.tables.frames import other_names
    >>> other_names(["x", "x_2", "a  b"])
    {'x': 'x', 'x_2': 'x_2', 'a b': 'a  b', 'x.1': 'x_2'}
    """
    known, others = {*names}, {single_blanks(name): name for name in names}
    for name in names:
        for form, other, step in ((_OURS, "{}.{}", -1), (_OF_PANDAS, "{}_{}", 1)):
            if (found := form.fullmatch(name)) and found[1] in known:
                others.setdefault(other.format(found[1], int(found[2]) + step), name)
    return others


def flat_names(columns: Iterable[Any]) -> list[str]:
    """Names of columns as text. Those on several levels of pandas are joined, as in files.

    Examples
    --------
    >>> from kernelmeans.tables.frames import flat_names
    >>> flat_names([("shop", ""), ("cost", 2024), ("sales", 2024)])
    ['shop', 'cost 2024', 'sales 2024']
    """
    columns = list(columns)
    names = [" ".join(_levels(one)) if isinstance(one, tuple) else str(one) for one in columns]
    return names if len({*names}) == len(names) else list(map(str, columns))


def _levels(column: tuple[Any, ...]) -> list[str]:
    """The names of a column on all levels that have one."""
    return [str(one) for one in column if str(one) and not _UNNAMED.fullmatch(str(one))]


class Table(Mapping[str, Array]):
    """The columns of a data frame or an array.

    Parameters
    ----------
    X : data frame or array-like of shape (n_rows, n_columns)
        A data frame of polars or pandas, or anything else that becomes an array.
    names : sequence of str or None, default=None
        Names of the columns of an array; "0", "1" and so on when None.
    missing_values : iterable of str or number, default=()
        Further values that stand for missing ones, as numbers or text.

    Attributes
    ----------
    X : data frame or ndarray
        The table.
    names : list of str
        The names of its columns.
    named : bool
        Whether the names are those of a data frame.
    missing_words : set of str
        The further values as text, in small letters.

    Notes
    -----
    Columns are found by name, or by one of its `other_names`.
    """

    def __init__(
        self,
        X: Any,
        names: Sequence[str] | None = None,
        missing_values: Iterable[str | float] = (),
    ) -> None:
        self.named = hasattr(type(X), "columns")  # a lazy frame warns where it is asked itself
        if self.named and not is_frame(X):
            raise TypeError(
                f"X is a {type(X).__name__}, but must be an array or a data frame of polars or "
                "pandas, such as its collect() or to_pandas() returns."
            )
        if scipy.sparse.issparse(X):
            raise TypeError(
                f"X is a sparse matrix of {counted(X.shape[-1], 'column')} without names, and a "
                "table is dense: give a data frame of the columns that matter, such as "
                "adata.to_df()."
            )
        if not self.named:
            given = plain(with_gaps(X))
            has_values = isinstance(given, list | tuple) or hasattr(given, "__array__")
            if not has_values and np.ndim(given) == 0:
                read = "kernelmeans.tables.read_table returns for a file"
                raise TypeError(f"{holds_none(given)}, or what {read}.")
            X = check_array(given, dtype=None, ensure_all_finite=False, ensure_2d=False)
            if X.ndim == 1:
                raise ValueError(
                    "X has one dimension, but a table has columns. Reshape your data: give one row "
                    "as frame.iloc[[0]] or [X], dicts as pandas.DataFrame(X), and texts as table = "
                    "pandas.DataFrame({'text': X}). A pipeline that takes texts needs both: "
                    "describe(model, table, X=X) or ClusterReport(model, X, table=table)."
                )
        columns = X.columns if self.named else range(X.shape[1])
        self.X, self.names = X, flat_names(names or columns)
        self.missing_words = {str(value).strip().lower() for value in missing_values}
        self._places = {name: place for place, name in enumerate(self.names)}
        others = self._names_of_levels(columns) | other_names(self.names)
        self._alike = {other: self._places[name] for other, name in others.items()}
        if len(self._places) < len(self.names):
            twice = [name for name, count in Counter(self.names).items() if count > 1]
            raise ValueError(
                f"X: several columns are called {listed(twice)}; give each its own name."
            )
        if not self.names or not len(X):
            what = "sample" if self.names else "feature"
            raise ValueError(f"X: Found array with 0 {what}(s), while a minimum of 1 is required.")

    def _names_of_levels(self, columns: Iterable[Any]) -> dict[str, str]:
        """Other names of columns on several levels.

        Files that name the last level alone are read so, if these names differ. Models of earlier
        states know tuples as text.
        """
        pairs = [
            (c, name) for c, name in zip(columns, self.names, strict=False) if type(c) is tuple
        ]
        last = Counter("".join(_levels(column)[-1:]) for column, _ in pairs)
        alone = {one: name for c, name in pairs for one in _levels(c)[-1:] if last[one] == 1}
        return {single_blanks(str(column)): name for column, name in pairs} | alone

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.X)

    def row(self, number: int) -> str:
        """What to call a row in messages: by the index of pandas, or by its number."""
        return f"row {self.X.index[number]}" if hasattr(self.X, "index") else row_name(number)

    @property
    def first_row(self) -> str:
        """What to add to messages that number rows."""
        return "" if hasattr(self.X, "index") else first_row()

    def filtered(self, rows: str) -> str:
        """How some rows are taken, as Python has it."""
        return f"X.filter({rows})" if hasattr(self.X, "get_column") else f"X[{rows}]"

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self._places or single_blanks(str(name)) in self._alike

    def _series(self, name: str) -> Any:
        place = self._places.get(name)
        return column_at(self.X, self._alike[single_blanks(name)] if place is None else place)

    def is_category(self, name: str) -> bool:
        """Whether a column has a type of categories."""
        dtype = str(getattr(self._series(name), "dtype", ""))
        return dtype.lower().startswith(("categor", "enum", "dictionary"))

    def __getitem__(self, name: str) -> Array:
        """The values of a column; missing ones are None or NaN."""
        values = self._values(name)
        return without(values, self.missing_words) if self.missing_words else values

    def _values(self, name: str) -> Array:
        series = self._series(name)
        if not self.named:
            return np.asarray(series)
        if str(series.dtype).startswith("period"):  # of pandas: a month is its first day
            series = series.dt.to_timestamp()
        kind = getattr(series.dtype, "kind", "")  # of pandas, whose numbers may be no NumPy arrays
        if kind == "M":
            return np.asarray(series.to_numpy(dtype="datetime64[ns]"))
        if kind in "iuf" and kind and not isinstance(series.dtype, np.dtype):
            return np.asarray(series.to_numpy(dtype=float, na_value=np.nan))
        if not kind and hasattr(series.dtype, "is_nested"):  # of polars
            if series.dtype.is_decimal() or str(series.dtype).endswith("128"):
                series = series.cast(float)
            return as_array(series)
        return np.asarray(series.to_numpy())


def as_array(series: Any) -> Array:
    """A column of polars as an array of one dimension; lists and structs are objects."""
    if series.dtype.is_nested():  # NumPy would stack them
        return np.fromiter(series.to_list(), object, len(series))
    return np.asarray(series.to_numpy())


def without(values: Array, words: Collection[str]) -> Array:
    """The values of a column without those that stand for missing ones.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        The values.
    words : collection of str
        What stands for a missing value, in lower case; numbers too.

    Returns
    -------
    ndarray of shape (n_rows,)
        None or NaN in their place.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.tables.frames import without
    >>> without(np.array([31, -999, 45]), ["-999", "k.o."])
    array([31., nan, 45.])
    >>> without(np.array(["31", "K.O.", -999, None], dtype=object), ["-999", "k.o."])
    array(['31', None, None, None], dtype=object)
    """
    numbers = [number for word in words if (number := number_of(word)) == number]
    if values.dtype.kind in "iuf":
        found = np.isin(values, numbers)
        return np.where(found, np.nan, values) if found.any() else values
    if values.dtype.kind in "OUS":
        found = np.array([_is_any(value, words, numbers) for value in values.tolist()])
        if found.any():
            values = values.astype(object)
            values[found] = None
    return values


def _is_any(value: Any, words: Collection[str], numbers: Collection[float]) -> bool:
    """Whether a value among objects is one of these words or numbers."""
    if type(value) is str:
        return value.strip().lower() in words
    return isinstance(value, Real) and not isinstance(value, bool) and value in numbers
