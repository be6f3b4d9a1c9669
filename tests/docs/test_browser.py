"""The built site in a browser: narrow and light, wide and dark."""

import pytest

from site_pages import PAGES, SITE

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PAGES, reason="the site is not built: see CONTRIBUTING.md"),
]
axe_api = pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
)

CONTRAST = {"runOnly": ["color-contrast"]}
# What reaches beyond the window, and is not inside of something that scrolls: not the whole page.
OVERFLOWING = """() => {
  const title = document.querySelector('h1');
  const scrolls = one => ['auto', 'scroll'].includes(getComputedStyle(one).overflowX)
    && !one.contains(title);
  const inside = one => one && one != document.body && (scrolls(one) || inside(one.parentElement));
  return [...document.querySelectorAll('body *')]
    .filter(one => one.checkVisibility() && !one.closest('dialog'))
    .filter(one => one.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
    .filter(one => !inside(one.parentElement))
    .map(one => one.outerHTML.slice(0, 200));
}"""


@pytest.mark.parametrize("name", PAGES)
def test_nothing_overflows_or_complains(browser, name):
    page = browser.new_page(viewport={"width": 380, "height": 900})
    complaints = []
    page.on("console", lambda it: it.type in ("error", "warning") and complaints.append(it.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("requestfailed", lambda request: complaints.append(request.url))
    page.goto((SITE / name).as_uri())
    for width, scheme in [(380, "light"), (1400, "dark")]:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(f"document.documentElement.dataset.theme == '{scheme}'")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(OVERFLOWING) == []
    assert complaints == []
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "name",
    [
        "index",
        "guide/data",
        "command_line",
        "reference/index",
        "gallery/index",
        "gallery/plot_disk",
    ],
)
def test_texts_stand_out(browser, name, scheme):
    page = browser.new_page(color_scheme=scheme)
    page.goto((SITE / f"{name}.html").as_uri())
    found = axe_api.Axe().run(page, options=CONTRAST).response
    assert [one["nodes"][0]["html"] for one in found["violations"]] == []
    assert found["passes"]
    page.close()


def test_the_checks_can_fail(browser):
    page = browser.new_page(viewport={"width": 380, "height": 900})
    wide = "<p style='width:500px'>wide</p>"
    page.set_content(f"<h1>title</h1>{wide}<div style='overflow-x:auto'>{wide}</div>")
    assert len(page.evaluate(OVERFLOWING)) == 1
    page.set_content("<p style='color:#ddd'>pale</p>")
    assert axe_api.Axe().run(page, options=CONTRAST).response["violations"]
    page.close()
