"""Heat features of rows by the graph of the training rows themselves."""

from typing import NamedTuple

import numpy as np

from kernelmeans._typing import Array, Data
from kernelmeans.heat.basis import unit_rows
from kernelmeans.heat.equal import Digests, digests, find
from kernelmeans.heat.neighbours import NearestRows


class DistinctRows(NamedTuple):
    """The different training rows, which graphs are made on.

    Attributes
    ----------
    nearest : NearestRows
        Each of them once, in the order of their digests: graphs do not depend on that of the rows.
    known : ndarray of shape (n_rows,)
        The digests.
    """

    nearest: NearestRows
    known: Digests

    @classmethod
    def of(cls, X: Data, sample_weight: Array | None, metric: str) -> "DistinctRows":
        """Find them among the training rows, those of weight 0 left out."""
        rows = X if sample_weight is None else X[np.flatnonzero(sample_weight)]
        known, first = np.unique(digests(rows), return_index=True)
        return cls(NearestRows(rows[first], metric), known)


class GraphFeatures:
    """A row that equals a training row has its features, others the mean of their neighbours'.

    Parameters
    ----------
    distinct : DistinctRows
        The training rows.
    features : ndarray of shape (n_rows, r)
        Their features.
    n_neighbors : int
        Training rows that a new row gets the mean of.
    """

    def __init__(self, distinct: DistinctRows, features: Array, n_neighbors: int) -> None:
        self.nearest, self.known = distinct
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
