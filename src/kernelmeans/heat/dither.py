"""Columns of few or piled values, which would tear a graph: shorter steps, and noise."""

from collections.abc import Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np
import scipy.sparse

from kernelmeans._arrays import to_numpy
from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.heat.distinct import DistinctRows
from kernelmeans.heat.metric import NORMS
from kernelmeans.heat.neighbors import NearestRows, origin_and_scale

#: Most distinct values of a column that can tear a graph. Ages and percentages have fewer.
FEW = 128
#: Fraction of chance: a column in which neighbours differ less often tears the graph. Of many
#: columns each tears a little, such as those of one category, and all together do. It is added for
#: columns of more values than `ANSWERS`: some neighbours are a short step away there, even if the
#: others are on the same one. It is added once more beside numbers: in other tables clusters
#: themselves are such values, which neighbours share.
TORN = 0.2
#: Fraction of the rows from which on equal values are a pile, such as amounts of zero.
PILE = 0.05
#: Fraction of the other rows whose distance from a pile its noise bridges, half from each side.
#: Values just above a limit of detection are nearer than amounts are to zero.
NEAREST = 0.25
#: Most distinct values of a column of answers, such as those from 1 to 5.
ANSWERS = 5
#: Distance of yes and no that may tear, in standard deviations of the column that varies most. Two
#: categories beside standardised numbers have 1.41 from `TableTransformer`, and a little more among
#: some of the rows; standardised answers have 2 and more.
LONG = 1.6
#: Digits of answers. Steps that differ by a rounding error would decide which of many rows at the
#: same number of steps are neighbours.
DIGITS = 5
#: Fewest rows for which columns are tested. With fewer, chance would decide. And rows in which most
#: columns of many values have more than few: the first, and of large tables some of all.
FEWEST_ROWS, FIRST_ROWS, SOME_ROWS = 50, 2 * FEW, 2000


class Column(NamedTuple):
    """A column of 2 to `FEW` distinct values, or a pile in one of more values.

    Of a pile the values are whether a row is in it.

    Attributes
    ----------
    place : int
        Its place among the columns.
    entries : ndarray of shape (n_rows,)
        Its value in each row.
    values, counts : ndarray of shape (n_values,)
        The distinct values in ascending order, and how many rows have each.
    is_beside_numbers : bool, default=False
        Whether at least half of the columns that vary have more than `FEW` values. False for a
        pile: values that are zero often say something, as of the elements in a glass.
    """

    place: int
    entries: Array
    values: Array
    counts: IntArray
    is_beside_numbers: bool = False

    def tears(self, others: IntArray) -> bool:
        """Whether neighbours differ in it less often than a fraction of chance."""
        has_short_steps = len(self.values) > ANSWERS
        fraction = TORN * (1 + has_short_steps + self.is_beside_numbers)
        by_chance = 1 - ((self.counts / len(self.entries)) ** 2).sum()
        entries = np.ascontiguousarray(self.entries)
        n_differing = np.count_nonzero(entries.take(others) != entries[:, None])
        return bool(n_differing < fraction * by_chance * others.size)


def untorn(nearest: NearestRows, n_neighbors: int) -> tuple[NearestRows, IntArray]:
    """The rows among which neighbours are sought, changed where columns tear the graph.

    Parameters
    ----------
    nearest : NearestRows
        Distinct rows, in an order that does not depend on that of the table.
    n_neighbors : int
        Neighbours of a row in the graph, itself included.

    Returns
    -------
    sought : NearestRows
        Rows with `shortened` answers and `with_noise`, or the given rows if no column tears the
        graph. Sparse rows, few rows, and rows whose metric is no norm are never changed. Under
        such a metric noise is not small: it turns directions, flips signs, and makes equal values
        differ.
    columns : ndarray of int
        The columns with noise.
    """
    few = few_valued(nearest)
    sought, columns = with_noise(nearest, n_neighbors, few + piled(nearest, few))
    short = shortened(nearest, n_neighbors, few)
    if short is nearest:
        return sought, columns
    # Also where shorter steps would do: clusters are then less often cut by these columns.
    return NearestRows(dithered(short.rows, columns), nearest.metric), columns


def few_valued(nearest: NearestRows) -> list[Column]:
    """The columns of few values; none where rows are not to be changed."""
    rows = nearest.rows
    if not _may_change(nearest):
        return []
    columns = [
        Column(place, rows[:, place], *np.unique(rows[:, place], return_counts=True))
        for place in may_tear(rows).tolist()
    ]
    few = [one for one in columns if len(one.values) > 1 and not are_numbers(one.counts)]
    n_varying = rows.shape[1] - sum(len(column.values) == 1 for column in columns)
    is_beside_numbers = 2 * len(few) <= n_varying
    return [column._replace(is_beside_numbers=is_beside_numbers) for column in few]


def are_numbers(counts: IntArray) -> bool:
    """Whether values that stand so often are numbers, and not counts, ages or answers.

    More than `FEW` values are. In a small table those of a column with a pile are, if most of its
    other rows have values of their own.
    """
    n_rows, in_pile = counts.sum(), counts.max()
    has_pile = len(counts) > ANSWERS and in_pile >= PILE * n_rows
    return len(counts) > FEW or (has_pile and 2 * (len(counts) - 1) > n_rows - in_pile)


def piled(nearest: NearestRows, few: Sequence[Column]) -> list[Column]:
    """The piles in columns that are not among those of few values.

    A row far from all others that stands many times is many nodes, but only one row of a pile.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat.dither import piled
    >>> from kernelmeans.heat.neighbors import NearestRows
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.lognormal(size=(400, 2)) * [1, 0] + rng.choice([0, 50.0], (400, 2)) * [0, 1]
    >>> rows[:, 1] *= rng.lognormal(size=400)
    >>> [(pile.place, pile.counts.tolist()) for pile in piled(NearestRows(rows, "euclidean"), [])]
    [(1, [207, 193])]
    """
    if not _may_change(nearest):
        return []
    rows, found = nearest.rows, []
    # Equal nodes follow each other.
    is_first = np.append(True, (rows[1:] != rows[:-1]).any(axis=1))
    for place in np.setdiff1d(may_pile(rows), [column.place for column in few]).tolist():
        values, counts = np.unique(rows[:FIRST_ROWS, place], return_counts=True)
        entries = rows[:, place] == values[counts.argmax()]
        if PILE <= entries[is_first].mean() <= 1 - PILE:
            found.append(Column(place, entries, *np.unique(entries, return_counts=True)))
    return found


def _may_change(nearest: NearestRows) -> bool:
    is_dense = not scipy.sparse.issparse(nearest.rows)
    return is_dense and nearest.metric in NORMS and len(nearest.rows) >= FEWEST_ROWS


def shortened(nearest: NearestRows, n_neighbors: int, few: Sequence[Column]) -> NearestRows:
    """Rows with answers that are nearer to each other, if they tear the graph.

    Scaled to variance 1, a balanced yes/no column goes from -1 to 1, and one with a yes in one row
    of a hundred over ten standard deviations. So rows with a rare answer have neighbours with the
    same answer alone, and clusters are combinations of the rarest answers, which say least. Then
    yes and no get a distance of at most one standard deviation of the column that varies most, as
    0 and 1 have beside standardised numbers. A column of up to five values counts as much as one
    column of yes and no for each of its steps: it gets a range of at most the square root of them.

    Parameters
    ----------
    nearest : NearestRows
        Distinct dense rows.
    n_neighbors : int
        Neighbours of a row in the graph, itself included.
    few : sequence of Column
        The columns of few values, see `few_valued`.

    Returns
    -------
    NearestRows
        The rows, changed or not. They stay as they are if the ranges of all columns are equal, or
        if no answers are farther apart than codes of categories.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat.dither import few_valued, shortened
    >>> from kernelmeans.heat.neighbors import NearestRows
    >>> rng = np.random.default_rng(0)
    >>> rows = np.column_stack([rng.standard_normal(500), 10.0 * (rng.random(500) < 0.01)])
    >>> nearest = NearestRows(rows, "euclidean")
    >>> np.ptp(shortened(nearest, 8, few_valued(nearest)).rows, axis=0).round(1)
    array([7. , 1.1])
    """
    rows, few = nearest.rows, [column for column in few if len(column.values) <= ANSWERS]
    if not few:
        return nearest
    origin, scale = origin_and_scale(rows)
    scaled = (rows - origin) / scale
    ranges = np.ptp(scaled, axis=0)
    vary = ranges[ranges > 0]
    answers = np.array([column.place for column in few])
    limits = scaled.std(axis=0).max() * np.sqrt([len(column.values) - 1 for column in few])
    far = ranges[answers] > limits
    answers, limits, few = answers[far], limits[far], list(compress(few, far))
    if not (ranges[answers] > LONG * limits).any() or np.ptp(vary) <= 10.0**-DIGITS * vary.max():
        return nearest
    others = nearest.others(n_neighbors - 1)
    if not any(column.tears(others) for column in few):
        return nearest
    codes = (scaled[:, answers] - scaled[:, answers].min(axis=0)) / ranges[answers]
    rows = rows.copy()
    rows[:, answers] = codes.round(DIGITS) * limits * scale
    return NearestRows(rows, nearest.metric)


def with_noise(
    nearest: NearestRows, n_neighbors: int, few: Sequence[Column]
) -> tuple[NearestRows, IntArray]:
    """Rows with noise on the columns that tear the graph.

    All neighbours of a row can have its value of a yes/no column, however little that column
    matters: other columns vary within each value, but this one does not. The graph then has no
    edges between the two values, and clusters are cut by them. Noise that would undo a rounding,
    as if the column were a rounded number, gives rows neighbours on the other side.

    Parameters
    ----------
    nearest, n_neighbors, few
        As for `shortened`.

    Returns
    -------
    sought : NearestRows
        Rows with noise, or the given rows if no column tears the graph.
    columns : ndarray of int
        The columns with noise.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat.dither import few_valued, with_noise
    >>> from kernelmeans.heat.neighbors import NearestRows
    >>> rng = np.random.default_rng(0)
    >>> rows = np.column_stack([rng.standard_normal(500), rng.choice([-1.0, 1.0], 500)])
    >>> nearest = NearestRows(rows, "euclidean")
    >>> sought, columns = with_noise(nearest, 8, few_valued(nearest))
    >>> columns
    array([1])
    >>> differ = rows[:, None, 1] != rows[:, 1]
    >>> before, after = nearest.graph(8).toarray(), sought.graph(8).toarray()
    >>> bool(after[differ].sum() > 20 * before[differ].sum())
    True
    """
    columns: IntArray = np.empty(0, np.intp)
    sought = nearest
    # Where one column has got noise, another one may be the next to tear the graph.
    while few:
        others = sought.others(n_neighbors - 1)
        torn = [column.place for column in few if column.tears(others)]
        if not torn:
            break
        columns, few = np.append(columns, torn), [own for own in few if own.place not in torn]
        sought = NearestRows(dithered(nearest.rows, columns), nearest.metric)
    return sought, np.sort(columns)


def may_tear(rows: Array) -> IntArray:
    """Columns of few values among some of the rows; most have many there already."""
    found: IntArray = np.arange(rows.shape[1])
    step = rows.shape[0] // SOME_ROWS
    # Rows on disk are not read from all places.
    looks = [slice(FIRST_ROWS), slice(None, None, step)]
    for look in looks if step > 1 and isinstance(rows, np.ndarray) else looks[:1]:
        seen = np.sort(to_numpy(rows[look])[:, found], axis=0)
        # With more values, so many rows have one of their own that neighbours differ often enough,
        # also for the largest limit.
        most = min(FEW, (1 + 3 * TORN) / 2 * len(seen))
        found = found[(seen[1:] != seen[:-1]).sum(axis=0) < most]
    return found


def may_pile(rows: Array) -> IntArray:
    """Columns with a pile among the first rows."""
    seen = np.sort(to_numpy(rows[:FIRST_ROWS]), axis=0)
    run = max(int(PILE * len(seen)), 1)
    return np.flatnonzero((seen[run:] == seen[:-run]).any(axis=0))


def untorn_sample(X: Data, metric: str, n_anchors: int, n_clusters: int, seed: int) -> Data:
    """The rows that anchors are drawn from, with noise on columns that tear a graph of anchors.

    A graph of as many rows as anchors shows which columns these are.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_rows, n_features)
        Rows.
    metric : str
        That of the heat kernel.
    n_anchors : int
        Number of anchors.
    n_clusters : int
        Number of clusters.
    seed : int
        Seed of the rows that are tried.

    Returns
    -------
    {ndarray, CSR matrix} of shape (n_rows, n_features)
        The rows, changed or not.
    """
    n_rows = X.shape[0]
    tried = np.random.default_rng(seed).choice(n_rows, min(n_anchors, n_rows), replace=False)
    nearest, _ = DistinctRows.of(X[tried], None, metric)
    few, n_neighbors = few_valued(nearest), nearest.auto_neighbors(n_clusters)
    _, columns = with_noise(nearest, n_neighbors, few + piled(nearest, few))
    return dithered(X, columns) if len(columns) else X


def dithered(rows: Array, columns: IntArray) -> Array:
    """Rows with seeded noise on some columns.

    The noise is uniform in half a step to both sides. A step between two of up to 5 values counts
    as 2 / (m - 1) standard deviations of the column of m values, which it is for two values that
    are equally frequent. So the noise of rare values stays small. Of more values it is the step of
    the median row, or a longer one to the next value: logarithms of counts have their longest steps
    where most rows are. Of numbers it is the distance of a pile from the nearest quarter of the
    other rows, and of two standard deviations at most. A column that varies more than the others is
    meant to count: its noise is as if it varied as much as they do.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        The rows.
    columns : ndarray of int
        Columns of at least two values.

    Returns
    -------
    ndarray of shape (n_rows, n_features)
        A copy.
    """
    rows = rows.copy()
    # So that squares do not overflow.
    scale = np.abs(rows).max()
    deviations = (rows / scale).std(axis=0)
    for j in columns:
        others = np.delete(deviations, j)
        typical = np.sqrt(np.mean(others**2)) if len(others) else 0
        varies = min(deviations[j], typical)
        values, places, counts = np.unique(rows[:, j], return_inverse=True, return_counts=True)
        half_steps = np.full((2, len(values)), varies / (len(values) - 1))
        if len(values) > ANSWERS and varies > 0:
            half_steps = _half_steps(values / scale, counts, deviations[j])
            half_steps *= varies / deviations[j]
        noise = np.random.default_rng(j).uniform(-1, 1, len(rows))
        noise *= half_steps[(noise > 0).astype(np.intp), places]
        rows[:, j] += scale * noise.astype(rows.dtype)
    return rows


def _half_steps(values: Array, counts: IntArray, deviation: float) -> Array:
    """Half of the steps (2, n_values) from ascending values, to those before and after them."""
    if not are_numbers(counts):
        steps = np.diff(values)
        usual = _quantile(steps, counts[1:] + counts[:-1], 0.5)
        return np.maximum(_own_steps(steps), usual) / 2
    pile = int(counts.argmax())
    distances = np.abs(np.delete(values, pile) - values[pile])
    step = _quantile(distances, np.delete(counts, pile), NEAREST)
    return np.full((2, len(values)), min(step / 2, deviation))


def _quantile(values: Array, weights: IntArray, fraction: float) -> float:
    """The smallest value that has this fraction of the weight at or below it."""
    order = np.argsort(values)
    sums = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(sums, sums[-1] * fraction)])


def _own_steps(steps: Array) -> Array:
    """Steps (2, n_values) from ascending values to those before and after them.

    One beyond a gap counts as twice the step on the other side, and a missing one as the other.
    """
    before, after = np.append(steps[0], steps), np.append(steps, steps[-1])
    return np.minimum([before, after], [2 * after, 2 * before])
