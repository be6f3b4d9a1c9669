"""New rows for a model: those that it can place, block by block, and what is wrong with others."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse

from kernelmeans._text import counted
from kernelmeans._typing import BoolArray
from kernelmeans.cli.model import Model
from kernelmeans.cli.tables import Table, blocks
from kernelmeans.heat import GraphKernel


@dataclass
class NewRows:
    table: Table
    names: Sequence[str]
    model: Model
    n_unplaced: int = field(default=0, init=False)
    n_alone: int = field(default=0, init=False)

    def __iter__(self) -> Iterator[tuple[Any, BoolArray]]:
        """Yield the rows of a block that can be placed, and which of the block these are."""
        for _, X in blocks(self.table.matrix(self.names, self.model.dtype)):
            placed = _finite_rows(X)
            self.n_unplaced += int((~placed).sum())
            X = X if placed.all() else X[placed]
            kernel = self.model.pipeline[-1].kernel_
            if isinstance(kernel, GraphKernel):
                alone = kernel.disconnected(X)
                self.n_alone += int(alone.sum())
                placed[np.flatnonzero(placed)[alone]] = False
                X = X[~alone]
            yield X, placed

    def remarks(self) -> list[str]:
        texts = []
        if self.n_unplaced:
            texts.append(
                f"{counted(self.n_unplaced, 'row')} without a finite number in a column that needs one: no label"
            )
        if self.n_alone:
            texts.append(
                f"{counted(self.n_alone, 'row')} without an edge to a row of the fit: no label"
            )
        return texts


def _finite_rows(X: Any) -> BoolArray:
    if not scipy.sparse.issparse(X):
        return np.asarray(np.isfinite(X).all(axis=1))
    placed = np.full(X.shape[0], True)
    placed[X.tocoo().row[~np.isfinite(X.tocoo().data)]] = False
    return placed
