"""The heat kernel on a graph of nearest neighbours."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse

from kernelmeans._dialect import option
from kernelmeans._given import plain
from kernelmeans._memory import remembered
from kernelmeans._typing import Array, Data, IntArray
from kernelmeans._warnings import warn_user
from kernelmeans.heat.anchors import (
    NEAREST,
    AnchorFeatures,
    AnchorGraph,
    AnchorHeat,
    draw_anchors,
)
from kernelmeans.heat.basis import Basis
from kernelmeans.heat.cells import CANDIDATES
from kernelmeans.heat.choice import MOST_ROWS, Trial
from kernelmeans.heat.copies import without_copies
from kernelmeans.heat.density import DIMENSION_NEIGHBORS, intrinsic_dimension, surrounding_neighbor
from kernelmeans.heat.diffusion import FEWEST_CLUSTERS, MORE_NEIGHBORS, DiffusionKernel
from kernelmeans.heat.distinct import DistinctRows, counting_rows
from kernelmeans.heat.dither import may_pile, may_tear, untorn, untorn_sample
from kernelmeans.heat.eigenpairs import pairs_bytes
from kernelmeans.heat.extension import Extension
from kernelmeans.heat.metric import NORMS, WITH_ANCHORS, check_metric, check_rows
from kernelmeans.heat.neighbors import (
    HELD_MIB,
    NearestRows,
    are_sought_in_cells,
    auto_neighbors,
    without_loops,
)
from kernelmeans.heat.pieces import (
    Pieces,
    find_pieces,
    grouped,
    join,
    links,
    warn_of_pieces,
    without_near,
)
from kernelmeans.kernels.kernel import Kernel

#: Neighbours of the kernels of the family, in units of ``n_neighbors="auto"``. The larger number
#: comes first, because one search then finds both. Four times as many join thin clusters.
FAMILY = (2, 1)
#: Rows that are sought in cells at once: each cell then has hundreds to be compared with.
CELL_ROWS = 2**15


class HeatKernel(DiffusionKernel):
    """How much of a unit of heat that starts at one row is at another after a time.

    A is the graph of `SpectralClustering(affinity="nearest_neighbors")` on the distinct rows, with
    weights, D its degrees and S = D^-1/2 A D^-1/2. The kernel is the cosine form
    H_xy / sqrt(H_xx H_yy) of H = exp(-2 t (I - S)). Kernel k-means with it is a weighted graph cut
    without the relaxation of spectral clustering. Columns of few values, such as yes and no,
    may tear the graph. They get shorter steps and noise before neighbours are sought. Columns with
    a pile, such as amounts that are often zero, get noise (``kernelmeans.heat.dither``). A row
    that stands many times far from all others is many nodes
    (``kernelmeans.heat.distinct.far_away``).

    The weights follow the density of rows, so that edges through sparse places count less. The
    length of an edge is the distance of its ends, or that of an end to its fifth neighbour if this
    is larger. Its weight is (length / c)^-p, where c is the median distance to the fifth neighbour.
    The surroundings of a row are its nearest rows, a hundredth of all, from 5 to 80. The distances
    to the last of them and to the fifth neighbour are divided by their medians, and the larger one
    counts. So a few nearly equal rows are not dense.

    The exponent p is ``density``. Where d is the intrinsic dimension, density goes as c^-d. A cut
    of the unweighted graph then weighs places by density^(1 - 1/d), and with p = d/2 + 2 by
    density^(3/2 + 1/d), which is its square in a plane.

    H is 0 between pieces of the graph. If ``t`` is ``"auto"`` and they are fewer than clusters, far
    ones are put apart (``kernelmeans.heat.pieces.apart``), but not beside other kernels.

    H is truncated. Of the eigenpairs lambda, U of all pieces of S, the 2 k + 10 leading ones are
    computed for k clusters. Of these, the ones with exp(-2 (1 - lambda) t) of at most 0.01 are
    dropped, except the k largest and the first of each piece. The features are the rows of
    U exp(-(1 - lambda) t), scaled to norm 1. The kernel is their inner product. `residuals` says
    what it lacks.

    It depends on the training rows, so it has to be fitted. A new row that equals a training row
    has the features of that row. The features of any other row are the mean of the diffusion
    coordinates of its ``n_neighbors`` nearest training rows, scaled to norm 1
    (``kernelmeans.heat.extension.Extension``). For many rows, `learn_anchors` uses the anchor graph
    of Liu et al.: each row has weights on the anchors nearest to it, which give its features.

    Parameters
    ----------
    n_neighbors : "auto" or int, default="auto"
        Neighbours of a row, itself included, at least 2. ``"auto"`` is `auto_neighbors`. It
        grows by half if the graph would have more large pieces than clusters, and doubles if half
        is not enough. If there are as many pieces as clusters, near ones are joined by more edges
        (``kernelmeans.heat.pieces.links``).
    t : "auto", "states" or float, default="auto"
        Time. ``"states"`` is the time at which there are as many states as clusters, among those of
        the 2 k + 10 leading eigenpairs (``kernelmeans.heat.basis.solve_time``). It is slightly
        shorter than it would be with all eigenpairs. ``"auto"`` chooses it or a longer one, by the
        clusters that they lead to (``kernelmeans.heat.choice.choose_time_and_density``).
    metric : str, default="euclidean"
        The distance between neighbours, one of ``kernelmeans.heat.metric.METRICS``.
    density : "auto" or float, default="auto"
        How much the density of rows counts: the exponent of the weights of edges
        (``kernelmeans.heat.density.Density``). With 0 all edges count alike. ``"auto"`` is half the
        intrinsic dimension of the rows, plus 2, and at most 16. Where ``t="auto"`` chooses a time,
        it may also choose four times that exponent, if this too is at most 16.
    factor : int, default=1
        What ``n_neighbors="auto"`` is multiplied by in the graph of all rows.
    family : str, default=None
        The family that it belongs to, for messages: a family takes no ``n_neighbors``.

    Attributes
    ----------
    parameters : dict
        The same, once fitted with the numbers in use.
    eigenvalues : ndarray of shape (r,)
        Those of the columns of the features, in descending order.
    n_pieces : int
        Number of connected components of the graph.
    dimension : float or None
        The intrinsic dimension that ``density="auto"`` has followed; None where it is not known,
        and for other values of ``density``.
    times : dict or None
        What ``t="auto"`` has tried with the density in use (``kernelmeans.heat.choice.Choice``):
        the times, as ``"t"``, and ``"cut"`` and ``"entropy"``. None where nothing was.
    neighbor_recall : float or None
        The fraction of the true neighbours in the graph, estimated where many rows are sought in
        cells (``kernelmeans.heat.cells.Cells``); else 1. None of a graph of anchors.

    References
    ----------
    Dhillon, Guan and Kulis (2007), Weighted graph cuts without eigenvectors: a multilevel approach.

    Coifman and Lafon (2006), Diffusion maps.

    Liu, He and Chang (2010), Large graph construction for scalable semi-supervised learning.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat import HeatKernel
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    >>> kernel = HeatKernel(n_neighbors=3).fit(X, n_clusters=2)
    >>> kernel.n_pieces
    2
    >>> kernel(X[:1], np.array([[0.3], [4.0]])).round(2) + 0.0
    array([[1., 0.]])
    """

    _chosen_by = "kernel", "heat"
    has_coordinates = True
    #: Of anchors, and in older model files.
    neighbor_recall: float | None = None

    def __init__(
        self,
        n_neighbors: int | str = "auto",
        t: float | str = "auto",
        metric: str = "euclidean",
        density: float | str = "auto",
        factor: int = 1,
        family: str | None = None,
    ) -> None:
        check_metric(metric)
        given = {"n_neighbors": n_neighbors, "t": t, "metric": metric, "density": density}
        super().__init__("heat", given)
        self.factor = factor
        self.family = family

    @property
    def has_anchors(self) -> bool:
        """Whether means of rows can stand for the rows near them."""
        return self._given["metric"] in WITH_ANCHORS

    def check_rows(self, X: Data) -> None:
        """Refuse rows that the metric cannot compare."""
        check_rows(X, self._given["metric"])

    def learn(
        self,
        X: Data,
        sample_weight: Array | None,
        n_clusters: int,
        shared: dict[str, DistinctRows] | None = None,
    ) -> Trial:
        """Learn the graph of training rows; `settle_times` then finds the features."""
        X, wanted, n_clusters = plain(X), n_clusters, max(n_clusters, FEWEST_CLUSTERS)
        metric, shared = self._given["metric"], {} if shared is None else shared
        if metric not in shared:
            shared[metric] = DistinctRows.of(X, sample_weight, metric)
        distinct = shared[metric]
        nodes, places, n_neighbors = self._nodes(distinct, n_clusters)
        sought, _ = remembered(
            lambda: untorn(nodes, n_neighbors), lambda: ("untorn", nodes.content, n_neighbors)
        )
        graph, pieces, n_neighbors, denser = self._graph_of(sought, n_neighbors, n_clusters)
        called, ranks = f"{self.title}: the graph", sought.ranks
        warn_of_pieces(
            pieces, wanted, called, n_neighbors, ranks, self.family, cuts_far=self._cuts_far
        )
        if metric in NORMS and not scipy.sparse.issparse(X):
            _warn_if_vanishing(nodes.rows, sought.near(n_neighbors - 1)[1], self.title)
        source = join(pieces, nodes)
        source = source if places is None else source[places]
        self.neighbor_recall = sought.recall

        def settle(basis: Basis) -> None:
            dtype = distinct.nearest.rows.dtype
            features, norms = (of[source].astype(dtype) for of in (basis.features, basis.norms))
            residuals = None if basis.residuals is None else basis.residuals[source]
            self._features = Extension(*distinct, features, n_neighbors, residuals, norms)
            self._fitted(basis.t, basis.values, pieces, n_neighbors)

        return self._trial_of_rows(
            graph,
            pieces,
            wanted,
            settle,
            lambda: distinct.places(counting_rows(X, sample_weight), places),
            # On a line no cluster goes round another one.
            denser=denser if X.shape[1] > 1 else None,
        )

    def _nodes(
        self, distinct: DistinctRows, n_clusters: int
    ) -> tuple[NearestRows, IntArray | None, int]:
        """The nodes of the graph, that of each row if copies share one, and their neighbours."""
        nearest, known = distinct
        n_neighbors = self._settled_neighbors(nearest, n_clusters)
        if self._given["density"] != 0:
            # The same search finds what copies are known by.
            self._distances(nearest, n_neighbors, *self._ranks(len(known)))
        nodes, places = remembered(
            lambda: without_copies(distinct, n_neighbors, n_clusters),
            lambda: ("copies", nearest.content, n_neighbors, n_clusters),
        )
        if places is not None:
            n_neighbors = self._settled_neighbors(nodes, n_clusters)
        return nodes, places, n_neighbors

    def _graph_of(
        self, sought: NearestRows, n_neighbors: int, n_clusters: int
    ) -> tuple[Data, Pieces, int, Callable[[], Data] | None]:
        """The graph of `_neighbor_graph` of some nodes, and how its pieces belong together.

        Chance may have parted near pieces. With ``"auto"``, and a piece for each cluster, `links`
        join them.
        """
        n_nodes = int(sought.rows.shape[0])
        density = self._settle_density(partial(self._distances, sought, n_neighbors), n_nodes)
        weigh = partial(sought.graph, keeps_far=not self._cuts_far)
        graph, pieces, n_neighbors, denser = self._neighbor_graph(
            weigh, density, n_neighbors, n_nodes, n_clusters
        )
        pieces = without_near(pieces, n_clusters, sought, n_neighbors)
        near = grouped(pieces, sought, n_neighbors)
        if self._cuts_far and near.n_groups < pieces.n_kept == n_clusters:
            weigh = partial(weigh, links=links(pieces, sought, n_neighbors))
            graph, denser = weigh(n_neighbors, density), self._denser(weigh, density, n_neighbors)
            pieces = without_near(find_pieces(graph, n_clusters), n_clusters, sought, n_neighbors)
            near = grouped(pieces, sought, n_neighbors)
        if self._is_apart and pieces.n_kept < n_clusters:
            pieces = near
        return graph, pieces, n_neighbors, denser

    @staticmethod
    def _distances(
        rows: NearestRows, n_neighbors: int, count: int, end: int
    ) -> tuple[Array, Array]:
        """Those of `NearestRows.distances`, by the search that finds neighbours for the graph."""
        return rows.distances(max(count, n_neighbors - 1), end)

    @property
    def _cuts_far(self) -> bool:
        """Whether very long edges go: who names the number of neighbours wants so many."""
        return bool(self._given["n_neighbors"] == "auto")

    def learn_anchors(
        self, X: Data, sample_weight: Array, n_clusters: int, n_anchors: int, seed: int
    ) -> Trial:
        """Learn anchors from a subsample of the training rows, if there are too many for a graph.

        Density counts as in the graph of all rows: weights of edges are powers of it. It is known
        near each anchor, because an anchor stands for a known number of rows
        (``kernelmeans.heat.density.anchor_density``). Surroundings do not count: an anchor stands
        for many rows anyway. The dimension, and the best time, are those of a few thousand of the
        rows.

        Parameters
        ----------
        X : {ndarray, CSR matrix} of shape (n_rows, n_features)
            The subsample, checked.
        sample_weight : ndarray of shape (n_rows,)
            The weight that each of its rows stands for.
        n_clusters : int
            Number of clusters.
        n_anchors : int
            Number of anchors.
        seed : int
            Seed of all randomness.

        Returns
        -------
        Trial
            What is left of the fit, after which the neighbours are anchors.
        """
        X, sample_weight = counting_rows(plain(X), sample_weight), sample_weight[sample_weight > 0]
        wanted, n_clusters = n_clusters, max(n_clusters, FEWEST_CLUSTERS)
        given = self._given["n_neighbors"]
        n_nearest = NEAREST if isinstance(given, str) else int(given)
        metric = self._given["metric"]
        X = untorn_sample(X, metric, n_anchors, n_clusters, seed)
        anchors = draw_anchors(X, sample_weight, metric, n_anchors, seed)
        # The same for all kernels, so that they can be judged together.
        tried = X[np.sort(np.random.default_rng(0).permutation(X.shape[0])[:MOST_ROWS])]
        sample, known = distinct = DistinctRows.of(tried, None, metric)
        # Rows far away have no weights on other anchors then.
        anchors = anchors.with_rows(distinct.repeated(n_nearest + 1))
        graph = AnchorGraph(X, sample_weight, anchors, n_nearest)
        n_neighbors = sample.auto_neighbors(n_clusters)
        # One search finds the neighbours for the time too.
        self._weigh(graph, lambda count: sample.near(max(count, n_neighbors - 1))[1], len(known))
        heat = AnchorHeat.of(graph, n_clusters, self._is_apart)
        called = f"{self.title}: the graph of anchors"
        warn_of_pieces(heat.pieces, wanted, called, n_nearest, graph.ranks, self.family)

        def settle(t: float) -> None:
            self._features, values = heat.at(t)
            self.leading_eigenvalues = heat.spectrum.values
            self._fitted(t, values, heat.pieces, n_nearest)

        return Trial(
            lambda: self._first_time(heat.spectrum),
            settle,
            lambda t: heat.at(t)[0](sample.rows),
            without_loops(sample.graph(n_neighbors) > 0),
            lambda: distinct.places(tried),
            self._chooses(heat.pieces, wanted),
        )

    @property
    def rows_at_once(self) -> int:
        """Fewest rows to be compared together: many, where they are sought in cells."""
        distinct = self.distinct_rows
        return CELL_ROWS if distinct is not None and distinct.nearest.by_cells else 1

    @property
    def distinct_rows(self) -> DistinctRows | None:
        """The distinct training rows; None of a graph of anchors."""
        features = self._features
        if not isinstance(features, Extension) or not isinstance(features.rows, NearestRows):
            return None
        return DistinctRows(features.rows, features.known)

    def _weigh(self, graph: AnchorGraph, near: Callable[[int], Array], n_rows: int) -> None:
        """Let edges of the graph of anchors count by density; distances tell the dimension."""
        # Anchors stand for many rows: these are their surroundings.
        density = self._settle_density(lambda count, _: (near(count), None), n_rows)
        dimension = density.dimension
        if density.exponent and dimension is None:
            dimension = intrinsic_dimension(near(min(DIMENSION_NEIGHBORS, n_rows - 1)))
        if dimension is None or graph.nearest.rows.shape[0] == 1:
            self.parameters["density"] = 0.0
        elif density.exponent:
            graph.weigh(density.exponent, dimension)

    def distances_to_nearest(self, X: Data, training: bool = False) -> Array:
        """Distances of rows to the nearest training row, or the nearest anchor.

        The kernel itself does not tell which rows are far away: their features are those of the
        training rows nearest to them.

        Parameters
        ----------
        X : {ndarray, CSR matrix} of shape (n_rows, n_features)
            Rows.
        training : bool, default=False
            Whether they are training rows, each of which is nearest to itself. Then the distance is
            that to the next.

        Returns
        -------
        ndarray of shape (n_rows,)
            The distances, up to a common factor.
        """
        features: Any = self._features
        anchors = isinstance(features, AnchorFeatures)
        nearest: NearestRows = features.nearest if anchors else features.rows
        place = int(training and not anchors and nearest.rows.shape[0] > 1)
        distances, _ = nearest.of(nearest.read(plain(X), nearest.rows.dtype), 1 + place)
        return np.asarray(distances[:, place])

    def fit_bytes(self, X: Data, n_clusters: int) -> int:
        """Bytes that `fit` takes for rows, graph, eigenvectors and features."""
        n = X.shape[0]
        # The distinct rows, and these as they are searched; sparse ones with their columns, and a
        # copy to search among.
        rows = 2 * n * X.shape[1] * X.dtype.itemsize
        if scipy.sparse.issparse(X):
            rows = 3 * (X.data.nbytes + X.indices.nbytes)
        elif len(may_tear(X)) or len(may_pile(X)):
            # Both again, with shorter steps in such columns, and with noise on them.
            rows *= 3
        if scipy.sparse.issparse(X) or not self.has_anchors:
            # These are sought without trees: distances held at a time, and their order.
            rows += 3 * min(n * n * 8, HELD_MIB * 2**20)
        search, n_neighbors = 0, self._given["n_neighbors"]
        if isinstance(n_neighbors, str):
            # Most, in case the graph has too many pieces.
            n_neighbors = (
                MORE_NEIGHBORS[-1] * self.factor * auto_neighbors(n, n_clusters, X.shape[1])
            )
        if are_sought_in_cells(X, self._given["metric"]):
            # Distances and places of neighbours, and of candidates.
            rows += 24 * (n * max(DIMENSION_NEIGHBORS, n_neighbors) + CANDIDATES)
        elif self._given["density"] != 0:
            # Distances and places of all surroundings, which scikit-learn stacks, and a mask.
            search = 36 * n * (1 + surrounding_neighbor(n))
        pairs = pairs_bytes(n, min(n_neighbors, n), n_clusters)
        if self._given["t"] == self._given["density"] == "auto":
            # A second graph, in which density counts more, is tried beside the first.
            pairs *= 2
        # The graph follows the search.
        return int(rows) + max(search, pairs)

    def _settled_neighbors(self, nearest: NearestRows, n_clusters: int) -> int:
        """Neighbours of each of the distinct rows, not more than there are rows."""
        given, n_rows = self._given["n_neighbors"], int(nearest.rows.shape[0])
        if isinstance(given, str):
            return min(self.factor * nearest.auto_neighbors(n_clusters), n_rows)
        if given >= n_rows:
            warn_user(
                f"{self.title}: {option('n_neighbors', given)} is not less than the number of "
                f"distinct rows, {n_rows}: each row is a neighbour of all others, and the graph "
                f"separates none. Lower {option('n_neighbors')}, or leave "
                f"{option('n_neighbors', 'auto')}."
            )
        return min(int(given), n_rows)


def neighbor_family(X: Data, sample_weight: Any = None, metric: str = "euclidean") -> list[Kernel]:
    """Two heat kernels: of twice as many neighbours as ``n_neighbors="auto"``, and of as many.

    Parameters
    ----------
    X : {array, CSR matrix} of shape (n_samples, n_features)
        Training rows; they count only when the kernels are fitted.
    sample_weight : ndarray of shape (n_samples,), default=None
        Sample weights; they too count only then.
    metric : str, default="euclidean"
        The distance between neighbours, as for `HeatKernel`.

    Returns
    -------
    list of HeatKernel
        The kernels, not fitted; the one with more neighbours first.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat import neighbor_family
    >>> X = np.random.default_rng(0).random((160, 2))
    >>> [kernel.fit(X, n_clusters=10).parameters["n_neighbors"] for kernel in neighbor_family(X)]
    [10, 5]
    """
    return [HeatKernel(metric=metric, factor=factor, family="neighbors") for factor in FAMILY]


def _warn_if_vanishing(rows: Array, distances: Array, kernel: str) -> None:
    """Warn of a number beside which most rows are equal, and have no distance to neighbours."""
    # The largest number counts as 1 there, and squares underflow.
    if not distances.size or np.median(distances[:, -1]) > 0:
        return
    halves = rows / 2  # whose sums and differences do not overflow
    far = np.abs(halves - np.median(halves, axis=0))
    row, column = np.unravel_index(far.argmax(), far.shape)
    if np.median(far.max(axis=1)) <= np.finfo(rows.dtype).eps * far[row, column]:
        warn_user(
            f"{kernel}: column {column} of X holds {rows[row, column]:.3g}, and beside it most "
            "rows are equal: the clusters mean little. Correct this number, or leave out its row."
        )
