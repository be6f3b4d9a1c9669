"""Starts: greedy k-means++ in feature space, random samples, random and given weights."""

from collections.abc import Sequence

import numpy as np

from kernelmeans._typing import Array, IntArray
from kernelmeans.solver.blockwise import combinations, distances_to
from kernelmeans.spaces import Centroids, Space


def greedy_kmeans_plusplus(space: Space, k: int, random_states: Sequence[int]) -> IntArray:
    """Seeds by k-means++ in feature space; each is the best of 2 + log k candidates.

    Parameters
    ----------
    space : Space
        The samples and their weights.
    k : int
        Number of seeds.
    random_states : sequence of int
        One for each restart: its seeds do not depend on the other restarts.

    Returns
    -------
    ndarray of shape (k, restarts)
        Indices of the seeds.

    References
    ----------
    Arthur and Vassilvitskii (2007), k-means++: the advantages of careful seeding.
    """
    n_candidates = 2 + int(np.log(k))
    weight = space.sample_weight.astype(np.float64)
    restarts = len(random_states)
    uniform = _uniform(random_states, 1 + (k - 1) * n_candidates)
    seeds = np.empty((k, restarts), np.intp)
    closest = np.full((restarts, space.n_samples), np.inf)
    columns = np.arange(restarts)
    for j in range(k):
        numbers = slice(max(0, 1 + (j - 1) * n_candidates), 1 + j * n_candidates)
        potential = weight * np.where(np.isinf(closest), 1, closest)
        candidates = _draw(potential, uniform[:, numbers])
        d = np.minimum(distances_to(space, space.at(candidates)), closest)
        best = (d @ weight).argmin(axis=0)
        seeds[j] = candidates[best, columns]
        closest = d[best, columns]
    return seeds


def _uniform(random_states: Sequence[int], size: int) -> Array:
    """So many uniform numbers for each restart, shape (R, size)."""
    rows, generator = np.empty((len(random_states), size)), np.random.RandomState(0)
    for row, seed in zip(rows, random_states, strict=True):
        # To make a generator takes seventy times as long as to seed it again.
        generator.seed(seed)
        row[:] = generator.uniform(size=size)
    return rows


def _draw(potential: Array, uniform: Array) -> IntArray:
    """Indices (size, R) drawn in proportion to potentials (R, n) from uniform numbers (R, size)."""
    cumulative = np.cumsum(potential, axis=1)
    drawn = [
        # At most the last sample with any potential: those without weight are never drawn.
        np.minimum(np.searchsorted(row, u * row[-1], side="right"), np.searchsorted(row, row[-1]))
        for row, u in zip(cumulative, uniform, strict=True)
    ]
    return np.asarray(np.stack(drawn, axis=1))


def random_seeds(space: Space, k: int, random_states: Sequence[int]) -> IntArray:
    """Different samples of positive weight for each restart, shape (k, restarts).

    Parameters
    ----------
    space : Space
        The samples. All of positive weight are equally likely.
    k : int
        Number of seeds.
    random_states : sequence of int
        One for each restart.
    """
    eligible = np.flatnonzero(space.sample_weight > 0)
    orders = [np.random.RandomState(seed).permutation(eligible) for seed in random_states]
    return np.stack([order[:k] for order in orders], axis=1)


def random_partition(sample_weight: Array, k: int, rng: np.random.RandomState) -> Array:
    """Weights (n_samples, k) that put each sample into one random cluster; none is left empty.

    Parameters
    ----------
    sample_weight : ndarray of shape (n_samples,)
        Samples of positive weight are put into clusters.
    k : int
        Number of clusters, not more than such samples.
    rng : RandomState
        The generator.
    """
    eligible = np.flatnonzero(sample_weight > 0)
    others = rng.randint(k, size=len(eligible) - k)
    weights = np.zeros((len(sample_weight), k))
    weights[eligible, rng.permutation(np.concatenate([np.arange(k), others]))] = 1
    return weights


def from_weights(space: Space, weights: Array) -> Centroids:
    """Centroids of the samples' weights in the clusters (n_samples, k), the paper's W(0)."""
    weighted = (weights * space.sample_weight[:, None]).astype(space.dtype)
    coefficients = np.ascontiguousarray(weighted.T)[:, None]
    return combinations(space, coefficients, coefficients.sum(axis=-1))
