"""The columns of `ClusterSearch.results_`, and the answer in words."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.stats import rankdata

from kernelmeans._dialect import option
from kernelmeans._text import counted
from kernelmeans._typing import Array, IntArray
from kernelmeans.metrics.agreement import mean_seen
from kernelmeans.search.bounds import Bounds
from kernelmeans.search.record import Record, Scoring, name_of
from kernelmeans.search.rules import exceeds, validity

#: Fewest clusters of which one may be lost. Of many, halves lose the smallest by chance.
LOST = 10
#: Difference of stabilities from which the answer names fewer clusters beside the choice.
SURER = 0.1


def column_of(scoring: Scoring) -> str:
    """The column that holds a score."""
    name = name_of(scoring)
    return {"jaccard": "min_jaccard", "neighbor_consistency": name}.get(name, f"mean_{name}")


def columns_of(record: Record) -> dict[str, Any]:
    """The columns of `ClusterSearch.results_`, from the splits that each candidate has."""
    params = [dict(one.params) for one in record.candidates]
    n_candidates = len(params)
    found: dict[str, Any] = {"params": params}
    for name in sorted({name for one in params for name in one}):
        values = np.ma.MaskedArray(np.empty(n_candidates, dtype=object), mask=True)
        for row, one in enumerate(params):
            if name in one:
                values[row] = one[name]
        found[f"param_{name}"] = values
    found["n_clusters"] = record.n_clusters()
    found["group"] = np.array(record.groups)
    found["n_splits"] = np.array([record.splits_of(row) for row in range(n_candidates)])
    names = ["stability", "prediction_strength", *["score"] * callable(record.scoring)]
    for name in [*names, "fit_time"]:
        table = record.table(name)
        own = [table[:n, row] for row, n in enumerate(found["n_splits"])]
        found[f"mean_{name}"] = np.array([one.mean() if len(one) else np.nan for one in own])
        if name in names:
            found |= {f"split{b}_{name}": row for b, row in enumerate(table)}
            found[f"std_{name}"] = np.array([one.std() if len(one) else np.nan for one in own])
    found["jaccard"] = np.empty(n_candidates, dtype=object)
    found["jaccard"][:] = [mean_seen(record.jaccard(row)) for row in range(n_candidates)]
    for name, of in ("min_jaccard", least), ("mean_jaccard", np.mean):
        found[name] = np.array([of(one) for one in found["jaccard"]])
    for name in ("neighbor_consistency", "inertia", "eigengap"):
        found[name] = record.of_all_rows(name)
    found["mean_reference"] = np.full(n_candidates, np.nan)
    found["separate"] = np.zeros(n_candidates, dtype=bool)
    found["valid"] = validity(found, name_of(record.scoring))
    for name in ("min_jaccard", "neighbor_consistency", *(f"mean_{one}" for one in names)):
        found["rank_" + name.removeprefix("mean_").removeprefix("min_")] = _ranks(found[name])
    return found


def bounds_of(record: Record, columns: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The columns with lower bounds, and with upper bounds, of the means of all splits."""
    low, high, n_all = dict(columns), dict(columns), len(record.splits)
    for name in [name for name in columns if f"std_{name.removeprefix('mean_')}" in columns]:
        table = record.table(name.removeprefix("mean_"))
        every = [
            Bounds.of(table[: record.splits_of(row), row, None], n_all)
            for row in range(table.shape[1])
        ]
        low[name], high[name] = np.transpose([(one.low[0], one.high[0]) for one in every])
    every = [Bounds.of(record.jaccard(row), n_all) for row in range(len(columns["params"]))]
    for name, of in ("min_jaccard", least), ("mean_jaccard", np.mean):
        low[name], high[name] = np.transpose([(of(one.low), of(one.high)) for one in every])
    return low, high


def least(jaccard: Array) -> float:
    """The smallest overlap of a cluster, but for those that may be lost."""
    return float(np.nan if np.isnan(jaccard).any() else np.sort(jaccard)[n_lost(len(jaccard))])


def n_lost(n_clusters: int) -> int:
    """Clusters that may be lost: one of ten, two of twenty, and one more of twice as many.

    One in ten of a hundred would let a search go on for ten more clusters than there are.
    """
    return max(0, (2 * n_clusters // LOST).bit_length() - 1)


def in_order(results: Mapping[str, Any], order: IntArray) -> dict[str, Any]:
    """The columns with candidates in another order."""
    return {
        name: [column[row] for row in order] if isinstance(column, list) else column[order]
        for name, column in results.items()
    }


def _ranks(scores: Array) -> IntArray:
    """Ranks from 1 on, as in ``cv_results_``: equal scores have the smallest, NaN the largest."""
    lowest = np.where(np.isnan(scores), -np.inf, scores)
    return np.asarray(rankdata(-lowest, method="min"), dtype=np.int32)


def verdict(
    results: Mapping[str, Any], best: int | None, others: Mapping[str, Any], halved: str
) -> str:
    """The answer of a search in words.

    Parameters
    ----------
    results : mapping
        The columns.
    best : int or None
        The choice.
    others : mapping
        Its parameters but the number of clusters.
    halved : str
        Splits and rows, in words.

    Returns
    -------
    str
        One sentence, without a full stop.
    """
    if best is None:
        alike = not np.isnan(results["mean_reference"]).all()
        none = "no clusters that would" if alike else "no number of clusters that would all"
        lost = "each candidate loses at least one of its clusters"
        why = "data without clusters is nearly as stable" if alike else lost
        why += _words_of_most_stable(results, alike)
        return f"{none} be found again in {halved}: {why}"
    settings = ", ".join(option(name, value) for name, value in others.items())
    chosen = counted(int(results["n_clusters"][best]), "cluster")
    chosen += f" with {settings}" * bool(settings)
    found = "found again" if results["valid"][best] else "the best score, but not all found again,"
    reference = results["mean_reference"][best]
    compared = "not compared with data without clusters"
    if not np.isnan(reference):
        compared = f"data without clusters has a stability of {reference:.2f}"
    if results["separate"][best] and not exceeds(results["mean_stability"][best], reference):
        compared += ", but no near neighbours connect these clusters"
    return (
        f"{chosen}: {found} in {halved}, with stability {results['mean_stability'][best]:.2f}, "
        f"prediction strength {results['mean_prediction_strength'][best]:.2f} and Jaccard overlap "
        f"{results['min_jaccard'][best]:.2f} of {_least_stable(results, best)}; {compared}"
        f"{_more_surely(results, best)}{_more_clusters(results, best)}"
    )


def _least_stable(results: Mapping[str, Any], row: int) -> str:
    """The cluster whose overlap decides."""
    n_clusters = int(results["n_clusters"][row])
    lost = n_lost(n_clusters)
    least = f"of the best {n_clusters - lost} clusters" if lost else "cluster"
    return f"the least stable {least}"


def most_stable(results: Mapping[str, Any]) -> int | None:
    """The place of the most stable candidate where none is chosen; None if all have failed.

    Of candidates that were compared with data without clusters it is the most stable of these.
    Others lose a cluster, and with few splits their scores are rough.

    Parameters
    ----------
    results : mapping
        The columns.

    Returns
    -------
    int or None
        Its row.
    """
    # One cluster is always stable.
    several = np.asarray(results["n_clusters"]) > 1
    compared = several & ~np.isnan(results["mean_reference"])
    among = compared if compared.any() else several
    stability = np.where(among, results["mean_stability"], np.nan)
    return None if np.isnan(stability).all() else int(np.nanargmax(stability))


def _words_of_most_stable(results: Mapping[str, Any], alike: bool) -> str:
    """A remark on the best of candidates that are all refused; empty if all have failed."""
    row = most_stable(results)
    if row is None:
        return ""
    n_clusters = int(results["n_clusters"][row])
    settings = {"n_clusters": n_clusters}
    if np.ptp(results["group"]):
        settings = {name.split("__")[-1]: one for name, one in results["params"][row].items()}
    asked = ", ".join(option(name, value) for name, value in settings.items())
    return (
        f"; the most stable {'of those compared ' * alike}are {counted(n_clusters, 'cluster')}, "
        f"with stability {results['mean_stability'][row]:.2f} and Jaccard overlap "
        f"{results['min_jaccard'][row]:.2f} of {_least_stable(results, row)}"
        f"{', which decides' * (not alike)}; {asked} fits them all the same"
    )


def _more_surely(results: Mapping[str, Any], best: int) -> str:
    """A remark on the fewer clusters that are found again far more surely; empty if none are."""
    stability, numbers = np.asarray(results["mean_stability"]), np.asarray(results["n_clusters"])
    fewer = np.asarray(results["valid"]) & (numbers < numbers[best]) & (numbers > 1)
    fewer &= np.asarray(results["group"]) == results["group"][best]
    # The first of equal ones has the fewest clusters, whatever the order of the grid.
    order = np.lexsort((numbers, -np.where(fewer, stability, -np.inf)))
    surest = int(order[0])
    surer = fewer[surest] and stability[surest] - stability[best] >= SURER
    # Fewer clusters than pieces would join what is not connected.
    if not surer or results["separate"][best]:
        return ""
    return (
        f"; {counted(int(numbers[surest]), 'cluster')} would be found again more surely, with "
        f"stability {stability[surest]:.2f}"
    )


def _more_clusters(results: Mapping[str, Any], best: int) -> str:
    """A remark on the most clusters that are found again too; empty if the choice has most."""
    numbers = np.asarray(results["n_clusters"])
    more = np.asarray(results["valid"]) & (numbers > numbers[best])
    more &= np.asarray(results["group"]) == results["group"][best]
    # Those that data without clusters have refuted do not count.
    more &= np.isnan(results["mean_reference"])
    if not more.any():
        return ""
    row = int(np.argmax(np.where(more, numbers, 0)))
    return (
        f"; {counted(int(numbers[row]), 'cluster')} are found again too, with stability "
        f"{results['mean_stability'][row]:.2f}"
    )
