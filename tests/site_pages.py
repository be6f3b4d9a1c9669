"""The pages of the site as it was built last, and what they refer to."""

from html.parser import HTMLParser
from pathlib import Path

SITE = Path(__file__).parents[1] / "build" / "site"
#: Fragments of pages, which Sphinx or an extension puts into others, are none.
PAGES = sorted(
    page.relative_to(SITE).as_posix()
    for page in SITE.rglob("*.html")
    if not page.is_relative_to(SITE / "_static")
)


class Page(HTMLParser):
    """Anchors, links and pictures of a page."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.pictures = set(), set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.anchors.add(found.get("id"))
        self.links |= {found.get("href"), found.get("src")} - {None}
        if tag == "img":
            self.pictures.append(found)
