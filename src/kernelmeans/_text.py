"""Text that people read in little room."""

from collections.abc import Collection, Sequence
from difflib import get_close_matches
from itertools import islice


def shortened(name: str, most: int) -> str:
    """Cut out of the middle of a long name: the kernels of a family differ at the end.

    Examples
    --------
    >>> from kernelmeans._text import shortened
    >>> shortened("a very long name 12", 12)
    'a very…me 12'
    """
    return name if len(name) <= most else f"{name[: most - 6]}…{name[-5:]}"


def bounded(text: str, most: int = 2000) -> str:
    r"""Put a message on one line, and cut the middle out of a very long one: remedies end it.

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
    """Return a number of things, whose plural ends in s.

    Examples
    --------
    >>> from kernelmeans._text import counted
    >>> counted(1, "row"), counted(2, "row")
    ('1 row', '2 rows')
    """
    return f"{count} {one}{'s' * (count != 1)}"


def listed(names: Sequence[str], most: int = 10) -> str:
    """Return the first names, quoted, and how many more there are.

    Examples
    --------
    >>> from kernelmeans._text import listed
    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    text = ", ".join(repr(shortened(name, 100)) for name in names[:most])
    return text if len(names) <= most else f"{text} and {len(names) - most} more"


def meant(name: str, known: Collection[str], what: str) -> str:
    """Say which known name is like an unknown one, or which there are.

    Examples
    --------
    >>> from kernelmeans._text import meant
    >>> meant("lenght", ["length", "mass"], "its columns")
    "did you mean 'length'?"
    >>> meant("x", ["length", "mass"], "its columns")
    "its columns are 'length', 'mass'"
    """
    # Comparing takes time: of names without end, and of very many, only a part is looked at.
    alike = [candidate for candidate in islice(known, 5000) if len(candidate) <= 100]
    close = get_close_matches(name[:100], alike, n=1)
    return f"did you mean {close[0]!r}?" if close else f"{what} are {listed(list(known))}"
