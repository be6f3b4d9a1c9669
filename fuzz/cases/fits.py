"""All estimators, on rows, matrices and weights of all kinds, with any parameters."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from fuzz import Case, Failure, Refused, Rng
from fuzz.draw import (
    budget,
    changed,
    graph,
    kernel_matrix,
    pick,
    plain_rows,
    rarely,
    rows,
    sparse_form,
    weights,
)
from fuzz.sound import check_fit, product
from kernelmeans import KernelKMeans, KernelPowerKMeans, MultiKernelPowerKMeans, PowerKMeans
from kernelmeans.baselines import MKKM, RKKM, RMKKM

WEIGHT = 4
EXTREME = True
ESTIMATORS = (
    *[KernelPowerKMeans] * 4,
    *[MultiKernelPowerKMeans] * 3,
    *[PowerKMeans] * 2,
    KernelKMeans,
    RKKM,
    MKKM,
    RMKKM,
)
NAMED = "rbf", "laplacian", "geodesic", "poly", "sigmoid", "cosine", "linear", "heat"
#: Parameters that are drawn here.
DRAWN = (
    *("n_clusters", "init", "kernel", "kernels", "kernel_params", "metric", "n_swaps"),
    *("random_state", "device", "memory_budget"),
)


def case(rng: Rng) -> Case:
    n, p = int(rng.integers(1, 40)), int(rng.integers(1, 30 if rarely(rng, 8) else 5))
    k = n if rarely(rng, 15) else int(rng.integers(1, 6))
    kind = pick(rng, *ESTIMATORS)
    allowed = {name: kind._parameter_constraints[name] for name in kind().get_params()}
    given = changed(rng, allowed, without=DRAWN) | {"random_state": int(rng.integers(99))}
    if rarely(rng, 20):
        given["random_state"] = pick(rng, None, np.random.RandomState(1))
    X = rows(rng, n, p)
    X = sparse_form(rng, X) if scipy.sparse.issparse(X) else X
    if rarely(rng, 20):
        given["memory_budget"] = budget(rng)
    if "device" in allowed and rarely(rng, 20):
        given["device"] = pick(rng, "cpu", "cpu", "cpu", "cuda", "gpu")
    if "metric" in allowed and rarely(rng, 6):
        given["metric"] = pick(rng, "euclidean", "cosine", "precomputed")
    if "n_swaps" in allowed:
        given["n_swaps"] = pick(rng, 0, 0, 0, 2, "auto")
    if "kernel" in allowed:
        given["kernel"], X = one_kernel(rng, X)
        if callable(given["kernel"]):
            given["kernel_params"] = pick(rng, None, {}, {"power": 2})
    if "kernels" in allowed:
        given["kernels"], X = several_kernels(rng, X)
    model = kind(k, init=start(rng, X, n, k), **given)
    if kind is MKKM and rarely(rng, 3):
        model.init = "random-partition"
    weight = weights(rng, n)
    new = new_rows(rng, model, X) if rarely(rng, 2) else None
    words = f"{model!r}\nX = {X!r}\nsample_weight = {weight!r}\nnew rows {new!r}"
    if rarely(rng, 15) and hasattr(model, "set_callbacks"):
        model.set_callbacks(Watcher(int(rng.integers(1, 30)), fails=rarely(rng, 3)))
        words += f"\n{vars(model)['_skl_callbacks']}"
    if rarely(rng, 40):
        model, X, weight, what = wrong(rng, model, X, weight)
        return Case(f"{what} {words}", lambda: check_refused(model, X, weight, what))
    return Case(words, lambda: check_fit(model, X, weight, rng, new))


def wrong(rng: Rng, model: Any, X: Any, weight: Any) -> tuple[Any, Any, Any, str]:
    """A model, data and weights of which one is wrong, and what it is."""
    n = X.shape[-1] if X.ndim == 3 else X.shape[0]
    none = X[:, :0] if X.ndim == 3 else X.tocsr()[:0] if scipy.sparse.issparse(X) else X[:0]
    holed = np.ones(n)
    holed[rng.integers(n)] = np.nan
    name = "kernels" if hasattr(model, "kernels") else "kernel" if hasattr(model, "kernel") else ""
    init, form = pick(rng, *strange_starts(model.n_clusters)), pick(rng, *STRANGE)
    count, unknown = pick(rng, 0, -1, 2.5, "3", None, np.nan), pick(rng, "gauss", "", None, 3)
    found: tuple[Any, Any, Any, str] = pick(
        rng,
        lambda: (model.set_params(n_clusters=count), X, weight, f"n_clusters={count!r}"),
        lambda: (model, none, None, "no rows"),
        lambda: (model, X, holed, "a weight of NaN"),
        lambda: (model, X, np.ones(n + 1), "too many weights"),
        lambda: (model.set_params(init=init), X, weight, f"init={init!r}"),
        lambda: (model, form(n), None, form.__name__),
        *[lambda: (model.set_params(**{name: unknown}), X, weight, f"{name}={unknown!r}")]
        * bool(name),
    )()
    return found


def strange_starts(k: int) -> list[Any]:
    """Values of ``init`` that are no numbers."""
    letters, numbers = list("abcdefgh")[:k], np.arange(k)
    return [
        *(letters, [letters] * k, np.array([letters], object), lambda X, k, random_state: letters),
        *(numbers * 1j, numbers.astype("M8[D]"), [None] * k, set(range(k)), [[0.0], [1.0, 2.0]]),
        *({"a": 1}, 0, None, b"k-means++"),
    ]


def complex_rows(n: int) -> Any:
    return np.ones((n, 2)) * 1j


def texts(n: int) -> Any:
    return np.array([["a", "b"]] * n)


def objects(n: int) -> Any:
    return np.array([[None, {}]] * n, object)


def dates(n: int) -> Any:
    return np.zeros((n, 2), "M8[D]")


def records(n: int) -> Any:
    return np.zeros(n, [("a", float), ("b", float)])


def one_row(n: int) -> Any:
    return np.arange(float(n))


def cube(n: int) -> Any:
    return np.ones((n, 2, 2, 2))


def ragged(n: int) -> Any:
    return [[1.0], *[[1.0, 2.0]] * n]


def nothing(n: int) -> Any:
    return None


#: Forms of data that hold no rows of numbers.
STRANGE = complex_rows, texts, objects, dates, records, one_row, cube, ragged, nothing


def check_refused(model: Any, X: Any, weight: Any, what: str) -> None:
    """The fit fails; the judge sees whether it does so in words."""
    model.fit(X, sample_weight=weight)
    raise Failure(f"a fit to {what} is not refused")


@dataclass
class Watcher:
    """A callback that ends a fit at a step, or fails there."""

    last: int
    fails: bool = False
    steps: int = 0

    def setup(self, estimator: Any, context: Any) -> None:
        self.steps = 0

    def on_fit_task_begin(self, estimator: Any, context: Any, *, metadata: Any = None) -> None:
        self.steps += context.task_name == "step"

    def on_fit_task_end(self, estimator: Any, context: Any, *, metadata: Any = None) -> bool:
        if self.fails and self.steps == self.last:
            raise Refused("as asked")
        return self.steps == self.last

    def teardown(self, estimator: Any, context: Any) -> None:
        pass


def new_rows(rng: Rng, model: Any, X: Any) -> Any:
    """Rows that a model may be asked about: others, or the matrix of some to the training rows."""
    if X.ndim == 3:
        return X[:, :3] * pick(rng, 1, 2, 0)
    if getattr(model, "kernel", "") in ("precomputed", "graph"):
        some = X.tocsr()[:3] if scipy.sparse.issparse(X) else X[:3]
        return some * pick(rng, 1, 2, 0)
    return rows(rng, 3, X.shape[1] + rarely(rng, 20))


def one_kernel(rng: Rng, X: Any) -> tuple[Any, Any]:
    """A kernel, and the rows or the matrix that it takes."""
    kernel = pick(rng, *NAMED, "heat", "graph", "precomputed", product)
    if kernel == "precomputed":
        K = kernel_matrix(rng, X.shape[0])
        single = np.abs(K).max() < np.finfo(np.float32).max and rarely(rng, 3)
        return kernel, K.astype(np.float32) if single else K
    return kernel, graph(rng, X.shape[0]) if kernel == "graph" else X


def several_kernels(rng: Rng, X: Any) -> tuple[Any, Any]:
    """Kernels, and the rows or the stack of matrices that they take."""
    if rarely(rng, 6):
        n = X.shape[0]
        return "precomputed", np.array([kernel_matrix(rng, n) for _ in range(rng.integers(1, 4))])
    p = X.shape[1]
    columns: Any = [0], slice(0, p), np.arange(p) % 2 == 0, -1, first_column, [p], []
    views: list[Any] = []
    for number, name in enumerate(rng.choice([*NAMED, "neighbors", "widths", "x"], 3).tolist()):
        kernel = pick(rng, name, name, drawn_kernel(rng, name), product)
        seen = pick(rng, *columns[:5], *columns)
        views.append(pick(rng, kernel, (kernel, seen), (f"v{number}", kernel, seen)))
    return pick(rng, "neighbors", "widths", "du2015", views, views, views[:1]), X


def drawn_kernel(rng: Rng, name: str) -> dict[str, Any]:
    """A kernel with parameters of its own, some of which it may not have."""
    choices: dict[str, Any] = {
        "gamma": pick(rng, "rms", "median", 0.5, -1.0),
        "degree": pick(rng, 2, 1.5),
        "coef0": pick(rng, 0.0, 1, -1),
        "n_neighbors": pick(rng, "auto", 2, 0),
        "metric": pick(rng, "euclidean", "cosine", "x"),
        "density": pick(rng, "auto", 0, 2.5, -1.0),
        "x": 1,
    }
    return {"kernel": name} | {key: one for key, one in choices.items() if rarely(rng, 6)}


def first_column(X: Any) -> list[int]:
    """Columns as a function of the rows."""
    return [0]


def start(rng: Rng, X: Any, n: int, k: int) -> Any:
    """A value of ``init``."""
    return pick(
        rng,
        *[lambda: "k-means++"] * 4,
        lambda: "random",
        lambda: rng.permutation(n)[:k],
        lambda: rng.uniform(size=(n, k)),
        lambda: plain_rows(rng, k, X.shape[-1]),
        lambda: lambda X, k, random_state: random_state.permutation(X.shape[0])[:k],
        lambda: pick(
            rng, [], [0.5], "x", np.full(k, -1), np.zeros((n, k)), np.full((k, X.shape[-1]), 1e200)
        ),
    )()
