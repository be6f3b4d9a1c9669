"""Heat kernels of graphs that are given: by their edges, or by distances to neighbours."""

import math

import numpy as np
import scipy.sparse
from sklearn.preprocessing import normalize

from kernelmeans._typing import Array, Data, IntArray
from kernelmeans._warnings import warn_user
from kernelmeans.heat.basis import heat_basis, unit_rows
from kernelmeans.heat.connection import warn_of_rest
from kernelmeans.heat.equal import Digests, digests, find
from kernelmeans.heat.graph import DistinctRows
from kernelmeans.heat.kernel import FEWEST_CLUSTERS, HeatKernel
from kernelmeans.heat.neighbours import AMPLE, auto_neighbours, nearest_stored, stored_graph
from kernelmeans.heat.pieces import Pieces, find_pieces, with_rest
from kernelmeans.heat.spectrum import pairs_bytes, symmetric_normalised
from kernelmeans.kernels.kernel import Kernel

#: Rows that a message names.
NAMED = 10


class EdgeFeatures:
    """A row that equals a training row has its features, others the mean along their edges.

    Parameters
    ----------
    counting : ndarray of int of shape (n_counting,)
        Training rows of positive weight, whose columns count.
    known : ndarray of shape (n_different,)
        Digests of these rows, in ascending order.
    first : ndarray of int of shape (n_different,)
        The row that each digest stands for.
    features : ndarray of shape (n_counting, r)
        Features of these rows; those of equal rows are the same.
    n_neighbors : int or None
        Where rows hold distances: how many of the nearest count. None where they hold edges.
    """

    def __init__(
        self,
        counting: IntArray,
        known: Digests,
        first: IntArray,
        features: Array,
        n_neighbors: int | None,
    ) -> None:
        self.counting = counting
        self.known = known
        self.first = first
        self.features = features
        self.n_neighbors = n_neighbors

    def __call__(self, X: Data) -> Array:
        """Rows of length 1, or of zeros where there is no edge."""
        rows = self._rows(X)
        places = self._known_places(rows)
        found: Array = self.features[self.first[places]]
        new = np.flatnonzero(places < 0)
        if len(new):
            found[new] = self._means(rows[new])
        return found

    def unconnected(self, X: Data) -> IntArray:
        """Rows without any edge, unless there are training rows like them."""
        rows = self._rows(X)
        alone = np.flatnonzero(np.diff(rows.indptr) == 0)
        return alone[self._known_places(rows[alone]) < 0]

    def _means(self, rows: Data) -> Array:
        edges = rows if self.n_neighbors is None else nearest_stored(rows, self.n_neighbors)
        # In two steps, lest a sum overflows.
        edges = normalize(normalize(edges, "max"), "l1")
        means: Array = edges @ self.features
        # Features that cancel each other out have no direction: the strongest edge decides.
        gone = np.einsum("ij,ij->i", means, means) < np.finfo(means.dtype).eps
        gone &= np.diff(edges.indptr) > 0
        if gone.any():
            means[gone] = self.features[np.ravel(edges[gone].argmax(axis=1))]
        return unit_rows(means)

    def _rows(self, X: Data) -> Data:
        rows = scipy.sparse.csr_array(X, dtype=self.features.dtype)
        return between(rows, slice(None), self.counting, self.n_neighbors is not None)

    def _known_places(self, rows: Data) -> IntArray:
        return find(self.known, digests(rows, self.n_neighbors is not None))


class GraphKernel(HeatKernel):
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

    has_anchors = False
    #: What messages call it, by the parameter that asks for it.
    called = "kernel='graph'"
    _features: EdgeFeatures

    def __init__(self, t: float | str = "auto") -> None:
        Kernel.__init__(self, "graph", {"t": t})
        self._given = dict(self.parameters)

    def fit(
        self,
        X: Data,
        sample_weight: Array | None = None,
        n_clusters: int = 8,
        shared: dict[str, DistinctRows] | None = None,
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
        shared : dict, default=None
            Ignored: there are no neighbours to search.

        Returns
        -------
        self : GraphKernel
            The fitted kernel.
        """
        wanted, n_clusters = n_clusters, max(n_clusters, FEWEST_CLUSTERS)
        n = X.shape[0]
        counting = np.arange(n) if sample_weight is None else np.flatnonzero(sample_weight)
        rows = between(scipy.sparse.csr_array(X), counting, counting, self._holds_distances)
        graph, pieces, n_neighbors = self._graph(rows, n_clusters)
        warn_of_rest(pieces, wanted, self.called, self._more_edges)
        basis = heat_basis(symmetric_normalised(graph), pieces, n_clusters, self._given["t"])
        known, first, place = np.unique(
            digests(rows, self._holds_distances), return_index=True, return_inverse=True
        )
        # Those of equal rows differ in what they have in common with no other row, if at all.
        features = with_rest(basis.features, pieces)[first[place]].astype(X.dtype)
        self._features = EdgeFeatures(counting, known, first, features, n_neighbors)
        self._fitted(basis, pieces, **({} if n_neighbors is None else {"n_neighbors": n_neighbors}))
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
        alone = self._features.unconnected(X)
        if len(alone):
            rows = ", ".join(map(str, alone[:NAMED])) + ", ..." * (len(alone) > NAMED)
            raise ValueError(
                "X: each row needs an edge to a training row of positive weight, for nothing else "
                f"says where it belongs. Without one: row{'s' * (len(alone) > 1)} {rows} "
                f"({len(alone)} of {X.shape[0]}). Leave such rows out, or give them edges."
            )

    _holds_distances = False
    _more_edges = "Add edges"

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
        Kernel.__init__(self, "heat", parameters)
        self._given = dict(self.parameters)

    def _graph(self, rows: Data, n_clusters: int) -> tuple[Data, Pieces, int | None]:
        others = rows.tocoo()
        apart = others.row != others.col
        places = others.row[apart], others.col[apart]
        stored = scipy.sparse.csr_array((others.data[apart], places), rows.shape)
        held = 1 + int(np.diff(stored.indptr).max())
        wanted = given = self._given["n_neighbors"]
        if isinstance(wanted, str):
            wanted = min(auto_neighbours(rows.shape[0], n_clusters), rows.shape[0])
        if wanted > held:
            automatic = f", which is {wanted} for these rows," * isinstance(given, str)
            ample = min(max(AMPLE, wanted), rows.shape[0] - 1)
            warn_user(
                f"{self.called}: n_neighbors={given!r}{automatic} is more than X holds distances "
                f"to, which is {held}, each row itself included. Make X by "
                f"KNeighborsTransformer(n_neighbors={ample}), or lower n_neighbors."
            )
        return self._not_torn(
            lambda count: stored_graph(stored, count), min(int(wanted), held), held, n_clusters
        )


def between(graph: Data, rows: IntArray | slice, columns: IntArray, keep_zeros: bool) -> Data:
    """Some rows and columns of a CSR array, each place once; stored zeros are left out, or kept."""
    everything = len(columns) == graph.shape[1]
    # The user's own matrix stays as it is.
    found = graph.copy() if everything else graph[rows][:, columns]
    found.sum_duplicates()
    if not keep_zeros:
        found.eliminate_zeros()
    return found
