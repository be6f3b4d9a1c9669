"""Leading eigenpairs of large graphs: those of coarser graphs, filtered in finer ones.

Each node of a coarser graph stands for a few neighbouring nodes. The eigenvectors of the coarsest
graph are cheap. Those of a finer graph differ from them in short waves, which a polynomial damps.
"""

import math
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.engines import Threads
from kernelmeans.heat.eigenpairs import coarsest_size, leading_pairs, normalized, with_extra
from kernelmeans.spaces.kernel_rows import slices

#: Fraction of the nodes that a coarser graph has at most.
COARSER = 0.9
#: Relative difference of edges that count as equal.
TIES = 1e-3
#: Rounds in which nodes choose a neighbour.
MATCHING_ROUNDS = 2
#: How many times as large as a damped eigenvector the first one is after a polynomial.
AMPLIFIED = 10.0
#: Lowest and highest degree of a polynomial. The lowest damps the waves that are too short for a
#: coarser graph.
DEGREES = 8, 100
#: Relative change of gaps below which the vectors count as found, and most polynomials. With more
#: of them labels are the same.
SETTLED, MOST_ROUNDS = 0.05, 6
#: Rows of a graph that are multiplied at once, and vectors that are multiplied in float64.
BLOCK_ROWS, COLUMNS = 2**12, 16


class Level(NamedTuple):
    """A graph, and the coarser one.

    Attributes
    ----------
    S : CSR array of shape (n_nodes, n_nodes)
        The normalized graph.
    parents : ndarray of int of shape (n_nodes,)
        The coarser node that each node is a part of.
    roots : ndarray of shape (n_nodes,)
        The part that each node has in the first eigenvector if that of its parent has 1.
    """

    S: Data
    parents: IntArray
    roots: Array


def leading_pairs_of_large(graph: Data, count: int) -> tuple[Array, Array]:
    """Largest eigenvalues of a large connected graph, and their eigenvectors.

    They are as accurate as labels need. The gaps of the eigenvalues to 1 are Rayleigh quotients in
    float64, which are never too small. Where the spectrum is dense they are some percent too large.

    Parameters
    ----------
    graph : CSR array of shape (n_nodes, n_nodes)
        Edges A; the pairs are those of D^-1/2 A D^-1/2.
    count : int
        Number of pairs.

    Returns
    -------
    values : ndarray of shape (count,)
        Eigenvalues in descending order, the first of them 1.
    vectors : ndarray of shape (n_nodes, count)
        Eigenvectors, in float32.

    References
    ----------
    Dhillon, Guan and Kulis (2007), Weighted graph cuts without eigenvectors: a multilevel approach.

    Zhou, Saad, Tiago and Chelikowsky (2006), Self-consistent-field calculations using
    Chebyshev-filtered subspace iteration.

    Examples
    --------
    >>> import numpy as np, scipy.sparse
    >>> from kernelmeans.heat.multilevel import leading_pairs_of_large
    >>> chain = scipy.sparse.diags_array([[1.0] * 4999] * 2, offsets=[-1, 1], format="csr")
    >>> values, vectors = leading_pairs_of_large(chain, 3)
    >>> vectors.shape
    (5000, 3)
    """
    # Neighbours next to each other in memory: products are several times as fast.
    order = reverse_cuthill_mckee(graph, symmetric_mode=True)
    sought = with_extra(count)
    levels, coarsest = _levels(graph[order][:, order].tocsr(), sought)
    values, vectors = leading_pairs(coarsest, np.arange(coarsest.shape[0]), sought)
    gaps = 1 - values
    with Threads() as threads:
        for level in reversed(levels):
            vectors = vectors.astype(np.float32)[level.parents]
            vectors *= level.roots[:, None].astype(np.float32)
            for _ in range(MOST_ROUNDS if level is levels[0] else 1):
                vectors = _filtered(level.S, vectors, gaps[count - 1], threads)
                before, (gaps, vectors) = gaps, _rotated(level.S, vectors, threads)
                if (np.abs(before - gaps) <= SETTLED * gaps)[1:count].all():
                    break
    values = np.minimum(1 - gaps[:count], 1)
    # If it were rounded, no heat would be left after a long time.
    values[0] = 1
    found = np.empty((graph.shape[0], count), np.float32)
    found[order] = vectors[:, :count]
    return values, found


def _levels(graph: Data, n_vectors: int) -> tuple[list[Level], Data]:
    """Coarser and coarser graphs, and the normalized one in which so many vectors are sought.

    Stars have no coarser graph, and end it early.
    """
    levels: list[Level] = []
    while graph.shape[0] > coarsest_size(n_vectors):
        S, degrees = normalized(graph), graph.sum(axis=1)
        parents = _matched(S)
        parts = scipy.sparse.csr_array((np.ones(len(parents)), (np.arange(len(parents)), parents)))
        if not n_vectors <= parts.shape[1] <= COARSER * parts.shape[0]:
            break
        levels.append(Level(S, parents, np.sqrt(degrees / (parts.T @ degrees)[parents])))
        graph = (parts.T @ graph @ parts).tocsr()
    return levels, normalized(graph)


def _matched(S: Data) -> IntArray:
    """For each node its group: two nodes that choose each other, and those that join them.

    A node chooses its heaviest edge to a node that is still free. Equal edges have a random order,
    the same for both ends: if nodes chose the first one, few would choose each other.
    """
    n = S.shape[0]
    ends = np.repeat(np.arange(n), np.diff(S.indptr)), S.indices
    key = np.random.default_rng(0).random(n)
    random = (key[ends[0]] + key[ends[1]]) % 1
    weights = np.where(ends[0] == ends[1], 0, S.data * (1 + TIES * random))
    group = np.full(n, -1)
    for _ in range(MATCHING_ROUNDS):
        chosen = _heaviest(S, np.where((group[ends[0]] < 0) & (group[ends[1]] < 0), weights, 0))
        mutual = np.flatnonzero((chosen >= 0) & (chosen[chosen] == np.arange(n)))
        group[mutual] = np.minimum(mutual, chosen[mutual])
    chosen = _heaviest(S, np.where(group[ends[1]] >= 0, weights, 0))
    alone = np.flatnonzero(group < 0)
    group[alone] = np.where(chosen[alone] >= 0, group[chosen[alone]], alone)
    return np.asarray(np.unique(group, return_inverse=True)[1])


def _heaviest(S: Data, weights: Array) -> IntArray:
    """The end of the heaviest edge of each node, or -1 if all weigh nothing."""
    largest = np.maximum.reduceat(weights, S.indptr[:-1])
    of = np.repeat(np.arange(S.shape[0]), np.diff(S.indptr))
    heaviest = np.flatnonzero((weights == largest[of]) & (weights > 0))
    chosen = np.full(S.shape[0], -1)
    # The first of several equal edges wins, because it is written last.
    chosen[of[heaviest[::-1]]] = S.indices[heaviest[::-1]]
    return chosen


def _filtered(S: Data, vectors: Array, gap: float, threads: Threads) -> Array:
    """A Chebyshev polynomial of S times vectors, which damps all eigenvalues below 1 - gap.

    A larger gap is taken where the degree would be too high. Vectors are overwritten.
    """
    damping = math.acosh(AMPLIFIED)
    degree = int(np.clip(math.ceil(damping / math.sqrt(2 * max(gap, 1e-12))), *DEGREES))
    gap = max(gap, damping**2 / (2 * degree**2))
    # The damped eigenvalues, -1 to 1 - gap, become -1 to 1.
    half, centre = 1 - gap / 2, -gap / 2
    eye = scipy.sparse.eye_array(S.shape[0], format="csr")
    T = ((S - centre * eye) / half).astype(np.float32)
    before, now, scale = np.zeros_like(vectors), vectors, half / (1 - centre)
    first = scale
    for step in range(degree):
        # Scaled so that they are 1 at the eigenvalue 1, because they would overflow.
        following = 1 / (2 / first - scale) if step else scale
        forth, back = (2 * following, following * scale) if step else (scale, 0.0)
        threads.run(partial(_next, T, now, before, forth, back), slices(len(now), BLOCK_ROWS))
        before, now, scale = now, before, following
    return now


def _next(T: Data, now: Array, before: Array, forth: float, back: float, rows: slice) -> None:
    """The next polynomial of T takes the place of the one before: forth T now - back before."""
    product = T[rows] @ now
    product *= forth
    before[rows] *= -back
    before[rows] += product


def _rotated(S: Data, vectors: Array, threads: Threads) -> tuple[Array, Array]:
    """The gaps and vectors of the best approximations in the span of vectors (Rayleigh and Ritz).

    Gaps keep more digits than eigenvalues near 1, and in float64 more than vectors in float32.
    """
    products, squares = [], []
    blocks = slices(len(vectors), BLOCK_ROWS)
    for start in range(0, vectors.shape[1], COLUMNS):
        some = vectors[:, start : start + COLUMNS].astype(np.float64)

        def multiply(rows: slice, some: Array = some) -> tuple[Array, Array]:
            own = vectors[rows].astype(np.float64).T
            return own @ (some[rows] - S[rows] @ some), own @ some[rows]

        sums = [parts for _, parts in threads.map(multiply, blocks)]
        products.append(sum(product for product, _ in sums))
        squares.append(sum(square for _, square in sums))
    product, square = (np.hstack(each) for each in (products, squares))
    gaps, turn = scipy.linalg.eigh((product + product.T) / 2, (square + square.T) / 2)
    turn = turn.astype(np.float32)

    def rotate(rows: slice) -> None:
        vectors[rows] = vectors[rows] @ turn

    threads.run(rotate, blocks)
    return gaps, vectors
