"""Which files a command writes, and what goes into them."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import polars as pl

from kernelmeans._files import Writer


@dataclass(frozen=True)
class OutputChoice:
    """Where the user wants the files; whatever is None gets its name from the input's.

    Parameters
    ----------
    folder : Path or None
        Of all files without a place of their own; None is the input's folder.
    labels, model, summary, plot : Path or None
        Single files.
    draw : bool
        Whether a plot is wanted, beside what `plot` says.
    force : bool
        Whether to overwrite.
    """

    folder: Path | None = None
    labels: Path | None = None
    model: Path | None = None
    summary: Path | None = None
    plot: Path | None = None
    draw: bool = False
    force: bool = False

    @property
    def draws(self) -> bool:
        """Whether a plot is written."""
        return self.draw or self.plot is not None

    def labels_path(self, source: Path) -> Path:
        """Return the place of the labels of `source`."""
        return self.labels or self._beside(source, ".labels.csv")

    def fit_paths(self, source: Path) -> dict[str, Path]:
        """Return the place of everything a fit of `source` writes."""
        paths = {
            "labels": self.labels_path(source),
            "model": self.model or self._beside(source, ".model.skops"),
            "summary": self.summary or self._beside(source, ".summary.json"),
        }
        if self.draws:
            paths["plot"] = self.plot or self._beside(source, ".png")
        return paths

    def _beside(self, source: Path, ending: str) -> Path:
        folder = source.parent if self.folder is None else self.folder
        return folder / (source.stem + ending)


def labels_writer(labels: Any, memberships: Any = None) -> Writer:
    """Write one line per row: its number, its cluster and, if given, its memberships."""
    columns = {"row": np.arange(len(labels)), "label": np.asarray(labels)}
    if memberships is not None:
        columns |= {f"membership_{j}": column for j, column in enumerate(memberships.T)}
    return pl.DataFrame(columns).write_csv


def json_writer(content: dict[str, Any]) -> Writer:
    """Write `content` as JSON."""
    return lambda file: file.write(as_json(content).encode() + b"\n")


def as_json(content: dict[str, Any]) -> str:
    """Return `content` as JSON, which knows no infinities: they become null."""
    return json.dumps(_finite(content), indent=2, ensure_ascii=False, allow_nan=False)


def figure_writer(figure: Any, path: Path) -> Writer:
    """Write a matplotlib figure in the format that the suffix of `path` names."""

    def write(file: BinaryIO) -> None:
        figure.savefig(file, format=path.suffix[1:].lower())

    return write


def _finite(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content
