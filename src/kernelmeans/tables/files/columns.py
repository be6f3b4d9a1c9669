"""The columns of a file that describe clusters."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy.sparse

from kernelmeans._memory import cached_property
from kernelmeans._typing import Array, BoolArray
from kernelmeans.rows import Rows
from kernelmeans.tables.files.tables import FileTable

_WORDS = {True: "yes", False: "no", None: None}


@dataclass(frozen=True)
class FileColumns(Mapping[str, Array]):
    """Some columns as they stand in a file, of which one is in memory.

    Parameters
    ----------
    table : FrameTable or ArrayTable
        The file.
    names : sequence of str
        The columns.
    rows : ndarray of bool
        Which rows of the file are taken.
    """

    table: FileTable
    names: Sequence[str]
    rows: BoolArray

    @classmethod
    def of(cls, table: FileTable, rows: BoolArray, *, pairwise: bool = False) -> Self:
        """Take all columns that can be read one by one and do not name the rows.

        Those of a matrix between rows (`pairwise`) are rows. Those of an array on disk are not read
        one by one, and those of a sparse matrix say nothing without names.
        """
        names, array = list(table.annotations), getattr(table, "array", None)
        has_meaning = table.named or not scipy.sparse.issparse(array)
        if has_meaning and not pairwise and not isinstance(array, Rows):
            names += table.names
        return cls(table, names, rows).without([table.row_names])

    def without(self, names: Collection[str | None]) -> Self:
        """The other columns."""
        return replace(self, names=[name for name in self.names if name not in names])

    def __getitem__(self, name: str) -> Array:
        """The values of a column, with words for true and false."""
        if (place := self._places.get(name)) is not None:
            return np.asarray(self._sparse[:, [place]].toarray().ravel()[self.rows])
        values = np.asarray(self.table.column(name))
        if values.dtype.kind in "bO" and {*map(type, values.tolist())} <= {bool, type(None)}:
            values = np.array([_WORDS[value] for value in values.tolist()], dtype=object)
        return np.asarray(values[self.rows])

    @cached_property
    def _places(self) -> dict[str, int]:
        """Places in `_sparse`."""
        if not scipy.sparse.issparse(getattr(self.table, "array", None)):
            return {}
        own = [name for name in self.names if name not in self.table.annotations]
        return {name: place for place, name in enumerate(own)}

    @cached_property
    def _sparse(self) -> Any:
        """These columns of a sparse matrix, in the form of which single ones are read fast."""
        return self.table.matrix(list(self._places), "float64").tocsc()

    def __contains__(self, name: object) -> bool:
        # The file may have more columns.
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)
