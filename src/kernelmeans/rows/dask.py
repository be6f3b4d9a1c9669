"""Rows of Dask arrays and data frames."""

import sys
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from kernelmeans._typing import Array, IntArray
from kernelmeans.engines.cluster import Cluster, aligned, packed, unpacked
from kernelmeans.rows.base import Rows

Term = TypeVar("Term")


class DaskRows(Rows):
    """Rows of a Dask collection; each read computes them.

    Parameters
    ----------
    collection : dask array of shape (n_rows, n_columns) or dask dataframe
        Chunks of unknown length are measured, and each row is put into a single chunk.

    Raises
    ------
    ValueError
        If it is no matrix, or does not hold real numbers.
    """

    def __init__(self, collection: Any) -> None:
        array, names = _as_array(collection)
        super().__init__(array, "dask array", names)
        if array.numblocks[1] > 1:
            array = array.rechunk({1: -1})
        array = array.astype(self.dtype)
        # In C order, as all rows: sums in other orders are rounded differently.
        self.array = array.map_blocks(aligned, dtype=self.dtype, meta=array._meta)
        self.chunk = max(self.array.chunks[0])

    def blocks(self, most: int | None = None) -> list[slice]:
        """The chunks that have rows, however large: a part of one takes as long as the whole."""
        edges = np.concatenate([[0], np.cumsum(self.array.chunks[0])]).tolist()
        return [slice(start, stop) for start, stop in pairwise(edges) if start < stop]

    def delayed_blocks(self) -> list[Any]:
        """A delayed array for each of the blocks."""
        delayed = self.array.to_delayed().ravel()
        return [d for d, rows in zip(delayed, self.array.chunks[0], strict=True) if rows]

    def summed(
        self, function: Callable[..., Term], add: Callable[[Term, Term], Term], *per_row: Array
    ) -> Term:
        """Sum of a function over the chunks, on the workers if there are any."""
        cluster = Cluster.find()
        if cluster is None:
            return super().summed(function, add, *per_row)
        from dask.delayed import delayed

        pairs = zip(self.delayed_blocks(), self.blocks(), strict=True)
        terms = [
            delayed(function)(chunk, *(values[block] for values in per_row))
            for chunk, block in pairs
        ]
        total: Term = cluster.total(cluster.started(terms), add)
        return total

    def mapped(self, function: Callable[[Array], Array], empty: Array) -> Any:
        """As for other rows, but lazily: a dask array."""
        chunks = {"chunks": (self.array.chunks[0], empty.shape[1:])}
        shape: Any = chunks if empty.ndim > 1 else {"drop_axis": 1}
        of_chunk = partial(_of_chunk, packed(function), empty)
        return self.array.map_blocks(of_chunk, meta=empty, dtype=empty.dtype, **shape)

    def finite(self) -> "DaskRows":
        """The same rows: the worker that holds a chunk looks for NaN."""
        return self

    def like(self, values: Array) -> Any:
        """Computed values (n_rows, ...) as a dask array with the chunks of these rows."""
        from dask.array import from_array

        chunks = self.array.chunks[0], *values.shape[1:]
        return from_array(values, chunks)  # type: ignore[no-untyped-call]

    def _select(self, positions: list[int]) -> "DaskRows":
        return DaskRows(self.array[:, positions])

    def _range(self, start: int, stop: int) -> Array:
        return np.array(computed(self.array[start:stop]), order="C")

    def _gather(self, indices: IntArray) -> Array:
        # In ascending order, because Dask then cuts chunks into fewer parts.
        distinct, places = np.unique(indices, return_inverse=True)
        return np.asarray(computed(self.array[distinct]))[places]


def _of_chunk(function: bytes, empty: Array, chunk: Array) -> Array:
    """The result of a function that was `packed` for a chunk, which may be empty."""
    found: Array = unpacked(function)[0](aligned(chunk)) if len(chunk) else empty
    return found


def is_dask(X: Any) -> bool:
    """Whether X is a Dask collection; Dask is not imported."""
    return "dask" in sys.modules and sys.modules["dask"].is_dask_collection(X)


def computed(collection: Any) -> Any:
    """Compute a Dask collection on the cluster in use, or else in this thread.

    Parameters
    ----------
    collection : Any
        What to compute.

    Returns
    -------
    Any
        Its value, usually an array; anything but a Dask collection as it is.

    Raises
    ------
    MemoryError
        If workers run out of memory.
    """
    if not is_dask(collection):
        return collection
    cluster = Cluster.find()
    if cluster is None:
        return collection.compute(scheduler="synchronous")
    return cluster.computed(collection)


def _as_array(collection: Any) -> tuple[Any, list[str] | None]:
    """A dask array with chunks of known lengths, and the names of its columns."""
    names = None
    meta = getattr(collection, "_meta", None)
    if hasattr(meta, "columns"):
        columns = list(collection.columns)
        # As in scikit-learn, columns have names only if all of them are strings.
        names = columns if all(isinstance(name, str) for name in columns) else None
        lengths = tuple(computed(collection.map_partitions(len)))
        collection = collection.to_dask_array(lengths=lengths)
    elif not isinstance(meta, np.ndarray) or isinstance(meta, np.ma.MaskedArray):
        what = type(collection if meta is None else meta).__name__
        raise ValueError(
            f"X: Dask collections must be dataframes, or dask arrays of NumPy arrays, got {what}; "
            "for arrays of another type, use X.map_blocks to convert their chunks."
        )
    if collection.ndim == 2 and np.isnan(collection.shape[0]):
        collection = _measured(collection)
    return collection, names


def _measured(array: Any) -> Any:
    """The same array, whose chunks have known lengths.

    Dask's own ``compute_chunk_sizes`` would wait for ever for a scheduler that hangs.
    """
    from dask.array import Array as DaskArray

    rows, columns = array.numblocks
    chunks = (1,) * rows, (2,) * columns
    shapes = computed(
        array.map_blocks(_shape, dtype=int, chunks=chunks, meta=np.empty((0, 0), int))
    )
    lengths = tuple(shapes[:, 0].tolist()), tuple(shapes[0, 1::2].tolist())
    return DaskArray(array.dask, array.name, lengths, meta=array._meta)  # type: ignore[no-untyped-call]


def _shape(chunk: Array) -> IntArray:
    return np.array([chunk.shape])
