"""Finished cells as files, so that a run which was killed goes on where it was."""

import hashlib
import json
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy
import scipy
import sklearn

import kernelmeans
from kernelmeans_paper.files import write
from kernelmeans_paper.grid import Cell, Outcome, Results

_LIBRARY = Path(kernelmeans.__file__).parent
_OURS = Path(__file__).parent
#: What computes nothing, and the experiments, each of which counts on its own.
_BESIDE = ("cli", "experiments", "plotting", "report")


def versions() -> dict[str, str]:
    """What outcomes may depend on: versions of the libraries, and a digest of our own code."""
    code = [file for folder in (_LIBRARY, _OURS) for file in _computing(folder)]
    return {
        "python": platform.python_version(),
        "kernelmeans": f"{kernelmeans.__version__} ({_digest(code)})",
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }


def _computing(folder: Path) -> list[Path]:
    found = folder.rglob("*.py")
    return [file for file in found if not {file.parent.name, file.stem} & {*_BESIDE}]


def _digest(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:10]


class Store:
    """The outcomes of cells in a folder, a JSON file for each.

    A file counts only if it was written by the same versions of everything: of the libraries, of
    our code, and of the module of its experiment.

    Parameters
    ----------
    folder : Path
        Where they are; made when the first is written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from kernelmeans_paper.grid import Cell
    >>> from kernelmeans_paper.store import Store
    >>> with TemporaryDirectory() as folder:
    ...     store, cell = Store(Path(folder)), Cell("trial", {"k": 2})
    ...     store.write(cell, {"nmi": 0.5}, seconds=1.0)
    ...     store.read(cell)
    {'nmi': 0.5}
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # Settled here, once, for the processes that this store is sent to as well.
        self.versions = versions()

    def path(self, cell: Cell) -> Path:
        """Where a cell's outcome is kept."""
        return self.folder / cell.experiment / f"{cell.name}.json"

    def write(self, cell: Cell, outcome: Outcome, seconds: float) -> None:
        """Keep an outcome, complete or not at all."""
        content = {
            "parameters": dict(cell.parameters),
            "outcome": outcome,
            "seconds": seconds,
            "versions": self._versions_of(cell),
        }
        # Python reads back the very same floats; NaN is no JSON and would be a mistake.
        write(self.path(cell), f"{json.dumps(content, allow_nan=False)}\n".encode())

    def read(self, cell: Cell) -> Any:
        """The outcome of a cell; None if it is not there or not of these versions."""
        content = self._content(cell)
        return None if content is None else content["outcome"]

    def seconds(self, cells: Iterable[Cell]) -> float:
        """Time that the finished ones took, added up."""
        contents = (self._content(cell) for cell in cells)
        return float(sum(content["seconds"] for content in contents if content))

    def results(self, cells: Iterable[Cell]) -> Results:
        """The outcomes that are there, in the order of the cells."""
        found = [(cell.parameters, self.read(cell)) for cell in cells]
        return Results([(p, outcome) for p, outcome in found if outcome is not None])

    def _versions_of(self, cell: Cell) -> dict[str, str]:
        module = _OURS / "experiments" / f"{cell.experiment}.py"
        return {**self.versions, "experiment": _digest([module] if module.exists() else [])}

    def _content(self, cell: Cell) -> Any:
        try:
            content = json.loads(self.path(cell).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        expected = {"parameters": dict(cell.parameters), "versions": self._versions_of(cell)}
        known = isinstance(content, dict) and expected.items() <= content.items()
        return content if known else None
