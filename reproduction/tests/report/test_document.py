"""The written report: complete, whole in one page, and never half there."""

import base64
import json
import re
from html.parser import HTMLParser

import pytest
from matplotlib.figure import Figure

from kernelmeans_paper.report import Entry, Picture, Section, Table, new_figure, write_document

pytestmark = pytest.mark.slow

ODD = "<script>alert('a & b')</script> \"quoted\" {{ 7 * 7 }} {% raw %}"
PROVENANCE = {"command": "paper all --quick", "versions": {"numpy": "2.0", "scipy": "1.15"}}
#: Elements that are never closed.
VOID = {"meta", "img", "br", "hr", "link", "input"}


class Page(HTMLParser):
    """Elements with their attributes, and the text of each; elements must be closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        assert len(dict(attrs)) == len(attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if data.strip():
            self.texts.append((self.open[-1], data))

    def attributes(self, name):
        return [attributes[name] for _, attributes in self.elements if name in attributes]

    def inside(self, tag):
        return [text for found, text in self.texts if found == tag]


def drawn(value):
    return new_figure(lambda axes: axes[0, 0].plot([0, value]), width=2, height=1)


def sections(first=1.0):
    small = Table("small", "A small table", ("", "nmi"), [("Yale", [Entry(first, 0.5)])])
    other = Table("other", "Another one", ("", "ari"), [("Yale", [Entry(0.25)])], notes=["Note."])
    return [
        Section(
            "one",
            "The first",
            ["A paragraph.", "And another."],
            [small, other],
            [Picture("line", "A line, drawn", drawn(first)), Picture("two", "It again", drawn(2))],
        ),
        Section("empty", "Nothing in it"),
        Section("three", "The third", pictures=[Picture("three", "A third line", drawn(3))]),
    ]


def files(folder):
    """Content of all files, those with hidden names too."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    write_document(folder, "A report", sections(), PROVENANCE)
    return folder


@pytest.fixture(scope="module")
def page(folder):
    return Page((folder / "index.html").read_text(encoding="utf-8"))


def test_all_files_are_there_and_no_others(tmp_path):
    found = write_document(tmp_path / "new" / "folder", "A report", sections(), PROVENANCE)
    expected = {"index.html", "results.md", "run.json"}
    for name in ("small", "other"):
        expected |= {f"tables/{name}.{suffix}" for suffix in ("md", "tex", "json")}
    for name in ("line", "two", "three"):
        expected |= {f"figures/{name}.{suffix}" for suffix in ("png", "svg")}
    written = files(tmp_path / "new" / "folder")
    assert set(written) == expected
    assert all(written.values())
    names = [path.relative_to(tmp_path / "new" / "folder").as_posix() for path in found]
    assert sorted(names) == sorted(expected)


def test_tables_are_what_they_write(folder):
    for table in sections()[0].tables:
        stem = folder / "tables" / table.name
        assert stem.with_suffix(".md").read_text() == table.markdown()
        assert stem.with_suffix(".tex").read_text() == table.latex()
        assert stem.with_suffix(".json").read_text() == table.json()


def test_provenance_is_kept_as_it_is(folder):
    assert json.loads((folder / "run.json").read_text()) == PROVENANCE
    notes = (folder / "results.md").read_text().split("## How it was made")[1]
    assert notes == "\n\n- command: paper all --quick\n- versions: numpy 2.0, scipy 1.15\n"


def test_the_page_says_how_it_was_made(page):
    assert page.inside("dt") == ["command", "versions"]
    assert page.inside("dd") == ["paper all --quick", "numpy 2.0, scipy 1.15"]


def test_the_page_has_every_text_and_caption(page):
    assert page.inside("h1") == page.inside("title") == ["A report"]
    assert page.inside("h2") == ["The first", "Nothing in it", "The third", "How it was made"]
    assert page.inside("p") == ["A paragraph.", "And another.", "Note."]
    assert page.inside("figcaption") == ["A line, drawn", "It again", "A third line"]
    assert page.inside("caption") == ["A small table", "Another one"]
    assert page.attributes("alt") == page.inside("figcaption")


def test_the_page_has_the_tables(folder):
    text = (folder / "index.html").read_text()
    for table in sections()[0].tables:
        assert table.html() in text


def test_the_page_needs_no_other_file(folder, page):
    text = (folder / "index.html").read_text()
    assert "http" not in text
    assert "url(" not in text
    assert "@import" not in text
    assert {tag for tag, _ in page.elements}.isdisjoint({"script", "link", "iframe", "object"})
    assert all(address.startswith("data:image/png;base64,") for address in page.attributes("src"))
    assert all(address.startswith("#") for address in page.attributes("href"))


def test_the_pages_pictures_are_the_files(folder, page):
    inside = [base64.b64decode(a.split(",")[1], validate=True) for a in page.attributes("src")]
    assert inside == [(folder / f"figures/{n}.png").read_bytes() for n in ("line", "two", "three")]


def test_ids_are_unique_and_every_link_leads_to_one(page):
    ids = page.attributes("id")
    assert ids == ["one", "empty", "three", "made"]
    assert page.attributes("href") == [f"#{name}" for name in ids]


def test_the_page_says_its_language_and_character_set(page):
    assert page.elements[0] == ("html", {"lang": "en"})
    assert ("meta", {"charset": "utf-8"}) in page.elements


def test_odd_text_is_text_everywhere(tmp_path):
    section = Section(
        "odd",
        ODD,
        [ODD],
        [Table("t", ODD, ("", ODD), [(ODD, [Entry(ODD)])], notes=[ODD])],
        [Picture("p", ODD, drawn(1))],
    )
    write_document(tmp_path, ODD, [section], {ODD: ODD, "nested": {ODD: ODD}})
    page = Page((tmp_path / "index.html").read_text())
    assert "script" not in {tag for tag, _ in page.elements}
    for tag, count in [("title", 1), ("h1", 1), ("h2", 1), ("a", 1), ("p", 2), ("dt", 1)]:
        assert page.inside(tag).count(ODD) == count
    for tag, count in [("figcaption", 1), ("caption", 1), ("th", 2), ("td", 1), ("dd", 1)]:
        assert page.inside(tag).count(ODD) == count
    assert page.inside("dd")[1] == f"{ODD} {ODD}"
    assert page.attributes("alt") == [ODD]
    # The rest of the attributes are ours.
    assert page.attributes("onclick") == []


def test_other_letters_survive(tmp_path):
    write_document(tmp_path, "κ ≈ 30, s → -∞", [Section("a", "é", ["ü"])], {"who": "ø"})
    page = Page((tmp_path / "index.html").read_bytes().decode("utf-8"))
    assert page.inside("h1") == ["κ ≈ 30, s → -∞"]
    assert (tmp_path / "results.md").read_bytes().decode("utf-8").startswith("# κ ≈ 30, s → -∞\n")
    assert json.loads((tmp_path / "run.json").read_text()) == {"who": "ø"}


def test_markdown_links_to_files_that_are_there(folder):
    text = (folder / "results.md").read_text()
    links = re.findall(r"!\[.*?\]\((.*?)\)", text)
    assert links == ["figures/line.png", "figures/two.png", "figures/three.png"]
    assert all((folder / link).is_file() for link in links)


def test_markdown_has_everything_in_order(folder):
    text = (folder / "results.md").read_text()
    small, other = sections()[0].tables
    parts = [
        "# A report\n",
        "## The first\n",
        "A paragraph.\n\nAnd another.\n",
        "*A line, drawn*\n",
        "*It again*\n",
        small.markdown(),
        other.markdown(),
        "## Nothing in it\n",
        "## The third\n",
        "*A third line*\n",
        "## How it was made\n",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_the_same_report_is_the_same_bytes(folder, tmp_path):
    write_document(tmp_path, "A report", sections(), PROVENANCE)
    assert files(tmp_path) == files(folder)


def test_a_later_report_replaces_files_of_the_same_names_only(tmp_path):
    write_document(tmp_path, "A report", sections(), PROVENANCE)
    before = files(tmp_path)
    write_document(tmp_path, "Another", sections(0.125)[:1], PROVENANCE)
    after = files(tmp_path)
    assert set(after) == set(before)
    changed = {name for name in before if before[name] != after[name]}
    assert {"index.html", "results.md", "tables/small.tex", "figures/line.svg"} <= changed
    assert {"figures/three.png", "tables/other.md", "run.json"}.isdisjoint(changed)


def failing(kind):
    class Failing(Figure):
        def savefig(self, file, *, format, **settings):
            file.write(b"half")
            if format == kind:
                raise RuntimeError("a figure that cannot be drawn")

    return Failing()


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_a_figure_that_fails_leaves_the_old_report(tmp_path, kind):
    write_document(tmp_path, "A report", sections(), PROVENANCE)
    before = files(tmp_path)
    bad = Section("bad", "Bad", pictures=[Picture("bad", "Bad", failing(kind))])
    with pytest.raises(RuntimeError, match="cannot be drawn"):
        write_document(tmp_path, "Another", [*sections(0.125), bad], PROVENANCE)
    assert files(tmp_path) == before


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_a_figure_that_fails_leaves_nothing_of_a_first_report(tmp_path, kind):
    bad = Section("bad", "Bad", pictures=[Picture("bad", "Bad", failing(kind))])
    with pytest.raises(RuntimeError, match="cannot be drawn"):
        write_document(tmp_path / "out", "Another", [*sections(), bad], PROVENANCE)
    assert files(tmp_path) == {}


def test_a_number_that_is_none_leaves_nothing(tmp_path):
    table = Table("t", "", ("", "x"), [("r", [Entry(float("nan"))])])
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_document(tmp_path / "out", "A report", [Section("a", "A", tables=[table])], {})
    assert files(tmp_path) == {}


def test_a_file_where_the_folder_should_be_is_an_error_with_its_name(tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(OSError, match="out"):
        write_document(tmp_path / "out", "A report", sections()[1:2], PROVENANCE)
    assert files(tmp_path) == {"out": b"mine"}


def test_two_pictures_or_tables_of_one_name_are_refused(tmp_path):
    for part in (
        {"pictures": [Picture("same", "", drawn(1))]},
        {"tables": [Table("same", "", ("",), ())]},
    ):
        sections = [Section(name, name, **part) for name in "ab"]
        with pytest.raises(ValueError, match="'same'"):
            write_document(tmp_path, "A report", sections, {})
    assert files(tmp_path) == {}


def test_a_name_with_a_dot_keeps_it(tmp_path):
    pictures = [Picture("s-1.5", "", drawn(1)), Picture("s-1.7", "", drawn(2))]
    write_document(tmp_path, "A report", [Section("a", "A", pictures=pictures)], {})
    assert {name for name in files(tmp_path) if name.startswith("figures/s-1.")} == {
        f"figures/s-{number}.{kind}" for number in ("1.5", "1.7") for kind in ("png", "svg")
    }
