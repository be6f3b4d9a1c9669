"""Gaps in numbers, filled from the rows that are nearest."""

import numpy as np

from kernelmeans._memory import remembered
from kernelmeans._typing import Array, BoolArray
from kernelmeans.heat.digests import digests

#: Rows whose mean fills a gap, as for KNNImputer of scikit-learn.
NEIGHBORS = 5
#: Most rows that gaps are filled from, and their most numbers, which are in the model file.
DONORS, NUMBERS = 1000, 2**20
#: Pairs of rows that are compared at once: they fit into a processor's memory.
PAIRS = 2**18


def donors_of(Z: Array, kept: BoolArray) -> Array:
    """Some rows that gaps of others are filled from.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, n_columns)
        Scaled rows, NaN where a number is missing.
    kept : ndarray of bool of shape (n_rows,)
        The rows that count.

    Returns
    -------
    ndarray of shape (n_donors, n_columns)
        At most 1000 of them, and a few more if a column would otherwise have no number. Their own
        gaps are filled from each other. They do not depend on the order of the rows.
    """
    # Within a search other candidates ask for the same.
    return remembered(lambda: _donors_of(Z, kept), lambda: ("donors", Z, kept))


def _donors_of(Z: Array, kept: BoolArray) -> Array:
    rows = np.flatnonzero(kept)
    rows = rows[np.argsort(digests(Z[rows]), kind="stable")]
    count = min(DONORS, max(NUMBERS // Z.shape[1], NEIGHBORS))
    chosen = [rows[:count]]
    for column in np.flatnonzero(np.isnan(Z[chosen[0]]).all(axis=0)):
        chosen.append(rows[~np.isnan(Z[rows, column])][:NEIGHBORS])
    _, first = np.unique(np.concatenate(chosen), return_index=True)
    return _completed(Z[np.concatenate(chosen)[np.sort(first)]])


def fill(Z: Array, donors: Array) -> None:
    """Fill the gaps of each row with means of the five donors that are nearest to it.

    Distances are means over all columns in which a row has numbers. Donors as near as the fifth
    count as well. A row of gaps alone gets the means of all donors.

    All is computed number by number, so that a row gets the same in any block of rows and by any
    number of threads.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, n_columns)
        Scaled rows, NaN where a number is missing. They are overwritten.
    donors : ndarray of shape (n_donors, n_columns)
        Those of `donors_of`.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.tables.gaps import fill
    >>> Z = np.array([[0.1, np.nan], [np.nan, 9.0]])
    >>> fill(Z, np.repeat([[0.0, 1.0], [5.0, 8.0]], 5, axis=0))
    >>> Z
    array([[0.1, 1. ],
           [5. , 9. ]])
    """
    lacking = np.flatnonzero(np.isnan(Z).any(axis=1))
    rows = Z[lacking]
    Z[lacking] = remembered(lambda: _filled(rows, donors), lambda: ("gaps", rows, donors))


@np.errstate(over="ignore")  # of a row far from all donors, which are equally far then
def _filled(rows: Array, donors: Array) -> Array:
    step = max(1, PAIRS // len(donors))
    # A power of two costs no digit, and neither squares nor sums overflow.
    exponent = _exponent(donors)
    donors, filled = np.ldexp(donors, -exponent), np.empty_like(rows)
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        means = _means(_distances(np.ldexp(block, -exponent), donors), donors)
        filled[start : start + step] = np.where(np.isnan(block), np.ldexp(means, exponent), block)
    return filled


def _completed(donors: Array) -> Array:
    """Donors whose gaps are filled from those that have a number there."""
    exponent, filled = _exponent(donors), donors.copy()
    lack, donors = np.isnan(donors), np.ldexp(donors, -exponent)
    distances = _distances(donors, donors) if lack.any() else donors
    for column in np.flatnonzero(lack.any(axis=0)):
        gaps, known = np.flatnonzero(lack[:, column]), np.flatnonzero(~lack[:, column])
        means = _means(distances[np.ix_(gaps, known)], donors[known, column, None])
        filled[gaps, column] = np.ldexp(means[:, 0], exponent)
    return filled


def _exponent(rows: Array) -> int:
    """The exponent of the power of two next to the largest number."""
    return int(np.frexp(np.nanmax(np.abs(rows), initial=0))[1])


def _means(distances: Array, values: Array) -> Array:
    """The means of the values of the nearest donors, shape (n_rows, n_columns)."""
    fifth = min(NEIGHBORS, len(values)) - 1
    near = distances <= np.partition(distances, fifth, axis=1)[:, fifth, None]
    counts = near.sum(axis=1)
    sums = np.add.reduceat(values[np.nonzero(near)[1]], np.cumsum(counts) - counts, axis=0)
    return np.asarray(sums / counts[:, None])


def _distances(rows: Array, donors: Array) -> Array:
    """Mean squares of differences, shape (n_rows, n_donors); infinite where none is known."""
    # Columns lie together in memory, so that differences are fast.
    rows, donors = (np.ascontiguousarray(each.T, dtype=np.float32) for each in (rows, donors))
    lack, donors_lack = np.isnan(rows), np.isnan(donors)
    # Sums of zeros and ones are exact.
    counts = (~lack).T.astype(np.float32) @ (~donors_lack).astype(np.float32)
    sums, squares = np.zeros_like(counts), np.empty_like(counts)
    for column, own in enumerate(rows):
        np.subtract(own[:, None], donors[column], out=squares)
        np.square(squares, out=squares)
        squares[lack[column]] = 0
        squares[:, donors_lack[column]] = 0
        sums += squares
    return np.divide(sums, counts, out=np.full_like(sums, np.inf), where=counts > 0)
