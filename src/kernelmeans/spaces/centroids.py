"""Centroids in the form that their space holds them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernelmeans._arrays import namespace, put_rows, take
from kernelmeans._typing import Array, BoolArray, IntArray


@dataclass
class Centroids:
    """k centroids of each of R restarts, in each of L spaces (one, but for a product of several).

    Attributes
    ----------
    vectors : tuple of L ndarray of shape (k, R, m)
        What is linear in the centroids, so that they can be mixed.
    norms : ndarray of shape (L, k, R)
        Squared norms.
    kernel_weights : ndarray of shape (R, L)
        Each restart's own weights of the spaces; ones for a single space.
    coefficients : ndarray of shape (k, R, n_samples) or None
        The centroids as combinations of the samples, the same in every space, where one needs it.
    costs : ndarray of shape (R, L) or None
        What the sample weights that made the centroids pay in each space, where there are several.
    mass : ndarray of shape (k, R) or None
        Total weight of the samples that a centroid is the plain mean of, where its space keeps
        coefficients: the next hard step then only has to move the samples that change clusters.
        NaN for a centroid that is no such mean.
    """

    vectors: tuple[Array, ...]
    norms: Array
    kernel_weights: Array
    coefficients: Array | None = None
    costs: Array | None = None
    mass: Array | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Clusters and restarts."""
        return self.norms.shape[1], self.norms.shape[2]

    def member(self, index: int) -> "Centroids":
        """The same centroids in one of the spaces (a view)."""
        ones = np.ones((self.shape[1], 1))
        norms = self.norms[index : index + 1]
        return Centroids((self.vectors[index],), norms, ones, self.coefficients)

    def take(self, restarts: BoolArray | IntArray) -> "Centroids":
        """A copy for some restarts (a mask or indices over R)."""
        coefficients, costs, mass = self.coefficients, self.costs, self.mass
        indices = np.arange(self.shape[1])[restarts]
        return Centroids(
            tuple(take(vector, indices, axis=1) for vector in self.vectors),
            self.norms[:, :, restarts],
            self.kernel_weights[restarts],
            None if coefficients is None else take(coefficients, indices, axis=1),
            None if costs is None else costs[restarts],
            None if mass is None else mass[:, restarts],
        )

    def keep(self, restarts: BoolArray) -> None:
        """Drop the other restarts, one array after the other to save memory."""
        indices = np.flatnonzero(restarts)
        for index, vector in enumerate(self.vectors):
            kept = take(vector, indices, axis=1)
            self.vectors = (*self.vectors[:index], kept, *self.vectors[index + 1 :])
        self.norms = self.norms[:, :, restarts]
        self.kernel_weights = self.kernel_weights[restarts]
        if self.coefficients is not None:
            self.coefficients = take(self.coefficients, indices, axis=1)
        if self.costs is not None:
            self.costs = self.costs[restarts]
        if self.mass is not None:
            self.mass = self.mass[:, restarts]

    def copy(self) -> "Centroids":
        """A copy of everything."""
        return self.take(np.arange(self.shape[1]))

    def put(self, where: tuple[IntArray, IntArray], other: "Centroids") -> None:
        """Overwrite the centroids at (j, r) by an (m, 1) set; the kernel weights stay."""
        pairs = list(zip(self.vectors, other.vectors, strict=True))
        if self.coefficients is not None and other.coefficients is not None:
            pairs.append((self.coefficients, other.coefficients))
        for mine, theirs in pairs:
            put_rows(mine, where, theirs[:, 0, :])
        self.norms[:, *where] = other.norms[:, :, 0]
        if self.mass is not None:
            self.mass[where] = np.nan if other.mass is None else other.mass[:, 0]

    @classmethod
    def join(cls, parts: Sequence["Centroids"]) -> "Centroids":
        """Several sets of restarts as one."""
        vectors = zip(*(part.vectors for part in parts), strict=True)
        coefficients = [part.coefficients for part in parts if part.coefficients is not None]
        costs = [part.costs for part in parts if part.costs is not None]
        mass = [part.mass for part in parts if part.mass is not None]
        return cls(
            tuple(namespace(pieces[0]).concat(pieces, axis=1) for pieces in vectors),
            np.concatenate([part.norms for part in parts], axis=2),
            np.concatenate([part.kernel_weights for part in parts]),
            namespace(coefficients[0]).concat(coefficients, axis=1) if coefficients else None,
            np.concatenate(costs) if len(costs) == len(parts) else None,
            np.concatenate(mass, axis=1) if len(mass) == len(parts) else None,
        )
