"""A graph in pieces: which of them can be clusters, and where the others go."""

from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from kernelmeans._typing import Array, BoolArray, Data, IntArray
from kernelmeans._warnings import warn_user
from kernelmeans.heat.neighbours import NearestRows

#: Share of the mean cluster below which a piece of the graph is debris and no cluster.
DEBRIS = 0.05
#: Sizes of pieces that a message tells.
SIZES = 8


class Pieces(NamedTuple):
    """The connected components of a graph.

    Attributes
    ----------
    labels : ndarray of int of shape (n_rows,)
        Piece of each row, the largest first.
    sizes : ndarray of shape (n_pieces,)
        Rows of each.
    n_large : int
        Pieces that can be clusters, or hold them: the first so many. The others are debris.
    n_kept : int
        Those of them that are kept, not more than there are clusters. The others join them.
    """

    labels: IntArray
    sizes: Array | IntArray
    n_large: int
    n_kept: int

    @property
    def kept(self) -> BoolArray:
        """Rows of pieces that are kept, shape (n_rows,)."""
        kept: BoolArray = self.labels < self.n_kept
        return kept


def find_pieces(graph: Data, n_clusters: int, mass: Array | None = None) -> Pieces:
    """Connected components, of which debris and more than there are clusters are not kept.

    Parameters
    ----------
    graph : CSR array of shape (n_rows, n_rows)
        Symmetric.
    n_clusters : int
        Clusters looked for.
    mass : ndarray of shape (n_rows,), default=None
        Rows that each node of the graph stands for; one when None.

    Returns
    -------
    Pieces
        The components.

    Examples
    --------
    >>> import numpy as np, scipy.sparse
    >>> from kernelmeans.heat.pieces import find_pieces
    >>> graph = scipy.sparse.csr_array(np.kron(np.eye(3), np.ones((2, 2))))
    >>> found = find_pieces(graph, 2)
    >>> found.sizes, found.n_kept
    (array([2, 2, 2]), 2)
    """
    _, found = connected_components(graph, directed=False)
    sizes = np.bincount(found, weights=mass)
    order = np.argsort(-sizes, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    sizes = sizes[order]
    # Where there are very many pieces, all may be debris.
    large = int(np.count_nonzero(sizes >= DEBRIS * sizes.sum() / n_clusters))
    large = max(1, large)
    return Pieces(rank[found], sizes, large, min(large, n_clusters))


def join(pieces: Pieces, nearest: NearestRows) -> IntArray:
    """Where each row gets its features: itself, or a row of a piece that is kept.

    A piece that is not kept goes as a whole to the row of the others that is nearest to it.

    Parameters
    ----------
    pieces : Pieces
        The components of the graph of these rows.
    nearest : NearestRows
        The rows.

    Returns
    -------
    ndarray of int of shape (n_rows,)
        Indices of rows that are kept.
    """
    source = np.arange(len(pieces.labels))
    kept = np.flatnonzero(pieces.kept)
    lost = np.flatnonzero(~pieces.kept)
    if len(lost):
        distances, found = NearestRows(nearest.rows[kept], nearest.metric).of(nearest.rows[lost], 1)
        # The first of a piece, once its rows are in order of their distance.
        order = np.lexsort((distances[:, 0], pieces.labels[lost]))
        _, first = np.unique(pieces.labels[lost][order], return_index=True)
        ends = found[order[first], 0]
        source[lost] = kept[ends[pieces.labels[lost] - pieces.n_kept]]
    return source


def warn_of_pieces(pieces: Pieces, n_clusters: int, n_neighbors: int) -> None:
    """Say so where the graph has more large pieces than clusters; one cluster has all of them."""
    if n_clusters == 1 or pieces.n_large <= n_clusters:
        return
    count = len(pieces.sizes)
    sizes = ", ".join(f"{size:.0f}" for size in pieces.sizes[:SIZES]) + ", ..." * (count > SIZES)
    warn_user(
        f"kernel='heat': the graph of n_neighbors={n_neighbors} neighbours is in {count} pieces "
        f"(of {sizes} rows), more than n_clusters={n_clusters}. The {pieces.n_kept} largest are "
        "the clusters, and the others join what is nearest to them. Raise n_neighbors, which "
        "connects pieces, or n_clusters."
    )
