"""The power at which annealing starts, and the extreme eigenvalues behind it.

Below the critical power centroids at the mean part. But in data of clear clusters nearly all
weights are hard there already, and every poor start survives: annealing has to begin nearer to 0,
at most so near that the centroids draw together and the start is all but forgotten.
"""

from collections.abc import Callable, Sequence

import numpy as np
import scipy.linalg

from kernelmeans._arrays import take, to_numpy
from kernelmeans._typing import Array, BoolArray, DType, IntArray
from kernelmeans._warnings import warn_user
from kernelmeans.lowrank import subsample
from kernelmeans.solver.blockwise import combination, distances_to
from kernelmeans.spaces import Centroids, Space

#: Largest residual of extreme eigenvalues, relative to the larger of those that are wanted. Their
#: errors go with the square, unless others are as near.
TOLERANCE = 1e-3
#: Products at least, for the start vector may lack the eigenvector, and at most, which only
#: matrices without structure need.
PRODUCTS = (8, 100)
#: Samples that are asked whether a kernel is positive semi-definite.
TESTED = 2048
#: Distance of two sets of kernel weights, in total variation, that is worth another computation.
MOVED = 0.1
#: Automatic starts over the critical power, the coldest first. Closer to 1 than that, centroids
#: draw together so far that float32 may tell them apart by rounding.
FACTORS = (1.2, 0.96, 0.77, 0.62, 0.5, 0.4)
#: Share of their weight, of all that they could, that samples give to centroids other than the
#: nearest: enough not to be bound to the start.
SHARED = 0.5
#: Samples that are asked, samples among which random centroids are drawn for them, and how often.
ASKED, CANDIDATES, DRAWS = 64, 2048, 8


def critical_power(space: Space, seed: int = 0) -> float:
    """Power below which centroids that all sit at the mean begin to part.

    A small difference of two such centroids grows by 2 (1 - s) lam per step, lam the top
    eigenvalue of the mean outer product of the samples' directions from the mean. It shrinks for
    every s above s* = 1 - 1 / (2 lam). (Not in the paper.)

    Parameters
    ----------
    space : Space
        The samples and their weights.
    seed : int, default=0
        Of the Lanczos start vector.

    Returns
    -------
    float
        s*, at most 1/2 and never above its true value; -inf where the samples do not vary.
    """
    weight = (space.sample_weight / space.sample_weight.sum()).astype(space.dtype)
    mean = combination(space, weight)
    # About the mean, whatever the origin: the differences cancel exactly for constant data.
    squared = distances_to(space, mean)[0, 0]
    varies = (squared > 2 * space.floor(mean)) & (weight > 0)
    if not varies.any():
        return -np.inf
    # Samples at the mean have no direction: the mean is over the others.
    share = np.where(varies, weight, 0) / weight[varies].sum()
    scale = np.sqrt(share / np.where(varies, squared, 1)).astype(space.dtype)

    def apply(x: Array) -> Array:
        y = scale * x.ravel()
        return np.asarray(scale * _centred_product(space, y, weight))

    _, top = extreme_eigenvalues(apply, space.n_samples, space.dtype, seed, [-1])
    return float(1 - 1 / (2 * top)) if top > 0 else -np.inf


class CriticalPowers:
    """The critical power of each running restart, which follows its kernel weights.

    Parameters
    ----------
    value : float
        The critical power under the first kernel weights.
    kernel_weights : ndarray of shape (R, L)
        Those weights.

    Attributes
    ----------
    values : ndarray of shape (R,)
        The critical powers.
    """

    def __init__(self, value: float, kernel_weights: Array) -> None:
        self.values = np.full(len(kernel_weights), value)
        self._known = kernel_weights.copy()

    def follow(
        self,
        space: Space,
        kernel_weights: Array,
        which: BoolArray,
        seeds: Sequence[int],
    ) -> None:
        """Compute it again where it is to count and the kernel weights have moved noticeably."""
        moved = np.abs(kernel_weights - self._known).sum(axis=1) / 2 > MOVED
        for r in np.flatnonzero(moved & which & np.isfinite(self.values)).tolist():
            own = space.sample.reweighted(kernel_weights[r])
            self.values[r] = critical_power(own, seeds[r])
            self._known[r] = kernel_weights[r]

    def keep(self, restarts: BoolArray) -> None:
        """Drop the other restarts."""
        self.values = self.values[restarts]
        self._known = self._known[restarts]


def spectrum_ends(space: Space, seed: int) -> tuple[float, float]:
    """Smallest and largest eigenvalue of the centred kernel matrix, by Lanczos iterations.

    Negative ones mean that squared distances can be negative. The smallest is never reported
    below its true value.

    Parameters
    ----------
    space : Space
        The samples.
    seed : int
        Of the Lanczos start vector.

    Returns
    -------
    smallest, largest : float
        Eigenvalues, accurate to about a thousandth of the larger.
    """
    uniform = np.full(space.n_samples, 1 / space.n_samples, space.dtype)

    # In a unit in which squares of the eigenvalues do not overflow.
    unit = space.magnitude or 1.0

    def apply(x: Array) -> Array:
        return _centred_product(space, x, uniform) / unit

    ends = extreme_eigenvalues(apply, space.n_samples, space.dtype, seed, [0, -1])
    return ends[0] * unit, ends[1] * unit


def extreme_eigenvalues(
    apply: Callable[[Array], Array],
    size: int,
    dtype: DType,
    seed: int,
    wanted: Sequence[int],
) -> tuple[float, float]:
    """Both ends of the spectrum of a symmetric matrix known by its products with vectors.

    Lanczos iterations from one random vector, all of them kept orthogonal in float64.

    Parameters
    ----------
    apply : callable
        Maps a vector of shape (size,) to its product with the matrix.
    size : int
        Order of the matrix.
    dtype : dtype
        Precision of the products.
    seed : int
        Of the start vector.
    wanted : sequence of int
        Which has to be accurate: 0 the smallest, -1 the largest.

    Returns
    -------
    smallest, largest : float
        Approached from within the spectrum.
    """
    vector = np.random.default_rng(seed).standard_normal(size)
    basis = [vector / np.linalg.norm(vector)]
    diagonal: list[float] = []
    beside: list[float] = []
    while True:
        vector = apply(basis[-1].astype(dtype)).astype(np.float64)
        diagonal.append(float(basis[-1] @ vector))
        # Twice is enough for orthogonality up to rounding.
        for other in basis * 2:
            vector -= (other @ vector) * other
        rest = float(np.linalg.norm(vector))
        values, vectors = scipy.linalg.eigh_tridiagonal(diagonal, beside)
        residuals = rest * np.abs(vectors[-1, wanted])
        settled = residuals.max() <= TOLERANCE * np.abs(values[wanted]).max()
        fewest, most = np.minimum(PRODUCTS, size)
        # What is left when the vectors span all that the matrix makes of them is rounding.
        spanned = rest <= size * np.finfo(dtype).eps * np.abs(values).max()
        if spanned or (settled and len(basis) >= fewest) or len(basis) == most:
            return float(values[0]), float(values[-1])
        beside.append(rest)
        basis.append(vector / rest)


def _centred_product(space: Space, x: Array, weight: Array) -> Array:
    """Product of x with the kernel matrix centred at the mean under ``weight``."""
    total = combination(space, x - weight * x.sum())
    (products,) = space.collect(_products, 1, total)
    y = products[0, 0]
    return np.asarray(y - weight @ y)


def _products(space: Space, block: slice, centroids: Centroids) -> tuple[Array]:
    return (space.products(centroids, block),)


def warn_unless_positive(space: Space, seed: int, name: str) -> None:
    """Warn when a kernel matrix is not positive semi-definite, with the size of the violation.

    Of many samples a draw is asked first, and all only if it says no. What the draw says of a
    violation is true; it can miss one that concerns few samples, or one smaller than about a
    thousandth of the largest eigenvalue. A trace then bounds no cost, and the space has none.

    Parameters
    ----------
    space : Space
        The samples.
    seed : int
        Of the Lanczos start vector.
    name : str
        What the message calls the kernel.
    """
    if space.n_samples > TESTED:
        indices, weight = subsample(np.ones(space.n_samples, space.dtype), TESTED, seed)
        few = space.restricted(indices, weight)
        if not _is_violated(*spectrum_ends(few, seed), space.dtype):
            return
        del few
    smallest, largest = spectrum_ends(space, seed)
    if _is_violated(smallest, largest, space.dtype):
        space.trace = None
        warn_user(
            f"kernel={name}: the centred kernel matrix is not positive semi-definite (smallest "
            f"eigenvalue {smallest:.3g}, largest {largest:.3g}). Squared distances can be "
            "negative and the objective may rise; use a positive semi-definite kernel, or add "
            f"{-smallest:.3g} to the diagonal.",
        )


def _is_violated(smallest: float, largest: float, dtype: DType) -> bool:
    """Whether the smallest eigenvalue is negative beyond rounding."""
    return bool(smallest < -np.sqrt(np.finfo(dtype).eps) * max(largest, -smallest))


def coldest_start(critical_power: float) -> float:
    """A power just below the critical one, and never above -1."""
    return min(-1.0, FACTORS[0] * critical_power)


def automatic_start(space: Space, n_clusters: int, critical_power: float) -> float:
    """The power at which ``s0="auto"`` starts.

    The coldest of a few, between 1.2 and 0.4 times the critical power and never above -1, at which
    samples share random centroids well enough. It depends on the data and k alone, not on their
    order, the seeding or a random state.

    Parameters
    ----------
    space : Space
        The samples.
    n_clusters : int
        Number of centroids k.
    critical_power : float
        Power below which centroids at the mean part.

    Returns
    -------
    float
        A negative power; -inf where the samples do not vary.
    """
    powers = [min(-1.0, factor * float(critical_power)) for factor in FACTORS]
    if n_clusters == 1 or powers[0] == powers[-1]:
        return powers[0]
    log_ratios = _log_ratios(space, n_clusters)
    for power in powers:
        certainty = (1 / np.exp((1 - power) * log_ratios).sum(axis=-1)).mean()
        if (1 - certainty) / (1 - 1 / n_clusters) >= SHARED:
            return power
    return powers[-1]


def _log_ratios(space: Space, k: int) -> Array:
    """log(d_min / d_j) of some samples to k centroids that sit on random ones."""
    candidates = _spread(space)
    asked = candidates[:: CANDIDATES // ASKED]
    squared = np.empty((ASKED, CANDIDATES), space.dtype)
    # No more at a time than there are centroids in a fit: dense ones of wide rows take memory.
    for first in range(0, ASKED, k):
        some = slice(first, first + k)
        squared[some] = _squared_distances(space, asked[some], candidates)
    # The same draws for all data, by rank: equal data in another order see equal centroids.
    drawn = np.random.default_rng(0).integers(CANDIDATES, size=(ASKED, DRAWS * k))
    d = np.take_along_axis(squared, drawn, axis=1).reshape(ASKED, DRAWS, k).astype(np.float64)
    return np.asarray(np.log(d.min(axis=-1, keepdims=True) / d))


def _squared_distances(space: Space, asked: IntArray, candidates: IntArray) -> Array:
    """Squared distances (asked, candidates) between samples."""
    centroids = space.at(asked[:, None])
    squared = np.empty((len(asked), len(candidates)), space.dtype)

    def fill(block: slice) -> None:
        within = np.flatnonzero((block.start <= candidates) & (candidates < block.stop))
        if len(within):
            d = take(space.distances(centroids, block), candidates[within] - block.start, axis=-1)
            squared[:, within] = to_numpy(d)[:, 0]

    space.engine.run(fill, space.blocks(len(asked)))
    return squared


def _spread(space: Space) -> IntArray:
    """Samples at even steps of weight, from the one nearest to the mean to the farthest."""
    weight = space.sample_weight.astype(np.float64)
    mean = combination(space, (weight / weight.sum()).astype(space.dtype))
    order = np.argsort(distances_to(space, mean)[0, 0], kind="stable")
    reached = np.cumsum(weight[order])
    # An odd offset: no step falls on the edge between two samples of round weights.
    steps = (np.arange(CANDIDATES) + 0.381966) / CANDIDATES
    return np.asarray(order[np.searchsorted(reached, steps * reached[-1])])
