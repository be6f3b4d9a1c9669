"""How close clusters are: by the edges of a graph, and by distances where it has no edges."""

import numpy as np
import scipy.sparse

from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.heat.density import FLAT, LARGEST_WEIGHT, Density, core_distances
from kernelmeans.heat.neighbors import NearestRows, csr_of

#: Exponent of distances. The nearest rows of two clusters count by far the most, as in single
#: linkage, but one pair of rows alone cannot join them.
EXPONENT = 16
#: Rows whose distances are taken: of all clusters together, and at least of each.
SOME_ROWS, FEWEST_ROWS = 256, 8
#: Longest distance, in units of the median core distance. The power of a longer one would vanish.
LONGEST = 1e18
#: Closeness of clusters that no edge joins, as a fraction of the smallest closeness of others.
APART = 1e-6


def some_of_each(labels: IntArray, n_clusters: int, n_rows: int = SOME_ROWS) -> IntArray:
    """Some rows of each cluster, at equal steps.

    Parameters
    ----------
    labels : ndarray of int of shape (n_samples,)
        The cluster of each row; negative for rows of none.
    n_clusters : int
        Number of clusters.
    n_rows : int, default=256
        About how many rows of all clusters are wanted; at least 8 of each, if it has them.

    Returns
    -------
    ndarray of int
        Their places, by cluster.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat.closeness import some_of_each
    >>> some_of_each(np.repeat([0, 1, -1], [20, 3, 9]), 2, n_rows=16).tolist()
    [0, 3, 6, 9, 12, 15, 18, 20, 21, 22]
    """
    sizes = np.bincount(labels[labels >= 0], minlength=n_clusters)
    # Rows of no cluster are the first.
    order = np.argsort(labels, kind="stable")[len(labels) - sizes.sum() :]
    rank = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    steps = -(-sizes // max(FEWEST_ROWS, n_rows // n_clusters))
    return np.asarray(order[rank % np.repeat(steps, sizes) == 0])


def mean_weights(graph: Data, labels: IntArray, n_clusters: int) -> Array:
    """The mean over pairs of rows of two clusters of the weight of their edge.

    Parameters
    ----------
    graph : {ndarray, CSR array} of shape (n_rows, n_rows)
        Weights; pairs without an edge count as 0.
    labels : ndarray of int of shape (n_rows,)
        The cluster of each row; negative for rows of none.
    n_clusters : int
        Number of clusters.

    Returns
    -------
    ndarray of shape (n_clusters, n_clusters)
        The means. Clusters without rows are as close as can be: they have no distance.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat.closeness import mean_weights
    >>> chain = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> mean_weights(chain, np.array([0, 0, 1]), 2)
    array([[0.5, 0.5],
           [0.5, 0. ]])
    """
    rows = np.flatnonzero(labels >= 0)
    own = scipy.sparse.csr_array(
        (np.ones(len(rows)), (rows, labels[rows])), (len(labels), n_clusters)
    )
    sums = own.T @ (graph @ own)
    sums = sums.toarray() if scipy.sparse.issparse(sums) else sums
    sizes = np.bincount(labels[rows], minlength=n_clusters)
    pairs = np.outer(sizes, sizes)
    means = np.full(pairs.shape, LARGEST_WEIGHT)
    np.divide(sums, pairs, out=means, where=pairs > 0)
    return means


def closeness_in_graph(graph: Data, labels: IntArray, n_clusters: int) -> Array:
    """`mean_weights` of a given graph, plus a little, so that all clusters have a distance."""
    means = mean_weights(graph, labels, n_clusters)
    least = float(means.min(initial=LARGEST_WEIGHT, where=means > 0))
    return np.asarray(means + APART * least)


def closeness(nearest: NearestRows, exponent: float, labels: IntArray, n_clusters: int) -> Array:
    """How close clusters are, by all edges of a graph of neighbours and the distances of some rows.

    Edges count by their weights in the graph of the heat kernel, but surroundings do not count.
    They tell how clusters that touch are joined. To them is added the power -16 of the distances
    between some rows of each cluster, which alone counts where there are no edges. A distance is a
    mutual reachability, in units of the median core distance, as are the lengths of edges
    (`kernelmeans.heat.density.Density`).

    Parameters
    ----------
    nearest : NearestRows
        Distinct rows, in an order that has nothing to do with their places. All neighbours that
        have been sought are in the graph.
    exponent : float
        That of the density, by which edges are weighted.
    labels : ndarray of int of shape (n_rows,)
        The cluster of each of these rows; negative for rows of none.
    n_clusters : int
        Number of clusters.

    Returns
    -------
    ndarray of shape (n_clusters, n_clusters)
        The means over pairs of rows, finite and positive.
    """
    columns, near = nearest.near(nearest.n_sought)
    core = core_distances(near)
    unit = float(np.median(core[core > 0])) if core.any() else 1.0
    density = Density.of(exponent, near) if exponent else FLAT
    graph, _ = density.weights(csr_of(near.ravel(), columns, len(near)))
    # A row of a small cluster has so many neighbours that some have to be elsewhere.
    sizes = np.bincount(labels[labels >= 0], minlength=n_clusters + 1)
    graph.data *= (np.arange(near.shape[1]) < sizes[labels][:, None] - 1).ravel()
    edges = mean_weights(graph, labels, n_clusters)
    some = some_of_each(labels, n_clusters)
    reach = np.maximum(core[some], core[some][:, None])
    lengths = np.maximum(nearest.among(some), reach) / unit
    shortest = LARGEST_WEIGHT ** (-1 / EXPONENT)
    weights = np.clip(lengths, shortest, LONGEST) ** -float(EXPONENT)
    return (edges + edges.T) / 2 + mean_weights(weights, labels[some], n_clusters)
