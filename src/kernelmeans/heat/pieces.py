"""The pieces of a graph: which can be clusters, where the others go, and warnings of them."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from kernelmeans._dialect import option
from kernelmeans._typing import Array, BoolArray, Data, IntArray
from kernelmeans._warnings import are_ignored, warn_user
from kernelmeans.heat.neighbors import NearestRows, csr_of, only
from kernelmeans.kernels.formulas import unit_rows

#: Fraction of the mean cluster below which a piece of the graph is debris and no cluster.
DEBRIS = 0.05
#: Rows of a piece that may be no debris where there are no more of such pieces than clusters.
WHOLE = 10
#: Quantile of the distances to the last neighbour, beyond which a piece is far from others.
FAR = 0.99
#: Largest squared norm of marks. With more, single precision would lose the rest of the features.
MOST_APART = 1000.0
#: Most sizes of pieces in a message.
SIZES = 8


class Pieces(NamedTuple):
    """The connected components of a graph.

    Attributes
    ----------
    labels : ndarray of int of shape (n_rows,)
        The piece of each row. Large pieces come first, in descending order of size.
    sizes : ndarray of shape (n_pieces,)
        Number of rows in each.
    n_large : int
        Number of pieces that can be clusters or have several. The others are debris.
    n_kept : int
        Number of large pieces that are kept, at most one per cluster. The others join them.
    group : ndarray of int of shape (n_kept,) or None
        The group of near pieces that each of these is in; None if each is its own.
    """

    labels: IntArray
    sizes: Array | IntArray
    n_large: int
    n_kept: int
    group: IntArray | None = None

    @property
    def groups(self) -> IntArray:
        """The group of each piece that is kept, shape (n_kept,)."""
        return np.arange(self.n_kept) if self.group is None else self.group

    @property
    def n_groups(self) -> int:
        """The number of groups."""
        return int(self.groups.max()) + 1

    @property
    def marks(self) -> Array:
        """One column for each group of pieces that are kept, see `apart`; zeros for other rows.

        With these no cluster gains by holding two of the groups: to move the smallest one costs as
        much as all rows can.
        """
        sizes = np.bincount(self.groups, weights=self.sizes[: self.n_kept])
        weight = min(float(sizes.sum() / sizes.min()), MOST_APART)
        marks: Array = weight**0.5 * np.eye(len(sizes))[self.groups]
        rest = np.zeros((len(self.sizes) - self.n_kept, len(sizes)))
        return np.vstack([marks, rest])[self.labels]

    @property
    def kept(self) -> BoolArray:
        """Whether each row is in a piece that is kept, shape (n_rows,)."""
        return np.asarray(self.labels < self.n_kept)

    def rows(self, piece: int) -> IntArray:
        """The rows of one piece, in ascending order."""
        return np.flatnonzero(self.labels == piece)


def find_pieces(graph: Data, n_clusters: int, node_weight: Array | None = None) -> Pieces:
    """Connected components; those that are debris, or more than the clusters, are not kept.

    Parameters
    ----------
    graph : CSR array of shape (n_rows, n_rows)
        The graph, symmetric.
    n_clusters : int
        Number of clusters.
    node_weight : ndarray of shape (n_rows,), default=None
        Number of rows that each node of the graph stands for; one when None.

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
    sizes = np.bincount(found, weights=node_weight)
    order = np.argsort(-sizes, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    sizes = sizes[order]
    # A single row is no cluster; a node that stands for several may be one.
    least = max(DEBRIS * sizes.sum() / n_clusters, 2 if node_weight is None else 0)
    # Each may be a cluster, however different their sizes.
    if np.count_nonzero(sizes >= WHOLE) <= n_clusters:
        least = min(least, WHOLE)
    # At least one, because all of very many pieces may be debris.
    large = int(np.count_nonzero(sizes >= least))
    large = max(1, large)
    return Pieces(rank[found], sizes, large, min(large, n_clusters))


def without_near(pieces: Pieces, n_clusters: int, nearest: NearestRows, n_neighbors: int) -> Pieces:
    """Pieces of which small ones are debris, unless they are far from the large ones.

    Far is a larger distance than 99 of 100 rows have to their last neighbour. Near pieces were
    parted by chance, as nearly equal rows are. They would use up the clusters.

    Parameters
    ----------
    pieces : Pieces
        The components of the graph of these rows.
    n_clusters : int
        Number of clusters.
    nearest : NearestRows
        The rows.
    n_neighbors : int
        Neighbours of a row in the graph, itself included.

    Returns
    -------
    Pieces
        The same components, of which fewer may be large.
    """
    numbers = np.arange(len(pieces.sizes))
    known = pieces.sizes >= DEBRIS * pieces.sizes.sum() / n_clusters
    unknown = ~known & (numbers < pieces.n_large)
    if not unknown.any() or not known.any():
        return pieces
    ends = _links(nearest, pieces.labels, known, unknown)
    gaps = [nearest.among(np.array(pair))[0, 1] for pair in zip(*ends, strict=True)]
    large = known.copy()
    large[unknown] = np.array(gaps) > _reach(nearest, n_neighbors)
    order = np.argsort(~large, kind="stable")
    n_large = int(np.count_nonzero(large))
    labels = np.argsort(order)[pieces.labels]
    return Pieces(labels, pieces.sizes[order], n_large, min(n_large, n_clusters))


def grouped(pieces: Pieces, nearest: NearestRows, n_neighbors: int) -> Pieces:
    """Pieces of which near ones, which were parted by chance, are in one group.

    They are near if one of twice as many neighbours of a row is in another piece, and not farther
    than 99 of 100 rows are from their last neighbour.

    Parameters
    ----------
    pieces, nearest, n_neighbors
        As for `without_near`.

    Returns
    -------
    Pieces
        The same components, in groups.
    """
    if pieces.n_kept == 1:
        return pieces
    # Of two near pieces one is not the largest.
    rows = np.flatnonzero((pieces.labels > 0) & pieces.kept)
    distances, columns = nearest.of(nearest.rows[rows], min(2 * n_neighbors, len(pieces.labels)))
    there = pieces.labels[columns]
    near = (distances <= _reach(nearest, n_neighbors)) & (there < pieces.n_kept)
    ends = np.repeat(pieces.labels[rows], near.sum(axis=1)), there[near]
    shape = pieces.n_kept, pieces.n_kept
    joined = scipy.sparse.csr_array((np.ones(len(ends[0])), ends), shape)
    return pieces._replace(group=connected_components(joined, directed=False)[1])


def links(pieces: Pieces, nearest: NearestRows, n_neighbors: int) -> Data:
    """Edges between near pieces: those to twice as many neighbours that are not far.

    Parameters
    ----------
    pieces, nearest, n_neighbors
        As for `without_near`.

    Returns
    -------
    CSR array of shape (n_rows, n_rows)
        The distances of their ends.
    """
    n_rows = len(pieces.labels)
    columns, distances = nearest.near(min(2 * n_neighbors, n_rows) - 1)
    # Where distances are equal, a wider search may find others first, and these are edges already.
    columns, distances = columns[:, n_neighbors - 1 :], distances[:, n_neighbors - 1 :]
    is_link = pieces.labels[columns] != pieces.labels[:, None]
    is_link &= distances <= _reach(nearest, n_neighbors)
    return only(csr_of(distances.ravel(), columns, n_rows), is_link.ravel())


def _reach(nearest: NearestRows, n_neighbors: int) -> float:
    """The distance to their last neighbour that 99 of 100 rows do not exceed."""
    reach = np.quantile(nearest.near(n_neighbors - 1)[1][:, -1], FAR)
    # Equal distances differ by rounding.
    return float(reach * (1 + np.sqrt(np.finfo(nearest.rows.dtype).eps)))


def _links(
    nearest: NearestRows, labels: IntArray, ours: BoolArray, others: BoolArray
) -> tuple[IntArray, IntArray]:
    """For each of the other pieces, in order: its row that is nearest to ours, and our row."""
    kept, lost = np.flatnonzero(ours[labels]), np.flatnonzero(others[labels])
    distances, found = NearestRows(nearest.rows[kept], nearest.metric).of(nearest.rows[lost], 1)
    # The first of each piece in the order of distances.
    order = np.lexsort((distances[:, 0], labels[lost]))
    _, first = np.unique(labels[lost][order], return_index=True)
    nearest_of_each = order[first]
    return lost[nearest_of_each], kept[found[nearest_of_each, 0]]


def join(pieces: Pieces, nearest: NearestRows) -> IntArray:
    """The row whose features each row has: itself, or a row of a piece that is kept.

    All rows of a piece that is not kept have the features of the kept row nearest to that piece.

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
    kept = np.arange(len(pieces.sizes)) < pieces.n_kept
    if not kept.all():
        lost = np.flatnonzero(~pieces.kept)
        _, ends = _links(nearest, pieces.labels, kept, ~kept)
        source[lost] = ends[pieces.labels[lost] - pieces.n_kept]
    return source


def with_rest(features: Array, pieces: Pieces) -> Array:
    """Features with one more column, for the group of all pieces that are not kept.

    Parameters
    ----------
    features : ndarray of shape (n_rows, r)
        Features of norm 1; zeros for rows of pieces that are not kept.
    pieces : Pieces
        The connected components of a graph.

    Returns
    -------
    ndarray of shape (n_rows, r) or (n_rows, r + 1)
        Features of norm 1.
    """
    if pieces.kept.all():
        return features
    return np.column_stack([features, ~pieces.kept])


def apart(features: Array, marks: Array) -> Array:
    """Features with which rows of one piece are nearer to each other than to those of others.

    Heat is 0 between pieces, so that all are at the same distance. A cluster then holds two small
    pieces, however far they are from each other, where that costs less than to leave a large piece
    whole. With marks of squared norm w, k(x, y) becomes (k(x, y) + w [same piece]) / (1 + w).

    Parameters
    ----------
    features : ndarray of shape (n_rows, r)
        Features of norm 1, or zeros.
    marks : ndarray of shape (n_rows, n_pieces)
        Those of `Pieces`, or means of them.

    Returns
    -------
    ndarray of shape (n_rows, r + n_pieces)
        Features of norm 1, or zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat.pieces import apart
    >>> marks = 3.0 * np.array([[1, 0], [1, 0], [0, 1]])
    >>> features = apart(np.array([[1.0], [-1.0], [1.0]]), marks)
    >>> (features @ features.T).round(1)
    array([[ 1. ,  0.8,  0.1],
           [ 0.8,  1. , -0.1],
           [ 0.1, -0.1,  1. ]])
    """
    joined = np.hstack([features, marks], dtype=features.dtype, casting="same_kind")
    return np.asarray(unit_rows(joined))


def find_connection(
    ranks: Data, n_neighbors: int, n_clusters: int, node_weight: Array | None = None
) -> int | None:
    """The smallest larger ``n_neighbors`` with no more large pieces than clusters.

    For any number of neighbours, the minimum spanning forest of ranks has the pieces of the graph.

    Parameters
    ----------
    ranks : CSR array of shape (n_rows, n_rows)
        For each edge, the smallest number of neighbours with which it is in the graph.
    n_neighbors : int
        Number of neighbours with which there are too many pieces.
    n_clusters : int
        Number of clusters.
    node_weight : ndarray of shape (n_rows,), default=None
        As for `find_pieces`.

    Returns
    -------
    int or None
        The number; None if none of those in ``ranks`` is enough.

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
        present = forest.data <= number
        edges = forest.data[present], (forest.row[present], forest.col[present])
        graph = scipy.sparse.csr_array(edges, ranks.shape)
        if find_pieces(graph, n_clusters, node_weight).n_large <= n_clusters:
            return int(number)
    return None


def warn_of_pieces(
    pieces: Pieces,
    n_clusters: int,
    graph: str,
    n_neighbors: int,
    ranks_of: Callable[[], tuple[Data, Array | None]],
    family: str | None = None,
    *,
    cuts_far: bool = False,
) -> None:
    """Warn if the graph has more large pieces than clusters, and say what to do.

    A single cluster has all pieces.

    Parameters
    ----------
    pieces : Pieces
        The components of the graph.
    n_clusters : int
        Number of clusters.
    graph : str
        Its name in messages.
    n_neighbors : int
        Number of neighbours of a row in it.
    ranks_of : callable
        Returns the ranks and the node weights that `find_connection` takes.
    family : str, default=None
        The family of the kernel, whose ``n_neighbors`` cannot be set.
    cuts_far : bool, default=False
        Whether edges to far rows are missing, which are there where ``n_neighbors`` is given.
    """
    # The remedy takes a search for many more neighbours.
    if n_clusters == 1 or pieces.n_large <= n_clusters or are_ignored():
        return
    ranks, node_weight = ranks_of()
    # With "auto" edges may have been cut that the same number would keep.
    enough = find_connection(ranks, n_neighbors - cuts_far, n_clusters, node_weight)
    more = f"{'Set' if enough == n_neighbors else 'Raise'} {option('n_neighbors')}"
    if family is not None:
        instead = "dict(kernel='heat', n_neighbors=...)"
        more = (
            f"Instead of the family {family!r} give {instead}, with {option('n_neighbors')} raised"
        )
    k = option("n_clusters")
    remedy = f"{more} to {enough}, the smallest that connects enough of them, or raise {k}."
    if enough is None:
        most = max(n_neighbors, int(ranks.max()))
        remedy = f"Even {option('n_neighbors', most)} leaves more pieces than clusters. Raise {k}."
    warn_user(
        f"{graph} with {option('n_neighbors', n_neighbors)} is in {_described(pieces)}, more than "
        f"{option('n_clusters', n_clusters)}. The {pieces.n_kept} largest are the clusters, and "
        f"the others join what is nearest to them. {remedy}"
    )


def _described(pieces: Pieces) -> str:
    count = len(pieces.sizes)
    sizes = ", ".join(f"{size:.0f}" for size in pieces.sizes[:SIZES]) + ", ..." * (count > SIZES)
    return f"{count} pieces (of {sizes} rows)"


def warn_of_rest(pieces: Pieces, n_clusters: int, kernel: str, more_edges: str) -> None:
    """Warn if pieces of a graph that was given are not kept, unless there is a single cluster.

    Parameters
    ----------
    pieces : Pieces
        The components of the graph.
    n_clusters : int
        Number of clusters.
    kernel : str
        The name of the graph in messages.
    more_edges : str
        The remedy that connects pieces.
    """
    kept = int(np.count_nonzero(pieces.kept))
    lost = len(pieces.labels) - kept
    if n_clusters == 1 or not lost:
        return
    several = pieces.n_kept > 1
    largest = f"The {pieces.n_kept} largest hold" if several else "The largest holds"
    rest = "the other row belongs. It becomes a cluster, or goes into the one"
    if lost > 1:
        rest = f"the {lost} other rows belong. Together they become a cluster, or go into the one"
    # With more clusters debris would still not be kept.
    remedies = [more_edges, f"leave {'these rows' if lost > 1 else 'this row'} out"]
    remedies += [f"raise {option('n_clusters')}"] * (pieces.n_large > n_clusters)
    warn_user(
        f"{kernel}: the graph is in {_described(pieces)}. {largest} {kept} of the "
        f"{len(pieces.labels)} rows. No edge says where {rest} where that costs least. "
        f"{', '.join(remedies[:-1])}{',' * (len(remedies) > 2)} or {remedies[-1]}."
    )
