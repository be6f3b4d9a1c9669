"""The sections of a report that only specialists read, each from its numbers."""

from collections.abc import Callable, Sequence
from typing import Any

from kernelmeans._numbers import NOTHING, number, score
from kernelmeans._text import counted
from kernelmeans.report import svg
from kernelmeans.report.elements import Found, by_cluster, chip, colored, remark, sampled, terms
from kernelmeans.report.fits import kinds_held
from kernelmeans.report.html import Html, element, joined, named, table
from kernelmeans.report.searches import answer
from kernelmeans.report.words import percent

# Smaller sizes of the critical power would stretch the axis over many decades.
_LEAST_MARKED = 1e-3
# Most kernels in the table of weights.
_MOST_KERNELS = 24
_SETTINGS = {
    "kernel": "Kernel",
    "gamma": "Width, gamma",
    "n_neighbors": "Neighbours of a row",
    "density": "Exponent of the density",
    "t": "Time of the heat",
    "pieces": "Pieces of the graph",
}


def _certainty(found: Found) -> Html | None:
    """How clearly rows belong to their cluster."""
    if found["certainty"] is None:
        return None

    def cells(one: Found) -> list[Any]:
        if (known := one["certainty"]) is None:
            return []
        says = f"Margins from 0 to 1, median {score(known['median'])}"
        second = chip(found["clusters"][known["second"]])
        return [
            colored(one, svg.histogram(says, known["histogram"])),
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
    note = remark(
        "The margin of a row is 1 minus its distance to its own centroid over that to the second: "
        "0 on the border of two clusters, 1 on the centroid. A row is near the border if the "
        "second centroid is farther by less than 10 %. The second choice is the cluster that is "
        "the second nearest of most rows, with their fraction.",
        sampled(found["certainty"]["rows"], found["rows"] - found["outliers"]),
    )
    return joined([by_cluster(found, "First against second choice", columns, cells), note])


def _silhouettes(found: Found) -> Html | None:
    """How much nearer rows are to their cluster than to the next one."""
    if found["silhouettes"] is None:
        return None

    def cells(one: Found) -> list[Any]:
        if (known := one["silhouette"]) is None:
            return []
        says = f"Silhouettes from -1 to 1, mean {score(known['mean'])}"
        shape = colored(one, svg.quantiles(says, known["quantiles"]))
        return [shape, score(known["mean"]), percent(known["below_zero"])]

    columns = {"Silhouettes, \u22121\u00a0to\u00a01": "g", "Mean": "n", "Below 0": "n"}
    note = remark(
        f"The mean of all is {score(found['silhouettes']['mean'])}. A silhouette compares the mean "
        "distance to the rows of the own cluster with that to the next cluster, in the feature "
        "space of the kernel; below 0 the next one is nearer. It shows one clustering, and is no "
        "criterion for the kernel or the number of clusters.",
        sampled(found["silhouettes"]["rows"], found["rows"] - found["outliers"]),
    )
    return joined([by_cluster(found, "Silhouettes in the feature space", columns, cells), note])


def stability(found: Found) -> Html | None:
    """What a search has found."""
    if (known := found["stability"]) is None:
        return None

    def cells(one: Found, is_chosen: bool) -> list[Any]:
        others = ", ".join(f"{name} {value}" for name, value in one["others"].items())
        count, stable = one["clusters"], one["stability"]
        return [
            element("strong", f"{count}, chosen") if is_chosen else count,
            named(others) if others else NOTHING,
            svg.bar(f"Stability {score(stable)}", max(stable or 0.0, 0.0)),
            score(stable),
            score(one["smallest_jaccard"]),
            "yes" if one["found_again"] else "no",
        ]

    head = ["Clusters", "With", "Stability", "Value", "Least Jaccard", "All found again"]
    rows = [cells(one, row == known["chosen"]) for row, one in enumerate(known["candidates"])]
    note = remark(
        "A cluster is found again as far as it and its best match in models of halves of the rows "
        "overlap: the mean Jaccard index."
    )
    return joined(
        [element("p", answer(known)), table("Candidates of the search", head, rows, "ttgnnt"), note]
    )


def _fit(found: Found) -> Html:
    """How the fit went."""
    known = found["fit"]
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
    note = remark(
        f"The fit took {counted(known['steps'], 'step')}, those of any swap moves included. Soft "
        "steps anneal the power. Hard steps and swap moves end the fit, in the shade; many swap "
        "moves that were tried together are one dot."
    )
    settled = known | known.get("graph", {})
    pairs = {title: settled.get(name) for name, title in _SETTINGS.items()}
    pairs = {title: value for title, value in pairs.items() if value is not None}
    pairs["How the kernel was held"] = ", ".join(kinds_held(known["approximation"]))
    pairs |= {"Restarts": known["restarts"], "Cost": known["cost"]}
    pair = element("div", *charts, class_="pair")
    return joined([pair, note, _weights(known.get("kernels")), terms(pairs.items())])


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
        kernel = one["kernel"] if one["factor"] else "constant"
        rows.append([named(one["name"]), named(kernel), percent(one["weight"]), bar])
    return table("Kernel weights", ["View", "Kernel", "Of all", "Weight"], rows, "ttng")


#: Identifier, title and maker of each section.
TECHNICAL: dict[str, tuple[str, Callable[[Found], Html | None]]] = {
    "certainty": ("Certainty", _certainty),
    "silhouettes": ("Silhouettes", _silhouettes),
    "stability": ("Stability", stability),
    "fit": ("How it was fitted", _fit),
}
