"""Heat features of many rows by a few anchors: they depend on the row and the anchors alone."""

import numpy as np
import scipy.linalg
import scipy.sparse

from kernelmeans._typing import Array, Data
from kernelmeans.heat.basis import NEGLIGIBLE, Basis, unit_rows
from kernelmeans.heat.neighbours import NearestRows, origin_and_scale
from kernelmeans.heat.pieces import Pieces, find_pieces
from kernelmeans.heat.spectrum import pair_count
from kernelmeans.heat.time import solve_time
from kernelmeans.kernels.formulas import unit_rows as directions
from kernelmeans.lowrank import auto_components
from kernelmeans.lowrank.landmarks import kmeans_centroids, kmeans_plusplus_points

#: Anchors near a row that it is held by: one of so many, at least so many. Fewer of many anchors
#: make a sharp graph that leaks along single edges where clusters nearly touch.
ANCHORS_PER_NEAR, NEAR = 50, 5
#: Anchors for each cluster, at least.
ANCHORS_PER_CLUSTER = 10
#: Rows whose shares are computed at a time.
SHARED_ROWS = 2**15


def auto_anchors(n_samples: int, n_clusters: int) -> int:
    """Anchors for ``n_components="auto"``: as many as landmarks, or ten for each cluster.

    More would follow the rows more closely, but leak where clusters nearly touch.
    """
    return max(auto_components(n_samples, n_clusters), ANCHORS_PER_CLUSTER * n_clusters)


def auto_near(n_anchors: int) -> int:
    """Anchors that a row has shares in, for ``n_neighbors="auto"``."""
    return max(NEAR, n_anchors // ANCHORS_PER_NEAR)


class AnchorFeatures:
    """Features of a row by its shares in the anchors near it.

    Parameters
    ----------
    nearest : NearestRows
        The anchors.
    n_neighbors : int
        Anchors that a row has shares in.
    projection : ndarray of shape (m, r)
        What shares are multiplied by.
    """

    def __init__(self, nearest: NearestRows, n_neighbors: int, projection: Array) -> None:
        self.nearest = nearest
        self.n_neighbors = n_neighbors
        self.projection = projection

    def __call__(self, rows: Data) -> Array:
        """Rows of length 1."""
        rows = self.nearest.in_form(rows.astype(self.projection.dtype, copy=False))
        near = shares(rows, self.nearest, self.n_neighbors)
        return unit_rows(near @ self.projection).astype(rows.dtype, copy=False)


def draw_anchors(X: Data, sample_weight: Array, metric: str, count: int, seed: int) -> NearestRows:
    """Centroids of a short k-means, or rows where X is sparse.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_rows, n_features)
        Rows.
    sample_weight : ndarray of shape (n_rows,)
        Weights.
    metric : {"euclidean", "cosine"}
        Of the heat kernel.
    count : int
        Anchors wanted.
    seed : int
        Of the draws.

    Returns
    -------
    NearestRows
        The anchors.
    """
    X = directions(X) if metric == "cosine" else X
    if scipy.sparse.issparse(X):
        return NearestRows(X[kmeans_plusplus_points(X, count, sample_weight, seed)], metric)
    origin, scale = origin_and_scale(X)
    centroids = kmeans_centroids((X - origin) / scale, count, sample_weight, seed)
    return NearestRows(origin + scale * centroids, metric)


def shares(rows: Data, nearest: NearestRows, n_neighbors: int) -> Data:
    """Shares of rows in the anchors nearest to them.

    They fall with the squared distance, to 0 at the first anchor that has no share: so they do not
    jump where two anchors change places.

    Parameters
    ----------
    rows : {ndarray, CSR matrix} of shape (n_rows, n_features)
        Rows, in the form of the anchors.
    nearest : NearestRows
        The anchors.
    n_neighbors : int
        Anchors that a row has shares in.

    Returns
    -------
    CSR array of shape (n_rows, m)
        Not negative; rows sum to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat.anchors import shares
    >>> from kernelmeans.heat.neighbours import NearestRows, origin_and_scale
    >>> anchors = NearestRows(np.array([[0.0], [1.0], [3.0]]), "euclidean")
    >>> shares(np.array([[0.0]]), anchors, 2).toarray().round(3)
    array([[0.529, 0.471, 0.   ]])
    """
    m = nearest.rows.shape[0]
    count = min(n_neighbors, m)
    distances, columns = nearest.of(rows, min(count + 1, m))
    squared = distances**2
    near = squared[:, -1:] - squared[:, :count]
    # Where all are equally far, and where the anchors are no more than these.
    near = np.where(near.any(axis=1, keepdims=True), near, 1)
    near /= near.sum(axis=1, keepdims=True)
    ends = np.arange(0, near.size + 1, count)
    return scipy.sparse.csr_array((near.ravel(), columns[:, :count].ravel(), ends), (len(near), m))


def anchor_basis(
    X: Data,
    sample_weight: Array,
    nearest: NearestRows,
    n_neighbors: int,
    n_clusters: int,
    t: float | str = "auto",
) -> tuple[AnchorFeatures, Basis, Pieces]:
    """The anchor graph Z diag(1 / mass) Z^T of rows, and heat in it.

    Its leading left singular vectors are those of Z Lambda^-1/2, by way of the m x m matrix
    Lambda^-1/2 Z^T W Z Lambda^-1/2 of the weights W and the anchors' masses Lambda. Anchors of
    debris, and of more pieces than clusters, are left out: rows near them go to those that stay.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_rows, n_features)
        A draw of the training rows.
    sample_weight : ndarray of shape (n_rows,)
        What each stands for.
    nearest : NearestRows
        The anchors.
    n_neighbors : int
        Anchors that a row has shares in.
    n_clusters : int
        Clusters looked for.
    t : "auto" or float, default="auto"
        The time; ``"auto"`` is `solve_time`.

    Returns
    -------
    features : AnchorFeatures
        From rows to features.
    basis : Basis
        Features of the anchors, eigenvalues and time.
    pieces : Pieces
        Those of the graph of all anchors.

    References
    ----------
    Liu, He and Chang (2010), Large graph construction for scalable semi-supervised learning.
    """
    W, mass = _products(X, sample_weight, nearest, n_neighbors)
    pieces = find_pieces(W, n_clusters, mass)
    if not pieces.kept.all():
        nearest = NearestRows(nearest.rows[np.flatnonzero(pieces.kept)], nearest.metric)
        W, mass = _products(X, sample_weight, nearest, n_neighbors)
    # Anchors without rows near them have no mass, and no share in any feature.
    roots = np.where(mass > 0, 1 / np.sqrt(np.where(mass > 0, mass, 1)), 0)
    m = len(mass)
    S = W.toarray() * roots[:, None] * roots
    values, V = scipy.linalg.eigh(S, subset_by_index=[max(0, m - pair_count(n_clusters)), m - 1])
    values, V = values[::-1], V[:, ::-1]
    rounding = 8 * m * np.finfo(np.float64).eps
    # One for each piece: else long times would multiply their rounding until no heat is left.
    values = np.where(values > 1 - rounding, 1, values)
    time = solve_time(values, n_clusters, pieces.n_kept) if isinstance(t, str) else t
    weights = np.exp(-time * (1 - values))
    kept = (weights**2 > NEGLIGIBLE) & (values > rounding)
    projection = roots[:, None] * V[:, kept] * (weights[kept] / np.sqrt(values[kept]))
    projection = np.ascontiguousarray(projection, dtype=nearest.rows.dtype)
    features = AnchorFeatures(nearest, n_neighbors, projection)
    return features, Basis(unit_rows(projection), values[kept], time), pieces


def _products(
    X: Data, sample_weight: Array, nearest: NearestRows, n_neighbors: int
) -> tuple[Data, Array]:
    """Z^T W Z and Z^T w of the rows' shares, in float64."""
    m = nearest.rows.shape[0]
    W, mass = scipy.sparse.csr_array((m, m)), np.zeros(m)
    for start in range(0, X.shape[0], SHARED_ROWS):
        block = slice(start, start + SHARED_ROWS)
        Z = shares(X[block], nearest, n_neighbors).astype(np.float64)
        weight = sample_weight[block].astype(np.float64)
        W = W + Z.T @ Z.multiply(weight[:, None]).tocsr()
        mass += Z.T @ weight
    return W.tocsr(), mass
