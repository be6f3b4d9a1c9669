"""Candidates that may still be chosen, from the splits so far."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.stats

from kernelmeans._typing import Array, IntArray
from kernelmeans.search.rules import queues

#: Probability with which each bound holds for the mean of all splits, if scores have a normal
#: distribution.
CERTAIN = 0.9
#: Least standard deviation between splits. The first few splits may agree by chance.
LEAST_SPREAD = 0.05


class Bounds(NamedTuple):
    """Limits that the means of all splits will hardly cross.

    Attributes
    ----------
    low, high : ndarray of shape (n_means,)
        The bounds.
    """

    low: Array
    high: Array

    @classmethod
    def of(cls, values: Array, n_all: int) -> "Bounds":
        """Bounds of the means of all rows, from the first ones.

        Parameters
        ----------
        values : ndarray of shape (n_known, n_means)
            A row for each split; NaN where a split does not count.
        n_all : int
            Number of splits in the end.

        Returns
        -------
        Bounds
            The mean of all rows, if these are all splits; NaN for columns without a number.

        Examples
        --------
        >>> import numpy as np
        >>> from kernelmeans.search.bounds import Bounds
        >>> low, high = Bounds.of(np.array([[0.8], [0.9], [0.8], [0.9]]), n_all=20)
        >>> low.round(2), high.round(2)
        (array([0.81]), array([0.89]))
        """
        count, mean, spread = _moments(values)
        if len(values) == n_all:
            return cls(mean, mean)
        # The mean of all splits contains those that are known.
        with np.errstate(divide="ignore"):
            width = _width(count, spread) * np.sqrt(1 / count - 1 / n_all)
        return cls(mean - width, mean + width)

    @classmethod
    def of_next(cls, values: Array) -> "Bounds":
        """Bounds of one more row, from those that are known.

        Parameters
        ----------
        values : ndarray of shape (n_known, n_means)
            As for `of`.

        Returns
        -------
        Bounds
            Limits that the row will hardly cross.
        """
        count, mean, spread = _moments(values)
        with np.errstate(divide="ignore"):
            width = _width(count, spread) * np.sqrt(1 / count + 1)
        return cls(mean - width, mean + width)


def _moments(values: Array) -> tuple[IntArray, Array, Array]:
    """For each column the known values: how many, their mean, and their standard deviation."""
    known = ~np.isnan(values)
    count = known.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(known, values, 0).sum(axis=0) / count
        squares = np.where(known, values - mean, 0) ** 2
        spread = np.maximum(np.sqrt(squares.sum(axis=0) / (count - 1)), LEAST_SPREAD)
    return count, mean, spread


def _width(count: IntArray, spread: Array) -> Array:
    """Standard deviations that a value is hardly off; infinite if a single one is known."""
    width: Array = scipy.stats.t.ppf(CERTAIN, np.maximum(count - 1, 1)) * spread
    width[count == 1] = np.inf
    return width


def contenders(
    means: Mapping[str, Any],
    low: Mapping[str, Any],
    high: Mapping[str, Any],
    scoring: str,
    refuted: Collection[int] = (),
) -> list[int]:
    """Candidates whose own scores may still change the first candidate of a kernel.

    Each is looked at in its best case and in its worst, beside the scores that the others have.

    Parameters
    ----------
    means : mapping
        The columns that `queues` takes.
    low, high : mapping
        The same columns, with bounds of scores.
    scoring : str
        As in `queues`.
    refuted : collection of int
        Candidates that are not chosen, whatever their scores.

    Returns
    -------
    list of int
        The candidates; none if more splits will hardly change the first ones.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.search.bounds import contenders
    >>> jaccard = np.array([0.8, 0.8, 0.5])
    >>> means = {"n_clusters": [2, 3, 4], "group": [0, 0, 0], "mean_stability": [0.9, 0.9, 0.8]}
    >>> means = means | {"mean_jaccard": jaccard, "min_jaccard": jaccard}
    >>> low, high = means | {"min_jaccard": jaccard - 0.1}, means | {"min_jaccard": jaccard + 0.1}
    >>> contenders(means, low, high, "jaccard")
    [1]
    """
    columns = [name for name in low if low[name] is not high[name]]
    expected = firsts(means, scoring, refuted)

    def changes(row: int, bound: Mapping[str, Any]) -> bool:
        case = dict(means)
        for name in columns:
            case[name] = np.array(means[name])
            case[name][row] = bound[name][row]
        return firsts(case, scoring, refuted) != expected

    return [
        row for row in range(len(means["n_clusters"])) if changes(row, low) or changes(row, high)
    ]


def firsts(columns: Mapping[str, Any], scoring: str, refuted: Collection[int] = ()) -> list[int]:
    """The best candidate of each kernel that has one, but for those that are refuted."""
    kernels = queues(columns, scoring)
    best = [next((row for row in rows if row not in refuted), None) for rows in kernels]
    return [row for row in best if row is not None]
