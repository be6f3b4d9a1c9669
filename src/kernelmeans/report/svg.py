"""Charts as SVG in the page: their colours come from its style, and each says what it shows."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kernelmeans._numbers import number
from kernelmeans.plotting.palette import COLORS
from kernelmeans.report.html import Html, element, joined

#: Width and height of the map and of a chart of lines, in units of the drawing.
MAP = 640, 440
LINES = 400, 210
# Width and height of a letter on the map, as it is on a phone.
_LETTER = 15, 27
# Where a label may stand, in its own widths and heights; the first that is free counts.
_ASIDE = np.array([(0, 0), (0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1)])
# Height of a line of the tree, and width of a letter.
_LINE, _WIDE = 30, 9.6
# Room for the numbers beside a chart of lines: left, right, above and below.
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 14, 16, 34


def drawing(says: str, size: tuple[float, float], *parts: Any, **attributes: Any) -> Html:
    """A picture, and in words what it shows.

    Parameters
    ----------
    says : str
        Read aloud instead of the picture.
    size : tuple of float
        Width and height, in units of the drawing.
    *parts : Html
        What is drawn.
    **attributes
        Of the element.

    Returns
    -------
    Html
        The picture.
    """
    return element(
        "svg",
        element("title", says),
        *parts,
        viewBox=f"0 0 {size[0]:g} {size[1]:g}",
        role="img",
        aria_label=says,
        **attributes,
    )


def color(cluster: int) -> str:
    """The classes of a cluster's colour; grey for rows of no cluster (-1)."""
    return "none" if cluster < 0 else f"own c{cluster % len(COLORS)}"


def bar(says: str, fraction: float, marked: float | None = None) -> Html:
    """A bar that fills a fraction of the width, and a mark at another fraction."""
    parts = [element("rect", width=f"{100 * fraction:.1f}", height=10, class_="mark")]
    if marked is not None:
        parts.append(_stroke([(100 * marked, 0), (100 * marked, 10)], "tick"))
    return drawing(says, (100, 10), *parts, class_="bar", preserveAspectRatio="none")


def histogram(says: str, fractions: Sequence[float], others: Sequence[float] = ()) -> Html:
    """Columns from left to right, and the outline of others behind them.

    Both are fractions of their sum, so that small and large groups compare.
    """
    top = max([*fractions, *others, 1e-9])
    width = 100 / len(fractions)
    shape, outline = (
        "".join(f"V{24 - 23 * one / top:.1f}h{width:.4g}" for one in some)
        for some in (fractions, others)
    )
    parts = [element("path", d=f"M0 24{shape}V24z", class_="mark")]
    if outline:
        parts.append(element("path", d=f"M0 24{outline}V24", class_="outline"))
    return drawing(says, (100, 24), *parts, class_="spark", preserveAspectRatio="none")


def quantiles(says: str, values: Sequence[float]) -> Html:
    """Values from -1 to 1 in descending order as an area from a line at 0."""
    steps = np.linspace(0, 24, len(values))
    edge = "L".join(f"{50 + 50 * v:.1f} {y:.1f}" for v, y in zip(values, steps, strict=True))
    parts = [
        element("path", d=f"M50 0L{edge}L50 24z", class_="mark"),
        _stroke([(50, 0), (50, 24)], "line"),
    ]
    return drawing(says, (100, 24), *parts, class_="area", preserveAspectRatio="none")


def cell_map(
    says: str, cells: Sequence[Sequence[float]], labels: Sequence[tuple[str, float, float]]
) -> Html:
    """Marks at the places of cells, the first clusters behind, and the labels of the clusters.

    Parameters
    ----------
    says : str
        Read aloud.
    cells : sequence of (x, y, radius, cluster)
        Places in units of the drawing.
    labels : sequence of (text, x, y)
        What is written, and where.

    Returns
    -------
    Html
        The map.
    """
    groups: dict[int, list[str]] = {}
    for x, y, radius, cluster in sorted(cells, key=lambda cell: cell[3]):
        groups.setdefault(int(cluster), []).append(
            element("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=f"{radius:.1f}")
        )
    marks = [element("g", joined(g), class_=f"mark {color(c)}") for c, g in groups.items()]
    texts = [
        element("text", text, x=f"{x:.0f}", y=f"{y:.0f}", dy="0.35em") for text, x, y in labels
    ]
    return drawing(says, MAP, *marks, element("g", *texts, class_="names"), class_="map")


def tree(says: str, branches: Sequence[Any], labels: Sequence[tuple[int, str, str]]) -> Html:
    """A dendrogram that lies on its side, and the names of the clusters before it.

    Parameters
    ----------
    says : str
        Read aloud.
    branches : sequence of sequence of (x, y)
        The lines, as `kernelmeans.estimators.tree.ClusterTree.branches` has them.
    labels : sequence of (cluster, name, size)
        The clusters from top to bottom.

    Returns
    -------
    Html
        The tree.
    """
    longest = max(len(f"{name} {size}") for _, name, size in labels)
    left, right = _LINE + _WIDE * longest, MAP[0] - 4
    parts = [
        _stroke([(left + x * (right - left), (y + 0.5) * _LINE) for x, y in branch], "line")
        for branch in branches
    ]
    for place, (cluster, name, size) in enumerate(labels):
        y = (place + 0.5) * _LINE
        dot = element("circle", cx=f"{left - 12:.1f}", cy=f"{y:.1f}", r=6)
        parts.append(element("g", dot, class_=f"mark {color(cluster)}"))
        texts = element("tspan", name), element("tspan", f" {size}", class_="soft")
        parts.append(_text(joined(texts), left - 26, y, "end"))
    return drawing(says, (MAP[0], _LINE * len(labels)), *parts, class_="tree")


def free(
    labels: Sequence[tuple[str, float, float]], lone: Sequence[tuple[float, float, float]]
) -> list[tuple[str, float, float]]:
    """Labels at or beside their places on the map, as far as they do not cover each other.

    Parameters
    ----------
    labels : sequence of (text, x, y)
        The places to be near to.
    lone : sequence of (x, y, radius)
        Marks of clusters that have few, which are not covered if other places are free.

    Returns
    -------
    list of (text, x, y)
        The labels that have a place.
    """
    size, taken, kept = np.array(MAP), np.empty((0, 4)), []
    marks = np.array([(x, y, radius, radius) for x, y, radius in lone]).reshape(-1, 4)
    for text, x, y in labels:
        half = np.array([_LETTER[0] * max(2, len(text)) / 2, _LETTER[1] / 2])
        places = np.clip(np.array([x, y]) + 2 * half * _ASIDE, half, size - half)
        for boxes in (np.vstack([taken, marks]), taken):
            apart = np.abs(boxes[:, None, :2] - places) >= boxes[:, None, 2:] + half
            if (is_free := apart.any(axis=2).all(axis=0)).any():
                place = places[is_free.argmax()]
                kept.append((text, float(place[0]), float(place[1])))
                taken = np.vstack([taken, [*place, *half]])
                break
    return kept


def lines(
    says: str,
    values: Sequence[float | None],
    *,
    shaded: int,
    marked: float | None = None,
    log: bool = False,
) -> Html:
    """Values over steps from 1 on.

    Parameters
    ----------
    says : str
        Read aloud.
    values : sequence of float or None
        None are not drawn.
    shaded : int
        How many of the last steps have a shade.
    marked : float or None, default=None
        The place of a dashed line.
    log : bool, default=False
        Whether the axis is logarithmic.

    Returns
    -------
    Html
        The chart.
    """
    width, height = LINES
    right, bottom = width - _RIGHT, height - _BOTTOM
    known = [one for one in (*values, marked) if one is not None]
    low, high = min(known), max(known)
    scaled: Any = np.log10 if log else np.asarray
    ends = scaled([low, high]) + 0.0
    span = float(ends[1] - ends[0]) or 1.0

    def across(step: float) -> float:
        return float(_LEFT + (right - _LEFT) * (step - 0.5) / len(values))

    def down(value: float) -> float:
        return float(bottom - (bottom - _TOP) * (scaled(value) - ends[0]) / span)

    drawn = [(across(j + 1), down(one)) for j, one in enumerate(values) if one is not None]
    x = across(len(values) - shaded + 0.5)
    shade = {"x": x, "y": _TOP - 8, "width": max(0.0, right - x), "height": bottom - _TOP + 8}
    rounded = {name: f"{value:.1f}" for name, value in shade.items()}
    parts = [element("rect", **rounded, class_="shade")]
    parts += [_stroke([(_LEFT, bottom), (right, bottom)], "axis")]
    for value in dict.fromkeys((low, high)):
        parts.append(_text(number(value), _LEFT - 7, down(value), "end"))
    if marked is not None:
        parts.append(_stroke([(_LEFT, down(marked)), (right, down(marked))], "dashed"))
    if len(drawn) > 1:
        parts.append(_stroke(drawn, "curve"))
    parts += [element("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=2, class_="dot") for x, y in drawn]
    for step in dict.fromkeys((1, len(values))):
        parts.append(_text(str(step), across(step), bottom + 16, "middle"))
    return drawing(says, LINES, *parts, class_="chart")


def _stroke(places: Sequence[tuple[float, float]], kind: str) -> Html:
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    return element("path", d=path, class_=kind)


def _text(text: str, x: float, y: float, anchor: str) -> Html:
    place = {"x": f"{x:.1f}", "y": f"{y:.1f}", "dy": "0.35em"}
    return element("text", text, **place, text_anchor=anchor)
