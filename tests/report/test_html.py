import pytest

from kernelmeans.report.html import Html, element, named, table


def test_texts_and_attributes_are_escaped():
    made = element("p", '<script>"&', class_="a", aria_label="\"><img onerror='x'>")
    assert made == (
        '<p class="a" aria-label="&quot;&gt;&lt;img onerror=&#x27;x&#x27;&gt;">'
        "&lt;script&gt;&quot;&amp;</p>"
    )


def test_markup_stays_as_it_is_and_none_is_nothing():
    assert element("p", element("b", "x"), None, Html("&lt;"), id=None) == "<p><b>x</b>&lt;</p>"


@pytest.mark.parametrize("text", ["a\x00b", "a\x1bb", "a\ud800b", "a\uffffb", "a\x85b"])
def test_characters_that_html_does_not_have_are_replaced(text):
    assert element("p", text) == "<p>a\ufffdb</p>"


def test_names_are_short_and_do_not_turn_the_text_around_them():
    made = named("\u202e" + 200 * "x")
    assert made.startswith('<bdi class="long">\u202e')
    assert made.endswith("</bdi>")
    assert len(made) < 110


def test_tables_have_headers_of_columns_and_rows():
    made = table("Numbers", ["a", "b"], [["x", 1], ["y", 2]], "tn")
    assert made.count('scope="col"') == 2
    assert made.count('scope="row"') == 2
    assert "<caption>Numbers</caption>" in made
    with pytest.raises(ValueError, match="zip"):
        table("Numbers", ["a", "b"], [["x"]], "tn")
