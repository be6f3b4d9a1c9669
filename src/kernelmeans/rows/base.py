"""What every matrix of rows answers, wherever its numbers are."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, ClassVar, NoReturn, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from kernelmeans._typing import Array, DType, IntArray
from kernelmeans.engines import tree_sum

Term = TypeVar("Term")
#: Bytes that are read at once where the file does not say better.
READ_BYTES = 32 * 2**20


class Rows(ABC):
    """A matrix of rows that need not be in memory.

    ``rows[a:b]`` and ``rows[indices]`` read into a new array in C order, which the caller may write
    into. Several threads may read at once. Rows can be pickled: the copy opens the file again.

    Parameters
    ----------
    source : str
        What messages call it: mostly the path.
    shape : tuple of int
        Rows and columns.
    dtype : dtype-like
        Of the numbers as they are stored.
    names : list of str or None
        The names of the columns, if they have any.
    chunk : int
        Rows that cost no more to read together than alone.

    Attributes
    ----------
    source, names
        As given.
    shape : tuple of int
        Rows and columns.
    dtype : dtype
        Of the arrays that are read: float32 stays float32, all other numbers become float64.
    chunk : int
        At most the number of rows.

    Raises
    ------
    ValueError
        If there is no row or no column, or what is stored are no real numbers.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from kernelmeans.rows import open_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/data.npy", np.arange(10).reshape(5, 2))
    ...     rows = open_rows(f"{folder}/data.npy")
    ...     blocks = [rows[block] for block in rows.blocks(2)]
    ...     rows.shape, [len(block) for block in blocks], rows[[4, 0]].tolist()
    ...     del rows  # Windows keeps open files
    ((5, 2), [2, 2, 1], [[8.0, 9.0], [0.0, 1.0]])
    """

    ndim: ClassVar[int] = 2

    def __init__(
        self,
        source: str,
        shape: tuple[int, ...],
        dtype: Any,
        names: list[str] | None = None,
        chunk: int = 1,
    ) -> None:
        if len(shape) != 2:
            raise ValueError(
                f"{source}: the array has shape {shape}; rows x columns is needed: reshape it"
            )
        if 0 in shape:
            raise ValueError(
                f"{source}: holds {shape[0]} rows and {shape[1]} columns; give at least one of each"
            )
        self.source = source
        self.shape = (int(shape[0]), int(shape[1]))
        self.dtype = float_type(source, dtype)
        self.names = names
        self.chunk = min(max(int(chunk), 1), self.shape[0])

    @property
    def nbytes(self) -> int:
        """Bytes that all rows would take in memory."""
        return self.shape[0] * self._row_bytes

    @property
    def resident_bytes(self) -> int:
        """Most bytes that stay in memory from one read to the next."""
        return 0

    @property
    def _row_bytes(self) -> int:
        return self.shape[1] * self.dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.source!r}, shape={self.shape}, dtype={self.dtype})"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise TypeError(
            f"{self.source}: rows on disk are not turned into an array unasked, for they may not "
            "fit into memory: take rows[:] if they do, else rows[block] for block in "
            "rows.blocks(most)"
        )

    def __getitem__(self, key: slice | ArrayLike) -> Array:
        if isinstance(key, tuple) and key[1:] == (...,):
            key = key[0]  # as scikit-learn asks for rows
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step == 1 and start < stop:
                return self._range(start, stop)
            key = np.arange(start, stop, step)
        return self._take(self._indices(key))

    def blocks(self, most: int | None = None) -> list[slice]:
        """Divide the rows into blocks that are cheap to read.

        Parameters
        ----------
        most : int, default=None
            Most rows of a block; as many as take 32 MB when None. The more, the cheaper: chunks
            are read as a whole anyway.

        Returns
        -------
        list of slice
            All rows in order. A block holds whole chunks, or lies within one.

        Raises
        ------
        ValueError
            If `most` is not positive.
        """
        if most is None:
            most = max(1, READ_BYTES // self._row_bytes)
        if most < 1:
            raise ValueError(f"most={most!r} must be a positive number of rows.")
        n, unit = len(self), max(self.chunk, most // self.chunk * self.chunk)
        blocks = []
        for first in range(0, n, unit):
            size = min(unit, n - first)
            parts = -(-size // most)
            edges = [first + size * part // parts for part in range(parts + 1)]
            blocks += [slice(*pair) for pair in pairwise(edges)]
        return blocks

    def summed(
        self, function: Callable[..., Term], add: Callable[[Term, Term], Term], *along: Array
    ) -> Term:
        """Sum, in a tree, of what a function makes of every block.

        Parameters
        ----------
        function : callable
            Called with an array of rows, and their part of each array ``along``.
        add : callable
            Sum of what it makes of two neighbours.
        *along : ndarray of shape (n_rows,)
            What it needs of the rows besides.

        Returns
        -------
        Any
            The sum.
        """
        blocks = self.blocks()
        return tree_sum((function(self[b], *(own[b] for own in along)) for b in blocks), add)

    def select(self, columns: Sequence[str | int]) -> "Rows":
        """These columns only.

        Parameters
        ----------
        columns : sequence of str or int
            Names, or positions from 0, in any order, each once.

        Returns
        -------
        Rows
            Of the same rows.

        Raises
        ------
        ValueError
            If there is no such column, or one is named twice.
        """
        found = positions(self.source, columns, self.shape[1], self.names)
        return self if found == list(range(self.shape[1])) else self._select(found)

    def transformed(self, function: Callable[[Array], Any]) -> "Rows":
        """These rows after a function, applied whenever they are read.

        Parameters
        ----------
        function : callable
            From an array of rows, which it may write into, to one of the same shape; each row for
            itself. To pickle the rows it has to be picklable.

        Returns
        -------
        Rows
            Of the same shape and dtype.
        """
        from kernelmeans.rows.derived import TransformedRows

        return TransformedRows(self, function, self.dtype)

    def astype(self, dtype: Any) -> "Rows":
        """These rows in another precision; what is too large for float32 becomes infinite.

        Parameters
        ----------
        dtype : dtype-like
            float32 or float64.

        Returns
        -------
        Rows
            Of the same shape.

        Raises
        ------
        ValueError
            If it is another type.
        """
        from kernelmeans.rows.derived import TransformedRows, unchanged

        if np.dtype(dtype) not in (np.float32, np.float64):
            raise ValueError(f"dtype={dtype!r} must be 'float32' or 'float64'.")
        same = np.dtype(dtype) == self.dtype
        return self if same else TransformedRows(self, unchanged, np.dtype(dtype))

    @abstractmethod
    def _range(self, start: int, stop: int) -> Array:
        """Read rows ``start <= row < stop`` into a new array."""

    def _take(self, indices: IntArray) -> Array:
        """Read single rows in one pass over the file, in the order of `indices`."""
        X = np.empty((len(indices), self.shape[1]), dtype=self.dtype)
        order = np.argsort(indices, kind="stable")
        ascending = indices[order]
        for block in self.blocks():
            first, last = np.searchsorted(ascending, [block.start, block.stop])
            if first < last:
                wanted = ascending[first:last]
                start, stop = int(wanted[0]), int(wanted[-1]) + 1
                X[order[first:last]] = self._range(start, stop)[wanted - start]
        return X

    def _select(self, positions: list[int]) -> "Rows":
        from kernelmeans.rows.derived import SelectedRows

        return SelectedRows(self, positions)

    def _indices(self, key: ArrayLike) -> IntArray:
        """Return indices as numbers from 0, as NumPy understands negative ones."""
        indices = np.asarray(key)
        if indices.ndim != 1 or (indices.size and indices.dtype.kind not in "iu"):
            raise TypeError(
                f"{self.source}: rows are taken by a slice or a one-dimensional array of integers, "
                f"not by {type(key).__name__} of shape {indices.shape} and type {indices.dtype}"
            )
        n, indices = len(self), indices.astype(np.intp)
        if indices.size and not -n <= indices.min() <= indices.max() < n:
            raise IndexError(
                f"{self.source}: rows {indices.min()} to {indices.max()} were asked for, but there "
                f"are {n}, counted from 0"
            )
        return np.where(indices < 0, indices + n, indices)


def positions(
    source: str, columns: Sequence[str | int], width: int, names: Sequence[str] | None
) -> list[int]:
    """Find columns by name or position.

    Parameters
    ----------
    source : str
        What messages call the matrix.
    columns : sequence of str or int
        What is looked for.
    width : int
        The number of columns.
    names : sequence of str or None
        Their names, if they have any.

    Returns
    -------
    list of int
        Positions from 0, in the order of `columns`.

    Raises
    ------
    ValueError
        If a column is unknown or named twice, or none is named.
    """
    known: dict[str | int, int] = {j: j for j in range(width)}
    known |= {name: j for j, name in enumerate(names or ())}
    if unknown := [column for column in columns if column not in known]:
        named = f", or named {', '.join(map(repr, names[:10]))}" if names else ""
        raise ValueError(
            f"{source}: columns={list(columns)!r} has {unknown[0]!r}, which is no column; they are "
            f"counted from 0 to {width - 1}{named}"
        )
    found = [known[column] for column in columns]
    if not found or len(set(found)) < len(found):
        raise ValueError(
            f"{source}: columns={list(columns)!r} must name at least one column, and none twice"
        )
    return found


def float_type(source: str, dtype: Any) -> DType:
    """The dtype in which numbers are read.

    Parameters
    ----------
    source : str
        What messages call the matrix.
    dtype : dtype-like
        In which they are stored.

    Returns
    -------
    dtype
        float32 for float32 of any byte order, else float64.

    Raises
    ------
    ValueError
        If the values are no real numbers.
    """
    stored = np.dtype(dtype)
    if stored.kind not in "fiub":
        raise ValueError(f"{source}: holds {stored} values, not real numbers: convert them")
    single = stored.kind == "f" and stored.itemsize == 4
    return np.dtype(np.float32) if single else np.dtype(np.float64)
