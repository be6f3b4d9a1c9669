"""Kernel power k-means: annealed kernel clustering as scikit-learn estimators."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernelmeans.estimators import (
        KernelKMeans,
        KernelPowerKMeans,
        MultiKernelPowerKMeans,
        PowerKMeans,
    )
    from kernelmeans.peers import MKKM, RKKM, RMKKM

__version__ = "0.1.0"
_HOMES = {
    "KernelKMeans": "estimators",
    "KernelPowerKMeans": "estimators",
    "MultiKernelPowerKMeans": "estimators",
    "PowerKMeans": "estimators",
    "MKKM": "peers",
    "RKKM": "peers",
    "RMKKM": "peers",
}
__all__ = [
    "KernelKMeans",
    "KernelPowerKMeans",
    "MultiKernelPowerKMeans",
    "PowerKMeans",
    "MKKM",
    "RKKM",
    "RMKKM",
    "__version__",
]


def __getattr__(name: str) -> Any:
    # Importing scikit-learn takes a second, which `kernelmeans --help` should not.
    if name in _HOMES:
        return getattr(import_module(f"kernelmeans.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
