"""Finished cells as files, so that a run which was killed goes on where it was."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kernelmeans_paper import files
from kernelmeans_paper.grid import Cell, Outcome, Results
from kernelmeans_paper.provenance import version_of, versions


class Store:
    """The outcomes of cells in a folder, a JSON file for each.

    A file counts only as long as all that its outcome depends on is the same: the parameters, and
    the versions of the libraries, of our code and of the module of its experiment.

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
    ...     store.read(cell)["outcome"]
    {'nmi': 0.5}
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # Settled here, once, for the processes that this store is sent to as well.
        self.versions = versions()

    def path(self, cell: Cell) -> Path:
        """Where a cell's outcome is kept."""
        parameters = json.dumps(cell.parameters, sort_keys=True).encode()
        digest = hashlib.sha256(parameters).hexdigest()[:10]
        return self.folder / cell.experiment / f"{cell.title}-{digest}.json"

    def write(self, cell: Cell, outcome: Outcome, seconds: float) -> None:
        """Keep an outcome, complete or not at all."""
        content = {**self._origin(cell), "outcome": outcome, "seconds": seconds}
        # Python reads back the very same floats; NaN is no JSON and would be a mistake.
        files.write(self.path(cell), f"{json.dumps(content, allow_nan=False)}\n".encode())

    def read(self, cell: Cell) -> dict[str, Any] | None:
        """What was written of a cell, outcome and seconds; None if nothing counts."""
        try:
            content = json.loads(self.path(cell).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        known = isinstance(content, dict) and self._origin(cell).items() <= content.items()
        return content if known else None

    def results(self, cells: Iterable[Cell]) -> Results:
        """The outcomes that are there, in the order of the cells."""
        found = [(cell.parameters, self.read(cell)) for cell in cells]
        return Results([(p, content["outcome"]) for p, content in found if content])

    def seconds(self, cells: Iterable[Cell]) -> float:
        """Time that the finished ones took, added up."""
        return sum((content["seconds"] for content in map(self.read, cells) if content), 0.0)

    def _origin(self, cell: Cell) -> dict[str, Any]:
        own = {"experiment": version_of(cell.experiment)}
        return {"parameters": dict(cell.parameters), "versions": self.versions | own}
