"""Numbers in words, and the verdict."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from kernelmeans import _numbers as numbers
from kernelmeans._numbers import grouped, number
from kernelmeans._text import counted, shortened
from kernelmeans.profiles.columns import AVERAGES
from kernelmeans.profiles.contrast import SMALLEST, Alike, sentences
from kernelmeans.profiles.description import MOSTLY

# Characteristics beside the number of a cluster, and most letters of a column and of a value.
_HINTS, _HINT_LETTERS = 2, 24
# Most remarks on clusters that are alike in the verdict.
_REMARKS = 2
#: Fraction of rows near a border from which on the verdict names a cluster.
_DOUBTFUL = 0.25


def percent(fraction: float | None) -> str:
    """A fraction in percent, which stays on one line."""
    return numbers.percent(fraction).replace(" ", "\u00a0")


def all_rows(found: Mapping[str, Any]) -> str:
    """What fractions of rows are fractions of."""
    return "all rows in clusters" if found["outliers"] else "all rows"


def row_count(count: int) -> str:
    """A number of rows.

    Examples
    --------
    >>> from kernelmeans.report.words import row_count
    >>> row_count(1), row_count(200)
    ('1 row', '200 rows')
    """
    return f"{number(count)} row{'s' * (count != 1)}"


def called(cluster: Mapping[str, Any]) -> str:
    """The name of a cluster, or its number."""
    return str(cluster["cluster"] if cluster["name"] is None else cluster["name"])


def hints(clusters: Sequence[Mapping[str, Any]]) -> list[str]:
    """What characterises each cluster that has no name, in a few words.

    These are the columns that tell it from the other clusters, if any do. Where words of two
    clusters are the same, their values are added, and more columns until there is a difference.
    A cluster without such columns has words of its texts.
    """
    told = [_used(one) for one in clusters]
    made = [_words(apart) or _words(apart + others) for apart, others in told]
    every = [apart + others for apart, others in told]
    for count in range(1, max(map(len, every), default=0) + 1):
        times = Counter(map(frozenset, made))
        made = [
            list(map(_exactly, some[: max(count, len(own))]))
            if own and times[frozenset(own)] > 1
            else own
            for own, some in zip(made, every, strict=True)
        ]
    texts = [one.get("words", ())[:_HINTS] if one["name"] is None else () for one in clusters]
    return [", ".join(own or some) for own, some in zip(made, texts, strict=True)]


def _used(cluster: Mapping[str, Any]) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """The columns that a cluster depends on: those that tell it from others, and the rest."""
    if cluster["name"] is not None:
        return [], []
    found = [one for one in cluster.get("profile") or () if one["used"]]
    first: dict[str, Any] = {}
    for one in filter(_hint, found):
        first.setdefault(one["source"], one)
    apart = [first[name] for name in cluster.get("apart", ()) if name in first]
    return apart, [one for one in found if one not in apart]


def _words(columns: Sequence[Mapping[str, Any]]) -> list[str]:
    return [text for text in map(_hint, columns) if text][:_HINTS]


def _hint(one: Mapping[str, Any]) -> str:
    """A column in a word, if it is more than a value that is rare here."""
    column, is_more = shortened(one["column"], _HINT_LETTERS), one["difference"] > 0
    if one["statistic"] in AVERAGES:
        if abs(one["difference"]) < SMALLEST:
            return f"average {column}"
        more, less = ("late", "early") if one["kind"] == "date" else ("high", "low")
        return f"{more if is_more else less} {column}"
    if one["statistic"] == "most frequent":
        return f"{column} {shortened(str(one['value']), _HINT_LETTERS)}" if is_more else ""
    return column if is_more and one["fraction"] >= MOSTLY else ""


def _exactly(one: Mapping[str, Any]) -> str:
    """A column and its value."""
    text = f"{shortened(one['column'], _HINT_LETTERS)} "
    if one["statistic"] != "fraction":
        text += grouped(shortened(str(one["value"]), _HINT_LETTERS))
    if "fraction" in one:
        text += f" {percent(one['fraction'])}"
    return text


def verdict(found: Mapping[str, Any]) -> str:
    """The most important of a report in a sentence or two."""
    clusters = found["clusters"]
    some = f"{number(found['rows'] - found['outliers'])} of " * bool(found["outliers"])
    first = f"{some}{row_count(found['rows'])} in {counted(len(clusters), 'cluster')}"
    if len(clusters) < 2:
        return f"{first}."
    text = f"{first}, {_sizes(clusters)}; {_near(found, clusters)}. {_again(found)}"
    return " ".join([text, *list(alike(found).values())[:_REMARKS]])


def alike(found: Mapping[str, Any]) -> dict[str, str]:
    """For each column that alone tells clusters apart, a sentence that names them."""
    if found["profiles"] is None:
        return {}
    pairs = [Alike(tuple(one["clusters"]), one["column"]) for one in found["profiles"]["alike"]]
    return sentences(pairs, lambda cluster: called(found["clusters"][cluster]))


def _sizes(clusters: Sequence[Mapping[str, Any]]) -> str:
    filled = sorted((one for one in clusters if one["rows"]), key=lambda one: one["rows"])
    few, many = filled[0], filled[-1]
    small, large = (f"{number(one['rows'])} ({percent(one['fraction'])})" for one in (few, many))
    sizes = f"of {small} to {large} rows"
    if few["rows"] == many["rows"]:
        sizes = f"of {row_count(few['rows'])} each ({percent(few['fraction'])})"
    if empty := len(clusters) - len(filled):
        return f"{empty} of them empty" + (f", the others {sizes}" if len(filled) > 1 else "")
    return sizes


def _near(found: Mapping[str, Any], clusters: Sequence[Mapping[str, Any]]) -> str:
    near = found["certainty"]["near_border"]
    some = f"{percent(near)} of the rows are" if near else "no row is"
    text = f"{some} near the border to another cluster"
    known = [one for one in clusters if one["certainty"]]
    worst = max(known, key=lambda one: one["certainty"]["near_border"])
    most = worst["certainty"]["near_border"]
    if most > max(near, _DOUBTFUL):
        text += f", in cluster {called(worst)} {percent(most)}"
    return text


def _again(found: Mapping[str, Any]) -> str:
    """Whether the clusters would be found again, as far as that is known."""
    if (known := found["stability"]) is None:
        return "Whether these clusters would be found again in other rows has not been tested."
    if known["chosen"] is None:
        return "A search has found no clusters that would be found again."
    if known["clusters"] != len(found["clusters"]):
        return f"A search has preferred {counted(known['clusters'], 'cluster')}."
    if known["candidates"][known["chosen"]]["found_again"]:
        return "All clusters are found again in halves of the rows."
    return "Not all clusters are found again in halves of the rows."
