"""Heat features of many rows by a few anchors; they depend on the row and the anchors alone."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse

from kernelmeans._memory import cached_property
from kernelmeans._typing import Array, BoolArray, Data
from kernelmeans.heat.basis import Spectrum
from kernelmeans.heat.density import NEIGHBOR, anchor_density, core_distances
from kernelmeans.heat.metric import DIRECTIONS, as_directions, has_direction
from kernelmeans.heat.neighbors import MOST_EDGES, NearestRows, csr_of, origin_and_scale
from kernelmeans.heat.pieces import Pieces, apart, find_pieces
from kernelmeans.kernels.formulas import unit_rows
from kernelmeans.lowrank import auto_components
from kernelmeans.lowrank.landmarks import kmeans_centroids, kmeans_plusplus_points
from kernelmeans.spaces.kernel_rows import slices

#: Anchors that a row has weights on, for ``n_neighbors="auto"``. With more, anchors of neighbouring
#: clusters are joined; with fewer, clusters fall into pieces.
NEAREST = 5
#: Most anchors that ``n_components="auto"`` takes for their own sake, and rows for each of them.
#: With more anchors images match a little better, but a million rows take half as long again.
MOST_ANCHORS, ROWS_PER_ANCHOR = 2000, 5
#: Fewest anchors for each cluster.
ANCHORS_PER_CLUSTER = 10
#: How many times as many anchors near a row are tried to connect pieces.
TRIED = 4
#: Rows in a block whose weights are computed at once.
BLOCK_ROWS = 2**15


def auto_anchors(n_samples: int, n_clusters: int) -> int:
    """The number of anchors for ``n_components="auto"``.

    It is 2000, or a fifth of the rows if these are fewer, but at least the number of landmarks for
    other kernels, and ten per cluster.
    """
    enough = max(auto_components(n_samples, n_clusters), ANCHORS_PER_CLUSTER * n_clusters)
    return max(enough, min(MOST_ANCHORS, n_samples // ROWS_PER_ANCHOR))


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
    marks : ndarray of shape (m, n_pieces), default=None
        Those of the pieces of the anchors, if they are put `apart`.
    """

    #: In older model files pieces are not put apart.
    marks: Array | None = None

    def __init__(
        self, nearest: NearestRows, n_nearest: int, projection: Array, marks: Array | None = None
    ) -> None:
        self.nearest = nearest
        self.n_nearest = n_nearest
        self.projection = projection
        self.marks = marks

    def __call__(self, rows: Data) -> Array:
        """Features of norm 1, shape (n_rows, r)."""
        rows = self.nearest.read(rows, self.projection.dtype)
        weights = anchor_weights(rows, self.nearest, self.n_nearest)
        features = unit_rows(weights @ self.projection)
        if self.marks is not None:
            features = apart(features, weights @ self.marks)
        return np.asarray(features.astype(rows.dtype, copy=False))


def draw_anchors(X: Data, sample_weight: Array, metric: str, count: int, seed: int) -> NearestRows:
    """Centroids of a short run of k-means; rows of X where it is sparse.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_rows, n_features)
        Rows.
    sample_weight : ndarray of shape (n_rows,)
        Sample weights.
    metric : str
        That of the heat kernel, one of ``kernelmeans.heat.metric.WITH_ANCHORS``.
    count : int
        Number of anchors.
    seed : int
        Seed of all randomness.

    Returns
    -------
    NearestRows
        The anchors.
    """
    if metric in DIRECTIONS:
        if (kept := has_direction(X, metric)).any():
            X, sample_weight = X[np.flatnonzero(kept)], sample_weight[kept]
        X = as_directions(X, metric)
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


@dataclass(eq=False, repr=False)
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
    edge_weight : ndarray of shape (m,), default=None
        The weight of edges near each anchor. A row counts by the least of the anchors near it; all
        count alike when None.
    """

    X: Data
    sample_weight: Array
    nearest: NearestRows
    n_nearest: int
    edge_weight: Array | None = None

    @cached_property
    def _shares(self) -> list[tuple[Data, Array]]:
        """The weights Z of each block of rows, and their sample weights; in float64."""
        return [
            (anchor_weights(rows, self.nearest, self.n_nearest).astype(np.float64), weight)
            for rows, weight in self._blocks()
        ]

    def weigh(self, exponent: float, dimension: float) -> None:
        """Let edges count by the density of the rows that anchors stand for.

        The neighbourhood of an anchor has the rows of it and of the five anchors nearest to it. Its
        radius is the distance of the fifth.
        """
        m = self.nearest.rows.shape[0]
        mass = np.zeros(m)
        for Z, weight in self._shares:
            # The anchors that a row has weights on, the nearest first.
            mass += np.bincount(Z.indices.reshape(Z.shape[0], -1)[:, 0], weight, m)
        columns, distances = self.nearest.near(min(NEIGHBOR, m - 1))
        mass += mass[columns].sum(axis=1)
        self.edge_weight = anchor_density(mass, core_distances(distances), exponent, dimension)

    def products(self) -> tuple[Data, Array]:
        """Z^T diag(w s) Z, and Z^T w, for sample weights w and weights s of the edges of rows."""
        m = self.nearest.rows.shape[0]
        products, node_weight = scipy.sparse.csr_array((m, m)), np.zeros(m)
        for Z, weight in self._shares:
            node_weight += Z.T @ weight
            if self.edge_weight is not None:
                near = Z.indices.reshape(Z.shape[0], -1)
                weight = weight * self.edge_weight[near].min(axis=1)
            products = products + Z.T @ Z.multiply(weight[:, None]).tocsr()
        products = products.tocsr()
        products.eliminate_zeros()
        return products, node_weight

    def of(self, kept: BoolArray) -> "AnchorGraph":
        """The graph of some of the anchors, whose edges keep their weights."""
        nearest = NearestRows(self.nearest.rows[np.flatnonzero(kept)], self.nearest.metric)
        weight = None if self.edge_weight is None else self.edge_weight[kept]
        return AnchorGraph(self.X, self.sample_weight, nearest, self.n_nearest, weight)

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
        for block in slices(self.X.shape[0], BLOCK_ROWS):
            yield self.X[block], self.sample_weight[block].astype(np.float64)


class AnchorHeat(NamedTuple):
    """Heat in the graph of anchors.

    The eigenvectors of that of the rows are the leading left singular vectors of
    (W S)^1/2 Z Lambda^-1/2, with the sample weights W, the weights S of edges and the node weights
    Lambda. They come from those of the m x m matrix Lambda^-1/2 Z^T W S Z Lambda^-1/2.

    Attributes
    ----------
    graph : AnchorGraph
        The graph of the anchors that are kept.
    spectrum : Spectrum
        The leading eigenpairs of the matrix.
    roots : ndarray of shape (m,)
        Lambda^-1/2.
    pieces : Pieces
        Those of the graph of all anchors.

    References
    ----------
    Liu, He and Chang (2010), Large graph construction for scalable semi-supervised learning.
    """

    graph: AnchorGraph
    spectrum: Spectrum
    roots: Array
    pieces: Pieces

    @classmethod
    def of(cls, graph: AnchorGraph, n_clusters: int, is_apart: bool = False) -> "AnchorHeat":
        """Heat in a graph, for so many clusters, with pieces that are put `apart` or not.

        Anchors of debris, of more pieces than clusters, and without rows are dropped: rows near
        them have weights on others.
        """
        products, node_weight = graph.products()
        pieces = kept = find_pieces(products, n_clusters, node_weight)
        while not kept.kept.all():
            graph = graph.of(kept.kept)
            products, node_weight = graph.products()
            kept = find_pieces(products, n_clusters, node_weight)
        roots = 1 / np.sqrt(products.sum(axis=1))
        return cls(graph, Spectrum.of(products, kept, n_clusters, is_apart), roots, pieces)

    def at(self, t: float) -> tuple[AnchorFeatures, Array]:
        """The map from rows to features at a time, and the eigenvalues of its columns."""
        weighted, kept = self.spectrum.weighted(t)
        values = self.spectrum.values[kept]
        # Others have no part in the graph of rows, whose rank may be smaller.
        positive = values > 8 * len(self.roots) * np.finfo(np.float64).eps
        values = values[positive]
        projection = self.roots[:, None] * weighted[:, positive] / np.sqrt(values)
        nearest = self.graph.nearest
        projection = np.ascontiguousarray(projection, dtype=nearest.rows.dtype)
        marks = self.spectrum.pieces.marks if self.spectrum.is_apart else None
        return AnchorFeatures(nearest, self.graph.n_nearest, projection, marks), values
