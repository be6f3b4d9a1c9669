"""Rows of a table of methods: who is missing, who is best, and the average rank."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from kernelmeans_paper.grid import Scale
from kernelmeans_paper.report import Entry
from kernelmeans_paper.statistics import mark, mean, ranks, signed_rank_p, tolerance

#: Values of the runs of each method.
Runs = Mapping[str, Sequence[float]]
#: Where the paper prints nothing.
NOTHING: Mapping[str, float] = MappingProxyType({})


def missing(name: str, scale: Scale, printed: Sequence[float | None]) -> list[Entry]:
    """Cells of a row that is not there beside the paper's, with the reason in the first."""
    reason = "file not here" if name in scale.absent else "not run"
    values = [reason, *[None] * (len(printed) - 1)]
    return [Entry(value, theirs) for value, theirs in zip(values, printed, strict=True)]


def p_values(runs: Runs) -> dict[str, float | None]:
    """p-value of each method against the one of the largest mean, which has None.

    Raises
    ------
    ValueError
        If a method has more runs than another.
    """
    if len({len(values) for values in runs.values()}) > 1:
        counts = ", ".join(f"{len(values)} of {method}" for method, values in runs.items())
        raise ValueError(f"runs={counts} have no partners: give as many runs of each method.")
    best = max(runs, key=lambda method: mean(runs[method]))
    return {
        method: None if method == best else signed_rank_p(values, runs[best])
        for method, values in runs.items()
    }


def ranked(runs: Runs, printed: Mapping[str, float] = NOTHING) -> list[Entry]:
    """Cells of a row: means of methods, ranks among them, and all that share the best in bold.

    Parameters
    ----------
    runs : mapping of str to sequence of float
        Values of each method, the larger the better.
    printed : mapping of str to float
        The paper's means, of those methods that it has.

    Returns
    -------
    list of Entry
        One for each method.
    """
    means = {method: mean(values) for method, values in runs.items()}
    in_row = ranks(list(means.values()))
    return [
        Entry(
            means[method],
            printed.get(method),
            rank=rank,
            best=rank == min(in_row),
            tolerance=tolerance(runs[method]),
        )
        for method, rank in zip(means, in_row, strict=True)
    ]


def compared(runs: Runs, printed: Mapping[str, float] = NOTHING) -> list[Entry]:
    """The same of methods that begin at the same starts, with marks.

    Parameters
    ----------
    runs : mapping of str to sequence of float
        Values of each method, the larger the better; value i of all methods is from start i.
    printed : mapping of str to float
        The paper's means, of those methods that it has.

    Returns
    -------
    list of Entry
        One for each method. ``"+"`` marks a significant difference from the best.

    Raises
    ------
    ValueError
        If a method has more runs than another.

    Examples
    --------
    >>> from kernelmeans_paper.ranking import compared
    >>> first, second = compared({"a": [0.5] * 20, "b": [0.7] * 20})
    >>> first.mark, first.rank, second.best
    ('+', 2.0, True)
    """
    return [
        entry if entry.best or p is None else replace(entry, mark=mark(p))
        for entry, p in zip(ranked(runs, printed), p_values(runs).values(), strict=True)
    ]


def average_ranks(
    rows: Sequence[Sequence[Entry]], printed: Sequence[Sequence[float]] = ()
) -> list[Entry]:
    """Cells of the average rank, beside the paper's over the same rows if there are any.

    Parameters
    ----------
    rows : sequence of sequence of Entry
        Cells of the rows, one for each method.
    printed : sequence of sequence of float
        The paper's values in the same rows.

    Returns
    -------
    list of Entry
        One for each method, the best in bold.
    """
    own = np.array([[entry.rank for entry in row] for row in rows], dtype=np.float64)
    ours = own.mean(axis=0).tolist()
    theirs = np.mean(list(map(ranks, printed)), axis=0).tolist() if printed else [None] * len(ours)
    return [
        Entry(rank, paper, best=rank == min(ours), digits=2)
        for rank, paper in zip(ours, theirs, strict=True)
    ]
