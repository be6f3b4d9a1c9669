"""What a report says of a clustering, in numbers that JSON can hold."""

import hashlib
import platform
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy
import sklearn
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix

import kernelmeans
from kernelmeans._typing import Array, IntArray
from kernelmeans.metrics.labels import encoded
from kernelmeans.solver import Ending

#: A row is near the border if the second centroid is farther than its own by less than this.
NEAR_BORDER = 0.1
#: Cells of the map from left to right, and from top to bottom.
CELLS = 40, 28
#: Columns of a histogram of margins, and values of a silhouette.
MARGIN_BINS, QUANTILES = 20, 21
#: Most steps of a trace that are kept, most restarts, and most classes of a cluster.
MOST_STEPS, MOST_RESTARTS, MOST_CLASSES = 200, 20, 3


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
    second = others.argmin(axis=1)
    farther = others[rows, second]
    margins = np.clip(1 - own / np.where(farther > 0, farther, np.inf), 0, 1)
    margins[farther == 0] = 0
    near = farther < (1 + NEAR_BORDER) * own
    near |= farther == 0
    found: list[dict[str, Any] | None] = []
    for cluster in range(distances.shape[1]):
        members = labels == cluster
        if not members.any():
            found.append(None)
            continue
        counts = np.bincount(second[members])
        found.append(
            {
                "rows": int(members.sum()),
                "median": float(np.median(margins[members])),
                "near_border": float(near[members].mean()),
                "second": int(counts.argmax()),
                "second_fraction": float(counts.max() / members.sum()),
                "histogram": _shares(margins[members], MARGIN_BINS, 0.0, 1.0),
            }
        )
    return found


def silhouettes(values: Array, labels: IntArray, n_clusters: int) -> list[dict[str, Any] | None]:
    """For each cluster the quantiles of its silhouettes, from the highest to the lowest."""
    found: list[dict[str, Any] | None] = []
    for cluster in range(n_clusters):
        own = values[labels == cluster]
        found.append(
            {
                "rows": len(own),
                "mean": float(own.mean()),
                "below_zero": float((own < 0).mean()),
                "quantiles": np.quantile(own, np.linspace(1, 0, QUANTILES)).tolist(),
            }
            if len(own)
            else None
        )
    return found


def cells(points: Array, labels: IntArray) -> dict[str, Any]:
    """Counts of rows in the cells of a grid, every second line of which is shifted by half a cell.

    Parameters
    ----------
    points : ndarray of shape (n_rows, 2)
        Places of rows.
    labels : ndarray of shape (n_rows,)
        Their clusters.

    Returns
    -------
    dict
        ``cells``, lists of x, y (both between 0 and 1), cluster and count; ``middles``, for each
        cluster its number and the cell nearest to the median.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    unit = (points - low) / np.where(high > low, high - low, 1)
    unit[:, high == low] = 0.5
    across, down = CELLS
    line = np.minimum((unit[:, 1] * down).astype(int), down - 1)
    shift = 0.5 * (line % 2)
    column = np.clip(np.floor(unit[:, 0] * (across - 0.5) + 0.5 - shift), 0, across - 1).astype(int)
    keys, counts = np.unique(np.stack([line, column, labels], axis=1), axis=0, return_counts=True)
    x = (keys[:, 1] + 0.5 * (keys[:, 0] % 2)) / (across - 0.5)
    y = (keys[:, 0] + 0.5) / down
    middles = []
    for cluster in np.unique(labels):
        own = keys[:, 2] == cluster
        median = np.median(unit[labels == cluster], axis=0)
        nearest = np.argmin((x[own] - median[0]) ** 2 + (y[own] - median[1]) ** 2)
        middles.append([int(cluster), _rounded(x[own][nearest]), _rounded(y[own][nearest])])
    marks = zip(x, y, keys[:, 2], counts, strict=True)
    placed = [
        [_rounded(a), _rounded(b), int(cluster), int(count)] for a, b, cluster, count in marks
    ]
    return {"cells": placed, "middles": middles}


def _rounded(value: Any) -> float:
    return round(float(value), 4)


def _shares(values: Array, bins: int, low: float, high: float) -> list[float]:
    """Fractions of the values in bins of equal width; the outer ones hold what lies beyond."""
    counts, _ = np.histogram(np.clip(values, low, high), bins, (low, high))
    return [round(one, 4) for one in (counts / max(1, counts.sum())).tolist()]


def trace(model: Any) -> dict[str, Any]:
    """Objective and power at the steps of a fit, at most `MOST_STEPS` of them, and its restarts."""
    objective = np.asarray(model.objective_history_, dtype=float)
    power = np.asarray(model.power_history_, dtype=float)
    kept = np.unique(np.linspace(0, len(power) - 1, MOST_STEPS).astype(int))
    result, critical = model.result_, getattr(model, "critical_power_", None)
    restarts: list[dict[str, Any]] = [
        {"cost": float(cost), "steps": int(steps), "ending": Ending(int(ending)).name.lower()}
        for cost, steps, ending in zip(result.cost, result.n_iter, result.endings, strict=True)
    ]
    return {
        "objective": objective[kept].tolist(),
        "power": [float(one) if np.isfinite(one) else None for one in power[kept]],
        "steps": int(model.n_iter_),
        "soft_steps": int(np.isfinite(power).sum()),
        "critical_power": None if critical is None else float(critical),
        "cost": float(model.inertia_),
        "restarts": sorted(restarts, key=lambda one: one["cost"])[:MOST_RESTARTS],
        "n_restarts": len(restarts),
    }


def agreement(labels_true: Any, labels: IntArray, n_clusters: int) -> dict[str, Any]:
    """Agreement with given labels, and the most frequent of them in each cluster."""
    distinct, codes = encoded("labels_true", labels_true, len(labels))
    counts = contingency_matrix(labels, codes)
    found = dict(zip(np.unique(labels).tolist(), counts, strict=True))
    classes = []
    for cluster in range(n_clusters):
        own = found.get(cluster, np.zeros(len(distinct)))
        first = np.argsort(-own, kind="stable")[:MOST_CLASSES]
        classes.append(
            [[str(distinct[j]), float(own[j] / own.sum())] for j in first.tolist() if own[j]]
        )
    return {
        "ari": float(adjusted_rand_score(codes, labels)),
        "nmi": float(normalized_mutual_info_score(codes, labels)),
        "n_classes": len(distinct),
        "classes": classes,
    }


def stability(search: Any, labels: IntArray, n_clusters: int) -> dict[str, Any]:
    """Scores of the candidates of a search, and for each cluster how well it is found again.

    Clusters of the search are matched with those of the model by the rows that they share.
    """
    results, best = search.results_, search.best_index_
    names = ["n_clusters", "mean_stability", "min_jaccard", "valid"]
    candidates = [
        {
            **{name: results[name][row].item() for name in names},
            "others": {
                name: value for name, value in params.items() if not name.endswith("n_clusters")
            },
            "chosen": row == best,
        }
        for row, params in enumerate(results["params"])
    ]
    overlaps = None
    used = search.rows_used_
    if best is not None and len(labels) == search.n_rows_:
        theirs = search.labels_by_candidate_[best]
        counts = np.zeros((n_clusters, max(n_clusters, int(theirs.max()) + 1)))
        np.add.at(counts, (labels[used], theirs), 1)
        known = np.asarray(results["jaccard"][best], dtype=float)
        matched = linear_sum_assignment(-counts)[1]
        if counts.shape[0] == counts.shape[1] == len(known):
            overlaps = [float(known[other]) for other in matched]
    return {
        "verdict": search.verdict_,
        "rows_used": int(search.n_rows_used_),
        "splits": int(search.n_splits_),
        "candidates": candidates,
        "jaccard": overlaps,
    }


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that decide the labels."""
    packages = (kernelmeans, np, scipy, sklearn)
    return {"Python": platform.python_version()} | {
        one.__name__.replace("sklearn", "scikit-learn"): one.__version__ for one in packages
    }


def digest(columns: Sequence[tuple[str, Any]]) -> str:
    """SHA-256 of the columns of a table: of their names and values, in their order."""
    total = hashlib.sha256()
    for name, values in columns:
        found = np.ascontiguousarray(values)
        total.update(f"{name}\0{found.dtype}\0{len(found)}\0".encode(errors="replace"))
        if found.dtype == object:
            total.update("\0".join(map(str, found.tolist())).encode(errors="replace"))
        else:
            total.update(found.reshape(-1).view("u1").data)
    return total.hexdigest()
