"""What several sections of a report are made of: names of clusters, tables of them, notes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from kernelmeans._numbers import NOTHING, number
from kernelmeans.report import svg
from kernelmeans.report.html import Html, broken, element, joined, named, table
from kernelmeans.report.words import called

Found = Mapping[str, Any]


def chip(cluster: Found, before: str = "") -> Html:
    """A cluster's colour and name; what comes before a number."""
    swatch = element("span", class_=f"chip {svg.color(cluster['cluster'])}", aria_hidden="true")
    text = f"{'' if cluster['name'] else before}{called(cluster)}"
    return element("span", swatch, named(text), class_="who")


def hinted(cluster: Found) -> Html:
    """The same, and what characterises the cluster."""
    text = cluster["hint"]
    return joined([chip(cluster), element("small", ": ", broken(text)) if text else None])


def colored(cluster: Found, picture: Html) -> Html:
    """A picture in the colour of a cluster."""
    return element("span", picture, class_=svg.color(cluster["cluster"]))


def remark(*text: Any) -> Html:
    """A remark that explains a section."""
    return element("p", *text, class_="note")


def sampled(count: int, every: int) -> str:
    """Say that not all rows were used."""
    return f" Based on {number(count)} rows drawn at random." if count < every else ""


def by_tree(found: Found) -> list[Found]:
    """The clusters, so that those that are alike are neighbours."""
    clusters: list[Found] = found["clusters"]
    return clusters if found["tree"] is None else [clusters[j] for j in found["tree"]["leaves"]]


def by_cluster(
    found: Found,
    caption: str,
    columns: Mapping[str, str],
    cells: Callable[[Found], Sequence[Any]],
    chip: Callable[[Found], Html] = chip,
) -> Html:
    """A table with a row for each cluster; dashes if there are no cells for it."""
    nothing = [NOTHING] * len(columns)
    rows = [[chip(one), *(cells(one) or nothing)] for one in by_tree(found)]
    return table(caption, ["Cluster", *columns], rows, "t" + "".join(columns.values()))


def terms(pairs: Iterable[tuple[Any, Any]], kind: str | None = None) -> Html:
    """Terms and their descriptions: a text, a number, or a list of texts."""
    made = []
    for term, given in pairs:
        texts = given if isinstance(given, list) else [given]
        shown = [number(one) if isinstance(one, float | int) else one for one in texts]
        made.append(element("div", element("dt", term), *[element("dd", one) for one in shown]))
    return element("dl", *made, class_=kind)
