"""Heat kernels of graphs that are given by their edges, or by distances to neighbours."""

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.preprocessing import normalize

from kernelmeans._dialect import option
from kernelmeans._given import plain
from kernelmeans._typing import Array, BoolArray, Data, IntArray
from kernelmeans._warnings import warn_user
from kernelmeans.heat.basis import Basis
from kernelmeans.heat.choice import Trial
from kernelmeans.heat.density import core_distances
from kernelmeans.heat.diffusion import FEWEST_CLUSTERS, DiffusionKernel
from kernelmeans.heat.digests import Digests, digests
from kernelmeans.heat.eigenpairs import pairs_bytes
from kernelmeans.heat.extension import Extension
from kernelmeans.heat.neighbors import (
    AMPLE,
    auto_neighbors,
    both_ways,
    nearest_distances,
    nearest_stored,
    without_loops,
)
from kernelmeans.heat.pieces import Pieces, find_pieces, warn_of_rest, with_rest

#: Most rows that a message lists.
NAMED = 10
#: Difference of features that counts as rounding.
ROUNDING = 1e-8


class EdgeRows:
    """Training rows, with which others are compared by their edges or distances to them.

    Parameters
    ----------
    counting : ndarray of int of shape (n_counting,)
        Training rows of positive weight; only their columns count.
    holds_distances : bool
        Whether entries are distances, which may be 0, and not edges.

    Attributes
    ----------
    places : ndarray of int of shape (n_counting,)
        For each of them, its place among the distinct rows.
    """

    places: IntArray

    def __init__(self, counting: IntArray, holds_distances: bool) -> None:
        self.counting = counting
        self.holds_distances = holds_distances

    def read(self, X: Data, dtype: Any) -> Data:
        """The columns that count, without zeros unless these are distances."""
        rows = scipy.sparse.csr_array(X, dtype=dtype)
        everything = len(self.counting) == rows.shape[1]
        # A copy, because the matrix of the user must not change.
        rows = rows.copy() if everything else rows[:, self.counting]
        if not self.holds_distances:
            rows.eliminate_zeros()
        return rows

    def digests(self, rows: Data) -> Digests:
        """A digest of each row; those of equal rows are equal."""
        return digests(rows, self.holds_distances)

    def weights(self, rows: Data, n_neighbors: int) -> Data:
        """Edges, or ones for the nearest stored neighbours, divided by their sum."""
        edges = nearest_stored(rows, n_neighbors) if self.holds_distances else rows
        if self.holds_distances:
            edges.data = np.ones_like(edges.data)
        # In two steps, because a sum may overflow.
        edges = normalize(normalize(edges, "max"), "l1")
        parts = edges.data, self.places[edges.indices], edges.indptr
        weights = scipy.sparse.csr_array(parts, (rows.shape[0], self.places.max() + 1))
        # The places in a model file may be anything, and a product reads wherever they point.
        weights.check_format(full_check=True)
        return weights


class GraphKernel(DiffusionKernel):
    """The heat kernel of a graph that is given: how alike two of its vertices are.

    As `HeatKernel`, and of leading eigenpairs as that is, but A is X itself: symmetric and not
    negative, with its diagonal. Rows of X with the same edges have the same features. A new row is
    given by its edges to the training rows. Its features are the mean of the diffusion coordinates
    of the rows at the other ends, weighted by the edges and scaled to norm 1. A new row that equals
    a row of X has the features of that row.

    Pieces of the graph that are debris, or more than the clusters, are one group, because no edge
    says where they belong. Vertices without edges are in this group too.

    Parameters
    ----------
    t : "auto", "states" or float, default="auto"
        Time, as for `HeatKernel`.

    Attributes
    ----------
    parameters : dict
        The same, once fitted with the number in use.
    eigenvalues : ndarray
        Those of the pieces that are kept, in descending order.
    n_pieces : int
        Connected components of the graph.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat import GraphKernel
    >>> A = np.kron(np.eye(2), np.ones((3, 3)))
    >>> kernel = GraphKernel().fit(A, n_clusters=2)
    >>> kernel(A[:1], np.array([[0, 0.5, 0.5, 0, 0, 0], [0, 0, 0, 0, 0, 2.0]])).round(2) + 0.0
    array([[1., 0.]])
    """

    _chosen_by = "kernel", "graph"
    _features: Extension
    #: Whether a training row of weight 0 has no edge to the others. Older model files do not say.
    _has_unconnected = False
    _holds_distances = False
    _more_edges = "Add edges"

    def __init__(self, t: float | str = "auto") -> None:
        super().__init__("graph", {"t": t})

    def learn(
        self, X: Data, sample_weight: Array | None, n_clusters: int, shared: Any = None
    ) -> Trial:
        """Learn the graph; `settle_times` then finds the features."""
        X, wanted, n_clusters = plain(X), n_clusters, max(n_clusters, FEWEST_CLUSTERS)
        n = X.shape[0]
        counting = np.arange(n) if sample_weight is None else np.flatnonzero(sample_weight)
        edges = EdgeRows(counting, self._holds_distances)
        rows = edges.read(X, X.dtype)
        if len(counting) < n:
            n_edges = np.diff(rows.indptr)
            self._has_unconnected = not np.delete(n_edges, counting).all()
            rows = rows[counting]
        graph, pieces, n_neighbors, denser = self._graph(rows, n_clusters)
        warn_of_rest(pieces, wanted, self.title, self._more_edges)
        known, first, edges.places = np.unique(
            edges.digests(rows), return_index=True, return_inverse=True
        )
        if self._holds_distances:
            _warn_of_alike(rows, edges.places, self.title)

        def settle(basis: Basis) -> None:
            # Equal rows get the features of the first. Their own differ, if at all, in parts that
            # no other row has.
            features = with_rest(basis.features, pieces)
            shared, residuals = features[first], basis.residuals
            if residuals is not None:
                # If they differ, the residuals do not bound the kernel in use.
                alike = np.abs(shared[edges.places] - features).max() < ROUNDING
                residuals = residuals[first] if alike else None
            shared, norms = shared.astype(X.dtype), basis.norms[first].astype(X.dtype)
            # Rows that are not kept count as much as most.
            norms[norms == 0] = np.median(basis.norms[pieces.kept])
            self._features = Extension(edges, known, shared, n_neighbors or n, residuals, norms)
            self._fitted(basis.t, basis.values, pieces, n_neighbors)

        return self._trial_of_rows(
            graph,
            pieces,
            wanted,
            settle,
            lambda: np.arange(len(counting)),
            alike=self._holds_distances,
            denser=denser,
        )

    def check_connected(self, X: Data) -> None:
        """Refuse new rows without edges.

        Parameters
        ----------
        X : {ndarray, CSR matrix} of shape (n_rows, n_samples)
            Rows, as edges to the training rows.

        Raises
        ------
        ValueError
            If a row has no edge to a training row, and no training row was without edges to those
            of positive weight.
        """
        alone = np.flatnonzero(self.disconnected(X))
        if len(alone):
            named = ", ".join(map(str, alone[:NAMED])) + ", ..." * (len(alone) > NAMED)
            raise ValueError(
                "X: each row needs an edge to a training row of positive weight, because nothing "
                f"else says where it belongs. Without one: row{'s' * (len(alone) > 1)} {named} "
                f"({len(alone)} of {X.shape[0]}). Leave such rows out, or give them edges."
            )

    def disconnected(self, X: Data) -> BoolArray:
        """Which new rows have no edge to a training row, unless a training row has none either."""
        rows, places = self._features.find(X)
        unconnected = (places < 0) & (np.diff(rows.indptr) == 0)
        return np.asarray(unconnected & (not self._has_unconnected))

    def _graph(
        self, rows: Data, n_clusters: int
    ) -> tuple[Data, Pieces, int | None, Callable[[], Data] | None]:
        """Like `_neighbor_graph`, with None for the number of neighbours."""
        rows = rows.astype(np.float64)
        # Only ratios of edges count; sums of large ones would overflow.
        rows.data /= rows.data.max(initial=np.finfo(np.float64).tiny)
        # The mean, because X is symmetric up to rounding.
        graph = (rows + rows.T) / 2
        # A loop at each row without edges: its heat stays there.
        loops = (graph.sum(axis=1) == 0).astype(np.float64)
        graph = (graph + scipy.sparse.diags_array(loops)).tocsr()
        return graph, find_pieces(graph, n_clusters), None, None

    def fit_bytes(self, X: Data, n_clusters: int) -> int:
        """Bytes that `fit` takes for the graph, its copies, eigenvectors and features."""
        n = X.shape[0]
        edges = X.nnz if scipy.sparse.issparse(X) else np.count_nonzero(X)
        return pairs_bytes(n, math.ceil(edges / n), n_clusters)


class DistancesKernel(GraphKernel):
    """The heat kernel of a graph of nearest neighbours, from distances that are given.

    As `HeatKernel`. X_ij is the distance from row i to row j if j is one of the nearest to i, and
    is stored even if it is 0. Rows that are not stored are no neighbours. A stored distance from a
    training row to itself does not count. `sklearn.neighbors.KNeighborsTransformer` makes such X.

    Parameters
    ----------
    n_neighbors : "auto" or int, default="auto"
        Neighbours of a row, itself included, at least 2, and not more than are stored for a row.
        ``"auto"`` is `auto_neighbors` of two columns, because the number of columns is not known.
        It grows, as for `HeatKernel`, if the graph would have more large pieces than clusters.
    t : "auto", "states" or float, default="auto"
        Time, as for `HeatKernel`.
    density : "auto" or float, default="auto"
        How much the density of rows counts, as for `HeatKernel`.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat import DistancesKernel
    >>> from sklearn.neighbors import KNeighborsTransformer
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    >>> D = KNeighborsTransformer(n_neighbors=2).fit_transform(X)
    >>> DistancesKernel(n_neighbors=3).fit(D, n_clusters=2).n_pieces
    2
    """

    _chosen_by = "metric", "precomputed"
    _holds_distances = True
    _more_edges = "Store distances to more neighbours"

    def __init__(
        self,
        n_neighbors: int | str = "auto",
        t: float | str = "auto",
        density: float | str = "auto",
    ) -> None:
        parameters = {"n_neighbors": n_neighbors, "t": t, "metric": "precomputed"}
        DiffusionKernel.__init__(self, "heat", parameters | {"density": density})

    def _graph(
        self, rows: Data, n_clusters: int
    ) -> tuple[Data, Pieces, int | None, Callable[[], Data] | None]:
        stored = without_loops(rows)
        most = 1 + int(np.diff(stored.indptr).max())
        count = given = self._given["n_neighbors"]
        if isinstance(given, str):
            count = min(auto_neighbors(rows.shape[0], n_clusters), rows.shape[0])
        if count > most:
            automatic = f", which is {count} for these rows," * isinstance(given, str)
            ample = min(max(AMPLE, count), rows.shape[0] - 1)
            warn_user(
                f"{self.title}: {option('n_neighbors', given)}{automatic} is more than X holds "
                f"distances to, which is {most}, each row itself included. Make X by "
                f"KNeighborsTransformer(n_neighbors={ample}), or lower {option('n_neighbors')}."
            )

        def near(count: int, end: int) -> tuple[Array, Array]:
            distances = nearest_distances(stored, max(count, end))
            return distances, core_distances(distances, end)

        density = self._settle_density(near, rows.shape[0])
        return self._neighbor_graph(
            lambda n_neighbors, density: both_ways(
                nearest_stored(stored, n_neighbors - 1), density
            ),
            density,
            min(int(count), most),
            most,
            n_clusters,
        )


def _warn_of_alike(rows: Data, places: IntArray, kernel: str) -> None:
    """Warn of rows that hold the same distances, or none, but are not alike for other rows."""
    # Rows with a distance of 0 to the same one, such as themselves, are at its place.
    zeros = scipy.sparse.csr_array((rows.data == 0, rows.indices, rows.indptr), rows.shape)
    alike = np.flatnonzero((np.bincount(places)[places] > 1) & (zeros.sum(axis=1) == 0))
    if not len(alike):
        return
    towards = digests(rows.T.tocsr()[alike], zeros_count=True).tolist()
    kinds = Counter(place for place, _ in set(zip(places[alike].tolist(), towards, strict=True)))
    if count := sum(kinds[place] > 1 for place in places[alike].tolist()):
        warn_user(
            f"{kernel}: {count} of {len(places)} rows hold the same distances as another one, or "
            "none, but others hold different distances to them. X does not tell them apart, and "
            "they get the same label. Store each distance in the rows of both its ends, or the "
            "distance 0 of each row to itself."
        )
