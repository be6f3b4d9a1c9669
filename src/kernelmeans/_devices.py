"""Devices that estimators compute on, and how much memory they have."""

from typing import Any

import numpy as np
from array_api_compat import is_cupy_array, is_torch_array

from kernelmeans._arrays import is_foreign, namespace, on_host, to_device_of
from kernelmeans._typing import Array
from kernelmeans._warnings import warn_user
from kernelmeans.memory import TOTAL_FRACTION, Budget, budget_bytes, machine_memory

#: A number just above 1 in float32, which TF32 and the like round to 1.
JUST_ABOVE = 1 + 2.0**-13


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

    def is_same(self, other: "Device") -> bool:
        """Whether arrays on both can be in one expression."""
        alike = type(self.anchor) is type(other.anchor)
        return alike and bool(self.anchor.device == other.anchor.device)

    def put(self, values: Any) -> Any:
        """Values on the host as an array on this device, in their own precision."""
        return values if self.is_host else to_device_of(values, self.anchor)

    def budget(self, memory_budget: int | str | None) -> Budget:
        """What a fit may take on this device; free memory counts if no budget is given."""
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
        PyTorch's name of a device; that of X when None.
    X : Any
        Input data.

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
            f"X is on the device {X.device}, which has no float64, in which sums are kept; pass it "
            "on another device, or NumPy's (X.cpu().numpy() for PyTorch)."
        ) from None


def answer(values: Any, given: Any) -> Any:
    """NumPy's values in the library and on the device of the rows that were given."""
    return to_device_of(values, given) if is_foreign(given) and values is not None else values


def _named(name: str) -> Device:
    try:
        import torch
    except ImportError:
        raise ImportError(
            f"device={name!r} needs PyTorch, which is not installed: pip install "
            "'kernelmeans[gpu]'; or leave device=None, which computes with NumPy."
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
            f"device={name!r} cannot be used ({reason}). Allowed are None, to compute where X is, "
            f"and what PyTorch finds here that has float64: {found}{none}"
        ) from None
    return Device(anchor)
