"""How much memory there is, and the refusal of anything that does not fit."""

import math
import sys
from pathlib import Path
from typing import NamedTuple

import psutil

#: Largest fraction of all memory for a fit without a given budget.
TOTAL_FRACTION = 0.8
#: Bytes that are never refused because of free memory.
ALWAYS_FREE = 2**26
#: Linux's files of a container's limit and use of memory: cgroup v2, then v1.
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
        Bytes of free memory, if they count. They refuse, but never change a plan.
    """

    n_bytes: int
    free: float = math.inf

    def without(self, n_bytes: int) -> "Budget":
        """The budget minus so many bytes."""
        return self._replace(n_bytes=max(self.n_bytes - n_bytes, 0))

    def part(self, count: int) -> "Budget":
        """One of so many equal parts of the budget."""
        return self._replace(n_bytes=self.n_bytes // max(count, 1))

    def check(self, needed: int, what: str, remedies: str) -> None:
        """Refuse what is beyond the budget, or beyond the free memory of the machine.

        Parameters
        ----------
        needed : int
            Bytes that are needed.
        what : str
            What needs them, for the message.
        remedies : str
            What the user can do.

        Raises
        ------
        MemoryError
            If there are fewer bytes.
        """
        if needed > self.n_bytes:
            remedies = f"{remedies}, or raise memory_budget if there is memory"
            raise too_large(needed, self.n_bytes, "the memory budget", what, remedies)
        if needed > max(self.free, ALWAYS_FREE):
            others = remedies[0].lower() + remedies[1:]
            remedies = f"Set memory_budget to what the fit may take, or {others}"
            raise too_large(needed, self.free, "the free memory", what, remedies)


def too_large(needed: int, limit: float, whose: str, what: str, remedies: str) -> MemoryError:
    """The error that something needs more bytes than a limit, whose name is given."""
    return MemoryError(
        f"{what} takes {readable(needed)}, more than {whose} of {readable(limit)}. {remedies}."
    )


def budget_bytes(memory_budget: int | str | None) -> int:
    """Bytes that a fit may take.

    Free memory does not count, because results depend on the budget.

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
        return int(TOTAL_FRACTION * machine_memory()[1])
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
    """Bytes that the container may take, and takes now without idle pages of files."""
    group = Path("/sys/fs/cgroup")
    for names in _LIMITS:
        try:
            limit, used, stat = ((group / name).read_text() for name in names)
            lines = dict(line.split() for line in stat.splitlines())
            # The system drops idle pages of files when memory is needed.
            idle = lines.get("total_inactive_file", lines.get("inactive_file", 0))
            return int(limit), int(used) - int(idle)
        except (OSError, ValueError):  # no limit: "max" is no number
            continue
    return sys.maxsize, 0


def readable(size: float) -> str:
    """A number of bytes in a readable unit, and exactly.

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
