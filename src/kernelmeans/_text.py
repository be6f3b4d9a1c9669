"""Text that people read in little room."""


def shortened(name: str, most: int) -> str:
    """Cut out of the middle of a long name: the kernels of a family differ at the end.

    Examples
    --------
    >>> from kernelmeans._text import shortened
    >>> shortened("a very long name 12", 12)
    'a very…me 12'
    """
    return name if len(name) <= most else f"{name[: most - 6]}…{name[-5:]}"
