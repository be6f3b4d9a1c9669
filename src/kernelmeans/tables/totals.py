"""Rows of a table that add up other rows, as exports of spreadsheets have them."""

from collections import Counter
from collections.abc import Mapping
from operator import itemgetter
from typing import Any

import numpy as np

from kernelmeans._text import first, listed
from kernelmeans._typing import Array

#: Error of a total, as a fraction of it, by the rounding of what it adds up.
ROUNDED = 1e-4
#: Numbers other than zero that a column of totals holds, at least. Fewer add up by chance.
FEWEST_NUMBERS = 10
#: Fraction of the columns that hold the same subtotals, at least. In a few of very many columns
#: numbers add up by chance.
ALIKE = 0.05
#: Most rows of a group that has a subtotal, and most groups. Longer tables are no reports.
MOST_ROWS, MOST_GROUPS = 1000, 1000


def totals_message(table: Any, columns: Mapping[str, Array]) -> str | None:
    """What to say of rows that look like totals.

    Parameters
    ----------
    table : Table, FrameTable or ArrayTable
        What names the rows in messages.
    columns : mapping of ndarray of shape (n_rows,)
        The numbers of its columns, by their names; NaN for missing values.

    Returns
    -------
    str or None
        The message; None where no row looks like a total.
    """
    # Rows without a number, such as a blank line or a note at the end, do not count.
    given = [np.isfinite(numbers) for numbers in columns.values()]
    filled = np.flatnonzero(np.logical_or.reduce(given))
    found = {
        name: tuple(filled[totals_of(numbers[filled])].tolist())
        for name, numbers in columns.items()
    }
    counts = Counter(rows for rows in found.values() if rows)
    rows, count = max(counts.items(), key=itemgetter(1), default=((), 0))
    if count < max(1, ALIKE * len(columns)):
        return None
    names = f"({listed([name for name in found if found[name] == rows], most=3)}{table.first_row})"
    if len(rows) == 1:
        return (
            f"{table.row(rows[0])} {names} looks like totals, as it holds the sum of the other "
            "rows. If so, delete it, and any row of means."
        )
    which = first([table.row(row) for row in rows], most=5)
    return (
        f"{which} {names} look like subtotals, as each holds the sum of the rows above it. If so, "
        "delete them."
    )


def totals_of(numbers: Array) -> list[int]:
    """Rows that hold totals: a row at the end, or that of each group, and the last one then.

    Totals of all rows are the last row, the first one, or that above a last row of means.

    Parameters
    ----------
    numbers : ndarray of shape (n_rows,)
        The column; NaN for a missing value.

    Returns
    -------
    list of int
        Their places, in ascending order.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.tables.totals import totals_of
    >>> totals_of(np.array([1, 5, 2, 7, 4, 19, 8, 3, 3, 6, 20, 39]))
    [5, 10, 11]
    """
    last = len(numbers) - 1
    present = np.nan_to_num(numbers)
    if np.count_nonzero(present) <= FEWEST_NUMBERS:
        return []
    others = {last: present[:last], 0: present[1:], last - 1: present[: last - 1]}
    for row, parts in others.items():
        if _is_sum(present[row], parts):
            return [row]
    groups: list[int] = []
    start = 0
    while len(groups) < MOST_GROUPS and (end := _end_of_group(present[start:])):
        groups.append(start + end)
        start += end + 1
    if len(groups) < 2 or _is_pattern(present, groups):
        return []
    # The last row may add up all of them.
    if start == last and _is_sum(present[last], present[groups]):
        return [*groups, last]
    return groups if start > last else []


def _is_pattern(numbers: Array, groups: list[int]) -> bool:
    """Whether all groups are as long and alike, as grades of 1, 2 and 3 and of 2, 4 and 6 are.

    Of pairs each number may be the sum of the two before it.
    """
    sizes = set(np.diff([-1, *groups]).tolist())
    if len(sizes) > 1:
        return False
    shares = numbers[: groups[-1] + 1].reshape(len(groups), -1) / numbers[groups][:, None]
    return sizes == {3} or bool(np.ptp(shares, axis=0).max() <= ROUNDED)


def _end_of_group(numbers: Array) -> int:
    """The first row that is the sum of all rows above it; 0 if there is none."""
    some = numbers[: MOST_ROWS + 1]
    with np.errstate(over="ignore", invalid="ignore"):
        above = np.cumsum(some)[:-1]
        may = (np.abs(above - some[1:]) <= ROUNDED * np.abs(some[1:])) & (some[1:] != 0)
    for row in np.flatnonzero(may) + 1:
        if _is_sum(some[row], some[:row]):
            return int(row)
    return 0


def _is_sum(total: float, numbers: Array) -> bool:
    """Whether it is the sum of numbers, of which at least two count."""
    if np.count_nonzero(numbers) < 2 or not total > np.abs(numbers).max():
        return False
    # Divided by the total, no sum overflows.
    parts = numbers / total
    if abs(1 - parts.sum()) > ROUNDED:
        return False
    # Doubling numbers such as 1, 2, 4 and 8 nearly add up to the next one.
    return not np.allclose(np.sort(parts)[-3:], (0.125, 0.25, 0.5)[-len(parts) :], atol=ROUNDED)
