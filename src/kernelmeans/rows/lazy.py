"""Rows of Dask arrays and data frames."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from kernelmeans._typing import Array, IntArray
from kernelmeans.rows.base import Rows, float_type

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
        names = None
        if hasattr(collection, "to_dask_array"):
            names = [str(name) for name in collection.columns]
            collection = collection.to_dask_array(lengths=True)
        if collection.ndim == 2 and np.isnan(collection.shape[0]):
            collection = collection.compute_chunk_sizes()
        super().__init__("dask array", collection.shape, collection.dtype, names)
        if collection.numblocks[1] > 1:
            collection = collection.rechunk({1: -1})
        self.array = collection.astype(float_type(self.source, collection.dtype))
        self.chunk = max(self.array.chunks[0])

    @property
    def chunks(self) -> list[slice]:
        """The rows of each chunk; empty ones are left out."""
        edges = np.concatenate([[0], np.cumsum(self.array.chunks[0])]).tolist()
        return [slice(start, stop) for start, stop in pairwise(edges) if start < stop]

    def blocks(self, most: int | None = None) -> list[slice]:
        """The chunks, however large: a part of one costs as much as the whole."""
        return self.chunks

    def summed(self, function: Callable[[Array], Term], add: Callable[[Term, Term], Term]) -> Term:
        """Sum of what a function makes of every chunk; on the workers, where there are any."""
        from kernelmeans.engines.cluster import Cluster

        cluster = Cluster.find()
        if cluster is None:
            return super().summed(function, add)
        from dask.delayed import delayed

        terms = cluster.started([delayed(function)(chunk) for chunk in self.lazy_chunks()])
        total: Term = cluster.total(terms, add)
        return total

    def lazy_chunks(self) -> list[Any]:
        """A delayed array for each of `chunks`."""
        delayed = self.array.to_delayed().ravel()
        return [d for d, rows in zip(delayed, self.array.chunks[0], strict=True) if rows]

    def _select(self, positions: list[int]) -> "DaskRows":
        return DaskRows(self.array[:, positions])

    def _range(self, start: int, stop: int) -> Array:
        return np.array(self.array[start:stop].compute(**_scheduler()), order="C")

    def _take(self, indices: IntArray) -> Array:
        distinct, places = np.unique(indices, return_inverse=True)
        return np.asarray(self.array[distinct].compute(**_scheduler()))[places]


def is_dask(X: Any) -> bool:
    """Whether X is a Dask collection, told without importing Dask."""
    return hasattr(X, "__dask_graph__")


def _scheduler() -> dict[str, str]:
    """Where to compute: on the cluster there is, else in the thread that asks."""
    from kernelmeans.engines.cluster import Cluster

    return {"scheduler": "synchronous"} if Cluster.find() is None else {}
