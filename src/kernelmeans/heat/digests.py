"""Digests of rows, by which equal rows are found."""

from hashlib import blake2b
from typing import Any

import numpy as np
import scipy.sparse

from kernelmeans._memory import remembered
from kernelmeans._typing import Data, IntArray

#: Bytes of a digest: two distinct rows have the same one with probability 2^-128.
DIGEST_BYTES = 16
#: Rows in a block that is copied at once.
DIGESTED_ROWS = 1024

#: An array of digests, which can be sorted.
Digests = np.ndarray[Any, np.dtype[np.void]]


def digests(X: Data, zeros_count: bool = False) -> Digests:
    """A digest for each row; those of two rows are equal if their values are.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_rows, n_features)
        Rows of one dtype; a CSR matrix has each entry once, in order.
    zeros_count : bool, default=False
        Whether a zero that a CSR matrix stores differs from one that it does not store.

    Returns
    -------
    ndarray of shape (n_rows,)
        16 bytes for each row.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat.digests import digests
    >>> found = digests(np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0]]))
    >>> bool(found[0] == found[1]), bool(found[0] == found[2])
    (True, False)
    """
    # Within a search they are found again by a hash of all rows, which takes less time.
    return remembered(lambda: _digests(X, zeros_count), lambda: ("digests", X, zeros_count))


def _digests(X: Data, zeros_count: bool) -> Digests:
    starts = range(0, X.shape[0], DIGESTED_ROWS)
    joined = b"".join(
        blake2b(row, digest_size=DIGEST_BYTES).digest()
        for start in starts
        for row in _contents(X[start : start + DIGESTED_ROWS], zeros_count)
    )
    return np.frombuffer(joined, dtype=f"V{DIGEST_BYTES}")


def _contents(X: Data, zeros_count: bool) -> list[bytes]:
    if not scipy.sparse.issparse(X):
        # Adding zero turns -0.0 into 0.0.
        return [row.tobytes() for row in X + X.dtype.type(0)]
    X = scipy.sparse.csr_array(X, copy=True)
    if not zeros_count:
        X.eliminate_zeros()
    columns = X.indices.astype(np.int64)
    bounds = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    return [columns[a:b].tobytes() + X.data[a:b].tobytes() for a, b in bounds]


def find(known: Digests, sought: Digests) -> IntArray:
    """Places of digests among known ones; -1 for those that are not known.

    Parameters
    ----------
    known : ndarray of shape (n,)
        Digests in ascending order. Of equal ones the first is found.
    sought : ndarray of shape (n_rows,)
        The digests to find.

    Returns
    -------
    ndarray of int of shape (n_rows,)
        The places.
    """
    places = np.minimum(np.searchsorted(known, sought), len(known) - 1)
    return np.where(known[places] == sought, places, -1)
