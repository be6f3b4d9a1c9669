"""k(x, x) of rows of a precomputed kernel, which the rows themselves do not hold."""

from typing import Any

import numpy as np

from kernelmeans._typing import Array
from kernelmeans._warnings import warn_user

#: Bytes of rows that are digested at a time.
DIGEST_BYTES = 2**20


class TrainingDiagonal:
    """What is known of k(x, x) from the training kernel matrix.

    Parameters
    ----------
    K : ndarray of shape (n_samples, n_samples)
        The training kernel matrix; its diagonal and a digest of each row are kept.
    """

    def __init__(self, K: Array) -> None:
        self.values = np.diagonal(K).copy()
        # Where all are alike it does not matter which row is which.
        digests = _digests(K) if np.ptp(self.values) else np.empty(0, np.uint64)
        self._order = np.argsort(digests)
        self._sorted = digests[self._order]

    def of(self, rows: Array, given: Any = None) -> Array:
        """k(x, x) of rows of kernel values against the training rows.

        Parameters
        ----------
        rows : ndarray of shape (n_rows, n_samples)
            Rows.
        given : array-like of shape (n_rows,), default=None
            What the user knows. Else a row that equals a training row has its diagonal, and any
            other row the training diagonal if that is constant, its mean with a warning if not.

        Returns
        -------
        ndarray of shape (n_rows,)
            The diagonal.

        Raises
        ------
        ValueError
            If the given diagonal has the wrong shape or is not finite.
        """
        n = rows.shape[0]
        if given is not None:
            diagonal = np.asarray(given, dtype=rows.dtype)
            if diagonal.shape != (n,) or not np.isfinite(diagonal).all():
                raise ValueError(
                    f"diagonal must hold k(x, x), a finite number for each of the {n} rows of X, "
                    f"got shape {diagonal.shape}."
                )
            return diagonal
        if not np.ptp(self.values):
            return np.full(n, self.values[0])
        digests = _digests(rows)
        place = np.minimum(np.searchsorted(self._sorted, digests), len(self._sorted) - 1)
        known = self._sorted[place] == digests
        mean = self.values.mean(dtype=np.float64)
        if not known.all() and np.ptp(self.values) > np.sqrt(np.finfo(rows.dtype).eps) * abs(mean):
            warn_user(
                "kernel='precomputed': k(x, x) of new rows is unknown and the training diagonal "
                "is not constant; using its mean. Pass diagonal= for exact distances.",
            )
        return np.where(known, self.values[self._order[place]], rows.dtype.type(mean))


def _digests(rows: Array) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Eight bytes for each row that differ when the rows do, but for a chance of 2^-32 at most.

    Sums of a row's words times random numbers, modulo 2^64: exact, whatever is added first.
    """
    size = rows.shape[1] * rows.itemsize // 4
    factors = np.random.default_rng(0).integers(2**64, size=size, dtype=np.uint64)
    step = max(1, DIGEST_BYTES // (4 * size))
    digests = np.empty(len(rows), np.uint64)
    for start in range(0, len(rows), step):
        words = np.ascontiguousarray(rows[start : start + step]).view(np.uint32)
        digests[start : start + step] = words @ factors
    return digests
