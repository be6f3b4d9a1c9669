"""Numbers of clusters that are not given: first a ladder, and then the gaps between its steps."""

from collections.abc import Collection, Mapping, Sequence
from itertools import chain, count, pairwise, takewhile
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid

from kernelmeans._typing import Array
from kernelmeans.search.candidates import content_of

#: Word for the ladder, in place of a list of numbers of clusters.
AUTO = "auto"
#: The largest number of clusters that is tried in any case, if there are enough rows.
FIRST_TOP = 12
#: The largest number of clusters that is tried while none are found again. Twenty topics may be
#: found where no number up to twelve is.
SECOND_TOP = 32
#: Consistencies of near neighbours from which on more clusters are tried. Clusters that leave near
#: neighbours together may be groups of smaller ones. The first is where clusters are found again,
#: the second where none are.
UNCUT, HARDLY_CUT = 0.99, 0.9
#: Difference of stabilities up to which numbers are equally stable. Where rows are off topic, ever
#: more clusters are as stable as the true ones.
LEVEL = 0.01
#: Fewest rows for each cluster in a half of the rows, and fewest distinct rows. Where each distinct
#: row may be a cluster, all are found again.
ROWS_PER_CLUSTER, DISTINCT_PER_CLUSTER = 10, 5
#: Largest gap in which no more numbers are tried, as a fraction of its lower end, and most numbers
#: that are tried in a larger one at a time. The first two hold beside the best steps, where one
#: number tells on which side to go on, the others between them.
NEAR, FAR = (1 / 15, 1), (1 / 5, 3)


def steps(most: int) -> list[int]:
    """The ladder: 2 to 8, 10, 12, 16, 24, 32, 48 and so on.

    Small numbers are all tried: five groups may be found again where neither four nor six are.

    Parameters
    ----------
    most : int
        The largest number, at least 2.

    Returns
    -------
    list of int
        Its steps.

    Examples
    --------
    >>> from kernelmeans.search.ladder import steps
    >>> steps(30)
    [2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24]
    """
    doubled = (k for power in count(4) for k in (2**power, 3 * 2 ** (power - 1)))
    return list(takewhile(lambda k: k <= most, chain((2, 3, 4, 5, 6, 7, 8, 10, 12), doubled)))


def most_clusters(n_rows: int, n_distinct: int | None = None) -> int:
    """The end of the ladder for so many rows; at least 3, because 2 alone is no choice."""
    distinct = n_distinct or n_rows
    many = min(n_rows // 2 // ROWS_PER_CLUSTER, distinct // DISTINCT_PER_CLUSTER)
    return max(3, min(FIRST_TOP, n_rows // 2), many)


class Ladder:
    """Parameters to try, where grids may leave the number of clusters open.

    Parameters
    ----------
    param_grid : dict or list of dict
        As in `ClusterSearch`.
    name : str or None
        The parameter that is the number of clusters.

    Raises
    ------
    TypeError
        If it is neither, or an item of the list is no dict.
    """

    def __init__(
        self, param_grid: Mapping[Any, Any] | Sequence[Mapping[Any, Any]], name: str | None
    ) -> None:
        self._name = name
        self._given: list[dict[str, Any]] = []
        # The other parameters of each kernel whose number of clusters is open.
        self._open: list[dict[str, Any]] = []
        listed = isinstance(param_grid, list)
        for grid in param_grid if listed else [param_grid]:
            if not isinstance(grid, Mapping):
                raise TypeError(
                    "param_grid should be a dict of parameters and their values, or a list of such "
                    f"dicts; got {grid!r}{' in a list' * listed}. Give values as "
                    f"{{{name or 'name'!r}: [...]}}."
                )
            # Model files take no text of NumPy, and the choice is to be plain.
            grid = {
                key: values.tolist() if getattr(values, "ndim", 0) == 1 else values
                for key, values in grid.items()
            }
            if isinstance(grid.get(name), str) and grid[name] == AUTO:
                self._open += ParameterGrid({k: v for k, v in grid.items() if k != name})
            else:
                self._given += ParameterGrid(grid)

    def first(self, most: int = FIRST_TOP) -> list[dict[str, Any]]:
        """Parameters to try first, with at most so many clusters where the number is open."""
        ladder = steps(min(FIRST_TOP, most))
        return self._given + [{**one, self._name: k} for one in self._open for k in ladder]

    @property
    def is_open(self) -> bool:
        """Whether a number of clusters is open."""
        return bool(self._open)

    def more(
        self, results: Mapping[str, Any], best: Collection[int], most: int
    ) -> list[dict[str, Any]]:
        """Parameters to try next.

        Parameters
        ----------
        results : mapping
            The columns of the search so far.
        best : collection of int
            The candidates that would be chosen of each kernel.
        most : int
            The end of the ladder.
        """
        found = []
        for others in self._open:
            kernel = content_of(others)
            rows = [
                row
                for row, one in enumerate(results["params"])
                if content_of({key: one[key] for key in one if key != self._name}) == kernel
            ]
            own = next((row for row in best if row in rows), None)
            found += [{**others, self._name: k} for k in next_numbers(results, rows, own, most)]
        return found


def next_numbers(
    results: Mapping[str, Any], rows: Sequence[int], best: int | None, most: int
) -> list[int]:
    """Numbers of clusters to try next for one kernel.

    The ladder goes on while its last step is found again, or is the peak of stability beyond the
    choice: a choice may be groups of smaller clusters, whose stability rises up to their number. It
    also goes on while clusters hardly part near neighbours. That is for 120 clear topics: each half
    joins other ones to 32 clusters. Up to `SECOND_TOP` it goes on while nothing is found.

    Then gaps are filled. The heads are the choice, the peak of stability, and its peak beyond the
    choice. The gaps are those between heads, and those beside the first and the last. Stability may
    go on rising where rows off topic make ever more clusters; so the truth may be between.

    At last the number that eigenvalues suggest is tried. Of 20 groups that touch no fewer may be
    found again, but the graph has 20 large eigenvalues.

    Parameters
    ----------
    results : mapping
        The columns of a search.
    rows : sequence of int
        The candidates of the kernel.
    best : int or None
        The one that would be chosen.
    most : int
        The end of the ladder.

    Returns
    -------
    list of int
        The numbers, in ascending order; none if the search is over.

    Examples
    --------
    >>> from kernelmeans.search.ladder import next_numbers
    >>> results = {
    ...     "n_clusters": [4, 8, 10, 12],
    ...     "valid": [True, True, False, False],
    ...     "mean_stability": [0.5, 0.8, 0.8, 0.9],
    ...     "neighbor_consistency": [0.9, 0.9, 0.8, 0.7],
    ...     "eigengap": [4, 4, 5, 8],
    ... }
    >>> next_numbers(results, range(4), best=1, most=100)
    [16]
    >>> results["mean_stability"][3] = 0.6
    >>> next_numbers(results, range(4), best=1, most=100)
    [6, 9]
    """
    tried = np.asarray(results["n_clusters"])[list(rows)]
    stability: Array = np.asarray(results["mean_stability"])[list(rows)]
    if np.isnan(stability).all():
        return []
    heads, choice = {_peak(tried, stability)}, 1
    if best is not None:
        heads.add(choice := int(results["n_clusters"][best]))
        beyond = tried > choice
        if not np.isnan(stability[beyond]).all():
            higher_peak = _peak(tried[beyond], stability[beyond])
            # From the first one on stability falls, as it does without groups of clusters.
            if higher_peak > tried[beyond].min():
                heads.add(higher_peak)
    # Other numbers may have been given.
    top = max((k for k in steps(most) if k in tried), default=0)
    higher = [k for k in steps(most) if k > top]
    last = [row for row, k in zip(rows, tried, strict=True) if k == top]
    is_found = any(results["valid"][row] for row in last)
    enough = HARDLY_CUT if best is None else UNCUT
    is_uncut = any(results["neighbor_consistency"][row] >= enough for row in last)
    is_low = best is None and top < SECOND_TOP
    if higher and (max(heads) >= top or is_found or is_uncut or is_low):
        return higher[:1]
    if between := _in_gaps(min(heads), max(heads), np.unique(tried), most):
        return between
    # The fit of most clusters knows most eigenvalues.
    suggested = results["eigengap"][rows[int(np.argmax(tried))]]
    is_new = choice < suggested <= most and suggested not in tried
    return [int(suggested)] if is_new else []


def _peak(tried: Array, stability: Array) -> int:
    """The most stable number, or the fewest of neighbouring ones that are about as stable."""
    order = np.argsort(tried)
    tried, stability = tried[order], stability[order]
    place = int(np.nanargmax(stability))
    # A missing stability is lower.
    is_lower = ~(stability[:place] >= stability[place] - LEVEL)
    return int(tried[np.flatnonzero(is_lower).max(initial=-1) + 1])


def _in_gaps(first: int, last: int, tried: Array, most: int) -> list[int]:
    """Numbers in the gaps between two that have been tried, and beside them."""
    ends = np.append(tried[tried <= most], most + 1)
    found: list[int] = []
    for low, high in pairwise(ends):
        fraction, n_between = NEAR if {first, last} & {low, high} else FAR
        if high >= first and low <= last and high - low > max(1, fraction * low):
            every = np.linspace(low, high, min(n_between + 2, high - low + 1)).round()
            found += every.astype(int)[1:-1].tolist()
    return found
