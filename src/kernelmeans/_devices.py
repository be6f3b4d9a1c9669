"""Devices to compute on, their memory, and the refusal of anything that does not fit."""

import math
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np
import psutil
from array_api_compat import is_cupy_array, is_torch_array

from kernelmeans._arrays import is_foreign, namespace, on_host, to_device_of
from kernelmeans._dialect import option
from kernelmeans._sizes import budget_bytes, readable
from kernelmeans._text import suggestion
from kernelmeans._typing import Array
from kernelmeans._warnings import warn_user

#: A number just above 1 in float32, which TF32 and the like round to 1.
JUST_ABOVE = 1 + 2.0**-13
#: Largest fraction of all memory for a fit without a given budget.
TOTAL_FRACTION = 0.8
#: Bytes that are never refused because of free memory.
ALWAYS_FREE = 2**26
#: Where Linux says in which control groups this process is, and their limits.
_OWN_GROUPS, _GROUPS = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")
#: Files of a group's limit and use of memory, by its controllers: version 2, then 1.
_LIMITS = {
    "": ("memory.max", "memory.current", "memory.stat"),
    "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat"),
}


class Budget(NamedTuple):
    """Memory that a fit may take.

    Attributes
    ----------
    n_bytes : int
        The budget, in bytes.
    free : float, default=inf
        Bytes of free memory, if they count. They refuse, but never change a plan.
    """

    n_bytes: int
    free: float = math.inf

    def check(self, needed: int, what: str, remedies: str) -> None:
        """Refuse to take more than the budget, or than the free memory of the machine.

        Parameters
        ----------
        needed : int
            Bytes that are needed.
        what : str
            The thing that needs them, for the message.
        remedies : str
            Remedies, for the message.

        Raises
        ------
        MemoryError
            If more bytes are needed than there are.
        """
        if needed > self.n_bytes:
            remedies = f"{remedies}, or raise {option('memory_budget')} if there is memory"
            raise too_large(needed, self.n_bytes, "the memory budget", what, remedies)
        if needed > max(self.free, ALWAYS_FREE):
            others = remedies[0].lower() + remedies[1:]
            remedies = f"Set {option('memory_budget')} to what the fit may take, or {others}"
            raise too_large(needed, self.free, "the free memory", what, remedies)


def too_large(needed: int, limit: float, whose: str, what: str, remedies: str) -> MemoryError:
    """The error that something needs more bytes than a limit; ``whose`` is the limit's name."""
    return MemoryError(
        f"{what} takes {readable(needed)}, more than {whose} of {readable(limit)}. {remedies}."
    )


def machine_memory() -> tuple[int, int]:
    """Memory of this machine, or of the container or job that this process is in.

    Returns
    -------
    free, total : int
        Bytes that this process could still take, and bytes of all memory.

    Examples
    --------
    >>> from kernelmeans._devices import machine_memory
    >>> free, total = machine_memory()
    >>> 0 < free < total
    True
    """
    machine = psutil.virtual_memory()
    free, total = int(machine.available), int(machine.total)
    for files in _group_files():
        try:
            given, taken, stat = (file.read_text() for file in files)
            lines = dict(line.split() for line in stat.splitlines())
            # The system drops idle pages of files when memory is needed.
            idle = lines.get("total_inactive_file", lines.get("inactive_file", 0))
            limit, used = int(given), int(taken) - int(idle)
        except (OSError, ValueError):  # no limit: "max" is no number
            continue
        free, total = min(free, max(limit - used, 0)), min(total, limit)
    return free, total


def _group_files() -> Iterator[list[Path]]:
    """Files of limit and use of the control groups that this process is in, which all count."""
    try:
        groups = [line.split(":", 2) for line in _OWN_GROUPS.read_text().splitlines()]
    except OSError:
        return
    for _, controllers, path in groups:
        if controllers in _LIMITS:
            # A container may not see the groups around it, and is then the root.
            group = PurePosixPath(path)
            for inner in (group, *group.parents):
                folder = _GROUPS / controllers / inner.relative_to("/")
                yield [folder / name for name in _LIMITS[controllers]]


class Device:
    """A library and a device for its arrays.

    Parameters
    ----------
    anchor : array
        An array of this library on this device; NumPy's for the host.

    Attributes
    ----------
    is_host : bool
        Whether it is the host.
    """

    def __init__(self, anchor: Array) -> None:
        self.anchor = anchor
        self.is_host = on_host(anchor)

    def put(self, values: Any) -> Any:
        """Values on the host as an array on this device, in their own precision."""
        return values if self.is_host else to_device_of(values, self.anchor)

    def budget(self, memory_budget: int | str | None) -> Budget:
        """The memory that a fit may take on this device: a given budget, or 80 % of all memory.

        It refuses, and decides nothing else. Free memory counts only without a given one.
        """
        if memory_budget is not None:
            return Budget(budget_bytes(memory_budget))
        free, total = self.memory()
        return Budget(int(TOTAL_FRACTION * total), free)

    def memory(self) -> tuple[int, int]:
        """Bytes of free memory, with the reserve of the library, and of all memory."""
        device: Any = self.anchor.device
        if is_cupy_array(self.anchor):
            import cupy  # type: ignore[import-not-found]

            with device:
                free, total = device.mem_info
                return int(free + cupy.get_default_memory_pool().free_bytes()), int(total)
        if is_torch_array(self.anchor) and device.type == "cuda":
            import torch

            reserve = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
            free, total = torch.cuda.mem_get_info(device)
            return int(free + reserve), int(total)
        return machine_memory()

    def warn_if_rounding(self) -> None:
        """Warn if float32 products are rounded to fewer digits on this device."""
        size = 64
        x = self.put(np.full((size, size), JUST_ABOVE, np.float32))
        if not float((x @ x)[0, 0]) > size:
            warn_user(
                "float32 matrix products are rounded to TF32 on this device, a thousandfold "
                "coarser. Set torch.set_float32_matmul_precision('highest') (CuPy: leave "
                "CUPY_TF32 unset), or pass float64 data."
            )


HOST = Device(np.empty(0))


def device_of(name: str | None, X: Any) -> Device:
    """The device to compute on.

    Parameters
    ----------
    name : str or None
        PyTorch's name of a device; the device of X when None.
    X : Any
        Rows as the user gave them.

    Returns
    -------
    Device
        The host, unless X or the name says otherwise.

    Raises
    ------
    ImportError
        If a device is named and PyTorch is not installed.
    ValueError
        If the device is unknown, is missing or has no float64.
    """
    if name is not None:
        return _named(name)
    if not is_foreign(X):
        return HOST
    xp = namespace(X)
    try:
        return Device(xp.zeros(1, dtype=xp.float64, device=X.device))
    except (RuntimeError, TypeError):
        raise ValueError(
            f"X is on the device {X.device}, which has no float64, but sums need it; pass X on "
            "another device, or as a NumPy array (X.cpu().numpy() for PyTorch)."
        ) from None


def to_library_of(values: Any, X: Any) -> Any:
    """NumPy's values in the library and on the device of rows as the user gave them."""
    return to_device_of(values, X) if is_foreign(X) else values


def _named(name: str) -> Device:
    try:
        import torch
    except ModuleNotFoundError:
        raise ImportError(
            f"{option('device', name)} needs PyTorch, which is not installed: pip install "
            f"'kernelmeans[gpu]'; or leave {option('device', None)}, which computes with NumPy."
        ) from None
    try:
        anchor: Any = torch.zeros(1, dtype=torch.float64, device=name)
        anchor.tolist()
    except (RuntimeError, AssertionError, TypeError) as error:
        # The first sentence alone: PyTorch then lists all devices that it knows.
        reason = str(error).split("\n")[0].split(". ")[0][:90].rstrip(".")
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        found = ", ".join(["'cpu'", *(f"'cuda:{index}'" for index in range(count))])
        none = "" if count else ". It finds no CUDA GPU: is PyTorch (extra gpu) built for one?"
        raise ValueError(
            f"{option('device', name)} cannot be used ({reason}). Allowed are None, to compute "
            f"where X is, and what PyTorch finds here that has float64: {found}{none}"
            f"{suggestion(name, ['cpu', 'cuda'])}"
        ) from None
    return Device(anchor)
