"""Rows of a table of methods: who is missing, who is best, and the average rank."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from kernelmeans_paper.grid import Scale
from kernelmeans_paper.report import Entry
from kernelmeans_paper.statistics import ranks


def missing(name: str, scale: Scale, count: int) -> list[Entry]:
    """Cells of a row that is not there, with the reason in the first."""
    reason = "file not here" if name in scale.absent else "not run"
    return [Entry(reason), *[Entry(None)] * (count - 1)]


def ranks_among(values: Mapping[str, float], ranked: Iterable[str]) -> dict[str, float]:
    """Rank of each of the ranked methods in one row."""
    methods = list(ranked)
    return dict(zip(methods, ranks([values[method] for method in methods]), strict=True))


def average_ranks(
    rows: Sequence[Mapping[str, float]],
    printed: Sequence[Mapping[str, float]],
    methods: Iterable[str],
) -> list[Entry]:
    """Cells of the average rank, beside the paper's over the same rows if there are any.

    Parameters
    ----------
    rows : sequence of mapping of str to float
        Ranks by method, one mapping for each row of the table.
    printed : sequence of mapping of str to float
        Those of the paper's values in the same rows; empty for none.
    methods : iterable of str
        Columns; those without a rank stay empty.

    Returns
    -------
    list of Entry
        One for each column, the best in bold.
    """
    ours, theirs = _means(rows), _means(printed)
    return [
        Entry(
            ours.get(method),
            theirs.get(method),
            best=method in ours and ours[method] == min(ours.values()),
            digits=2,
        )
        for method in methods
    ]


def _means(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {
        method: float(np.mean([row[method] for row in rows])) for row in rows[:1] for method in row
    }
