"""How well clusters keep their neighbours, by which a fit can be judged without labels."""

import numpy as np
import scipy.sparse

from kernelmeans._typing import Array, Data, IntArray
from kernelmeans._warnings import warn_user
from kernelmeans.heat.neighbors import DistinctRows, auto_neighbors, without_loops
from kernelmeans.lowrank import subsample

#: Rows whose neighbours are sought where the kernel has not found them.
SOUGHT_ROWS = 4096
#: Conductance above which a cluster is hardly one: most of its neighbours are elsewhere.
HARDLY = 0.5
#: Rows of a cluster that is looked at: the neighbours of fewer are mostly others.
FEWEST_ROWS = 10


def conductances(graph: Data, labels: IntArray, n_clusters: int) -> Array:
    """The fraction of the edges of each cluster that lead to others.

    Parameters
    ----------
    graph : CSR array of shape (n_rows, n_rows)
        A symmetric graph, in which each edge counts by its weight.
    labels : ndarray of int of shape (n_rows,)
        The cluster of each row.
    n_clusters : int
        Number of clusters.

    Returns
    -------
    ndarray of shape (n_clusters,)
        The weights of the edges between a cluster and the others, over those of all edges of its
        rows, or of the other rows if they have less: each edge within counts twice. 1 for a
        cluster without edges; 0 where there are no others.

    Examples
    --------
    >>> import numpy as np, scipy.sparse
    >>> from kernelmeans.heat.separation import conductances
    >>> chain = scipy.sparse.diags_array([[1.0] * 5] * 2, offsets=[-1, 1], format="csr")
    >>> conductances(chain, np.array([0, 0, 0, 1, 1, 1]), 2)
    array([0.2, 0.2])
    """
    if n_clusters == 1:
        return np.zeros(1)
    n = len(labels)
    members = scipy.sparse.csr_array((np.ones(n), (np.arange(n), labels)), (n, n_clusters))
    between = (members.T @ graph @ members).toarray()
    volume = between.sum(axis=1)
    least = np.minimum(volume, volume.sum() - volume)
    found = np.ones(n_clusters)
    np.divide(volume - between.diagonal(), least, out=found, where=least > 0)
    return found


def separation(
    X: Data,
    labels: IntArray,
    sample_weight: Array,
    n_clusters: int,
    distinct: DistinctRows | None = None,
) -> Array:
    """The `conductances` of clusters of rows, in the graph of their nearest neighbours.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
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

    Returns
    -------
    ndarray of shape (n_clusters,)
        The conductances.
    """
    if distinct is None:
        size = min(SOUGHT_ROWS, int(np.count_nonzero(sample_weight)))
        rows, _ = subsample((sample_weight > 0).astype(np.float64), size)
        X, labels, sample_weight = X[rows], labels[rows], sample_weight[rows]
        distinct = DistinctRows.of(X, None, "euclidean")
    nearest, known = distinct
    n = len(known)
    if n == 1:
        return conductances(scipy.sparse.csr_array((1, 1)), labels[:1], n_clusters)
    graph = nearest.graph(min(max(auto_neighbors(n, n_clusters), 2), n))
    counting = np.flatnonzero(sample_weight)
    first = distinct.places(X[counting])
    own = np.empty(n, labels.dtype)
    own[first] = labels[counting]
    return conductances(without_loops(graph > 0), own, n_clusters)


def warn_if_hardly(separation: Array, labels: IntArray) -> None:
    """Warn of a cluster of several rows most of whose neighbours are in others."""
    several = np.bincount(labels, minlength=len(separation)) >= FEWEST_ROWS
    # Without any edge within, its rows are equal, or so few that each is alone.
    known = np.where(several & (separation < 1), separation, 0)
    worst = int(known.argmax())
    if known[worst] > HARDLY:
        warn_user(
            f"Cluster {worst} is hardly one: {known[worst]:.0%} of the neighbours of its rows are "
            "in other clusters (separation_). Take fewer clusters, or let ClusterSearch find how "
            "many there are; so does the command line without -k."
        )
