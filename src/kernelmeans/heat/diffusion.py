"""What all heat kernels share: a graph, its features at a time, and how the time is settled."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, Self

import numpy as np
import scipy.sparse

from kernelmeans._arrays import to_device_of
from kernelmeans._dialect import option
from kernelmeans._given import received
from kernelmeans._memory import settled
from kernelmeans._text import check_name
from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.heat.basis import Basis, Spectrum
from kernelmeans.heat.choice import Trial, choose_time_and_density, in_halves
from kernelmeans.heat.density import (
    DENSER,
    DIMENSION_NEIGHBORS,
    FLAT,
    NEIGHBOR,
    Density,
    surrounding_neighbor,
)
from kernelmeans.heat.extension import Extension
from kernelmeans.heat.neighbors import without_loops
from kernelmeans.heat.pieces import Pieces, find_pieces
from kernelmeans.kernels.kernel import Kernel

#: Times as many neighbours that "auto" takes, one after another, while the graph has more large
#: pieces than clusters. More edges than it takes to connect a piece lead to other arms of a spiral.
MORE_NEIGHBORS = 1.5, 2
#: Fewest clusters that decide the time: with a single state the kernel would be constant.
FEWEST_CLUSTERS = 2


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
        """The graph of so many neighbours; with ``"auto"``, of more if it has too many pieces.

        The last result returns the graph in which density counts more, if that may be chosen.
        """
        factors = MORE_NEIGHBORS if self._given["n_neighbors"] == "auto" else ()
        for number in [n_neighbors, *(min(round(one * n_neighbors), most) for one in factors)]:
            graph = weigh(number, density)
            pieces = find_pieces(graph, n_clusters)
            if pieces.n_large <= n_clusters:
                break
        return graph, pieces, number, self._denser(weigh, density, number)

    def _denser(
        self, weigh: Callable[[int, Density], Data], density: Density, n_neighbors: int
    ) -> Callable[[], Data] | None:
        """Returns the graph in which density counts more, if that may be chosen."""
        more = density.denser() if self._given["density"] == "auto" else None
        return None if more is None else partial(weigh, n_neighbors, more)

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
