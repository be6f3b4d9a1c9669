"""The page: its head, its style, and the sections in their order."""

from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any

import kernelmeans
from kernelmeans._numbers import finite
from kernelmeans.plotting.palette import COLORS
from kernelmeans.report.html import Html, element, joined
from kernelmeans.report.searches import found_by
from kernelmeans.report.sections import sections
from kernelmeans.report.technical import TECHNICAL, stability
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
    items = [element("li", element("a", title, href=f"#{name}")) for name, title in first]
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
    shown = "aggregates alone" if found["aggregates_only"] else "aggregates and single rows"
    main = element("main", *body.values(), details)
    version = found["again"]["versions"]["kernelmeans"]
    return _document(found["title"], [verdict(found)], contents, main, version, shown)


def search_page(search: Any, title: str, advice: str) -> Html:
    """The page of a search that has chosen no clusters.

    Parameters
    ----------
    search : ClusterSearch
        The search.
    title : str
        The title of the page.
    advice : str
        What was tried, and what to try next.

    Returns
    -------
    Html
        A whole document.
    """
    scores = stability({"stability": finite(found_by(search))})
    main = element("main", element("section", element("h2", "Stability"), element("div", scores)))
    lead = "No clusters that would be found again.", f"{advice}."
    return _document(title, lead, None, main, kernelmeans.__version__, "aggregates alone")


def _document(
    title: str, lead: Iterable[str], contents: Html | None, main: Html, version: str, shown: str
) -> Html:
    head = element(
        "header",
        element("p", "Cluster report", class_="eyebrow"),
        element("h1", element("bdi", title)),
        *[element("p", text, class_="lead") for text in lead],
        contents,
    )
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
                    element("title", title),
                    element("style", Html(_style())),
                ),
                element("body", head, main, foot),
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
