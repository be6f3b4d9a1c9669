"""Heat features of many rows by a few anchors; they depend on the row and the anchors alone."""

from collections.abc import Iterator

import numpy as np
import scipy.linalg
import scipy.sparse

from kernelmeans._typing import Array, Data
from kernelmeans.heat.basis import Basis, heat_weights, pair_count, solve_time
from kernelmeans.heat.metric import DIRECTIONS, as_directions
from kernelmeans.heat.neighbors import MOST_EDGES, NearestRows, csr_of, origin_and_scale
from kernelmeans.heat.pieces import Pieces, find_pieces
from kernelmeans.kernels.formulas import unit_rows
from kernelmeans.lowrank import auto_components
from kernelmeans.lowrank.landmarks import kmeans_centroids, kmeans_plusplus_points

#: A row has weights on one of so many anchors, and on at least so many. With fewer of many anchors,
#: single edges connect clusters that nearly touch.
ANCHORS_PER_NEAREST, NEAREST = 50, 5
#: Fewest anchors for each cluster.
ANCHORS_PER_CLUSTER = 10
#: How many times as many anchors near a row are tried to connect pieces.
TRIED = 4
#: Rows in a block whose weights are computed at once.
BLOCK_ROWS = 2**15


def auto_anchors(n_samples: int, n_clusters: int) -> int:
    """The number of anchors for ``n_components="auto"``: that of landmarks, or ten per cluster.

    More would follow the rows more closely, but also connect clusters that nearly touch.
    """
    return max(auto_components(n_samples, n_clusters), ANCHORS_PER_CLUSTER * n_clusters)


def auto_nearest(n_anchors: int) -> int:
    """The number of anchors that a row has weights on, for ``n_neighbors="auto"``."""
    return max(NEAREST, n_anchors // ANCHORS_PER_NEAREST)


class AnchorFeatures:
    """Features of a row by its weights on the anchors nearest to it.

    Parameters
    ----------
    nearest : NearestRows
        The anchors.
    n_nearest : int
        Number of anchors that a row has weights on.
    projection : ndarray of shape (m, r)
        From weights to features.
    """

    def __init__(self, nearest: NearestRows, n_nearest: int, projection: Array) -> None:
        self.nearest = nearest
        self.n_nearest = n_nearest
        self.projection = projection

    def __call__(self, rows: Data) -> Array:
        """Features of norm 1, shape (n_rows, r)."""
        rows = self.nearest.read(rows, self.projection.dtype)
        weights = anchor_weights(rows, self.nearest, self.n_nearest)
        features: Array = unit_rows(weights @ self.projection).astype(rows.dtype, copy=False)
        return features


def draw_anchors(X: Data, sample_weight: Array, metric: str, count: int, seed: int) -> NearestRows:
    """Centroids of a short run of k-means; rows of X where it is sparse.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_rows, n_features)
        Rows.
    sample_weight : ndarray of shape (n_rows,)
        Sample weights.
    metric : str
        That of the heat kernel, one of `kernelmeans.heat.metric.WITH_ANCHORS`.
    count : int
        Number of anchors.
    seed : int
        Seed of all randomness.

    Returns
    -------
    NearestRows
        The anchors.
    """
    X = as_directions(X, metric) if metric in DIRECTIONS else X
    if scipy.sparse.issparse(X):
        return NearestRows(X[kmeans_plusplus_points(X, count, sample_weight, seed)], metric)
    origin, scale = origin_and_scale(X)
    centroids = kmeans_centroids((X - origin) / scale, count, sample_weight, seed)
    return NearestRows(origin + scale * centroids, metric)


def anchor_weights(rows: Data, nearest: NearestRows, n_nearest: int) -> Data:
    """Weights of rows on the anchors nearest to them.

    A weight falls with the squared distance, and is 0 at the distance of the nearest anchor without
    a weight. Weights are therefore continuous where two anchors change ranks.

    Parameters
    ----------
    rows : {ndarray, CSR matrix} of shape (n_rows, n_features)
        Rows, dense or sparse as the anchors are.
    nearest : NearestRows
        The anchors.
    n_nearest : int
        Number of anchors that a row has weights on.

    Returns
    -------
    CSR array of shape (n_rows, m)
        The weights, none negative; rows sum to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat.anchors import anchor_weights
    >>> from kernelmeans.heat.neighbors import NearestRows, origin_and_scale
    >>> anchors = NearestRows(np.array([[0.0], [1.0], [3.0]]), "euclidean")
    >>> anchor_weights(np.array([[0.0]]), anchors, 2).toarray().round(3)
    array([[0.529, 0.471, 0.   ]])
    """
    m = nearest.rows.shape[0]
    count = min(n_nearest, m)
    distances, columns = nearest.of(rows, min(count + 1, m))
    squared = distances**2
    near = squared[:, -1:] - squared[:, :count]
    # All are 0 where all anchors are equally far, or where there are no others.
    near = np.where(near.any(axis=1, keepdims=True), near, 1)
    near /= near.sum(axis=1, keepdims=True)
    return csr_of(near.ravel(), columns[:, :count], m)


class AnchorGraph:
    """The graph Z diag(1 / node_weight) Z^T of rows, by their weights Z on anchors.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_rows, n_features)
        A subsample of the training rows.
    sample_weight : ndarray of shape (n_rows,)
        The weight that each stands for.
    nearest : NearestRows
        The anchors.
    n_nearest : int
        Number of anchors that a row has weights on.
    """

    def __init__(self, X: Data, sample_weight: Array, nearest: NearestRows, n_nearest: int) -> None:
        self.X = X
        self.sample_weight = sample_weight
        self.nearest = nearest
        self.n_nearest = n_nearest

    def products(self) -> tuple[Data, Array]:
        """Z^T diag(w) Z, and the node weights Z^T w, for sample weights w; in float64."""
        m = self.nearest.rows.shape[0]
        products, node_weight = scipy.sparse.csr_array((m, m)), np.zeros(m)
        for rows, weight in self._blocks():
            Z = anchor_weights(rows, self.nearest, self.n_nearest).astype(np.float64)
            products = products + Z.T @ Z.multiply(weight[:, None]).tocsr()
            node_weight += Z.T @ weight
        return products.tocsr(), node_weight

    def ranks(self) -> tuple[Data, Array]:
        """How many anchors near a row connect two anchors, and the weight of each anchor.

        Returns
        -------
        ranks : CSR array of shape (m, m)
            For two anchors, the smallest rank of one among the anchors near a row whose nearest
            anchor is the other. Ranks go up to four times ``n_nearest``, or more if rows are few.
        node_weight : ndarray of shape (m,)
            For each anchor, the sample weights of the rows that it is the nearest to.
        """
        m = self.nearest.rows.shape[0]
        most = min(m, max(TRIED * self.n_nearest, MOST_EDGES // len(self.sample_weight)))
        ranks, node_weight = scipy.sparse.csr_array((m, m)), np.zeros(m)
        for rows, weight in self._blocks():
            _, near = self.nearest.of(rows, most)
            node_weight += np.bincount(near[:, 0], weight, m)
            pairs, first = np.unique((near[:, :1] * m + near[:, 1:]).T, return_index=True)
            # The smallest rank has the largest inverse; entries that are not stored count as 0.
            inverse = 1 / (2.0 + first // len(near))
            # SciPy before 1.17.1 finds no spanning trees of graphs with longer indices.
            places = np.asarray(np.divmod(pairs, m), np.int32)
            ranks = ranks.maximum(scipy.sparse.csr_array((inverse, tuple(places)), (m, m)))
        ranks.data = np.round(1 / ranks.data)
        return ranks, node_weight

    def _blocks(self) -> Iterator[tuple[Data, Array]]:
        for start in range(0, self.X.shape[0], BLOCK_ROWS):
            block = slice(start, start + BLOCK_ROWS)
            yield self.X[block], self.sample_weight[block].astype(np.float64)


def anchor_basis(
    graph: AnchorGraph, n_clusters: int, t: float | str = "auto"
) -> tuple[AnchorFeatures, Basis, Pieces]:
    """Heat in the graph of anchors.

    Its eigenvectors are the leading left singular vectors of Z Lambda^-1/2. They come from those of
    the m x m matrix Lambda^-1/2 Z^T W Z Lambda^-1/2, with the sample weights W and the node weights
    Lambda. Anchors of debris, and of more pieces than clusters, are dropped: rows near them have
    weights on others.

    Parameters
    ----------
    graph : AnchorGraph
        The graph.
    n_clusters : int
        Number of clusters.
    t : "auto" or float, default="auto"
        The time; ``"auto"`` is `solve_time`.

    Returns
    -------
    features : AnchorFeatures
        The map from rows to features.
    basis : Basis
        Features of the anchors, eigenvalues and time.
    pieces : Pieces
        Those of the graph of all anchors.

    References
    ----------
    Liu, He and Chang (2010), Large graph construction for scalable semi-supervised learning.
    """
    products, node_weight = graph.products()
    pieces = find_pieces(products, n_clusters, node_weight)
    nearest = graph.nearest
    if not pieces.kept.all():
        nearest = NearestRows(nearest.rows[np.flatnonzero(pieces.kept)], nearest.metric)
        kept_graph = AnchorGraph(graph.X, graph.sample_weight, nearest, graph.n_nearest)
        products, node_weight = kept_graph.products()
    # Anchors without rows near them have weight 0, and no part in any feature.
    roots = np.where(node_weight > 0, 1 / np.sqrt(np.where(node_weight > 0, node_weight, 1)), 0)
    m = len(node_weight)
    S = products.toarray() * roots[:, None] * roots
    values, V = scipy.linalg.eigh(S, subset_by_index=[max(0, m - pair_count(n_clusters)), m - 1])
    values, V = values[::-1], V[:, ::-1]
    rounding = 8 * m * np.finfo(np.float64).eps
    # There is one for each piece. If it were rounded, no heat would be left after a long time.
    values = np.where(values > 1 - rounding, 1, values)
    time = solve_time(values, n_clusters, pieces.n_kept) if isinstance(t, str) else t
    weights, kept = heat_weights(values, time)
    kept &= values > rounding
    projection = roots[:, None] * V[:, kept] * (weights[kept] / np.sqrt(values[kept]))
    projection = np.ascontiguousarray(projection, dtype=nearest.rows.dtype)
    features = AnchorFeatures(nearest, graph.n_nearest, projection)
    return features, Basis(unit_rows(projection), values[kept], time), pieces
