"""Reports in a real browser: Chromium of the system, without a window."""

import pytest

pytestmark = pytest.mark.slow
axe_api = pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
)

# What reaches beyond the window, or hides a part of itself that one would have to scroll to.
OVERFLOWING = """() => [...document.querySelectorAll('body *')]
  .filter(one => !one.closest('caption') && !(one.closest('svg') && one.tagName != 'svg'))
  .filter(one => one.getBoundingClientRect().right > document.documentElement.clientWidth + 1
    || (one.clientWidth && one.scrollWidth > one.clientWidth + 1
        && getComputedStyle(one).overflowX != 'visible'))
  .map(one => one.outerHTML.slice(0, 200))"""
# Words that fit, but whose letters are on two lines.
BROKEN = """() => {
  const found = [], range = document.createRange();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    if (text.parentElement.closest('caption, svg, pre, .long, td.t')) continue;
    for (const word of text.data.matchAll(/[\\p{Script=Latin}\\d]{2,12}/gu)) {
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      const lines = [...range.getClientRects()].filter(one => one.width);
      if (new Set(lines.map(one => Math.round(one.top))).size > 1) found.push(word[0]);
    }
  }
  return found;
}"""
UNNAMED = """() => [...document.querySelectorAll('svg, img')]
  .filter(one => one.getAttribute('role') != 'img' || !one.getAttribute('aria-label'))
  .map(one => one.outerHTML.slice(0, 200))"""


@pytest.fixture
def opened(browser, report, tmp_path):
    """Open the report at a width, and note what the browser complains of."""
    path = tmp_path / "report.html"
    report.write_html(path)
    pages = []

    def open_at(width, **more):
        page = browser.new_page(viewport={"width": width, "height": 900}, **more)
        pages.append(page)
        page.complaints = []
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("request", lambda request: page.complaints.append(request.url))
        page.goto(path.as_uri())
        assert page.complaints.pop(0) == path.as_uri()
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        return page

    yield open_at
    for page in pages:
        page.close()


@pytest.mark.parametrize(("width", "scheme"), [(380, "light"), (1400, "dark")])
def test_nothing_overflows_nothing_is_fetched_and_axe_is_content(opened, width, scheme):
    page = opened(width, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(OVERFLOWING) == []
    assert page.evaluate(BROKEN) == []
    found = axe_api.Axe().run(page).response
    assert len(found["passes"]) > 10
    violations = [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]]
    assert violations == []
    assert page.complaints == []


def test_pictures_are_named_and_names_are_texts(opened):
    page = opened(1400)
    assert page.locator("svg").count() > 3
    assert page.evaluate(UNNAMED) == []
    assert page.locator("script, img").count() == 0


def test_dark_pages_are_dark_and_the_print_is_not(opened):
    page = opened(1400, color_scheme="dark")
    lightness = "[...getComputedStyle(document.body).backgroundColor.matchAll(/\\d+/g)].map(Number)"
    assert max(page.evaluate(lightness)[:3]) < 60
    ink = "[...getComputedStyle(document.body).color.matchAll(/\\d+/g)].map(Number)"
    page.emulate_media(media="print")
    assert max(page.evaluate(ink)[:3]) < 60
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_what_is_for_specialists_is_closed_on_a_screen_and_open_in_print(opened):
    page = opened(1400)
    page.evaluate("document.querySelector('details').open = false")
    assert not page.locator("#fit").is_visible()
    page.emulate_media(media="print")
    assert page.locator("#fit").is_visible()


def test_the_checks_can_fail(browser):
    page = browser.new_page(viewport={"width": 380, "height": 900})
    page.set_content("<p style='width:500px'>wide</p><svg width='9'></svg><img alt=''>")
    assert page.evaluate(BROKEN) == []
    broken = "<p style='width:1em;overflow-wrap:anywhere'>whole words</p>"
    page.evaluate(
        "text => document.body.append(document.createRange().createContextualFragment(text))",
        broken,
    )
    assert page.evaluate(BROKEN) == ["whole", "words"]
    assert len(page.evaluate(OVERFLOWING)) == 1
    assert len(page.evaluate(UNNAMED)) == 2
    assert axe_api.Axe().run(page).response["violations"]
    page.close()
