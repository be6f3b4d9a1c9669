"""Starts of the restarts, from the parameters ``init`` and ``n_init`` of the estimators."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse

from kernelmeans._arrays import all_finite
from kernelmeans._given import received
from kernelmeans._typing import Array, Data
from kernelmeans._warnings import warn_user
from kernelmeans.kernels import CombinedKernel, Kernel
from kernelmeans.solver.seeding import (
    from_weights,
    greedy_kmeans_plusplus,
    random_partition,
    random_seeds,
)
from kernelmeans.spaces import Centroids, Space

#: Restarts of ``n_init="auto"`` if the starts are random and not given.
AUTO_RESTARTS = 10


class Starts:
    """The starts of all restarts, which are made batch by batch.

    Parameters
    ----------
    init : str, array-like or callable
        The parameter of the estimators.
    n_init : int or "auto"
        Number of restarts.
    n_clusters : int
        Centroids per restart.
    kernel : Kernel or CombinedKernel
        The kernel; if it is precomputed, rows have no coordinates.
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
        Training rows.

    Raises
    ------
    ValueError
        If a given start has the wrong shape, indices out of range or values that are not finite.
    """

    def __init__(
        self,
        init: Any,
        n_init: int | str,
        n_clusters: int,
        kernel: Kernel | CombinedKernel,
        X: Data,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.X = X
        self.init = init
        #: Whether k-means++ seeds the restarts.
        self.seeded = isinstance(init, str) and init == "k-means++"
        if not (isinstance(init, str) or callable(init)):
            self.init = self._checked(init, "init")
            self.n_init = self._given_restarts(n_init)
        elif n_init == "auto":
            self.n_init = 1 if self.seeded else AUTO_RESTARTS
        else:
            self.n_init = int(n_init)

    def _given_restarts(self, n_init: int | str) -> int:
        """The number of restarts in a given start, whose integers must be row indices."""
        rows = len(self.init) if _is_index_table(self.init) else 1
        k, n, p = self.n_clusters, self.X.shape[0], self.X.shape[-1]
        # As many restarts as these have the shape of weights or coordinates.
        alike = {n: "weights", k: "coordinates" if p == k else None}.get(rows)
        if rows > 1 and alike and n_init != rows:
            raise ValueError(
                f"init: an integer array of shape {self.init.shape} could be {alike} or the row "
                f"indices of {rows} restarts. Pass {alike} as floats; for that many restarts, "
                f"set n_init={rows}."
            )
        if n_init not in ("auto", rows):
            warn_user(
                f"n_init={n_init} does not agree with init, which holds the starts of {rows} "
                f"restart(s): {rows} will run. Leave n_init='auto'.",
                RuntimeWarning,
            )
        return rows

    def centroids(self, space: Space, first: int, seeds: Sequence[int]) -> Centroids:
        """Centroids of a batch of restarts, from number ``first`` on; each has a seed."""
        k = self.n_clusters
        if isinstance(self.init, str) and self.init == "random":
            return space.at(random_seeds(space, k, seeds))
        if self.seeded:
            subsample = space.subsample
            return subsample.at(greedy_kmeans_plusplus(subsample, k, seeds))
        generators = map(np.random.RandomState, seeds)
        if isinstance(self.init, str):
            weights = [random_partition(space.sample_weight, k, rng) for rng in generators]
            return Centroids.join([from_weights(space, start) for start in weights])
        if _is_index_table(self.init):
            return space.at(self.init[first : first + len(seeds)].T)
        if callable(self.init):
            made = [self._checked(self.init(self.X, k, rng), "init(X)") for rng in generators]
            return Centroids.join([self._from_array(space, start) for start in made])
        return self._from_array(space, self.init)

    def _from_array(self, space: Space, start: Any) -> Centroids:
        if _is_index_table(start):
            return space.at(start[:1].T)
        if not self._are_coordinates(start):
            return from_weights(space, start)
        centroids = space.at_rows(start, (self.n_clusters, 1))
        if not all(map(all_finite, (centroids.norms, *centroids.vectors))):
            raise ValueError(
                "init: kernel values between these coordinates and the rows of X, or among them, "
                "are NaN or infinite; give coordinates near to rows of X, or row indices."
            )
        return centroids

    def _are_coordinates(self, start: Array) -> bool:
        """Whether an array of floats holds coordinates (k, p), and not weights (n, k)."""
        shape = self.n_clusters, self.X.shape[-1]
        return start.shape == shape and not self.kernel.precomputed

    def _checked(self, start: Any, name: str) -> Any:
        """A given start, checked: indices (restarts, k), coordinates (k, p) or weights (n, k)."""
        start = received(start, name)
        try:
            start = np.asarray(start.toarray() if scipy.sparse.issparse(start) else start)
            if start.dtype.kind == "O":
                start = start.astype(np.float64)
            if start.dtype.kind not in "biuf":
                raise ValueError(f"its type is {start.dtype}")
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{name} is not an array of numbers ({error}); give row indices, coordinates or "
                "weights."
            ) from None
        k, n, p = self.n_clusters, self.X.shape[0], self.X.shape[-1]
        indices = np.issubdtype(start.dtype, np.integer) and start.size > 0
        if indices and start.shape[-1:] == (k,) and start.ndim <= 2:
            if start.min() < 0 or start.max() >= n:
                raise ValueError(
                    f"{name}: row indices must lie between 0 and n_samples - 1 = {n - 1}, got "
                    f"{start.min()} to {start.max()}. (Coordinates and weights must be floats.)"
                )
            return np.atleast_2d(start)
        got, start = start.dtype, start.astype(self.X.dtype)
        if not np.isfinite(start).all():
            raise ValueError(
                f"{name} contains NaN or infinite values, in {start.dtype}; give finite numbers."
            )
        if self._are_coordinates(start):
            return start
        if start.shape == (n, k):
            if (start < 0).any() or not (start.sum(axis=0) > 0).all():
                raise ValueError(
                    f"{name}: starting weights of shape (n_samples, n_clusters) must not be "
                    "negative, and every cluster (column) needs some positive weight."
                )
            return start
        coordinates = "" if self.kernel.precomputed else f"coordinates of shape ({k}, {p}), "
        raise ValueError(
            f"{name} has shape {start.shape} and dtype {got}; give row indices (integers) "
            f"of shape ({k},) or (n_init, {k}), {coordinates}or weights of shape ({n}, {k})."
        )


def _is_index_table(start: Any) -> bool:
    return isinstance(start, np.ndarray) and np.issubdtype(start.dtype, np.integer)
