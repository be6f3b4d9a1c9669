"""The columns of a table that are chosen for a fit, and what stands in them."""

import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from kernelmeans._errors import InputError
from kernelmeans._text import counted, meant
from kernelmeans._typing import BoolArray, MissingName, SkewedName
from kernelmeans._warnings import warn_user
from kernelmeans.tables import column_kind
from kernelmeans.tables.columns import matching
from kernelmeans.tables.files.tables import Table, blocks, flat


@dataclass(frozen=True, kw_only=True)
class ColumnChoice:
    """Which columns of a table are features, and which are not.

    Parameters
    ----------
    columns : tuple of str, default=()
        Use only these columns (names, or patterns such as 'spend_*').
    drop : tuple of str, default=()
        Leave these columns out (names or patterns).
    categorical : tuple of str, default=()
        Take these columns for categories, though they hold numbers or many values.
    dates : bool, default=False
        Use columns of dates, as numbers of days.
    missing : {"impute", "drop", "error"}, default="impute"
        Missing numbers: take the median, give their rows no label, or refuse them.
    skewed : {"log", "keep"}, default="log"
        Skewed numbers, such as money: take logarithms, or keep them; --no-scale keeps them too.
    label_column : str or None, default=None
        Known classes: left out of the features and compared with the clusters (NMI, ARI).
    weight_column : str or None, default=None
        Sample weights: left out of the features (2 counts as the row twice).
    id_column : str or None, default=None
        Names of the rows: left out of the features, and kept in the labels file.
    """

    columns: Sequence[str] = ()
    drop: Sequence[str] = ()
    categorical: Sequence[str] = ()
    dates: bool = False
    missing: MissingName = "impute"
    skewed: SkewedName = "log"
    label_column: str | None = None
    weight_column: str | None = None
    id_column: str | None = None

    def features(self, table: Table) -> list[str]:
        """Return the names of the feature columns of `table`, in its order."""
        known = table.names
        wanted = set(find_columns(table, known, self.columns, "columns") or known)
        wanted -= find_columns(table, known, self.drop, "drop").keys()
        for name, option in (
            (self.label_column, "--label-column"),
            (self.weight_column, "--weight-column"),
            (self.id_column, "--id-column"),
        ):
            if name is not None:
                wanted.discard(known_column(table, [*known, *table.annotations], name, option))
        chosen = [name for name in known if name in wanted]
        if not chosen:
            raise InputError(f"{table.source}: no column is left to cluster by")
        return chosen

    def called(self, table: Table) -> set[str]:
        """Return the columns whose full names the user gives, so that they are used."""
        found = find_columns(table, table.names, self.columns, "columns")
        return {name for name, is_full in found.items() if is_full}

    def numbers(self, table: Table, features: list[str], dtype: str) -> Any:
        """Load these features of `table`, which must be finite numbers."""
        X = finite_matrix(table, features, dtype)
        if table.named and column_kind(table.column(features[0])) == "counter":
            warn_user(
                f"column {features[0]!r} only counts the rows; leave it out with "
                f"--drop {shlex.quote(features[0])} unless it is a feature"
            )
        return X

    def weights(self, table: Table, dtype: str) -> Any:
        """Load sample weights as they are; None if there are none."""
        if self.weight_column is None:
            return None
        return flat(table.matrix([self.weight_column], dtype))

    def labels_and_weights(self, table: Table, dtype: str, rows: Any = None) -> tuple[Any, Any]:
        """Load known classes, counted from 0, and sample weights; None where there are none.

        `rows` are those that are clustered, if not all. Others need neither.
        """
        rows = np.full(table.shape[0], True) if rows is None else rows
        labels, weights = None, self.weights(table, dtype)
        if self.label_column is not None:
            labels = _classes(table, self.label_column, rows)
        if weights is not None:
            bad = np.flatnonzero(rows & ~np.isfinite(weights))
            _check_finite(table, [str(self.weight_column)], [(int(row), 0) for row in bad])
            weights = weights[rows]
        return labels, weights


def finite_matrix(table: Table, names: Sequence[str], dtype: str) -> Any:
    """Return columns of `table` as numbers; NaN, inf and missing values are errors."""
    X = table.matrix(names, dtype)
    bad = [entry for block, values in blocks(X) for entry in _not_finite(values, block.start)]
    _check_finite(table, names, bad)
    return X


def _check_finite(table: Table, names: Sequence[str], bad: Sequence[tuple[int, int]]) -> None:
    """Refuse values that are not finite, at these rows and columns."""
    if bad:
        row, column = bad[0]
        others = len({column for _, column in bad}) - 1
        more = f" ({counted(others, 'other column')} too)" if others else ""
        raise InputError(
            f"{table.source}: column {names[column]!r} has no finite number "
            f"in {table.row(row)}{table.first_row}{more}: fill in the missing, NaN or "
            "infinite values, remove such rows, or leave the column out with --drop"
        )


def _not_finite(X: Any, start: int) -> list[tuple[int, int]]:
    """For each column with a value that is not finite: its first such row, counted from `start`."""
    if scipy.sparse.issparse(X):
        bad = X.copy()
        bad.data = ~np.isfinite(X.data)
        rows, columns = bad.nonzero()
    else:
        rows, columns = np.nonzero(~np.isfinite(X))
    columns, first = np.unique(columns, return_index=True)
    return sorted(zip((start + rows[first]).tolist(), columns.tolist(), strict=True))


def _classes(table: Table, name: str, rows: BoolArray) -> Any:
    """Return the known classes of some rows, counted from 0."""
    values = table.column(name)
    for row in np.flatnonzero(rows).tolist():
        if values[row] is None or values[row] != values[row]:
            raise InputError(
                f"{table.source}: column {name!r} has no class in {table.row(row)}"
                f"{table.first_row}: fill it in, or leave --label-column out"
            )
    return np.unique(values[rows], return_inverse=True)[1]


def find_columns(
    table: Table, known: Collection[str], given: Sequence[str], parameter: str
) -> dict[str, bool]:
    """Return the columns that a parameter stands for, and whether it gives their full names.

    A name may hold a comma.
    """
    known = dict.fromkeys(known)
    names = [part for text in given for part in ([text] if text in known else text.split(","))]
    trimmed = [name if name in known else name.strip() for name in names]
    try:
        return matching(trimmed, known, parameter)
    except ValueError as error:
        raise InputError(f"{table.source}: {error}") from error


def known_column(table: Table, names: Collection[str], name: str, option: str) -> str:
    """Return the name of a column that an option names, or refuse it."""
    for candidate in (name, name.strip()):
        if candidate in table.nested:
            raise InputError(
                f"{table.source}: {option} names {candidate!r}, which holds lists or structs; name "
                "a column with one value in each row"
            )
        if candidate in names:
            return candidate
    raise InputError(
        f"{table.source}: {option} names {name!r}, which is no column; "
        f"{meant(name, names, 'its columns')}"
    )
