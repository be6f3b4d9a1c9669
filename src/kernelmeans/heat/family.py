"""Heat kernels for people who cannot choose the number of neighbours."""

from typing import Any

from kernelmeans._typing import Data
from kernelmeans.heat.kernel import HeatKernel
from kernelmeans.kernels.kernel import Kernel

#: Neighbours of the kernels, in units of ``n_neighbors="auto"``. More come first: the search for
#: them finds those of the other too. Four times as many join thin clusters.
TIMES = (2, 1)


def neighbour_family(X: Data, sample_weight: Any = None, metric: str = "euclidean") -> list[Kernel]:
    """Two heat kernels, of twice as many neighbours as ``n_neighbors="auto"`` and of as many.

    Parameters
    ----------
    X : {array, CSR matrix} of shape (n_samples, n_features)
        Training rows, which count only when the kernels are fitted.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights, likewise.
    metric : {"euclidean", "cosine"}, default="euclidean"
        What neighbours are near in.

    Returns
    -------
    list of HeatKernel
        Not fitted, the one of most neighbours first.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat import neighbour_family
    >>> X = np.random.default_rng(0).random((160, 2))
    >>> [own.fit(X, n_clusters=10).parameters["n_neighbors"] for own in neighbour_family(X)]
    [10, 5]
    """
    return [HeatKernel(metric=metric, times=times, family="neighbors") for times in TIMES]
