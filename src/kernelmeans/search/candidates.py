"""Candidates of a search: estimators with parameters of a grid, and fits of them."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from kernelmeans._arrays import to_numpy
from kernelmeans._memory import Found, remembering
from kernelmeans._text import bounded, counted
from kernelmeans._typing import IntArray
from kernelmeans.metrics import neighbor_consistency
from kernelmeans.search.splits import Samples, Split

#: Parameters that are a number of clusters, the first one that there is: those of mixtures are
#: called components.
CLUSTERS = ("n_clusters", "n_components")


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


def clusters_asked(estimator: Any) -> int | None:
    """The number of clusters that an estimator is asked for, if that is a parameter."""
    name = clusters_parameter(estimator)
    asked = None if name is None else estimator.get_params()[name]
    return int(asked) if isinstance(asked, Integral) else None


@dataclass(frozen=True, eq=False)
class Candidate:
    """An estimator with parameters of a grid.

    Attributes
    ----------
    params : dict
        The parameters.
    estimator : estimator
        A clone that has them.
    n_clusters : int or None
        The number of clusters that it is asked for, if that is a parameter.
    others : dict
        The parameters but the number of clusters. The name of a pipeline's last step is left out.
    """

    params: Mapping[str, Any]
    estimator: Any
    n_clusters: int | None
    others: Mapping[str, Any]

    @classmethod
    def of(cls, estimator: Any, params: Mapping[str, Any]) -> "Candidate":
        """Set parameters, which may be estimators."""
        made = clone(estimator).set_params(**clone(dict(params), safe=False))
        name = clusters_parameter(made)
        step = f"{made.steps[-1][0]}__" if isinstance(made, Pipeline) else ""
        others = {k.removeprefix(step): v for k, v in params.items() if k != name}
        return cls(params, made, clusters_asked(made), others)


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


def evaluate(
    estimators: Sequence[Any], samples: Samples, seed: int, split: Split | None
) -> Iterator[Outcome]:
    """Fit candidates in turn to all rows, or to both halves of a split; nothing is raised.

    A candidate takes from the one before what both look for: the neighbours in a graph depend on
    the rows, and hardly on the number of clusters.
    """
    found: Found = {}
    for one in estimators:
        with remembering(found) as found:
            outcome = evaluated(one, samples, seed, split)
        yield outcome


def evaluated(estimator: Any, samples: Samples, seed: int, split: Split | None) -> Outcome:
    """Fit a candidate to all rows, or to both halves of a split; nothing is raised."""
    try:
        if split is None:
            return _on_all(estimator, samples, seed)
        return _on_halves(estimator, samples, split)
    except Exception as error:
        return Outcome([], error=bounded(f"{type(error).__name__}: {error}").rstrip("."))


def _on_halves(estimator: Any, samples: Samples, split: Split) -> Outcome:
    labels, seconds = [], 0.0
    for rows in split.halves:
        X, start = samples.among(rows), time.perf_counter()
        model = seeded(estimator, split.seed).fit(X)
        seconds += time.perf_counter() - start
        labels.append(samples.labels(model, rows))
    placed = np.all(np.array(labels) >= 0, axis=0)
    if not all(placed[rows].any() for rows in split.halves):
        raise ValueError("no row of a half has a label by both models")
    return Outcome(labels, seconds)


def _on_all(estimator: Any, samples: Samples, seed: int) -> Outcome:
    start = time.perf_counter()
    model = seeded(estimator, seed, only_unset=True).fit(samples.X)
    seconds = time.perf_counter() - start
    labels = np.asarray(to_numpy(labels_of(model, samples.X)))
    n_found = int(np.count_nonzero(np.unique(labels) >= 0))
    if not n_found:
        raise ValueError("no row is in a cluster")
    # Clusters without rows would not be missed in halves, and the others are found again.
    if n_found < (clusters_asked(model) or 1):
        raise ValueError(
            f"it finds only {counted(n_found, 'cluster')}, fewer than asked for: many rows may be "
            f"equal. Ask for at most {n_found}"
        )
    inertia = float(getattr(last_step(model), "inertia_", np.nan))
    return Outcome([labels], seconds, inertia, _consistency(model, samples, labels))


def labels_of(model: Any, X: Any) -> Any:
    """Labels of the rows of a fit, as the model has them."""
    found = getattr(last_step(model), "labels_", None)
    return model.predict(X) if found is None else found


def last_step(model: Any) -> Any:
    """The last step of a pipeline; of anything else itself."""
    return model.steps[-1][1] if isinstance(model, Pipeline) else model


def _consistency(model: Any, samples: Samples, labels: IntArray) -> float:
    """Consistency of near neighbours, corrected for the sizes of clusters.

    The neighbours are those of the rows that reach the clustering; NaN if these are no numbers.
    """
    if samples.pairwise:
        return np.nan
    X = samples.loaded
    if isinstance(model, Pipeline) and len(model) > 1:
        X = model[:-1].transform(X)
    # A row in no cluster is with none of its neighbours.
    labels = np.where(labels < 0, -1 - np.arange(len(labels)), labels)
    try:
        consistent = neighbor_consistency(X, labels)
    except (TypeError, ValueError):
        return np.nan
    by_chance = np.square(np.unique(labels, return_counts=True)[1] / len(labels)).sum()
    return float((consistent - by_chance) / (1 - by_chance)) if by_chance < 1 else np.nan
