"""Fitted centroids that new rows are compared with; training labels come from the same code."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np

from kernelmeans._arrays import like, namespace, reduce, to_numpy
from kernelmeans._devices import HOST, Device
from kernelmeans._dialect import option
from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.engines import Threads
from kernelmeans.engines.threads import available_threads
from kernelmeans.spaces.kernel_rows import LARGEST_BLOCK, ROW_BUDGET, portions, slices

#: From rows and their K(x, x) to their embedding: what `_compare` needs, whatever the centroids.
Embedding = Callable[[Data, Array], Any]
#: From squared distances (k, block) and the nearest centroids (block,) to numbers (m, block).
Summary = Callable[[Array, IntArray], Array]


class Comparison(NamedTuple):
    """Rows compared with k centroids.

    Attributes
    ----------
    labels : ndarray of shape (n_rows,)
        Cluster of the nearest centroid, the first of those that rounding does not tell apart.
    nearest : ndarray of shape (n_rows,)
        Squared distance to it.
    distances : ndarray of shape (k, n_rows) or None
        All squared distances, in the order of the clusters, where they were asked for.
    summary : ndarray of shape (m, n_rows) or None
        The result of ``summary`` for the distances, if a function was given.
    """

    labels: IntArray
    nearest: Array
    distances: Array | None
    summary: Array | None = None


class Predictor(ABC):
    """k centroids in feature space, and all that is needed to compare new rows with them.

    A predictor is a value: its methods return others, which may have the same arrays.

    Attributes
    ----------
    kernel : Kernel or CombinedKernel
        Kernel of the fit.
    norms : ndarray of shape (k,)
        Squared norms of the centroids.
    resolution : float, default=0.0
        Difference of squared distances that is rounding: the first of such centroids is nearest.
    row_budget : int
        Bytes of kernel values or features held at a time.
    device : Device
        Where rows are compared with the centroids.
    workers : int or None
        Threads that compare them; as many as BLAS would use when None.
    """

    kernel: Any
    norms: Array
    resolution: float = 0.0
    row_budget: int = ROW_BUDGET
    device: Device = HOST
    workers: int | None = None
    _numbers: IntArray | None = None

    @property
    def numbers(self) -> IntArray:
        """Numbers of the centroids' clusters, shape (k,); in order where none were given."""
        return np.arange(len(self.norms)) if self._numbers is None else self._numbers

    def renumbered(self, numbers: IntArray) -> Self:
        """The same centroids, whose clusters have new numbers (k,).

        The centroids keep their order: which of equal ones is the nearest does not depend on
        numbers.
        """
        other = copy.copy(self)
        other._numbers = numbers[self.numbers]
        return other

    @abstractmethod
    def embedding(self) -> Embedding:
        """The function from rows and their K(x, x) to what `_compare` takes."""

    @abstractmethod
    def _compare(self, embedded: Any) -> tuple[Array, Array]:
        """<phi(x), theta_j> of shape (k, n_rows), and ||phi(x)||^2."""

    @abstractmethod
    def _moved(self, move: Callable[[Any], Any]) -> None:
        """Put all large arrays on another device."""

    def on(self, device: Device) -> "Predictor":
        """The same predictor on a device; rows and answers stay on the host."""
        if device.is_host:
            return self
        moved = copy.copy(self)
        moved.device = device
        moved._moved(device.put)
        return moved

    @property
    @abstractmethod
    def _row_bytes(self) -> int:
        """Bytes of a row as `_compare` takes it."""

    def compare(
        self,
        X: Data,
        diagonal: Array,
        keep_distances: bool = False,
        summary: Summary | None = None,
    ) -> Comparison:
        """Compare rows with the centroids.

        Parameters
        ----------
        X : {array, CSR matrix} of shape (n_rows, n_features)
            New rows; kernel rows against the training rows for a precomputed kernel.
        diagonal : ndarray of shape (n_rows,)
            K(x, x) of the rows. The labels do not depend on it.
        keep_distances : bool, default=False
            Whether all k distances of a row are wanted.
        summary : callable, default=None
            Computes numbers from the distances of rows, whether or not these are kept.

        Returns
        -------
        Comparison
            Labels, and squared distances.

        Raises
        ------
        ValueError
            If the kernel of a row is not finite.
        """
        embed = self.embedding()
        return self.compare_blocks(
            X.shape[0], lambda block: embed(X[block], diagonal[block]), keep_distances, summary
        )

    def compare_blocks(
        self,
        n: int,
        embedded: Callable[[slice], Any],
        keep_distances: bool = False,
        summary: Summary | None = None,
    ) -> Comparison:
        """The same for n rows that are embedded already, as the samples of a space may be.

        Parameters
        ----------
        n : int
            Rows.
        embedded : callable
            From a block to its embedded rows.
        keep_distances : bool, default=False
            Whether all k distances of a row are wanted.
        summary : callable, default=None
            Computes numbers from the distances of rows, whether or not these are kept.

        Returns
        -------
        Comparison
            Labels, and squared distances.
        """
        dtype = self.norms.dtype
        labels, nearest = np.empty(n, np.int32), np.empty(n, dtype)
        summaries: dict[int, Array] = {}
        distances = np.empty((self.norms.shape[0], n), dtype) if keep_distances else None
        numbers = self.numbers

        def fill(block: slice) -> None:
            products, squared_norms = self._compare(embedded(block))
            # Without ||phi(x)||^2, on which labels do not depend.
            relative = like(self.norms[:, None], products) - 2 * products
            least = reduce("min", relative, axis=0)
            # Rounding depends on a row's place in its block, and must not choose between equals.
            level = namespace(relative).maximum(relative, least + self.resolution)
            centroid = to_numpy(reduce("argmin", level, axis=0))
            labels[block] = numbers[centroid]
            np.maximum(to_numpy(least + squared_norms), 0, out=nearest[block])
            if distances is None and summary is None:
                return
            squared = np.maximum(to_numpy(relative + squared_norms), 0)
            if distances is not None:
                distances[numbers, block] = squared
            if summary is not None:
                summaries[block.start] = summary(squared, centroid)

        # The blocks depend on nothing but the model, so that equal data get equal labels.
        rows, max_in_flight = portions(self._row_bytes, self.row_budget)
        if self.kernel.rows_at_once > rows:
            # All threads work on each of them.
            rows, max_in_flight = self.kernel.rows_at_once, 1
        if not self.device.is_host:
            rows = max(1, min(self.row_budget // 4, LARGEST_BLOCK) // self._row_bytes)
        blocks = slices(n, rows)
        workers = min(self.workers or available_threads(), len(blocks))
        with Threads(max(1, workers) if self.device.is_host else 1) as threads:
            threads.run(fill, blocks, max_in_flight)
        self._refuse_infinite(nearest, distances)
        found = np.concatenate([summaries[b.start] for b in blocks], axis=1) if summary else None
        return Comparison(labels, nearest, distances, found)

    def _refuse_infinite(self, nearest: Array, distances: Array | None) -> None:
        finite = np.isfinite(nearest)
        if distances is not None:
            finite &= np.isfinite(distances).all(axis=0)
        if not finite.all():
            raise ValueError(
                f"X: {option('kernel', self.kernel.name)} is NaN or infinite in {nearest.dtype} "
                f"between {np.count_nonzero(~finite)} of {len(finite)} rows and those of the fit, "
                "or themselves; leave such rows out, or fit with another kernel, other "
                "parameters or scaled columns."
            )
