"""scikit-learn's `SpectralClustering`, with affinities that are never negative, as it asks for."""

from sklearn.cluster import SpectralClustering

from fuzz import Case, Rng, rivals

WEIGHT = 1
AFFINITIES = {"heat": "nearest_neighbors", "graph": "precomputed"}


def case(rng: Rng) -> Case:
    problem = rivals.of_affinities(rng)
    affinity = AFFINITIES.get(problem.kernel, problem.kernel)
    model = SpectralClustering(**problem.taken("gamma", "n_neighbors"), affinity=affinity)
    return rivals.case(problem, model, own=rivals.SKLEARN)
