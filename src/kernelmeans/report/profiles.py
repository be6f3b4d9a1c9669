"""What characterises the clusters: their most telling columns, with histograms."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse

from kernelmeans._numbers import number
from kernelmeans._text import counted
from kernelmeans._typing import Array, IntArray
from kernelmeans.profiles import Description, Entry
from kernelmeans.profiles.columns import AVERAGES, FEWEST
from kernelmeans.profiles.describing import described, logarithms_of, reader_of, used_columns
from kernelmeans.profiles.description import shortlist
from kernelmeans.profiles.rows import Placed
from kernelmeans.profiles.texts import lines_of_each, text_columns
from kernelmeans.report.facts import Clusters, Subject, add
from kernelmeans.report.words import hints
from kernelmeans.rows import Rows
from kernelmeans.tables.columns import matching
from kernelmeans.tables.decisions import logarithms, powers
from kernelmeans.tables.frames import Table
from kernelmeans.tables.kinds import found_in
from kernelmeans.tables.values import MISSING, Texts

#: Columns of a cluster, and columns of a histogram.
MOST_COLUMNS, BINS = 5, 16
#: Quantiles at which a histogram ends. A tail beyond would stand at the end like a second peak.
ENDS = 0.01, 0.99
# Flags that a file has as such; others are called as in the file.
_FLAGS = {"True": "yes", "False": "no"}
# These name single rows, or their order.
_NAMING = ("text", "identifier", "counter")
# Among their values a frequent "none" is one.
_WORDS = ("category", "text", "label")

Ends = tuple[float, float] | None
Shapes = Mapping[str, tuple[Array, Array, Ends]]


def add_profiles(
    clusters: Clusters, subject: Subject, given: Any, rows: bool, categorical: Sequence[str]
) -> dict[str, Any] | None:
    """Add to each cluster its most telling columns, and those that tell it from the others.

    Parameters
    ----------
    clusters : list of dict
        Each gets the entries ``profile``, None if it has too few rows, ``apart``, names of columns,
        and ``hint``, a few words; if single rows may be shown and there are texts, also ``words``
        and ``typical_texts``.
    subject : Subject
        What the report is about.
    given : data frame, array, mapping or None
        The columns; X when None, unless X is no table in memory.
    rows : bool
        Whether single rows may be shown.
    categorical : sequence of str
        Columns to take for categories.

    Returns
    -------
    dict or None
        The number of columns, pairs of clusters that are ``alike``, and a ``remark`` on columns
        that are not shown; None if there is no table.
    """
    if given is None:
        if subject.is_matrix or isinstance(subject.X, Rows) or issparse(subject.X):
            return None
        given = subject.table
    table = given if isinstance(given, Mapping) else Table(given)
    if (n_rows := len(table[next(iter(table))])) != len(subject.labels):
        raise ValueError(
            f"table has {counted(n_rows, 'row')} and the model {len(subject.labels)}: give a table "
            "of the same rows in the same order."
        )
    kinds = dict.fromkeys(matching(categorical, table, "categorical"), "category")
    placed = Placed(subject.labels, n_clusters=len(clusters))
    used = used_columns(subject.transformers, table)
    description = described(placed, table, subject.transformers, kinds=kinds, with_texts=rows)
    chosen = [_telling(description, one, rows) for one in clusters]
    words = {one.column for one in description.entries if one.kind in _WORDS}
    shapes, typical = _looked_at(chosen, clusters, table, subject, words, 1 if rows else FEWEST)
    for one, entries, record in zip(clusters, chosen, description.records, strict=True):
        one |= {"apart": [], "profile": None}
        if entries is not None:
            told = [_record(each, shapes, typical, used) for each in entries]
            one |= {"apart": list(record.apart), "profile": told}
    if rows and (shown := text_columns({one.column: one.kind for one in description.entries})):
        texts = lines_of_each(table, shown, [one.get("typical_rows") for one in clusters])
        for one, record, lines in zip(clusters, description.records, texts, strict=True):
            one |= {"words": list(record.words), "typical_texts": list(lines)}
    add(clusters, "hint", hints(clusters))
    alike = [
        {"clusters": list(pair), "column": column}
        for pair, column in description.alike
        if all(clusters[one]["profile"] is not None for one in pair)
    ]
    return {"columns": len(table), "alike": alike, "remark": description.remark}


def _telling(description: Description, cluster: dict[str, Any], rows: bool) -> list[Entry] | None:
    """The most telling columns of a cluster that may be shown; None if it has too few rows."""
    size = cluster["rows"]
    if not size or (size < FEWEST and not rows):
        return None
    top = description.top(cluster["cluster"], len(description.entries))
    shown = [one for one in top if one.kind not in _NAMING and (rows or _is_of_many(one, size))]
    record = description.records[cluster["cluster"]]
    return shortlist(shown, record.apart, MOST_COLUMNS)


def _is_of_many(entry: Entry, size: int) -> bool:
    """Whether an entry stands for no row or for at least `FEWEST` rows."""
    is_number = entry.statistic in AVERAGES
    count = size * ((1 - entry.missing) if is_number else entry.number)
    return not 0 < round(count) < FEWEST


def _looked_at(
    chosen: Sequence[Sequence[Entry] | None],
    clusters: Clusters,
    table: Mapping[str, Any],
    subject: Subject,
    words: Collection[str],
    fewest: int,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Histograms of columns of numbers, and the values of typical rows, a column at a time."""
    entries = [entry for some in chosen for entry in some or ()]
    numbers = {entry.source for entry in entries if entry.kind in ("number", "date")}
    shapes, typical, read = {}, {}, reader_of(subject.transformers)
    knees = logarithms_of(subject.transformers)
    for name in dict.fromkeys(entry.source for entry in entries):
        column = np.asarray(table[name])
        missing = Texts(column).in_words().missing if name in words else MISSING
        typical[name] = [
            [_text(column[row], missing) for row in one.get("typical_rows", ())] for one in clusters
        ]
        if name in numbers and (values := found_in(read(name, column), name).numbers) is not None:
            knee = knees.get(name, 0.0)
            scaled = logarithms(values, knee) if knee else values
            own, every, ends = histograms(scaled, subject.labels, len(clusters), fewest)
            if knee and ends is not None:
                low, high = powers(np.array(ends), knee).tolist()
                ends = low, high
            shapes[name] = own, every, ends
    return shapes, typical


def _record(
    entry: Entry, shapes: Shapes, typical: Mapping[str, Any], used: Collection[str]
) -> dict[str, Any]:
    """A column of a cluster, ready for JSON."""
    found: dict[str, Any] = {
        "column": entry.column,
        "source": entry.source,
        "kind": entry.kind,
        "used": entry.source in used,
        "statistic": entry.statistic,
        "value": _FLAGS.get(str(entry.value), entry.value),
        "overall": entry.overall,
        "difference": float(entry.difference),
    }
    if entry.statistic not in AVERAGES:
        found |= {"fraction": float(entry.number), "overall": float(entry.overall_number)}
    elif entry.column in shapes:
        own, every, ends = shapes[entry.column]
        found |= {"histogram": own[int(entry.cluster)].tolist(), "all": every.tolist()}
        found["ends"] = None if ends is None else _ends(*ends, entry)
    values = typical[entry.source][int(entry.cluster)]
    if entry.is_gap:
        values = ["yes" if one is None else "no" for one in values]
    return found | {"typical": values}


def _ends(low: float, high: float, entry: Entry) -> list[str] | None:
    """The ends of a histogram: two digits of their difference, of dates the month.

    On the scale of logarithms they have two digits each.
    """
    if entry.kind == "date":
        texts = [str(np.datetime64(int(day), "D"))[:7] for day in (low, high)]
    elif entry.statistic == "log mean":
        texts = [number(float(f"{one:.2g}")) for one in (low, high)]
    elif 0 < high - low < np.inf:
        digits = 1 - int(np.floor(np.log10(high - low)))
        texts = [number(round(one, digits) + 0.0) for one in (low, high)]
    else:
        return None
    return texts if texts[0] != texts[1] else None


def _text(value: Any, missing: Collection[str]) -> str | None:
    """A value of a row; of a time the day, and None if it is missing."""
    text = str(value)
    if value is None or text.strip().lower() in missing:
        return None
    if isinstance(value, float):
        return f"{value:.6g}"
    return text[:10] if isinstance(value, np.datetime64) else _FLAGS.get(text, text)


def histograms(
    numbers: Array, labels: IntArray, n_clusters: int, fewest: int = FEWEST
) -> tuple[Array, Array, Ends]:
    """Fractions of the values of each cluster, and of all, in bins of equal width.

    The bins end at quantiles. Values beyond are in no bin.

    Parameters
    ----------
    numbers : ndarray of shape (n_rows,)
        Values; NaN and infinite ones do not count.
    labels : ndarray of shape (n_rows,)
        Clusters of the rows; those of none (-1) do not count.
    n_clusters : int
        Their number.
    fewest : int, default=5
        Fewest values at or beyond each end if the ends are to be shown.

    Returns
    -------
    own : ndarray of shape (n_clusters, BINS)
        Fractions of all values of a cluster, which sum to 1 at most.
    every : ndarray of shape (BINS,)
        Those of all rows.
    ends : (float, float) or None
        The ends of the bins; None if too few values are at or beyond one.
    """
    known = np.isfinite(numbers) & (labels >= 0)
    values, labels = numbers[known], labels[known]
    if not len(values):
        return np.zeros((n_clusters, BINS)), np.zeros(BINS), None
    # With few values, these are the extremes.
    low = np.quantile(values, ENDS[0], method="lower")
    high = np.quantile(values, ENDS[1], method="higher")
    if low == high:
        low, high = values.min(), values.max()
    # Halves, because a difference of large numbers would overflow.
    width = (high / 2 - low / 2) / BINS or 1.0
    inner = (values >= low) & (values <= high)
    bins = np.minimum((values[inner] / 2 - low / 2) / width, BINS - 1).astype(np.intp)
    counts = np.bincount(labels[inner] * BINS + bins, minlength=n_clusters * BINS)
    own = counts.reshape(n_clusters, BINS)
    total = np.maximum(np.bincount(labels, minlength=n_clusters), 1)
    enough = min((values <= low).sum(), (values >= high).sum()) >= fewest
    ends = (float(low), float(high)) if enough else None
    return (own / total[:, None]).round(4), (own.sum(axis=0) / len(values)).round(4), ends
