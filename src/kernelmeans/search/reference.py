"""Data without clusters, to compare a stability with."""

import numpy as np

from kernelmeans._typing import Array
from kernelmeans.heat.distinct import DistinctRows
from kernelmeans.heat.dither import ANSWERS, untorn

#: Kinds of data without clusters: a Gaussian, and a box of even density.
KINDS = "gaussian", "box"
#: Singular values below this fraction of the largest one are rounding.
NEGLIGIBLE = 1e-9


class Reference:
    """Data of the shape of X without its clusters.

    A fit to long data cuts across them in the same place each time, even if they have no clusters.
    So the draws have the shape of X: they share its principal axes and variances, or its extent
    along each axis. A fit may also cut between the values of a count that are a long step apart. So
    counts that tear the graph of neighbours have the same values in the draws. Nothing else of X
    is in them.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Rows, without NaN.

    References
    ----------
    The box is the reference of Tibshirani, Walther and Hastie (2001), "Estimating the number of
    clusters in a data set via the gap statistic", Section 3(b); the Gaussian is that of Liu,
    Hayes, Nobel and Marron (2008), "Statistical significance of clustering for high-dimension,
    low-sample size data".

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.search.reference import Reference
    >>> X = np.random.default_rng(0).standard_normal((300, 3)) * [5, 1, 1]
    >>> Z = Reference(X).draw("gaussian", np.random.default_rng(1))
    >>> Z.shape, bool(Z[:, 0].std() > 4)
    ((300, 3), True)
    """

    def __init__(self, X: Array) -> None:
        self.mean = X.mean(axis=0)
        U, scales, axes = np.linalg.svd(X - self.mean, full_matrices=False)
        kept = scales > NEGLIGIBLE * scales[0]
        self.axes = axes[kept]
        self.deviations = scales[kept] / np.sqrt(len(X))
        along = U[:, kept] * scales[kept]
        self.lowest, self.highest = along.min(axis=0), along.max(axis=0)
        self.n_samples, self.dtype = len(X), X.dtype
        nearest = DistinctRows.of(X, None, "euclidean").nearest
        _, torn = untorn(nearest, nearest.auto_neighbors(2))
        counts = [(place, np.unique(X[:, place])) for place in torn.tolist()]
        self.counts = [(place, values) for place, values in counts if len(values) > ANSWERS]

    def draw(self, kind: str, generator: np.random.Generator) -> Array:
        """As many rows as X has.

        Parameters
        ----------
        kind : {"gaussian", "box"}
            Distribution along the principal axes.
        generator : numpy.random.Generator
            Source of the numbers.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            The rows.
        """
        shape = self.n_samples, len(self.axes)
        if kind == "gaussian":
            along = generator.standard_normal(shape) * self.deviations
        else:
            along = generator.uniform(self.lowest, self.highest, shape)
        rows: Array = (self.mean + along @ self.axes).astype(self.dtype)
        for place, values in self.counts:
            middles = (values[1:] + values[:-1]) / 2
            rows[:, place] = values[np.searchsorted(middles, rows[:, place])]
        return rows
