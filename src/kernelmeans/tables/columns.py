"""Columns that are chosen by names and shell patterns, and the short table of all decisions."""

from collections.abc import Callable, Collection, ItemsView, Iterable, Sequence
from fnmatch import fnmatchcase
from textwrap import wrap
from typing import NamedTuple

from kernelmeans._dialect import option
from kernelmeans._numbers import percent
from kernelmeans._text import aligned, counted, first, meant, shortened, single_blanks

_WIDTH = 60
#: Names that a line of the table lists in full.
_LISTED = 8


class Column(NamedTuple):
    """What a column of a table was taken for.

    Attributes
    ----------
    name : str
        Its name.
    kind : str
        "number", "flag" (yes or no), "category", "date", "text", "identifier", "counter",
        "nested", "constant", "duplicate", or "dropped" if the user left it out.
    used : bool
        Whether the clusters depend on it.
    reason : str
        Why it has this kind or is not used; mostly empty if it is used.
    n_missing : int
        Missing values in the rows of the fit.
    n_values : int or None
        Number of values of a category, a missing one included.
    has_indicator : bool
        Whether a column of the result says where values are missing.
    is_logarithm : bool
        Whether its numbers are taken as logarithms.
    """

    name: str
    kind: str
    used: bool
    reason: str = ""
    n_missing: int = 0
    n_values: int | None = None
    has_indicator: bool = False
    is_logarithm: bool = False


def matching(given: str | Iterable[str], known: Collection[str], what: str) -> dict[str, bool]:
    """The columns that names or patterns stand for.

    Parameters
    ----------
    given : str or iterable of str
        Names, or patterns as in a shell. A name may look like a pattern, but ``*`` is all columns.
    known : collection of str
        The names of all columns.
    what : str
        The parameter, for messages.

    Returns
    -------
    dict of bool
        For each column whether it was called by its full name.
    """
    found: dict[str, bool] = {}
    known = dict.fromkeys(known)
    alike = {single_blanks(name): name for name in known}
    for text in [given] if isinstance(given, str) else map(str, given):
        name = text if text in known else alike.get(single_blanks(text))
        if name is not None and text != "*":
            found[name] = True
            continue
        matches = [name for name in known if fnmatchcase(name, text)]
        if not matches:
            says = "matches no column" if set(text) & set("*?[") else "is no column"
            remedy = meant(text, known, "the columns")
            stop = "" if remedy.endswith("?") else "."
            raise ValueError(f"{option(what, text)} {says}; {remedy}{stop}")
        found = dict.fromkeys(matches, False) | found
    return found


def as_lines(columns: Sequence[Column], n_rows: int, missing: str) -> dict[str, list[str]]:
    """The decisions: what is used, what is left out and why, what is missing.

    Parameters
    ----------
    columns : sequence of Column
        All columns of a table.
    n_rows : int
        Rows of the fit.
    missing : str
        What is done where a value is missing.

    Returns
    -------
    dict of list of str
        Lines by their head; a head may have none.
    """
    used = [column for column in columns if column.used]
    others = [column for column in columns if not column.used and column.kind != "dropped"]
    logarithms = [one for one in used if one.is_logarithm]
    return {
        "columns used": [
            f"{_counted(kind, len(group))}: {_names(group, _values)}"
            for (kind, _), group in _grouped(one._replace(reason="") for one in used)
        ],
        "logarithms of": [_names(logarithms)] if logarithms else [],
        "left out": [
            f"{_names(group)}: {kind}{reason and ', '}{reason}"
            for (kind, reason), group in _grouped(others)
        ],
        "missing values": _missing(used, n_rows, missing),
        "remarks": [
            f"{_names(group)}: {reason}" for (_, reason), group in _grouped(used) if reason
        ],
    }


def as_text(columns: Sequence[Column], n_rows: int, missing: str) -> str:
    """The same as aligned lines."""
    return aligned(
        {
            head: [line for text in texts for line in wrap(text, _WIDTH, subsequent_indent="  ")]
            for head, texts in as_lines(columns, n_rows, missing).items()
        }
    )


def _grouped(columns: Iterable[Column]) -> ItemsView[tuple[str, str], list[Column]]:
    groups: dict[tuple[str, str], list[Column]] = {}
    for column in columns:
        groups.setdefault((column.kind, column.reason), []).append(column)
    return groups.items()


def _counted(kind: str, count: int) -> str:
    if kind == "category":
        return f"{count} categor{'y' if count == 1 else 'ies'}"
    return f"{count} yes or no" if kind == "flag" else counted(count, kind)


def _names(columns: Iterable[Column], added: Callable[[Column], str] = lambda column: "") -> str:
    return first([shortened(one.name, 60) + added(one) for one in columns], _LISTED)


def _values(column: Column) -> str:
    return "" if column.n_values is None else f" ({column.n_values} values)"


def _missing(used: Sequence[Column], n_rows: int, missing: str) -> list[str]:
    """Columns with missing values, by what is done about them."""
    filled = "are filled from similar rows" if missing == "impute" else "leave their rows out"

    def done(column: Column) -> str:
        if column.kind == "category":
            return "are a value of their own"
        return filled + ", and a column of its own says where" * column.has_indicator

    def count(column: Column) -> str:
        return f" {column.n_missing} ({percent(column.n_missing / n_rows)})"

    lacking = [one._replace(kind="", reason=done(one)) for one in used if one.n_missing]
    return [f"{_names(group, count)}: {what}" for (_, what), group in _grouped(lacking)]
