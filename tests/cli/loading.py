"""Columns of a table as a fit loads them."""

from typing import Any, NamedTuple

from kernelmeans.cli.data import ColumnChoice
from kernelmeans.tables.files.tables import Table


class Loaded(NamedTuple):
    """Features, their names, known classes and weights."""

    X: Any
    columns: list[str]
    labels: Any
    weights: Any


def load_data(table: Table, choice: ColumnChoice, dtype: str) -> Loaded:
    """Load features that must be numbers, classes and weights."""
    columns = choice.features(table)
    X = choice.numbers(table, columns, dtype)
    return Loaded(X, columns, *choice.labels_and_weights(table, dtype))
