"""From a graph to coordinates of its rows: eigenpairs, time, features."""

from typing import NamedTuple

import numpy as np

from kernelmeans._typing import Array, Data
from kernelmeans.heat.pieces import Pieces
from kernelmeans.heat.spectrum import Pairs, first_counts, leading_pairs
from kernelmeans.heat.time import solve_time

#: Share of a state below which an eigenpair is left out, as are those that come after it.
NEGLIGIBLE = 1e-2
#: Most eigenpairs of a large graph, for each cluster and beside that, however short the time.
MOST_PER_CLUSTER, MOST_BESIDE = 20, 200


class Basis(NamedTuple):
    """Coordinates whose inner products are the cosine form of a heat kernel.

    Attributes
    ----------
    features : ndarray of shape (n_rows, r)
        Rows of length 1; zeros for rows of pieces that are not kept.
    values : ndarray of shape (r,)
        The eigenvalue of each column, in descending order.
    t : float
        The time.
    """

    features: Array
    values: Array
    t: float


def heat_basis(S: Data, pieces: Pieces, n_clusters: int, t: float | str = "auto") -> Basis:
    """Rows of U exp(-(1 - lambda) t), scaled to length 1.

    Parameters
    ----------
    S : CSR array of shape (n_rows, n_rows)
        The normalised graph D^-1/2 A D^-1/2.
    pieces : Pieces
        Its connected components.
    n_clusters : int
        Clusters looked for.
    t : "auto" or float, default="auto"
        The time; ``"auto"`` is `solve_time`.

    Returns
    -------
    Basis
        Features, eigenvalues and time.

    Examples
    --------
    >>> import numpy as np, scipy.sparse
    >>> from kernelmeans.heat.basis import heat_basis
    >>> from kernelmeans.heat.pieces import find_pieces
    >>> S = scipy.sparse.csr_array(np.kron(np.eye(2), np.full((3, 3), 1 / 3)))
    >>> features = heat_basis(S, find_pieces(S, 2), 2).features
    >>> (features @ features.T).round(2)[0] + 0.0
    array([1., 1., 1., 0., 0., 0.])
    """
    rows = [np.flatnonzero(pieces.labels == piece) for piece in range(pieces.n_kept)]
    most = MOST_PER_CLUSTER * n_clusters + MOST_BESIDE
    wanted = first_counts(pieces.sizes[: pieces.n_kept], n_clusters)
    found = [leading_pairs(S, own, count) for own, count in zip(rows, wanted, strict=True)]
    while True:
        values = np.concatenate([own.values for own in found])
        time = solve_time(values, n_clusters, pieces.n_kept) if isinstance(t, str) else t
        if len(values) >= most:
            break
        short = [index for index, own in enumerate(found) if _goes_on(own, time)]
        if not short:
            break
        for index in short:
            found[index] = leading_pairs(S, rows[index], 2 * len(found[index].values))
    return _basis(found, S.shape[0], time)


def _goes_on(pairs: Pairs, t: float) -> bool:
    """Whether the pairs that were not computed may count."""
    return not pairs.complete and np.exp(-2 * t * (1 - pairs.values[-1])) > NEGLIGIBLE


def _basis(found: list[Pairs], n_rows: int, t: float) -> Basis:
    weights = [np.exp(-t * (1 - own.values)) for own in found]
    widths = [max(1, int(np.count_nonzero(own**2 > NEGLIGIBLE))) for own in weights]
    ends = np.cumsum([0, *widths])
    features = np.zeros((n_rows, ends[-1]))
    values = np.empty(ends[-1])
    for own, weight, width, first in zip(found, weights, widths, ends[:-1], strict=True):
        columns = slice(first, first + width)
        features[own.rows, columns] = unit_rows(own.vectors[:, :width] * weight[:width])
        values[columns] = own.values[:width]
    order = np.argsort(-values, kind="stable")
    return Basis(features[:, order], values[order], t)


def unit_rows(X: Array) -> Array:
    """Rows scaled to length one; those of zeros stay."""
    lengths = np.sqrt(np.einsum("ij,ij->i", X, X))
    unit: Array = X / np.where(lengths > 0, lengths, 1)[:, None]
    return unit
