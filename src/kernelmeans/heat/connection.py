"""What is said of a graph in pieces, and how many neighbours would connect them."""

from typing import NamedTuple

import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import minimum_spanning_tree

from kernelmeans._warnings import warn_user
from kernelmeans.heat.neighbours import NearestRows
from kernelmeans.heat.pieces import Pieces, find_pieces

#: Sizes of pieces that a message tells.
SIZES = 8
#: Edges among which the fewest neighbours that connect pieces are looked for: some 40 MB.
MOST_EDGES = 2**20


class Connection(NamedTuple):
    """How many neighbours bring a graph down to as many large pieces as clusters.

    Attributes
    ----------
    n_neighbors : int
        The smallest number that does, or the largest that was tried.
    found : bool
        Whether it does.
    """

    n_neighbors: int
    found: bool


def find_connection(nearest: NearestRows, n_neighbors: int, n_clusters: int) -> Connection:
    """The smallest ``n_neighbors`` beyond the given one with no more large pieces than clusters.

    One more search finds the neighbours of each row in their order. An edge is in the graph from
    the lower of its two ranks on, so that the minimum spanning forest of ranks has the pieces of
    the graph of any number of neighbours. Rows that are equally far may be ranked otherwise there,
    and the number be one off.

    Parameters
    ----------
    nearest : NearestRows
        Rows, all different.
    n_neighbors : int
        Neighbours, with which there are more pieces.
    n_clusters : int
        Clusters looked for.

    Returns
    -------
    Connection
        The number. Of n rows no more than ``MOST_EDGES // n`` are tried.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat.neighbours import NearestRows
    >>> from kernelmeans.heat.connection import find_connection
    >>> X = np.array([[0.0], [0.1], [0.3], [5.0], [5.1], [5.3]])
    >>> find_connection(NearestRows(X, "euclidean"), 2, n_clusters=1)
    Connection(n_neighbors=4, found=True)
    """
    n = nearest.rows.shape[0]
    most = max(min(n, MOST_EDGES // n), n_neighbors)
    if most == n_neighbors:
        return Connection(most, False)
    columns = nearest.others(most - 1)
    # A row is the first of its own neighbours.
    ranks = np.broadcast_to(np.arange(2.0, most + 1), columns.shape).ravel()
    ends = np.arange(0, columns.size + 1, most - 1)
    graph = scipy.sparse.csr_array((ranks, columns.ravel(), ends), shape=(n, n))
    forest = minimum_spanning_tree(graph).tocoo()
    for number in np.unique(np.maximum(forest.data, n_neighbors + 1)):
        there = forest.data <= number
        edges = forest.data[there], (forest.row[there], forest.col[there])
        own = scipy.sparse.csr_array(edges, shape=(n, n))
        if find_pieces(own, n_clusters).n_large <= n_clusters:
            return Connection(int(number), True)
    return Connection(most, False)


def warn_of_pieces(
    pieces: Pieces,
    n_clusters: int,
    graph: str,
    n_neighbors: int,
    nearest: NearestRows | None = None,
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
    nearest : NearestRows, default=None
        Its rows, among which the number of neighbours that connects them is looked for.
    family : str, default=None
        The family of the kernel, which leaves nobody to set ``n_neighbors``.
    """
    if n_clusters == 1 or pieces.n_large <= n_clusters:
        return
    more = "Raise n_neighbors"
    if family is not None:
        instead = "dict(kernel='heat', n_neighbors=...)"
        more = f"Instead of the family {family!r} give {instead}, with n_neighbors raised"
    remedy = f"{more}, which connects pieces, or raise n_clusters."
    if nearest is not None:
        enough, found = find_connection(nearest, n_neighbors, n_clusters)
        remedy = f"Even n_neighbors={enough} leaves more pieces than clusters. Raise n_clusters."
        if found:
            smallest = "the smallest that connects enough of them"
            remedy = f"{more} to {enough}, {smallest}, or raise n_clusters."
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
