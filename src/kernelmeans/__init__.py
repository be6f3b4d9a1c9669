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
    from kernelmeans.models import load_model, save_model
    from kernelmeans.profiles import describe
    from kernelmeans.report import ClusterReport
    from kernelmeans.search import ClusterSearch

__version__ = "0.1.0"
__all__ = [
    "ClusterReport",
    "ClusterSearch",
    "KernelKMeans",
    "KernelPowerKMeans",
    "MultiKernelPowerKMeans",
    "PowerKMeans",
    "__version__",
    "describe",
    "load_model",
    "save_model",
]
# Where names live that are no estimators.
_HOMES = {
    "ClusterReport": "report",
    "ClusterSearch": "search",
    "describe": "profiles",
    "load_model": "models",
    "save_model": "models",
}


def __getattr__(name: str) -> Any:
    # Importing scikit-learn takes a second, which `kernelmeans --help` should not.
    if name in __all__:
        home = _HOMES.get(name, "estimators")
        globals()[name] = found = getattr(import_module(f"kernelmeans.{home}"), name)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
