"""From a graph to features of its rows: leading eigenpairs, and the time of heat."""

import math
from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse

from kernelmeans._memory import remembered
from kernelmeans._typing import Array, BoolArray, Data, IntArray
from kernelmeans.heat.eigenpairs import (
    DENSE_ROWS,
    leading_pairs,
    need_coarser,
    normalized,
    pair_count,
    part_of,
)
from kernelmeans.heat.multilevel import leading_pairs_of_large
from kernelmeans.heat.pieces import Pieces, apart
from kernelmeans.kernels.formulas import unit_rows

#: Rows of a piece up to which all its eigenpairs are computed, so that residuals are known. For
#: larger pieces they would take a noticeable part of the time of a fit.
WHOLE_ROWS = 200
#: Eigenpairs by which the number that is sought grows.
PAIRS = 8
#: Sum of the decaying states at which all pieces count as mixed.
MIXED = 1e-3
#: Relative accuracy of a time.
ACCURACY = 1e-9
#: Fraction of a state below which an eigenpair is dropped.
NEGLIGIBLE = 1e-2
#: Smallest norm of diffusion coordinates, relative to the largest, so that none vanishes.
LEAST_NORM = 1e-15


class Basis(NamedTuple):
    """Features whose inner products are the cosine form of a heat kernel of leading eigenpairs.

    Attributes
    ----------
    features : ndarray of shape (n_rows, r)
        Features of norm 1; zeros for rows of pieces that are not kept.
    values : ndarray of shape (r,)
        The eigenvalue of each column, in descending order.
    t : float
        The time.
    norms : ndarray of shape (n_rows,)
        Norms of the diffusion coordinates of rows, D^-1/2 U exp(-(1 - lambda) t), relative to the
        largest. The features are their directions. Zeros for rows of pieces that are not kept.
    residuals : ndarray of shape (n_rows,) or None
        The fraction of H_ii that is lost by leaving out eigenpairs, where H has all of them. Zeros
        for rows of pieces that are not kept. None if it is not known.
    """

    features: Array
    values: Array
    t: float
    norms: Array
    residuals: Array | None = None


class Spectrum(NamedTuple):
    """The leading eigenpairs of a graph, from which features at any time follow.

    Attributes
    ----------
    S : CSR array of shape (n_rows, n_rows)
        The normalized graph.
    degrees : ndarray of shape (n_rows,)
        The diagonal of D.
    pieces : Pieces
        Its connected components.
    pairs : list of (ndarray, ndarray)
        The `leading_pairs` of each piece that is kept.
    values : ndarray of shape (r,)
        The largest eigenvalues of all pieces. The first of each piece is 1, and comes before all
        others.
    piece, rank : ndarray of int of shape (r,)
        The piece of each, and its place there.
    n_clusters : int
        Number of clusters.
    is_apart : bool
        Whether features are put `apart`.
    """

    S: Data
    degrees: Array
    pieces: Pieces
    pairs: list[tuple[Array, Array]]
    values: Array
    piece: IntArray
    rank: IntArray
    n_clusters: int
    is_apart: bool = False

    @classmethod
    def of(cls, graph: Data, pieces: Pieces, n_clusters: int, is_apart: bool = False) -> "Spectrum":
        """The `pair_count` leading eigenpairs of all pieces of a graph.

        Parameters
        ----------
        graph : CSR array of shape (n_rows, n_rows)
            Edges A. The eigenvalues of D^-1/2 A D^-1/2 are lambda, and its eigenvectors U.
        pieces : Pieces
            Its connected components.
        n_clusters : int
            Number of clusters.
        is_apart : bool, default=False
            Whether pieces are put `apart`, if they are several and fewer than the clusters.

        Returns
        -------
        Spectrum
            The pairs.

        Examples
        --------
        >>> import numpy as np, scipy.sparse
        >>> from kernelmeans.heat.basis import Spectrum
        >>> from kernelmeans.heat.pieces import find_pieces
        >>> graph = scipy.sparse.csr_array(np.kron(np.eye(2), np.ones((3, 3))))
        >>> features = Spectrum.of(graph, find_pieces(graph, 2), 2).features(t=9.0)
        >>> (features @ features.T).round(2)[0] + 0.0
        array([1., 1., 1., 0., 0., 0.])
        """
        count, S = pair_count(n_clusters), normalized(graph)
        pairs = _leading(graph, S, pieces, count)
        piece = np.repeat(np.arange(len(pairs)), [len(values) for values, _ in pairs])
        rank = np.concatenate([np.arange(len(values)) for values, _ in pairs])
        values = np.concatenate([values for values, _ in pairs])
        order = np.lexsort((-values, rank > 0))[:count]
        values, piece, rank = values[order], piece[order], rank[order]
        is_apart = is_apart and pieces.n_groups > 1 and pieces.n_kept < n_clusters
        degrees = graph.sum(axis=1)
        return cls(S, degrees, pieces, pairs, values, piece, rank, n_clusters, is_apart)

    def time(self) -> float:
        """The time at which there are as many states as clusters, see `solve_time`."""
        return solve_time(self.values, self.n_clusters, self.pieces.n_kept)

    def basis(self, t: float) -> Basis:
        """The features at a time, without eigenpairs that `weighted` leaves out.

        Residuals are known if no piece has more than 200 rows and no H_ii is rounded to 0.
        """
        features, kept = self.weighted(t)
        n_kept = np.bincount(self.piece[kept], minlength=len(self.pairs)).tolist()
        residuals = self._residuals(n_kept, t)
        if residuals is not None and self.is_apart:
            residuals = residuals / (1 + np.square(self.pieces.marks).max())
        return Basis(
            self._placed(features, kept), self.values[kept], t, self._norms(features), residuals
        )

    def _norms(self, features: Array) -> Array:
        """Norms of diffusion coordinates, relative to the largest."""
        found: Array = np.sqrt(np.einsum("ij,ij->i", features, features) / self.degrees)
        kept = self.pieces.kept
        found[kept] = np.maximum(found[kept] / found.max(), LEAST_NORM)
        return found

    def features(self, t: float) -> Array:
        """The features of `basis`, without the residuals."""
        return self._placed(*self.weighted(t))

    def _placed(self, features: Array, kept: BoolArray) -> Array:
        """Features of norm 1 of the eigenpairs that are kept, put apart or not."""
        found = np.asarray(unit_rows(features))
        if not self.is_apart:
            return found
        # With a single feature, rows are as near to each other as a mark would make them.
        several = np.bincount(self.pieces.groups[self.piece[kept]]) > 1
        return apart(found, self.pieces.marks[:, several])

    def weighted(self, t: float) -> tuple[Array, BoolArray]:
        """The rows of U exp(-(1 - lambda) t) at a time, and which eigenpairs are in them.

        Those of negligible weight are left out, except as many as clusters.
        """
        weights = np.exp(-t * (1 - self.values))
        # The square is the fraction of a state that is not yet mixed.
        kept = weights**2 > NEGLIGIBLE
        # Fewer features than clusters could not tell all of them apart.
        kept |= (self.rank == 0) | (np.arange(len(kept)) < self.n_clusters)
        precision = np.result_type(*(vectors for _, vectors in self.pairs))
        features = np.zeros((self.S.shape[0], np.count_nonzero(kept)), precision)
        for column, index in enumerate(np.flatnonzero(kept)):
            piece, rank = self.piece[index], self.rank[index]
            vector = self.pairs[piece][1][:, rank]
            features[self.pieces.rows(piece), column] = vector * weights[index]
        return features, kept

    def _residuals(self, n_kept: list[int], t: float) -> Array | None:
        if self.pieces.sizes[0] > WHOLE_ROWS:
            return None
        residuals = np.zeros(self.S.shape[0])
        for piece, own in enumerate(self.pairs):
            rows = self.pieces.rows(piece)
            residuals[rows] = residuals_of(self.S, rows, *own, n_kept[piece], t)
        return None if np.isnan(residuals).any() else residuals


def _leading(graph: Data, S: Data, pieces: Pieces, count: int) -> list[tuple[Array, Array]]:
    """The pairs of each piece that may be among the leading ones of all.

    A few more are sought, so that fits of similar numbers of clusters look for the same.
    """
    sought = -(-count // PAIRS) * PAIRS
    pairs = remembered(
        lambda: _sought(graph, S, pieces, sought),
        lambda: (S.data, S.indices, S.indptr, pieces.labels, pieces.n_kept, sought),
    )
    return [(values[:count], vectors[:, :count]) for values, vectors in pairs]


def _sought(graph: Data, S: Data, pieces: Pieces, sought: int) -> list[tuple[Array, Array]]:
    """So many leading pairs of all pieces together, at least."""
    rows = [pieces.rows(piece) for piece in range(pieces.n_kept)]
    # In proportion to the rows at first. Small pieces take no time.
    parts = [sought * len(own) / sum(map(len, rows)) // PAIRS + 1 for own in rows]
    counts = [
        sought if len(own) <= DENSE_ROWS else min(int(part) * PAIRS, sought)
        for own, part in zip(rows, parts, strict=True)
    ]
    pairs = [_pairs_of(graph, S, *one) for one in zip(rows, counts, strict=True)]
    while True:
        found = np.sort(np.concatenate([values for values, _ in pairs]))[::-1]
        least = found[min(sought, len(found)) - 1]
        # A piece may have more leading pairs if all that were found are above the least.
        short = [
            piece
            for piece, (values, _) in enumerate(pairs)
            if values[-1] > least and len(values) < min(sought, len(rows[piece]))
        ]
        if not short:
            return pairs
        for piece in short:
            pairs[piece] = _pairs_of(graph, S, rows[piece], min(2 * len(pairs[piece][0]), sought))


def _pairs_of(graph: Data, S: Data, rows: IntArray, count: int) -> tuple[Array, Array]:
    if need_coarser(len(rows), count):
        return leading_pairs_of_large(part_of(graph, rows), count)
    return leading_pairs(S, rows, count)


def residuals_of(
    S: Data, rows: IntArray, values: Array, vectors: Array, n_kept: int, t: float
) -> Array:
    """The fraction of the diagonal of H = exp(-2 t (I - S)) that the first eigenpairs do not have.

    Parameters
    ----------
    S : CSR array of shape (n_samples, n_samples)
        The normalized graph.
    rows : ndarray of int of shape (n_rows,)
        Rows of one connected component.
    values : ndarray of shape (r,)
        Largest eigenvalues of it, in descending order.
    vectors : ndarray of shape (n_rows, r)
        Their eigenvectors.
    n_kept : int
        Number of eigenpairs that are kept.
    t : float
        The time.

    Returns
    -------
    ndarray of shape (n_rows,)
        Fractions of H_ii, those of all other eigenpairs; NaN where H_ii is rounded to 0.

    Examples
    --------
    >>> import numpy as np, scipy.sparse
    >>> from kernelmeans.heat.basis import residuals_of
    >>> from kernelmeans.heat.eigenpairs import leading_pairs
    >>> S, rows = scipy.sparse.csr_array(np.full((2, 2), 0.5)), np.arange(2)
    >>> residuals_of(S, rows, *leading_pairs(S, rows, 2), n_kept=1, t=1.0).round(4)
    array([0.1192, 0.1192])
    """
    weighted = vectors * np.exp(-t * (1 - values))
    kept, others = weighted[:, :n_kept], weighted[:, n_kept:]
    diagonal = np.einsum("ij,ij->i", kept, kept)
    # Pairs that have not been computed have no larger weights than the last that has.
    rest = math.exp(-2 * t * (1 - values[-1]))
    if len(values) < len(rows) and rest > np.finfo(np.float64).eps * diagonal.min():
        values, others = scipy.linalg.eigh(part_of(S, rows).toarray(), driver="evd")
        others *= np.exp(-t * (1 - np.minimum(values, 1)))
        # Vectors of equal eigenvalues may differ from the kept ones, which are projected out.
        others -= vectors[:, :n_kept] @ (vectors[:, :n_kept].T @ others)
    lacking = np.einsum("ij,ij->i", others, others)
    with np.errstate(invalid="ignore"):
        return np.asarray(lacking / (diagonal + lacking))


def states(values: Array, t: float) -> float:
    """The number of states not yet mixed at a time: sum_j exp(-2 (1 - lambda_j) t).

    Parameters
    ----------
    values : ndarray of shape (r,)
        Eigenvalues of the normalized graph.
    t : float
        The time.

    Returns
    -------
    float
        Their number, which is the trace of the kernel: all at first, in the end one for each piece.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat.basis import states
    >>> states(np.array([1.0, 0.5, 0.0]), 0.0)
    3.0
    """
    return float(np.exp(-2 * t * (1 - values)).sum())


def solve_time(values: Array, n_clusters: int, n_pieces: int) -> float:
    """The time at which there are as many states as clusters.

    Only the states of the given eigenvalues count. A fit gives the 2 k + 10 leading ones of k
    clusters, so that its time is slightly shorter than that of all eigenvalues.

    The states of different pieces of the graph never mix. If there are as many pieces as clusters,
    or more, it is the time at which each piece is mixed.

    Parameters
    ----------
    values : ndarray of shape (r,)
        Eigenvalues, of which the ``n_pieces`` largest are 1.
    n_clusters : int
        Number of clusters.
    n_pieces : int
        Number of pieces of the graph.

    Returns
    -------
    float
        The time; 0 if there are fewer states from the start.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat.basis import solve_time, states
    >>> values = np.array([1.0, 0.9, 0.5, 0.1])
    >>> round(states(values, solve_time(values, n_clusters=2, n_pieces=1)), 6)
    2.0
    """
    decaying = np.sort(values)[::-1][n_pieces:]
    target = max(n_clusters - n_pieces, MIXED)
    if len(decaying) <= target:
        return 0.0
    # Bisection: at the first of these times there are more states, and at the second fewer.
    low, high = 0.0, math.log(len(decaying) / target) / (2 * max(1 - float(decaying[0]), 1e-15))
    while high - low > ACCURACY * high:
        middle = (low + high) / 2
        low, high = (middle, high) if states(decaying, middle) > target else (low, middle)
    return high
