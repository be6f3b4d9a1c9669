"""Whether stored tables are still what the code computes, for a part of them."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kernelmeans_paper.report import Table

#: Experiments whose numbers have tolerances.
NAMES = ("motivating", "single", "multi", "critical")
#: Benchmark sets on which they are run again by default: a minute of one core.
SETS = ("seeds", "yale", "lung_discrete")


def stored_tables(folder: Path) -> dict[str, dict[str, Any]]:
    """Tables of an earlier report, by their names, as their JSON has them.

    Parameters
    ----------
    folder : Path
        Folder of the report.

    Returns
    -------
    dict of str to dict
        Name, caption, notes and cells of each table.

    Raises
    ------
    FileNotFoundError
        If there are none.
    """
    paths = sorted((folder / "tables").glob("*.json"))
    if not paths:
        raise FileNotFoundError(
            f"{folder} has no tables of an earlier run: run this in a clone of the repository, or "
            "name the folder of a report by --results"
        )
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in paths}


def compare(tables: Iterable[Table], stored: dict[str, dict[str, Any]]) -> tuple[int, list[str]]:
    """Compare the numbers that have a tolerance with those of an earlier report.

    Parameters
    ----------
    tables : iterable of Table
        What the code computes now. They may have fewer rows than the stored ones.
    stored : dict of str to dict
        From `stored_tables`. The tolerances are theirs.

    Returns
    -------
    compared : int
        How many numbers were compared.
    differences : list of str
        A line for each that differs by more than the tolerance, or is not stored.
    """
    compared, differences = 0, []
    for table in tables:
        known = {(c["row"], c["column"]): c for c in stored.get(table.name, {"cells": ()})["cells"]}
        for row, entries in table.rows:
            for column, entry in zip(table.columns[1:], entries, strict=True):
                if entry.tolerance is not None:
                    compared += 1
                    line = _difference(entry.value, known.get((row, column), {}))
                    differences += [f"{table.name}, {row}, {column}: {line}"] if line else []
    return compared, differences


def _difference(value: Any, cell: dict[str, Any]) -> str:
    before, tolerance = cell.get("value"), cell.get("tolerance")
    if before is None or tolerance is None:
        return f"now {value:.4f}, and not stored"
    if abs(value - before) <= tolerance:
        return ""
    return f"now {value:.4f}, stored {before:.4f}, apart by more than {tolerance:.4f}"
