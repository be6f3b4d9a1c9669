"""Choosing a table's columns, and refusing values that no kernel can take."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
import scipy.sparse

from kernelmeans.cli.errors import BadInputError
from kernelmeans.cli.tables import Table, listed


@dataclass(frozen=True)
class ColumnChoice:
    """Which columns of a table are features, and which are not.

    Parameters
    ----------
    columns, drop : sequence of str
        Names, or several of them with commas between; no `columns` means all.
    label, weight : str or None
        Columns that are no features.
    """

    columns: Sequence[str] = ()
    drop: Sequence[str] = ()
    label: str | None = None
    weight: str | None = None

    def features(self, table: Table) -> list[str]:
        """Return the names of the feature columns of `table`, in its order."""
        wanted = _find(table, self.columns, "--columns") or set(table.names)
        aside = _find(table, self.drop, "--drop")
        for name, option in ((self.label, "--label-column"), (self.weight, "--weight-column")):
            if name is not None:
                aside.add(_known(table, name, option))
        chosen = [name for name in table.names if name in wanted - aside]
        if not chosen:
            raise BadInputError(f"{table.source}: no column is left to cluster by")
        return chosen


@dataclass(frozen=True)
class Data:
    """What a fit needs: the features as numbers, their names, known classes and weights."""

    X: Any
    columns: list[str]
    labels: Any = None
    weights: Any = None


def load_data(table: Table, choice: ColumnChoice, dtype: str) -> Data:
    """Take the chosen columns out of `table`, all of them finite numbers."""
    columns = choice.features(table)
    X = finite_matrix(table, columns, dtype)
    if table.named:
        _warn_of_row_numbers(X, columns)
    labels = None if choice.label is None else _classes(table, choice.label)
    weights = None
    if choice.weight is not None:
        weights = finite_matrix(table, [choice.weight], dtype)
        weights = (weights.toarray() if scipy.sparse.issparse(weights) else weights).ravel()
    return Data(X, columns, labels, weights)


def finite_matrix(table: Table, names: Sequence[str], dtype: str) -> Any:
    """Return columns of `table` as numbers; NaN, inf and missing values are errors."""
    X = table.matrix(names, dtype)
    if scipy.sparse.issparse(X):
        bad = X.copy()
        bad.data = ~np.isfinite(X.data)
        rows, columns = bad.nonzero()
    else:
        rows, columns = np.nonzero(~np.isfinite(X))
    if rows.size:
        column, others = columns[0], len(np.unique(columns)) - 1
        more = f" ({others} other column{'s' * (others > 1)} too)" if others else ""
        raise BadInputError(
            f"{table.source}: column {names[column]!r} has no finite number in row {rows[0]}, "
            f"the first data row being 0{more}: fill in the missing, NaN or infinite values, "
            "remove such rows, or leave the column out with --drop"
        )
    return X


def _classes(table: Table, name: str) -> Any:
    """Return the known classes, counted from 0."""
    values = table.column(name)
    for row, value in enumerate(values):
        if value is None or value != value:
            raise BadInputError(
                f"{table.source}: column {name!r} has no class in row {row}, the first data row "
                "being 0: fill it in, or leave --label-column out"
            )
    return np.unique(values, return_inverse=True)[1]


def _find(table: Table, given: Sequence[str], option: str) -> set[str]:
    """Return the columns that `given` names; a name may itself hold a comma."""
    known = set(table.names)
    return {
        _known(table, name, option)
        for text in given
        for name in ([text] if text in known else text.split(","))
    }


def _known(table: Table, name: str, option: str) -> str:
    names = table.names
    for candidate in (name, name.strip()):
        if candidate in names:
            return candidate
    close = get_close_matches(name, names, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"its columns are {listed(names)}"
    raise BadInputError(f"{table.source}: {option} names {name!r}, which is no column; {hint}")


def _warn_of_row_numbers(X: Any, columns: Sequence[str]) -> None:
    """Say so when the first column only counts the rows, as an index written to CSV does."""
    count = np.arange(len(X))
    if len(X) > 2 and any(np.array_equal(X[:, 0] - start, count) for start in (0, 1)):
        warnings.warn(
            f"column {columns[0]!r} only counts the rows; leave it out with "
            f"--drop {columns[0]!r} unless it is a feature",
            stacklevel=2,
        )
