"""How well clusters keep their neighbours, by which a fit can be judged without labels."""

from typing import NamedTuple

import numpy as np
import scipy.sparse

from kernelmeans._numbers import percent
from kernelmeans._typing import Array, Data, IntArray
from kernelmeans._warnings import warn_user
from kernelmeans.heat.closeness import closeness
from kernelmeans.heat.distinct import DistinctRows, counting_rows
from kernelmeans.heat.neighbors import csr_of
from kernelmeans.lowrank import subsample

#: Rows whose neighbours are sought where the kernel has not found them.
SOUGHT_ROWS = 4096
#: Conductance above which a cluster is hardly one: most neighbours are across its border.
HARDLY = 0.5
#: Fewest rows of a cluster that is judged. Most neighbours of smaller clusters are in others.
FEWEST_ROWS = 10
#: Fewest rows of a fit for the warning that most clusters have fewer than `FEWEST_ROWS`.
FEWEST_IN_ALL = 100


def cluster_shares(nodes: IntArray, labels: IntArray, n_nodes: int, n_clusters: int) -> Data:
    """How much of each node of a graph is in each cluster.

    Parameters
    ----------
    nodes : ndarray of int of shape (n_rows,)
        The node of each row. Rows at one node share it.
    labels : ndarray of int of shape (n_rows,)
        The cluster of each row.
    n_nodes : int
        Number of nodes. Those without rows are in no cluster.
    n_clusters : int
        Number of clusters.

    Returns
    -------
    CSR array of shape (n_nodes, n_clusters)
        The fractions.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat.separation import cluster_shares
    >>> cluster_shares(np.array([0, 1, 1]), np.array([0, 0, 1]), 3, 2).toarray()
    array([[1. , 0. ],
           [0.5, 0.5],
           [0. , 0. ]])
    """
    parts = 1 / np.bincount(nodes, minlength=n_nodes)[nodes]
    return scipy.sparse.csr_array((parts, (nodes, labels)), (n_nodes, n_clusters))


def edges_between(graph: Data, shares: Data) -> Array:
    """The edges between clusters, and those within.

    Parameters
    ----------
    graph : CSR array of shape (n_nodes, n_nodes)
        A symmetric graph, in which each edge counts by its weight.
    shares : CSR array of shape (n_nodes, n_clusters)
        How much of each node is in each cluster: `cluster_shares`.

    Returns
    -------
    ndarray of shape (n_clusters, n_clusters)
        The weights of the edges between two clusters, as fractions of those of all. Each edge
        within a cluster counts twice. Zeros of a graph without edges.

    Examples
    --------
    >>> import scipy.sparse
    >>> from kernelmeans.heat.separation import edges_between
    >>> chain = scipy.sparse.diags_array([[1.0] * 3] * 2, offsets=[-1, 1], format="csr")
    >>> edges_between(chain, scipy.sparse.csr_array([[1, 0], [1, 0], [0, 1], [0, 1.0]])).round(2)
    array([[0.33, 0.17],
           [0.17, 0.33]])
    """
    between: Array = (shares.T @ (graph @ shares)).toarray()
    return between / (between.sum() or 1)


def conductances(between: Array) -> Array:
    """The edges between each cluster and the others, as a fraction of those of the smaller side.

    Parameters
    ----------
    between : ndarray of shape (n_clusters, n_clusters)
        The `edges_between` clusters.

    Returns
    -------
    ndarray of shape (n_clusters,)
        The weights of the edges between a cluster and the others, over those of all edges of its
        rows, or of the other rows if they have less: each edge within counts twice. 1 for a
        cluster without edges; 0 where no others have any.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat.separation import conductances
    >>> conductances(np.array([[4, 1], [1, 4]]))
    array([0.2, 0.2])
    """
    if len(between) == 1:
        return np.zeros(1)
    volume = between.sum(axis=1)
    least = np.minimum(volume, volume.sum() - volume)
    cut = between.sum(axis=1, where=~np.eye(len(between), dtype=bool))
    found: Array = (volume == 0).astype(np.float64)
    np.divide(cut, least, out=found, where=least > 0)
    return found


class Borders(NamedTuple):
    """What a graph says of the borders of clusters.

    Attributes
    ----------
    edges : ndarray of shape (n_clusters, n_clusters)
        The `edges_between` clusters.
    closeness : ndarray of shape (n_clusters, n_clusters) or None
        How close they are (``kernelmeans.heat.closeness``); None for kernels without a graph.
    """

    edges: Array
    closeness: Array | None


def borders_of_neighbors(
    X: Data,
    labels: IntArray,
    sample_weight: Array,
    n_clusters: int,
    distinct: DistinctRows | None = None,
    density: float | None = None,
) -> Borders:
    """The borders of clusters of rows, in the graph of their nearest neighbours.

    Parameters
    ----------
    X : {ndarray, CSR matrix, Rows} of shape (n_samples, n_features)
        Rows.
    labels : ndarray of int of shape (n_samples,)
        The cluster of each row.
    sample_weight : ndarray of shape (n_samples,)
        Sample weights. Rows of weight 0 do not count; others count alike.
    n_clusters : int
        Number of clusters.
    distinct : DistinctRows, default=None
        The distinct rows of X, if their neighbours are known. Otherwise those of at most 4096 rows
        are sought, by Euclidean distance.
    density : float, default=None
        The exponent of the density in the graph of a heat kernel. When None, there is none, and
        its closeness is not sought.

    Returns
    -------
    Borders
        The borders.
    """
    if distinct is None:
        size = min(SOUGHT_ROWS, int(np.count_nonzero(sample_weight)))
        rows, _ = subsample((sample_weight > 0).astype(np.float64), size)
        X, labels, sample_weight = X[rows], labels[rows], sample_weight[rows]
        distinct = DistinctRows.of(X, None, "euclidean")
    nearest, known = distinct
    n = len(known)
    graph = scipy.sparse.csr_array((1, 1))
    if n > 1:
        others = np.sort(nearest.others(nearest.auto_neighbors(n_clusters) - 1), axis=1)
        one_way = csr_of(np.ones(others.size), others, n)
        graph = one_way.maximum(one_way.T)
    nodes, labels = distinct.places(counting_rows(X, sample_weight)), labels[sample_weight > 0]
    edges = edges_between(graph, cluster_shares(nodes, labels, n, n_clusters))
    if density is None or n == 1:
        return Borders(edges, None)
    of_nodes = np.full(n, -1)
    of_nodes[nodes] = labels
    return Borders(edges, closeness(nearest, density, of_nodes, n_clusters))


def warn_if_hardly(separation: Array, labels: IntArray) -> None:
    """Warn of a cluster with most neighbours across its border, or of many crumbs."""
    sizes = np.bincount(labels, minlength=len(separation))
    several = sizes >= FEWEST_ROWS
    # Without any edge within, its rows are equal, or so few that each is alone.
    known = np.where(several & (separation < 1), separation, 0)
    worst = int(known.argmax())
    if known[worst] > HARDLY:
        warn_user(
            f"Cluster {worst} is hardly one: {percent(known[worst])} of the neighbours of its "
            "rows, or of all other rows if those have fewer, are across its border (separation_). "
            "Take fewer clusters, or let ClusterSearch find how many there are; so does the "
            "command line without -k."
        )
        return
    # Equal rows are one node of the graph, and good clusters.
    crumbs = (sizes > 0) & ~several & ((separation < 1) | (sizes == 1))
    if 2 * crumbs.sum() > np.count_nonzero(sizes) and sizes.sum() >= FEWEST_IN_ALL:
        elsewhere = float(np.average(separation[crumbs], weights=sizes[crumbs]))
        if elsewhere > HARDLY:
            warn_user(
                f"Most clusters have fewer than {FEWEST_ROWS} rows, and {percent(elsewhere)} of "
                "their neighbours are in other clusters (separation_). Take fewer clusters."
            )


def in_words(separation: Array) -> str:
    """How many neighbours are across the borders of clusters, on average and at most."""
    worst = int(separation.argmax())
    if not separation[worst]:
        return "no neighbours are across borders of clusters"
    return (
        f"{percent(separation.mean(), 1)} of neighbours are across borders of clusters, at most "
        f"{percent(separation[worst], 1)}, of cluster {worst}"
    )
