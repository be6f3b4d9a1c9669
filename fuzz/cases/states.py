"""What may be done to a fitted model: other parameters, copies, other numbers of its clusters."""

import copy
import pickle
from typing import Any

import numpy as np
from sklearn.neighbors import kneighbors_graph

from fuzz import Case, Rng
from fuzz.draw import changed, pick, rarely
from fuzz.judge import promised, require
from kernelmeans import (
    ClusterReport,
    KernelKMeans,
    KernelPowerKMeans,
    MultiKernelPowerKMeans,
    PowerKMeans,
    describe,
)
from kernelmeans.baselines import MKKM, RKKM, RMKKM

WEIGHT = 1
#: Parameters that say how to compute and not what.
COMPUTING = ("device", "memory_budget", "n_clusters")


def case(rng: Rng) -> Case:
    n, k = int(rng.integers(10, 40)), int(rng.integers(2, 5))
    table = rng.normal(size=(n, int(rng.integers(1, 4)))) + 4 * rng.integers(k, size=(n, 1))
    model, X = fitted(rng, k, table)
    other = changed(rng, type(model)._parameter_constraints, 3, without=COMPUTING)
    other["n_clusters"] = pick(rng, k, k - 1, k + 1, k + 2, "x")
    numbers, copied = rng.permutation(k), pick(rng, copy.copy, copy.copy, copy.deepcopy, pickled)
    weight = pick(rng, None, rng.uniform(0.5, 2, n))
    reported = rarely(rng, 4)

    def check() -> None:
        model.fit(X, sample_weight=weight)
        with promised():
            before = answers(model, X)
            told = said(model, X, table, reported)
            same(model, X, before)
            model.set_params(**other)
            same(model, X, before)
            require(said(model, X, table, reported) == told, "it is described by its parameters")
            twin = copied(model).renumber(numbers)
            same(model, X, before)
            same(twin, X, renumbered(before, numbers))

    words = f"{model!r}\nX = {X!r}\n{weight!r}\n{other}\n{copied.__name__} {numbers}"
    return Case(words, check)


def fitted(rng: Rng, k: int, table: np.ndarray) -> tuple[Any, Any]:
    """A model to be fitted, and what it takes of these rows."""
    given: dict[str, Any] = {"n_swaps": 0, "random_state": 0}
    K, near = table @ table.T, kneighbors_graph(table, 5)
    low = {"approximation": pick(rng, "landmarks", "rpcholesky", "rff"), "n_components": 5}
    views = [("rbf", [0]), "laplacian"]
    found: tuple[Any, Any] = pick(
        rng,
        lambda: (PowerKMeans(k, **given), table),
        lambda: (KernelPowerKMeans(k, kernel=pick(rng, "heat", "rbf", "linear"), **given), table),
        lambda: (KernelPowerKMeans(k, kernel="rbf", **low, **given), table),
        lambda: (KernelPowerKMeans(k, kernel="precomputed", **given), K),
        lambda: (KernelPowerKMeans(k, kernel="graph", **given), near + near.T),
        lambda: (KernelKMeans(k, n_init=2, random_state=0), table),
        lambda: (RKKM(k, random_state=0), table),
        *[lambda: (MultiKernelPowerKMeans(k, kernels=views, **given), table)] * 2,
        lambda: (MultiKernelPowerKMeans(k, kernels=views, **low, **given), table),
        lambda: (MultiKernelPowerKMeans(k, kernels="neighbors", **given), table),
        lambda: (MultiKernelPowerKMeans(k, kernels="precomputed", **given), np.array([K, K**2])),
        lambda: (pick(rng, MKKM, RMKKM)(k, kernels=views, random_state=0), table),
    )()
    return found


def pickled(model: Any) -> Any:
    return pickle.loads(pickle.dumps(model))


def answers(model: Any, X: Any) -> dict[str, Any]:
    """Copies of what a model says of its rows."""
    frame = copy.copy(model).set_output(transform="pandas").transform(X)
    return {
        "label": np.array(model.labels_),
        "label of the result": model.result_.labels[model.result_.best].copy(),
        "label by predict": model.predict(X),
        "distances": model.transform(X),
        "distances in a frame": frame.to_numpy(),
        "memberships": np.array(model.memberships_),
        "certainty": np.array(model.certainty_),
        "cost": model.inertia_,
        "score": model.score(X),
        "columns": [*model.get_feature_names_out(), *frame.columns],
    }


def said(model: Any, X: Any, table: Any, reported: bool) -> list[str]:
    """What a description and a report say of the clusters."""
    found = [str(describe(model, table, X=X))]
    if reported:
        found.append(str(ClusterReport(model, X, table=table).to_dict()["clusters"]))
    return found


def renumbered(found: dict[str, Any], numbers: np.ndarray) -> dict[str, Any]:
    """What a model says with other numbers of its clusters."""
    order = np.argsort(numbers)
    return found | {
        name: numbers[value] if name.startswith("label") else value[:, order]
        for name, value in found.items()
        if name.startswith(("label", "distances", "memberships"))
    }


def same(model: Any, X: Any, expected: dict[str, Any]) -> None:
    """Fail unless a model says this, up to rounding."""
    rounding = {"rtol": 1e-3, "atol": 2 * np.sqrt(model._floor)}
    for name, value in answers(model, X).items():
        if name == "columns":
            require(value == expected[name], f"{name} {value}")
        else:
            np.testing.assert_allclose(value, expected[name], err_msg=name, **rounding)
