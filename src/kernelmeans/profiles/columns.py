"""One column in all clusters: means, medians, most frequent values, and how far they are from all.

Nothing is copied for each cluster: sums over the rows of clusters are taken for all at once.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from kernelmeans._numbers import percent, scaled
from kernelmeans._typing import Array, BoolArray, IntArray
from kernelmeans.tables.decisions import logarithms, powers
from kernelmeans.tables.kinds import Found, as_category, found_in

#: Most clusters that are compared pair by pair; the pairs of more are too many.
MOST_CLUSTERS = 100
#: Fewest rows from which a value or a cluster is described. Half of a small cluster is enough.
FEWEST = 5
#: Smallest fraction of the rows of a cluster from which it is described. Below it a column is
#: nearly empty, and values are names.
_FEWEST = 0.05
#: Largest standard deviation of equal numbers, relative to them. It is rounding.
_ROUNDING = 1e-12
_NUMBERS = ("number", "counter", "date", "constant")
#: Statistics of a column of numbers.
AVERAGES = ("mean", "median", "log mean")


class Grouped(NamedTuple):
    """Rows of positive weight that belong to clusters.

    Attributes
    ----------
    rows : ndarray of int of shape (n_placed,) or slice
        The rows that belong to a cluster.
    labels : ndarray of int of shape (n_placed,)
        Their clusters, counted from 0.
    weights : ndarray of shape (n_placed,)
        Their sample weights.
    n_clusters : int
        Number of clusters.
    """

    rows: IntArray | slice
    labels: IntArray
    weights: Array
    n_clusters: int

    def where(self, kept: BoolArray) -> "Grouped":
        """Those of the rows for which `kept` is true."""
        return self._replace(labels=self.labels[kept], weights=self.weights[kept])

    def counts(self) -> IntArray:
        """Rows of each cluster."""
        return np.bincount(self.labels, minlength=self.n_clusters)

    def sums(self, values: Array | None = None) -> Array:
        """Weighted sums over the rows of each cluster."""
        weighted = self.weights if values is None else self.weights * values
        return np.bincount(self.labels, weighted, self.n_clusters).astype(float, copy=False)

    def effective_sizes(self) -> Array:
        """Rows of equal weights that would say as much of each cluster."""
        relative = self._replace(weights=self.weights / self.weights.max())
        squares = np.maximum(relative.sums(relative.weights), np.finfo(float).tiny)
        return np.asarray(relative.sums() ** 2 / squares)

    def fractions(self, present: "Grouped", codes: IntArray, n_codes: int) -> Array | None:
        """Fractions of each cluster that have each code in `present`, and at last that have none.

        None of more than `MOST_CLUSTERS` clusters, which are not compared with each other.
        """
        if self.n_clusters > MOST_CLUSTERS:
            return None
        keys = present.labels * (n_codes + 1) + codes
        counts = np.bincount(keys, present.weights, self.n_clusters * (n_codes + 1))
        sums = np.maximum(self.sums(), np.finfo(float).tiny)[:, None]
        found = counts.reshape(self.n_clusters, -1) / sums
        found[:, -1] = 1 - found.sum(axis=1)
        return found

    def told(self, present: "Grouped") -> BoolArray:
        """Whether the rows of each cluster that are in `present` are enough to speak for it."""
        enough = present.counts() >= np.clip(self.counts() / 2, 1, FEWEST)
        return np.asarray(enough & (present.sums() >= _FEWEST * self.sums()))

    def missing(self, present: "Grouped") -> Array:
        """Fraction of each cluster that is not in `present`."""
        with np.errstate(invalid="ignore"):  # a cluster without weight: NaN
            return 1 - present.sums() / self.sums()


class Profile(NamedTuple):
    """A column in each cluster, beside the whole table.

    Attributes
    ----------
    kind : str
        What the column is, as in `kernelmeans.tables.column_kind`.
    statistic : str
        "mean", "median", "log mean", "most frequent" or "fraction".
    numbers, overall : ndarray of shape (n_clusters,)
        The average of the cluster and of all rows, of dates in days since 1970. Of a
        category the fraction of the cluster that has its most frequent value, and the fraction of
        all rows that has this value. NaN if there is none. Of missing values their fraction.
    difference : ndarray of shape (n_clusters,)
        Between `numbers` and `overall`, in standard deviations; between their logarithms beside a
        log mean. NaN if there is none.
    missing : ndarray of shape (n_clusters,)
        Fraction of the rows of the cluster that have no value.
    scale : float
        The standard deviation; NaN beside a log mean.
    values : list of str or None
        Text for each cluster, if the column is no number: the most frequent value, None if there is
        none, or a fraction in percent.
    whole : str or None
        Text for all rows.
    frequencies : ndarray of shape (n_clusters, n_values + 1) or None
        Fractions of the rows of each cluster: those with each value of a category, or in intervals
        of numbers between the middles of the clusters; at last those without a value. None of
        texts and identifiers, and of more than `MOST_CLUSTERS`.
    """

    kind: str
    statistic: str
    numbers: Array
    overall: Array
    difference: Array
    missing: Array
    scale: float = 1.0
    values: list[str | None] | None = None
    whole: str | None = None
    frequencies: Array | None = None

    @property
    def is_number(self) -> bool:
        """Whether the column has an average."""
        return self.statistic in AVERAGES

    def shown(self, cluster: int) -> tuple[str | None, str | None]:
        """The column as text: in a cluster, and in all rows."""
        if self.values is not None:
            return self.values[cluster], self.whole
        show = _date if self.kind == "date" else scaled
        pair = self.numbers[cluster], self.overall[cluster]
        value, overall = (show(one, self.scale) if np.isfinite(one) else None for one in pair)
        return value, overall

    def gaps(self, grouped: Grouped) -> "Profile | None":
        """Where values are missing, as a column of its own; None if all are or none is."""
        weights, found = grouped.sums(), self.missing
        every = float(np.average(np.nan_to_num(found), weights=weights))
        if not 0 < every < 1:
            return None
        overall, none = np.full_like(found, every), np.zeros_like(found)
        difference = (found - every) / np.sqrt(every * (1 - every))
        *values, whole = (None if one != one else percent(one) for one in (*found, every))
        return Profile("flag", "fraction", found, overall, difference, none, 1.0, values, whole)


def _date(days: float, scale: float) -> str:
    """A number of days since 1970 as a date, with a time if dates differ by hours."""
    date = datetime(1970, 1, 1) + timedelta(days)
    return date.strftime("%Y-%m-%d" if scale > 1 else "%Y-%m-%d %H:%M")


def profile_of(
    column: Array,
    name: str,
    grouped: Grouped,
    kind: str | None = None,
    *,
    is_category: bool = False,
    knee: float = 0.0,
) -> Profile:
    """Describe a column.

    Parameters
    ----------
    column : ndarray of shape (n_rows,)
        The column of all rows of the table.
    name : str
        Its name.
    grouped : Grouped
        The rows that belong to clusters.
    kind : str, default=None
        What the column is called, if it is to be taken for a category.
    is_category : bool, default=False
        Whether its type is that of a category, which may have numbers for values.
    knee : float, default=0
        That of its logarithms, if the clusters depend on these.

    Returns
    -------
    Profile
        The column in each cluster.
    """
    if kind is not None:
        return _of_category(kind, as_category(column), grouped)
    if column.dtype.kind == "b":
        column = column.astype(object)  # True and False, not 1 and 0
    found = found_in(column, name, is_category=is_category)
    numbers = found.numbers
    if found.kind == "constant" and column.dtype.kind in "iuf":
        numbers = column.astype(float)
    if numbers is not None and found.kind in _NUMBERS:
        return _of_numbers(found.kind, numbers[grouped.rows], grouped, knee)
    category = found if found.values else as_category(column)
    return _of_category(found.kind, category, grouped)


def _of_numbers(kind: str, numbers: Array, grouped: Grouped, knee: float) -> Profile:
    """Means, or medians if the tails are heavy: then a few rows would decide the means.

    Where clusters depend on logarithms these have means, and differences are between them.
    """
    known = np.isfinite(numbers)
    present, numbers = grouped.where(known), numbers[known]
    missing = grouped.missing(present)
    if not len(numbers):
        nothing = np.full(grouped.n_clusters, np.nan)
        return Profile(kind, "mean", nothing, nothing, nothing, missing)
    if knee:
        numbers = logarithms(numbers, knee)
    # Divided by a power of 2 no digit changes, and squares of large numbers do not overflow.
    power = np.ldexp(1.0, int(np.frexp(np.abs(numbers).max())[1]) - 1)
    numbers = numbers / power
    center = float(np.average(numbers, weights=present.weights))
    scale = _deviation(numbers, present.weights)
    order = np.argsort(numbers)
    values, weights = numbers[order], present.weights[order]
    low, middle, high = (_quantile(values, weights, q) for q in (0.25, 0.5, 0.75))
    # Quartiles that coincide tell of one frequent number, zero mostly: medians would hide the rest.
    if not knee and low < middle < high and high - low < scale:
        statistic, center = "median", middle
        ordered = present._replace(labels=present.labels[order], weights=weights)
        first, found, last = _quantiles(values, ordered, (_FEWEST, 0.5, 1 - _FEWEST))
        # A number beyond those of every cluster counts as their end: one would hide all others.
        ends = np.nanmin(first), np.nanmax(last)
        scale = _deviation(np.clip(values, *ends), weights)
    else:
        statistic = "log mean" if knee else "mean"
        with np.errstate(invalid="ignore"):  # no value in a cluster: NaN
            found = center + present.sums(numbers - center) / present.sums()
    found[~grouped.told(present)] = np.nan
    if scale <= _ROUNDING * abs(center):
        scale = 0.0
    codes = _intervals(numbers, np.array([low, middle, high]), found)
    frequencies = grouped.fractions(present, *codes)
    difference = (found - center) / (scale or np.inf)
    found, overall, scale = found * power, np.full_like(found, center * power), scale * power
    if knee:
        found, overall, scale = powers(found, knee), powers(overall, knee), np.nan
    return Profile(
        kind, statistic, found, overall, difference, missing, scale, frequencies=frequencies
    )


def _deviation(numbers: Array, weights: Array) -> float:
    """The standard deviation."""
    center = np.average(numbers, weights=weights)
    return float(np.sqrt(np.average((numbers - center) ** 2, weights=weights)))


def _intervals(numbers: Array, quartiles: Array, middles: Array) -> tuple[IntArray, int]:
    """Intervals of numbers, and their count: any two clusters' middles are apart."""
    middles = np.unique(middles[np.isfinite(middles)])
    cuts = np.unique(np.append(quartiles, (middles[1:] + middles[:-1]) / 2))
    return np.searchsorted(cuts, numbers), len(cuts) + 1


def _quantiles(values: Array, grouped: Grouped, fractions: Sequence[float]) -> Array:
    """Weighted quantiles of each cluster, of values that ascend."""
    # The sort is stable, so that values still ascend within each cluster.
    order = np.argsort(grouped.labels, kind="stable")
    ends = grouped.counts().cumsum()[:-1]
    parts = np.split(values[order], ends), np.split(grouped.weights[order], ends)
    pairs = list(zip(*parts, strict=True))
    return np.array([[_quantile(*pair, q) for pair in pairs] for q in fractions])


def _quantile(values: Array, weights: Array, q: float) -> float:
    """The smallest value that at least a fraction q of the weight does not exceed.

    Where two neighbours are equally good it is their mean, so that a weight of 2 is a row twice.
    """
    if not len(values):
        return np.nan
    reached = weights.cumsum()
    sides = (np.searchsorted(reached, q * reached[-1], side) for side in ("left", "right"))
    return float(np.mean([values[min(place, len(values) - 1)] for place in sides]))


def _of_category(kind: str, found: Found, grouped: Grouped) -> Profile:
    """The most frequent value of each cluster, and its fraction there and in all rows.

    Rows without a value count: fractions of the others would make much of a nearly empty column.
    An identifier has none, and a value of fewer than `FEWEST` rows is none: they name single rows.
    """
    codes = np.asarray(found.numbers)[grouped.rows].astype(np.intp)
    known = codes < len(found.values) - (found.n_missing > 0)
    present, codes = grouped.where(known), codes[known]
    shape = (grouped.n_clusters, max(len(found.values), 1))
    # Sparse, because nearly all values may be different.
    counts = csr_array((present.weights, (present.labels, codes)), shape)
    total, sums = counts.sum(axis=0), grouped.sums()
    most = counts.argmax(axis=1)
    having = present.where(codes == most[present.labels])
    with np.errstate(divide="ignore", invalid="ignore"):
        numbers = having.sums() / sums
        overall = total[most] / sums.sum()
        scale = np.sqrt(overall * (1 - overall))
        difference = np.where(overall < 1, (numbers - overall) / scale, 0.0)
    is_common = (np.bincount(codes, minlength=shape[1]) >= FEWEST) & (kind != "identifier")
    is_telling = is_common[most] & grouped.told(having)
    for result in (numbers, overall, difference):
        result[~is_telling] = np.nan
    names = [found.values[code] if ok else None for code, ok in zip(most, is_telling, strict=True)]
    top = total.argmax()
    is_telling_all = is_common[top] and total[top] >= _FEWEST * sums.sum()
    all_over = found.values[top] if is_telling_all else None
    told = kind in ("flag", "category")
    return Profile(
        kind,
        "most frequent",
        numbers,
        overall,
        difference,
        grouped.missing(present),
        1.0,
        names,
        all_over,
        grouped.fractions(present, codes, shape[1]) if told else None,
    )
