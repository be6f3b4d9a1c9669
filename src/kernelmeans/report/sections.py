"""The sections of a report, each from its numbers."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from kernelmeans._numbers import NOTHING, grouped, number, score
from kernelmeans._text import counted, shortened
from kernelmeans.profiles.columns import AVERAGES
from kernelmeans.profiles.contrast import advice
from kernelmeans.report import svg
from kernelmeans.report.elements import (
    Found,
    by_cluster,
    by_tree,
    chip,
    colored,
    hinted,
    remark,
    sampled,
    terms,
)
from kernelmeans.report.html import Html, broken, element, joined, named, table
from kernelmeans.report.technical import TECHNICAL
from kernelmeans.report.words import alike, all_rows, called, percent, row_count

# Room beside the map, and the smallest and largest radius of a mark, in units of the drawing.
_PAD, _SMALLEST, _LARGEST = 26, 2.2, 7.4
# Most marks of a cluster that labels avoid, so that the cluster stays visible.
_FEW_MARKS = 3
# Quantile of the counts in cells from which marks have the largest size.
_FULL = 0.95
# Most letters of a name on the map.
_MOST_LETTERS = 18
# Fewest clusters for which the tree is drawn, and most letters of a leaf.
_FEWEST_LEAVES, _LEAF_LETTERS = 3, 28
_OF_TEXTS = (
    "Words are those that are more frequent in the texts of a cluster than in all others. Texts "
    "show the rows that are nearest to the middle of the cluster. "
)


def sections(found: Found) -> list[tuple[str, str, Html]]:
    """Identifier, title and content of each section for which there are numbers."""
    made = [(name, title, make(found)) for name, (title, make) in _SECTIONS.items()]
    return [(name, title, content) for name, title, content in made if content is not None]


def _sizes(found: Found) -> Html:
    """How many rows each cluster has, and how well it is found again and apart."""
    largest, every = max(one["fraction"] for one in found["clusters"]), all_rows(found)
    columns = {"Rows": "n", "Of all": "n", "Size": "g"}
    if again := any(one.get("jaccard") for one in found["clusters"]):
        columns["Found again"] = "n"
    if near := any(one["separation"] is not None for one in found["clusters"]):
        columns["Neighbours elsewhere"] = "n"

    def cells(one: Found) -> list[Any]:
        bar = svg.bar(f"{percent(one['fraction'])} of {every}", one["fraction"] / largest)
        known = [number(one["rows"]), percent(one["fraction"]), colored(one, bar)]
        known += [percent(one["jaccard"])] if again else []
        return known + ([percent(one["separation"])] if near else [])

    left_out = ""
    if found["outliers"]:
        part = percent(found["outliers"] / found["rows"])
        left_out = f"{row_count(found['outliers'])} ({part}) belong to no cluster. Sizes are "
        left_out += f"fractions of {every}. "
    note = remark(
        left_out,
        "Found again: how much of a cluster is found again in other rows. Clusters from "
        f"{percent(0.75)} on are stable, those from {percent(0.85)} on very stable. " * again,
        "Neighbours elsewhere: how many of the rows that are nearest to rows of a cluster, or to "
        "all other rows if those are fewer, are across its border." * near,
    )
    made = by_cluster(found, "Sizes of the clusters", columns, cells, hinted)
    return joined([made, note]) if left_out or again or near else made


def _map(found: Found) -> Html:
    """Where the clusters lie."""
    drawn, clusters = found["map"], found["clusters"]
    width, height = svg.MAP
    # The fullest cells look alike, so that the others can be seen.
    counts = sorted(count for *_, count in drawn["cells"])
    most = counts[int(_FULL * (len(counts) - 1))]

    def place(x: float, y: float) -> tuple[float, float]:
        return _PAD + x * (width - 2 * _PAD), height - _PAD - y * (height - 2 * _PAD)

    marks = [
        (*place(x, y), max(_SMALLEST, _LARGEST * min(1, count / most) ** 0.5), cluster)
        for x, y, cluster, count in drawn["cells"]
    ]
    texts = [
        (shortened(called(clusters[cluster]), _MOST_LETTERS), *place(x, y))
        for cluster, x, y in drawn["middles"]
    ]
    cells = Counter(cluster for *_, cluster in marks)
    cells[-1] = len(marks)  # rows of no cluster may be covered
    lone = [(x, y, size) for x, y, size, cluster in marks if cells[cluster] <= _FEW_MARKS]
    shown, (across, up) = svg.free(texts, lone), drawn["axes"]
    says = f"Map of {counted(len(texts), 'cluster')} by {across} and {up}"
    note = remark(
        *("Across: ", named(across), ". Up: ", named(up), ". "),
        "Each mark stands for the rows of a cluster in a small cell, a larger one for more rows. "
        "Rows that are alike are near each other, as far as two axes can show it.",
        sampled(drawn["rows"], found["rows"]),
        " Clusters without a name lie under others." if len(shown) < len(texts) else None,
        " Grey rows belong to no cluster." if found["outliers"] else None,
    )
    legend = element(
        "ul",
        *[element("li", hinted(one)) for one in by_tree(found) if one["rows"]],
        class_="legend",
    )
    return joined([element("figure", svg.cell_map(says, marks, shown)), legend, note])


def _tree(found: Found) -> Html | None:
    """Which clusters are near each other."""
    if len(found["clusters"]) < _FEWEST_LEAVES or found["tree"] is None:
        return None
    labels = []
    for one in by_tree(found):
        name = shortened(": ".join(filter(None, (called(one), one["hint"]))), _LEAF_LETTERS)
        labels.append((one["cluster"], name, percent(one["fraction"])))
    says = f"Tree of {counted(len(labels), 'cluster')}: {', '.join(name for _, name, _ in labels)}"
    note = remark(
        "Clusters that are joined farther to the left are nearer to each other, or have less of a "
        f"gap between them. Behind each name is its fraction of {all_rows(found)}."
    )
    return joined([element("figure", svg.tree(says, found["tree"]["branches"], labels)), note])


def _profiles(found: Found) -> Html | None:
    """What characterises each cluster."""
    filled = [one for one in by_tree(found) if one["rows"]]
    if found["profiles"] is None or len(filled) < 2:
        return None
    cards = list(map(_card, filled))
    note = remark(
        "These are the columns in which a cluster differs most from all rows, in standard "
        "deviations. Numbers have their mean, or their median where tails are heavy. Where the "
        "clusters depend on logarithms, they have a log mean: a geometric mean that zeros do not "
        "spoil. Standard deviations are those of the logarithms then. Categories "
        "have their most frequent value and its fraction. A column that is missing in some rows "
        "has their fraction too. Compared: the filled shape is this cluster; the line in a "
        f"histogram, and the mark on a bar, are all rows. Histograms leave out the lowest "
        f"{percent(0.01)} and the highest {percent(0.01)} of all values.",
        " The clusters do not depend on columns that are marked \u201cnot used\u201d."
        if any(not one["used"] for each in filled for one in each["profile"] or ())
        else None,
    )
    remarks = [remark(text, " ", advice(column)) for column, text in alike(found).items()]
    if any(one["profile"] for one in filled):
        remarks.append(note)
    if any(map(_texts, filled)):
        remarks.append(remark(_OF_TEXTS, found["profiles"]["remark"]))
    return joined([*remarks, element("div", *cards, class_="cards")])


def _columns(found: Found) -> Html | None:
    """What each column was taken for."""
    if (known := found["columns"]) is None:
        return None
    every = known["lines"].items()
    pairs = [(head, [element("bdi", one) for one in lines]) for head, lines in every if lines]
    return terms(pairs, "lines")


def _card(cluster: Found) -> Html:
    size = f"{row_count(cluster['rows'])}, {percent(cluster['fraction'])}"
    head = element("h3", chip(cluster, "Cluster "), Html(" "), element("small", size))
    parts = [head, _texts(cluster)]
    if not (profile := cluster["profile"]):
        few = "Too few rows to describe without showing them."
        said = few if profile is None else "No column differs from all rows."
        return element("article", *parts, None if parts[1] else remark(said))
    rows = [[_column(one), *_compared(cluster, one)] for one in profile]
    title = f"What characterises cluster {called(cluster)}"
    parts.append(table(title, ["Column", "Here", "All rows", "Compared"], rows, "tnng"))
    if typical := _typical(cluster):
        rows = [[named(one["column"]), *_values(one)] for one in profile]
        head_row, kinds = ["Typical rows", *map(named, typical)], "t" + "n" * len(typical)
        parts.append(table("Typical rows", head_row, rows, kinds, class_="typical"))
    return element("article", *parts)


def _typical(cluster: Found) -> Sequence[Any]:
    """What typical rows are called."""
    found: Sequence[Any] = cluster.get("typical_names", cluster.get("typical_rows", ()))
    return found


def _texts(cluster: Found) -> Html | None:
    """Words of a cluster, and the texts of its typical rows."""
    found = {"Words": ", ".join(cluster.get("words", ()))}
    lines = zip(_typical(cluster), cluster.get("typical_texts", ()), strict=False)
    found |= {f"Row {row}": text for row, text in lines if text != str(row)}
    pairs = [(named(head), broken(text)) for head, text in found.items() if text]
    return terms(pairs, "lines") if pairs else None


def _column(one: Found) -> Html:
    unused = [" ", element("small", "not used", class_="whole")]
    return joined([named(one["column"]), *(() if one["used"] else unused)])


def _values(one: Found) -> list[Html | str]:
    """A column of typical rows; numbers and dates stay on a line."""
    is_number = one["statistic"] in AVERAGES
    shown = [text if text is None or not is_number else grouped(text) for text in one["typical"]]
    return [
        NOTHING
        if text is None
        else element("span", named(text), class_="whole" if is_number else None)
        for text in shown
    ]


def _compared(cluster: Found, one: Found) -> tuple[Any, Any, Html | str]:
    """A column in a cluster, in all rows, and both in a picture."""
    if "fraction" in one:
        here, every = one["fraction"], one["overall"]
        says = f"{percent(here)} here, {percent(every)} of all rows"
        value: Any = percent(here)
        if one["statistic"] == "most frequent":
            value = joined([named(one["value"]), element("br"), value])
        return value, percent(every), colored(cluster, svg.bar(says, here, every))
    picture: Html | str = NOTHING
    if "histogram" in one:
        ends = one["ends"] or ()
        says = f"Histogram{' from ' * bool(ends)}{' to '.join(ends)}: "
        says += f"{one['statistic']} {one['value']} here, {one['overall']} of all rows"
        picture = colored(cluster, svg.histogram(says, one["histogram"], one["all"]))
        if ends:
            texts = [element("span", text) for text in ends]
            picture = joined([picture, element("span", *texts, class_="ends")])
    return _unbroken(one["value"]), _unbroken(one["overall"]), picture


def _unbroken(text: str) -> Html:
    """A number, or a date that is not broken at its hyphens."""
    words = grouped(text).split(" ")
    return Html(" ".join(element("span", word, class_="whole") for word in words))


def _agreement(found: Found) -> Html | None:
    """How the clusters agree with given labels."""
    if (known := found["agreement"]) is None:
        return None

    def cells(one: Found) -> list[Any]:
        if not one["classes"]:
            return []
        parts = [joined([named(name), f" ({percent(part)})"]) for name, part in one["classes"]]
        first = one["classes"][0][1]
        bar = svg.bar(f"{percent(first)} in the most frequent class", first)
        return [Html(", ".join(parts)), colored(one, bar)]

    text = element(
        "p",
        f"The clusters and the given labels agree with an adjusted Rand index of "
        f"{score(known['ari'])} and a normalized mutual information of {score(known['nmi'])}. Both "
        "are 1 for the same groups; by chance the first is 0. In all "
        f"{counted(known['n_classes'], 'label')} occur{'s' * (known['n_classes'] == 1)}.",
    )
    columns = {"Labels": "t", "Most frequent": "g"}
    return joined([text, by_cluster(found, "Given labels in each cluster", columns, cells)])


def _again(found: Found) -> Html:
    """How the model is used again."""
    known, digest = found["again"], found["again"]["hash"]
    seed = "none: another fit may differ" if known["seed"] is None else str(known["seed"])
    pairs = terms([("Seed", seed), *known["versions"].items()])
    parts = [element("h3", "In Python"), _code(known["program"]), pairs]
    if known["commands"]:
        parts = [element("h3", "On the command line"), _code("\n".join(known["commands"])), *parts]
    if digest["value"]:
        parts.append(terms([(digest["kind"], element("code", digest["value"]))]))
    return joined(parts)


def _code(text: str) -> Html:
    return element("pre", element("code", text), tabindex="0")


_SECTIONS: dict[str, tuple[str, Callable[[Found], Html | None]]] = {
    "sizes": ("Sizes", _sizes),
    "map": ("Map", _map),
    "tree": ("Tree", _tree),
    "profiles": ("What characterises them", _profiles),
    "columns": ("Columns of the table", _columns),
    "agreement": ("Agreement with given labels", _agreement),
    "again": ("Use it again", _again),
} | TECHNICAL
