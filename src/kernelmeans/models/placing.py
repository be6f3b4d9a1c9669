"""New rows for a model: those that it can place, block by block, and remarks on the others."""

import math
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_array, gen_batches

from kernelmeans._errors import InputError
from kernelmeans._fitted import count_rows, is_pairwise, is_stacked, parts, readable, taken
from kernelmeans._frames import is_frame
from kernelmeans._sklearn import _safe_indexing
from kernelmeans._text import counted, first, listed, nearest, single_blanks
from kernelmeans._typing import BoolArray
from kernelmeans.estimators.checks import without_direction
from kernelmeans.heat import GraphKernel
from kernelmeans.rows import Rows
from kernelmeans.tables import TableTransformer
from kernelmeans.tables.files import Reading
from kernelmeans.tables.frames import other_names
from kernelmeans.tables.inspection import unseen_values, wrong_values
from kernelmeans.tables.spellings import Doubt, said_doubts

if TYPE_CHECKING:
    from kernelmeans.models.model import Model

#: Number of rows in a block.
BLOCK_ROWS = 2**17
#: Largest usual difference between the means of new rows and of the fit, in standard deviations.
_UNLIKE = 3.0


def open_table(
    model: "Model",
    path: Path,
    reading: Reading | None = None,
    *,
    budget: float = math.inf,
    verbatim: str | None = None,
) -> Any:
    """Open a file as the fit read its own file, unless `reading` says otherwise."""
    from kernelmeans.tables.files.tables import open_file

    reading = (reading or Reading()).after(model.reading or {})
    return open_file(path, reading, budget=budget, verbatim=verbatim)


def is_file(table: Any) -> bool:
    """Whether this is a table of a file, as `open_table` returns it."""
    return hasattr(table, "matrix")


class NewRows:
    """The rows of a table, in blocks of rows that a model can place.

    Parameters
    ----------
    model : Model
        The model.
    table : FrameTable, ArrayTable, data frame, array-like, sparse matrix or Rows
        The table.

    Attributes
    ----------
    file : FrameTable, ArrayTable or None
        The table, if it is that of a file.
    n_unplaced : int
        Rows so far that the model cannot place because of a value.
    n_empty : int
        Rows so far without any value.
    n_alone : int
        Rows of a graph so far that have no edge to a row of the fit.
    n_zero : int
        Placed rows so far that have no direction, where the kernel compares nothing else.
    doubts : dict
        Numbers so far that may be meant otherwise, one for each column.
    wrong, unseen : dict
        Values so far that should be numbers, and values so far that are new to a category.
    seen : set
        Categories so far with a value of the fit.
    totals : str or None
        What to say of rows that look like totals. Tables of several blocks are too long for that.
    filled : Counter
        Missing values so far that were filled, by column.
    total : ndarray of shape (n_features,)
        Sum of the rows so far that went through `prepared`.
    """

    def __init__(self, model: "Model", table: Any) -> None:
        self.model, self.table, self.first = model, table, model.pipeline[0]
        self.file: Any = table if is_file(table) else None
        self.n_unplaced = self.n_empty = self.n_alone = self.n_zero = 0
        self.wrong: dict[str, tuple[int, str]] = {}
        self.unseen: dict[str, tuple[int, str]] = {}
        self.seen: set[str] = set()
        self.doubts: dict[str, Doubt] = {}
        self.filled: Counter[str] = Counter()
        self.totals: str | None = None
        self.total: Any = np.zeros(1)
        self.transformers, self.estimator = parts(model.pipeline)
        # Arrays have no names of columns. Steps with names would warn of that.
        self.estimator = without_names(self.estimator)
        self.are_numbers = all(type(one) is StandardScaler for one in self.transformers)
        if self.are_numbers:
            self.transformers = [without_names(one) for one in self.transformers]

    def __iter__(self) -> Iterator[tuple[Any, BoolArray]]:
        """Yield the rows of each block that can be placed, and a mask of them in the block."""
        start = 0
        for X in self._blocks():
            if isinstance(self.first, TableTransformer):
                X, placed = self._of_table(X, start)
            elif self.are_numbers:
                placed = _finite_rows(X)
                self.n_unplaced += int((~placed).sum())
                X, placed = self._connected(kept(X, placed), placed)
            else:  # other transformers refuse rows themselves
                placed = np.full(X.shape[0], True)
            start += len(placed)
            yield X, placed

    def _blocks(self) -> Iterator[Any]:
        """Blocks of the table, in the form that the first step takes."""
        if self.file is None:
            yield from self._blocks_in_memory()
            return
        from kernelmeans.tables.files.tables import blocks

        names = columns_in(self.model, self.file)
        if self.are_numbers:
            yield from (X for _, X in blocks(self.file.matrix(names, self.model.dtype)))
        else:
            wanted = dict(zip(names, self.model.columns, strict=True))
            yield from self.file.renamed(wanted, self.model.dtype, BLOCK_ROWS)

    def _blocks_in_memory(self) -> Iterator[Any]:
        """Blocks of a table in memory. Its columns are found by name if the fit had names."""
        X = readable(self.table, self.first)
        if self.are_numbers and hasattr(self.first, "feature_names_in_"):
            if is_frame(X):
                X = X[columns_in(self.model, X)]
            elif getattr(X, "names", None):
                X = X.select(self.first.feature_names_in_)
        n_rows = count_rows(X, self.estimator)
        if not n_rows:
            return
        for rows in X.blocks() if isinstance(X, Rows) else gen_batches(n_rows, BLOCK_ROWS):
            block = X[rows] if isinstance(X, Rows) else taken(X, rows, self.estimator)
            if self.are_numbers and not scipy.sparse.issparse(block):
                given: Any = {"dtype": [np.float64, np.float32], "ensure_all_finite": False}
                block = check_array(block, allow_nd=True, **given)
            yield block

    def _of_table(self, X: Any, start: int) -> tuple[Any, BoolArray]:
        """The rows of a block that a `TableTransformer` can place. Their new values are counted."""
        self.totals = None if start else self.first.totals_in(X, self.file)
        found = self.first.inspect(X)
        for name, (row, value) in found.wrong.items():
            self.wrong.setdefault(name, (start + row, value))
        placed = found.placeable
        self.n_empty += found.n_empty
        self.n_unplaced += int((~placed).sum()) - found.n_empty
        if not placed.any():
            return X, placed
        if not placed.all():  # new values in the other rows do not matter
            X = kept(X, placed)
            found = self.first.inspect(X)
        for name, (count, value) in found.unseen.items():
            before, earliest = self.unseen.get(name, (0, value))
            self.unseen[name] = before + count, earliest
        self.seen |= found.seen
        self.doubts = {**found.doubts, **self.doubts}
        self.filled.update(found.n_missing)  # without "impute" such rows cannot be placed
        return X, placed

    def _connected(self, X: Any, placed: BoolArray) -> tuple[Any, BoolArray]:
        """The rows, except rows of a graph that have no edge to a row of the fit."""
        kernel = self.estimator.kernel_
        if not isinstance(kernel, GraphKernel) or not placed.any():
            return X, placed
        alone = kernel.disconnected(X)
        self.n_alone += int(alone.sum())
        placed[placed] = ~alone
        return X[~alone], placed

    def prepared(self, X: Any) -> Any:
        """Placed rows, in the form that the estimator takes."""
        for step in self.transformers:
            if scipy.sparse.issparse(X) and getattr(step, "with_mean", False):
                source = "table" if self.file is None else self.file.source
                raise InputError(
                    f"{source}: the rows are sparse, but those of the fit were not, and "
                    "were centered: write them as a dense matrix"
                )
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "X: ")  # `remarks` says it once for all blocks
                X = step.transform(X)
        if is_frame(X):  # as set_output asks
            X = np.asarray(X)
        if not is_stacked(self.estimator):
            self.total = self.total + np.asarray(X.sum(axis=0, dtype=float)).ravel()
        return X

    def all_new(self) -> str:
        """The categories without a value of the fit, after all blocks; empty if there are none."""
        return listed([name for name in self.unseen if name not in self.seen])

    def most_unlike(self, n_placed: int) -> str:
        """A sentence on the columns least like the fit, after all blocks; empty if none is."""
        if new := self.all_new():
            return f"The fit has seen none of the values of {new}. "
        names: Sequence[str] = []
        if isinstance(self.first, StandardScaler):
            names = self.model.columns
        elif isinstance(self.first, TableTransformer) and self.first.scaler_:
            names = self.first.get_feature_names_out([one.name for one in self.first.columns_])
        away = np.abs(self.total) / n_placed
        known = set(self.model.columns)  # other names belong to values of categories
        pairs = [pair for pair in zip(away, names, strict=False) if pair[1] in known]
        most, name = max(pairs, default=(0.0, ""))
        if most <= _UNLIKE:
            return ""
        return f"The values of {name!r} are least like those of the fit. "

    def remarks(self, n_placed: int) -> list[str]:
        """Sentences on values and rows that the model does not know, after all blocks."""
        texts = unseen_values(self.unseen)
        if self.totals:
            texts.append(self.totals)
        if self.doubts:
            texts.append(said_doubts(self.doubts))
        if self.filled:
            counts = [
                f"{counted(count, 'missing value')} of {name!r}"
                for name, count in self.filled.most_common()
            ]
            texts.append(f"{first(counts)} filled from rows of the fit")
        if self.n_unplaced:
            wrong = wrong_values(self.wrong, self.file)
            where = wrong if self.wrong else "a column that needs one"
            rows = counted(self.n_unplaced, "row")
            texts.append(f"{rows} without a label: no finite number in {where}")
        if self.n_empty:
            texts.append(without_value(self.n_empty))
        if self.n_zero:
            said = without_direction(self.estimator.kernel_, self.n_zero, n_placed)
            texts.append(said.removeprefix("X: ").removesuffix("."))
        if self.n_alone:
            texts.append(
                f"{counted(self.n_alone, 'row')} without an edge to a row of the fit: no label"
            )
        return texts


def columns_in(model: "Model", table: Any) -> list[str]:
    """Find the columns of a model in a table: by name, or by position where it has no names."""
    of_file = is_file(table)
    names = table.names if of_file else list(map(str, table.columns))
    alike = other_names(names) | {name: name for name in names}
    found = [alike.get(name) or alike.get(single_blanks(name)) for name in model.columns]
    missing = [name for name, own in zip(model.columns, found, strict=True) if own is None]
    if not missing:
        return [name for name in found if name is not None]
    size, of_rows = len(model.columns), is_pairwise(model.pipeline[-1])
    # Models of matrices without names, and those of before, number the rows of the fit.
    numbered = list(model.columns) == list(map(str, range(size)))
    if of_file and ((of_rows and numbered) or not table.named) and len(names) == size:
        return list(names)
    source, kind = (table.source, "file") if of_file else ("table", "table")
    if of_rows:
        raise InputError(
            f"{source}: the model needs a column for each of the {size} rows of its fit, and the "
            f"{kind} has none for {listed(missing, 2)}: --like needs the same rows; for labels of "
            f"new rows give a matrix of shape (n_new, {size}) of the edges, distances or kernel "
            "values between them and the rows of the fit, in the order of the fit; an .h5ad file "
            "may hold it in obsm: --take obsm:edges, in Python read_table(path, take='obsm:edges')"
        )
    ours = set(model.columns)
    # A number is the place of a column: 10 is not like PC10, which usually stands at place 9.
    others = [] if numbered else [name for name in names if name not in ours]
    similar = {name: close for name in missing if (close := nearest(name, others))}
    fills = getattr(model.pipeline[0], "missing", None) == "impute"
    if similar and len({*similar.values()}) == len(similar):
        theirs, names_of_fit = listed(list(similar.values())), listed(list(similar))
        remedy = f"rename {theirs} to {names_of_fit} if these are such"
    elif of_file and not table.named and all(map(str.isdecimal, missing)):
        remedy = "give rows with all columns of the fit, or fit a model of these"
    elif of_file and numbered and str(source).endswith(".h5ad"):
        remedy = (
            "give the matrix of the file that is like that of the fit, as in --take obsm:X_pca, in "
            "Python read_table(path, take='obsm:X_pca')"
        )
    else:
        empty = "add them as empty columns, whose gaps are filled, " * fills
        remedy = f"give the columns the names of the fit, {empty}or fit a model without them"
    raise InputError(
        f"{source}: the model needs {listed(missing)}, which the {kind} does not have; "
        f"its columns are {listed(names)}: {remedy}"
    )


def without_names(step: Any) -> Any:
    """A copy of a step that takes and gives arrays, because it has no names of columns."""
    step = copy(step)
    for name in ("feature_names_in_", "_sklearn_output_config"):
        vars(step).pop(name, None)
    return step


def without_value(count: int) -> str:
    """A remark on rows that hold nothing."""
    return f"{counted(count, 'row')} without a value in any column that is used: no label"


def kept(X: Any, rows: BoolArray) -> Any:
    """Some rows of a block, which is an array, a stack of matrices, or a frame."""
    if rows.all():
        return X
    return X[:, rows] if len(X.shape) == 3 else _safe_indexing(X, rows)


def _finite_rows(X: Any) -> BoolArray:
    if not scipy.sparse.issparse(X):
        axes = (0, 2) if X.ndim == 3 else 1
        return np.asarray(np.isfinite(X).all(axis=axes))
    placed = np.full(X.shape[0], True)
    placed[X.tocoo().row[~np.isfinite(X.tocoo().data)]] = False
    return placed
