"""Pieces of a table that no near neighbours connect: clusters that need no other evidence."""

import numpy as np

from kernelmeans._typing import Array, BoolArray, IntArray
from kernelmeans.heat.copies import without_copies
from kernelmeans.heat.digests import digests, find
from kernelmeans.heat.distinct import DistinctRows
from kernelmeans.heat.dither import untorn
from kernelmeans.heat.pieces import DEBRIS, find_pieces

#: Label of a row in a piece that is too small to be a cluster.
IN_DEBRIS = -1


def pieces_of(X: Array) -> IntArray:
    """The connected component of each row in the graph of neighbours for two clusters.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows, without NaN.

    Returns
    -------
    ndarray of int of shape (n_rows,)
        From 0 on, in descending order of size. `IN_DEBRIS` for pieces with fewer rows than a
        twentieth of the mean of those that are at least as large.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.search.pieces import pieces_of
    >>> pieces_of(np.array([[0.0], [0.1], [0.2], [0.3], [5.0], [5.1], [5.2]]))
    array([0, 0, 0, 0, 1, 1, 1])
    """
    rows = DistinctRows.of(X, None, "euclidean")
    n_neighbors = rows.nearest.auto_neighbors(2)
    nodes, places = without_copies(rows, n_neighbors, 2)
    n_neighbors = min(n_neighbors, int(nodes.rows.shape[0]))
    sought, _ = untorn(nodes, n_neighbors)
    found = find_pieces(sought.graph(n_neighbors), 1)
    means = np.cumsum(found.sizes) / np.arange(1, len(found.sizes) + 1)
    large = found.sizes >= DEBRIS * means
    n_large = int(np.argmin([*large, False]))
    node = find(rows.known, digests(X))
    labels = found.labels[node if places is None else places[node]]
    return np.where(labels < n_large, labels, IN_DEBRIS)


def clusters_in(pieces: IntArray, labels: IntArray) -> IntArray | None:
    """The number of clusters in each piece.

    Parameters
    ----------
    pieces : ndarray of int of shape (n_rows,)
        As `pieces_of` finds them.
    labels : ndarray of int of shape (n_rows,)
        Clusters; negative for rows in none.

    Returns
    -------
    ndarray of int of shape (n_pieces,) or None
        None if there is a single piece, or if a cluster is in several pieces, or in none.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.search.pieces import clusters_in
    >>> pieces = np.array([0, 0, 0, 0, 1, 1])
    >>> clusters_in(pieces, np.array([0, 0, 2, 2, 1, 1]))
    array([2, 1])
    >>> clusters_in(pieces, np.array([0, 0, 2, 2, 2, 1])) is None
    True
    """
    known: BoolArray = (pieces >= 0) & (labels >= 0)
    within, clusters = np.unique([pieces[known], labels[known]], axis=1)
    counts = np.bincount(within, minlength=1)
    whole = np.array_equal(clusters[np.argsort(clusters)], np.unique(labels[labels >= 0]))
    return counts if whole and len(counts) > 1 and counts.all() else None
