"""Candidates of a search that differ by their number of clusters alone: a line in a picture."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from kernelmeans._text import shortened
from kernelmeans._typing import IntArray

# Most letters of a name.
_MOST_LETTERS = 40


class Line(NamedTuple):
    """Candidates in the order of their numbers of clusters, and what they have in common."""

    name: str
    candidates: IntArray


def lines_of(results: Mapping[str, Any]) -> list[Line]:
    """All lines of a search; a name has the parameters by which lines differ.

    Examples
    --------
    >>> from kernelmeans.plotting.lines import lines_of
    >>> params = [{"n_clusters": k, "gamma": g} for g in (0.1, 1) for k in (2, 3)]
    >>> for line in lines_of({"params": params, "n_clusters": [2, 3, 2, 3]}):
    ...     print(line.name, line.candidates)
    gamma 0.1 [0 1]
    gamma 1 [2 3]
    """
    n_clusters, groups = np.asarray(results["n_clusters"]), dict[str, list[int]]()
    others = [
        {name: str(value) for name, value in params.items() if not _is_number(name, value, k)}
        for params, k in zip(results["params"], n_clusters, strict=True)
    ]
    for candidate, params in enumerate(others):
        differing = {
            name.split("__")[-1]: value
            for name, value in params.items()
            if any(one.get(name) != value for one in others)
        }
        name = ", ".join(f"{name} {value}" for name, value in differing.items())
        groups.setdefault(name, []).append(candidate)
    return [
        Line(shortened(name, _MOST_LETTERS), np.array(sorted(group, key=lambda i: n_clusters[i])))
        for name, group in groups.items()
    ]


def _is_number(name: str, value: Any, n_clusters: int) -> bool:
    """Whether a parameter is the number of clusters, which mixtures call components."""
    return name.split("__")[-1] in ("n_clusters", "n_components") and value == n_clusters


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
    lines = lines_of(search.results_)
    return next(line for line in lines if found in line.candidates), int(found)
