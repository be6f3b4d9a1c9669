"""One adapter over whatever has a shape, a dtype and slices."""

from collections.abc import Callable, Sequence
from copy import copy
from itertools import pairwise
from threading import Lock
from typing import Any, ClassVar, NoReturn, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelmeans._given import plain
from kernelmeans._text import suggestion
from kernelmeans._typing import Array, DType, IntArray
from kernelmeans.engines import tree_sum

Term = TypeVar("Term")
#: Bytes that are read at once unless chunks say otherwise.
READ_BYTES = 32 * 2**20
#: Bytes that are in memory twice while they are read, unless chunks are larger.
COPIED_BYTES = 4 * 2**20
#: Bytes within which scattered rows are read at once.
GATHER_BYTES = 64 * 2**10
#: Most bytes of a chunk that is read as a whole, because the last chunks stay in memory. Larger
#: chunks are read in parts of this size.
CHUNK_BYTES = 128 * 2**20
#: Number of chunks that stay in memory. Threads that read in order are in one chunk or the next.
HELD_CHUNKS = 2


class Rows:
    """A matrix of rows that need not be in memory.

    ``rows[a:b]`` and ``rows[indices]`` read into a new array in C order, which the caller may write
    into. Several threads may read at once. Rows can be pickled if their array can.

    Parameters
    ----------
    array : object of shape (n_rows, n_columns)
        Has ``shape`` and ``dtype``, and ``array[a:b]`` reads rows.
    source : str
        The name of the array in messages; usually its path.
    names : list of str, default=None
        Names of the columns, if there are any.
    chunk : int, default=1
        Rows that the array can only read together.

    Attributes
    ----------
    source, names
        As given.
    shape : tuple of int
        Rows and columns.
    dtype : dtype
        That of blocks: float32 stays float32, all other numbers become float64.
    chunk : int
        As given, but at most the number of rows, and at most 128 MB.

    Raises
    ------
    ValueError
        If there is no row or no column, or the array does not hold real numbers.

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
        self, array: Any, source: str, names: list[str] | None = None, chunk: int = 1
    ) -> None:
        shape = array.shape
        if len(shape) != 2:
            raise ValueError(
                f"{source}: the array has shape {shape}; rows x columns is needed: reshape it"
            )
        if 0 in shape:
            raise ValueError(
                f"{source}: holds {shape[0]} rows and {shape[1]} columns; give at least one of each"
            )
        self.array, self.source, self.names = array, source, names
        self.shape = (int(shape[0]), int(shape[1]))
        self.dtype = float_type(source, array.dtype)
        self.chunk = max(1, min(int(chunk), CHUNK_BYTES // self._row_bytes, len(self)))
        self._columns: list[int] | None = None
        self._finite = False
        self.__setstate__({})

    @property
    def nbytes(self) -> int:
        """Bytes that all rows would take in memory."""
        return self.shape[0] * self._row_bytes

    @property
    def _row_bytes(self) -> int:
        return self.shape[1] * self.dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.source!r}, shape={self.shape}, dtype={self.dtype})"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise TypeError(
            f"{self.source}: not loaded implicitly, because it may not fit into memory. Use "
            "rows[:] to load it, or read rows[block] for block in rows.blocks()."
        )

    def __getitem__(self, key: slice | ArrayLike) -> Array:
        if isinstance(key, tuple) and key[1:] == (...,):
            key = key[0]  # scikit-learn asks for rows like this
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step == 1 and start < stop:
                return self._range(start, stop)
            key = np.arange(start, stop, step)
        return self._gather(self._indices(key))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_held", "_lock")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._held: dict[int, Array] = {}
        self._lock = Lock()

    def blocks(self, most: int | None = None) -> list[slice]:
        """Divide the rows into blocks that are cheap to read.

        Parameters
        ----------
        most : int, default=None
            Most rows of a block; as many as take 32 MB when None. Larger blocks are read faster.

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
        n, unit = len(self), self._whole_chunks(most)
        blocks = []
        for first in range(0, n, unit):
            size = min(unit, n - first)
            count = -(-size // most)
            edges = [first + size * i // count for i in range(count + 1)]
            blocks += [slice(*pair) for pair in pairwise(edges)]
        return blocks

    def summed(
        self, function: Callable[..., Term], add: Callable[[Term, Term], Term], *per_row: Array
    ) -> Term:
        """Sum of a function over the blocks, in a tree.

        Parameters
        ----------
        function : callable
            Called with the rows of a block, and with its values of each array of ``per_row``.
        add : callable
            Sum of two values of the function.
        *per_row : ndarray of shape (n_rows,)
            Further arguments of the function: one value for each row.

        Returns
        -------
        Any
            The sum.
        """
        blocks = self.blocks()
        terms = (function(self[block], *(values[block] for values in per_row)) for block in blocks)
        return tree_sum(terms, add)

    def mapped(self, function: Callable[[Array], Array], empty: Array) -> Any:
        """Results of a function for all rows, block by block.

        Parameters
        ----------
        function : callable
            Called with the rows of a block; must not depend on other blocks.
        empty : ndarray of shape (0,) or (0, width)
            The result for no rows.

        Returns
        -------
        ndarray or dask array of shape (n_rows,) or (n_rows, width)
            The results; of Dask collections they are not yet computed.
        """
        return np.concatenate([function(self[block]) for block in self.blocks()])

    def select(self, columns: Sequence[str | int]) -> "Rows":
        """These columns only.

        Parameters
        ----------
        columns : sequence of str or int
            Names, or positions from 0, in any order, each once.

        Returns
        -------
        Rows
            The same rows.

        Raises
        ------
        ValueError
            If a column is unknown, or is named twice.
        """
        found = positions(self.source, columns, self.shape[1], self.names)
        return self if found == list(range(self.shape[1])) else self._select(found)

    def finite(self) -> "Rows":
        """These rows with a check for NaN and infinity in every read, because files change.

        Returns
        -------
        Rows
            The same rows. Reading raises ValueError.
        """
        rows = copy(self)
        rows._finite = True
        return rows

    def _select(self, positions: list[int]) -> "Rows":
        rows = copy(self)
        held = range(self.shape[1]) if self._columns is None else self._columns
        rows._columns = [held[j] for j in positions]
        rows.shape = (len(self), len(positions))
        rows.names = None if self.names is None else [self.names[j] for j in positions]
        return rows

    def _whole_chunks(self, most: int) -> int:
        """At most so many rows in whole chunks, but at least one chunk."""
        return max(self.chunk, most // self.chunk * self.chunk)

    def _range(self, start: int, stop: int) -> Array:
        """Rows ``start <= row < stop``; a chunk is read once for all blocks within it."""
        first = start - start % self.chunk
        last = min(first + self.chunk, len(self))
        if stop > last or (start, stop) == (first, last):
            return self._read(start, stop)
        chunk = self._held.get(first)
        if chunk is None:
            with self._lock:
                chunk = self._held.get(first)  # another thread may have read it meanwhile
                if chunk is None:
                    if len(self._held) == HELD_CHUNKS:
                        del self._held[next(iter(self._held))]
                    chunk = self._held[first] = self._read(first, last)
        return chunk[start - first : stop - first].copy()

    def _gather(self, indices: IntArray) -> Array:
        """Single rows, in the order of `indices`, in one pass over the array."""
        X = np.empty((len(indices), self.shape[1]), dtype=self.dtype)
        order = np.argsort(indices, kind="stable")
        ascending = indices[order]
        unit = ascending // self._whole_chunks(GATHER_BYTES // self._row_bytes)
        for first, last in pairwise(np.flatnonzero(np.diff(unit, prepend=-1, append=-1))):
            wanted = ascending[first:last]
            start, stop = int(wanted[0]), int(wanted[-1]) + 1
            X[order[first:last]] = self._range(start, stop)[wanted - start]
        return X

    def _read(self, start: int, stop: int) -> Array:
        """Rows in a new array, filled in small parts: only one of them is in memory twice."""
        X = np.empty((stop - start, self.shape[1]), self.dtype)
        most = self._whole_chunks(COPIED_BYTES // (self.array.shape[1] * self.dtype.itemsize))
        edges = [start, *range(start - start % most + most, stop, most), stop]
        with np.errstate(over="ignore", invalid="ignore"):
            for first, last in pairwise(edges):
                found = self._load(first, last)
                block = X[first - start : last - start]
                block[:] = found if self._columns is None else found[:, self._columns]
                # The sum of finite numbers may overflow, but seldom does.
                if self._finite and not (np.isfinite(block.sum()) or np.isfinite(block).all()):
                    raise ValueError(
                        f"{self.source}: Input X contains NaN or infinity in rows {first} to "
                        f"{last - 1}; fill in or remove such values, and leave the file as it is "
                        "while it is read"
                    )
        return X

    def _load(self, start: int, stop: int) -> NDArray[Any]:
        """All columns of rows, from the array; its file may be damaged, or may have changed."""
        which = f"{self.source}: rows {start} to {stop - 1}"
        try:
            read = self.array[start:stop]
            found = np.asarray(read)
            float_type(self.source, found.dtype)  # a damaged store may return text
        except MemoryError:
            raise
        except Exception as error:  # a damaged file can fail in any way
            raise OSError(
                f"{which} cannot be read ({error}): the file is damaged, or was changed meanwhile"
            ) from error
        expected = (stop - start, self.array.shape[1])
        if found.shape != expected:
            raise OSError(
                f"{which} have shape {found.shape}, not {expected}: the file was changed "
                "meanwhile; open it again"
            )
        plain(read, which)
        return found

    def _indices(self, key: ArrayLike) -> IntArray:
        """Indices counted from 0; negative ones count from the end, as in NumPy."""
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
        The name of the matrix in messages.
    columns : sequence of str or int
        The columns to find.
    width : int
        The number of columns.
    names : sequence of str or None
        Their names, if there are any.

    Returns
    -------
    list of int
        Positions from 0, in the order of `columns`.

    Raises
    ------
    ValueError
        If a column is unknown or named twice, or there is none.
    """
    known: dict[str | int, int] = {j: j for j in range(width)}
    known |= {name: j for j, name in enumerate(names or ())}
    if unknown := [column for column in columns if column not in known]:
        named = f", or named {', '.join(map(repr, names[:10]))}" if names else ""
        raise ValueError(
            f"{source}: columns={list(columns)!r} has {unknown[0]!r}, which is no column; they are "
            f"counted from 0 to {width - 1}{named}{suggestion(unknown[0], names or ())}"
        )
    found = [known[column] for column in columns]
    if not found or len(set(found)) < len(found):
        raise ValueError(
            f"{source}: columns={list(columns)!r} must name at least one column, and none twice"
        )
    return found


def float_type(source: str, dtype: Any) -> DType:
    """The dtype of numbers once they are read.

    Parameters
    ----------
    source : str
        The name of the matrix in messages.
    dtype : dtype-like
        That of the stored numbers.

    Returns
    -------
    dtype
        float32 for float16 and float32 of any byte order, else float64.

    Raises
    ------
    ValueError
        If they are no real numbers.
    """
    stored = np.dtype(dtype)
    if stored.kind not in "fiub":
        raise ValueError(f"{source}: holds {stored} values, not real numbers: convert them")
    single = stored.kind == "f" and stored.itemsize <= 4
    return np.dtype(np.float32) if single else np.dtype(np.float64)
