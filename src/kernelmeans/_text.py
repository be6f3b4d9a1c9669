"""Short texts for messages."""

import re
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice

from kernelmeans._dialect import option

#: Names that the field has for ours, in lower case and without separators.
SYNONYMS: Mapping[str, str] = {
    **dict.fromkeys(["gaussian", "squaredexponential", "radialbasisfunction"], "rbf"),
    **dict.fromkeys(["knn", "nearestneighbors", "nearestneighbours", "kneighbors"], "heat"),
    **dict.fromkeys(["diffusion", "spectral", "selftuning"], "heat"),
    **dict.fromkeys(["adjacency", "affinity", "connectivities", "edges"], "graph"),
    **dict.fromkeys(["dot", "dotproduct", "innerproduct"], "linear"),
    **dict.fromkeys(["nystroem", "nystrom", "anchors"], "landmarks"),
    **dict.fromkeys(["fourier", "randomfourierfeatures", "rbfsampler"], "rff"),
    **dict.fromkeys(["exact", "full", "none"], "None"),
    **dict.fromkeys(["standard", "variance"], "unit-variance"),
    "polynomial": "poly",
    "angular": "geodesic",
    **dict.fromkeys(["mahalanobis", "minkowski", "seuclidean", "haversine"], "precomputed"),
    **dict.fromkeys(["infinity", "linf", "maximum"], "chebyshev"),
    "pearson": "correlation",
    "taxicab": "manhattan",
    "auto": "rms",
    "forgy": "random",
    "range": "min-max",
    "gpu": "cuda",
}


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
    # Form feeds and others end a line too. Names may hold double blanks.
    return " ".join(filter(None, map(str.strip, text.splitlines())))


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
    return first([repr(shortened(name, 100)) for name in names], most)


def first(texts: Sequence[str], most: int = 10) -> str:
    """The first texts, and the number of others.

    Examples
    --------
    >>> from kernelmeans._text import first
    >>> first(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    more = f" and {len(texts) - most} more" * (len(texts) > most)
    return ", ".join(texts[:most]) + more


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
    """The known name that another name of the field stands for, or that is most like it, if any is.

    Examples
    --------
    >>> from kernelmeans._text import nearest
    >>> nearest("REVENUES", ["revenue", "mass"]), nearest("Gaussian", ["heat", "rbf"])
    ('revenue', 'rbf')
    """
    # Only parts of long names, and of very many, because comparing takes time.
    folded = {one.casefold(): one for one in islice(known, 5000) if len(one) <= 100}
    name = name[:100].casefold()
    synonym = SYNONYMS.get(re.sub(r"[\W_]", "", name), "").casefold()
    if synonym in folded:
        return folded[synonym]
    close = get_close_matches(name, folded, n=1)
    return folded[close[0]] if close else None


def aligned(lines: Mapping[str, Sequence[str]], indent: int = 18) -> str:
    """Lines behind their heads, which stand before the first of each.

    Examples
    --------
    >>> from kernelmeans._text import aligned
    >>> print(aligned({"rows": ["3"], "files": ["a.csv", "b.csv"], "remarks": []}, indent=7))
    rows   3
    files  a.csv
           b.csv
    """
    return "\n".join(
        f"{'' if number else head:<{indent}}{line}"
        for head, texts in lines.items()
        for number, line in enumerate(texts)
    )


def suggestion(name: object, allowed: Collection[str | None]) -> str:
    """The question which allowed name was meant, or nothing if none is like the given one.

    Examples
    --------
    >>> from kernelmeans._text import suggestion
    >>> suggestion("knn", ["heat", "rbf"]), suggestion("exact", ["auto", None]), suggestion(3, "a")
    (" Did you mean 'heat'?", ' Did you mean None?', '')
    """
    close = nearest(name, [str(one) for one in allowed]) if isinstance(name, str) else None
    return f" Did you mean {close if close not in allowed else repr(close)}?" if close else ""


def check_name(parameter: str, value: object, allowed: Collection[str | None]) -> None:
    """Refuse a text that is no allowed name, and say which one was probably meant.

    Parameters
    ----------
    parameter : str
        Its name, for the message.
    value : object
        Its value; anything but a text passes.
    allowed : collection of str and None
        The names.

    Raises
    ------
    ValueError
        If it is no allowed name.

    Examples
    --------
    >>> from kernelmeans._text import check_name
    >>> check_name("kernel", "gaussian", ["heat", "rbf"])
    Traceback (most recent call last):
    ...
    ValueError: kernel='gaussian' is not known. Did you mean 'rbf'? Allowed: 'heat', 'rbf'.
    """
    if isinstance(value, str) and value not in allowed:
        raise ValueError(
            f"{option(parameter, value)} is not known.{suggestion(value, allowed)} Allowed: "
            f"{', '.join(map(repr, allowed))}."
        )


def single_blanks(name: str) -> str:
    """A name of a column without the blanks in which it may differ from table to table.

    Examples
    --------
    >>> from kernelmeans._text import single_blanks
    >>> single_blanks(" sales  2024 ")
    'sales 2024'
    """
    return " ".join(name.split())


def duration(seconds: float) -> str:
    """A duration, rounded.

    Examples
    --------
    >>> from kernelmeans._text import duration
    >>> [duration(seconds) for seconds in (1.4, 47, 200, 9000)]
    ['1 s', '50 s', '3 min', '2.5 h']
    """
    for size, unit in (1, "s"), (60, "min"):
        if (count := seconds / size) < 99:
            return f"{round(count, -1 if count >= 20 else 0):.0f} {unit}"
    return f"{seconds / 3600:.1f} h"
