"""Sizes of memory as text."""

from kernelmeans._dialect import option

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


def budget_bytes(memory_budget: int | str) -> int:
    """Bytes of a budget that the user gives.

    Parameters
    ----------
    memory_budget : int or str
        Bytes, or a text such as ``"4GB"`` or ``"500 MiB"``.

    Returns
    -------
    int
        Bytes.

    Raises
    ------
    ValueError
        If the text cannot be read or the budget is not positive.

    Examples
    --------
    >>> from kernelmeans._sizes import budget_bytes
    >>> budget_bytes("4GB")
    4000000000
    """
    if isinstance(memory_budget, str):
        text = memory_budget.strip().upper()
        number = text.rstrip("KMGTIB ")
        try:
            size = float(number) * UNITS[text[len(number) :].strip()]
        except (ValueError, KeyError):
            raise ValueError(
                f"{option('memory_budget', memory_budget)} is no size; give bytes or a number "
                "with a unit (KB, MB, GB, TB or KiB, MiB, GiB, TiB), for example '4GB'."
            ) from None
    else:
        size = memory_budget
    if not 0 < size < float("inf"):
        raise ValueError(
            f"{option('memory_budget', memory_budget)} must be a positive number of bytes."
        )
    return int(size)


def readable(size: float) -> str:
    """A number of bytes in a readable unit, and exactly.

    Examples
    --------
    >>> from kernelmeans._sizes import readable
    >>> readable(4_000_000_000)
    '4.0 GB (4000000000 bytes)'
    """
    value, unit = float(size), "B"
    for larger in ("KB", "MB", "GB", "TB"):
        if value < 1000:
            break
        value, unit = value / 1000, larger
    return f"{value:.1f} {unit} ({int(size)} bytes)"
