"""Numbers of clusters that eigenvalues suggest."""

import numpy as np
from numpy.typing import ArrayLike

from kernelmeans._given import received
from kernelmeans._typing import Array


def eigengap(eigenvalues: ArrayLike) -> int:
    """Number of eigenvalues before the largest gap between two that follow each other.

    Of a graph in k pieces that are well connected in themselves the first k eigenvalues are 1, and
    the others much smaller. So the number of eigenvalues above the largest gap estimates the number
    of clusters (von Luxburg 2007, section 8.3). Eigenvalues of the graph Laplacian are 1 minus
    these.

    Parameters
    ----------
    eigenvalues : array-like of shape (n_eigenvalues,)
        Eigenvalues of a normalized graph, in any order, such as ``eigenvalues_`` of a fit with
        ``kernel="heat"``. Give one more than the largest possible number of clusters: gaps further
        down tell nothing about clusters.

    Returns
    -------
    n_clusters : int
        The number, at least 1 and less than the number of eigenvalues; the smallest of several.

    Raises
    ------
    ValueError
        If there are fewer than two eigenvalues, or if they are not finite.

    Notes
    -----
    Graphs of nearest neighbours seldom have a clear gap: those of long or large clusters have many
    eigenvalues near 1.

    References
    ----------
    von Luxburg (2007), A tutorial on spectral clustering.

    Examples
    --------
    >>> from kernelmeans.metrics import eigengap
    >>> eigengap([1.0, 0.99, 0.97, 0.6, 0.55])
    3
    """
    values = _checked(eigenvalues, at_least=2)
    return int(np.argmax(-np.diff(values))) + 1


def effective_clusters(eigenvalues: ArrayLike, *, t: float | None = None) -> float:
    """Effective number of eigenvalues: small ones among large ones hardly count.

    It is the participation ratio (sum_j v_j)^2 / sum_j v_j^2 of the eigenvalues v_j of a kernel. If
    p_j are the fractions of their sum, this is 1 / sum_j p_j^2 (N_2 of Hill 1973). Heat that stays
    in one cluster is one state of a heat kernel, so that for k separate clusters the number is k.
    With ``t="auto"`` they add up to about ``n_clusters``. The number is then hardly less than
    ``n_clusters``, and near it if the graph has so many separate clusters.

    Parameters
    ----------
    eigenvalues : array-like of shape (n_eigenvalues,)
        Eigenvalues of a kernel, none negative. With ``t`` they are eigenvalues of a normalized
        graph, such as ``eigenvalues_`` of a fit with ``kernel="heat"``.
    t : float, default=None
        Time of a heat kernel, such as ``t_`` of the fit. The eigenvalues of the kernel are then
        exp(-2 (1 - eigenvalue) t).

    Returns
    -------
    n_clusters : float
        Between 1 and the number of eigenvalues.

    Raises
    ------
    ValueError
        If there are no eigenvalues, if they are not finite, if all are 0, if some are negative and
        there is no ``t``, or if ``t`` is negative.

    References
    ----------
    Hill (1973), Diversity and evenness: a unifying notation and its consequences.

    Examples
    --------
    >>> from kernelmeans.metrics import effective_clusters
    >>> effective_clusters([1.0, 1.0, 1.0, 0.0])
    3.0
    >>> round(effective_clusters([1.0, 0.99, 0.98, 0.2, 0.1], t=5.0), 2)
    2.98
    """
    values = _checked(eigenvalues, at_least=1)
    if t is not None:
        if not t >= 0:
            raise ValueError(f"t={t!r} must be a time, a number that is not negative.")
        values = np.exp(-2 * t * (values.max() - values))
    if values[-1] < 0 or not values[0]:
        raise ValueError(
            f"eigenvalues lie between {values[-1]:.3g} and {values[0]:.3g}: those of a kernel are "
            "not negative and not all 0. For eigenvalues of a graph give the time t."
        )
    fractions = values / values.sum()
    return float(1 / (fractions @ fractions))


def _checked(eigenvalues: ArrayLike, at_least: int) -> Array:
    """The eigenvalues in descending order."""
    values = np.asarray(received(eigenvalues, "eigenvalues"), dtype=float)
    if values.ndim != 1 or len(values) < at_least or not np.isfinite(values).all():
        raise ValueError(
            f"eigenvalues has shape {values.shape} and {np.count_nonzero(~np.isfinite(values))} "
            f"values that are not finite: give at least {at_least} finite numbers."
        )
    return np.sort(values)[::-1]
