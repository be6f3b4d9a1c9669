"""Rows that are equal up to rounding, and count as one node of a graph."""

import numpy as np

from kernelmeans._typing import IntArray
from kernelmeans.heat.distinct import DistinctRows, far_away
from kernelmeans.heat.neighbors import NearestRows

#: Distance of copies, in units of that of most rows: numbers of single precision, such as
#: embeddings from another batch, differ by less. No row of 341 data sets has all its neighbours
#: within ten times this.
ROUNDED = 1e-5
#: Rows whose distances tell what that of most rows is.
COMPARED = 200


def without_copies(rows: DistinctRows, n_neighbors: int) -> tuple[NearestRows, IntArray | None]:
    """The nodes of a graph, and which of them each row is.

    Copies that differ by rounding are neighbours of each other alone, if there are more of them
    than a row has neighbours. Then they would be clusters. So they are one node, as equal rows are,
    and many if they are `far_away`.

    Parameters
    ----------
    rows : DistinctRows
        The distinct rows.
    n_neighbors : int
        Neighbours of a row, itself included.

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
    some = np.random.default_rng(0).permutation(len(known))[:COMPARED]
    reach = ROUNDED * float(np.median(nearest.among(some)))
    # Rows that are far away many times are nodes of distance 0 already.
    are_many = known[columns[:, -1]] == known
    if not (reach and ((distances[:, -1] <= reach) & ~are_many).any()):
        return nearest, None
    leaders = _leaders(nearest, n_neighbors, reach)
    kept, counts = np.unique(leaders, return_counts=True)
    far = kept[far_away(NearestRows(nearest.rows[kept], nearest.metric), counts)]
    leaders = np.where(np.isin(leaders, far), np.arange(len(leaders)), leaders)
    kept, places = np.unique(leaders, return_inverse=True)
    return NearestRows(nearest.rows[kept], nearest.metric), places


def _leaders(nearest: NearestRows, n_neighbors: int, reach: float) -> IntArray:
    """For each row itself or a row within reach; such leaders are not within reach of each other.

    So rows that are ever farther away do not follow one another into one node.
    """
    leaders = np.arange(nearest.rows.shape[0])
    kept = leaders
    while True:
        columns, distances = nearest.near(min(n_neighbors, len(kept)) - 1)
        are_near = distances <= reach
        if not are_near.any():
            return leaders
        follows = np.full(len(kept), -1)
        for row in np.flatnonzero(are_near.any(axis=1)):
            if follows[row] >= 0:
                continue
            near = columns[row, are_near[row]]
            leading = near[follows[near] == near]
            follows[row] = leading[0] if len(leading) else row
            if not len(leading):
                follows[near[follows[near] < 0]] = row
        follows = np.where(follows < 0, np.arange(len(kept)), follows)
        # Each row follows the leader of the row that it has followed.
        place = np.empty(len(leaders), np.intp)
        place[kept] = np.arange(len(kept))
        leaders = kept[follows[place[leaders]]]
        kept = np.unique(leaders)
        nearest = NearestRows(nearest.rows[follows == np.arange(len(follows))], nearest.metric)
