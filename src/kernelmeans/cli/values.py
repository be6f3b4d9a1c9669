"""What stands in the columns that are chosen: numbers, sample weights and known classes."""

import shlex
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse

from kernelmeans._errors import InputError
from kernelmeans._text import counted
from kernelmeans._typing import BoolArray
from kernelmeans._warnings import warn_user
from kernelmeans.cli.data import ColumnChoice
from kernelmeans.tables import column_kind
from kernelmeans.tables.files.tables import FileTable, blocks, flat


def numbers(table: FileTable, features: Sequence[str], dtype: str) -> Any:
    """Load these features of `table`, which must be finite numbers."""
    X = table.matrix(features, dtype)
    bad = [entry for block, values in blocks(X) for entry in _not_finite(values, block.start)]
    _check_finite(table, features, bad)
    if table.named and column_kind(table.column(features[0])) == "counter":
        warn_user(
            f"column {features[0]!r} only counts the rows; leave it out with "
            f"--drop {shlex.quote(features[0])} unless it is a feature"
        )
    return X


def weights(table: FileTable, choice: ColumnChoice, dtype: str) -> Any:
    """Load sample weights as they are; None if there are none."""
    if choice.weight_column is None:
        return None
    return flat(table.matrix([choice.weight_column], dtype))


def labels_and_weights(
    table: FileTable, choice: ColumnChoice, dtype: str, rows: BoolArray
) -> tuple[Any, Any]:
    """Load known classes, counted from 0, and sample weights; None where there are none.

    `rows` are those that are clustered. Others need neither.
    """
    labels, weight = None, weights(table, choice, dtype)
    if choice.label_column is not None:
        labels = _classes(table, choice.label_column, rows)
    if weight is not None:
        bad = np.flatnonzero(rows & ~np.isfinite(weight))
        _check_finite(table, [str(choice.weight_column)], [(int(row), 0) for row in bad])
        weight = weight[rows]
    return labels, weight


def _check_finite(table: FileTable, names: Sequence[str], bad: Sequence[tuple[int, int]]) -> None:
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


def _classes(table: FileTable, name: str, rows: BoolArray) -> Any:
    """Return the known classes of some rows, counted from 0."""
    values = table.column(name)
    for row in np.flatnonzero(rows).tolist():
        if values[row] is None or values[row] != values[row]:
            raise InputError(
                f"{table.source}: column {name!r} has no class in {table.row(row)}"
                f"{table.first_row}: fill it in, or leave --label-column out"
            )
    return np.unique(values[rows], return_inverse=True)[1]
