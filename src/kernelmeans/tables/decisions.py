"""Which columns of a table are used, and what has to be remembered about them."""

from collections.abc import Collection, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from kernelmeans.tables.columns import Column
from kernelmeans.tables.frames import Table
from kernelmeans.tables.kinds import MOST_GIVEN_VALUES, USED, Found, as_category, found_in

#: Fraction of missing values above which a column of its own says where they are. Fewer hardly
#: tell anything, and so rare a value would lie far from all others once it is scaled.
MANY_MISSING = 0.05
#: Kinds that are not used unless the user gives the full name of the column.
_ON_REQUEST = ("date", "identifier", "counter")


class Decision(NamedTuple):
    """A column, and what is remembered of it.

    Attributes
    ----------
    column : Column
        What it was taken for.
    median : float
        That of its numbers, which takes the place of missing values.
    values : sequence of str
        Those of a category.
    """

    column: Column
    median: float = 0.0
    values: Sequence[str] = ()


def decide(
    table: Table,
    wanted: Mapping[str, bool],
    dropped: Collection[str],
    categorical: Collection[str],
    *,
    dates: bool,
    missing: str,
) -> list[Decision]:
    """Decide about all columns.

    Parameters
    ----------
    table : Table
        The rows of a fit.
    wanted : mapping of bool
        Columns that may be used, and whether the user gave their full names.
    dropped, categorical : collection of str
        Columns to leave out, and to take for categories.
    dates : bool
        Whether dates are used.
    missing : {"impute", "drop", "error"}
        What is done about missing values.

    Returns
    -------
    list of Decision
        In the order of the columns.

    Raises
    ------
    ValueError
        If no column can be used, or one cannot be used as the user asks.
    """
    decisions: list[Decision] = []
    refused: list[str] = []
    first_with: dict[bytes, str] = {}
    for name in table.names:
        if name in dropped or name not in wanted:
            decisions.append(Decision(Column(name, "dropped", False)))
            continue
        is_given = name in categorical
        found = as_category(table[name]) if is_given else found_in(table[name], name)
        asked = wanted[name] or (dates and found.kind == "date")
        if trouble := _trouble(name, found, asked=asked):
            refused.append(f"column {name!r} {trouble}")
            continue
        if asked and found.kind in _ON_REQUEST:
            found = found._replace(kind="date" if found.kind == "date" else "number", reason="")
        used = found.kind in USED and (asked or found.kind != "date")
        if used and found.numbers is not None:
            digest = blake2b(found.numbers.tobytes()).digest()
            twin = first_with.setdefault(digest, name)
            if twin != name and not wanted[name]:
                found, used = found._replace(kind="duplicate", reason=f"as {twin!r}"), False
        decisions.append(_decision(name, found, used, missing))
    if refused:
        raise ValueError("; ".join(refused) + ".")
    if not any(decision.column.used for decision in decisions):
        why = [f"{one.name!r} ({one.kind})" for one, *_ in decisions]
        more = f" and {len(why) - 10} more" if len(why) > 10 else ""
        raise ValueError(
            f"X: with n_samples={table.n_rows}, no column can be used: {', '.join(why[:10])}{more}."
        )
    return decisions


def _trouble(name: str, found: Found, *, asked: bool) -> str:
    """Why a column cannot be used as the user asks, and what to do."""
    if found.stray:
        return (
            f"holds numbers, but {found.stray} is none: correct such values or leave them empty, "
            f"leave the column out with drop={name!r}, or take it for a category with "
            f"categorical={name!r}"
        )
    if len(found.values) > MOST_GIVEN_VALUES:
        return (
            f"has {len(found.values)} different values, too many for a category (at most "
            f"{MOST_GIVEN_VALUES}): leave it out with drop={name!r}"
        )
    if asked and found.kind == "date" and found.numbers is None:
        return "holds dates that may be read in two ways: write them as 2025-12-31"
    if asked and found.kind in ("text", "identifier") and found.numbers is None:
        return f"holds text ({found.reason}): categorical={name!r} takes it for a category"
    return ""


def _decision(name: str, found: Found, used: bool, missing: str) -> Decision:
    median, many = 0.0, False
    if used and found.kind != "category" and found.numbers is not None:
        median = float(np.nanmedian(found.numbers))
        many = missing == "impute" and found.n_missing > MANY_MISSING * len(found.numbers)
    n_values = len(found.values) or None
    column = Column(name, found.kind, used, found.reason, found.n_missing, n_values, many)
    return Decision(column, median, found.values)
