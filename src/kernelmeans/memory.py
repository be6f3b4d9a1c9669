"""How much memory there is, and refusing what will not fit."""

from pathlib import Path

import psutil

#: Share of the free memory that a fit takes at most when it is given no budget.
FREE_SHARE = 0.8
UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


def budget_bytes(memory_budget: int | str | None, free: int | None = None) -> int:
    """Bytes that a fit may take.

    Parameters
    ----------
    memory_budget : int, str or None
        Bytes, a text such as ``"4GB"`` or ``"500 MiB"``, or None for 80 % of what is free.
    free : int, default=None
        What is free where it counts; of this machine when None.

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
    >>> from kernelmeans.memory import budget_bytes
    >>> budget_bytes("4GB")
    4000000000
    """
    if memory_budget is None:
        return int(FREE_SHARE * (free_bytes() if free is None else free))
    if isinstance(memory_budget, str):
        text = memory_budget.strip().upper()
        number = text.rstrip("KMGTIB ")
        try:
            size = float(number) * UNITS[text[len(number) :].strip()]
        except (ValueError, KeyError):
            raise ValueError(
                f"memory_budget={memory_budget!r} is no size; give bytes or a number with a unit "
                "(KB, MB, GB, TB or KiB, MiB, GiB, TiB), for example '4GB'."
            ) from None
    else:
        size = memory_budget
    if not 0 < size < float("inf"):
        raise ValueError(f"memory_budget={memory_budget!r} must be a positive number of bytes.")
    return int(size)


def free_bytes() -> int:
    """Memory that this process could still take, also inside a container (Linux cgroup v2).

    Returns
    -------
    int
        Bytes.

    Examples
    --------
    >>> from kernelmeans.memory import free_bytes
    >>> free_bytes() > 0
    True
    """
    free = int(psutil.virtual_memory().available)
    group = Path("/sys/fs/cgroup")
    try:
        limit = (group / "memory.max").read_text().strip()
        used = int((group / "memory.current").read_text())
    except (OSError, ValueError):
        return free
    return free if limit == "max" else min(free, max(int(limit) - used, 0))


def readable(size: float) -> str:
    """Bytes for people, with the exact number.

    Examples
    --------
    >>> from kernelmeans.memory import readable
    >>> readable(4_000_000_000)
    '4.0 GB (4000000000 bytes)'
    """
    value, unit = float(size), "B"
    for larger in ("KB", "MB", "GB", "TB"):
        if value < 1000:
            break
        value, unit = value / 1000, larger
    return f"{value:.1f} {unit} ({int(size)} bytes)"
