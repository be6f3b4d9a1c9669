"""Candidates of a search that differ by their number of clusters alone: a line in a picture."""

from typing import Any, NamedTuple

import numpy as np

from kernelmeans._text import shortened
from kernelmeans._typing import IntArray
from kernelmeans.search.candidates import Candidate

# Most letters of a name: three fit beside each other.
_MOST_LETTERS = 24


class Line(NamedTuple):
    """Candidates in the order of their numbers of clusters, and what they have in common."""

    name: str
    candidates: IntArray


def lines_of(search: Any) -> list[Line]:
    """All lines of a search; a name has the parameters by which lines differ."""
    n_clusters, group = search.results_["n_clusters"], search.results_["group"]
    params = [Candidate.of(search.estimator, one).others for one in search.results_["params"]]
    lines = []
    for first in np.unique(group):
        name = ", ".join(
            f"{name.split('__')[-1]} {value}"
            for name, value in sorted(params[first].items())
            if any(str(one.get(name)) != str(value) for one in params)
        )
        members = np.flatnonzero(group == first)
        members = members[np.argsort(n_clusters[members], kind="stable")]
        lines.append(Line(shortened(name, _MOST_LETTERS), members))
    return lines


def with_choice(search: Any, candidate: int | None) -> tuple[Line, int]:
    """A candidate, the chosen one when None, and the line that it belongs to.

    Raises
    ------
    ValueError
        If one cluster was chosen, or there is no such candidate, or it failed.
    """
    n_candidates = len(search.results_["params"])
    found = search.best_index_ if candidate is None else candidate
    if found is None:
        first = "candidate: no clusters would be found again, so none are chosen; give an index"
        raise ValueError(f"{first}, 0 to {n_candidates - 1}.")
    if not 0 <= found < n_candidates:
        raise ValueError(f"candidate={found} should be an index from 0 to {n_candidates - 1}.")
    if (search.labels_by_candidate_[found] < 0).all():
        raise ValueError(f"candidate={found} has failed, and has no clusters; give another.")
    lines = lines_of(search)
    return next(line for line in lines if found in line.candidates), int(found)
