"""Tables against what they should look like, letter by letter."""

import json
import math
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelmeans_paper.report import Entry, Table

SMALL = Table(
    "single",
    "Mean NMI",
    ("data", "ours", "theirs"),
    [
        (
            "Yale",
            [
                Entry(0.61234, 0.5921, rank=1.0, best=True),
                Entry(0.5, 0.5199, "+", 2.5, tolerance=0.01),
            ],
        ),
        ("Lung", [Entry("not run"), Entry(None)]),
        ("Steps", [Entry(12, digits=0), Entry(3.14159, digits=2)]),
    ],
    notes=("A note.",),
)
#: What each format reads otherwise, in every place where text can stand.
ODD = "a_b & 5 % | {x} <y> $z$ #1 ~ ^ \\ ≈"
ODD_TABLE = Table("odd", ODD, ("", ODD), [(ODD, [Entry(ODD)])], notes=(ODD,))


def table_of(*entries, **settings):
    return Table("t", "c", ("", *map(str, range(len(entries)))), [("r", entries)], **settings)


def cells(text):
    """Texts of the cells of a Markdown row."""
    return [cell.strip() for cell in text.strip("|").split("|")]


class Cells(HTMLParser):
    """Texts of an HTML table by the innermost element that they are in, and its open elements."""

    def __init__(self, page):
        super().__init__()
        self.open, self.texts = [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if data.strip():
            self.texts.append((self.open[-1], data))


def test_markdown_to_the_letter():
    assert SMALL.markdown() == (
        "**Mean NMI**\n"
        "\n"
        "| data | ours | theirs |\n"
        "|---|---:|---:|\n"
        "| Yale | **0.6123 (1)** | 0.5000+ (2.5) |\n"
        "| *paper* | 0.5921 | 0.5199 |\n"
        "| *difference* | +0.0202 | -0.0199 |\n"
        "| Lung | not run |  |\n"
        "| Steps | 12 | 3.14 |\n"
        "\n"
        "A note.\n"
    )


def test_latex_to_the_letter():
    assert SMALL.latex() == (
        "\\begin{table}\n"
        "\\centering\n"
        "\\caption{Mean NMI}\n"
        "\\label{tab:single}\n"
        "\\begin{tabular}{lrr}\n"
        "\\toprule\n"
        "data & ours & theirs \\\\\n"
        "\\midrule\n"
        "Yale & \\textbf{0.6123 (1)} & 0.5000+ (2.5) \\\\\n"
        "\\quad \\emph{paper} & 0.5921 & 0.5199 \\\\\n"
        "\\quad \\emph{difference} & +0.0202 & -0.0199 \\\\\n"
        "\\addlinespace\n"
        "Lung & not run &  \\\\\n"
        "\\addlinespace\n"
        "Steps & 12 & 3.14 \\\\\n"
        "\\bottomrule\n"
        "\\end{tabular}\n"
        "\\par\\smallskip\\footnotesize A note.\n"
        "\\end{table}\n"
    )


def test_html_to_the_letter():
    assert SMALL.html() == (
        "<table><caption>Mean NMI</caption>\n"
        "<thead><tr><th>data</th><th>ours</th><th>theirs</th></tr></thead>\n"
        "<tbody>\n"
        '<tr class="ours"><th>Yale</th><td><b>0.6123 (1)</b></td><td>0.5000+ (2.5)</td></tr>\n'
        '<tr class="paper"><th>paper</th><td>0.5921</td><td>0.5199</td></tr>\n'
        '<tr class="difference"><th>difference</th><td>+0.0202</td><td>-0.0199</td></tr>\n'
        '<tr class="ours"><th>Lung</th><td>not run</td><td></td></tr>\n'
        '<tr class="ours"><th>Steps</th><td>12</td><td>3.14</td></tr>\n'
        "</tbody></table>\n"
        '<p class="note">A note.</p>'
    )


def test_json_has_everything():
    content = json.loads(SMALL.json())
    written = {(cell.pop("row"), cell.pop("column")): cell for cell in content.pop("cells")}
    assert content == {"name": "single", "caption": "Mean NMI", "notes": ["A note."]}
    assert written["Yale", "theirs"] == {
        "value": 0.5,
        "printed": 0.5199,
        "difference": 0.5 - 0.5199,
        "mark": "+",
        "rank": 2.5,
        "best": False,
        "tolerance": 0.01,
    }
    assert written["Yale", "ours"]["best"] is True
    assert written["Lung", "ours"]["value"] == "not run"
    assert written["Lung", "theirs"]["value"] is None
    assert len(written) == 6


@given(
    value=st.floats(allow_nan=False, allow_infinity=False),
    printed=st.none() | st.floats(-1e9, 1e9),
    mark=st.text(max_size=20),
)
def test_json_round_trips_at_full_precision(value, printed, mark):
    [cell] = json.loads(table_of(Entry(value, printed, mark)).json())["cells"]
    assert cell["value"] == value
    assert math.copysign(1, cell["value"]) == math.copysign(1, value)
    assert (cell["printed"], cell["mark"]) == (printed, mark)
    assert cell["difference"] == (None if printed is None else value - printed)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_json_is_strict(value):
    with pytest.raises(ValueError, match="not JSON compliant"):
        table_of(Entry(value)).json()


def test_a_row_with_one_printed_value_has_the_papers_lines():
    lines = table_of(Entry(1.0), Entry(2.0, 1.5), Entry("failed", 0.5), Entry(None, 0.25)).lines()
    assert [(line.kind, [text for text, _ in line.texts]) for line in lines] == [
        ("ours", ["1.0000", "2.0000", "failed", ""]),
        ("paper", ["", "1.5000", "0.5000", "0.2500"]),
        ("difference", ["", "+0.5000", "", ""]),
    ]


def test_a_row_without_printed_values_has_one_line():
    assert [line.kind for line in table_of(Entry(1.0), Entry("x")).lines()] == ["ours"]


def test_latex_separates_rows_only_where_some_have_three_lines():
    plain = Table("t", "c", ("", "x"), [("a", [Entry(1.0)]), ("b", [Entry(2.0)])])
    assert "addlinespace" not in plain.latex()
    assert SMALL.latex().count("addlinespace") == len(SMALL.rows) - 1


def test_only_our_own_cells_are_bold():
    entry = Entry(1.0, 0.5, best=True)
    assert table_of(entry).markdown().count("**1.0000**") == 1
    assert table_of(entry, Entry(2.0, 0.5)).markdown().count("**") == 4  # the caption is, too
    assert table_of(entry).latex().count(r"\textbf{1.0000}") == 1
    assert table_of(entry).html().count("<b>") == table_of(entry).html().count("</b>") == 1


@pytest.mark.parametrize(
    ("entry", "digits", "text"),
    [
        (Entry(0.123456), 4, "0.1235"),
        (Entry(0.123456, digits=2), 4, "0.12"),
        (Entry(7, digits=0), 4, "7"),
        (Entry(7), 1, "7.0"),
        (Entry(-0.5), 1, "-0.5"),
        (Entry(0.5, mark="≈", rank=3.0), 1, "0.5≈ (3)"),
        (Entry(0.5, rank=2.5), 1, "0.5 (2.5)"),
        (Entry("0.60 ± 0.02", mark="+", rank=2.0), 1, "0.60 ± 0.02+ (2)"),
        (Entry("n/a"), 1, "n/a"),
        (Entry(None, mark="+", rank=1.0), 1, ""),
        (Entry(0.0), 1, "0.0"),
    ],
)
def test_what_a_cell_says(entry, digits, text):
    [line] = table_of(entry, digits=digits).lines()
    assert line.texts == ((text, False),)


def test_the_difference_is_taken_before_rounding():
    """0.12344 and 0.1235 print as 0.1234 and 0.1235, and are 0.00006 apart."""
    *_, apart = table_of(Entry(0.12344, 0.1235), digits=4).lines()
    assert apart.texts == (("-0.0001", False),)
    *_, apart = table_of(Entry(0.12346, 0.12354), digits=4).lines()
    assert apart.texts == (("-0.0001", False),)


def test_a_difference_of_nothing_has_no_minus_sign():
    *_, apart = table_of(Entry(0.59209, 0.5921), digits=4).lines()
    assert apart.texts == (("+0.0000", False),)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_wrong_number_of_cells_is_refused(count):
    with pytest.raises(
        ValueError, match=f"table 'name', row 'second': {count} cells for 2 columns"
    ):
        Table(
            "name",
            "",
            ("", "a", "b"),
            [("first", [Entry(1), Entry(2)]), ("second", [Entry(0)] * count)],
        )


def test_latex_reads_odd_text_as_text():
    shown = (
        r"a\_b \& 5 \% | \{x\} $<$y$>$ \$z\$ \#1 \textasciitilde{} \textasciicircum{} "
        r"\textbackslash{} $\approx$"
    )
    text = ODD_TABLE.latex()
    assert f"\\caption{{{shown}}}" in text
    assert f"\n{shown} & {shown} \\\\\n" in text
    assert f"\\footnotesize {shown}\n" in text
    assert ODD not in text


@pytest.mark.parametrize(
    ("heading", "written"),
    [
        ("nmi", "nmi"),
        ("a_b & 5 % ≈", r"a\_b \& 5 \% $\approx$"),
        ("Spectral again", "Spectral again"),
        ("Spectral as before", r"\shortstack[r]{Spectral as \\ before}"),
        ("more than 5 % of a_b & c", r"\shortstack[r]{more than 5 \% \\ of a\_b \& c}"),
    ],
)
def test_long_headings_take_several_lines_in_latex(heading, written):
    text = Table("t", "c", ("", heading), [("r", [Entry(1.0)])]).latex()
    assert f"\n & {written} \\\\\n\\midrule\n" in text


@given(st.text(st.characters(codec="ascii", exclude_categories=["C"])))
def test_latex_needs_no_more_escapes(text):
    """Undone one by one, the escapes give the text; nothing else in them is special."""
    written = table_of(Entry(text)).latex().split("r & ")[1].split(" \\\\\n\\bottomrule")[0]
    plain, rest = "", written
    undo = {
        r"\textbackslash{}": "\\",
        r"\textasciitilde{}": "~",
        r"\textasciicircum{}": "^",
        "$<$": "<",
        "$>$": ">",
    }
    while rest:
        found = next((code for code in undo if rest.startswith(code)), None)
        if found:
            plain, rest = plain + undo[found], rest[len(found) :]
        elif rest[0] == "\\":
            assert rest[1] in "&%$#_{}"
            plain, rest = plain + rest[1], rest[2:]
        else:
            assert rest[0] not in "&%$#_{}~^<>"
            plain, rest = plain + rest[0], rest[1:]
    assert plain == text


def test_html_reads_odd_text_as_text():
    parsed = Cells(ODD_TABLE.html())
    assert parsed.open == []
    assert parsed.texts == [(tag, ODD) for tag in ("caption", "th", "th", "td", "p")]


@given(st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"]), min_size=1))
def test_html_cells_are_their_text(text):
    parsed = Cells(table_of(Entry(text)).html())
    assert parsed.open == []
    assert [found for tag, found in parsed.texts if tag == "td"] == [text] * bool(text.strip())


def test_a_bar_does_not_divide_a_markdown_cell():
    rows = Table("t", "c", ("", "a|b"), [("x|y", [Entry("1|2", best=True)])]).markdown()
    head, _, body = rows.splitlines()[2:]
    assert head == r"|  | a\|b |"
    assert body == r"| x\|y | **1\|2** |"
    assert cells(head.replace(r"\|", "/")) == ["", "a/b"]


def test_every_line_of_a_table_has_all_its_columns():
    for text in SMALL.markdown().splitlines()[2:9]:
        assert len(cells(text)) == 3
    for text in SMALL.latex().splitlines():
        if text.endswith("\\\\"):
            assert text.count("&") == 2
