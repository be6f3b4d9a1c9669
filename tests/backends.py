"""The array libraries that tests run over; PyTorch and CuPy, and GPUs, where they are there.

array-api-strict has nothing beyond the standard, and NumPy's functions refuse its arrays because
they are not on its first device: what mixes host and device fails without a GPU too.
"""

from importlib import import_module
from typing import NamedTuple

import numpy as np
import pytest


class Backend(NamedTuple):
    """A library, and the device that its arrays are on."""

    library: str
    device: str

    def __str__(self):
        return f"{self.library}-{self.device}"

    def array(self, values):
        """A copy of NumPy's values; skips the test where there is no such library or GPU."""
        find = import_module if self.library == "array_api_strict" else pytest.importorskip
        library = find(self.library)
        if self.library == "torch":
            # Small arrays: threads would mostly wait for each other.
            library.set_num_threads(1)
        if self.device == "cuda" and not library.cuda.is_available():
            pytest.skip(f"{self.library} finds no GPU")
        if self.library == "cupy":
            return library.array(values)
        device = library.Device(self.device) if hasattr(library, "Device") else self.device
        return library.asarray(np.asarray(values), device=device, copy=True)


NUMPY = Backend("numpy", "cpu")
BACKENDS = [
    NUMPY,
    Backend("array_api_strict", "device1"),
    Backend("torch", "cpu"),
    Backend("torch", "cuda"),
    Backend("cupy", "cuda"),
]

#: Runs a test with each ``backend``.
over_backends = pytest.mark.parametrize("backend", BACKENDS, ids=str)
