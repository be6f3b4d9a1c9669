"""What a report says of a clustering, in numbers that JSON can hold."""

from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from kernelmeans._labels import encoded
from kernelmeans._typing import Array, IntArray
from kernelmeans.metrics import match_clusters
from kernelmeans.profiles.rows import NEAR_BORDER

#: Cells of the map from left to right, and from top to bottom.
CELLS = 40, 28
#: Columns of a histogram of margins, and values of a silhouette.
MARGIN_BINS, QUANTILES = 20, 21
#: Most classes of a cluster.
MOST_CLASSES = 3


def certainty(distances: Array, labels: IntArray) -> list[dict[str, Any] | None]:
    """How much nearer rows are to their own centroid than to the second.

    The margin of a row is 1 minus the distance to its own centroid over that to the second: 0 on
    the border of two clusters, 1 on the centroid.

    Parameters
    ----------
    distances : ndarray of shape (n_rows, n_clusters)
        Distances to all centroids, of which there are at least two.
    labels : ndarray of shape (n_rows,)
        Clusters of the rows.

    Returns
    -------
    list of dict or None
        For each cluster its median margin, the fraction of rows near the border, a histogram of
        margins, and the cluster that is second most often; None for a cluster without rows.
    """
    rows = np.arange(len(labels))
    own, others = distances[rows, labels], distances.copy()
    others[rows, labels] = np.inf
    second, farther = others.argmin(axis=1), others.min(axis=1)
    # Rows on two centroids have no margin.
    ratio = np.divide(own, farther, out=np.ones_like(own), where=farther > 0)
    margins, near = np.clip(1 - ratio, 0, 1), ratio * (1 + NEAR_BORDER) > 1

    def of(members: Array) -> dict[str, Any] | None:
        if not (size := int(members.sum())):
            return None
        seconds = np.bincount(second[members])
        counts, _ = np.histogram(margins[members], MARGIN_BINS, (0, 1))
        return {
            "rows": size,
            "median": float(np.median(margins[members])),
            "near_border": float(near[members].mean()),
            "second": int(seconds.argmax()),
            "second_fraction": float(seconds.max() / size),
            "histogram": (counts / size).round(4).tolist(),
        }

    return [of(labels == cluster) for cluster in range(distances.shape[1])]


def silhouettes(values: Array, labels: IntArray, n_clusters: int) -> list[dict[str, Any] | None]:
    """For each cluster the quantiles of its silhouettes, from the highest to the lowest."""

    def of(own: Array) -> dict[str, Any] | None:
        if not len(own):
            return None
        return {
            "mean": float(own.mean()),
            "below_zero": float((own < 0).mean()),
            "quantiles": np.quantile(own, np.linspace(1, 0, QUANTILES)).round(4).tolist(),
        }

    return [of(values[labels == cluster]) for cluster in range(n_clusters)]


def cells(points: Array, labels: IntArray) -> dict[str, Any]:
    """Counts of rows in the cells of a grid, every second line of which is shifted by half a cell.

    Parameters
    ----------
    points : ndarray of shape (n_rows, 2)
        Places of rows.
    labels : ndarray of shape (n_rows,)
        Their clusters; -1 for rows of none.

    Returns
    -------
    dict
        ``cells``, lists of x, y (both between 0 and 1), cluster and count; ``middles``, for each
        cluster its number and the cell nearest to the median.
    """
    low, extent = points.min(axis=0), np.ptp(points, axis=0)
    unit = np.where(extent > 0, (points - low) / np.where(extent > 0, extent, 1), 0.5)
    across, down = CELLS
    line = np.minimum((unit[:, 1] * down).astype(int), down - 1)
    column = np.round(unit[:, 0] * (across - 0.5) - 0.5 * (line % 2)).astype(int)
    column = np.clip(column, 0, across - 1)
    keys, counts = np.unique(np.stack([line, column, labels]), axis=1, return_counts=True)
    x = ((keys[1] + 0.5 * (keys[0] % 2)) / (across - 0.5)).round(4)
    y = ((keys[0] + 0.5) / down).round(4)
    middles = []
    for cluster in np.unique(labels[labels >= 0]).tolist():
        own = np.flatnonzero(keys[2] == cluster)
        median = np.median(unit[labels == cluster], axis=0)
        nearest = own[np.argmin(np.hypot(x[own] - median[0], y[own] - median[1]))]
        middles.append([cluster, x[nearest].item(), y[nearest].item()])
    columns = (one.tolist() for one in (x, y, keys[2], counts))
    return {"cells": list(map(list, zip(*columns, strict=True))), "middles": middles}


def scores(labels_true: Any, labels: IntArray) -> dict[str, float]:
    """How much two labellings agree."""
    return {
        "nmi": float(normalized_mutual_info_score(labels_true, labels)),
        "ari": float(adjusted_rand_score(labels_true, labels)),
    }


def agreement(labels_true: Any, labels: IntArray, n_clusters: int) -> dict[str, Any]:
    """Agreement with given labels, and the most frequent of them in each cluster."""
    distinct, codes = encoded("labels_true", labels_true, len(labels))
    counts = np.zeros((n_clusters, len(distinct)), int)
    placed = labels >= 0
    np.add.at(counts, (labels[placed], codes[placed]), 1)
    first = np.argsort(-counts, axis=1, kind="stable")[:, :MOST_CLASSES]
    return {
        **scores(codes, labels),
        "n_classes": len(distinct),
        "classes": [
            [[str(distinct[j]), float(own[j] / own.sum())] for j in some if own[j]]
            for own, some in zip(counts, first.tolist(), strict=True)
        ],
    }


def found_again(search: Any, labels: IntArray, n_clusters: int) -> list[float | None]:
    """How well each cluster of a model is found again; None where that is not known.

    Clusters have the scores of those of the search that are found among them.
    """
    results, best = search.results_, search.best_index_
    overlaps: list[float | None] = [None] * n_clusters
    same_rows = len(labels) == search.n_rows_
    if best is not None and same_rows and results["n_clusters"][best] == n_clusters:
        theirs = search.labels_by_candidate_[best]
        # The scores are those of the clusters that have rows; noise has none.
        found = (label for label in np.unique(theirs).tolist() if label >= 0)
        scores = dict(zip(found, results["jaccard"][best].tolist(), strict=True))
        for own, other in match_clusters(labels[search.rows_used_], theirs).items():
            if own >= 0:
                overlaps[own] = scores.get(other)
    return overlaps
