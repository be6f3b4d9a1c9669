"""From the scores of the candidates to a choice."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kernelmeans._typing import Array, BoolArray

#: Mean Jaccard overlap from which on a cluster counts as found again (Hennig 2007).
FOUND_AGAIN = 0.75
#: Scores from which on candidates are valid. With a prediction strength of 0.8 clusters predict
#: new rows (Tibshirani and Walther 2005).
THRESHOLDS = {"min_jaccard": FOUND_AGAIN, "mean_prediction_strength": 0.8}
#: Fraction of the best stability, and of the best Jaccard overlap, that a choice reaches.
REACHED = 0.81
#: Part of the way from the stability of data without clusters to 1 that a choice exceeds.
BEYOND = 0.5
#: Fraction of the draws of data without clusters that may be more stable than a choice.
LUCKY = 0.05
#: Rows from which on the draws count one by one. Halves of fewer often agree entirely by chance.
COMPARED_ROWS = 200


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
    column = "mean_prediction_strength" if scoring == "prediction_strength" else "min_jaccard"
    valid: BoolArray = np.asarray(results[column]) >= THRESHOLDS[column]
    return valid


def queues(results: Mapping[str, Any], scoring: str) -> list[list[int]]:
    """Candidates that may be chosen of each kernel, the best one first.

    Stability falls with the number of clusters, for chance as for truth. A threshold does not. So
    the best candidate of a kernel is the one with the most clusters of which all are found again,
    unless another number is found again more surely, by the fraction `REACHED`: halves of a cluster
    are often found again, but never as often as the whole. More clusters than these come first
    if they are far more stable, and are found again on average.

    Parameters
    ----------
    results : dict
        The columns ``n_clusters``, ``group``, what ``scoring`` needs, and maybe ``separate``:
        whether the clusters are the pieces of X. Fewer clusters than these are in no list of
        ``"jaccard"``.
    scoring : str
        As in `ClusterSearch`: thresholds for ``"jaccard"`` and ``"prediction_strength"``, else a
        column ``mean_<scoring>`` or ``<scoring>`` of which the largest value is best.

    Returns
    -------
    list of list of int
        Indices of candidates. A list is for candidates that differ in the number of clusters
        alone, or for all candidates where a score is the rule. A single cluster is in no list: it
        is always found again, and the answer if nothing else is.
    """
    n_clusters = np.asarray(results["n_clusters"])
    several = n_clusters > 1
    if scoring not in ("jaccard", "prediction_strength"):
        score = np.asarray(results.get(f"mean_{scoring}", results.get(scoring)))
        # Of equal scores that of fewer clusters is first, whatever the order of the grid.
        best_first = np.lexsort((n_clusters, -score))
        return [best_first[(several & ~np.isnan(score))[best_first]].tolist()]
    if np.ptp(n_clusters) == 0:
        # With a single number of clusters only the kernel is chosen.
        known = several & ~np.isnan(results["mean_stability"])
        return [[row] for row in np.flatnonzero(known).tolist()]
    kernels: dict[int, list[int]] = {}
    valid = several & validity(results, scoring)
    for row in np.argsort(-n_clusters, kind="stable").tolist():
        kernels.setdefault(results["group"][row], []).extend([row] * bool(valid[row]))
    if scoring == "prediction_strength":
        return list(kernels.values())
    return [
        [*_far_surer(results, group, rows), *_not_worse(results, rows)]
        for group, rows in kernels.items()
    ]


def _far_surer(results: Mapping[str, Any], group: int, valid: list[int]) -> list[int]:
    """Candidates of more clusters than are valid. They lose some, but are far more stable.

    Where many rows belong to no cluster, small clusters get others of these rows in each half. So
    they are lost. Fewer clusters join true ones, and are not stable.
    """
    stability, numbers = results["mean_stability"], np.asarray(results["n_clusters"])
    most_stable = max([FOUND_AGAIN, *(stability[row] for row in valid)])
    if exceeds(most_stable, FOUND_AGAIN):
        # Nothing is far from a stability of nearly 1.
        return []
    more = numbers > max([1, *numbers[valid]])
    more &= np.asarray(results["group"]) == group
    more &= np.asarray(results["mean_jaccard"]) >= FOUND_AGAIN
    rows = [row for row in np.flatnonzero(more).tolist() if exceeds(stability[row], most_stable)]
    return sorted(rows, key=lambda row: (-stability[row], numbers[row]))


def _not_worse(results: Mapping[str, Any], valid: list[int]) -> list[int]:
    """Candidates without those that another number of clusters is clearly better than.

    Pieces of X always stay, and are the last: fewer clusters would join what is not connected.
    """
    rows, separate = valid, results.get("separate")
    for name in ("mean_stability", "min_jaccard"):
        least = REACHED * max((results[name][row] for row in rows), default=0.0)
        rows = [row for row in rows if results[name][row] >= least]
    pieces = [row for row in valid if separate is not None and separate[row]]
    if not pieces:
        return rows
    more = valid[: valid.index(pieces[0])]
    return [*(row for row in rows if row in more), pieces[0]]


def best_of(results: Mapping[str, Any], rows: Sequence[int]) -> int | None:
    """The best of several kernels, each at a number of clusters of its own.

    Parameters
    ----------
    results : dict of ndarray of shape (n_candidates,)
        The columns ``params``, ``n_clusters``, ``group``, ``neighbor_consistency`` and
        ``mean_stability``.
    rows : sequence of int
        One candidate of each kernel.

    Returns
    -------
    int or None
        The candidate of the kernel whose clusters keep near neighbours together best; stability
        breaks ties. Wide kernels are stable, whether they fit or not. Fewer clusters keep more
        neighbours together, so kernels are compared at the same numbers: those of all these
        candidates that every kernel has tried. None if there is no candidate.
    """
    n_clusters, groups = np.asarray(results["n_clusters"]), results["group"]
    tried = {(groups[row], k): row for row, k in enumerate(n_clusters)}
    shared = [k for k in n_clusters[[*rows]] if all((groups[row], k) in tried for row in rows)]

    def worth(row: int) -> tuple[float, float]:
        alike = [tried[groups[row], k] for k in shared] or [row]
        consistency = np.nan_to_num(results["neighbor_consistency"][alike]).mean()
        return float(consistency), float(np.nan_to_num(results["mean_stability"][row]))

    # The first of equal candidates wins, so their order must not be that of the grid.
    ordered = sorted(rows, key=lambda row: repr(sorted(results["params"][row].items())))
    return max(ordered, key=worth, default=None)


def exceeds(stability: float, reference: Array | float) -> bool:
    """Whether a stability is well beyond that of data without clusters.

    One table without clusters is more stable than another by chance. So no test of means, however
    many draws there are, keeps such tables out.

    Parameters
    ----------
    stability : float
        Mean stability of a candidate.
    reference : float or ndarray of shape (n_kinds, n_draws)
        Stability on data without clusters, of each kind.

    Returns
    -------
    bool
        True if it is more than half of the way from the mean of each kind to 1.
    """
    means = np.atleast_2d(reference).mean(axis=1)
    return bool((stability - means > BEYOND * (1 - means)).all())


def is_rare(stability: float, draws: Array, n_rows: int) -> bool:
    """Whether hardly any data without clusters are more stable.

    A long table often has a sparser place near its middle, where all halves cut it. Its stability
    is far beyond the mean of others like it.

    Parameters
    ----------
    stability : float
        Mean stability of a candidate.
    draws : ndarray of shape (n_kinds, n_draws)
        Stability on draws of data without clusters.
    n_rows : int
        Number of rows in each. Draws of fewer than `COMPARED_ROWS` rows tell nothing.

    Returns
    -------
    bool
        True if of twenty draws at most one is more stable.
    """
    return n_rows < COMPARED_ROWS or bool(np.mean(draws > stability) <= LUCKY)
