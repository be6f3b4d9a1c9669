"""New rows for a model: those that it can place, block by block, and what is wrong with others."""

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse
from sklearn.preprocessing import StandardScaler

from kernelmeans._errors import InputError
from kernelmeans._text import counted, listed
from kernelmeans._typing import BoolArray
from kernelmeans.cli.errors import in_options
from kernelmeans.heat import GraphKernel
from kernelmeans.models.model import Model
from kernelmeans.tables import TableTransformer
from kernelmeans.tables.files.tables import FrameTable, Table, blocks, in_lines
from kernelmeans.tables.inspection import Inspection, unseen_values, wrong_values
from kernelmeans.tables.spellings import Doubt, said_doubts

#: Rows of a large table that are read at a time, where they may hold text.
_ROWS = 2**17
#: Standard deviations of the fit beyond which the mean of new rows is not like it.
_UNLIKE = 3.0
#: Rows of an array that are worked on at a time, because several copies of them are made.
_COPIED = 2**14


@dataclass
class NewRows:
    """The rows of a table as a model takes them.

    Parameters
    ----------
    table : FrameTable or ArrayTable
        The table.
    names : sequence of str
        Its columns that stand for those of the model, in their order.
    model : Model
        The model.

    Attributes
    ----------
    n_unplaced : int
        Rows so far with values that the model cannot place.
    n_empty : int
        Rows so far without any value.
    n_alone : int
        Rows of a graph so far that have no edge to a row of the fit.
    wrong, unseen : dict
        Values so far that are no numbers, and that no category had.
    doubts : dict
        Numbers so far that may be meant otherwise, one of each column.
    filled : Counter
        Missing values so far that became the median, by column.
    total : ndarray of shape (n_features,)
        Sum of the rows so far that went through `prepared`.
    """

    table: Table
    names: Sequence[str]
    model: Model
    n_unplaced: int = field(default=0, init=False)
    n_empty: int = field(default=0, init=False)
    n_alone: int = field(default=0, init=False)
    wrong: dict[str, tuple[int, str]] = field(default_factory=dict, init=False)
    unseen: dict[str, tuple[int, str]] = field(default_factory=dict, init=False)
    filled: Counter[str] = field(default_factory=Counter, init=False)
    doubts: dict[str, Doubt] = field(default_factory=dict, init=False)
    total: Any = field(default=0.0, init=False)

    def __iter__(self) -> Iterator[tuple[Any, BoolArray]]:
        """Yield the rows of a block that can be placed, and which of the block these are."""
        prepare = self.model.pipeline[0]
        if not isinstance(prepare, TableTransformer):
            for _, X in blocks(self.table.matrix(self.names, self.model.dtype)):
                placed = _finite_rows(X)
                self.n_unplaced += int((~placed).sum())
                yield self._connected(X if placed.all() else X[placed], placed)
            return
        start = 0
        for frame in self._frames():
            found = prepare.inspect(frame)
            for name, (row, value) in found.wrong.items():
                self.wrong.setdefault(name, (start + row, value))
            placed = found.placeable
            self.n_empty += found.n_empty
            self.n_unplaced += int((~placed).sum()) - found.n_empty
            start += frame.height
            if not placed.all():
                frame = frame.filter(placed)
                if len(frame):  # what is new in other rows does not matter
                    found = prepare.inspect(frame)
            if len(frame):
                self._count(found)
            yield frame, placed

    def _count(self, found: Inspection) -> None:
        """Count what is new in the rows of a block that can be placed."""
        for name, (count, value) in found.unseen.items():
            before, first = self.unseen.get(name, (0, value))
            self.unseen[name] = before + count, first
        self.doubts = {**found.doubts, **self.doubts}
        self.filled.update(found.n_missing)  # without "impute" such rows cannot be placed

    def _connected(self, X: Any, placed: BoolArray) -> tuple[Any, BoolArray]:
        """The rows without those of a graph that have no edge."""
        kernel = self.model.pipeline[-1].kernel_
        if not isinstance(kernel, GraphKernel) or not placed.any():
            return X, placed
        alone = kernel.disconnected(X)
        self.n_alone += int(alone.sum())
        placed[placed] = ~alone
        return X[~alone], placed

    def _frames(self) -> Iterator[pl.DataFrame]:
        """The columns with the names that the model knows."""
        wanted, table = self.model.columns, self.table
        if isinstance(table, FrameTable):
            renamed = [
                pl.col(name).alias(new) for name, new in zip(self.names, wanted, strict=True)
            ]
            for start in range(0, table.shape[0], _ROWS):
                yield table.frame.select(renamed).slice(start, _ROWS).collect()
            return
        for _, X in blocks(table.matrix(self.names, self.model.dtype)):
            for start in range(0, X.shape[0], _COPIED):
                rows = X[start : start + _COPIED]
                dense = rows.toarray() if scipy.sparse.issparse(rows) else rows
                yield pl.DataFrame(dense, schema=wanted, orient="row")

    def prepared(self, X: Any) -> Any:
        """Rows that can be placed, as the estimator takes them."""
        for step in self.model.pipeline[:-1]:
            if scipy.sparse.issparse(X) and getattr(step, "with_mean", False):
                raise InputError(
                    f"{self.table.source}: the rows are sparse, but those of the fit were not, and "
                    "were centered: write them as a dense matrix"
                )
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "X: ")  # `remarks` says it of all blocks
                X = step.transform(X)
        self.total = self.total + np.asarray(X.sum(axis=0, dtype=float)).ravel()
        return X

    def most_unlike(self, n_placed: int) -> str:
        """A sentence on columns that are not like the fit, if any, after all `n_placed` rows."""
        new = [name for name, (count, _) in self.unseen.items() if count == n_placed]
        if new:
            return f"The fit has seen none of the values of {listed(new)}. "
        prepare, names = self.model.pipeline[0], self.model.columns
        if isinstance(prepare, TableTransformer):
            given = [column.name for column in prepare.columns_]
            names = prepare.get_feature_names_out(given) if prepare.scaler_ else []
        elif not isinstance(prepare, StandardScaler):
            names = []
        away = np.abs(self.total) / n_placed
        known = set(self.model.columns)  # others stand for values of categories
        pairs = [pair for pair in zip(away, names, strict=False) if pair[1] in known]
        most, name = max(pairs, default=(0.0, ""))
        if most <= _UNLIKE:
            return ""
        return f"The values of {name!r} are least like those of the fit. "

    def remarks(self) -> list[str]:
        """Sentences on what the model does not know, after all blocks."""
        texts = unseen_values(self.unseen)
        if self.doubts:
            texts.append(f"{self.table.source}: {in_options(said_doubts(self.doubts))}")
        if self.filled:
            counts = [
                f"{counted(count, 'missing value')} of {name!r}"
                for name, count in self.filled.most_common(10)
            ]
            more = f" and {len(self.filled) - 10} more columns" * (len(self.filled) > 10)
            texts.append(f"{', '.join(counts)}{more} became the median of the fit")
        if self.n_unplaced:
            wrong = in_lines(wrong_values(self.wrong), self.table)
            why = f": no numbers in {wrong}" if self.wrong else ""
            texts.append(
                f"{counted(self.n_unplaced, 'row')} without a finite number in a column that needs "
                f"one: no label{why}"
            )
        if self.n_empty:
            texts.append(without_value(self.n_empty))
        if self.n_alone:
            texts.append(
                f"{counted(self.n_alone, 'row')} without an edge to a row of the fit: no label"
            )
        return texts


def without_value(count: int) -> str:
    """What to say of rows that hold nothing."""
    return f"{counted(count, 'row')} without a value in any column that is used: no label"


def _finite_rows(X: Any) -> BoolArray:
    if not scipy.sparse.issparse(X):
        return np.asarray(np.isfinite(X).all(axis=1))
    placed = np.full(X.shape[0], True)
    placed[X.tocoo().row[~np.isfinite(X.tocoo().data)]] = False
    return placed
