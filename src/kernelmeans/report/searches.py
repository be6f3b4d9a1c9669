"""Facts of a search: the results of `kernelmeans choose` and the report print them."""

from collections.abc import Mapping
from typing import Any

from kernelmeans.search.candidates import Candidate

#: Scores of a candidate, and their columns in `ClusterSearch.results_`.
_SCORES = {
    "stability": "mean_stability",
    "stability_deviation": "std_stability",
    "stability_without_clusters": "mean_reference",
    "jaccard": "jaccard",
    "smallest_jaccard": "min_jaccard",
    "prediction_strength": "mean_prediction_strength",
    "neighbor_consistency": "neighbor_consistency",
    "found_again": "valid",
    "splits": "n_splits",
    "seconds_of_a_fit": "mean_fit_time",
}


def found_by(search: Any) -> dict[str, Any]:
    """The answer of a search, and its candidates; scores that are not known are NaN.

    ``chosen`` is the place of a candidate, None for no clusters.
    """
    results, best = search.results_, search.best_index_
    return {
        "rows_used": search.n_rows_used_,
        "splits": search.n_splits_,
        "verdict": search.verdict_,
        "clusters": 1 if best is None else int(results["n_clusters"][best]),
        "chosen": best,
        "candidates": [
            {
                "clusters": int(results["n_clusters"][row]),
                "others": {
                    name: str(one)
                    for name, one in Candidate.of(search.estimator, params).others.items()
                },
                **{name: results[column][row].tolist() for name, column in _SCORES.items()},
            }
            for row, params in enumerate(results["params"])
        ],
    }


def answer(found: Mapping[str, Any]) -> str:
    """The verdict of a search as a sentence."""
    return f"{found['verdict'][0].upper()}{found['verdict'][1:]}."
