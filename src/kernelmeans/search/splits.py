"""Halves of rows, and of kernel matrices and graphs by rows and columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from sklearn.utils import check_array

from kernelmeans._arrays import to_numpy
from kernelmeans._fitted import is_pairwise, is_stacked
from kernelmeans._memory import cached_property
from kernelmeans._sklearn import _num_samples, _safe_indexing
from kernelmeans._typing import Array, BoolArray, IntArray
from kernelmeans.heat.digests import digests
from kernelmeans.metrics import stability
from kernelmeans.rows import Rows, as_rows
from kernelmeans.search.pieces import pieces_of
from kernelmeans.search.reference import Reference

#: What libraries of tables call the names of columns.
FRAMES = {"pandas": "columns", "polars": "schema"}
#: Seeds are below this.
SEEDS = np.iinfo(np.int32).max
#: Number of splits in the first round and in each later one. A round ends by leaving out
#: candidates.
FIRST_ROUND, ROUND = 3, 2
#: Number of splits that check the pieces of a table, and least adjusted Rand index between these
#: pieces and those of halves. Arms of spirals have 0.5 to 0.7, pieces by chance 0.1.
LOOKS, STAND = 4, 0.25
#: Fraction of the different rows that stand several times, from which a search looks at each once,
#: and fewest of these rows.
REPEATED, FEWEST_ONCE = 0.1, 50
#: Label of a row in no cluster: it has no edge to the rows of the fit, or is noise.
UNPLACED = -1


class Split(NamedTuple):
    """Two halves of the rows, and the seed of the fits on them.

    Attributes
    ----------
    seed : int
        The same for all candidates.
    halves : tuple of two ndarray of int
        Indices in ascending order; the sizes differ by at most 1.
    """

    seed: int
    halves: tuple[IntArray, IntArray]

    @classmethod
    def of(cls, n_rows: int, seed: int) -> "Split":
        """Draw a split."""
        order = np.random.default_rng(seed).permutation(n_rows)
        return cls(seed, (np.sort(order[: n_rows // 2]), np.sort(order[n_rows // 2 :])))

    def placed(self, labels: Sequence[IntArray]) -> BoolArray | None:
        """Rows that have a label by the models of both halves; None if a half has no such row."""
        rows: BoolArray = (labels[0] >= 0) & (labels[1] >= 0)
        return rows if all(rows[half].any() for half in self.halves) else None


@dataclass(frozen=True, eq=False)
class Samples:
    """What a search is fitted to, and how it is cut.

    Parameters
    ----------
    X : object
        Rows of features of any kind, a matrix between all rows, or a stack of such matrices.
    pairwise : bool
        Whether columns stand for rows too, as those of a kernel matrix or a graph do.
    stacked : bool
        Whether X is a stack (L, n_rows, n_rows).

    Attributes
    ----------
    n_rows : int
        Number of rows.
    """

    X: Any
    pairwise: bool = False
    stacked: bool = False

    @classmethod
    def of(cls, X: Any, estimators: Sequence[Any]) -> "Samples":
        """Look at X as estimators do, which have to agree."""
        kinds = {(is_pairwise(one), is_stacked(one)) for one in estimators}
        if len(kinds) > 1:
            raise ValueError(
                "param_grid: some candidates take rows of features, and others a matrix between "
                "rows or a stack of such matrices; search over each kind by itself."
            )
        ((pairwise, stacked),) = kinds
        if pairwise or stacked:
            X = check_array(X, accept_sparse="csr", ensure_2d=not stacked, allow_nd=stacked)
            if X.ndim != 2 + stacked or X.shape[-1] != X.shape[-2]:
                raise ValueError(
                    f"X should be a square matrix between all rows, or a stack of them; got shape "
                    f"{X.shape}."
                )
        elif (rows := as_rows(X)) is not None:
            X = rows
        return cls(X, pairwise or stacked, stacked)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[1] if self.stacked else _num_samples(self.X))

    @cached_property
    def n_distinct(self) -> int:
        """Number of distinct rows; of all rows if X is no table of numbers."""
        return self.n_rows if self.table is None else len(np.unique(digests(self.table)))

    @property
    def loaded(self) -> Any:
        """X, in memory."""
        return self.X[:] if isinstance(self.X, Rows) else self.X

    def like(self, rows: Array) -> Any:
        """Rows as a table with the columns of X, if these have names."""
        X, library = self.X, type(self.X).__module__.split(".")[0]
        if isinstance(X, Rows):
            return Rows(rows, X.source, X.names) if X.names else rows
        if library in FRAMES:
            return type(X)(rows, **{FRAMES[library]: X.columns})
        return rows

    @cached_property
    def table(self) -> Array | None:
        """X, if it is a table of numbers."""
        if self.pairwise or scipy.sparse.issparse(self.X):
            return None
        try:
            found: Array = check_array(self.loaded, dtype=[np.float64, np.float32])
        except (TypeError, ValueError):
            return None
        return found

    @cached_property
    def reference(self) -> Reference | None:
        """Data without clusters, if X is a table of numbers."""
        return None if self.table is None else Reference(self.table)

    @cached_property
    def pieces(self) -> IntArray | None:
        """The pieces of X that no near neighbours connect, if X is a table of numbers.

        A single one if halves of the rows have other pieces: a small table has some by chance.
        """
        if (X := self.table) is None:
            return None
        whole = pieces_of(X)
        if not whole.any():
            return whole
        halves = [half for seed in range(LOOKS) for half in Split.of(len(X), seed).halves]
        agreement = np.mean([stability(whole[half], pieces_of(X[half])) for half in halves])
        return whole if agreement >= STAND else np.zeros_like(whole)

    def among(self, rows: IntArray) -> Any:
        """X for a fit to some rows."""
        if self.stacked:
            return self.X[:, rows[:, None], rows]
        chosen = _safe_indexing(self.X, rows)
        if isinstance(self.X, Rows):
            return self.like(chosen)
        return chosen[:, rows] if self.pairwise else chosen

    def towards(self, rows: IntArray) -> Any:
        """X to predict all rows with a model of some."""
        return self.X[..., rows] if self.pairwise else self.X

    def sample(self, most: int, seed: int) -> IntArray:
        """All rows, or so many of them at random, and of copies the first; in ascending order."""
        rows = np.arange(self.n_rows)
        if self.n_rows > most:
            rows = np.sort(np.random.default_rng(seed).permutation(self.n_rows)[:most])
        return rows[self.subset(rows)._once]

    @property
    def _once(self) -> IntArray:
        """The rows without copies, which would be found again in the other half.

        Rows that are equal by chance are no copies: then no two columns have mostly different
        values. Nor is a single row that stands often, which may be a cluster.
        """
        every, X = np.arange(self.n_rows), self.table
        if X is None or X.shape[1] == 1:
            return every
        _, first, counts = np.unique(digests(X), return_index=True, return_counts=True)
        are_copied = np.count_nonzero(counts > 1) > REPEATED * len(first)
        fine = (True for values in X[first].T if 2 * len(np.unique(values)) > len(first))
        if are_copied and len(first) >= FEWEST_ONCE and len(list(islice(fine, 2))) == 2:
            return np.sort(first)
        return every

    def subset(self, rows: IntArray) -> "Samples":
        """Some rows alone, in memory."""
        if len(rows) == self.n_rows and not isinstance(self.X, Rows):
            return self
        return Samples(self.among(rows), self.pairwise, self.stacked)

    def labels(self, model: Any, rows: IntArray) -> IntArray:
        """Labels of all rows by a model that has been fitted to some.

        Returns
        -------
        ndarray of int of shape (n_rows,)
            `UNPLACED` for rows that have no edge to those of the fit. Negative for noise.

        Raises
        ------
        ValueError
            If the model does not give a label to each row.
        """
        X, labels = self.towards(rows), np.full(self.n_rows, UNPLACED)
        placed = np.full(self.n_rows, True)
        try:
            found = np.asarray(to_numpy(model.predict(X)))
        except ValueError:
            # A graph refuses rows without an edge. In a kernel matrix they are rows of zeros.
            placed = _has_entry(X) if self.pairwise and not self.stacked else placed
            if placed.all():
                raise
            found = np.asarray(to_numpy(model.predict(X[placed])))
        if found.shape != (int(placed.sum()),):
            raise ValueError(
                f"{model}: predict gave an array of shape {found.shape} for {placed.sum()} rows; "
                "a search needs an estimator whose predict gives each new row a label."
            )
        labels[placed] = found
        return labels


def _has_entry(X: Any) -> BoolArray:
    """Which rows have an entry."""
    if scipy.sparse.issparse(X):
        return np.asarray(np.diff(X.indptr) > 0)
    return np.asarray(X.any(axis=1))
