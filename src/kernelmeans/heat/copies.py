"""Rows that are equal up to rounding, and count as one node of a graph."""

import numpy as np

from kernelmeans._typing import IntArray
from kernelmeans.heat.distinct import DistinctRows, far_away
from kernelmeans.heat.neighbors import NearestRows

#: Distance of copies, in units of that of most rows: numbers of single precision, such as
#: embeddings from another batch, differ by less. No row of 341 data sets has all its neighbours
#: within ten times this.
ROUNDED = 1e-5
#: Rows whose distances tell what that of most rows is, and the quantile that does.
COMPARED, APART = 100, 0.75
#: Fewest nodes for each cluster that may be left.
FEWEST_NODES = 10


def without_copies(
    rows: DistinctRows, n_neighbors: int, n_clusters: int
) -> tuple[NearestRows, IntArray | None]:
    """The nodes of a graph, and which of them each row is.

    Copies that differ by rounding are neighbours of each other alone, if there are more of them
    than a row has neighbours. They would be clusters of their own, so each such group becomes one
    node. A group that is `far_away` keeps its nodes.

    Parameters
    ----------
    rows : DistinctRows
        The distinct rows.
    n_neighbors : int
        Neighbours of a row, itself included.
    n_clusters : int
        Number of clusters. With fewer than ten nodes for each, all rows stay.

    Returns
    -------
    nodes : NearestRows
        The rows themselves, if there are no such copies.
    places : ndarray of int of shape (n_rows,) or None
        The node of each row; None if each is its own.
    """
    nearest, known = rows
    if n_neighbors < 3:
        return nearest, None
    columns, distances = nearest.near(n_neighbors - 1)
    sample = np.random.default_rng(0).permutation(len(known))[:COMPARED]
    # Most rows may be copies, and so most distances small; or some rows very far, and some large.
    reach = ROUNDED * float(np.quantile(nearest.among(sample), APART))
    closed = np.flatnonzero(distances[:, -1] <= reach)
    # Rows that are far away many times are nodes of distance 0 already.
    if not (reach and (known[columns[closed, -1]] != known[closed]).any()):
        return nearest, None
    leaders = _leaders(nearest, n_neighbors, reach)
    kept, counts = np.unique(leaders, return_counts=True)
    far_nodes = kept[far_away(nearest.part(kept), counts)]
    leaders = np.where(np.isin(leaders, far_nodes), np.arange(len(leaders)), leaders)
    kept, places = np.unique(leaders, return_inverse=True)
    if len(kept) < FEWEST_NODES * n_clusters:
        return nearest, None
    return nearest.part(kept), places


def _leaders(nearest: NearestRows, n_neighbors: int, reach: float) -> IntArray:
    """For each row itself, or a row within a few times the reach.

    No two of these leaders are within reach of each other. So rows that are ever farther away do
    not follow one another into one node.
    """
    leaders = np.arange(nearest.rows.shape[0])
    # A row without near ones now has none later, because fewer are left.
    searched = leaders
    while len(searched) > 1:
        columns, distances = nearest.near(min(n_neighbors, len(searched)) - 1)
        is_near = distances <= reach
        follows = np.arange(len(searched))
        taken = np.zeros(len(searched), np.bool_)
        for row in np.flatnonzero(is_near.any(axis=1)):
            if not taken[row]:
                own = columns[row, is_near[row]]
                own = own[~taken[own]]
                follows[own] = row
                taken[own] = taken[row] = True
        # Each row follows the leader of the row that it has followed.
        leader_of = np.arange(len(leaders))
        leader_of[searched] = searched[follows]
        leaders = leader_of[leaders]
        involved = np.zeros(len(searched), np.bool_)
        involved[columns[is_near]] = True
        involved |= is_near.any(axis=1)
        left = np.flatnonzero(involved & (follows == np.arange(len(follows))))
        searched, nearest = searched[left], nearest.part(left)
    return leaders
