"""`PowerKMeans`, beside scikit-learn's `KMeans`."""

from fuzz import Case, Rng, rivals
from kernelmeans import PowerKMeans

WEIGHT = 1


def case(rng: Rng) -> Case:
    problem = rivals.of_rows(rng)
    model = PowerKMeans(**problem.taken("init"))
    return rivals.case(problem, model, lambda model, _: [model.objective_history_])
