"""Heat kernels of graphs that are given: by their edges, or by distances to neighbours."""

import math
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.preprocessing import normalize

from kernelmeans._typing import Array, Data, IntArray
from kernelmeans._warnings import warn_user
from kernelmeans.heat.basis import heat_basis, pairs_bytes
from kernelmeans.heat.kernel import FEWEST_CLUSTERS, DiffusionKernel, Extension
from kernelmeans.heat.neighbors import (
    AMPLE,
    Digests,
    auto_neighbors,
    digests,
    nearest_stored,
    stored_graph,
)
from kernelmeans.heat.pieces import Pieces, find_pieces, warn_of_rest, with_rest

#: Rows that a message names.
NAMED = 10


class EdgeRows:
    """Training rows that others are held against by their edges, or distances, to them.

    Parameters
    ----------
    counting : ndarray of int of shape (n_counting,)
        Training rows of positive weight, whose columns count.
    holds_distances : bool
        Whether what is stored are distances, zeros among them, and not edges.

    Attributes
    ----------
    places : ndarray of int of shape (n_counting,)
        Which of the different rows each of them is.
    """

    places: IntArray

    def __init__(self, counting: IntArray, holds_distances: bool) -> None:
        self.counting = counting
        self.holds_distances = holds_distances

    def read(self, X: Data, dtype: Any) -> Data:
        """The columns that count, each place once; zeros that are stored are distances only."""
        rows = scipy.sparse.csr_array(X, dtype=dtype)
        everything = len(self.counting) == rows.shape[1]
        # The user's own matrix stays as it is.
        rows = rows.copy() if everything else rows[:, self.counting]
        rows.sum_duplicates()
        if not self.holds_distances:
            rows.eliminate_zeros()
        return rows

    def digests(self, rows: Data) -> Digests:
        """Bytes that are equal where rows are."""
        return digests(rows, self.holds_distances)

    def weights(self, rows: Data, n_neighbors: int) -> Data:
        """Edges, or the nearest stored neighbours, as shares of their sum."""
        edges = nearest_stored(rows, n_neighbors) if self.holds_distances else rows
        # In two steps, for a sum may overflow.
        edges = normalize(normalize(edges, "max"), "l1")
        parts = edges.data, self.places[edges.indices], edges.indptr
        weights = scipy.sparse.csr_array(parts, (rows.shape[0], self.places.max() + 1))
        # Places of a model file may be anything, and products read wherever they point.
        weights.check_format(full_check=True)
        return weights


class GraphKernel(DiffusionKernel):
    """The heat kernel of a graph that is given: how alike two of its vertices are.

    As `HeatKernel`, but A is X itself: symmetric and not negative, its diagonal a part of it. Rows
    of X with the same edges have the same features. A new row is given by its edges to the training
    rows. It has the mean of their features, weighted by the edges and scaled to length 1, and one
    that equals a row of X has the features of that.

    Pieces of the graph that are debris, or more than there are clusters, are held as one group:
    no edge says where they belong. So are vertices without edges.

    Parameters
    ----------
    t : "auto" or float, default="auto"
        As for `HeatKernel`.

    Attributes
    ----------
    parameters : dict
        The same, with the number used once it is fitted.
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

    called = "kernel='graph'"
    _features: Extension
    _holds_distances = False
    _more_edges = "Add edges"

    def __init__(self, t: float | str = "auto") -> None:
        super().__init__("graph", {"t": t})

    def fit(
        self, X: Data, sample_weight: Array | None = None, n_clusters: int = 8, shared: Any = None
    ) -> "GraphKernel":
        """Learn the features of the rows of a graph.

        Parameters
        ----------
        X : {ndarray, CSR matrix} of shape (n_samples, n_samples)
            The graph, checked.
        sample_weight : ndarray of shape (n_samples,), default=None
            Rows of weight 0 are no part of the graph, nor are the edges to them; how large other
            weights are is not seen in it. Those without an edge to a row of positive weight have
            zeros for features, and `check_connected` refuses them as new rows.
        n_clusters : int, default=8
            Clusters looked for.
        shared : object, default=None
            Ignored: there are no neighbours to search.

        Returns
        -------
        self : GraphKernel
            The fitted kernel.
        """
        wanted, n_clusters = n_clusters, max(n_clusters, FEWEST_CLUSTERS)
        n = X.shape[0]
        counting = np.arange(n) if sample_weight is None else np.flatnonzero(sample_weight)
        edges = EdgeRows(counting, self._holds_distances)
        rows = edges.read(X if len(counting) == n else X[counting], X.dtype)
        graph, pieces, n_neighbors = self._graph(rows, n_clusters)
        warn_of_rest(pieces, wanted, self.called, self._more_edges)
        basis = heat_basis(graph, pieces, n_clusters, self._given["t"])
        known, first, edges.places = np.unique(
            edges.digests(rows), return_index=True, return_inverse=True
        )
        # Those of equal rows differ in what they have in common with no other row, if at all.
        features = with_rest(basis.features, pieces)[first].astype(X.dtype)
        self._features = Extension(edges, known, features, n_neighbors or n)
        self._fitted(basis, pieces, n_neighbors)
        return self

    def check_connected(self, X: Data) -> None:
        """Refuse rows without edges.

        Parameters
        ----------
        X : {ndarray, CSR matrix} of shape (n_rows, n_samples)
            Rows, by their edges to the training rows.

        Raises
        ------
        ValueError
            If a row has no edge to a training row, and no training row was without edges.
        """
        rows, places = self._features.find(X)
        alone = np.flatnonzero((places < 0) & (np.diff(rows.indptr) == 0))
        if len(alone):
            named = ", ".join(map(str, alone[:NAMED])) + ", ..." * (len(alone) > NAMED)
            raise ValueError(
                "X: each row needs an edge to a training row of positive weight, for nothing else "
                f"says where it belongs. Without one: row{'s' * (len(alone) > 1)} {named} "
                f"({len(alone)} of {X.shape[0]}). Leave such rows out, or give them edges."
            )

    def _graph(self, rows: Data, n_clusters: int) -> tuple[Data, Pieces, int | None]:
        """The graph of the rows, its pieces, and its number of neighbours where there is one."""
        rows = rows.astype(np.float64)
        # Only ratios of edges count; sums of large ones would overflow.
        rows.data /= rows.data.max(initial=np.finfo(np.float64).tiny)
        # It is symmetric up to rounding.
        graph = (rows + rows.T) / 2
        # Where there is no edge heat stays.
        loops = (graph.sum(axis=1) == 0).astype(np.float64)
        graph = (graph + scipy.sparse.diags_array(loops)).tocsr()
        return graph, find_pieces(graph, n_clusters), None

    def fit_bytes(self, X: Data, n_clusters: int) -> int:
        """Bytes that `fit` takes: the graph and copies of it, eigenvectors, and features."""
        n = X.shape[0]
        edges = X.nnz if scipy.sparse.issparse(X) else np.count_nonzero(X)
        return pairs_bytes(n, math.ceil(edges / n), n_clusters)


class DistancesKernel(GraphKernel):
    """The heat kernel of a neighbour graph of which the distances are given.

    As `HeatKernel`, of rows X_ij: the distance of row i to row j where j is one of the nearest to
    i, stored also where it is 0. What is not stored is no neighbour, and what is stored for a row
    itself does not count in training. So `sklearn.neighbors.KNeighborsTransformer` makes them.

    Parameters
    ----------
    n_neighbors : "auto" or int, default="auto"
        As for `HeatKernel`, and not more than are stored for a row.
    t : "auto" or float, default="auto"
        As for `HeatKernel`.

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

    called = "metric='precomputed'"
    _holds_distances = True
    _more_edges = "Store distances to more neighbours"

    def __init__(self, n_neighbors: int | str = "auto", t: float | str = "auto") -> None:
        parameters = {"n_neighbors": n_neighbors, "t": t, "metric": "precomputed"}
        DiffusionKernel.__init__(self, "heat", parameters)

    def _graph(self, rows: Data, n_clusters: int) -> tuple[Data, Pieces, int | None]:
        others = rows.tocoo()
        apart = others.row != others.col
        places = others.row[apart], others.col[apart]
        stored = scipy.sparse.csr_array((others.data[apart], places), rows.shape)
        held = 1 + int(np.diff(stored.indptr).max())
        wanted = given = self._given["n_neighbors"]
        if isinstance(wanted, str):
            wanted = min(auto_neighbors(rows.shape[0], n_clusters), rows.shape[0])
        if wanted > held:
            automatic = f", which is {wanted} for these rows," * isinstance(given, str)
            ample = min(max(AMPLE, wanted), rows.shape[0] - 1)
            warn_user(
                f"{self.called}: n_neighbors={given!r}{automatic} is more than X holds distances "
                f"to, which is {held}, each row itself included. Make X by "
                f"KNeighborsTransformer(n_neighbors={ample}), or lower n_neighbors."
            )
        return self._untorn(
            lambda count: stored_graph(stored, count), min(int(wanted), held), held, n_clusters
        )
