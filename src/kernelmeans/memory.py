"""How much memory there is, and refusing what will not fit."""

import math
import sys
from pathlib import Path
from typing import NamedTuple

import psutil

#: Share of all memory that a fit takes at most when it is given no budget.
TOTAL_SHARE = 0.8
#: Bytes that are never refused for what is free at the moment.
ALWAYS_FREE = 2**26
#: What messages call the budget that ``memory_budget`` sets.
OWN_BUDGET = "the memory budget"
#: Where Linux says what a container may take and takes: cgroup v2, then v1.
_LIMITS = (
    ("memory.max", "memory.current", "memory.stat"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat"),
)
UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


class Budget(NamedTuple):
    """What a fit may take.

    Attributes
    ----------
    n_bytes : int
        Bytes that it may take.
    free : float, default=inf
        Bytes that are free, if they count: nothing is planned by them, but more is refused.
    """

    n_bytes: int
    free: float = math.inf

    def without(self, n_bytes: int) -> "Budget":
        """What is left when so much is taken."""
        return self._replace(n_bytes=max(self.n_bytes - n_bytes, 0))

    def part(self, count: int) -> "Budget":
        """One of so many equal parts."""
        return self._replace(n_bytes=self.n_bytes // max(count, 1))

    def check(self, needed: int, what: str, remedies: str) -> None:
        """Refuse what is beyond the budget, or would make the machine run out of memory.

        Parameters
        ----------
        needed : int
            Bytes.
        what : str
            What takes them.
        remedies : str
            What to do.

        Raises
        ------
        MemoryError
            If it is more than there is.
        """
        check_memory(needed, self.n_bytes, what, remedies)
        if needed > ALWAYS_FREE:
            others = remedies[0].lower() + remedies[1:]
            remedies = f"Set memory_budget to what the fit may take, or {others}"
            check_memory(needed, self.free, what, remedies, "the free memory")


def check_memory(
    needed: int, budget: float, what: str, remedies: str, whose: str = OWN_BUDGET
) -> None:
    """Refuse what does not fit into memory, naming the ways out.

    Parameters
    ----------
    needed : int
        Bytes that it takes.
    budget : float
        Bytes that there are for it.
    what : str
        What takes them.
    remedies : str
        What to do.
    whose : str
        What the budget is called.

    Raises
    ------
    MemoryError
        If more is needed than the budget.
    """
    if needed > budget:
        raised = "" if whose != OWN_BUDGET else ", or raise memory_budget if there is memory"
        raise MemoryError(
            f"{what} takes {readable(needed)}, more than {whose} of {readable(budget)}. "
            f"{remedies}{raised}."
        )


def budget_bytes(memory_budget: int | str | None) -> int:
    """Bytes that a fit may take.

    Never what happens to be free: plans, and with them results, must not depend on the moment.

    Parameters
    ----------
    memory_budget : int, str or None
        Bytes, a text such as ``"4GB"`` or ``"500 MiB"``, or None for 80 % of all memory.

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
        return int(TOTAL_SHARE * machine_memory()[1])
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


def machine_memory() -> tuple[int, int]:
    """Memory of this machine, or of its container.

    Returns
    -------
    free, total : int
        Bytes that this process could still take, and all.

    Examples
    --------
    >>> from kernelmeans.memory import machine_memory
    >>> free, total = machine_memory()
    >>> 0 < free < total
    True
    """
    machine, (limit, used) = psutil.virtual_memory(), _container()
    return min(int(machine.available), max(limit - used, 0)), min(int(machine.total), limit)


def _container() -> tuple[int, int]:
    """What the container may take, and takes for more than files; no limit where there is none."""
    group = Path("/sys/fs/cgroup")
    for names in _LIMITS:
        try:
            limit, used, stat = ((group / name).read_text() for name in names)
            lines = dict(line.split() for line in stat.splitlines())
            # Pages of files that nobody reads any more are given back when memory is asked for.
            idle = lines.get("total_inactive_file", lines.get("inactive_file", 0))
            return int(limit), int(used) - int(idle)
        except (OSError, ValueError):  # other than numbers: "max"
            continue
    return sys.maxsize, 0


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
