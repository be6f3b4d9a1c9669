"""`ClusterSearch` over small grids, and the stability scorer."""

from typing import Any

import joblib
import numpy as np
from sklearn.cluster import DBSCAN, KMeans
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fuzz import Case, Rng
from fuzz.draw import canonical, graph, kernel_matrix, pick, plain_rows, rarely, sparse_form
from fuzz.frames import frame
from fuzz.judge import promised, require
from kernelmeans import ClusterSearch, KernelPowerKMeans, MultiKernelPowerKMeans, PowerKMeans
from kernelmeans.metrics import jaccard_stability, neighbor_consistency, prediction_strength
from kernelmeans.search import stability_scorer
from kernelmeans.tables import TableTransformer

WEIGHT = 2
SCORINGS = ("jaccard", "jaccard", "stability", "prediction_strength", "neighbor_consistency")
TABLE_GRID = {"powerkmeans__n_clusters": [2, 3], "tabletransformer__skewed": ["log", "keep"]}


def case(rng: Rng) -> Case:
    n, p = int(rng.integers(4, 40)), int(rng.integers(1, 4))
    X = few_distinct_rows(rng, n) if rarely(rng, 4) else plain_rows(rng, n, p)
    quick: dict[str, Any] = {"n_swaps": 0, "max_iter": 20}
    estimator, grid = pick(
        rng,
        *[(PowerKMeans(**quick), {"n_clusters": pick(rng, [2, 3], range(2, 8), [3, n])})] * 2,
        (KernelPowerKMeans(**quick), {"n_clusters": [1, 2], "kernel": ["rbf", "heat"]}),
        (KernelPowerKMeans(kernel="precomputed", **quick), {"n_clusters": [2, 3]}),
        (KernelPowerKMeans(kernel="graph", **quick), {"n_clusters": [1, 2, 3]}),
        (MultiKernelPowerKMeans(**quick), {"n_clusters": [2], "kernels": ["neighbors", "widths"]}),
        (KMeans(n_init=1), {"n_clusters": [2, n, n + 1]}),
        (GaussianMixture(), {"n_components": [2, 3]}),
        *[(DBSCAN(), {"eps": [0.3, 1.0]})] * rarely(rng),
        (make_pipeline(StandardScaler(), KMeans(2, n_init=1)), {"kmeans__n_clusters": [2, 4]}),
        *[(make_pipeline(TableTransformer(), PowerKMeans(**quick)), TABLE_GRID)] * 2,
    )
    kernel = getattr(estimator, "kernel", "")
    if kernel == "precomputed":
        X = kernel_matrix(rng, n)
    elif kernel == "graph":
        X = graph(rng, n)
    elif grid is TABLE_GRID:
        X = frame(rng, n)
    elif rarely(rng, 8):
        X = sparse_form(rng, X)
    search = ClusterSearch(
        estimator,
        {**grid, "zz": [1]} if rarely(rng, 30) else pick(rng, grid, grid, grid, [grid, grid], {}),
        n_splits=pick(rng, *[2] * 8, *[3] * 4, 1),
        scoring=pick(rng, *SCORINGS, agreement),
        random_state=int(rng.integers(99)),
        n_jobs=pick(rng, *[None] * 8, 1, 2, -1),
        verbose=pick(rng, *[0] * 8, 1, 2),
    )
    words = f"{search!r}\nX = {X!r}"
    return Case(words, lambda: check(search, X))


def few_distinct_rows(rng: Rng, n: int) -> np.ndarray:
    """Rows of a category in columns of zeros and ones, of a rounded number, or of two answers."""
    values = pick(
        rng,
        np.eye(pick(rng, 2, 3, 5)),
        np.arange(3.0)[:, None],
        np.indices((2, 2)).reshape(2, 4).T * 1.0,
    )
    return np.asarray(values[rng.integers(len(values), size=n)])


def agreement(labels_a: np.ndarray, labels_b: np.ndarray) -> float:
    """A score of one's own."""
    return float(np.mean(labels_a == labels_b))


def check(search: ClusterSearch, X: Any) -> None:
    """Results are numbers in their ranges, the choice is one of them, and both are found again."""
    with joblib.parallel_config("threading"):  # processes of joblib outlive the case
        search.fit(X)
        with promised():
            check_results(search, X)


def check_results(search: ClusterSearch, X: Any) -> None:
    """Check what a search has found."""
    results, labels = search.results_, search.labels_
    count = len(results["params"])
    require(all(len(column) == count for column in results.values()), "lengths of results_")
    for name in ("mean_stability", "mean_prediction_strength", "min_jaccard"):
        values = np.asarray(results.get(name, []), float)
        require((np.isnan(values) | (values <= 1 + 1e-9)).all(), f"{name} {values}")
    require(labels.shape == (X.shape[0],) and len(search.verdict_) > 10, search.verdict_)
    require("nan" not in search.verdict_, search.verdict_)
    if search.best_index_ is None:
        require(not labels.any() and search.best_estimator_ is None, "no clusters, but labels")
    elif hasattr(search.best_estimator_, "predict"):
        if not isinstance(search.best_estimator_, KMeans):  # of equal rows it may predict others
            np.testing.assert_array_equal(labels, search.best_estimator_.predict(X), "labels_")
        require(np.isfinite(search.best_score_), f"best_score_ {search.best_score_}")
        found, asked = np.unique(labels[labels >= 0]), results["n_clusters"][search.best_index_]
        require(len(found) == asked, f"{len(found)} clusters of {asked}")
        check_scores(search.best_estimator_, X, labels)
    again = type(search)(**search.get_params(deep=False)).fit(canonical(X))
    require(again.best_index_ == search.best_index_, "best_index_ of two searches")
    np.testing.assert_array_equal(again.labels_, labels, "labels_ of two searches")


def check_scores(model: Any, X: Any, labels: np.ndarray) -> None:
    """Scores of a clustering and itself are 1, and others are in their ranges."""
    require(prediction_strength(labels, labels) in (0.0, 1.0), "prediction_strength of a copy")
    require(np.allclose(jaccard_stability(labels, [labels]), 1), "jaccard_stability of a copy")
    if isinstance(X, np.ndarray) and X.shape[1] < 4 and X.shape[0] > 2 * len(np.unique(labels)):
        value = neighbor_consistency(X, labels)
        require(0 <= value <= 1, f"neighbor_consistency {value}")
    if isinstance(model, PowerKMeans):
        require(-1 <= stability_scorer(model, X) <= 1, "stability_scorer")
