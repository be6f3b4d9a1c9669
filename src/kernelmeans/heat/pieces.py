"""A graph in pieces: which of them can be clusters, where the others go, and what is said."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from kernelmeans._typing import Array, BoolArray, Data, IntArray
from kernelmeans._warnings import warn_user
from kernelmeans.heat.neighbors import NearestRows

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
    # A row on its own is no cluster; a node that stands for others may be one.
    least = max(DEBRIS * sizes.sum() / n_clusters, 2 if mass is None else 0)
    # Where there are very many pieces, all may be debris.
    large = int(np.count_nonzero(sizes >= least))
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


def with_rest(features: Array, pieces: Pieces) -> Array:
    """Features with one more column, for all pieces that are not kept: they are one group.

    Parameters
    ----------
    features : ndarray of shape (n_rows, r)
        Zeros for rows of these pieces.
    pieces : Pieces
        The connected components of a graph whose rows are nowhere but in it.

    Returns
    -------
    ndarray of shape (n_rows, r) or (n_rows, r + 1)
        Rows of length 1.
    """
    if pieces.kept.all():
        return features
    return np.column_stack([features, ~pieces.kept])


def find_connection(
    ranks: Data, n_neighbors: int, n_clusters: int, mass: Array | None = None
) -> int | None:
    """The smallest ``n_neighbors`` beyond the given one with no more large pieces than clusters.

    The minimum spanning forest of ranks has the pieces of the graph of any number of neighbours.

    Parameters
    ----------
    ranks : CSR array of shape (n_rows, n_rows)
        For each edge, the number of neighbours from which on it is in the graph.
    n_neighbors : int
        Neighbours, with which there are more pieces.
    n_clusters : int
        Clusters looked for.
    mass : ndarray of shape (n_rows,), default=None
        As for `find_pieces`.

    Returns
    -------
    int or None
        The number, if one of those in ``ranks`` is enough.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat.neighbors import NearestRows
    >>> from kernelmeans.heat.pieces import find_connection
    >>> X = np.array([[0.0], [0.1], [0.3], [5.0], [5.1], [5.3]])
    >>> ranks, _ = NearestRows(X, "euclidean").ranks()
    >>> find_connection(ranks, 2, n_clusters=1)
    4
    """
    forest = minimum_spanning_tree(ranks).tocoo()
    numbers = np.unique(forest.data)
    for number in numbers[numbers > n_neighbors]:
        there = forest.data <= number
        edges = forest.data[there], (forest.row[there], forest.col[there])
        own = scipy.sparse.csr_array(edges, ranks.shape)
        if find_pieces(own, n_clusters, mass).n_large <= n_clusters:
            return int(number)
    return None


def warn_of_pieces(
    pieces: Pieces,
    n_clusters: int,
    graph: str,
    n_neighbors: int,
    ranks_of: Callable[[], tuple[Data, Array | None]],
    family: str | None = None,
) -> None:
    """Say so where the graph has more large pieces than clusters, and what to do.

    One cluster has all of them.

    Parameters
    ----------
    pieces : Pieces
        The components of the graph.
    n_clusters : int
        Clusters looked for.
    graph : str
        What messages call it.
    n_neighbors : int
        Neighbours that it was made of.
    ranks_of : callable
        Gives the ranks and the mass that `find_connection` takes.
    family : str, default=None
        The family of the kernel, which leaves nobody to set ``n_neighbors``.
    """
    if n_clusters == 1 or pieces.n_large <= n_clusters:
        return
    ranks, mass = ranks_of()
    enough = find_connection(ranks, n_neighbors, n_clusters, mass)
    more = "Raise n_neighbors"
    if family is not None:
        instead = "dict(kernel='heat', n_neighbors=...)"
        more = f"Instead of the family {family!r} give {instead}, with n_neighbors raised"
    remedy = f"{more} to {enough}, the smallest that connects enough of them, or raise n_clusters."
    if enough is None:
        most = max(n_neighbors, int(ranks.max()))
        remedy = f"Even n_neighbors={most} leaves more pieces than clusters. Raise n_clusters."
    warn_user(
        f"{graph} with n_neighbors={n_neighbors} is in {_described(pieces)}, more than "
        f"n_clusters={n_clusters}. The {pieces.n_kept} largest are the clusters, and the others "
        f"join what is nearest to them. {remedy}"
    )


def _described(pieces: Pieces) -> str:
    count = len(pieces.sizes)
    sizes = ", ".join(f"{size:.0f}" for size in pieces.sizes[:SIZES]) + ", ..." * (count > SIZES)
    return f"{count} pieces (of {sizes} rows)"


def warn_of_rest(pieces: Pieces, n_clusters: int, kernel: str, more_edges: str) -> None:
    """Say so where pieces of a graph that was given are not kept, and there is more than 1 cluster.

    Parameters
    ----------
    pieces : Pieces
        The components of the graph.
    n_clusters : int
        Clusters looked for.
    kernel : str
        What messages call the graph.
    more_edges : str
        What connects pieces.
    """
    kept = int(np.count_nonzero(pieces.kept))
    lost = len(pieces.labels) - kept
    if n_clusters == 1 or not lost:
        return
    several = pieces.n_kept > 1
    largest = f"the {pieces.n_kept} largest are" if several else "the largest is"
    rest = "the other row belongs: it is a group of its own, and goes"
    if lost > 1:
        rest = f"the {lost} other rows belong: they are one group, and go"
    # More clusters would not have debris either.
    remedies = [more_edges, f"leave {'these rows' if lost > 1 else 'this row'} out"]
    remedies += ["raise n_clusters"] * (pieces.n_large > n_clusters)
    warn_user(
        f"{kernel}: the graph is in {_described(pieces)}, of which {largest} kept apart, with "
        f"{kept} of the {len(pieces.labels)} rows. No edge says where {rest} where that costs "
        f"least. {', '.join(remedies[:-1])}{',' * (len(remedies) > 2)} or {remedies[-1]}."
    )
