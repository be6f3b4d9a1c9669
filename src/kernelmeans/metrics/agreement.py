"""How far clusterings of the same rows agree."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike
from sklearn.metrics import adjusted_rand_score, rand_score

from kernelmeans._labels import encoded
from kernelmeans._typing import Array, IntArray


def stability(labels_a: ArrayLike, labels_b: ArrayLike, *, corrected: bool = True) -> float:
    """Agreement of two clusterings of the same rows on the pairs that belong together.

    Two clusterings disagree on a pair of rows if it is in one cluster in the first and in two in
    the second, or the reverse. The fraction d of such pairs is the instability of Ben-Hur,
    Elisseeff and Guyon (2002). It is small if clusters are very many or unequal, whatever the data.
    Haslbeck and Wulff (2020) therefore divide it by the fraction that is expected of random
    clusterings with clusters of these sizes, e = a (1 - b) + (1 - a) b, where a and b are the
    fractions of pairs in one cluster. The corrected stability is 1 - d / e. That is Cohen's kappa
    of the pairs, which equals the adjusted Rand index (Warrens 2008), and is computed by
    scikit-learn's function.

    Parameters
    ----------
    labels_a, labels_b : array-like of shape (n_rows,)
        Two labels of each row, for example predicted by models of two halves of the data. They can
        be numbers or texts, and clusters can be numbered differently.
    corrected : bool, default=True
        Whether to correct for the sizes of clusters. If not, it is 1 - d, the Rand index.

    Returns
    -------
    stability : float
        1 if the clusterings are equal, up to the names of clusters. About 0 if they are as alike as
        random ones; it can be negative. Without the correction it lies between 0 and 1.

    Raises
    ------
    ValueError
        If labels are missing, or if the numbers of labels differ.

    Notes
    -----
    Two clusterings with a single cluster are equal, and have a stability of 1. A single cluster
    against several has a corrected stability of 0. Some versions of the R package cstab subtract e
    and do not divide by it.

    References
    ----------
    Ben-Hur, Elisseeff and Guyon (2002), A stability based method for discovering structure in
    clustered data.

    Haslbeck and Wulff (2020), Estimating the number of clusters via a corrected clustering
    instability.

    Warrens (2008), On the equivalence of Cohen's kappa and the Hubert-Arabie adjusted Rand index.

    Examples
    --------
    Of six pairs these disagree on one, and 17 / 36 of the pairs are expected.

    >>> from kernelmeans.metrics import stability
    >>> round(stability([0, 0, 1, 1], ["a", "a", "b", "c"], corrected=False), 3)
    0.833
    >>> round(stability([0, 0, 1, 1], ["a", "a", "b", "c"]), 3)
    0.571
    """
    _, first = encoded("labels_a", labels_a)
    _, second = encoded("labels_b", labels_b, len(first))
    return float((adjusted_rand_score if corrected else rand_score)(first, second))


def prediction_strength(labels: ArrayLike, predicted: ArrayLike) -> float:
    """Fraction of pairs of the worst cluster that a model of other rows keeps together.

    For each cluster of ``labels`` this is the fraction of the pairs of its rows that are in one
    cluster of ``predicted``. The prediction strength is the lowest of these (Tibshirani and Walther
    2005, section 2). They choose the largest number of clusters whose mean over splits of the
    data is at least 0.8 or 0.9, which can be 1.

    Parameters
    ----------
    labels : array-like of shape (n_rows,)
        Clusters of the rows by a model that was fitted to them.
    predicted : array-like of shape (n_rows,)
        Clusters of the same rows by a model that was fitted to other rows.

    Returns
    -------
    prediction_strength : float
        Between 0 and 1. It is 1 for a single cluster in ``predicted``. It is not symmetric.

    Raises
    ------
    ValueError
        If labels are missing, or if the numbers of labels differ.

    Notes
    -----
    A cluster of one row has no pairs and counts as 1, as in the R package fpc
    (``prediction.strength``).

    References
    ----------
    Tibshirani and Walther (2005), Cluster validation by prediction strength.

    Examples
    --------
    Of the second cluster one pair out of three is kept together.

    >>> from kernelmeans.metrics import prediction_strength
    >>> round(prediction_strength([0, 0, 1, 1, 1], [1, 1, 0, 0, 1]), 3)
    0.333
    """
    _, own = encoded("labels", labels)
    _, other = encoded("predicted", predicted, len(own))
    cluster, _, count = _overlaps(own, other)
    size = np.bincount(own)
    kept = np.bincount(cluster, weights=count * (count - 1))
    return float(np.divide(kept, size * (size - 1), out=np.ones(len(size)), where=size > 1).min())


def jaccard_stability(labels: ArrayLike, others: Iterable[ArrayLike]) -> Array:
    """How well each cluster is found again in other clusterings, as a mean Jaccard coefficient.

    The Jaccard coefficient of two clusters is the number of rows in both, divided by the number of
    rows in at least one. In another clustering a cluster has the largest coefficient with any
    cluster there (Hennig 2007). Rows that this clustering has not seen do not count. By
    his rule of thumb, a mean below 0.6 is no cluster, one of 0.75 or more a valid one, and one of
    0.85 or more a highly stable one.

    Parameters
    ----------
    labels : array-like of shape (n_rows,)
        The clusters that are looked for.
    others : iterable of array-like of shape (n_rows,)
        Clusterings of the same rows, for example by models of subsamples. Rows with a negative
        number have not been seen.

    Returns
    -------
    jaccard : ndarray of shape (n_clusters,)
        The mean over the clusterings that have seen at least one row of the cluster; NaN if none
        has. The order is that of the sorted labels.

    Raises
    ------
    ValueError
        If labels are missing, if there is no other clustering, or if one has another number of
        rows.

    Notes
    -----
    The R package fpc (``clusterboot``) counts a clustering that has seen no row of a cluster as 0.

    References
    ----------
    Hennig (2007), Cluster-wise assessment of cluster stability.

    Examples
    --------
    >>> from kernelmeans.metrics import jaccard_stability
    >>> jaccard_stability([0, 0, 1, 1], [[5, 5, 7, 7], [0, 1, 1, 1], [3, 3, -1, -1]]).round(2)
    array([0.83, 0.83])
    """
    _, own = encoded("labels", labels)
    best = [
        _best_jaccard(own, *encoded(f"others[{place}]", other, len(own)))
        for place, other in enumerate(others)
    ]
    if not best:
        raise ValueError("others holds no clustering: give at least one, of the same rows.")
    return mean_seen(np.array(best))


def mean_seen(overlaps: Array) -> Array:
    """Mean of each cluster over the clusterings that have seen it; NaN if none has."""
    seen = ~np.isnan(overlaps)
    with np.errstate(invalid="ignore"):
        mean: Array = np.where(seen, overlaps, 0).sum(axis=0) / seen.sum(axis=0)
    return mean


def _best_jaccard(own: IntArray, distinct: Any, codes: IntArray) -> Array:
    """Largest Jaccard coefficient of each cluster, or NaN if none of its rows has been seen."""
    best = np.full(own.max() + 1, np.nan)
    first = np.count_nonzero(distinct < 0) if distinct.dtype.kind in "if" else 0
    if first < len(distinct):
        own, codes = own[codes >= first], codes[codes >= first]
        i, j, both = _overlaps(own, codes)
        either = np.bincount(own)[i] + np.bincount(codes)[j] - both
        np.fmax.at(best, i, both / either)
    return best


def _overlaps(a: IntArray, b: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """A cluster of each clustering, and the number of rows in both, for all that share rows."""
    table = scipy.sparse.coo_array((np.ones(len(a), dtype=np.int64), (a, b))).tocsr().tocoo()
    return *table.coords, table.data
