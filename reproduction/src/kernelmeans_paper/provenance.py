"""What outcomes depend on: the code, the libraries, and the machine that ran them."""

import hashlib
import os
import platform
from collections.abc import Iterable
from pathlib import Path

import numpy
import psutil
import scipy
import sklearn
from threadpoolctl import threadpool_info

import kernelmeans

_LIBRARY = Path(kernelmeans.__file__).parent
_EXPERIMENTS = Path(__file__).parent / "experiments"
#: Files and folders that compute nothing, and the experiments, each of which counts on its own.
_BESIDE = {"check", "cli", "experiments", "plotting", "report", "terminal"}


def versions() -> dict[str, str]:
    """Versions of the libraries, and a digest of the code that all experiments share."""
    return {
        "python": platform.python_version(),
        "kernelmeans": f"{kernelmeans.__version__} ({_digest(_shared_code())})",
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }


def version_of(experiment: str) -> str:
    """Digest of the module of an experiment."""
    return _digest(_EXPERIMENTS.glob(f"{experiment}.py"))


def machine() -> str:
    """System, cores and memory in a few words."""
    memory = psutil.virtual_memory().total / 2**30
    return f"{platform.system()} on {platform.machine()}, {os.cpu_count()} cores, {memory:.0f} GiB"


def blas() -> str:
    """The libraries of linear algebra that are loaded."""
    return ", ".join(
        sorted({f"{lib['internal_api']} {lib['version']}" for lib in threadpool_info()})
    )


def _shared_code() -> Iterable[Path]:
    for folder in (_LIBRARY, _EXPERIMENTS.parent):
        for file in folder.rglob("*.py"):
            if _BESIDE.isdisjoint(file.relative_to(folder).with_suffix("").parts):
                yield file


def _digest(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:10]
