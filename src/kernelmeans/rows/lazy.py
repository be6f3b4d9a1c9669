"""Rows of Dask arrays and data frames."""

import sys
from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from kernelmeans._typing import Array, IntArray
from kernelmeans.engines.cluster import Cluster, upright
from kernelmeans.rows.base import Rows

Term = TypeVar("Term")


class DaskRows(Rows):
    """Rows of a Dask collection; they are computed whenever they are asked for.

    Parameters
    ----------
    collection : dask array of shape (n_rows, n_columns) or dask dataframe
        Chunks of unknown length are measured; each row is put into a single chunk.

    Raises
    ------
    ValueError
        If it is no matrix, or does not hold real numbers.
    """

    def __init__(self, collection: Any) -> None:
        collection, names = _as_array(collection)
        super().__init__("dask array", collection.shape, collection.dtype, names)
        if collection.numblocks[1] > 1:
            collection = collection.rechunk({1: -1})
        array = collection.astype(self.dtype)
        # In C order, as what is read is: sums in other orders round differently.
        self.array = array.map_blocks(upright, dtype=self.dtype, meta=array._meta)
        self.chunk = max(self.array.chunks[0])

    @property
    def chunks(self) -> list[slice]:
        """The rows of each chunk; empty ones are left out."""
        edges = np.concatenate([[0], np.cumsum(self.array.chunks[0])]).tolist()
        return [slice(start, stop) for start, stop in pairwise(edges) if start < stop]

    def blocks(self, most: int | None = None) -> list[slice]:
        """The chunks, however large: a part of one costs as much as the whole."""
        return self.chunks

    def summed(
        self, function: Callable[..., Term], add: Callable[[Term, Term], Term], *along: Array
    ) -> Term:
        """Sum of what a function makes of every chunk; on the workers, where there are any."""
        cluster = Cluster.find()
        if cluster is None:
            return super().summed(function, add, *along)
        from dask.delayed import delayed

        pairs = zip(self.lazy_chunks(), self.chunks, strict=True)
        own = [delayed(function)(c, *(values[part] for values in along)) for c, part in pairs]
        terms = cluster.started(own)
        total: Term = cluster.total(terms, add)
        return total

    def lazy_chunks(self) -> list[Any]:
        """A delayed array for each of `chunks`."""
        delayed = self.array.to_delayed().ravel()
        return [d for d, rows in zip(delayed, self.array.chunks[0], strict=True) if rows]

    def _select(self, positions: list[int]) -> "DaskRows":
        return DaskRows(self.array[:, positions])

    def like(self, values: Array) -> Any:
        """Values (n_rows,) that have been computed, as a dask array with the chunks of these."""
        from dask.array import from_array

        return from_array(values, self.array.chunks[:1])  # type: ignore[no-untyped-call]

    def _range(self, start: int, stop: int) -> Array:
        return np.array(computed(self.array[start:stop]), order="C")

    def _take(self, indices: IntArray) -> Array:
        distinct, places = np.unique(indices, return_inverse=True)
        return np.asarray(computed(self.array[distinct]))[places]


def is_dask(X: Any) -> bool:
    """Whether X is a Dask collection, told without importing Dask."""
    return "dask" in sys.modules and sys.modules["dask"].is_dask_collection(X)


def computed(collection: Any) -> Any:
    """What a Dask collection holds: from the cluster there is, else made in this thread.

    Parameters
    ----------
    collection : Dask collection
        Anything lazy.

    Returns
    -------
    Any
        Mostly an array.

    Raises
    ------
    MemoryError
        If workers cannot make it.
    """
    cluster = Cluster.find()
    if cluster is None:
        return collection.compute(scheduler="synchronous")
    return cluster.computed(collection)


def _as_array(collection: Any) -> tuple[Any, list[str] | None]:
    """A dask array with chunks of known lengths, and the names of its columns."""
    names = None
    held = getattr(collection, "_meta", None)
    if hasattr(held, "columns"):
        columns = list(collection.columns)
        # As in scikit-learn, columns have names only if all of these are texts.
        names = columns if all(isinstance(name, str) for name in columns) else None
        collection = collection.to_dask_array(lengths=True)
    elif not isinstance(held, np.ndarray):
        what = type(collection if held is None else held).__name__
        raise ValueError(
            f"X: Dask collections must be dataframes, or dask arrays of NumPy arrays, got {what}; "
            "for arrays of another type, use X.map_blocks to convert their chunks."
        )
    if collection.ndim == 2 and np.isnan(collection.shape[0]):
        # Of a copy: this changes the array it is asked of.
        collection = collection.copy().compute_chunk_sizes()
    return collection, names
