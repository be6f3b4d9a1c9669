"""Candidates of a search that differ by their number of clusters alone: a line in a picture."""

from typing import Any, NamedTuple

import numpy as np

from kernelmeans._text import shortened
from kernelmeans._typing import IntArray
from kernelmeans.search.candidates import clusters_parameter

# Most letters of a name.
_MOST_LETTERS = 28


class Line(NamedTuple):
    """Candidates in the order of their numbers of clusters, and what they have in common."""

    name: str
    candidates: IntArray


def lines_of(search: Any) -> list[Line]:
    """All lines of a search; a name has the parameters by which lines differ."""
    n_clusters = np.asarray(search.results_["n_clusters"])
    number, groups = clusters_parameter(search.estimator), dict[str, list[int]]()
    others = [
        {name: str(value) for name, value in params.items() if name != number}
        for params in search.results_["params"]
    ]
    for candidate, params in enumerate(others):
        differing = {
            name.split("__")[-1]: value
            for name, value in params.items()
            if any(one.get(name) != value for one in others)
        }
        text = ", ".join(f"{name} {value}" for name, value in differing.items())
        groups.setdefault(text, []).append(candidate)
    return [
        Line(shortened(text, _MOST_LETTERS), np.array(sorted(group, key=n_clusters.__getitem__)))
        for text, group in groups.items()
    ]


def with_choice(search: Any, candidate: int | None) -> tuple[Line, int]:
    """A candidate, the chosen one when None, and the line that it belongs to.

    Raises
    ------
    ValueError
        If one cluster was chosen, or there is no such candidate.
    """
    n_candidates = len(search.results_["params"])
    found = search.best_index_ if candidate is None else candidate
    if found is None:
        raise ValueError(
            "candidate: no clusters would be found again, so none are chosen; give the index of a "
            f"candidate, 0 to {n_candidates - 1}."
        )
    if not 0 <= found < n_candidates:
        raise ValueError(f"candidate={found} should be an index from 0 to {n_candidates - 1}.")
    lines = lines_of(search)
    return next(line for line in lines if found in line.candidates), int(found)
