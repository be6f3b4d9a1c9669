"""The tree of the clusters of a fit: which of them are merged first."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from kernelmeans._given import is_integer
from kernelmeans._typing import Array, IntArray
from kernelmeans.heat.closeness import EXPONENT

#: Weight of a cluster without rows, which changes no mean.
NO_WEIGHT = float(np.finfo(np.float64).tiny)

#: Length of the branch of a leaf up to the smallest distance, as a fraction of the picture.
LEAF = 0.12


@dataclass(eq=False)
class ClusterTree:
    """Merges of the clusters of a fit, the closest first, until one is left.

    The attributes mean what they do in `sklearn.cluster.AgglomerativeClustering`, with clusters in
    place of rows. Clusters without rows merge first.

    Attributes
    ----------
    children_ : ndarray of int of shape (n_clusters - 1, 2)
        The two nodes of each merge. Nodes below ``n_clusters`` are the clusters, by their numbers;
        node ``n_clusters + j`` is what merge j has made.
    distances_ : ndarray of shape (n_clusters - 1,)
        How far apart they were. The distances never fall.
    cluster_weight_ : ndarray of shape (n_clusters,)
        Sum of the sample weights in each cluster: its rows, if all weights are 1.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.cluster.hierarchy import dendrogram
    >>> from kernelmeans import KernelPowerKMeans
    >>> X = np.concatenate([np.linspace(x, x + 1, 20) for x in (0, 3, 20)])[:, None]
    >>> tree = KernelPowerKMeans(3, random_state=0).fit(X).tree_
    >>> tree.children_.tolist()
    [[0, 1], [2, 3]]
    >>> dendrogram(tree.linkage(), no_plot=True)["ivl"]
    ['2', '0', '1']
    """

    children_: IntArray
    distances_: Array
    cluster_weight_: Array

    @classmethod
    def by_closeness(cls, closeness: Array, cluster_weight: Array) -> Self:
        """Merge clusters by their mean closeness: average linkage.

        Parameters
        ----------
        closeness : ndarray of shape (n_clusters, n_clusters)
            Means over pairs of rows of two clusters, positive (``kernelmeans.heat.closeness``).
        cluster_weight : ndarray of shape (n_clusters,)
            Weights of the clusters.

        Returns
        -------
        ClusterTree
            The tree. A distance is a mean closeness to the power -1/16: a power mean of distances
            between rows, in units of the median distance to the fifth neighbour.
        """

        def merged(a: Array, b: Array, n_a: float, n_b: float, n: Array, cost: float) -> Array:
            both: Array = (n_a * a + n_b * b) / (n_a + n_b)
            return both

        children, costs = _merge(-closeness, cluster_weight, merged)
        return cls(children, (-costs) ** (-1 / EXPONENT), cluster_weight)

    @classmethod
    def by_cost(cls, squared: Array, cluster_weight: Array) -> Self:
        """Merge clusters by what a merge adds to the cost of kernel k-means: Ward's method.

        Parameters
        ----------
        squared : ndarray of shape (n_clusters, n_clusters)
            Squared distances between the centroids, in the feature space.
        cluster_weight : ndarray of shape (n_clusters,)
            Weights of the clusters.

        Returns
        -------
        ClusterTree
            The tree. A distance is the root of twice the added cost, as SciPy and scikit-learn
            have it.
        """

        def merged(a: Array, b: Array, n_a: float, n_b: float, n: Array, cost: float) -> Array:
            both: Array = ((n_a + n) * a + (n_b + n) * b - n * cost) / (n_a + n_b + n)
            return both

        n = np.maximum(cluster_weight, NO_WEIGHT)
        # Divided first, so that nothing overflows.
        harmonic = n / (n + n[:, None]) * n[:, None]
        children, costs = _merge(harmonic * squared, cluster_weight, merged)
        return cls(children, np.sqrt(2 * costs), cluster_weight)

    def cut(self, n_clusters: int) -> IntArray:
        """Merge the clusters until so many are left.

        Parameters
        ----------
        n_clusters : int
            Number of clusters that are left, from 1 to that of the fit.

        Returns
        -------
        ndarray of int of shape (n_clusters of the fit,)
            The new number of each cluster: the largest is 0.

        Raises
        ------
        ValueError
            If there cannot be so many.

        Examples
        --------
        >>> import numpy as np
        >>> from kernelmeans.estimators.tree import ClusterTree
        >>> distances = np.abs(np.array([[0, 1, 9], [1, 0, 8], [9, 8, 0]])) ** 2
        >>> ClusterTree.by_cost(distances, np.array([3.0, 2.0, 6.0])).cut(2)
        array([1, 1, 0], dtype=int32)
        """
        k = len(self.cluster_weight_)
        if not is_integer(n_clusters) or not 1 <= n_clusters <= k:
            raise ValueError(
                f"n_clusters={n_clusters!r} must be an integer from 1 to {k}: cut merges the "
                f"clusters of the fit. For more than {k}, fit with a larger n_clusters."
            )
        nodes = np.arange(k)
        for step, (first, second) in enumerate(self.children_[: k - n_clusters]):
            nodes[(nodes == first) | (nodes == second)] = k + step
        _, leaf, nodes = np.unique(nodes, return_index=True, return_inverse=True)
        weight = np.bincount(nodes, self.cluster_weight_)
        return np.argsort(np.lexsort((leaf, -weight)))[nodes].astype(np.int32)

    def linkage(self) -> Array:
        """The tree as the functions of `scipy.cluster.hierarchy` take it.

        Returns
        -------
        ndarray of shape (n_clusters - 1, 4)
            The nodes of each merge, their distance, and how many clusters they hold.
        """
        counts = [1] * len(self.cluster_weight_)
        for first, second in self.children_.tolist():
            counts.append(counts[first] + counts[second])
        merges = counts[len(self.cluster_weight_) :]
        return np.column_stack([self.children_, self.distances_, merges]).astype(np.float64)

    @property
    def leaves(self) -> list[int]:
        """The clusters in an order in which no branches cross, heavier branches first."""
        nodes = [[leaf] for leaf in range(len(self.cluster_weight_))]
        for pair in self.children_.tolist():
            first, second = sorted(pair, key=lambda node: -self.cluster_weight_[nodes[node]].sum())
            nodes.append(nodes[first] + nodes[second])
        return nodes[-1]

    def branches(self) -> Array:
        """The lines of a dendrogram that lies on its side.

        Returns
        -------
        ndarray of shape (n_clusters - 1, 4, 2)
            For each merge four places: along one child, across to the other, and back. The first
            coordinate is 0 at the leaves and 1 at the last merge; distances begin a little beyond
            the leaves, so that they fill the picture. The second is the place among ``leaves``.
        """
        k = len(self.cluster_weight_)
        ends = self.distances_[[0, -1]] if k > 1 else np.zeros(2)
        spread = float(ends[1] - ends[0])
        along = np.zeros(2 * k - 1)
        along[k:] = 1 - (1 - LEAF) * (ends[1] - self.distances_) / (spread or 1.0)
        across = np.empty(2 * k - 1)
        across[self.leaves] = np.arange(k)
        for node, pair in enumerate(self.children_, k):
            across[node] = across[pair].mean()
        first, second, own = *self.children_.T, np.arange(k, 2 * k - 1)
        x = np.stack([along[first], along[own], along[own], along[second]], axis=1)
        y = np.stack([across[first], across[first], across[second], across[second]], axis=1)
        return np.stack([x, y], axis=2)

    def renumbered(self, numbers: IntArray) -> "ClusterTree":
        """The same tree, whose clusters have new numbers."""
        nodes = np.append(numbers, np.arange(len(numbers), 2 * len(numbers)))
        order = np.argsort(numbers)
        children = np.sort(nodes[self.children_], axis=1)
        return replace(self, children_=children, cluster_weight_=self.cluster_weight_[order])

    def is_well_formed(self, n_clusters: int) -> bool:
        """Say whether the parts have the types and sizes that a fit gives them."""
        shapes: dict[str, tuple[str, tuple[int, ...]]] = {
            "children_": ("i", (n_clusters - 1, 2)),
            "distances_": ("f", (n_clusters - 1,)),
            "cluster_weight_": ("f", (n_clusters,)),
        }
        for name, form in shapes.items():
            part = getattr(self, name, None)
            if not isinstance(part, np.ndarray) or (part.dtype.kind, part.shape) != form:
                return False
        known = n_clusters + np.arange(n_clusters - 1)[:, None]
        once = len(np.unique(self.children_)) == self.children_.size
        return bool(once and (self.children_ >= 0).all() and (self.children_ < known).all())


def between_means(squared: Array, labels: IntArray, sample_weight: Array) -> Array:
    """Squared distances between the means of clusters, from those of their rows to the means.

    Parameters
    ----------
    squared : ndarray of shape (n_rows, n_clusters)
        Squared distances of rows to all means.
    labels : ndarray of int of shape (n_rows,)
        The cluster of each row.
    sample_weight : ndarray of shape (n_rows,)
        Weights of the rows.

    Returns
    -------
    ndarray of shape (n_clusters, n_clusters)
        The squared distances, exact if these are all rows of the clusters; 0 from clusters without
        rows.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.estimators.tree import between_means
    >>> rows, means = np.array([[0.0], [2.0], [7.0]]), np.array([[1.0, 7.0]])
    >>> between_means((rows - means) ** 2, np.array([0, 0, 1]), np.ones(3))
    array([[ 0., 36.],
           [36.,  0.]])
    """
    own = np.zeros(squared.shape)
    own[np.arange(len(labels)), labels] = sample_weight
    weight = own.sum(axis=0)
    # The mean square of the distances to another mean is that to the own one, and the distance of
    # the means squared.
    means = np.divide(
        (own.T @ squared).T, weight, out=np.zeros((len(weight),) * 2), where=weight > 0
    )
    found = np.maximum(means.T - means.diagonal()[:, None], 0)
    return np.asarray((found + found.T) / 2)


def _merge(
    costs: Array, cluster_weight: Array, merged: Callable[..., Array]
) -> tuple[IntArray, Array]:
    """The pairs of nodes of least cost, one after the other, and their costs, which never fall.

    `merged` returns the costs of merging with the union of two clusters. It takes those of either,
    their weights, the weights of all clusters, and the cost of the union (Lance and Williams).
    """
    k, weight = len(costs), np.maximum(cluster_weight, NO_WEIGHT)
    costs, nodes = costs.astype(np.float64), np.arange(k)
    np.fill_diagonal(costs, np.inf)
    children, least = np.empty((k - 1, 2), np.intp), np.empty(k - 1)
    for step in range(k - 1):
        a, b = divmod(int(costs.argmin()), k)
        least[step], children[step] = costs[a, b], np.sort(nodes[[a, b]])
        others = merged(costs[a], costs[b], weight[a], weight[b], weight, least[step])
        costs[a] = costs[:, a] = others
        costs[b] = costs[:, b] = costs[a, a] = np.inf
        weight[a] += weight[b]
        nodes[a] = k + step
    # Rounding may let a mean fall.
    return children, np.maximum.accumulate(least)
