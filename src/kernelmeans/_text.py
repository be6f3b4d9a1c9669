"""Short texts for messages."""

from collections.abc import Collection, Sequence
from difflib import get_close_matches
from itertools import islice


def shortened(name: str, most: int) -> str:
    """Cut the middle out of a long name, because the kernels of a family differ at the end.

    Examples
    --------
    >>> from kernelmeans._text import shortened
    >>> shortened("a very long name 12", 12)
    'a very…me 12'
    """
    return name if len(name) <= most else f"{name[: most - 6]}…{name[-5:]}"


def bounded(text: str, most: int = 2000) -> str:
    r"""Put a message on one line, and cut the middle out of a very long one, but not the remedy.

    Examples
    --------
    >>> from kernelmeans._text import bounded
    >>> bounded("a long, long message\n: shorten it", 24)
    'a long, long… shorten it'
    """
    if len(text) > most:
        half = most // 2
        text = f"{text[: most - half]}…{text[1 - half :]}"
    return " ".join(text.split())


def counted(count: int, one: str) -> str:
    """A number of things, with a plural in s.

    Examples
    --------
    >>> from kernelmeans._text import counted
    >>> counted(1, "row"), counted(2, "row")
    ('1 row', '2 rows')
    """
    return f"{count} {one}{'s' * (count != 1)}"


def listed(names: Sequence[str], most: int = 10) -> str:
    """The first names, quoted, and the number of others.

    Examples
    --------
    >>> from kernelmeans._text import listed
    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    text = ", ".join(repr(shortened(name, 100)) for name in names[:most])
    return text if len(names) <= most else f"{text} and {len(names) - most} more"


def meant(name: str, known: Collection[str], what: str) -> str:
    """Suggest a known name that is like an unknown one, or list the known names.

    Examples
    --------
    >>> from kernelmeans._text import meant
    >>> meant("lenght", ["length", "mass"], "its columns")
    "did you mean 'length'?"
    >>> meant("x", ["length", "mass"], "its columns")
    "its columns are 'length', 'mass'"
    """
    close = nearest(name, known)
    return f"did you mean {close!r}?" if close else f"{what} are {listed(list(known))}"


def nearest(name: str, known: Collection[str]) -> str | None:
    """The known name that is most like an unknown one, if any is.

    Examples
    --------
    >>> from kernelmeans._text import nearest
    >>> nearest("REVENUES", ["revenue", "mass"])
    'revenue'
    """
    # Only parts of long names, and of very many, because comparing takes time.
    folded = {one.casefold(): one for one in islice(known, 5000) if len(one) <= 100}
    close = get_close_matches(name[:100].casefold(), folded, n=1)
    return folded[close[0]] if close else None
