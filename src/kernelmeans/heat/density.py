"""The density of rows, by which the edges of a graph of neighbours are weighted."""

from typing import NamedTuple

import numpy as np

from kernelmeans._typing import Array, Data

#: The neighbour whose distance tells how dense rows are; the row itself does not count.
NEIGHBOR = 5
#: Rows of the table for each row of the surroundings, in which a row has to be dense as well, and
#: the most rows of surroundings. With fewer, a few nearly equal rows would be clusters.
PER_SURROUNDING, MOST_SURROUNDING = 100, 80
#: Neighbours by which the dimension is estimated.
DIMENSION_NEIGHBORS = 10
#: Smallest and largest weight of an edge. Between rows of median density it is about 1. With more
#: between these bounds, eigenvalues would lose their digits, and a few nearly equal rows would
#: outweigh all others.
LEAST_WEIGHT, LARGEST_WEIGHT = 1e-4, 1e3
#: Largest exponent for ``density="auto"``.
MOST = 16.0
#: Exponent where density counts more, relative to the one of ``density="auto"``. Discs in rings
#: need more than 3.
DENSER = 4.0


class Density(NamedTuple):
    """How dense rows are, and how much that counts.

    Attributes
    ----------
    exponent : float
        The power of the distances in `weights`; with 0 all weights are 1.
    dimension : float or None
        The `intrinsic_dimension` that ``"auto"`` has followed.
    core : ndarray of shape (n_rows,)
        Core distances: the larger of two distances of a row, each in units of its median. One is
        that to the fifth neighbour, the other that to the end of the surroundings.
    median : float
        The median distance to the fifth neighbour.
    """

    exponent: float
    dimension: float | None
    core: Array
    median: float

    @classmethod
    def of(
        cls, given: float | str, distances: Array, surroundings: Array | None = None
    ) -> "Density":
        """The density of training rows.

        Parameters
        ----------
        given : "auto" or float
            The exponent; ``"auto"`` is half the dimension plus 2, at most 16.
        distances : ndarray of shape (n_rows, count)
            Distances to the nearest other rows, ascending; infinite where there are fewer.
        surroundings : ndarray of shape (n_rows,), default=None
            Distances to the `surrounding_neighbor`, or to the last of fewer. If they are not given,
            those to the fifth neighbours count alone.

        Returns
        -------
        Density
            The density. Its exponent is 0 if the median of the core distances is 0, or with
            ``"auto"`` if the dimension is unknown.
        """
        dimension = None
        if isinstance(given, str):
            dimension = intrinsic_dimension(distances)
            given = 0.0 if dimension is None else min(dimension / 2 + 2, MOST)
        if given == 0:
            return FLAT._replace(dimension=dimension)
        core = core_distances(distances)
        median = float(np.median(core))
        if not 0 < median < np.inf:
            return FLAT._replace(dimension=dimension)
        core /= median
        if surroundings is not None:
            core = np.maximum(core, surroundings / np.median(surroundings))
        return cls(float(given), dimension, core, median)

    def denser(self) -> "Density | None":
        """The same with `DENSER` times the exponent; None if that is 0, or more than 16."""
        exponent = DENSER * self.exponent
        return self._replace(exponent=exponent) if 0 < exponent <= MOST else None

    def weights(self, distances: Data) -> tuple[Data, Array]:
        """Weights of the edges between rows, and of the edge of each row to itself.

        The length of an edge is the mutual reachability of its ends: their distance, or one of
        their core distances if that is larger.

        Parameters
        ----------
        distances : CSR array of shape (n_rows, n_rows)
            The edges, and the distances of their ends.

        Returns
        -------
        edges : CSR array of shape (n_rows, n_rows)
            The same edges, with their weights.
        own : ndarray of shape (n_rows,)
            Weights of the edges of rows to themselves.
        """
        edges = distances.astype(np.float64)
        if self.exponent == 0:
            edges.data = np.ones(edges.nnz)
            return edges, np.ones(edges.shape[0])
        ends = np.repeat(self.core, np.diff(edges.indptr)), self.core[edges.indices]
        # The weight of a length that overflows, or vanishes, is the smallest, or the largest.
        with np.errstate(over="ignore", divide="ignore"):
            edges.data = self._weights(np.maximum(edges.data / self.median, np.maximum(*ends)))
            return edges, self._weights(self.core)

    def _weights(self, lengths: Array) -> Array:
        return np.asarray(np.clip(lengths**-self.exponent, LEAST_WEIGHT, LARGEST_WEIGHT))


#: Where density does not count.
FLAT = Density(0.0, None, np.empty(0), 1.0)


def surrounding_neighbor(n_rows: int) -> int:
    """The neighbour at the end of a row's surroundings: one for every 100 rows, 5 to 80.

    A few nearly equal rows are dense among their fifth neighbours, and would become clusters. In
    their surroundings they are not.

    Parameters
    ----------
    n_rows : int
        Number of distinct rows.

    Returns
    -------
    int
        Its rank, counted from 1 for the nearest other row.

    Examples
    --------
    >>> from kernelmeans.heat.density import surrounding_neighbor
    >>> surrounding_neighbor(150), surrounding_neighbor(1797), surrounding_neighbor(70_000)
    (5, 17, 80)
    """
    return int(np.clip(n_rows // PER_SURROUNDING, NEIGHBOR, MOST_SURROUNDING))


def core_distances(distances: Array, neighbor: int = NEIGHBOR) -> Array:
    """Distances of rows to their fifth neighbours, or to other ones, or to the last of fewer.

    Parameters
    ----------
    distances : ndarray of shape (n_rows, count)
        Distances to the nearest other rows, ascending; infinite where there are fewer.
    neighbor : int, default=5
        The rank of the neighbour.

    Returns
    -------
    ndarray of shape (n_rows,)
        The distances; infinite for a row without neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat.density import core_distances
    >>> core_distances(np.array([[1.0, 2.0, np.inf], [1.0, 3.0, 4.0]]))
    array([2., 4.])
    """
    near = distances[:, :neighbor].astype(np.float64)
    if near.shape[1] == 0:
        return np.full(len(near), np.inf)
    last = np.isfinite(near).sum(axis=1) - 1
    return np.where(last < 0, np.inf, near[np.arange(len(near)), np.maximum(last, 0)])


def intrinsic_dimension(distances: Array) -> float | None:
    """The number of directions in which rows vary near a row, by maximum likelihood.

    1/d is the mean over rows of sum_{i<j} log(T_j / T_i) / (j - 1), where T are the distances to
    the 10 nearest others, or to all if they are fewer, and T_j is the largest.

    Parameters
    ----------
    distances : ndarray of shape (n_rows, count)
        Distances to the nearest other rows, ascending; infinite where there are fewer.

    Returns
    -------
    float or None
        The dimension; None if no row has neighbours at different distances.

    References
    ----------
    Levina and Bickel (2004), Maximum likelihood estimation of intrinsic dimension.

    MacKay and Ghahramani (2005), Comments on the maximum likelihood estimator of dimension.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import NearestNeighbors
    >>> from kernelmeans.heat.density import intrinsic_dimension
    >>> X = np.random.default_rng(0).random((2000, 2)) @ np.random.default_rng(1).random((2, 20))
    >>> distances, _ = NearestNeighbors(n_neighbors=10).fit(X).kneighbors()
    >>> round(intrinsic_dimension(distances), 1)
    2.0
    """
    T = distances[:, :DIMENSION_NEIGHBORS].astype(np.float64)
    # Distances of 0 have no ratio to others.
    known = np.isfinite(T) & (T > 0)
    T, known = T[known.sum(axis=1) > 1], known[known.sum(axis=1) > 1]
    logs = np.log(T, where=known, out=np.zeros_like(T))
    count = known.sum(axis=1)
    largest = np.max(logs, axis=1, where=known, initial=-np.inf, keepdims=True)
    # One difference at a time is exactly 0 where distances are equal.
    inverse = np.sum(largest - logs, axis=1, where=known) / (count - 1)
    inverse = inverse[inverse > 0]
    return float(1 / inverse.mean()) if len(inverse) else None


def anchor_density(mass: Array, core: Array, exponent: float, dimension: float) -> Array:
    """The weight of edges near each anchor, by the density of the rows that it stands for.

    Density goes as mass / core^dimension, and the edges of a graph of all rows weigh as the power
    exponent / dimension of their density. So do these, relative to the median of the anchors.

    Parameters
    ----------
    mass : ndarray of shape (m,)
        Weight of the rows in a neighbourhood of each anchor.
    core : ndarray of shape (m,)
        Its radius.
    exponent : float
        The exponent of `Density`.
    dimension : float
        The `intrinsic_dimension` of the rows.

    Returns
    -------
    ndarray of shape (m,)
        The weights, within the bounds of those of edges.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat.density import anchor_density
    >>> anchor_density(np.array([8.0, 2.0, 2.0]), np.array([1.0, 1.0, 2.0]), 3.0, 1.0)
    array([64.   ,  1.   ,  0.125])
    """
    # Neither is 0 as a logarithm: anchors may be equal, or have no rows.
    mass, core = (np.maximum(each, np.finfo(np.float64).tiny) for each in (mass, core))
    # With logarithms no power overflows before it is bounded.
    logs = np.log(mass) - dimension * np.log(core)
    bounds = np.log(LEAST_WEIGHT), np.log(LARGEST_WEIGHT)
    return np.asarray(np.exp(np.clip((logs - np.median(logs)) * exponent / dimension, *bounds)))
