"""The sections of a report, each from its numbers."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kernelmeans._text import counted, shortened
from kernelmeans.report import svg
from kernelmeans.report.html import Html, element, joined, named, table
from kernelmeans.report.words import (
    NOTHING,
    called,
    grouped,
    hint,
    number,
    percent,
    row_count,
    score,
)

Found = Mapping[str, Any]

# Room beside the map, and the smallest and largest radius of a mark, in units of the drawing.
_PAD, _SMALLEST, _LARGEST = 26, 2.2, 7.4
# A label may hide so few marks of a cluster altogether.
_FEW_MARKS = 3
# Fraction of the cells whose marks are not the largest.
_FULL = 0.95
# Smaller sizes of the critical power would stretch the axis over many decades.
_LEAST_MARKED = 1e-3
# Most letters of a name on the map, and most kernels in the table of weights.
_MOST_LETTERS, _MOST_KERNELS = 18, 24
_SETTINGS = {
    "kernel": "Kernel",
    "gamma": "Width, gamma",
    "n_neighbors": "Neighbours of a row",
    "t": "Time of the heat",
    "n_pieces": "Pieces of the graph",
    "approximation": "How the kernel was held",
}


def sections(found: Found) -> list[tuple[str, str, Html]]:
    """Identifier, title and content of each section for which there are numbers."""
    made = [(name, title, make(found)) for name, (title, make) in _SECTIONS.items()]
    return [(name, title, content) for name, title, content in made if content is not None]


def _chip(cluster: Found, before: str = "") -> Html:
    """A cluster's colour and name; what comes before a number."""
    swatch = element("span", class_=f"chip {svg.color(cluster['cluster'])}", aria_hidden="true")
    text = f"{'' if cluster['name'] else before}{called(cluster)}"
    return element("span", swatch, named(text), class_="who")


def _hinted(cluster: Found) -> Html:
    """The same, and what characterises the cluster."""
    text = hint(cluster)
    return joined([_chip(cluster), element("small", ": ", element("bdi", text)) if text else None])


def _colored(cluster: Found, picture: Html) -> Html:
    return element("span", picture, class_=svg.color(cluster["cluster"]))


def _note(*text: Any) -> Html:
    return element("p", *text, class_="note")


def _sampled(count: int, found: Found) -> str:
    return f" Based on {number(count)} rows drawn at random." if count < found["rows"] else ""


def _by_cluster(
    found: Found,
    caption: str,
    columns: Mapping[str, str],
    cells: Callable[[Found], Sequence[Any]],
    chip: Callable[[Found], Html] = _chip,
) -> Html:
    """A table with a row for each cluster; dashes if there are no cells for it."""
    nothing = [NOTHING] * len(columns)
    rows = [[chip(one), *(cells(one) or nothing)] for one in found["clusters"]]
    return table(caption, ["Cluster", *columns], rows, "t" + "".join(columns.values()))


def _sizes(found: Found) -> Html:
    """How many rows each cluster has, and how well it is found again."""
    largest = max(one["fraction"] for one in found["clusters"])
    columns = {"Rows": "n", "Of all": "n", "Size": "g"}
    if again := any(one.get("jaccard") for one in found["clusters"]):
        columns["Found again"] = "n"

    def cells(one: Found) -> list[Any]:
        bar = svg.bar(f"{percent(one['fraction'])} of all rows", one["fraction"] / largest)
        known = [number(one["rows"]), percent(one["fraction"]), _colored(one, bar)]
        return [*known, percent(one["jaccard"])] if again else known

    note = _note(
        "Found again: how much of a cluster is found again in other rows. Clusters from "
        f"{percent(0.75)} on can be relied on, those from {percent(0.85)} on very much."
    )
    made = _by_cluster(found, "Sizes of the clusters", columns, cells, _hinted)
    return joined([made, note]) if again else made


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
    lone = [(x, y, size) for x, y, size, cluster in marks if cells[cluster] <= _FEW_MARKS]
    shown, (across, up) = svg.free(texts, lone), drawn["axes"]
    says = f"Map of {counted(len(texts), 'cluster')} by {across} and {up}"
    note = _note(
        *("Across: ", named(across), ". Up: ", named(up), ". "),
        "Each mark stands for the rows of a cluster in a small cell, a larger one for more rows. "
        "Rows that are alike are near each other, as far as two axes can show it.",
        _sampled(drawn["rows"], found),
        " Clusters without a name lie under others." if len(shown) < len(texts) else None,
    )
    legend = element(
        "ul", *[element("li", _hinted(one)) for one in clusters if one["rows"]], class_="legend"
    )
    return joined([element("figure", svg.cell_map(says, marks, shown)), legend, note])


def _profiles(found: Found) -> Html | None:
    """What characterises each cluster."""
    filled = [one for one in found["clusters"] if one["rows"]]
    if found["profiles"] is None or len(filled) < 2:
        return None
    cards = list(map(_card, filled))
    note = _note(
        "These are the columns in which a cluster differs most from all rows, in standard "
        "deviations. Numbers have their mean, or their median where tails are heavy. Categories "
        "have their most frequent value and its fraction. A column that is missing in some rows "
        "has their fraction too. Compared: the filled shape is this cluster; the line in a "
        f"histogram, and the mark on a bar, are all rows. Histograms leave out the lowest "
        f"{percent(0.01)} and the highest {percent(0.01)} of all values.",
        " The clusters do not depend on columns that are marked \u201cnot used\u201d."
        if any(not one["used"] for each in filled for one in each["profile"] or ())
        else None,
    )
    return joined([note, element("div", *cards, class_="cards")])


def _columns(found: Found) -> Html | None:
    """What each column was taken for."""
    if (known := found["columns"]) is None:
        return None
    parts = [
        element("div", element("dt", head), *[element("dd", element("bdi", one)) for one in lines])
        for head, lines in known["lines"].items()
        if lines
    ]
    return element("dl", *parts, class_="lines")


def _card(cluster: Found) -> Html:
    size = f"{row_count(cluster['rows'])}, {percent(cluster['fraction'])}"
    head = element("h3", _chip(cluster, "Cluster "), Html(" "), element("small", size))
    profile = cluster["profile"]
    if not profile:
        few = "Too few rows to describe without showing them."
        note = _note(few if profile is None else "No column differs from all rows.")
        return element("article", head, note)
    rows = [[_column(one), *_compared(cluster, one)] for one in profile]
    title = f"What characterises cluster {called(cluster)}"
    made = table(title, ["Column", "Here", "All rows", "Compared"], rows, "tnng")
    if typical := cluster.get("typical_names", cluster.get("typical_rows")):
        rows = [[named(one["column"]), *_values(one)] for one in profile]
        head_row, kinds = ["Typical rows", *map(named, typical)], "t" + "n" * len(typical)
        made = joined([made, table("Typical rows", head_row, rows, kinds, class_="typical")])
    return element("article", head, made)


def _column(one: Found) -> Html:
    unused = element("small", " not used", class_="whole")
    return joined([named(one["column"]), None if one["used"] else unused])


def _values(one: Found) -> list[Html | str]:
    """A column of typical rows; numbers and dates stay on a line."""
    is_number = one["statistic"] in ("mean", "median")
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
        return value, percent(every), _colored(cluster, svg.bar(says, here, every))
    picture: Html | str = NOTHING
    if "histogram" in one:
        ends = one["ends"] or ()
        says = f"Histogram{' from ' * bool(ends)}{' to '.join(ends)}: "
        says += f"{one['statistic']} {one['value']} here, {one['overall']} of all rows"
        picture = _colored(cluster, svg.histogram(says, one["histogram"], one["all"]))
        if ends:
            texts = [element("span", text) for text in ends]
            picture = joined([picture, element("span", *texts, class_="ends")])
    return _unbroken(one["value"]), _unbroken(one["overall"]), picture


def _unbroken(text: str) -> Html:
    """A number, or a date that is not broken at its hyphens."""
    words = grouped(text).split(" ")
    return Html(" ".join(element("span", word, class_="whole") for word in words))


def _certainty(found: Found) -> Html | None:
    """How clearly rows belong to their cluster."""
    if found["certainty"] is None:
        return None

    def cells(one: Found) -> list[Any]:
        if (known := one["certainty"]) is None:
            return []
        says = f"Margins from 0 to 1, median {known['median']:.2f}"
        second = _chip(found["clusters"][known["second"]])
        return [
            _colored(one, svg.histogram(says, known["histogram"])),
            score(known["median"]),
            percent(known["near_border"]),
            joined([second, f" ({percent(known['second_fraction'])})"]),
        ]

    columns = {
        "Margins, 0\u00a0to\u00a01": "g",
        "Median": "n",
        "Near border": "n",
        "Second choice": "t",
    }
    note = _note(
        "The margin of a row is 1 minus its distance to its own centroid over that to the second: "
        "0 on the border of two clusters, 1 on the centroid. A row is near the border if the "
        "second centroid is farther by less than 10 %. The second choice is the cluster that is "
        "the second nearest of most rows, with their fraction.",
        _sampled(found["certainty"]["rows"], found),
    )
    return joined([_by_cluster(found, "First against second choice", columns, cells), note])


def _silhouettes(found: Found) -> Html | None:
    """How much nearer rows are to their cluster than to the next one."""
    if found["silhouettes"] is None:
        return None

    def cells(one: Found) -> list[Any]:
        if (known := one["silhouette"]) is None:
            return []
        says = f"Silhouettes from -1 to 1, mean {known['mean']:.2f}"
        shape = _colored(one, svg.quantiles(says, known["quantiles"]))
        return [shape, score(known["mean"]), percent(known["below_zero"])]

    columns = {"Silhouettes, \u22121\u00a0to\u00a01": "g", "Mean": "n", "Below 0": "n"}
    note = _note(
        f"The mean of all is {score(found['silhouettes']['mean'])}. A silhouette compares the mean "
        "distance to the rows of the own cluster with that to the next cluster, in the feature "
        "space of the kernel; below 0 the next one is nearer. It shows one clustering, and is no "
        "criterion for the kernel or the number of clusters.",
        _sampled(found["silhouettes"]["rows"], found),
    )
    return joined([_by_cluster(found, "Silhouettes in the feature space", columns, cells), note])


def _stability(found: Found) -> Html | None:
    """What a search has found."""
    if (known := found["stability"]) is None:
        return None

    def cells(one: Found) -> list[Any]:
        others = ", ".join(f"{name} {value}" for name, value in one["others"].items())
        stability = one["mean_stability"]
        says, count = f"Stability {score(stability)}", one["n_clusters"]
        return [
            element("strong", f"{count}, chosen") if one["chosen"] else count,
            named(others) if others else NOTHING,
            svg.bar(says, stability if stability > 0 else 0.0),
            score(stability),
            score(one["min_jaccard"]),
            "yes" if one["valid"] else "no",
        ]

    head = ["Clusters", "With", "Stability", "Value", "Least Jaccard", "All found again"]
    rows = [cells(one) for one in known["candidates"]]
    answer = element("p", f"{known['verdict'][0].upper()}{known['verdict'][1:]}.")
    note = _note(
        "A cluster is found again as far as it and its best match in models of halves of the rows "
        "overlap: the mean Jaccard index."
    )
    return joined([answer, table("Candidates of the search", head, rows, "ttgnnt"), note])


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
        return [Html(", ".join(parts)), _colored(one, bar)]

    text = element(
        "p",
        f"The clusters and the given labels agree with an adjusted Rand index of "
        f"{score(known['ari'])} and a normalized mutual information of {score(known['nmi'])}. Both "
        "are 1 for the same groups; by chance the first is 0. "
        f"{counted(known['n_classes'], 'label')} occur{'s' * (known['n_classes'] == 1)}.",
    )
    columns = {"Labels": "t", "Most frequent": "g"}
    return joined([text, _by_cluster(found, "Given labels in each cluster", columns, cells)])


def _fit(found: Found) -> Html:
    """How the fit went."""
    known, settings = found["trace"], found["settings"]
    shaded = sum(one is None for one in known["power"])
    ends = number(known["objective"][0]), number(known["cost"])
    says = f"Objective over the steps, from {ends[0]} to {ends[1]}"
    charts = [_chart("Objective", svg.lines(says, known["objective"], shaded=shaded))]
    if shaded < len(known["power"]):
        powers = [None if one is None else -one for one in known["power"]]
        critical = -(known["critical_power"] or 0.0)
        marked = critical if critical > _LEAST_MARKED else None
        says = "Size of the power over the steps, on a logarithmic axis"
        dashed = f"; dashed: that of the critical power, {number(marked)}" if marked else ""
        picture = svg.lines(says, powers, shaded=shaded, marked=marked, log=True)
        charts.append(_chart(f"Size of the power{dashed}", picture))
    note = _note(
        f"The fit took {counted(known['steps'], 'step')}, those of swap moves included. Soft steps "
        "anneal the power. Hard steps and swap moves end the fit, in the shade; many swap moves "
        "that were tried together are one dot."
    )
    pairs = {title: settings[name] for name, title in _SETTINGS.items() if name in settings}
    pairs |= {"Restarts": known["restarts"], "Cost": known["cost"]}
    pair = element("div", *charts, class_="pair")
    return joined([pair, note, _weights(found["kernels"]), _pairs(pairs)])


def _chart(title: str, picture: Html) -> Html:
    return element("figure", element("figcaption", title), picture)


def _weights(kernels: Sequence[Found] | None) -> Html | None:
    if kernels is None:
        return None
    heaviest = sorted(kernels, key=lambda one: -one["weight"])[:_MOST_KERNELS]
    most = heaviest[0]["weight"] or 1.0
    rows = []
    for one in heaviest:
        bar = svg.bar(f"Weight {percent(one['weight'])}", one["weight"] / most)
        rows.append([named(one["name"]), named(one["kernel"]), percent(one["weight"]), bar])
    return table("Kernel weights", ["View", "Kernel", "Of all", "Weight"], rows, "ttng")


def _pairs(pairs: Mapping[str, Any]) -> Html:
    """Terms and what is said of them."""
    values = {
        name: number(one) if isinstance(one, float | int) else one for name, one in pairs.items()
    }
    made = [element("div", element("dt", name), element("dd", one)) for name, one in values.items()]
    return element("dl", *made)


def _again(found: Found) -> Html:
    """How the model is used again."""
    known, digest = found["again"], found["again"]["hash"]
    seed = "none: another fit may differ" if known["seed"] is None else str(known["seed"])
    pairs = _pairs({"Seed": seed, **known["versions"]})
    parts = [element("h3", "In Python"), _code(known["program"]), pairs]
    if known["commands"]:
        parts = [element("h3", "On the command line"), _code("\n".join(known["commands"])), *parts]
    if digest["value"]:
        parts.append(_pairs({digest["kind"]: element("code", digest["value"])}))
    return joined(parts)


def _code(text: str) -> Html:
    return element("pre", element("code", text), tabindex="0")


_SECTIONS: dict[str, tuple[str, Callable[[Found], Html | None]]] = {
    "sizes": ("Sizes", _sizes),
    "map": ("Map", _map),
    "profiles": ("What characterises them", _profiles),
    "columns": ("Columns of the table", _columns),
    "agreement": ("Agreement with given labels", _agreement),
    "again": ("Use it again", _again),
    "certainty": ("Certainty", _certainty),
    "silhouettes": ("Silhouettes", _silhouettes),
    "stability": ("Stability", _stability),
    "fit": ("How it was fitted", _fit),
}
#: Those that only specialists read.
TECHNICAL = ("certainty", "silhouettes", "stability", "fit")
