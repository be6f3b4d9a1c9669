"""From the scores of the candidates to a choice."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from kernelmeans._typing import Array, BoolArray, IntArray

#: Mean Jaccard overlap from which on a cluster counts as found again (Hennig 2007).
FOUND_AGAIN = 0.75
#: Prediction strength from which on clusters predict new rows (Tibshirani and Walther 2005).
PREDICTIVE = 0.8
#: Standard errors by which a stability exceeds that of data without clusters.
STANDARD_ERRORS = 2.0


def validity(results: Mapping[str, Any], scoring: str) -> BoolArray:
    """Which candidates have clusters that would be found again.

    Parameters
    ----------
    results : dict of ndarray of shape (n_candidates,)
        The columns ``min_jaccard`` and ``mean_prediction_strength``.
    scoring : str
        As in `ClusterSearch`.

    Returns
    -------
    ndarray of bool of shape (n_candidates,)
        By the thresholds of Hennig (2007), or of Tibshirani and Walther (2005). A score that is
        NaN is not valid.
    """
    if scoring == "prediction_strength":
        strong: BoolArray = np.asarray(results["mean_prediction_strength"]) >= PREDICTIVE
        return strong
    found: BoolArray = np.asarray(results["min_jaccard"]) >= FOUND_AGAIN
    return found


def preference(results: Mapping[str, Any], scoring: str) -> IntArray:
    """Candidates that may be chosen, the best one first.

    Stability falls with the number of clusters, for chance as for truth. A threshold does not: so
    the largest number of clusters of which all are found again is chosen, and the most stable
    kernel at that number.

    Parameters
    ----------
    results : dict of ndarray of shape (n_candidates,)
        The columns ``n_clusters``, ``mean_stability``, ``neighbor_consistency``, and what
        ``scoring`` needs.
    scoring : str
        As in `ClusterSearch`: thresholds for ``"jaccard"`` and ``"prediction_strength"``, else a
        column ``mean_<scoring>`` or ``<scoring>`` of which the largest value is best.

    Returns
    -------
    ndarray of int
        Indices of candidates. It is empty if none is valid: there is one cluster then.
    """
    n_clusters = np.asarray(results["n_clusters"])
    stability, consistency = results["mean_stability"], results["neighbor_consistency"]
    keys: list[Array]
    if scoring not in ("jaccard", "prediction_strength"):
        score = results.get(f"mean_{scoring}", results.get(scoring))
        keys, allowed = [score, consistency], ~np.isnan(score)
    elif (n_clusters == n_clusters[0]).all():
        # A kernel is chosen, not a number of clusters.
        keys, allowed = [stability, consistency], ~np.isnan(stability)
    else:
        keys, allowed = [n_clusters, stability, consistency], validity(results, scoring)
    best_first = np.lexsort([-key for key in reversed(keys)])
    chosen: IntArray = best_first[allowed[best_first]]
    return chosen


def exceeds(stability: float, reference: Array) -> bool:
    """Whether a stability is beyond that of data without clusters.

    Parameters
    ----------
    stability : float
        Mean stability of a candidate.
    reference : ndarray of shape (n_kinds, n_draws)
        Stability on data without clusters, of each kind.

    Returns
    -------
    bool
        True if it exceeds the mean of each kind by `STANDARD_ERRORS` of that mean.
    """
    errors = reference.std(axis=1, ddof=1) / np.sqrt(reference.shape[1])
    return bool((stability > reference.mean(axis=1) + STANDARD_ERRORS * errors).all())
