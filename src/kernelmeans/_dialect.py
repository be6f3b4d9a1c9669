"""How messages name parameters and rows: in the words of Python, or of the command line.

Each message is written once, and `option` names the parameters in it. While the command line runs,
it provides its own words for them.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from numbers import Number


@dataclass
class Dialect:
    """Words of a program that is not Python.

    Parameters
    ----------
    options : dict of str
        Words for parameters, by their names in Python. Other parameters keep these names.
    lines : sequence of int or None, default=None
        The lines of a file that hold the rows.
    """

    options: dict[str, str] = field(default_factory=dict)
    lines: Sequence[int] | None = None


# One dialect for all threads: a process is a command line or it is not.
_spoken: Dialect | None = None


@contextmanager
def speaking(options: Mapping[str, str]) -> Iterator[Dialect]:
    """Name parameters by these options within a block, which may add words by `learn`."""
    global _spoken
    before, _spoken = _spoken, Dialect(dict(options))
    try:
        yield _spoken
    finally:
        _spoken = before


def learn(options: Mapping[str, str] | None = None, lines: Sequence[int] | None = None) -> None:
    """Add words to the dialect that is spoken, until it ends. Python itself needs none."""
    if _spoken is not None:
        _spoken.options.update(options or {})
        _spoken.lines = lines or _spoken.lines


def option(name: str, *value: object) -> str:
    """A parameter, with its value if one is given, in the words that the user types.

    Parameters
    ----------
    name : str
        The parameter. Only Python keeps an equals sign at its end.
    *value : object
        Its value.

    Returns
    -------
    str
        The words for a message.

    Examples
    --------
    >>> from kernelmeans._dialect import option, speaking
    >>> option("missing", "impute"), option("n_clusters"), option("drop=")
    ("missing='impute'", 'n_clusters', 'drop=')
    >>> with speaking({"missing": "--missing", "n_clusters": "-k", "drop": "--drop"}):
    ...     option("missing", "impute"), option("n_clusters"), option("drop=")
    ('--missing impute', '-k', '--drop')
    """
    typed = None if _spoken is None else _spoken.options.get(name.rstrip("="))
    if typed is None:
        # The repr of numbers of NumPy is np.int64(3).
        shown = (str(one) if isinstance(one, Number) else repr(one) for one in value)
        return "=".join([name, *shown])
    match value:
        case () | (True,):
            return typed
        case (False,):
            return typed.replace("--", "--no-", 1)
        case (str() as text,):
            return f"{typed} {shlex.quote(text)}"
        case (list() as texts,):
            return f"{typed} {shlex.quote(','.join(texts))}"
    return f"{typed} {'none' if value == (None,) else repr(value[0])}"


def parameter_of(name: str, owner: str) -> str:
    """A parameter at the beginning of a message. In Python the words are those of scikit-learn.

    Examples
    --------
    >>> from kernelmeans._dialect import parameter_of, speaking
    >>> parameter_of("eta", "KernelPowerKMeans")
    "The 'eta' parameter of KernelPowerKMeans"
    >>> with speaking({"eta": "--eta"}):
    ...     parameter_of("eta", "KernelPowerKMeans"), parameter_of("gamma", "view 1")
    ('--eta', 'view 1: gamma')
    """
    if _spoken is None:
        return f"The {name!r} parameter of {owner}"
    return _spoken.options.get(name, f"{owner}: {name}")


def row_name(number: int, lines: Sequence[int] | None = None) -> str:
    """The name of a row: its number, or its line in a file."""
    lines = _known(lines)
    return f"row {number}" if lines is None else f"line {lines[number]}"


def first_row(lines: Sequence[int] | None = None) -> str:
    """The end of a message that names a row by its number."""
    return ", the first data row being 0" if _known(lines) is None else ""


def _known(lines: Sequence[int] | None) -> Sequence[int] | None:
    """The given lines of the rows, or else those of the dialect."""
    return _spoken.lines if lines is None and _spoken is not None else lines
