"""Markup in which every text is escaped unless it is markup already."""

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from kernelmeans._text import shortened

#: Most letters of a name from the data.
_LONGEST = 80
#: Letters of a word that fits the narrowest column.
_LONG = 12
# A name may be broken after these signs, but not before a digit: numbers stay whole.
_WORD_ENDS = re.compile(r"(?<=[_./])(?=[^\s\d_./])")
# Characters that HTML does not have, and halves of pairs, which UTF-8 does not have.
_NOT_HTML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def markup(content: Any) -> Html:
    """Escape a text; markup stays as it is, and None is nothing.

    Examples
    --------
    >>> from kernelmeans.report.html import markup
    >>> markup("<b> & co")
    '&lt;b&gt; &amp; co'
    """
    if isinstance(content, Html):
        return content
    return Html("" if content is None else escape(_NOT_HTML.sub("\ufffd", str(content))))


def element(tag: str, *content: Any, **attributes: Any) -> Html:
    """An element of HTML or SVG.

    Parameters
    ----------
    tag : str
        Its name.
    *content : object
        Texts, which are escaped, and markup.
    **attributes
        Texts and numbers; ``class_`` is class, ``aria_label`` is aria-label, and None is left out.

    Returns
    -------
    Html
        The element.

    Examples
    --------
    >>> from kernelmeans.report.html import element
    >>> element("p", "1 < 2", element("br"), class_="note")
    '<p class="note">1 &lt; 2<br></p>'
    """
    opening = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{markup(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    closing = "" if tag in ("br", "meta") else f"</{tag}>"
    return Html(f"<{tag}{opening}>{joined(content)}{closing}")


def joined(parts: Iterable[Any]) -> Html:
    """Several parts, one after the other."""
    return Html("".join(map(markup, parts)))


def named(text: Any) -> Html:
    """A name from the data: shortened, and apart from the text around it in any direction."""
    return broken(shortened(str(text), _LONGEST))


def broken(text: str) -> Html:
    """Text from the data, apart from what is around it, that is broken where words end.

    Long words may be broken anywhere. A table gives the others as much room as they need.

    Examples
    --------
    >>> from kernelmeans.report.html import broken
    >>> broken("net_income"), broken("unpronounceable")
    ('<bdi>net_<wbr>income</bdi>', '<bdi class="long">unpronounceable</bdi>')
    >>> broken("47.901847")
    '<bdi>47.901847</bdi>'
    """
    words = _WORD_ENDS.split(text)
    is_long = any(len(word) > _LONG for part in words for word in re.split(r"[\s-]", part))
    parts = Html("<wbr>".join(map(markup, words)))
    return element("bdi", parts, class_="long" if is_long else None)


def table(
    caption: str, head: Sequence[Any], rows: Iterable[Sequence[Any]], kinds: str, **attributes: Any
) -> Html:
    """A table whose columns and rows have headers.

    Parameters
    ----------
    caption : str
        What it holds, for those who do not see it.
    head : sequence
        The headers of the columns.
    rows : iterable of sequence
        The cells of each row, its header first.
    kinds : str
        A letter for each column: t for text, n for numbers, g for a graphic.
    **attributes
        Of the table.

    Returns
    -------
    Html
        The table.
    """
    columns = zip(head, kinds, strict=True)
    top = [element("th", cell, scope="col", class_=kind) for cell, kind in columns]
    body = [
        element(
            "tr",
            *[
                element("td" if place else "th", cell, scope=None if place else "row", class_=kind)
                for place, (cell, kind) in enumerate(zip(row, kinds, strict=True))
            ],
        )
        for row in rows
    ]
    return element(
        "table",
        element("caption", caption),
        element("thead", element("tr", *top)),
        element("tbody", *body),
        **attributes,
    )
