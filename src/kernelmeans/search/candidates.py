"""Candidates of a search: estimators with parameters of a grid, and fits of them."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import Pipeline

from kernelmeans._text import bounded
from kernelmeans._typing import IntArray
from kernelmeans.metrics import stability
from kernelmeans.search.reference import Reference
from kernelmeans.search.splits import Samples, Split

#: Parameters that are a number of clusters, the first one that there is: those of mixtures are
#: called components.
CLUSTERS = ("n_clusters", "n_components")


def configured(estimator: Any, params: Mapping[str, Any]) -> Any:
    """A clone with other parameters, which may be estimators."""
    return clone(estimator).set_params(**clone(dict(params), safe=False))


def seeded(estimator: Any, seed: int, only_unset: bool = False) -> Any:
    """A clone whose every ``random_state`` is a seed, or every one that is None."""
    states = {
        name: seed
        for name, value in estimator.get_params().items()
        if name.split("__")[-1] == "random_state" and (value is None or not only_unset)
    }
    return clone(estimator).set_params(**states)


def clusters_parameter(estimator: Any) -> str | None:
    """The parameter that is the number of clusters; in a pipeline that of the last step.

    Examples
    --------
        >>> from sklearn.cluster import KMeans
        >>> from sklearn.decomposition import PCA
        >>> from sklearn.pipeline import make_pipeline
        >>> from kernelmeans.search.candidates import clusters_parameter
        >>> clusters_parameter(make_pipeline(PCA(2), KMeans(3)))
        'kmeans__n_clusters'
    """
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        found = clusters_parameter(last)
        return None if found is None else f"{name}__{found}"
    names = list(estimator.get_params())
    found = next((name for name in CLUSTERS if name in names), None)
    nested = [name for name in names if name.endswith("__n_clusters")]
    return found or (nested[-1] if nested else None)


def n_clusters_of(estimator: Any) -> int | None:
    """The number of clusters that an estimator is asked for, if it is a parameter."""
    name = clusters_parameter(estimator)
    return None if name is None else estimator.get_params()[name]


@dataclass(eq=False)
class Outcome:
    """A candidate fitted to all rows, or to both halves of a split.

    Attributes
    ----------
    labels : list of ndarray of int of shape (n_rows,)
        Labels of all rows, by each model.
    fit_time : float
        Seconds of all fits.
    inertia, neighbor_consistency : float
        Those of a fit to all rows, where they are known.
    error : str or None
        Why there are no labels.
    """

    labels: list[IntArray]
    fit_time: float = np.nan
    inertia: float = np.nan
    neighbor_consistency: float = np.nan
    error: str | None = None


def evaluate(estimator: Any, samples: Samples, seed: int, split: Split | None) -> Outcome:
    """Fit a candidate to all rows, or to both halves of a split; nothing is raised."""
    try:
        return (
            _on_all(estimator, samples, seed)
            if split is None
            else _on_halves(estimator, samples, split)
        )
    except Exception as error:
        return Outcome([], error=bounded(f"{type(error).__name__}: {error}"))


def stability_without_clusters(
    estimator: Any, reference: Reference, kind: str, split: Split
) -> float:
    """Stability of a candidate on one draw of data without clusters; NaN if a fit fails."""
    X = reference.draw(kind, np.random.default_rng((split.seed, 1)))
    outcome = evaluate(estimator, Samples(X), split.seed, split)
    return np.nan if outcome.error else stability(*outcome.labels)


def _on_halves(estimator: Any, samples: Samples, split: Split) -> Outcome:
    labels, seconds = [], 0.0
    for rows in split.halves:
        X, start = samples.among(rows), time.perf_counter()
        model = seeded(estimator, split.seed).fit(X)
        seconds += time.perf_counter() - start
        labels.append(samples.labels(model, rows))
    return Outcome(labels, seconds)


def _on_all(estimator: Any, samples: Samples, seed: int) -> Outcome:
    start = time.perf_counter()
    model = seeded(estimator, seed, only_unset=True).fit(samples.X)
    seconds = time.perf_counter() - start
    labels = labels_of(model, samples.X)
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    inertia = float(getattr(last, "inertia_", np.nan))
    return Outcome([labels], seconds, inertia, _consistency(model, samples, labels))


def labels_of(model: Any, X: Any) -> IntArray:
    """Labels of the rows of a fit."""
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    found = getattr(last, "labels_", None)
    return np.asarray(model.predict(X) if found is None else found)


def _consistency(model: Any, samples: Samples, labels: IntArray) -> float:
    """Near-neighbour consistency among the rows that reach the clustering, if they are numbers."""
    X = samples.X
    if samples.pairwise:
        return np.nan
    if isinstance(model, Pipeline):
        X = model[:-1].transform(X)
    count = min(25, samples.n_rows - 1)
    near = NearestNeighbors(n_neighbors=count).fit(X).kneighbors(return_distance=False)
    consistent = (labels[near] == labels[:, None]).mean()
    by_chance = np.square(np.unique(labels, return_counts=True)[1] / len(labels)).sum()
    return float((consistent - by_chance) / (1 - by_chance)) if by_chance < 1 else np.nan
