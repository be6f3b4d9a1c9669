"""Steps of yes/no columns, which rare values make too long for a graph of neighbours."""

import numpy as np
import scipy.sparse

from kernelmeans._typing import Array, Data
from kernelmeans.heat.dither import dithered, may_tear, untorn
from kernelmeans.heat.metric import NORMS
from kernelmeans.heat.neighbors import NearestRows

#: Digits of the ratio of steps. More would make steps differ by rounding, which then decides which
#: of many rows at the same number of steps are neighbours.
DIGITS = 2


def sought_rows(
    nearest: NearestRows, n_neighbors: int, X: Data, sample_weight: Array | None = None
) -> NearestRows:
    """The rows among which neighbours are sought: with even steps, and noise where they tear.

    Columns that tear the graph of the rows as they are get noise also if shorter steps would do:
    clusters are then less often cut by them.

    Parameters
    ----------
    nearest : NearestRows
        Distinct rows, in an order that does not depend on that of the table.
    n_neighbors : int
        Neighbours of a row in the graph, itself included.
    X, sample_weight
        As for `evened`.

    Returns
    -------
    NearestRows
        Other rows, or these if nothing is to be changed.
    """
    sought, columns = untorn(nearest, n_neighbors)
    even = evened(nearest, X, sample_weight)
    if even is nearest:
        return sought
    if not len(columns):
        return untorn(even, n_neighbors)[0]
    return NearestRows(dithered(even.rows, columns), nearest.metric)


def evened(nearest: NearestRows, X: Data, sample_weight: Array | None = None) -> NearestRows:
    """The rows among which neighbours are sought, with shorter steps where yes or no is rare.

    Columns of variance 1 have a step of 2 from no to yes if both are equally frequent. If one row
    in ten has a yes, the step is 3.3. Such a row then has neighbours with the same yes alone,
    although the column says least of all, and clusters are cut by it.

    A step is shortened to that of other columns: the shortest of yes/no columns, or two standard
    deviations of numbers if that is less. It stays at least two standard deviations of its own
    column, so that a column that varies more than others counts more.

    Parameters
    ----------
    nearest : NearestRows
        Distinct rows.
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
        All rows, by which a value is rare or frequent.
    sample_weight : ndarray of shape (n_samples,), default=None
        How much each of them counts.

    Returns
    -------
    NearestRows
        Other rows, or these if no step is too long. Sparse rows, and rows whose metric is no norm,
        are never changed.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat.neighbors import NearestRows
    >>> from kernelmeans.heat.steps import evened
    >>> X = np.column_stack([np.repeat([-1.0, 1.0], 50), np.where(np.arange(100) < 10, 3, -1 / 3)])
    >>> sought = evened(NearestRows(X, "euclidean"), X)
    >>> np.ptp(X, axis=0).round(2), np.ptp(sought.rows, axis=0).round(2)
    (array([2.  , 3.33]), array([2., 2.]))
    """
    rows = nearest.rows
    if scipy.sparse.issparse(rows) or nearest.metric not in NORMS:
        return nearest
    few = may_tear(rows)
    low, high = rows[:, few].min(axis=0), rows[:, few].max(axis=0)
    two = ((rows[:, few] == low) | (rows[:, few] == high)).all(axis=0) & (low < high)
    if not two.any():
        return nearest
    flags, high, half = few[two], high[two], (high / 2 - low / 2)[two]
    # So that squares do not overflow.
    scale = np.abs(rows).max()
    others = (np.delete(rows, flags, axis=1) / scale).std(axis=0)
    typical = scale * np.median(others[others > 0]) if others.any() else np.inf
    share = np.average(X[:, flags] == high, axis=0, weights=sample_weight)
    least = min(half.min(), typical)
    own = (2 * half * np.sqrt(share * (1 - share)) / least).round(DIGITS)
    shorter = least * np.maximum(own, 1)
    long = half > shorter
    if not long.any():
        return nearest
    yes, rows = rows[:, flags[long]] == high[long], rows.copy()
    rows[:, flags[long]] = np.where(yes, shorter[long], -shorter[long])
    return NearestRows(rows, nearest.metric)
