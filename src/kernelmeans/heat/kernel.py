"""Heat kernels: on any graph, and on a graph of nearest neighbours."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Protocol, Self

import numpy as np
import scipy.sparse

from kernelmeans._arrays import to_device_of
from kernelmeans._dialect import option
from kernelmeans._given import plain, received
from kernelmeans._memory import remembered, settled
from kernelmeans._text import check_name
from kernelmeans._typing import Array, Data, IntArray
from kernelmeans._warnings import warn_user
from kernelmeans.heat.anchors import (
    NEAREST,
    AnchorFeatures,
    AnchorGraph,
    AnchorHeat,
    draw_anchors,
)
from kernelmeans.heat.basis import Basis, Spectrum
from kernelmeans.heat.cells import CANDIDATES
from kernelmeans.heat.choice import MOST_ROWS, Trial, choose_time_and_density, in_halves
from kernelmeans.heat.copies import without_copies
from kernelmeans.heat.density import (
    DENSER,
    DIMENSION_NEIGHBORS,
    FLAT,
    NEIGHBOR,
    Density,
    intrinsic_dimension,
    surrounding_neighbor,
)
from kernelmeans.heat.digests import Digests, find
from kernelmeans.heat.distinct import DistinctRows, counting_rows
from kernelmeans.heat.dither import may_pile, may_tear, untorn, untorn_sample
from kernelmeans.heat.eigenpairs import pairs_bytes
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
    warn_of_pieces,
    without_near,
)
from kernelmeans.kernels.formulas import unit_rows
from kernelmeans.kernels.kernel import Kernel

#: Fewest clusters that decide the time: with a single state the kernel would be constant.
FEWEST_CLUSTERS = 2
#: Neighbours of the kernels of the family, in units of ``n_neighbors="auto"``. The larger number
#: comes first, because one search then finds both. Four times as many join thin clusters.
FAMILY = (2, 1)
#: Rows that are sought in cells at once: each cell then has hundreds to be compared with.
CELL_ROWS = 2**15


class TrainingRows(Protocol):
    """Training rows that other rows are compared with."""

    def read(self, X: Data, dtype: Any) -> Data:
        """Rows in the form of the training rows."""

    def digests(self, rows: Data) -> Digests:
        """A digest of each row; those of equal rows are equal."""

    def weights(self, rows: Data, n_neighbors: int) -> Data:
        """CSR array (n_new, n_rows) of weights on the distinct rows; rows sum to 1, or to 0."""


@dataclass(eq=False, repr=False)
class Extension:
    """Features of any row: those of the training row that it equals, or a mean of those near it.

    Parameters
    ----------
    rows : TrainingRows
        The training rows.
    known : ndarray of shape (n_rows,)
        Digests of the distinct training rows, in ascending order.
    features : ndarray of shape (n_rows, r)
        Their features.
    n_neighbors : int
        Number of training rows near a new one that count, unless edges say which.
    residuals : ndarray of shape (n_rows,), default=None
        Those of `kernelmeans.heat.basis.Basis` for the training rows, if they are known.
    """

    rows: TrainingRows
    known: Digests
    features: Array
    n_neighbors: int
    #: Older model files have none.
    residuals: Array | None = None

    def __call__(self, X: Data) -> Array:
        """Features of norm 1, or zeros for a row that is near none."""
        rows, places = self.find(X)
        found: Array = self.features[places]
        new = np.flatnonzero(places < 0)
        if len(new):
            weights = self.rows.weights(rows[new], self.n_neighbors)
            means = weights @ self.features
            # Features that cancel each other out have no direction, so the nearest row decides.
            cancelled = np.einsum("ij,ij->i", means, means) < np.finfo(means.dtype).eps
            for row in np.flatnonzero(cancelled & (np.diff(weights.indptr) > 0)):
                entries = slice(*weights.indptr[row : row + 2])
                nearest = weights.indices[entries][weights.data[entries].argmax()]
                means[row] = self.features[nearest]
            found[new] = unit_rows(means)
        return found

    def find(self, X: Data) -> tuple[Data, IntArray]:
        """Rows in the form of the training rows, and the place of an equal one, or -1, for each."""
        rows = self.rows.read(X, self.features.dtype)
        return rows, find(self.known, self.rows.digests(rows))


class DiffusionKernel(Kernel):
    """A heat kernel on a graph of training rows, kept as features of these rows.

    Parameters
    ----------
    name : str
        Its name in `kernelmeans.kernels.formulas.NAMED`.
    parameters : dict
        As given; a fit writes numbers into a copy.

    Attributes
    ----------
    parameters : dict
        The same, once fitted with the numbers in use.
    eigenvalues : ndarray of shape (r,)
        Those of the columns of the features, in descending order.
    leading_eigenvalues : ndarray
        The leading ones of the graph, those included that the features leave out.
    n_pieces : int
        Number of connected components of the graph.
    """

    #: The parameter that chooses it, and its value.
    _chosen_by: tuple[str, str]
    #: The item of ``kernels`` that it is, if there are several.
    item: str = ""
    #: Whether it is the only kernel of a fit. Beside others it has no pieces `apart`, which would
    #: hide what the others say of groups in a piece.
    is_alone: bool = True
    #: Whether rows are points, and not edges or distances that are given.
    has_coordinates: bool = False
    eigenvalues: Array
    leading_eigenvalues: Array
    n_pieces: int
    #: Of kernels without density, and in older model files.
    dimension: float | None = None
    #: Where a time is given, or need not be chosen, and in older model files.
    times: dict[str, Array] | None = None
    _features: Callable[[Data], Array]

    def __init__(self, name: str, parameters: Mapping[str, Any]) -> None:
        for parameter in ("n_neighbors", "density"):
            check_name(parameter, parameters.get(parameter), ["auto"])
        check_name("t", parameters["t"], ["auto", "states"])
        super().__init__(name, parameters)
        self._given = dict(parameters)

    @property
    def title(self) -> str:
        """What messages call it."""
        return f"{option(self.item)}{', ' * bool(self.item)}{option(*self._chosen_by)}"

    @property
    def has_anchors(self) -> bool:
        """Whether `HeatKernel.learn_anchors` can take more rows than a graph."""
        return False

    def check_rows(self, X: Data) -> None:
        """Refuse rows that the kernel cannot compare."""

    @abstractmethod
    def learn(
        self, X: Data, sample_weight: Array | None, n_clusters: int, shared: Any = None
    ) -> Trial:
        """Learn the graph of training rows; `settle_times` then finds the features.

        Parameters
        ----------
        X, sample_weight, n_clusters
            As for `fit`.
        shared : dict, default=None
            For each metric, the distinct rows of X that another kernel of these rows has put there,
            so that one search for neighbours is enough for all.

        Returns
        -------
        Trial
            What is left of the fit.
        """

    def fit(self, X: Data, sample_weight: Array | None = None, n_clusters: int = 8) -> Self:
        """Learn the graph of training rows, and its features.

        Parameters
        ----------
        X : {ndarray, CSR matrix} of shape (n_samples, n_features)
            Training rows, or the edges or distances between all of them, checked.
        sample_weight : ndarray of shape (n_samples,), default=None
            Sample weights. Rows of weight 0 are not in the graph; other weights do not change it,
            and rows that are repeated only if they are `far_away`.
        n_clusters : int, default=8
            Number of clusters.

        Returns
        -------
        self : DiffusionKernel
            The fitted kernel.
        """
        settle_times([self], [self.learn(X, sample_weight, n_clusters)], n_clusters)
        return self

    @abstractmethod
    def fit_bytes(self, X: Data, n_clusters: int) -> int:
        """Bytes that `fit` takes."""

    def _neighbor_graph(
        self,
        weigh: Callable[[int, Density], Data],
        density: Density,
        n_neighbors: int,
        most: int,
        n_clusters: int,
    ) -> tuple[Data, Pieces, int, Callable[[], Data] | None]:
        """The graph of so many neighbours; with ``"auto"``, twice as many if it has many pieces.

        The last result returns the graph in which density counts more, if that may be chosen.
        """
        graph = weigh(n_neighbors, density)
        pieces = find_pieces(graph, n_clusters)
        if self._given["n_neighbors"] == "auto" and pieces.n_large > n_clusters:
            n_neighbors = min(2 * n_neighbors, most)
            graph = weigh(n_neighbors, density)
            pieces = find_pieces(graph, n_clusters)
        more = density.denser() if self._given["density"] == "auto" else None
        if more is None:
            return graph, pieces, n_neighbors, None
        return graph, pieces, n_neighbors, lambda: weigh(n_neighbors, more)

    def _settle_density(
        self, near: Callable[[int, int], tuple[Array, Array | None]], n_rows: int
    ) -> Density:
        """The density of rows.

        `near` returns the distances to so many nearest other rows, and those to the neighbour of
        another rank if surroundings count.
        """
        given = self._given["density"]
        # With density 0 only the neighbours of the graph are sought. A wider search may break ties
        # between equal distances in another way.
        density = Density.of(given, *near(*self._ranks(n_rows))) if given != 0 else FLAT
        self.parameters["density"], self.dimension = density.exponent, density.dimension
        return density

    def _ranks(self, n_rows: int) -> tuple[int, int]:
        """How many nearest other rows a density looks at, and the end of surroundings."""
        count = DIMENSION_NEIGHBORS if isinstance(self._given["density"], str) else NEIGHBOR
        return min(count, n_rows - 1), min(surrounding_neighbor(n_rows), n_rows - 1)

    def _first_time(self, spectrum: Spectrum) -> float:
        """The time that is given or tried first."""
        t = self._given["t"]
        return spectrum.time() if isinstance(t, str) else float(t)

    @property
    def _is_apart(self) -> bool:
        """Whether pieces may be put `apart`: not if somebody has given the time."""
        return self.is_alone and self._given["t"] == "auto"

    def _chooses(self, pieces: Pieces, n_clusters: int) -> bool:
        """Whether the time is chosen. With a piece for each cluster it does not change labels."""
        return self._given["t"] == "auto" and n_clusters > pieces.n_kept

    def _trial_of_rows(
        self,
        graph: Data,
        pieces: Pieces,
        n_clusters: int,
        settle: Callable[[Basis], None],
        nodes: Callable[[], IntArray],
        alike: bool = True,
        denser: Callable[[], Data] | None = None,
    ) -> Trial:
        """What is left of a fit whose nodes are rows. Only those of pieces that are kept count.

        The time is chosen with edges that count ``alike`` as well, or by their weights alone.
        `denser` returns the same edges, with weights in which density counts more.
        """
        count = max(n_clusters, FEWEST_CLUSTERS)
        spectrum = cache(partial(Spectrum.of, graph, pieces, count, self._is_apart))
        kept = np.flatnonzero(pieces.kept)
        judge = graph[kept][:, kept] if len(kept) < graph.shape[0] else graph
        weighted = without_loops(judge)
        ones = np.ones_like(weighted.data), weighted.indices, weighted.indptr
        among = np.full(len(pieces.kept), -1)
        among[kept] = np.arange(len(kept))

        def settle_at(t: float) -> None:
            self.leading_eigenvalues = spectrum().values
            settle(spectrum().basis(t))

        def second(denser: Callable[[], Data]) -> Trial:
            return self._trial_of_rows(denser(), pieces, n_clusters, settle, nodes, alike)

        return Trial(
            lambda: self._first_time(spectrum()),
            settle_at,
            lambda t: spectrum().features(t)[kept],
            scipy.sparse.csr_array(ones, weighted.shape) if alike else weighted,
            lambda: among[nodes()],
            self._chooses(pieces, n_clusters),
            weighted,
            None if denser is None else cache(partial(second, denser)),
        )

    def _fitted(self, t: float, values: Array, pieces: Pieces, n_neighbors: int | None) -> None:
        self.parameters["t"] = t
        if n_neighbors is not None:
            self.parameters["n_neighbors"] = n_neighbors
        self.eigenvalues, self.n_pieces = values, len(pieces.sizes)

    @property
    def has_features(self) -> bool:
        """True: the kernel is the inner product of `features`."""
        return True

    def features(self, X: Data) -> Array:
        """Features of norm 1, whose inner products are the kernel.

        Parameters
        ----------
        X : {ndarray, CSR matrix} of shape (n_rows, n_features)
            Training rows or others, on any device.

        Returns
        -------
        ndarray of shape (n_rows, r)
            The features, on the same device.

        Raises
        ------
        ValueError
            If the kernel has not been fitted.
        """
        if not hasattr(self, "_features"):
            raise ValueError(
                f"kernel={self.name!r} is a function of training rows: fit it to them first."
            )
        found: Array = to_device_of(self._features(received(X)), X)
        return found

    def residuals(self, X: Data) -> Array | None:
        """The part of k(x, x) = 1 that the kernel loses by leaving out eigenpairs.

        Parameters
        ----------
        X : {ndarray, CSR matrix} of shape (n_rows, n_features)
            Training rows.

        Returns
        -------
        ndarray of shape (n_rows,) or None
            The residuals, 0 for rows that are not in the graph. None if they are not known: with
            anchors, with more than 200 rows in a piece that is kept, where rows of a given graph
            are equal and their features are not, or where the edges of a row vanish beside others.
        """
        known = getattr(self._features, "residuals", None)
        if known is None:
            return None
        assert isinstance(self._features, Extension)
        _, places = self._features.find(received(X))
        return np.where(places < 0, 0.0, known[places])

    def values(self, X: Data, Y: Data) -> Array:
        """Kernel matrix between the rows of X and those of Y, shape (n_X, n_Y)."""
        return self.features(X) @ self.features(Y).T


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
    has the features of that row. The features of any other row are the mean of those of its
    ``n_neighbors`` nearest training rows, scaled to norm 1. For many rows, `learn_anchors` uses the
    anchor graph of Liu et al.: each row has weights on the anchors nearest to it, which give its
    features.

    Parameters
    ----------
    n_neighbors : "auto" or int, default="auto"
        Neighbours of a row, itself included, at least 2. ``"auto"`` is `auto_neighbors`, or twice
        as many if the graph would otherwise have more pieces than clusters.
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
        nearest, known = distinct = shared[metric]
        n_neighbors = self._settled_neighbors(nearest, n_clusters)

        # One search finds all neighbours, also those by which columns tear the graph.
        def seek(rows: NearestRows, count: int, end: int) -> tuple[Array, Array]:
            return rows.distances(max(count, n_neighbors - 1), end)

        if self._given["density"] != 0:
            seek(nearest, *self._ranks(len(known)))
        nodes, places = remembered(
            lambda: without_copies(distinct, n_neighbors, n_clusters),
            lambda: ("copies", nearest.content, n_neighbors, n_clusters),
        )
        if places is not None:
            n_neighbors = self._settled_neighbors(nodes, n_clusters)
        n_nodes = int(nodes.rows.shape[0])
        sought, _ = remembered(
            lambda: untorn(nodes, n_neighbors), lambda: ("untorn", nodes.content, n_neighbors)
        )
        density = self._settle_density(partial(seek, sought), n_nodes)
        # Whoever names the number of neighbours wants so many.
        cuts_far = self._given["n_neighbors"] == "auto"
        graph, pieces, n_neighbors, denser = self._neighbor_graph(
            partial(sought.graph, keeps_far=not cuts_far), density, n_neighbors, n_nodes, n_clusters
        )
        pieces = without_near(pieces, n_clusters, sought, n_neighbors)
        if self._is_apart and 1 < pieces.n_kept < n_clusters:
            pieces = grouped(pieces, sought, n_neighbors)
        called = f"{self.title}: the graph"
        warn_of_pieces(
            pieces, wanted, called, n_neighbors, sought.ranks, self.family, cuts_far=cuts_far
        )
        if metric in NORMS and not scipy.sparse.issparse(X):
            _warn_if_vanishing(nodes.rows, sought.near(n_neighbors - 1)[1], self.title)
        source = join(pieces, nodes)
        source = source if places is None else source[places]
        self.neighbor_recall = sought.recall

        def settle(basis: Basis) -> None:
            features = basis.features[source].astype(nearest.rows.dtype)
            residuals = None if basis.residuals is None else basis.residuals[source]
            self._features = Extension(nearest, known, features, n_neighbors, residuals)
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
            # Twice as many, in case the graph has too many pieces.
            n_neighbors = 2 * self.factor * auto_neighbors(n, n_clusters, X.shape[1])
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


def settle_times(
    kernels: Sequence[DiffusionKernel], trials: Sequence[Trial], n_clusters: int
) -> None:
    """Give kernels of the same rows their times: those given, or found, or by a common factor.

    Parameters
    ----------
    kernels : sequence of DiffusionKernel
        The kernels.
    trials : sequence of Trial
        What is left of the fit of each.
    n_clusters : int
        Number of clusters.
    """
    # Factors of several kernels, chosen one by one, would decide the weights of the kernels.
    choosing = [trial for trial in trials if trial.chooses]
    choose = partial(choose_time_and_density, choosing, n_clusters)
    choice = settled("times", choose, in_halves) if choosing else None
    for kernel, trial in zip(kernels, trials, strict=True):
        kernel.times, factor, tried = None, 1.0, trial
        if choice is not None and trial.chooses:
            if choice.is_denser and trial.denser:
                tried = trial.denser()
                kernel.parameters["density"] *= DENSER
            times = tried.first() * choice.factors
            kernel.times = {"t": times, "cut": choice.cut, "entropy": choice.entropy}
            factor = choice.factor
        tried.settle(factor * tried.first())


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
