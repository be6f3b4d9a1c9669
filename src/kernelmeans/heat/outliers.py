"""How strange rows are in their clusters, by the distances to their neighbours."""

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
import scipy.sparse
from scipy.cluster.hierarchy import DisjointSet
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.stats import chi2

from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.heat.density import DIMENSION_NEIGHBORS, core_distances, intrinsic_dimension
from kernelmeans.heat.digests import Digests, find
from kernelmeans.heat.distinct import DistinctRows
from kernelmeans.heat.dither import ANSWERS, dithered, few_valued
from kernelmeans.heat.neighbors import NearestRows

#: Fraction of a cluster that a row has to be connected with. A smaller group is strange as a whole.
GROUP = 0.1
#: Quantile of the sparsities of a cluster that is their origin: half of its rows may be noise.
ORIGIN = 0.25
#: Fraction of the way from the reach of a cluster to that of all: a sparse cluster may be noise.
TOWARDS_ALL = 0.5
#: Least width by which logarithms of densities are smoothed: they are known to 1 / sqrt(5), from
#: five neighbours each.
WIDTH = 0.35
#: Least sparsity that is strange: a third of the density of the cluster is usual in any.
LEAST = 1.0
#: Largest fraction of a cluster that can be strange. A larger part is the cluster itself.
MOST = 0.5
#: Standard deviations by which the rows beyond a valley of sparsities must outnumber those in it.
SURE = 2.5
#: Largest usual sparsity where there is no valley, in units of the upper quartile. In a Gaussian
#: cluster in the plane 0.9 % of the rows are beyond.
TAIL = 4.0
#: Fraction of the rows of a Gaussian cluster that are beyond the largest usual sparsity at most.
RARE = 1e-3


class Comparison(NamedTuple):
    """How rows are made comparable where columns have few values.

    Attributes
    ----------
    columns : ndarray of int
        The columns that are compared. Answers are not: few rows have a rare combination of them,
        however usual these rows are.
    scale : float
        The largest absolute entry of these columns.
    places : ndarray of shape (n_clusters,)
        The entry of each cluster in one more column. Clusters that differ in answers alone would be
        at the same place without it.
    """

    columns: IntArray
    scale: float
    places: Array

    def of(self, rows: Array, labels: IntArray) -> Array:
        """Rows of which those of one cluster are nearer to each other than to all others."""
        with np.errstate(over="ignore"):  # new rows may be far from all others
            compared = rows[:, self.columns] / self.scale
        return np.column_stack([compared, self.places[labels]]).astype(rows.dtype)


@dataclass(frozen=True, eq=False)
class Outliers:
    """How strange rows are: 1 or less is usual in their cluster.

    The *reach* of a row is the least length of edges that connect it with a tenth of the rows of
    its cluster. Edges join neighbours, and are as long as in `kernelmeans.heat.density.Density`.
    Where d is the intrinsic dimension, density goes as reach^-d. The *sparsity* of a row is the
    logarithm of the usual density over its own. The usual density lies between that of its cluster
    and that of all clusters (`_origins`). The score is the sparsity over the largest usual one
    (`largest_usual`).

    Attributes
    ----------
    nearest : NearestRows
        Rows of the fit that others are compared with: all distinct ones, or a sample.
    known : ndarray of shape (n_rows,)
        Their digests, in ascending order.
    labels : ndarray of int of shape (n_rows,)
        Their clusters.
    reach : ndarray of shape (n_rows,)
        The logarithms of their reach.
    origin, usual : ndarray of shape (n_clusters,)
        For each cluster, the logarithm of the usual reach, and the largest usual sparsity.
    dimension : float
        The intrinsic dimension of the rows.
    comparison : Comparison or None
        How rows are made comparable, if some of their columns have few values.
    """

    nearest: NearestRows
    known: Digests
    labels: IntArray
    reach: Array
    origin: Array
    usual: Array
    dimension: float
    comparison: Comparison | None = None

    @classmethod
    def of(cls, rows: DistinctRows, labels: IntArray, n_clusters: int) -> Self:
        """Compare rows of the fit with each other.

        Parameters
        ----------
        rows : DistinctRows
            The rows.
        labels : ndarray of int of shape (n_rows,)
            The cluster of each.
        n_clusters : int
            Number of clusters.

        Returns
        -------
        Outliers
            Scores these rows, and others.
        """
        nearest, known = rows
        nearest, comparison = _comparable(nearest, labels, n_clusters)
        columns, distances = nearest.near(min(DIMENSION_NEIGHBORS, len(known) - 1))
        if comparison is not None:
            distances = np.where(labels[columns] == labels[:, None], distances, np.inf)
        dimension = intrinsic_dimension(distances) or 1.0
        reach = _reach(columns, distances, labels)
        origin = _origins(reach, labels, n_clusters, dimension)
        sparsity = dimension * (reach - origin[labels])
        usual = np.full(n_clusters, largest_usual(sparsity, dimension))
        for cluster in np.unique(labels):
            own = sparsity[labels == cluster]
            usual[cluster] = valley(own) or usual[cluster]
            # However far its origin is moved, rows near its own density are usual.
            usual[cluster] = max(usual[cluster], LEAST + np.quantile(own, ORIGIN))
        return cls(nearest, known, labels, reach, origin, usual, dimension, comparison)

    def scores(self, X: Data, labels: IntArray) -> Array:
        """The scores of rows.

        Parameters
        ----------
        X : {ndarray, CSR matrix} of shape (n_rows, n_features)
            Training rows or others.
        labels : ndarray of int of shape (n_rows,)
            The nearest cluster of each.

        Returns
        -------
        ndarray of shape (n_rows,)
            The scores; above 1 are strange rows.
        """
        rows = self.nearest.read(X, self.nearest.rows.dtype)
        places = find(self.known, self.nearest.digests(rows))
        reach, new = self.reach[places], np.flatnonzero(places < 0)
        if len(new):
            reach[new] = self._reach_of_new(rows[new], labels[new])
        found = self.dimension * (reach - self.origin[labels]) / self.usual[labels]
        # Of a small cluster no row may be in a sample.
        seen = np.bincount(self.labels, minlength=len(self.origin)) > 0
        return np.where(seen[labels], found, 0.0)

    def _reach_of_new(self, rows: Data, labels: IntArray) -> Array:
        """The reach by neighbours in the same cluster, or by all neighbours if none is there."""
        if self.comparison is not None:
            rows = self.comparison.of(rows, labels)
        distances, near = self.nearest.of(rows, min(DIMENSION_NEIGHBORS, len(self.known)))
        own = self.labels[near] == labels[:, None]
        own[~own.any(axis=1)] = True
        if self.comparison is not None:
            distances = np.where(own, distances, np.inf)
        lengths = _logs(np.maximum(distances, core_distances(distances)[:, None]))
        return np.asarray(
            np.min(np.maximum(lengths, self.reach[near]), axis=1, where=own, initial=np.inf)
        )

    def renumbered(self, numbers: IntArray) -> Self:
        """The same with new numbers of the clusters."""
        order = np.argsort(numbers)
        found = replace(
            self,
            labels=numbers[self.labels],
            origin=self.origin[order],
            usual=self.usual[order],
        )
        if self.comparison is None:
            return found
        places = self.comparison.places[order]
        return replace(found, comparison=self.comparison._replace(places=places))


def _comparable(
    nearest: NearestRows, labels: IntArray, n_clusters: int
) -> tuple[NearestRows, Comparison | None]:
    """The rows without answers, and with noise in place of steps; the same if no columns are left.

    Between the values of a column of few values no rows are, and at the rarer ones rows are sparse.
    """
    few = few_valued(nearest)
    answers = [column.place for column in few if len(column.values) <= ANSWERS]
    columns = np.delete(np.arange(nearest.rows.shape[1]), answers)
    if not few or not len(columns):
        return nearest, None
    scale = float(np.abs(nearest.rows[:, columns]).max()) or 1.0
    # More than the largest distance of two rows in any norm.
    apart = 2.0 * len(columns) + 1
    comparison = Comparison(columns, scale, apart * np.arange(n_clusters))
    steps = np.flatnonzero(np.isin(columns, [column.place for column in few]))
    found = NearestRows(dithered(comparison.of(nearest.rows, labels), steps), nearest.metric)
    _, distances = found.near(min(DIMENSION_NEIGHBORS, len(labels) - 1))
    # Rows that are equal in all columns that are left have no density.
    return (found, comparison) if core_distances(distances).all() else (nearest, None)


def _reach(columns: IntArray, distances: Array, labels: IntArray) -> Array:
    """The logarithm of the least length of edges that connect a row with a part of its cluster."""
    # A single row has no neighbours.
    core, n = np.nan_to_num(core_distances(distances), posinf=0.0), len(labels)
    lengths = np.maximum(np.maximum(distances, core[columns]), core[:, None])
    lengths = np.maximum(lengths, np.finfo(np.float64).tiny)  # for scipy 0 is no edge
    row, place = np.nonzero(labels[columns] == labels[:, None])
    # Older versions of SciPy know trees of short indices alone.
    ends = row.astype(np.int32), columns[row, place].astype(np.int32)
    graph = scipy.sparse.csr_array((lengths[row, place], ends), (n, n))
    _, piece = connected_components(graph, directed=False)
    # A cluster may be in pieces, all of them small.
    largest = np.zeros(labels.max() + 1)
    np.maximum.at(largest, labels, np.bincount(piece)[piece])
    enough = np.minimum(GROUP * np.bincount(labels), largest)[labels]
    tree = minimum_spanning_tree(graph).tocoo()
    order = np.argsort(tree.data, kind="stable")
    pairs = np.column_stack([tree.row, tree.col])[order].tolist()
    longest = lengths.max(initial=0, where=np.isfinite(lengths))
    joined = np.where(enough <= 1, 0, longest)
    groups = DisjointSet(range(n))
    for pair, length in zip(pairs, tree.data[order].tolist(), strict=True):
        sizes = [groups.subset_size(row) for row in pair]
        if sum(sizes) >= enough[pair[0]]:
            for row, size in zip(pair, sizes, strict=True):
                if size < enough[row]:
                    joined[list(groups.subset(row))] = length
        groups.merge(*pair)
    return _logs(np.maximum(joined, core))


def _origins(reach: Array, labels: IntArray, n_clusters: int, dimension: float) -> Array:
    """The logarithm of the usual reach in each cluster.

    It lies between the reach of the cluster and that of all clusters, because rows of noise may be
    a cluster of their own. It is no farther from its cluster than most rows are, so that no cluster
    is left out only for being sparse.
    """
    own = np.zeros(n_clusters)
    for cluster in np.unique(labels):
        own[cluster] = np.quantile(reach[labels == cluster], ORIGIN)
    spread = np.quantile(reach - own[labels], 1 - ORIGIN)
    farthest = max(float(spread), LEAST / dimension)
    middle = np.median(own[labels])
    return own + np.clip(TOWARDS_ALL * (middle - own), -farthest, farthest)


def valley(sparsity: Array) -> float | None:
    """The sparsity between usual and strange rows, where few rows are.

    More rows lie beyond it than chance explains.

    Parameters
    ----------
    sparsity : ndarray of shape (n_rows,)
        Logarithms of the density of a cluster over those of rows.

    Returns
    -------
    float or None
        The last one above `LEAST`; None if there is none.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat.outliers import valley
    >>> usual, noise = np.linspace(0, 1.5, 400), np.linspace(3, 3.5, 30)
    >>> round(valley(np.r_[usual, noise]), 1), valley(usual)
    (2.3, None)
    """
    bin_width = WIDTH / 4
    edges = np.arange(LEAST - 4 * WIDTH, sparsity.max(initial=LEAST) + 4 * WIDTH, bin_width)
    counts, _ = np.histogram(sparsity, edges)
    shape = np.exp(-np.square(np.arange(-12, 13) / 4) / 2)
    counts = np.convolve(counts, shape, "same")[edges[:-1] >= LEAST]
    beyond = np.maximum.accumulate(counts[::-1])[::-1]
    fewest = counts <= np.minimum.accumulate(counts)
    places = np.flatnonzero(fewest & (beyond - counts > SURE * np.sqrt(beyond + counts)))
    found = LEAST + bin_width * places[-1:]
    return float(found[0]) if len(found) and (sparsity > found).mean() <= MOST else None


def largest_usual(sparsity: Array, dimension: float) -> float:
    """The largest usual sparsity: by the valley of the rows of all clusters, or else by their tail.

    Parameters
    ----------
    sparsity : ndarray of shape (n_rows,)
        As for `valley`.
    dimension : float
        The intrinsic dimension of the rows.

    Returns
    -------
    float
        The sparsity, at least `LEAST`.
    """
    tail = TAIL * float(np.quantile(sparsity, 1 - ORIGIN))
    rare, origin = chi2.isf(RARE, dimension), chi2.ppf(ORIGIN, dimension)
    return valley(sparsity) or max(LEAST, min(tail, (rare - origin) / 2))


def threshold_of(scores: Array, weight: Array, outliers: float | str) -> float:
    """The score above which rows belong to no cluster.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,)
        Those of the training rows.
    weight : ndarray of shape (n_samples,)
        Their sample weights.
    outliers : "auto" or float
        ``"auto"``, or the largest fraction of the weight that belongs to none.

    Returns
    -------
    float
        1 for ``"auto"``; else the largest score that remains.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat.outliers import threshold_of
    >>> threshold_of(np.array([0.1, 3.0, 0.2, 0.5]), np.ones(4), 0.25)
    0.5
    """
    if isinstance(outliers, str):
        return 1.0
    order = np.argsort(-scores, kind="stable")
    beyond = np.cumsum(weight[order], dtype=np.float64)
    # A fraction of a sum is a little less than that of its parts.
    left_out = np.searchsorted(beyond, outliers * beyond[-1] * (1 + 1e-9), side="right")
    return float(scores[order[left_out]])


def _logs(lengths: Array) -> Array:
    return np.log(np.maximum(lengths, np.finfo(np.float64).tiny))
