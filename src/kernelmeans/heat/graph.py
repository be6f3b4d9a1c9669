"""Heat features of rows by the graph of the training rows themselves."""

import numpy as np

from kernelmeans._typing import Array, Data
from kernelmeans.heat.basis import unit_rows
from kernelmeans.heat.equal import Digests, digests, find
from kernelmeans.heat.neighbours import NearestRows


class GraphFeatures:
    """A row that equals a training row has its features, others the mean of their neighbours'.

    Parameters
    ----------
    nearest : NearestRows
        The training rows, all different.
    known : ndarray of shape (n_rows,)
        Their digests, in ascending order.
    features : ndarray of shape (n_rows, r)
        Their features.
    n_neighbors : int
        Training rows that a new row gets the mean of.
    """

    def __init__(
        self, nearest: NearestRows, known: Digests, features: Array, n_neighbors: int
    ) -> None:
        self.nearest = nearest
        self.known = known
        self.features = features
        self.n_neighbors = n_neighbors

    def __call__(self, rows: Data) -> Array:
        """Rows of length 1."""
        rows = self.nearest.in_form(rows.astype(self.features.dtype, copy=False))
        places = find(self.known, digests(rows))
        found: Array = self.features[places]
        new = np.flatnonzero(places < 0)
        if len(new):
            _, near = self.nearest.of(rows[new], self.n_neighbors)
            means = self.features[near].mean(axis=1)
            # Features that cancel each other out have no direction: the nearest row decides.
            gone = np.einsum("ij,ij->i", means, means) < np.finfo(means.dtype).eps
            means[gone] = self.features[near[gone, 0]]
            found[new] = unit_rows(means)
        return found
