"""A transformer of scikit-learn that turns a table, as people have it, into numbers."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, ClassVar, Self, get_args

import numpy as np
from sklearn import config_context
from sklearn.base import TransformerMixin
from sklearn.preprocessing import StandardScaler
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted

from kernelmeans._dialect import option
from kernelmeans._estimator import Estimator
from kernelmeans._given import received
from kernelmeans._sklearn import (
    StrOptions,
    _check_feature_names_in,
    _check_n_features,
    _check_sample_weight,
    _fit_context,
)
from kernelmeans._text import counted, first, listed
from kernelmeans._typing import Array, BoolArray, DTypeName, MissingName, SkewedName
from kernelmeans._warnings import warn_user
from kernelmeans.tables.columns import Column, as_text, matching
from kernelmeans.tables.decisions import Decision, decide, logarithms
from kernelmeans.tables.frames import Table
from kernelmeans.tables.gaps import donors_of, fill
from kernelmeans.tables.inspection import (
    Inspection,
    check_placeable,
    shown,
    shown_beside,
    unseen_values,
)
from kernelmeans.tables.kinds import USED, marks_of
from kernelmeans.tables.spellings import Marks, Spelling, said_doubts
from kernelmeans.tables.totals import totals_message
from kernelmeans.tables.values import UNSEEN, is_flag_in_words, read_column

#: Distance of a missing value of a scaled column from all others, in the column that marks gaps.
#: From 0.7 on, rows with a gap have no neighbours without one (figures: benchmarks/gaps.py).
GAP = 0.5
#: Numbers whose variances are computed at a time, so that no second copy of a large table is made.
BATCH = 2**20
#: Largest number accepted in new rows for a column that held only 0 and 1, if the table holds words
#: too. It may be a count. A larger number likely stands for a missing value, or is from another
#: column.
MOST_COUNTED = 9.0


class TableTransformer(TransformerMixin, Estimator):
    """Turn a table, as people have it, into numbers that a kernel can compare.

    Numbers, true or false (also in words), and text of few values are used. Dates, free text,
    identifiers, constant columns, copies of other columns, and whole numbers that only count the
    rows are left out. ``columns_`` says what each column was taken for, and why.

    Numbers are centered and scaled to unit variance. Skewed ones, such as
    money, are taken as logarithms first: log(1 + x / m), where m is the median of the positive
    numbers.

    A category becomes a column of 0 and 1 for each value. So two values of a category, rare or
    frequent, are as far apart as two random rows in a number: sqrt(2). The same holds for true and
    false, also written as 1 and 0, which take one column. All columns are centered.

    Parameters
    ----------
    columns : list of str or None, default=None
        Columns to use, as names or as patterns of a shell; all when None. A column whose full name
        is given is used even if it counts the rows, is a date or copies another.
    drop : list of str, default=()
        Columns to leave out, as names or patterns.
    categorical : list of str, default=()
        Columns to take for categories, as names or patterns, though they hold numbers or have many
        values.
    dates : bool, default=False
        Use dates, as numbers of days since 1970.
    missing : {"impute", "drop", "error"}, default="impute"
        What to do about missing values of numbers. ``"impute"`` fills them with the median of
        five rows of the fit, those that are nearest in the other columns among 1000. Where more
        than 5 % are missing it adds a column that says where. Columns with gaps in the same rows
        share one. It counts little: 0.5 for a gap, where two random rows differ by
        sqrt(2) in a number. ``"drop"`` ignores such rows in the fit. ``"error"`` refuses them. In
        categories a missing value is a value of its own.
    missing_values : tuple or list of str or number, default=()
        Further values that stand for missing ones, such as ``-999`` or ``"not asked"``, in the fit
        and in new rows. Blanks around text and capitals do not count.
    decimal : str or None, default=None
        The decimal mark of numbers in text, a point or a comma. None finds it: columns that are
        numbers under one mark alone decide for those that are numbers under both, such as 1.234.
    thousands : str or None, default=None
        The mark between groups of three digits in text, or ``"space"``, or ``"none"``. None allows
        spaces, apostrophes, and the mark that is not the decimal one.
    skewed : {"log", "keep"}, default="log"
        What to do about numbers of 0 and more with a skewness above 1. ``"log"`` takes their
        logarithms if this at least halves the skewness. ``"keep"`` does not.
    scale : bool, default=True
        Center and scale. Otherwise numbers stay as they are, also skewed ones, and categories are 0
        and 1.
    dtype : {"float64", "float32"}, default="float64"
        Precision of the result.

    Attributes
    ----------
    columns_ : tuple of Column
        For each column its name, kind, whether it is used, the reason, and its missing values.
    report_ : str
        The same as a short table.
    scaler_ : StandardScaler or None
        Means and scales of the columns of the result.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if the table is a data frame.

    See Also
    --------
    sklearn.compose.ColumnTransformer : Transformers for columns that are chosen by hand.

    Notes
    -----
    The decisions of a fit are kept. New rows are read by them: columns of data frames are found by
    name, in any order, and columns that are not used may be absent. A value that a category did not
    have in the fit becomes 0 in all of its columns. `transform` refuses text in a column of
    numbers, and other numbers than 0 and 1 among true and false or yes and no.

    A transformer cannot drop rows. `inspect` tells which rows can be transformed and hold a value:
    ``X[prepare.inspect(X).placeable]`` of pandas, ``X.filter(prepare.inspect(X).placeable)`` of
    polars. So rows with missing values are left out before a fit with ``missing="drop"``, and rows
    that hold nothing before any fit. A fit warns of these.

    A half of the rows leads to the same decisions, as in `kernelmeans.ClusterSearch` over a
    pipeline, unless a table is small or a column is a borderline case. No rule depends on the order
    of the rows. Whole numbers count or name the rows if they are all different, though so many
    numbers in their range would have to repeat by chance, and this also holds for a half.
    Text is a category if it has at most 60 values, each in 4 rows on average.

    Numbers that are codes, such as zip codes, are known by the name of the column alone, unless its
    type in pandas or polars is that of a category.

    Numbers as text may have a unit, a sign of percent or currency, a decimal comma, groups of three
    digits, and parentheses or a minus behind for negative ones. The fit remembers how a column is
    written. Bounds such as <0.5 are read as the number at the bound, with a warning. Words such as
    unknown are missing values in a column of any kind, but "none" is a value of a category if more
    than 5 % of its values are. Among numbers two other words at most are missing values too, if
    they take 5 % of the rows or less. Other text is refused if it is rare.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernelmeans.tables import TableTransformer
    >>> table = pd.DataFrame({
    ...     "id": [f"C{number}" for number in range(8)],
    ...     "age": [31, 45, None, 52, 45, 60, 38, 27],
    ...     "region": ["north", "south"] * 4,
    ... })
    >>> prepare = TableTransformer().fit(table)
    >>> print(prepare.report_)
    columns used      1 number: age
                      1 category: region (2 values)
    left out          id: identifier, nearly all values differ
    missing values    age 1 (12 %): are filled from similar rows, and a column of
                        its own says where
    >>> prepare.get_feature_names_out().tolist()
    ['age', 'age is missing', 'region=north', 'region=south']
    >>> new = pd.DataFrame({"region": ["north", None], "age": [33, None]})
    >>> prepare.transform(new.iloc[:1]).shape, prepare.inspect(new).placeable.tolist()
    ((1, 4), [True, False])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "columns": [str, list, tuple, np.ndarray, None],
        "drop": [str, list, tuple, np.ndarray],
        "categorical": [str, list, tuple, np.ndarray],
        "dates": ["boolean"],
        "missing": [StrOptions(set(get_args(MissingName)))],
        "missing_values": [tuple, list],
        "decimal": [str, None],
        "thousands": [str, None],
        "skewed": [StrOptions(set(get_args(SkewedName)))],
        "scale": ["boolean"],
        "dtype": [StrOptions(set(get_args(DTypeName)))],
    }

    scaler_: StandardScaler | None
    #: Rows of the fit that gaps are filled from, unless rows with gaps are dropped or refused.
    _donors: Array | None = None
    #: The decimal mark of text columns that are numbers under both, if nothing else is known.
    _guess = "."

    def __init__(
        self,
        *,
        columns: Sequence[str] | None = None,
        drop: Sequence[str] = (),
        categorical: Sequence[str] = (),
        dates: bool = False,
        missing: MissingName = "impute",
        missing_values: Sequence[str | float] = (),
        decimal: str | None = None,
        thousands: str | None = None,
        skewed: SkewedName = "log",
        scale: bool = True,
        dtype: DTypeName = "float64",
    ) -> None:
        self.columns = columns
        self.drop = drop
        self.categorical = categorical
        self.dates = dates
        self.missing = missing
        self.missing_values = missing_values
        self.decimal = decimal
        self.thousands = thousands
        self.skewed = skewed
        self.scale = scale
        self.dtype = dtype

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Decide what each column is, and learn means and scales.

        Parameters
        ----------
        X : data frame or array-like of shape (n_rows, n_columns)
            The table. The columns of an array are called "0", "1" and so on.
        y : Ignored
            Not used, present for API consistency by convention.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            How much each row counts for means and scales.

        Returns
        -------
        self : object
            The fitted transformer.

        Raises
        ------
        ValueError
            If no column can be used, a column of numbers holds other text, a value is infinite,
            a variance overflows, or a value is missing and ``missing="error"``.

        Warns
        -----
        UserWarning
            If rows have no value in any column that is used.
        """
        self._fit(X, sample_weight)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit, and return the numbers of the same rows.

        Parameters
        ----------
        X : data frame or array-like of shape (n_rows, n_columns)
            The table.
        y : Ignored
            Not used, present for API consistency by convention.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            How much each row counts for means and scales.

        Returns
        -------
        Z : ndarray of shape (n_rows, n_features_out)
            The numbers.

        Raises
        ------
        ValueError
            As in `fit`, and if a value is missing and ``missing="drop"``.
        """
        Z, found = self._fit(X, sample_weight)
        if self.missing != "impute":
            check_placeable(found)
        return Z

    def transform(self, X: Any) -> Array:
        """Return rows as numbers.

        Parameters
        ----------
        X : data frame or array-like of shape (n_rows, n_columns)
            The rows. Columns of a data frame are found by name.

        Returns
        -------
        Z : ndarray of shape (n_rows, n_features_out)
            The numbers.

        Raises
        ------
        ValueError
            If a column is absent, a column of numbers holds something else, or a value is missing
            and ``missing`` is not ``"impute"``.

        Warns
        -----
        UserWarning
            If rows have no value in any column that is used, or values of categories that the fit
            has not seen.
        """
        table = self._table(X)
        Z = self._empty(table.n_rows)
        found = self._read(table, Z)
        if found.wrong or self.missing != "impute":
            check_placeable(found, table)
        self._warn_of_empty(found, table)
        if found.doubts:
            warn_user(f"X: {said_doubts(found.doubts)}.")
        if found.unseen:
            warn_user(f"X: {first(unseen_values(found.unseen))}.")
        Z = self._scaled(Z)
        if self._donors is not None:
            fill(Z, self._donors)
        return Z

    def inspect(self, X: Any) -> Inspection:
        """Say which rows can be transformed, and what in them the fit has not seen.

        Parameters
        ----------
        X : data frame or array-like of shape (n_rows, n_columns)
            The rows.

        Returns
        -------
        Inspection
            Placeable rows, values that are no numbers, and unseen categories.
        """
        return self._read(self._table(X))

    def totals_in(self, X: Any, source: Any = None) -> str | None:
        """Say which rows look like totals, as a fit does.

        Parameters
        ----------
        X : data frame or array-like of shape (n_rows, n_columns)
            The rows.
        source : FrameTable, ArrayTable or None, default=None
            The file of the rows, which knows their lines.

        Returns
        -------
        str or None
            The message; None where no row looks like a total.
        """
        table, numbers = self._table(X), dict[str, Array]()
        self._read(table, unscaled=numbers)
        return totals_message(table if source is None else source, numbers)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the columns of the result.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the columns of the table, if it has none of its own.

        Returns
        -------
        ndarray of shape (n_features_out,)
            The name of the column; of a category with the value, as in ``region=north``.
        """
        check_is_fitted(self)
        given = _check_feature_names_in(self, input_features)
        names: list[str] = []
        for column, name in zip(self.columns_, given, strict=True):
            if column.kind == "category":
                names += [f"{name}={value or 'missing'}" for value in self._values[column.name]]
            elif column.used:
                names += [name, *[f"{name} is missing"] * column.has_indicator]
        return np.array(names, dtype=object)

    def is_well_formed(self) -> bool:
        """Say whether the parts of a fitted transformer, read from a file, fit together."""
        columns, n_columns = vars(self).get("_columns"), self.n_features_in_
        if not isinstance(columns, dict) or list(columns) != list(Column._fields):
            return False
        arrays = [*columns.values(), self._units]
        if not all(isinstance(one, np.ndarray) and one.shape == (n_columns,) for one in arrays):
            return False
        if "".join(one.dtype.kind for one in arrays) != "UUbUiibbf":
            return False
        used = list(self._used())
        n_scaled = used[-1][-1].stop if used else 0
        return (
            n_scaled > 0
            and all(one.kind in USED for one, *_ in used)
            and all((one.kind == "category") == bool(one.n_values) for one, *_ in used)
            and all(self._has_values(one) for one, *_ in used)
            and all(type(one) is float for one in self._flags.values())
            and all(type(one) is int for one in self._digits.values())
            and all(self._spelling(one.name).is_well_formed() for one, *_ in used)
            and self._makes_numbers(n_scaled)
            and all(type(one) in (str, int, float) for one in self.missing_values)
        )

    def _makes_numbers(self, n_columns: int) -> bool:
        """Say whether rows of so many columns can be scaled, and gaps filled if they are to be."""
        rows, scaler = np.full((1, n_columns), np.nan), self.scaler_
        with suppress(Exception), np.errstate(all="ignore"):
            fits = scaler is None or scaler.mean_.shape == scaler.scale_.shape == (n_columns,)
            rows = self._scaled(rows)
            if self._donors is not None:
                fill(rows, self._donors)
            keeps_gaps = self.missing != "impute" or "_medians" in vars(self)
            return fits and (keeps_gaps or not np.isnan(rows).any())
        return False

    def _has_values(self, column: Column) -> bool:
        """Say whether all values of a category are known."""
        values = self._values.get(column.name, np.empty(0, "U1"))
        is_text = isinstance(values, np.ndarray) and values.dtype.kind == "U"
        return is_text and values.shape == (column.n_values or 0,)

    @property
    def columns_(self) -> tuple[Column, ...]:
        """What each column was taken for."""
        if "_columns" not in vars(self):
            raise AttributeError("columns_: the transformer is not fitted yet")
        rows = zip(*(self._columns[field].tolist() for field in Column._fields), strict=True)
        columns = (Column(*row) for row in rows)
        return tuple(one._replace(n_values=one.n_values or None) for one in columns)

    @property
    def feature_names_in_(self) -> Any:
        """Names of the columns of a data frame."""
        if not vars(self).get("_named"):
            raise AttributeError("feature_names_in_: the table is no data frame")
        return self._columns["name"].astype(object)

    @property
    def report_(self) -> str:
        """What each column was taken for, as a short table."""
        return as_text(self.columns_, self._n_rows, self.missing)

    def _fit(self, X: Any, sample_weight: Any) -> tuple[Array, Inspection]:
        table = Table(X, missing_values=self.missing_values)
        names = table.names
        wanted = matching("*" if self.columns is None else self.columns, names, "columns")
        dropped = matching(self.drop, names, "drop")
        categorical = matching(self.categorical, names, "categorical")
        if (weights := received(sample_weight, "sample_weight")) is not None:
            weights = _check_sample_weight(weights, table.X, ensure_non_negative=True)
        rules: dict[str, Any] = {"dates": self.dates, "missing": self.missing}
        rules["skewed"] = self.skewed if self.scale else "keep"
        decisions = decide(table, wanted, dropped, categorical, marks=self._marks(), **rules)
        self._remember(table, decisions)
        doubts = {one.column.name: one.found.doubt for one in decisions if one.column.used}
        if doubts := {name: doubt for name, doubt in doubts.items() if doubt}:
            warn_user(said_doubts(doubts))
        Z = self._empty(table.n_rows)
        found = self._read(table, Z)
        if found.wrong or self.missing == "error":
            check_placeable(found, table)
        if self.missing == "drop" and not found.placeable.any():
            impute = option("missing", "impute")
            raise ValueError(f"X: each row lacks a number; {impute} fills them in.")
        if not found.placeable.any():
            raise ValueError(
                "X: no row has a value in any column that is used; use other columns, or give rows "
                "with values."
            )
        if self.missing != "drop":
            self._warn_of_empty(found, table)
        self.scaler_ = None
        if self.scale:
            self.scaler_ = self._fitted_scaler(Z, found.placeable, weights)
        Z = self._scaled(Z)
        if self.missing == "impute":
            counts = found.placeable if weights is None else found.placeable & (weights > 0)
            self._donors = donors_of(Z, counts)
            fill(Z, self._donors)
        return Z, found

    def _warn_of_empty(self, found: Inspection, table: Table) -> None:
        if found.n_empty:
            row = table.row(int(np.flatnonzero(~found.placeable)[0]))
            warn_user(
                f"X: {counted(found.n_empty, 'row')} without a value in any column that is used "
                f"({row}{table.first_row}), whose place means nothing. Leave such rows "
                f"out: {table.filtered('prepare.inspect(X).placeable')}, where prepare is this "
                "transformer, fitted."
            )

    def _remember(self, table: Table, decisions: Sequence[Decision]) -> None:
        """Keep the decisions as arrays, which a model file holds without further types."""
        columns = [one.column._replace(n_values=len(one.found.values)) for one in decisions]
        fields = zip(*columns, strict=True)
        self._columns = {
            field: np.array(values) for field, values in zip(Column._fields, fields, strict=True)
        }
        self._donors = None
        self._units = np.array([one.knee for one in decisions])  # as in model files
        self._values = {
            one.column.name: np.array(one.found.values) for one in decisions if one.found.values
        }
        self._written: dict[str, list[Any]] = {
            one.column.name: [*one.found.spelling[:3], *one.found.spelling.words]
            for one in decisions
            if one.found.spelling != Spelling()
        }
        self._digits = {one.column.name: one.digits for one in decisions if one.column.used}
        self._flags = _highest_of_flags(table, [one.column for one in decisions])
        self._named, self._n_rows = table.named, table.n_rows
        self.n_features_in_ = len(columns)

    def _used(self) -> Iterator[tuple[Column, float, slice]]:
        """Used columns, their knees, and their places in the result."""
        start = 0
        for column, knee in zip(self.columns_, self._units.tolist(), strict=True):
            if column.used:
                width = column.n_values or 1 + column.has_indicator
                yield column, knee, slice(start, start + width)
                start += width

    def _logarithms(self) -> dict[str, float]:
        """The knees of the columns that are taken as logarithms, and of their copies."""
        knees = {column.name: knee for column, knee, _ in self._used() if knee}
        copies = {f"as {name!r}": knee for name, knee in knees.items()}
        return knees | {
            one.name: copies[one.reason] for one in self.columns_ if one.reason in copies
        }

    def _spelling(self, name: str) -> Spelling:
        """How numbers in a column are written."""
        decimal, groups, unit, *words = self._written.get(name, [".", "", ""])
        return Spelling(decimal, groups, unit, words, self._digits.get(name))

    def _upgrade(self, reading: Mapping[str, Any]) -> None:
        """Put the state of an earlier version, read from a file, in the form of this one.

        Parameters
        ----------
        reading : mapping
            How an earlier version read the file of its fit, which it kept by itself: the decimal
            mark, the marks between groups or "none", and the units of columns, as far as they are
            known.
        """
        self._validate_params()
        state = self.__dict__
        state.setdefault("_digits", {})
        state.setdefault("_flags", {})
        if "_written" not in state:
            # The first versions knew one decimal mark, words, and maybe signs.
            spellings, signs = state.pop("_spellings", {}), state.pop("_signs", {})
            units = reading.get("units", {"": None})
            self._written, self.decimal, self.thousands = {}, None, None
            for name in (column.name for column, *_ in self._used()):
                own, *words = spellings.get(name, ["."])
                mark = reading.get("decimal") or own
                groups = Marks.of(mark, reading.get("thousands")).groups(mark)
                unit = signs.get(name) or units.get(name, units.get("", ""))
                self._written[name] = [mark, groups, unit, *words]
        if "_medians" in state and self.is_well_formed():  # they filled gaps, as a donor does
            row, medians = self._empty(1), state.pop("_medians")[self._columns["used"]]
            for (_, knee, place), median in zip(self._used(), medians, strict=True):
                row[0, place] = logarithms(median, knee) if knee else median
            self._donors = self._scaled(row)

    def _marks(self) -> Marks:
        """The marks of numbers that the user names."""
        return Marks.of(self.decimal, self.thousands)._replace(guess=self._guess)

    def _empty(self, n_rows: int) -> Array:
        return np.empty((n_rows, [place.stop for *_, place in self._used()][-1]), self.dtype)

    def _table(self, X: Any) -> Table:
        """New rows, with the names of the fit where they have none."""
        check_is_fitted(self)
        table = Table(X, missing_values=self.missing_values)
        lacking = [one.name for one in self.columns_ if one.used and one.name not in table]
        if table.named and not lacking:
            return table
        if table.named and self._named:
            empty = ", or add them as empty columns, whose gaps are filled" * (
                self.missing == "impute"
            )
            raise ValueError(
                f"X: the columns {listed(lacking)} are missing, which the fit has used; there are "
                f"{listed(table.names)}. Give the columns the names of the fit{empty}."
            )
        _check_n_features(self, table.X, reset=False)
        return Table(table.X, self._columns["name"].tolist(), self.missing_values)

    @np.errstate(over="ignore")  # infinite in float32, and then refused as such
    def _read(
        self, table: Table, Z: Array | None = None, unscaled: dict[str, Array] | None = None
    ) -> Inspection:
        """Read the used columns into Z, and numbers without logarithms into `unscaled`."""
        # Why not SimpleImputer and OneHotEncoder: the numbers are the same (tests), but one of each
        # for a table takes 2 to 3 times the memory and more time, and one for each column makes
        # model files of hundreds of megabytes (figures: benchmarks/preparation.py).
        placeable, empty = np.full(table.n_rows, True), np.full(table.n_rows, True)
        found = Inspection(placeable, {}, {}, {}, 0, {}, set())
        marks = self._marks()
        names = [one.name for one, *_ in self._used() if one.kind == "number"]
        # Looked for when first asked, as it takes time.
        proved = cache(lambda: marks_of(table, names, marks).proved)
        for column, knee, place in self._used():
            values = table[column.name]
            known = self._values.get(column.name)
            spelling = self._spelling(column.name)
            read, doubt = read_column(values, column.kind, known, spelling, marks, proved)
            numbers = read.astype(self.dtype)
            if doubt is not None:
                found.doubts[column.name] = doubt
            if unscaled is not None and column.kind in ("number", "flag"):
                unscaled[column.name] = np.where(np.isinf(read), np.nan, read)
            if highest := self._flags.get(column.name):
                is_flag = np.isin(numbers, np.arange(highest + 1))
                numbers[~is_flag & ~np.isnan(numbers)] = np.inf
            if known is not None:
                lacks = np.isnan(numbers)
                empty &= lacks | np.isin(numbers, np.flatnonzero(known == ""))
                if len(rows := np.flatnonzero(lacks | (numbers == UNSEEN))):
                    example = values[rows[lacks[rows].argmin()]]  # rather a word than a gap
                    found.unseen[column.name] = len(rows), shown_beside(example, known)
                if np.isin(numbers, np.flatnonzero(known != "")).any():
                    found.seen.add(column.name)
                if Z is not None:
                    Z[:, place] = numbers[:, None] == np.arange(len(known))
                continue
            if len(rows := np.flatnonzero(np.isinf(numbers))):
                told = f" (not {spelling.unit})" if spelling.unit else ""
                told = " (neither yes nor no)" if column.kind == "flag" else told
                found.wrong[column.name] = int(rows[0]), shown(values[rows[0]]) + told
                placeable[rows] = False
            lacks = np.isnan(numbers)
            empty &= lacks
            numbers[lacks] = np.nan  # a signaling one would warn
            if lacks.any():
                found.n_missing[column.name] = int(lacks.sum())
                if self.missing != "impute":
                    placeable &= ~lacks
            if Z is not None:
                Z[:, place.start] = logarithms(numbers, knee) if knee else numbers
                if column.has_indicator:
                    Z[:, place.start + 1] = lacks
        return found._replace(placeable=placeable & ~empty, n_empty=int(empty.sum()))

    def _fitted_scaler(self, Z: Array, kept: BoolArray, weights: Array | None) -> StandardScaler:
        """Means and scales of rows that can be placed."""
        weights = None if weights is None else weights[kept]
        parts = []
        for columns in gen_batches(Z.shape[1], max(1, BATCH // len(Z))):
            block = Z[kept, columns]
            if weights is not None:
                # A column that has numbers of weight 0 alone stays as it is.
                known = weights @ ~np.isnan(block) > 0
                block = np.where(known | ~np.isnan(block), block, 0)
            with np.errstate(over="ignore", invalid="ignore"):
                parts.append(StandardScaler().fit(block, sample_weight=weights))
        scaler = StandardScaler(copy=False).fit(np.zeros((1, Z.shape[1]), Z.dtype))
        for name in ("mean_", "var_", "scale_"):
            setattr(scaler, name, np.concatenate([vars(part)[name] for part in parts]))
        scaler.n_samples_seen_ = np.count_nonzero(kept)
        for column, _, place in self._used():
            if not np.isfinite(scaler.var_[place]).all():
                raise ValueError(
                    f"X: the numbers of column {column.name!r} are so large that their variance "
                    "overflows: divide them, or leave those empty that stand for missing values."
                )
            # Two random rows differ by sqrt(2) in a standardised number (root mean square), and by
            # as much in two values of a category. Unit variance would put rare values so far away
            # that no row had a neighbour of another value: clusters would be combinations of values
            # (figures: benchmarks/customers.py).
            if column.kind == "category":
                scaler.scale_[place] = 1.0
            elif column.kind == "flag":
                scaler.scale_[place.start] = np.sqrt(0.5)
            if column.has_indicator:
                scaler.scale_[place.stop - 1] = 1 / GAP
        return scaler

    def _scaled(self, Z: Array) -> Array:
        # A global `transform_output` is for results: gaps are filled in arrays.
        with config_context(transform_output="default"):
            return Z if self.scaler_ is None else self.scaler_.transform(Z)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "impute"
        tags.input_tags.string = tags.input_tags.categorical = True
        return tags


def _highest_of_flags(table: Table, columns: Sequence[Column]) -> dict[str, float]:
    """The largest new number for each flag. A table of numbers alone sets no limit for 0 and 1."""
    flags = [one.name for one in columns if one.used and one.kind == "flag"]
    words = [name for name in flags if is_flag_in_words(table[name])]
    mixed = words or any(one.used and one.kind == "category" for one in columns)
    return {name: 1.0 if name in words else MOST_COUNTED for name in flags if mixed}
