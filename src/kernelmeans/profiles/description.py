"""What describes clusters, as records, data frames and text."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from importlib import import_module
from importlib.util import find_spec
from textwrap import wrap
from typing import Any, NamedTuple

from kernelmeans._memory import cached_property
from kernelmeans._numbers import finite, percent
from kernelmeans._text import counted, first, shortened, single_blanks
from kernelmeans.profiles.columns import AVERAGES
from kernelmeans.profiles.contrast import SMALLEST, Alike, advice, sentences
from kernelmeans.profiles.texts import cut, numbered

#: Ending of the name of a column that marks the gaps of another one, as in `TableTransformer`.
IS_MISSING = " is missing"
#: Fraction of missing values from which a column is called missing.
MOSTLY = 0.5
_WIDTH = 78
_SPREAD_ALONE = (
    "Clusters differ in the spread of columns, but not in averages, as rings around one centre do. "
    "A picture tells more: that of a report, or kernelmeans.plotting."
)
# Most letters of the name of a column.
_LONGEST = 22


class Cluster(NamedTuple):
    """A cluster.

    Attributes
    ----------
    cluster : int or str
        Its label.
    size : int
        Number of rows.
    fraction : float
        Part of the sample weight of all clusters.
    weight : float
        Sum of the sample weights.
    typical_rows : tuple of int or None
        Positions of the rows nearest to the centroid, counted from 0; None if distances are not
        known.
    border_rows : tuple of int or None
        Positions of the rows of the smallest gap between the own centroid and the next, of those
        whose next centroid is less than 10 % farther.
    apart : tuple of str
        Columns that tell it from the other clusters, and above all from the most similar ones:
        those that do so better than noise would. Empty of more than 100 clusters.
    separation : float or None
        The fraction of the neighbours of its rows, or of all other rows if those have fewer, that
        are across its border: ``separation_`` of the fit; None of other rows.
    words : tuple of str
        The words that set its texts apart from those of the other clusters, the most telling one
        first. They are from at most three columns of texts and identifiers.
    typical_texts : tuple of str
        What these columns hold in the typical rows: a line of at most 200 letters for each row.
    """

    cluster: int | str
    size: int
    fraction: float
    weight: float
    typical_rows: tuple[Any, ...] | None = None
    border_rows: tuple[Any, ...] | None = None
    apart: tuple[str, ...] = ()
    separation: float | None = None
    words: tuple[str, ...] = ()
    typical_texts: tuple[str, ...] = ()


class Entry(NamedTuple):
    """A column in a cluster, beside the whole table.

    Attributes
    ----------
    cluster : int or str
        The label of the cluster.
    rank : int
        1 for the column whose difference is the largest in this cluster.
    column : str
        The name of the column; "age is missing", for example, says where a column has gaps.
    kind : str
        "number", "flag", "category", "date", "text", "identifier", "counter" or "constant"; of
        labels that were given on the command line "label".
    statistic : str
        "mean", "median" (of numbers with heavy tails), "log mean" (of numbers whose
        logarithms the clusters depend on), "most frequent" or "fraction" (of gaps).
    value : str or None
        The average, most frequent value or fraction in the cluster, as text; None if there is
        none, or if it is that of fewer than 5 % of the rows, or of fewer than 5 rows that are less
        than half of the cluster. Nor is there a value that fewer than 5 rows of the table have, or
        that of an identifier.
    overall : str or None
        The same of the whole table.
    number : float
        The average as a number, of dates in days since 1970. Of a most frequent value its
        fraction of the cluster; of gaps their fraction.
    overall_number : float
        The same of the whole table; the fraction of the same value there.
    difference : float
        Between both numbers, in standard deviations of the whole table; between their logarithms,
        and in standard deviations of these, beside a log mean.
    lift : float
        How many times as frequent the value or gap is in the cluster; NaN for numbers.
    missing : float
        Fraction of the cluster that has no value.
    """

    cluster: int | str
    rank: int
    column: str
    kind: str
    statistic: str
    value: str | None
    overall: str | None
    number: float
    overall_number: float
    difference: float
    lift: float
    missing: float

    @property
    def is_gap(self) -> bool:
        """Whether this says where the column has gaps."""
        return self.statistic == "fraction"

    @property
    def source(self) -> str:
        """The name of the column in the table."""
        return self.column.removesuffix(IS_MISSING) if self.is_gap else self.column


@dataclass(frozen=True, repr=False)
class Description:
    """What describes clusters; made by `kernelmeans.describe`.

    ``str`` of it is text of 80 columns with the five most telling columns of each cluster.

    Parameters
    ----------
    records : tuple of Cluster
        The clusters.
    entries : tuple of Entry
        All columns in all clusters, by cluster and rank.
    n_unplaced : int
        Rows without a cluster. They count nowhere.
    library : {"polars", "pandas"} or None
        Makes the data frames; None is the one that is installed, pandas if both are.
    alike : tuple of Alike
        Pairs of clusters that differ in one column alone: their labels ``clusters``, and the name
        of the ``column``.
    """

    records: tuple[Cluster, ...]
    entries: tuple[Entry, ...]
    n_unplaced: int = 0
    library: str | None = None
    alike: tuple[Alike, ...] = ()

    @property
    def clusters(self) -> Any:
        """A data frame of the clusters, with the columns of `Cluster`."""
        return _frame(self.records, Cluster, self.library)

    @property
    def columns(self) -> Any:
        """A data frame of all columns in all clusters, with the columns of `Entry`."""
        return _frame(self.entries, Entry, self.library)

    @cached_property
    def _by_cluster(self) -> dict[int | str, tuple[tuple[str, ...], list[Entry]]]:
        """The columns that tell each cluster apart, and all of its columns by rank."""
        found = {record.cluster: (record.apart, list[Entry]()) for record in self.records}
        for entry in self.entries:
            found[entry.cluster][1].append(entry)
        return found

    @cached_property
    def _numbered(self) -> list[tuple[str, ...]]:
        """Columns that only a number tells apart, where words of texts say more."""
        if not any(record.words for record in self.records):
            return []
        return numbered(dict.fromkeys(entry.source for entry in self.entries))

    @property
    def remark(self) -> str:
        """A sentence on the columns that `top` leaves out; empty if there are none."""
        runs = [f"{one[0]} to {one[-1]}" for one in self._numbered]
        return f"Not shown: {first(runs)}, as only numbers name these columns." if runs else ""

    def top(self, cluster: int | str, most: int = 5) -> list[Entry]:
        """The most telling columns of a cluster.

        Parameters
        ----------
        cluster : int or str
            Its label.
        most : int, default=5
            Most columns; fewer if others do not differ from the whole table. A copy of a column is
            not repeated. Where words of texts tell clusters apart, 50 or more columns that only a
            number tells apart, such as e1 to e384, are left out.

        Returns
        -------
        list of Entry
            Those that differ most from the whole table, the most telling one first. Among them are
            the columns that tell the cluster from the others, even from those on both sides of it.
        """
        apart, entries = self._by_cluster.get(cluster, ((), []))
        telling: dict[tuple[str | float, ...], Entry] = {}
        due, silent = _due(entries, apart), {name for one in self._numbered for name in one}
        for entry in entries:
            is_telling = entry in due or abs(entry.difference) >= SMALLEST
            if is_telling and entry.source not in silent:
                numbers = entry.number, entry.overall_number, entry.difference
                telling.setdefault((entry.statistic, *numbers), entry)
        return shortlist(list(telling.values()), apart, most)

    def to_dict(self, most: int | None = None) -> dict[str, Any]:
        """The description as JSON has it: dicts, lists, text and numbers; None instead of NaN.

        Parameters
        ----------
        most : int, default=None
            Most columns for each cluster, as in `top`; all columns when None.

        Returns
        -------
        dict
            The number of rows without a cluster, a list of the clusters with their columns, and
            the pairs that are alike.
        """
        clusters = []
        for record in self.records:
            own = self._by_cluster[record.cluster][1]
            chosen = own if most is None else self.top(record.cluster, most)
            clusters.append(record._asdict() | {"columns": [one._asdict() for one in chosen]})
        alike = [one._asdict() for one in self.alike]
        found = {"unplaced": self.n_unplaced, "clusters": clusters, "alike": alike}
        plain: dict[str, Any] = finite(found)
        return plain

    def text(self, most: int = 5) -> str:
        """The description as text of at most 80 columns.

        Parameters
        ----------
        most : int, default=5
            Most columns for each cluster.

        Returns
        -------
        str
            Lines without a line feed at the end.
        """
        return "\n".join(self._lines(most))

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Description of {counted(len(self.records), 'cluster')}; print it to read it>"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.text())}</pre>"

    def _lines(self, most: int) -> Iterator[str]:
        n_placed = sum(record.size for record in self.records)
        rows = counted(self.n_unplaced + n_placed, "row")
        rows = f"{n_placed} of {rows}" if self.n_unplaced else rows
        yield f"{rows} in {counted(len(self.records), 'cluster')}"
        if self.n_unplaced:
            yield f"left out: {counted(self.n_unplaced, 'row')} without a cluster"
        tops = {record.cluster: self.top(record.cluster, most) for record in self.records}
        every = [_cells(entry) for top in tops.values() for entry in top]
        widths = [max(map(len, cells)) for cells in zip(*every, strict=True)]
        for record in self.records:
            yield f"\nCluster {record.cluster}: {_size(record)}"
            for entry in tops[record.cluster]:
                cells = zip(_cells(entry), widths, strict=True)
                yield "  " + "  ".join(f"{cell:<{width}}" for cell, width in cells).rstrip()
            if not tops[record.cluster] and not record.words and not self._numbered:
                yield "  no column differs from all rows"
            yield from _row_lines(record)
        for column, sentence in sentences(self.alike).items():
            yield "\n" + "\n".join(wrap(f"{sentence} {advice(column)}", _WIDTH))
        if self.remark:
            yield "\n" + "\n".join(wrap(self.remark, _WIDTH))
        # The first column of a cluster differs most.
        small = [abs(own[0].difference) < SMALLEST for _, own in self._by_cluster.values() if own]
        if all(small) and any(record.apart for record in self.records):
            yield "\n" + "\n".join(wrap(_SPREAD_ALONE, _WIDTH))
        if every:
            told = {entry.statistic for top in tops.values() for entry in top}
            logs = " (of logarithms beside log means)" * ("log mean" in told)
            units = (
                f"sd: standard deviations of all rows{logs}; lift: times as frequent as in all rows"
            )
            yield "\n" + "\n".join(wrap(units, _WIDTH))


def shortlist(entries: Sequence[Entry], apart: Sequence[str], most: int) -> list[Entry]:
    """The most telling columns of a cluster, and two that tell it from others.

    Parameters
    ----------
    entries : sequence of Entry
        Columns, the most telling one first.
    apart : sequence of str
        The names of those that tell the cluster from others.
    most : int
        Most columns.

    Returns
    -------
    list of Entry
        In their order.
    """
    kept = _due(entries, apart)[: max(0, most - 1)]
    kept += [entry for entry in entries if entry not in kept][: most - len(kept)]
    return [entry for entry in entries if entry in kept]


def _due(entries: Sequence[Entry], apart: Sequence[str]) -> list[Entry]:
    """What speaks for the two columns that tell a cluster apart best: few gaps do not.

    Nor does a column of which no value is frequent in the cluster.
    """
    spoken = [entry for entry in entries if entry.value is not None]
    told = [entry for entry in reversed(spoken) if not entry.is_gap or entry.number >= MOSTLY]
    by_name = {entry.source: entry for entry in told}  # the most telling one stays
    return [by_name[name] for name in apart[:2] if name in by_name]


def _size(record: Cluster) -> str:
    weight = "" if math.isclose(record.weight, record.size) else f", weight {record.weight:.4g}"
    size = f"{counted(record.size, 'row')}{weight}, {percent(record.fraction, 1)}"
    if not record.separation:
        return size
    return f"{size}; {percent(record.separation, 1)} of neighbours elsewhere"


def _cells(entry: Entry) -> tuple[str, str, str, str]:
    """The cells of a line of text."""
    added = IS_MISSING if entry.is_gap else " (label)" if entry.kind == "label" else ""
    # Names and values of spreadsheets may hold line breaks.
    name, value = single_blanks(entry.source), single_blanks(str(entry.value))
    name = shortened(name, _LONGEST - len(added)) + added
    if entry.statistic in AVERAGES:
        compared = f"{entry.difference:+.2f} sd"
        return name, f"{entry.statistic} {value}", f"all rows {entry.overall}", compared
    if entry.statistic == "most frequent":
        value = f"{shortened(value, 16)} {percent(entry.number)}"
    lift = f"lift {entry.lift:.{1 if entry.lift >= 10 else 2}f}"
    return name, value, f"all rows {percent(entry.overall_number)}", lift


def _row_lines(record: Cluster) -> Iterator[str]:
    """The lines of words, and those that name and show rows."""
    kinds = {"typical": record.typical_rows, "border": record.border_rows}
    named = [f"{kind} rows {', '.join(map(str, rows))}" for kind, rows in kinds.items() if rows]
    words = [f"words {', '.join(record.words)}"] * bool(record.words)
    for text in (*words, "; ".join(named)):
        yield from wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="    ")
    for row, text in zip(record.typical_rows or (), record.typical_texts, strict=False):
        # A row may have no text, and an identifier may be the name of the row.
        if text not in ("", str(row)):
            yield cut(f"    {shortened(str(row), _LONGEST)}: {text}", _WIDTH)


def _frame(records: Sequence[Any], kind: Any, library: str | None) -> Any:
    columns = {name: [getattr(one, name) for one in records] for name in kind._fields}
    if library is None:
        library = "pandas" if find_spec("pandas") else "polars"
    return import_module(library).DataFrame(columns)
