"""From a graph to coordinates of its rows: eigenpairs, time, features."""

from typing import NamedTuple

import numpy as np

from kernelmeans._typing import Array, Data
from kernelmeans.heat.pieces import Pieces
from kernelmeans.heat.spectrum import leading_pairs, pair_count
from kernelmeans.heat.time import solve_time

#: Share of a state below which an eigenpair is left out.
NEGLIGIBLE = 1e-2


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
    count = pair_count(n_clusters)
    rows = [np.flatnonzero(pieces.labels == piece) for piece in range(pieces.n_kept)]
    found = [leading_pairs(S, own, count) for own in rows]
    # The largest of all pieces; that of each piece is the same, 1, and comes before all others.
    first = np.concatenate([np.arange(len(own.values)) > 0 for own in found])
    values = np.concatenate([own.values for own in found])
    order = np.lexsort((-values, first))[:count]
    time = solve_time(values[order], n_clusters, pieces.n_kept) if isinstance(t, str) else t
    ends = np.cumsum([0, *(len(own.values) for own in found)])
    weights = np.exp(-time * (1 - values[order]))
    kept = (weights**2 > NEGLIGIBLE) | ~first[order]
    order, weights = order[kept], weights[kept]
    features = np.zeros((S.shape[0], len(order)))
    for own, begin, end in zip(found, ends[:-1], ends[1:], strict=True):
        columns = np.flatnonzero((begin <= order) & (order < end))
        heat = own.vectors[:, order[columns] - begin] * weights[columns]
        features[own.rows[:, None], columns] = unit_rows(heat)
    return Basis(features, values[order], time)


def unit_rows(X: Array) -> Array:
    """Rows scaled to length one; those of zeros stay."""
    lengths = np.sqrt(np.einsum("ij,ij->i", X, X))
    unit: Array = X / np.where(lengths > 0, lengths, 1)[:, None]
    return unit
