"""How the file of a table is read, as far as the file itself does not show it."""

import codecs
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from kernelmeans._errors import InputError
from kernelmeans.tables.spellings import Marks

#: The input that is standard input, and its name in messages and outputs.
DASH, STDIN = Path("-"), Path("stdin")
#: Suffixes of text, which may be followed by one that says how it is packed.
TEXT = (".csv", ".tsv", ".tab", ".txt", ".data", ".dat")
PACKED = (".gz", ".zip")
#: Separators by their names.
_SEPARATORS = {"tab": "\t", "\\t": "\t", "space": " "}


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How to read a table.

    Parameters
    ----------
    header : bool, default=True
        CSV, TSV and Excel: the first line holds the names of the columns.
    separator : str or None, default=None
        Text: the character between values, or the word tab, if the guess is wrong.
    decimal : str or None, default=None
        Text: the decimal mark, a point or a comma, if the guess is wrong.
    thousands : str or None, default=None
        Text: the mark between groups of three digits, or the word space or none, if the guess is
        wrong.
    missing_values : tuple of str, default=()
        Text, Excel and Parquet: words or numbers for missing values, beside na, n/a, n.a., #n/a,
        nan, nat, <na>, null, ? and - (but not beside + alone), none unless it is frequent among
        words, and words such as unknown or k.A.
    encoding : str or None, default=None
        Text: its encoding, if it is neither UTF-8 nor UTF-16 nor cp1252.
    sheet : str or None, default=None
        Excel: name or number of the sheet, by default the first.
    take : str or None, default=None
        H5AD: the matrix to cluster, X or as in layers:counts, obsm:X_pca, obsp:connectivities.
    """

    header: bool = True
    separator: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    missing_values: Sequence[str] = ()
    encoding: str | None = None
    sheet: str | None = None
    take: str | None = None

    def chosen(self) -> dict[str, Any]:
        """Return what is not as by default, as a model file stores it."""
        values = {field.name: getattr(self, field.name) for field in fields(Reading)}
        values["missing_values"] = list(self.missing_values)
        return {name: value for name, value in values.items() if value not in (None, True, [])}

    def words(self) -> list[str]:
        """Return the words for missing values in lower case."""
        return [word.strip().lower() for text in self.missing_values for word in text.split(",")]

    def after(self, earlier: Mapping[str, Any]) -> "Reading":
        """Return these choices, and those of a fit where there is no other."""
        known = {field.name for field in fields(Reading)}  # older models have units too
        chosen = {**earlier, **self.chosen()}
        return Reading(**{name: value for name, value in chosen.items() if name in known})

    def check(self) -> None:
        """Refuse ways to read a table that no table can be read by."""
        self.marks()
        self.given_separator()
        try:
            codecs.lookup(self.encoding or "utf-8")
        except LookupError as error:
            raise InputError(f"--encoding is {self.encoding!r}: {error}") from error

    def given_separator(self) -> str | None:
        """Return the separator that is chosen."""
        separator = _SEPARATORS.get(self.separator or "", self.separator)
        if separator is not None and not re.fullmatch(r"[\t !#-/:-@\[-`{-~]", separator):
            raise InputError(
                f"--separator is {separator!r}, but must be one character that is no letter, digit "
                "or quote, or tab"
            )
        return separator

    def marks(self) -> Marks:
        """Return the marks of numbers."""
        try:
            return Marks.of(self.decimal, self.thousands)
        except ValueError as error:
            raise InputError(str(error)) from error


def shown(path: Path) -> Path:
    """The name of an input in messages and outputs."""
    return STDIN if path == DASH else path


def suffix_of(path: Path) -> str:
    """The suffix in lower case; that of a packed file has two parts, as .csv.gz."""
    *_, inner, last = ["", "", *map(str.lower, path.suffixes)]
    return inner + last if last == ".gz" or (last in PACKED and inner in TEXT) else last


def stem_of(path: Path) -> str:
    """The name of an input without its suffix."""
    name = shown(path).name
    return name[: len(name) - len(suffix_of(path))]
