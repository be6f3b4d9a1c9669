"""Rows recognised by their values, whatever their order, their blocks or their zeros' signs."""

from hashlib import blake2b
from typing import Any

import numpy as np
import scipy.sparse

from kernelmeans._typing import Data, IntArray

#: Bytes of a digest: rows that differ share one with a chance of 2^-128.
DIGEST_BYTES = 16
#: Rows that are copied at a time.
DIGESTED_ROWS = 1024

#: Digests, an array of plain bytes that sorts.
Digests = np.ndarray[Any, np.dtype[np.void]]


def digests(X: Data, zeros_count: bool = False) -> Digests:
    """Bytes for each row that are equal where the values of rows are.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_rows, n_features)
        Rows of one dtype. The order of the entries of a CSR matrix does not count.
    zeros_count : bool, default=False
        Whether zeros that a CSR matrix stores are others than those that it does not.

    Returns
    -------
    ndarray of shape (n_rows,)
        16 bytes for each row.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat.equal import digests
    >>> found = digests(np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0]]))
    >>> bool(found[0] == found[1]), bool(found[0] == found[2])
    (True, False)
    """
    starts = range(0, X.shape[0], DIGESTED_ROWS)
    joined = b"".join(
        blake2b(row, digest_size=DIGEST_BYTES).digest()
        for start in starts
        for row in _contents(X[start : start + DIGESTED_ROWS], zeros_count)
    )
    return np.frombuffer(joined, dtype=f"V{DIGEST_BYTES}")


def _contents(X: Data, zeros_count: bool) -> list[bytes]:
    if not scipy.sparse.issparse(X):
        # Adding zero makes zeros of -0.0.
        return [row.tobytes() for row in X + X.dtype.type(0)]
    X = scipy.sparse.csr_array(X, copy=True)
    X.sum_duplicates()
    if not zeros_count:
        X.eliminate_zeros()
    columns = X.indices.astype(np.int64)
    bounds = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    return [columns[a:b].tobytes() + X.data[a:b].tobytes() for a, b in bounds]


def find(sorted_digests: Digests, wanted: Digests) -> IntArray:
    """Places of digests among sorted ones that differ; -1 where they are not among them.

    Parameters
    ----------
    sorted_digests : ndarray of shape (n,)
        In ascending order.
    wanted : ndarray of shape (n_rows,)
        What is looked for.

    Returns
    -------
    ndarray of int of shape (n_rows,)
        The places.
    """
    places = np.searchsorted(sorted_digests, wanted)
    places = np.minimum(places, len(sorted_digests) - 1)
    return np.where(sorted_digests[places] == wanted, places, -1)
