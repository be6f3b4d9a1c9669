"""`KernelKMeans`, beside that of tslearn."""

from fuzz import Case, Rng, rivals
from kernelmeans import KernelKMeans

WEIGHT = 1


def case(rng: Rng) -> Case:
    problem = rivals.of_kernels(rng)
    model = KernelKMeans(**problem.taken("kernel", "gamma"))
    return rivals.case(problem, model, lambda model, _: [model.objective_history_])
