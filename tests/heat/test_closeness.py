"""How close clusters are, from the definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import data
from kernelmeans.heat.closeness import closeness
from kernelmeans.heat.neighbors import NearestRows

#: The neighbour that tells the density, the exponent of distances between some rows, and the bounds
#: of weights.
CORE, FAR, BOUNDS = 5, 16, (1e-4, 1e3)


def defined(X, n_sought, exponent, labels):
    """The means over pairs of rows, of weights of edges and of powers of distances."""
    D = np.linalg.norm(X[:, None] - X, axis=2)
    order = np.argsort(D, axis=1)[:, 1 : n_sought + 1]
    core = np.sort(D, axis=1)[:, CORE]
    lengths = np.maximum(D, np.maximum(core[:, None], core)) / np.median(core)
    edges = np.zeros(D.shape)
    for i, near in enumerate(order):
        # As many neighbours as there are other rows in its cluster.
        for j in near[: np.count_nonzero(labels == labels[i]) - 1]:
            edges[i, j] = np.clip(lengths[i, j] ** -exponent, *BOUNDS) if exponent else 1
    edges = (edges + edges.T) / 2
    distances = np.minimum(lengths**-FAR, BOUNDS[1])
    groups = [labels == label for label in range(labels.max() + 1)]
    return [[(edges + distances)[a][:, b].mean() for b in groups] for a in groups]


@pytest.mark.parametrize("exponent", [0.0, 3.0])
def test_the_means_over_pairs_of_rows(exponent):
    labels = np.repeat([0, 1, 2], [30, 12, 5])
    X = data.cloud(47, 2) + np.array([[0, 0], [2, 0], [0, 3]])[labels]
    nearest = NearestRows(X, "euclidean")
    nearest.near(9)
    found = closeness(nearest, exponent, labels, 3)
    assert_allclose(found, defined(X, 9, exponent, labels), rtol=1e-9)
