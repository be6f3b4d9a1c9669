"""Ranks and signed-rank tests of the tables."""

from collections.abc import Sequence

import numpy as np
from scipy.stats import rankdata, wilcoxon

#: A smaller p-value counts as a difference.
LEVEL = 0.05
#: Part of the tolerance of a mean that does not depend on its starts: all may end alike.
MEAN_TOLERANCE = 0.005
#: Tolerance of a cost in %.
COST_TOLERANCE = 0.1


def ranks(values: Sequence[float]) -> list[float]:
    """Ranks in a row of a table: 1 for the largest value; what prints alike shares a rank.

    Parameters
    ----------
    values : sequence of float
        One for each method; four decimals count, as the paper prints them.

    Returns
    -------
    list of float
        Ranks.

    Examples
    --------
    >>> from kernelmeans_paper.statistics import ranks
    >>> ranks([0.5, 0.9, 0.5])
    [2.5, 1.0, 2.5]
    """
    return [float(rank) for rank in rankdata(-np.round(values, 4))]


def signed_rank_p(first: Sequence[float], second: Sequence[float]) -> float:
    """p-value of Wilcoxon's signed-rank test on matched runs, two-sided.

    Parameters
    ----------
    first, second : sequence of float
        Values of two methods from the same starts, or their means on the same data sets.

    Returns
    -------
    float
        The p-value; 1 where no run differs.

    Examples
    --------
    >>> from kernelmeans_paper.statistics import signed_rank_p
    >>> signed_rank_p([1, 2, 3, 4, 5], [0, 0, 0, 0, 0])
    0.0625
    """
    # The same partition under other names differs in the last bits of its score.
    difference = np.round(np.subtract(first, second), 10)
    return float(wilcoxon(difference).pvalue) if difference.any() else 1.0


def mark(p: float) -> str:
    """The paper's sign: ``"+"`` for a significant difference from the best of a row, or ``"≈"``."""
    return "+" if p < LEVEL else "≈"


def mean(values: Sequence[float]) -> float:
    """Mean as a plain number."""
    return float(np.mean(values))


def spread(values: Sequence[float]) -> float:
    """Standard deviation as a plain number."""
    return float(np.std(values))


def tolerance(values: Sequence[float]) -> float:
    """How far the mean over starts may lie from that of another run of the same starts.

    Parameters
    ----------
    values : sequence of float
        One for each start.

    Returns
    -------
    float
        Two standard errors of the mean, and `MEAN_TOLERANCE`.

    Examples
    --------
    >>> from kernelmeans_paper.statistics import tolerance
    >>> tolerance([0.5, 0.5, 0.5, 0.5])
    0.005
    """
    return float(2 * np.std(values, ddof=1) / np.sqrt(len(values)) + MEAN_TOLERANCE)


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Exponent of a power law y ~ x^slope, by least squares on the logarithms."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])
