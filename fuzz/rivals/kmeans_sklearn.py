"""scikit-learn's `KMeans`; labels are those of `predict` if ``tol=0``, as it says."""

from typing import Any

from sklearn.cluster import KMeans

from fuzz import Case, Rng, rivals

WEIGHT = 1


def case(rng: Rng) -> Case:
    problem = rivals.of_rows(rng)
    model = KMeans(**problem.taken("init"), tol=0)
    return rivals.case(problem, model, objectives, rivals.SKLEARN)


def objectives(model: Any, printed: str) -> list[list[float]]:
    """A line for each step."""
    runs = printed.split("Initialization complete")
    return [rivals.printed_numbers(r"inertia (\S+)\.\n", run) for run in runs]
