"""A table that can show a printed value beside each of ours, as Markdown, LaTeX, HTML or JSON."""

import html
import json
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

#: Letters of a heading on one line in LaTeX, so that tables of six methods fit a page.
HEADING = 14
#: Most columns of a table that is set in full size.
WIDE = 5
#: What LaTeX reads otherwise.
_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "≈": r"$\approx$",
    "±": r"$\pm$",
    "→": r"$\to$",
    "∞": r"$\infty$",
    "<": r"$<$",
    ">": r"$>$",
}


@dataclass(frozen=True)
class Entry:
    """One cell of a table.

    Attributes
    ----------
    value : float, str or None
        Ours: a number, or a text instead, such as "0.62 ± 0.03"; None for nothing.
    printed : float or None
        The paper's.
    mark : str
        Put behind the number: ``"+"``, ``"≈"``.
    rank : float or None
        Rank in its row.
    best : bool
        Whether it is set in bold.
    digits : int or None
        Decimals; the table's when None.
    form : str
        Format of the number instead, such as ``".2g"``.
    tolerance : float or None
        How far the number may lie from that of another run; None if that is not compared.
    """

    value: float | str | None
    printed: float | None = None
    mark: str = ""
    rank: float | None = None
    best: bool = False
    digits: int | None = None
    form: str = ""
    tolerance: float | None = None

    @property
    def difference(self) -> float | None:
        """Ours less the paper's."""
        if self.printed is None or not isinstance(self.value, int | float):
            return None
        return self.value - self.printed


class Line(NamedTuple):
    """A line of a written table: its kind, its label and its texts, each bold or not."""

    kind: str
    label: str
    texts: tuple[tuple[str, bool], ...]


@dataclass(frozen=True)
class Table:
    """A table with a name, from which its files get theirs.

    Attributes
    ----------
    name : str
        Stem of the files.
    caption : str
        What it shows.
    columns : sequence of str
        Headings, that of the row labels first.
    rows : sequence of (str, sequence of Entry)
        Labels and cells. Rows with printed values take three lines: ours, the paper's, and the
        difference.
    digits : int
        Decimals of the numbers.
    notes : sequence of str
        Sentences below the table.
    """

    name: str
    caption: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Entry]]]
    digits: int = 4
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        for label, entries in self.rows:
            if len(entries) != len(self.columns) - 1:
                raise ValueError(
                    f"table {self.name!r}, row {label!r}: {len(entries)} cells for "
                    f"{len(self.columns) - 1} columns."
                )

    def lines(self) -> list[Line]:
        """The lines as every writer writes them."""
        lines = []
        for label, entries in self.rows:
            own = tuple((self._ours(entry), entry.best) for entry in entries)
            lines.append(Line("ours", label, own))
            if any(entry.printed is not None for entry in entries):
                printed = tuple((self._number(e.printed, e), False) for e in entries)
                apart = tuple((self._number(e.difference, e, "+"), False) for e in entries)
                lines.append(Line("paper", "paper", printed))
                lines.append(Line("difference", "difference", apart))
        return lines

    def _ours(self, entry: Entry) -> str:
        if (value := entry.value) is None:
            return ""
        text = value if isinstance(value, str) else self._number(value, entry)
        rank = "" if entry.rank is None else f" ({entry.rank:g})"
        return text + entry.mark + rank

    def _number(self, value: float | None, entry: Entry, sign: str = "-") -> str:
        if value is None:
            return ""
        decimals = self.digits if entry.digits is None else entry.digits
        return f"{value:{sign}z{entry.form or f'.{decimals}f'}}"

    def markdown(self) -> str:
        """Caption, table and notes in GitHub's Markdown."""
        align = ["---", *["---:"] * (len(self.columns) - 1)]
        lines = [f"| {' | '.join(map(_plain, self.columns))} |", f"|{'|'.join(align)}|"]
        for kind, label, texts in self.lines():
            cells = [f"**{_plain(text)}**" if bold else _plain(text) for text, bold in texts]
            first = _plain(label) if kind == "ours" else f"*{label}*"
            lines.append(f"| {first} | {' | '.join(cells)} |")
        notes = "".join(f"\n{note}\n" for note in self.notes)
        return f"**{self.caption}**\n\n" + "\n".join(lines) + "\n" + notes

    def latex(self) -> str:
        """A table environment for LaTeX with the package booktabs."""
        head = " & ".join(map(_latex_heading, self.columns))
        body = []
        for index, (kind, label, texts) in enumerate(self.lines()):
            cells = [rf"\textbf{{{_latex(t)}}}" if bold else _latex(t) for t, bold in texts]
            first = _latex(label) if kind == "ours" else rf"\quad \emph{{{label}}}"
            space = "\\addlinespace\n" if kind == "ours" and index and self._has_printed else ""
            body.append(f"{space}{first} & {' & '.join(cells)} \\\\")
        notes = "".join(f"\n\\par\\smallskip\\footnotesize {_latex(note)}" for note in self.notes)
        wide = "\\footnotesize\\setlength{\\tabcolsep}{3pt}\n" if len(self.columns) > WIDE else ""
        return (
            f"\\begin{{table}}\n\\centering\n{wide}"
            f"\\caption{{{_latex(self.caption)}}}\n\\label{{tab:{self.name}}}\n"
            f"\\begin{{tabular}}{{l{'r' * (len(self.columns) - 1)}}}\n\\toprule\n{head} \\\\\n"
            "\\midrule\n" + "\n".join(body) + f"\n\\bottomrule\n\\end{{tabular}}{notes}\n"
            "\\end{table}\n"
        )

    def html(self) -> str:
        """A table element, with caption and notes."""
        head = "".join(f"<th>{html.escape(column)}</th>" for column in self.columns)
        rows = []
        for kind, label, texts in self.lines():
            cells = "".join(
                f"<td><b>{html.escape(text)}</b></td>" if bold else f"<td>{html.escape(text)}</td>"
                for text, bold in texts
            )
            rows.append(f'<tr class="{kind}"><th>{html.escape(label)}</th>{cells}</tr>')
        notes = "".join(f'<p class="note">{html.escape(note)}</p>' for note in self.notes)
        return (
            f"<table><caption>{html.escape(self.caption)}</caption>\n"
            f"<thead><tr>{head}</tr></thead>\n<tbody>\n" + "\n".join(rows) + "\n</tbody></table>\n"
            f"{notes}"
        )

    def json(self) -> str:
        """Everything at full precision."""
        rows: list[dict[str, Any]] = [
            {
                "row": label,
                "column": column,
                "value": entry.value,
                "printed": entry.printed,
                "difference": entry.difference,
                "mark": entry.mark,
                "rank": entry.rank,
                "best": entry.best,
                "tolerance": entry.tolerance,
            }
            for label, entries in self.rows
            for column, entry in zip(self.columns[1:], entries, strict=True)
        ]
        content = {"name": self.name, "caption": self.caption, "notes": list(self.notes)}
        return json.dumps(content | {"cells": rows}, indent=1, allow_nan=False) + "\n"

    @property
    def _has_printed(self) -> bool:
        return any(entry.printed is not None for _, entries in self.rows for entry in entries)


def _latex_heading(text: str) -> str:
    lines = " \\\\ ".join(
        _latex(line) for line in textwrap.wrap(text, HEADING, break_long_words=False)
    )
    return rf"\shortstack[r]{{{lines}}}" if "\\\\" in lines else lines


def _plain(text: str) -> str:
    return text.replace("|", "\\|")


def _latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)
