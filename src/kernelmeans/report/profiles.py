"""What characterises the clusters: their most telling columns, with histograms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from kernelmeans._text import counted
from kernelmeans._typing import Array, IntArray
from kernelmeans.profiles import Description, Entry
from kernelmeans.profiles.describing import described
from kernelmeans.profiles.rows import Placed
from kernelmeans.report.facts import Clusters, Subject
from kernelmeans.rows import Rows
from kernelmeans.tables.frames import Table
from kernelmeans.tables.kinds import found_in

#: Columns of a cluster, and columns of a histogram.
MOST_COLUMNS, BINS = 5, 16
#: Fewer rows have no profile, and no value of a category, unless rows may be shown.
FEWEST = 5
#: Quantiles at which a histogram ends. What lies beyond is in its outer columns.
ENDS = 0.01, 0.99
# These name single rows, or their order.
_NAMING = ("text", "identifier", "counter")


@dataclass(frozen=True)
class _Mapped:
    """Columns by name, of which one at a time need be in memory."""

    columns: Mapping[str, Any]

    @property
    def names(self) -> Sequence[str]:
        """The names of the columns."""
        return list(self.columns)

    def __getitem__(self, name: str) -> Array:
        """The values of a column."""
        return np.asarray(self.columns[name])


def add_profiles(
    clusters: Clusters, subject: Subject, given: Any, rows: bool
) -> dict[str, Any] | None:
    """Add to each cluster its most telling columns.

    Parameters
    ----------
    clusters : list of dict
        Each gets an entry ``profile``: None if it has too few rows.
    subject : Subject
        What the report is about.
    given : data frame, array or None
        The columns; X when None, unless X is no table in memory.
    rows : bool
        Whether single rows may be shown.

    Returns
    -------
    dict or None
        The number of columns; None if there is no table.
    """
    if given is None:
        if subject.is_matrix or isinstance(subject.X, Rows) or issparse(subject.X):
            return None
        given = subject.X
    labels = subject.labels
    table = _Mapped(given) if isinstance(given, Mapping) else Table(given)
    if (n_rows := len(table[table.names[0]])) != len(labels):
        raise ValueError(
            f"table has {counted(n_rows, 'row')} and the model {len(labels)}: give a table of the "
            "same rows in the same order."
        )
    description = described(Placed(labels, n_clusters=len(clusters)), table)
    chosen = [_telling(description, one, rows) for one in clusters]
    names = {entry.column for entries in chosen for entry in entries or ()}
    columns = {name: table[name] for name in table.names if name in names}
    shapes = {
        name: histograms(numbers, labels, len(clusters))
        for name, column in columns.items()
        if (numbers := _numbers(column, name)) is not None
    }
    for one, entries in zip(clusters, chosen, strict=True):
        one["profile"] = None
        if entries is not None:
            own = one.get("typical_rows", ())
            one["profile"] = [
                _record(
                    entry, shapes.get(entry.column), [columns[entry.column][row] for row in own]
                )
                for entry in entries
            ]
    return {"columns": len(table.names)}


def _telling(description: Description, cluster: dict[str, Any], rows: bool) -> list[Entry] | None:
    """The most telling columns of a cluster that may be shown; None if it has too few rows."""
    size = cluster["rows"]
    if not size or (size < FEWEST and not rows):
        return None
    shown = [
        entry
        for entry in description.top(cluster["cluster"], len(description.entries))
        if entry.kind not in _NAMING
        and (
            rows
            or entry.statistic != "most frequent"
            or entry.number * (1 - entry.missing) * size >= FEWEST
        )
    ]
    return shown[:MOST_COLUMNS]


def _numbers(column: Array, name: str) -> Array | None:
    """The values of a column of numbers or dates."""
    found = found_in(column, name)
    return found.numbers if found.kind in ("number", "date") else None


def _record(entry: Entry, shapes: tuple[Array, Array] | None, typical: list[Any]) -> dict[str, Any]:
    """A column of a cluster, ready for JSON."""
    found: dict[str, Any] = {
        "column": entry.column,
        "statistic": entry.statistic,
        "value": entry.value,
        "overall": entry.overall,
        "difference": float(entry.difference),
    }
    if entry.statistic == "most frequent":
        found |= {"fraction": float(entry.number), "overall": float(entry.overall_number)}
    elif shapes is not None:
        own, every = shapes
        found |= {"histogram": own[int(entry.cluster)].tolist(), "all": every.tolist()}
    return found | {"typical": list(map(_text, typical))}


def _text(value: Any) -> str:
    """A value of a row; of a time the day."""
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)[:10] if isinstance(value, np.datetime64) else str(value)


def histograms(numbers: Array, labels: IntArray, n_clusters: int) -> tuple[Array, Array]:
    """Fractions of the values of each cluster, and of all, in bins of equal width.

    Parameters
    ----------
    numbers : ndarray of shape (n_rows,)
        Values; NaN and infinite ones do not count.
    labels : ndarray of shape (n_rows,)
        Clusters of the rows.
    n_clusters : int
        Their number.

    Returns
    -------
    own : ndarray of shape (n_clusters, BINS)
        Fractions that sum to 1 in each cluster, or to 0 if it has no value.
    every : ndarray of shape (BINS,)
        Those of all rows.
    """
    known = np.isfinite(numbers)
    values, labels = numbers[known], labels[known]
    if not len(values):
        return np.zeros((n_clusters, BINS)), np.zeros(BINS)
    low, high = np.quantile(values, ENDS)
    if low == high:
        low, high = values.min(), values.max()
    # Halves, because a difference of large numbers would overflow.
    width = (high / 2 - low / 2) / BINS or 1.0
    bins = np.clip((values / 2 - low / 2) / width, 0, BINS - 1).astype(np.intp)
    counts = np.bincount(labels * BINS + bins, minlength=n_clusters * BINS)
    own = counts.reshape(n_clusters, BINS)
    total = np.maximum(own.sum(axis=1, keepdims=True), 1)
    return (own / total).round(4), (own.sum(axis=0) / len(values)).round(4)
