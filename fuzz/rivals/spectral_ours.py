"""`KernelPowerKMeans` with the same affinities, beside scikit-learn's `SpectralClustering`."""

from fuzz import Case, Rng, rivals
from kernelmeans import KernelPowerKMeans

WEIGHT = 1


def case(rng: Rng) -> Case:
    problem = rivals.of_affinities(rng)
    model = KernelPowerKMeans(**problem.taken("kernel", "gamma", "n_neighbors"))
    return rivals.case(problem, model, lambda model, _: [model.objective_history_])
