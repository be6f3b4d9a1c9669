"""The power at which annealing starts, and the extreme eigenvalues behind it.

Below the critical power, centroids at the mean part. But where clusters are clear, nearly all
memberships are hard at that power already, and every poor start survives. Annealing then has to
begin nearer to 0, but not so near that the centroids draw together and forget the start.
"""

from collections.abc import Callable, Sequence

import numpy as np
import scipy.linalg

from kernelmeans._arrays import to_numpy
from kernelmeans._typing import Array, DType, IntArray
from kernelmeans._warnings import warn_user
from kernelmeans.lowrank import subsample
from kernelmeans.solver.blockwise import combination, distances_to
from kernelmeans.spaces import Centroids, Space

#: Largest residual of extreme eigenvalues, relative to the larger of those that are wanted. The
#: errors go with its square, unless other eigenvalues are as near.
TOLERANCE = 1e-3
#: Fewest and most products: the start vector may lack the eigenvector, and only matrices without
#: structure need more.
PRODUCTS = (8, 100)
#: Samples on which a kernel is first tested for being positive semi-definite.
TESTED = 2048
#: Factors from the critical power to the automatic first powers, the coldest first. With smaller
#: factors centroids draw together so far that in float32 only rounding may tell them apart.
FACTORS = (1.2, 0.96, 0.77, 0.62, 0.5, 0.4)
#: Least softness at which samples are not bound to the start, as a fraction of the largest one.
SOFT_ENOUGH = 0.5
#: Samples whose softness is measured, samples that random centroids sit on, and how many random
#: sets of centroids each sample sees.
MEASURED, CANDIDATES, RANDOM_SETS = 64, 2048, 8


def critical_power(space: Space, seed: int = 0) -> float:
    """Power below which centroids that all sit at the mean begin to part.

    A small difference of two such centroids grows by the factor 2 (1 - s) lam in a step. Here lam
    is the top eigenvalue of the mean outer product of the samples' directions from the mean. The
    difference shrinks for every s above s* = 1 - 1 / (2 lam). (Not in the paper.)

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
    # From the mean, whatever the origin is: in constant data the differences cancel exactly.
    squared = distances_to(space, mean)[0, 0]
    varies = (squared > 2 * space.floor(mean)) & (weight > 0)
    if not varies.any():
        return -np.inf
    # Samples at the mean have no direction: the mean is over the others.
    fractions = np.where(varies, weight, 0) / weight[varies].sum()
    scale = np.sqrt(fractions / np.where(varies, squared, 1)).astype(space.dtype)
    # The start vector is drawn for these alone: samples without weight change nothing.
    counting = np.flatnonzero(weight)

    def apply(x: Array) -> Array:
        y = np.zeros_like(scale)
        y[counting] = scale[counting] * x.ravel()
        return np.asarray(scale * _centered_product(space, y, weight))[counting]

    _, top = extreme_eigenvalues(apply, len(counting), space.dtype, seed, [-1])
    return float(1 - 1 / (2 * top)) if top > 0 else -np.inf


def spectrum_ends(space: Space, seed: int) -> tuple[float, float]:
    """Smallest and largest eigenvalue of the centred kernel matrix.

    Negative eigenvalues mean that squared distances can be negative. The smallest is never
    reported below its true value. Samples of weight 0 do not count, and all others count alike.

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
    counting = np.flatnonzero(space.sample_weight)
    uniform = np.zeros(space.n_samples, space.dtype)
    uniform[counting] = 1 / len(counting)
    # In this unit squares of the eigenvalues do not overflow.
    unit = space.magnitude or 1.0

    def apply(x: Array) -> Array:
        y = np.zeros_like(uniform)
        y[counting] = x.ravel()
        return _centered_product(space, y, uniform)[counting] / unit

    ends = extreme_eigenvalues(apply, len(counting), space.dtype, seed, [0, -1])
    return ends[0] * unit, ends[1] * unit


def extreme_eigenvalues(
    apply: Callable[[Array], Array],
    size: int,
    dtype: DType,
    seed: int,
    wanted: Sequence[int],
) -> tuple[float, float]:
    """Both ends of the spectrum of a symmetric matrix, from its products with vectors.

    Lanczos iterations from one random vector. All vectors are kept orthogonal, in float64.

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
        Which eigenvalues have to be accurate: 0 for the smallest, -1 for the largest.

    Returns
    -------
    smallest, largest : float
        Both within the spectrum.
    """
    vector = np.random.default_rng(seed).standard_normal(size)
    basis = [vector / np.linalg.norm(vector)]
    diagonal: list[float] = []
    off_diagonal: list[float] = []
    fewest, most = (min(count, size) for count in PRODUCTS)
    rounding = size * np.finfo(dtype).eps
    while True:
        vector = apply(basis[-1].astype(dtype)).astype(np.float64)
        diagonal.append(float(basis[-1] @ vector))
        known = np.array(basis)
        # Twice is enough for orthogonality up to rounding.
        for _ in range(2):
            vector -= known.T @ (known @ vector)
        remainder = float(np.linalg.norm(vector))
        # No eigenvalue exceeds three such entries: below, the remainder may be rounding.
        largest = 3 * max(map(abs, diagonal + off_diagonal))
        if len(basis) >= fewest or remainder <= rounding * largest:
            values, vectors = scipy.linalg.eigh_tridiagonal(diagonal, off_diagonal)
            residuals = remainder * np.abs(vectors[-1, wanted])
            settled = residuals.max() <= TOLERANCE * np.abs(values[wanted]).max()
            # If the vectors span an invariant subspace, the remainder is rounding.
            spanned = remainder <= rounding * np.abs(values).max()
            if spanned or (settled and len(basis) >= fewest) or len(basis) == most:
                return float(values[0]), float(values[-1])
        off_diagonal.append(remainder)
        basis.append(vector / remainder)


def _centered_product(space: Space, x: Array, weight: Array) -> Array:
    """Product of x with the kernel matrix, centred at the mean under ``weight``."""
    total = combination(space, x - weight * x.sum())
    (products,) = space.collect(_products, 1, total)
    y = products[0, 0]
    return np.asarray(y - weight @ y)


def _products(space: Space, block: slice, centroids: Centroids) -> tuple[Array]:
    return (space.products(centroids, block),)


def warn_unless_positive(space: Space, seed: int, name: str) -> None:
    """Warn when a kernel matrix is not positive semi-definite, with the size of the violation.

    Where samples are many, a subsample is tested first, and all samples only if it fails. Then all
    samples fail too. A subsample can miss a violation that concerns few samples, or is smaller than
    about a thousandth of the largest eigenvalue. If a test fails, the trace of the space is
    removed: it bounds no cost.

    Parameters
    ----------
    space : Space
        The samples.
    seed : int
        Of the Lanczos start vector.
    name : str
        What the message calls the kernel.
    """
    if space.n_counting > TESTED:
        counts = (space.sample_weight > 0).astype(space.dtype)
        indices, weight = subsample(counts, TESTED, seed)
        few = space.restricted(indices, weight)
        if not _is_violated(few, *spectrum_ends(few, seed)):
            return
    smallest, largest = spectrum_ends(space, seed)
    if _is_violated(space, smallest, largest):
        space.trace = None
        squares = to_numpy(space.squared_norms(slice(0, space.n_samples)))
        variance = float(np.mean(squares[space.sample_weight > 0]))
        # A larger number would make all samples equally far from each other.
        small = -smallest <= variance
        warn_user(
            f"{name}: the centred kernel matrix is not positive semi-definite "
            f"(smallest eigenvalue {smallest:.3g}, largest {largest:.3g}). Squared distances can "
            "be negative and the objective may rise; use a positive semi-definite kernel"
            f"{f', or add {-smallest:.3g} to the diagonal' if small else ''}.",
        )


def _is_violated(space: Space, smallest: float, largest: float) -> bool:
    """Whether the smallest eigenvalue is negative beyond rounding."""
    eps = np.finfo(space.dtype).eps
    # Of equal samples all eigenvalues are rounding of the values before they were centred.
    rounding = max(np.sqrt(eps) * max(largest, -smallest), eps * space.n_samples * space.magnitude)
    return bool(smallest < -rounding)


def coldest_start(critical_power: float) -> float:
    """A power just below the critical one, and never above -1."""
    return min(-1.0, FACTORS[0] * critical_power)


def automatic_start(space: Space, n_clusters: int, critical_power: float) -> float:
    """The power at which ``s0="auto"`` starts.

    The candidates lie between 1.2 and 0.4 times the critical power, and never above -1. The power
    is the coldest candidate at which memberships in random clusters are soft enough. It depends on
    the data and k alone, not on the order of the samples, the seeding or a random state.

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
        if (1 - certainty) / (1 - 1 / n_clusters) >= SOFT_ENOUGH:
            return power
    return powers[-1]


def _log_ratios(space: Space, k: int) -> Array:
    """log(d_min / d_j) of some samples to k centroids that sit on random ones."""
    candidates = _spread(space)
    measured = candidates[:: CANDIDATES // MEASURED, None]
    # The same random ranks for all data: equal data in another order see equal centroids.
    ranks = np.random.default_rng(0).integers(CANDIDATES, size=(MEASURED, RANDOM_SETS * k))
    seen = candidates[ranks]
    # No more centroids at a time than in a fit: dense ones of wide rows take memory.
    parts = [slice(first, first + k) for first in range(0, MEASURED, k)]
    squared = [
        np.take_along_axis(distances_to(space, space.at(measured[part]))[:, 0], seen[part], axis=1)
        for part in parts
    ]
    d = np.concatenate(squared).reshape(MEASURED, RANDOM_SETS, k).astype(np.float64)
    return np.asarray(np.log(d.min(axis=-1, keepdims=True) / d))


def _spread(space: Space) -> IntArray:
    """Samples at even steps of sample weight, from the nearest to the mean to the farthest."""
    weight = space.sample_weight.astype(np.float64)
    mean = combination(space, (weight / weight.sum()).astype(space.dtype))
    order = np.argsort(distances_to(space, mean)[0, 0], kind="stable")
    reached = np.cumsum(weight[order])
    # With this offset no step falls between two samples of round weights.
    steps = (np.arange(CANDIDATES) + 0.381966) / CANDIDATES
    return np.asarray(order[np.searchsorted(reached, steps * reached[-1])])
