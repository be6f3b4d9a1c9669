"""Gaps in numbers, filled from the rows that are nearest."""

import numpy as np
from sklearn.utils import gen_batches

from kernelmeans._memory import remembered
from kernelmeans._typing import Array, BoolArray, IntArray
from kernelmeans.heat.digests import digests

#: Rows whose median fills a gap. An odd number, so that it is a value of the column.
NEIGHBORS = 5
#: Most rows that gaps are filled from, and their most numbers, which are in the model file.
DONORS, NUMBERS = 1000, 2**20
#: Decimals of numbers, in units of about the largest of a column, that decide which rows these are.
#: Rounding leaves them alone.
DECIMALS = 6
#: Pairs of rows that are compared at once: they fit into a processor's memory.
PAIRS = 2**18
#: Rows whose digests are computed at once.
BATCH = 2**16


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
    rows = rows[np.argsort(_lots(Z, rows), kind="stable")]
    count = min(DONORS, max(NUMBERS // Z.shape[1], NEIGHBORS))
    chosen = [rows[:count]]
    for column in np.flatnonzero(np.isnan(Z[chosen[0]]).all(axis=0)):
        chosen.append(rows[~np.isnan(Z[rows, column])][:NEIGHBORS])
    _, first = np.unique(np.concatenate(chosen), return_index=True)
    return _completed(Z[np.concatenate(chosen)[np.sort(first)]])


def _lots(Z: Array, rows: IntArray) -> Array:
    """A number for each row by its content, and by how many equal rows have one already."""
    batches = [rows[batch] for batch in gen_batches(len(rows), BATCH)]
    largest = np.max([np.nanmax(np.abs(Z[own]), axis=0, initial=0) for own in batches], axis=0)
    unit = -np.frexp(largest)[1]
    found = [digests(np.round(np.ldexp(Z[own], unit), DECIMALS)) for own in batches]
    _, equal, counts = np.unique(np.concatenate(found), return_inverse=True, return_counts=True)
    order = np.argsort(equal, kind="stable")
    copy = np.empty(len(rows), np.uint64)
    copy[order] = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    # An odd multiplier scatters copies among the other rows.
    lots = np.concatenate(found).view(np.uint64).reshape(len(rows), -1)[:, 0]
    return np.asarray(lots + copy * np.uint64(0x9E3779B97F4A7C15))


def fill(Z: Array, donors: Array) -> None:
    """Fill the gaps of each row with medians of the five donors that are nearest to it.

    Distances are means over all columns in which a row has numbers. A row without any, or too far
    from all donors, gets the medians of all donors.

    All is computed number by number, and of donors at equal distances the first ones count. So a
    row gets the same in any block of rows and by any number of threads.

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
    if len(lacking):
        rows = Z[lacking]
        Z[lacking] = remembered(lambda: _filled(rows, donors), lambda: ("gaps", rows, donors))


def _filled(rows: Array, donors: Array) -> Array:
    filled = np.empty_like(rows)
    for block in gen_batches(len(rows), max(1, PAIRS // len(donors))):
        medians = _medians(_distances(rows[block], donors), donors)
        filled[block] = np.where(np.isnan(rows[block]), medians, rows[block])
    return filled


def _completed(donors: Array) -> Array:
    """Donors whose gaps are filled from those that have a number there; with 0 if none has."""
    lack, filled = np.isnan(donors), donors.copy()
    distances = _distances(donors, donors) if lack.any() else donors
    for column in np.flatnonzero(lack.any(axis=0)):
        gaps, known = np.flatnonzero(lack[:, column]), np.flatnonzero(~lack[:, column])
        filled[gaps, column] = 0
        if len(known):
            near = distances[np.ix_(gaps, known)]
            filled[gaps, column] = _medians(near, donors[known, column, None])[:, 0]
    return filled


@np.errstate(over="ignore")  # of a row too far from all donors
def _distances(rows: Array, donors: Array) -> Array:
    """Mean squares of differences, shape (n_rows, n_donors); infinite where none is known."""
    middle = _middle(donors)
    largest = np.nanmax(np.abs(donors - middle), initial=0)
    # A power of two costs no digit, and squares do not overflow. Columns lie together in memory.
    rows, donors = (
        np.ldexp(each - middle, -np.frexp(largest)[1]).T.astype(np.float32, order="C")
        for each in (rows, donors)
    )
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


def _medians(distances: Array, values: Array) -> Array:
    """The medians of the values of the nearest donors, shape (n_rows, n_columns)."""
    count = min(NEIGHBORS, len(values))
    # Squares are ordered as their bits are. Behind these stand the places of the donors.
    keys = distances.view(np.int32).astype(np.int64) << 32 | np.arange(len(values))
    near = np.partition(keys, count - 1, axis=1)[:, :count] & 0xFFFFFFFF
    medians = _middle(values[near], axis=1)
    medians[np.isinf(distances.min(axis=1))] = _middle(values)
    return medians


def _middle(values: Array, axis: int = 0) -> Array:
    """The lower median of the numbers along an axis, which is one of them; 0 if there is none."""
    ordered = np.sort(values, axis=axis)
    place = np.maximum((~np.isnan(ordered)).sum(axis=axis, keepdims=True) - 1, 0) // 2
    return np.nan_to_num(np.take_along_axis(ordered, place, axis=axis).squeeze(axis))
