"""The columns of a table that are chosen for a fit."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelmeans._dialect import option
from kernelmeans._errors import InputError
from kernelmeans._text import meant
from kernelmeans._typing import MissingName, SkewedName
from kernelmeans.tables.columns import matching

if TYPE_CHECKING:
    from kernelmeans.tables.files.tables import FileTable


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
        Use columns of dates, as numbers of days since 1970.
    missing : {"impute", "drop", "error"}, default="impute"
        Missing numbers: fill them from similar rows, give their rows no label, or refuse them.
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

    def features(self, table: "FileTable") -> list[str]:
        """Return the names of the feature columns of `table`, in its order."""
        known = table.names
        wanted = set(find_columns(table, known, self.columns, "columns") or known)
        wanted -= find_columns(table, known, self.drop, "drop").keys()
        for parameter in ("label_column", "weight_column", "id_column"):
            if (name := getattr(self, parameter)) is not None:
                wanted.discard(known_column(table, name, parameter))
        chosen = [name for name in known if name in wanted]
        if not chosen:
            raise InputError(f"{table.source}: no column is left to cluster by")
        return chosen

    def called(self, table: "FileTable") -> set[str]:
        """Return the columns whose full names the user gives, so that they are used."""
        found = find_columns(table, table.names, self.columns, "columns")
        return {name for name, is_full in found.items() if is_full}


def find_columns(
    table: "FileTable", known: Collection[str], given: Sequence[str], parameter: str
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


def known_column(table: "FileTable", name: str, parameter: str) -> str:
    """Return the name of a column or an annotation that a parameter names, or refuse it."""
    # Annotations first: thousands of genes would hide them.
    names = [*table.annotations, *table.names]
    for candidate in (name, name.strip()):
        if candidate in table.nested:
            raise InputError(
                f"{table.source}: {option(parameter)} names {candidate!r}, which holds lists or "
                "structs; name a column with one value in each row"
            )
        if candidate in names:
            return candidate
    raise InputError(
        f"{table.source}: {option(parameter)} names {name!r}, which is no column; "
        f"{meant(name, names, 'its columns')}"
    )
