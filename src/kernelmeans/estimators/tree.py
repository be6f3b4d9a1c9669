"""The tree of the clusters of a fit: which of them are merged first."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.cluster.hierarchy import leaves_list

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
        The two nodes of each merge, the heavier one first. Nodes below ``n_clusters`` are the
        clusters, by their numbers; node ``n_clusters + j`` is what merge j has made.
    distances_ : ndarray of shape (n_clusters - 1,)
        How far apart they were. The distances never fall.
    cluster_weight_ : ndarray of shape (n_clusters,)
        Sum of the sample weights in each cluster: its rows, if all weights are 1.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.cluster.hierarchy import dendrogram
    >>> from kernelmeans import KernelPowerKMeans
    >>> groups = [np.linspace(x, x + 1, n) for x, n in ((0, 30), (3, 20), (20, 10))]
    >>> X = np.concatenate(groups)[:, None]
    >>> tree = KernelPowerKMeans(3, random_state=0).fit(X).tree_
    >>> tree.children_.tolist()
    [[0, 1], [3, 2]]
    >>> dendrogram(tree.linkage(), no_plot=True)["ivl"]
    ['0', '1', '2']
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
        children, costs = _merge(-closeness, cluster_weight)
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
        n = np.maximum(cluster_weight, NO_WEIGHT)
        # Divided first, so that nothing overflows.
        costs = n / (n + n[:, None]) * n[:, None] * squared
        children, costs = _merge(costs, cluster_weight, ward=True)
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
        """The tree as the functions of ``scipy.cluster.hierarchy`` take it.

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
        return leaves_list(self.linkage()).tolist() if len(self.children_) else [0]

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
        low, high = self.distances_[[0, -1]] if k > 1 else (0.0, 0.0)
        along, across = np.zeros(2 * k - 1), np.empty(2 * k - 1)
        along[k:] = 1 - (1 - LEAF) * (high - self.distances_) / ((high - low) or 1.0)
        across[self.leaves] = np.arange(k)
        for node, pair in enumerate(self.children_, k):
            across[node] = across[pair].mean()
        # From one child to the other, by way of their node.
        first, second = self.children_.T
        x = along[k:] * np.ones((4, 1))
        x[0], x[3] = along[first], along[second]
        return np.stack([x, across[[first, first, second, second]]]).transpose(2, 1, 0)

    def renumbered(self, numbers: IntArray) -> "ClusterTree":
        """The same tree, whose clusters have new numbers."""
        nodes = np.append(numbers, np.arange(len(numbers), 2 * len(numbers)))
        weight = self.cluster_weight_[np.argsort(numbers)]
        return replace(self, children_=nodes[self.children_], cluster_weight_=weight)


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


def _merge(costs: Array, cluster_weight: Array, ward: bool = False) -> tuple[IntArray, Array]:
    """The pairs of nodes of least cost, heavier ones first, and the costs, which never fall.

    The cost of merging with a union is the mean of those with its parts, or follows from them by
    Ward's method (Lance and Williams).
    """
    k, weight = len(costs), np.maximum(cluster_weight, NO_WEIGHT)
    costs, nodes = costs.astype(np.float64), np.arange(k)
    np.fill_diagonal(costs, np.inf)
    children, least = np.empty((k - 1, 2), np.intp), np.empty(k - 1)
    for step in range(k - 1):
        a, b = divmod(int(costs.argmin()), k)
        least[step] = costs[a, b]
        children[step] = nodes[[a, b] if weight[a] >= weight[b] else [b, a]]
        sums = weight[a] * costs[a] + weight[b] * costs[b]
        if ward:
            sums += weight * (costs[a] + costs[b] - least[step])
        weight[a] += weight[b]
        costs[a] = costs[:, a] = sums / (weight[a] + ward * weight)
        costs[b] = costs[:, b] = costs[a, a] = np.inf
        nodes[a] = k + step
    # Rounding may let a mean fall.
    return children, np.maximum.accumulate(least)
