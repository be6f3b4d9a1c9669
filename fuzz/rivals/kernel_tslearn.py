"""`KernelKMeans` of tslearn, which need not be there; kernels are those of scikit-learn."""

from contextlib import suppress
from typing import Any

import numpy as np

from fuzz import Case, Rng, rivals

with suppress(ImportError):
    from tslearn.clustering import KernelKMeans

WEIGHT = 1


def case(rng: Rng) -> Case:
    problem = rivals.of_kernels(rng)
    series = problem._replace(X=problem.X[:, :, None])  # it warns of rows
    takes_gamma = problem.kernel in ("rbf", "laplacian", "poly")
    given = {"gamma": problem.gamma} if takes_gamma else None
    model = KernelKMeans(**problem.taken("kernel"), kernel_params=given)
    return rivals.case(series, model, objectives, ("/tslearn/", *rivals.SKLEARN))


def objectives(model: Any, printed: str) -> list[list[float]]:
    """A line for each run; less 0.001 at each step, as three digits after the point are printed."""
    if np.ptp(model.sample_weight_):
        return []  # the sum that it prints is without the weights
    runs = [rivals.printed_numbers(r"(\S+) -->", run) for run in printed.splitlines()]
    return [[value - 0.001 * step for step, value in enumerate(run)] for run in runs]
