"""Links of the built site lead somewhere, and its pictures have a text."""

from functools import cache
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

import pytest

from site_pages import PAGES, SITE, Page

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PAGES, reason="the site is not built: see CONTRIBUTING.md"),
]


@cache
def page_of(path):
    return Page(path.read_text("utf-8"))


def broken_links(page, path):
    """Links to files that are not there, or to places that their page does not have."""
    for link in page.links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        anchor = unquote(parts.fragment)
        if not target.is_file() or (anchor and anchor not in page_of(target).anchors):
            yield link


def unnamed(page):
    """Pictures without a text, or with a file's name as one.

    The logo stands beside its name, and a small picture of the gallery beside its title.
    """
    for picture in page.pictures:
        text = picture.get("alt")
        thumbnail = text == "" and picture["src"].endswith("_thumb.png")
        decoration = thumbnail or "logo__image" in picture.get("class", "")
        if not decoration and (not text or PurePosixPath(text).suffix in (".png", ".svg")):
            yield picture["src"]


@pytest.mark.parametrize("name", PAGES)
def test_links_and_pictures(name):
    page = page_of(SITE / name)
    assert len(page.links) > 10
    assert sorted(broken_links(page, SITE / name)) == []
    assert sorted(unnamed(page)) == []


def test_the_checks_can_fail(tmp_path):
    path = tmp_path / "page.html"
    path.write_text(
        "<a id='top' href='#top'><a href='#no'><a href='no.html'><img src='a.png'>"
        "<img src='b.png' alt=''><img src='c_thumb.png' alt=''><img src='d_thumb.png'>"
    )
    page = page_of(path)
    broken = ["#no", "a.png", "b.png", "c_thumb.png", "d_thumb.png", "no.html"]
    assert sorted(broken_links(page, path)) == broken
    assert list(unnamed(page)) == ["a.png", "b.png", "d_thumb.png"]
