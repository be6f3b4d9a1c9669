"""Starts: greedy k-means++ in feature space, random samples, random and given weights."""

from collections.abc import Sequence

import numpy as np

from kernelmeans._typing import Array, IntArray
from kernelmeans.solver.blockwise import combinations, distances_to
from kernelmeans.spaces import Centroids, Space


def greedy_kmeans_plusplus(
    space: Space, k: int, generators: Sequence[np.random.RandomState]
) -> IntArray:
    """Seeds by k-means++ in feature space; each is the best of 2 + log k candidates.

    Parameters
    ----------
    space : Space
        The samples and their weights.
    k : int
        Number of seeds.
    generators : sequence of RandomState
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
    restarts = len(generators)
    seeds = np.empty((k, restarts), np.intp)
    closest = np.full((restarts, space.n_samples), np.inf)
    columns = np.arange(restarts)
    for j in range(k):
        size = 1 if j == 0 else n_candidates
        potential = weight * np.where(np.isinf(closest), 1, closest)
        uniform = np.stack([rng.uniform(size=size) for rng in generators], axis=1)
        candidates = _draw(potential, uniform)
        d = np.minimum(distances_to(space, space.at(candidates)), closest)
        best = (d @ weight).argmin(axis=0)
        seeds[j] = candidates[best, columns]
        closest = d[best, columns]
    return seeds


def _draw(potential: Array, uniform: Array) -> IntArray:
    """Indices drawn in proportion to each restart's potential (R, n) from uniform (size, R)."""
    cumulative = np.cumsum(potential, axis=1)
    drawn = [
        # At most the last sample with any potential: those without weight are never drawn.
        np.minimum(np.searchsorted(row, u * row[-1], side="right"), np.searchsorted(row, row[-1]))
        for row, u in zip(cumulative, uniform.T, strict=True)
    ]
    return np.asarray(np.stack(drawn, axis=1))


def random_seeds(space: Space, k: int, generators: Sequence[np.random.RandomState]) -> IntArray:
    """Different samples of positive weight for each restart, shape (k, restarts).

    Parameters
    ----------
    space : Space
        The samples. All of positive weight are equally likely.
    k : int
        Number of seeds.
    generators : sequence of RandomState
        One for each restart.
    """
    eligible = np.flatnonzero(space.sample_weight > 0)
    return np.stack([rng.permutation(eligible)[:k] for rng in generators], axis=1)


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
