"""The page: its head, its style, and the sections in their order."""

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from kernelmeans.plotting.palette import COLORS
from kernelmeans.report.html import Html, element, joined
from kernelmeans.report.sections import sections
from kernelmeans.report.technical import TECHNICAL
from kernelmeans.report.words import verdict

#: Height of the page in a notebook, in pixels.
_HEIGHT = 720
_SPECIALISTS = "For specialists"


def page(found: Mapping[str, Any]) -> Html:
    """The page of a report.

    Parameters
    ----------
    found : mapping
        What it says: the dict of `ClusterReport.to_dict`.

    Returns
    -------
    Html
        A whole document.
    """
    made = sections(found)
    first = [(name, title) for name, title, _ in made if name not in TECHNICAL]
    first += [("specialists", _SPECIALISTS)]
    links = [element("a", title, href=f"#{name}") for name, title in first]
    items = [element("li", link) for link in links]
    contents = element("nav", element("ul", *items), aria_label="Contents")
    body = {
        name: element(
            "section",
            element("h2", title, id=f"{name}-title"),
            element("div", content),
            id=name,
            aria_labelledby=f"{name}-title",
        )
        for name, title, content in made
    }
    rest = [body.pop(name) for name in TECHNICAL if name in body]
    details = element("details", element("summary", _SPECIALISTS), *rest, id="specialists")
    head = element(
        "header",
        element("p", "Cluster report", class_="eyebrow"),
        element("h1", element("bdi", found["title"])),
        element("p", verdict(found), class_="lead"),
        contents,
    )
    version = found["again"]["versions"]["kernelmeans"]
    shown = "aggregates alone" if found["aggregates_only"] else "aggregates and single rows"
    foot = element("footer", f"Made by kernelmeans {version}. It holds {shown}.")
    return joined(
        [
            Html("<!doctype html>\n"),
            element(
                "html",
                element(
                    "head",
                    element("meta", charset="utf-8"),
                    element("meta", name="viewport", content="width=device-width, initial-scale=1"),
                    element("meta", name="color-scheme", content="light dark"),
                    element("title", found["title"]),
                    element("style", Html(_style())),
                ),
                element("body", head, element("main", *body.values(), details), foot),
                lang="en",
            ),
        ]
    )


def frame(document: Html) -> Html:
    """A page within another, whose style it neither takes nor changes."""
    return element(
        "iframe",
        srcdoc=str(document),
        title="Cluster report",
        style=f"width:100%;height:{_HEIGHT}px;border:0",
    )


def _style() -> str:
    """The style, with the colours of the clusters."""
    text = (files("kernelmeans.report") / "style.css").read_text("utf-8")
    colors = "".join(f".c{place}{{--own:{color}}}" for place, color in enumerate(COLORS))
    return f"{text}\n{colors}"
