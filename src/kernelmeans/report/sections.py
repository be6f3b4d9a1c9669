"""The sections of a report, each from its numbers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kernelmeans._text import counted, shortened
from kernelmeans.report import svg
from kernelmeans.report.html import Html, element, joined, named, table
from kernelmeans.report.words import NOTHING, called, number, percent, score

Found = Mapping[str, Any]


def sections(found: Found) -> list[tuple[str, str, Html]]:
    """Identifier, title and content of each section for which there are numbers."""
    made = [(name, title, make(found)) for name, title, make in _SECTIONS]
    return [(name, title, content) for name, title, content in made if content is not None]


def _chip(cluster: Found, before: str = "") -> Html:
    """A cluster's colour and name; what comes before a number."""
    swatch = element("span", class_=f"chip {svg.color(cluster['cluster'])}", aria_hidden="true")
    text = f"{'' if cluster['name'] else before}{called(cluster)}"
    return element("span", swatch, named(text), class_="who")


def _colored(cluster: Found, picture: Html) -> Html:
    return element("span", picture, class_=svg.color(cluster["cluster"]))


def _note(*text: Any) -> Html:
    return element("p", *text, class_="note")


def _sampled(count: int, rows: int) -> str:
    return f" Of {number(count)} rows drawn at random." if count < rows else ""


def _sizes(found: Found) -> Html:
    """How many rows each cluster has, and how well it is found again."""
    clusters = found["clusters"]
    largest = max(one["fraction"] for one in clusters) or 1.0
    again = any(one.get("jaccard") is not None for one in clusters)
    rows = []
    for one in clusters:
        bar = svg.bar(f"{percent(one['fraction'])} of all rows", one["fraction"] / largest)
        row = [_chip(one), number(one["rows"]), percent(one["fraction"]), _colored(one, bar)]
        rows.append([*row, score(one["jaccard"])] if again else row)
    head = ["Cluster", "Rows", "Of all", "Size", *["Found again"] * again]
    made = table("Sizes of the clusters", head, rows, "tnng" + "n" * again)
    return joined([made, _note(_FOUND_AGAIN) if again else None])


_FOUND_AGAIN = (
    "Found again: the mean Jaccard overlap of the cluster with its best match in models of halves "
    "of the rows. From 0.75 on a cluster is valid, from 0.85 on highly stable."
)


# Room beside the map, and the smallest and largest radius of a mark, in units of the drawing.
_PAD, _SMALLEST, _LARGEST = 26, 2.2, 7.4
# Fraction of the cells whose marks are not the largest.
_FULL = 0.95
# Most letters of a name on the map.
_MOST_LETTERS = 18


def _map(found: Found) -> Html:
    """Where the clusters lie."""
    drawn = found["map"]
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
    clusters = found["clusters"]
    texts = [
        (shortened(called(clusters[cluster]), _MOST_LETTERS), *place(x, y))
        for cluster, x, y in drawn["middles"]
    ]
    shown = svg.free(texts)
    axes = " and ".join(drawn["axes"])
    says = f"Map of {counted(len(texts), 'cluster')} by {axes}"
    return joined(
        [
            element("figure", svg.cell_map(says, marks, shown)),
            _note(
                "Across: ",
                named(drawn["axes"][0]),
                ". Up: ",
                named(drawn["axes"][1]),
                ". ",
                "Each mark stands for the rows of a cluster in a small cell, larger ones for more "
                "rows; rows that are alike in the eyes of the kernel are near each other.",
                _sampled(drawn["rows"], found["rows"]),
                " Clusters without a name lie under others." if len(shown) < len(texts) else None,
            ),
        ]
    )


def _profiles(found: Found) -> Html | None:
    """What characterises each cluster."""
    if found["profiles"] is None:
        return None
    cards = [_card(one) for one in found["clusters"] if one["rows"]]
    return joined(
        [
            element("div", *cards, class_="cards"),
            _note(
                "The columns in which a cluster differs most from all rows, in standard "
                "deviations: its mean, its median where tails are heavy, or its most frequent "
                "value and the fraction of it. The histogram is that of the cluster, its outline "
                "that of all rows; a mark on a bar is the fraction in all rows."
            ),
        ]
    )


def _card(cluster: Found) -> Html:
    size = f"{number(cluster['rows'])} rows, {percent(cluster['fraction'])}"
    head = element("h3", _chip(cluster, "Cluster "), Html(" "), element("small", size))
    profile = cluster["profile"]
    if profile is None:
        return element("article", head, _note("Too few rows to describe without showing them."))
    if not profile:
        return element("article", head, _note("No column differs from all rows."))
    rows = [[named(one["column"]), *_compared(cluster, one)] for one in profile]
    title = f"What characterises cluster {called(cluster)}"
    made = table(title, ["Column", "Here", "All rows", "Compared"], rows, "tnng")
    return element("article", head, made, _typical(cluster, profile))


def _compared(cluster: Found, one: Found) -> tuple[Any, Any, Html | str]:
    """A column in a cluster, in all rows, and both in a picture."""
    if "fraction" in one:
        here, every = one["fraction"], one["overall"]
        says = f"{percent(here)} here, {percent(every)} of all rows"
        value = joined([named(one["value"]), element("br"), percent(here)])
        return value, percent(every), _colored(cluster, svg.bar(says, here, every))
    if "histogram" not in one:
        return named(one["value"]), named(one["overall"]), NOTHING
    says = f"Histogram: {one['statistic']} {one['value']} here, {one['overall']} of all rows"
    shape = svg.histogram(says, one["histogram"], one["all"])
    return named(one["value"]), named(one["overall"]), _colored(cluster, shape)


def _typical(cluster: Found, profile: Sequence[Found]) -> Html | None:
    """The rows that are nearest to the centroid."""
    if not (rows := cluster.get("typical_rows")):
        return None
    made = [[named(one["column"]), *map(named, one["typical"])] for one in profile]
    head = ["Typical rows", *map(str, rows)]
    return table("Typical rows", head, made, "t" + "n" * len(rows), class_="typical")


def _certainty(found: Found) -> Html | None:
    """How clearly rows belong to their cluster."""
    if found["certainty"] is None:
        return None
    rows = []
    for one in found["clusters"]:
        if (known := one["certainty"]) is None:
            rows.append([_chip(one), NOTHING, NOTHING, NOTHING, NOTHING])
            continue
        says = f"Margins from 0 to 1, median {known['median']:.2f}"
        second = found["clusters"][known["second"]]
        next_one = joined([_chip(second), f" ({percent(known['second_fraction'])})"])
        shape = _colored(one, svg.histogram(says, known["histogram"]))
        near = percent(known["near_border"])
        rows.append([_chip(one), shape, f"{known['median']:.2f}", near, next_one])
    head = ["Cluster", "Margins, 0 to 1", "Median", "Near border", "Second choice"]
    return joined(
        [
            table("First against second choice", head, rows, "tgnnt"),
            _note(
                "The margin of a row is 1 minus its distance to its own centroid over that to the "
                "second: 0 on the border of two clusters, 1 on the centroid. Near the border the "
                "second is farther by less than 10 %. The second choice is the one of most rows, "
                "with their fraction.",
                _sampled(found["certainty"]["rows"], found["rows"]),
            ),
        ]
    )


def _silhouettes(found: Found) -> Html | None:
    """How much nearer rows are to their cluster than to the next one."""
    if found["silhouettes"] is None:
        return None
    rows = []
    for one in found["clusters"]:
        if (known := one["silhouette"]) is None:
            rows.append([_chip(one), NOTHING, NOTHING, NOTHING])
            continue
        says = f"Silhouettes from -1 to 1, mean {known['mean']:.2f}"
        shape = _colored(one, svg.quantiles(says, known["quantiles"]))
        rows.append([_chip(one), shape, f"{known['mean']:.2f}", percent(known["below_zero"])])
    head = ["Cluster", "Silhouettes, \u22121 to 1", "Mean", "Below 0"]
    return joined(
        [
            table("Silhouettes in the feature space", head, rows, "tgnn"),
            _note(
                f"The mean of all is {found['silhouettes']['mean']:.2f}. A silhouette compares the "
                "mean distance to the rows of the own cluster with that to the next cluster, in "
                "the feature space of the kernel; below 0 the next one is nearer. It shows one "
                "clustering, and is no criterion for the kernel or the number of clusters.",
                _sampled(found["silhouettes"]["rows"], found["rows"]),
            ),
        ]
    )


def _stability(found: Found) -> Html | None:
    """What a search has found."""
    if (known := found["stability"]) is None:
        return None
    candidates = known["candidates"]
    differing = any(one["others"] for one in candidates)
    rows = []
    for one in candidates:
        others = ", ".join(f"{name}={value}" for name, value in one["others"].items())
        stability = one["mean_stability"]
        bar = NOTHING
        if stability == stability:
            bar = svg.bar(f"Stability {stability:.2f}", max(0.0, stability))
        chosen = element("strong", f"{one['n_clusters']}, chosen") if one["chosen"] else None
        rows.append(
            [
                chosen or one["n_clusters"],
                *[named(others)] * differing,
                bar,
                score(stability),
                score(one["min_jaccard"]),
                "yes" if one["valid"] else "no",
            ]
        )
    head = [
        "Clusters",
        *["With"] * differing,
        "Stability",
        "Value",
        "Least Jaccard",
        "All found again",
    ]
    verdict = known["verdict"]
    return joined(
        [
            element("p", f"{verdict[0].upper()}{verdict[1:]}."),
            table("Candidates of the search", head, rows, "t" + "t" * differing + "gnnt"),
        ]
    )


def _agreement(found: Found) -> Html | None:
    """How the clusters agree with given labels."""
    if (known := found["agreement"]) is None:
        return None
    rows = []
    for one in found["clusters"]:
        if not one["classes"]:
            rows.append([_chip(one), NOTHING, NOTHING])
            continue
        first = one["classes"][0][1]
        parts = [joined([named(name), f" ({percent(part)})"]) for name, part in one["classes"]]
        between = [Html(", ")] * len(parts)
        listed = [each for pair in zip(between, parts, strict=True) for each in pair][1:]
        bar = svg.bar(f"{percent(first)} in the most frequent class", first)
        rows.append([_chip(one), joined(listed), _colored(one, bar)])
    return joined(
        [
            element(
                "p",
                f"The clusters and the {counted(known['n_classes'], 'given class')[:-1]}es agree "
                if known["n_classes"] != 1
                else "The clusters and the given class agree ",
                f"with an adjusted Rand index of {known['ari']:.2f} and a normalized mutual "
                f"information of {known['nmi']:.2f}. Both are 1 for the same groups; chance gives "
                "an adjusted Rand index of 0.",
            ),
            table("Given classes in each cluster", ["Cluster", "Classes", "First"], rows, "ttg"),
        ]
    )


def _fit(found: Found) -> Html:
    """How the fit went."""
    known = found["trace"]
    hard = sum(one is None for one in known["power"])
    soft = [None if one is None else -one for one in known["power"]]
    says = (
        f"Objective over the steps, from {number(known['objective'][0])} to {number(known['cost'])}"
    )
    charts = [_chart("Objective", svg.lines(says, known["objective"], shaded=hard))]
    if any(one is not None for one in soft):
        critical = known["critical_power"]
        marked = -critical if critical is not None and critical < 0 else None
        says = "Size of the power over the steps, on a logarithmic axis"
        picture = svg.lines(says, soft, shaded=hard, marked=marked, log=True)
        dashed = f"; dashed: that of the critical power, {number(marked)}" if marked else ""
        title = f"Size of the power{dashed}"
        charts.append(_chart(title, picture))
    return joined(
        [
            element("div", *charts, class_="pair"),
            _note(
                f"{counted(known['steps'], 'step')}, those of swap moves included. Soft steps "
                "anneal the power; hard steps and swap moves, with a shade, end the fit."
            ),
            _weights(found["kernels"]),
            _settings(found),
            _restarts(known),
        ]
    )


def _chart(title: str, picture: Html) -> Html:
    return element("figure", element("figcaption", title), picture)


def _weights(kernels: Sequence[Found] | None) -> Html | None:
    if kernels is None:
        return None
    heaviest = max(one["weight"] for one in kernels) or 1.0
    rows = [
        [
            named(one["name"]),
            named(one["kernel"]),
            percent(one["weight"]),
            svg.bar(f"Weight {percent(one['weight'])}", one["weight"] / heaviest),
        ]
        for one in sorted(kernels, key=lambda one: -one["weight"])[:_MOST_KERNELS]
    ]
    return table("Kernel weights", ["View", "Kernel", "Of all", "Weight"], rows, "ttng")


_MOST_KERNELS = 24


def _settings(found: Found) -> Html:
    model = found["model"]
    words = {
        "kernel": "Kernel",
        "gamma": "Width, gamma",
        "n_neighbors": "Neighbours of a row",
        "t": "Time of the heat",
        "n_pieces": "Pieces of the graph",
        "approximation": "How the kernel was held",
    }
    pairs = [(words[name], model[name]) for name in words if name in model]
    pairs += [("Cost", found["trace"]["cost"])]
    return _pairs(pairs)


def _pairs(pairs: Sequence[tuple[str, Any]]) -> Html:
    """Terms and what is said of them."""
    return element(
        "dl",
        *[
            element("div", element("dt", name), element("dd", _plain(value)))
            for name, value in pairs
        ],
    )


def _plain(value: Any) -> Any:
    return number(value) if isinstance(value, float | int) else value


def _restarts(known: Found) -> Html | None:
    if known["n_restarts"] < 2:
        return None
    rows = [
        [place, number(one["cost"]), one["steps"], one["ending"].replace("_", " ")]
        for place, one in enumerate(known["restarts"], 1)
    ]
    caption = (
        f"The best of {known['n_restarts']} restarts"
        if len(rows) < known["n_restarts"]
        else "Restarts"
    )
    return table(caption, ["Restart", "Cost", "Steps", "Ended"], rows, "tnnt")


def _again(found: Found) -> Html:
    """How the model is used again."""
    known = found["again"]
    parts: list[Any] = []
    if known["commands"]:
        parts += [element("h3", "On the command line"), _code("\n".join(known["commands"]))]
    parts += [element("h3", "In Python"), _code(_program(known["python"]))]
    pairs = [
        ("Seed", "none: another fit may differ" if known["seed"] is None else str(known["seed"]))
    ]
    what = "data" if known["source"] is None else "file"
    pairs += [(name, version) for name, version in known["versions"].items()]
    hashed = element("dd", element("code", known["sha256"]))
    title = f"SHA-256 of the {what}"
    parts += [
        _pairs(pairs),
        element("dl", element("div", element("dt", title), hashed, class_="wide")),
    ]
    return joined(parts)


def _code(text: str) -> Html:
    return element("pre", element("code", text), tabindex="0")


def _program(estimator: str) -> str:
    return f"model = {estimator}\nmodel.fit(X)\nmodel.predict(X_new)"


Section = Callable[[Found], Html | None]
_SECTIONS: tuple[tuple[str, str, Section], ...] = (
    ("sizes", "Sizes", _sizes),
    ("map", "Map", _map),
    ("profiles", "What characterises them", _profiles),
    ("certainty", "Certainty", _certainty),
    ("silhouettes", "Silhouettes", _silhouettes),
    ("stability", "Stability", _stability),
    ("agreement", "Agreement with given labels", _agreement),
    ("fit", "How it was fitted", _fit),
    ("again", "Use it again", _again),
)
