"""Candidates of a search: estimators with parameters of a grid, and fits of them."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from numbers import Integral
from operator import itemgetter
from pickle import PicklingError
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from kernelmeans._arrays import to_numpy
from kernelmeans._given import plain
from kernelmeans._memory import Found, content_hash, remembered, remembering, settling
from kernelmeans._sklearn import _safe_indexing
from kernelmeans._text import bounded, counted
from kernelmeans._typing import IntArray
from kernelmeans.estimators.base import KernelClusterer
from kernelmeans.metrics import eigengap, neighbor_consistency
from kernelmeans.search.splits import Samples

#: Names of the parameter for the number of clusters; the first that an estimator has counts.
#: Mixtures call clusters components.
CLUSTERS = ("n_clusters", "n_components")
#: Swap moves of a fit in a search. Without any, halves end in poor optima, and clusters are not
#: found again. As many as other fits make give the same answers in twice the time.
SWAPS = 8


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
        """Set parameters, which may be estimators; ValueError for those that it has not."""
        known = estimator.get_params()
        for key in params:
            inner = [name for name in known if name.endswith(f"__{key}")]
            if key not in known and inner:
                raise ValueError(
                    f"param_grid: {key!r} is no parameter of {type(estimator).__name__}. Name it "
                    f"{' or '.join(map(repr, inner))}."
                )
        made = clone(estimator).set_params(**clone(dict(params), safe=False))
        name = clusters_parameter(made)
        step = f"{made.steps[-1][0]}__" if isinstance(made, Pipeline) else ""
        others = {k.removeprefix(step): v for k, v in params.items() if k != name}
        return cls(params, made, clusters_asked(made), others)


def groups_of(candidates: Sequence[Candidate]) -> list[int]:
    """A number for each candidate, equal for those that differ in the number of clusters alone."""
    kinds = [content_of(one.others) for one in candidates]
    return [kinds.index(kind) for kind in kinds]


def content_of(params: Mapping[str, Any]) -> str:
    """Equal for equal parameters; the repr of a long array shows a few of its values."""
    named = sorted(params.items(), key=itemgetter(0))
    try:
        return content_hash(named)
    except (AttributeError, TypeError, PicklingError):  # as of functions without a name
        return repr(named)


@dataclass(eq=False)
class Outcome:
    """A candidate fitted to all rows, or to half of them.

    Attributes
    ----------
    labels : ndarray of int of shape (n_rows,) or None
        Labels of all rows. None if there are none.
    fit_time : float
        Seconds of the fit.
    inertia, neighbor_consistency : float
        Values of a fit to all rows; NaN if they are not known.
    eigengap : float
        The number of clusters that the graph of a fit to all rows suggests; NaN if it has none.
    error : str or None
        Why there are no labels.
    settled : dict
        Choices that a fit to all rows has made, and that fits to halves take over.
    """

    labels: IntArray | None
    fit_time: float = np.nan
    inertia: float = np.nan
    neighbor_consistency: float = np.nan
    eigengap: float = np.nan
    error: str | None = None
    settled: Found = field(default_factory=dict)


def evaluate(
    tasks: Sequence[tuple[Any, Found]], samples: Samples, seed: int, half: IntArray | None = None
) -> Iterator[Outcome]:
    """Fit candidates in turn to all rows, or to half of them; nothing is raised.

    A candidate takes from the one before what both look for. Equal steps of a pipeline make the
    same of the rows. The neighbours in a graph depend on the rows alone, and its eigenvectors on
    the number of neighbours. More clusters need more eigenvectors, and so should come first.

    Parameters
    ----------
    tasks : sequence of (estimator, dict)
        Estimators, and what their fits to all rows have settled.
    samples : Samples
        The rows.
    seed : int
        Seed of the fits.
    half : ndarray of int, default=None
        Indices of rows; all rows when None.

    Yields
    ------
    Outcome
        One for each estimator.
    """
    found: Found = {}
    for estimator, known in tasks:
        with remembering(found) as found:
            outcome = evaluated(estimator, known, samples, seed, half)
        yield outcome


def evaluated(
    estimator: Any, known: Found, samples: Samples, seed: int, half: IntArray | None
) -> Outcome:
    """Fit a candidate to all rows, or to half of them; nothing is raised."""
    try:
        with settling(known) as settled:
            if half is not None:
                return _on_half(estimator, samples, seed, half)
            outcome = _on_all(estimator, samples, seed)
        return replace(outcome, settled=settled)
    except Exception as error:
        return Outcome(None, error=bounded(f"{type(error).__name__}: {error}").rstrip("."))


class _Steps:
    """The memory of a pipeline whose first steps take over what the candidate before has fitted.

    All candidates have the same rows. Their content is not hashed: of a table with words that takes
    as long as to make numbers of it.
    """

    def cache(self, fit_transform: Callable[..., Any], **ignored: Any) -> Callable[..., Any]:
        """Remember what transformers that follow each other make of the rows."""
        chain: list[str | None] = []

        def taken(transformer: Any, *given: Any, **named: Any) -> Any:
            try:
                chain.append(content_hash(transformer))
            except (AttributeError, TypeError, PicklingError):  # as of functions without a name
                chain.append(None)
            if None in chain:
                return fit_transform(transformer, *given, **named)
            Z, fitted = remembered(
                lambda: fit_transform(transformer, *given, **named), lambda: ("steps", *chain)
            )
            return deepcopy(Z), fitted  # the next step may write into it

        return taken


def _quick(estimator: Any, seed: int, only_unset: bool = False) -> Any:
    """A seeded clone for labels alone: it makes `SWAPS` swap moves, unless they are given."""
    model = seeded(estimator, seed, only_unset)
    swaps = {
        name: SWAPS
        for name, value in model.get_params().items()
        if name.split("__")[-1] == "n_swaps" and value == "auto"
    }
    model.set_params(**swaps)
    if isinstance(model, Pipeline) and model.memory is None:
        model.set_params(memory=_Steps())
    if isinstance(last := last_step(model), KernelClusterer):
        last._for_labels = True  # the fit leaves out what labels do not need
    return model


def _on_half(estimator: Any, samples: Samples, seed: int, half: IntArray) -> Outcome:
    X, start = samples.among(half), time.perf_counter()
    model = _quick(estimator, seed).fit(X)
    seconds = time.perf_counter() - start
    return Outcome(samples.labels(model, half), seconds)


def _on_all(estimator: Any, samples: Samples, seed: int) -> Outcome:
    start = time.perf_counter()
    model = _quick(estimator, seed, only_unset=True).fit(samples.X)
    seconds = time.perf_counter() - start
    labels = np.asarray(to_numpy(labels_of(model, samples.X)))
    n_found = int(np.count_nonzero(np.unique(labels) >= 0))
    if not n_found:
        raise ValueError("no row is in a cluster")
    # Splits cannot show this: a cluster without rows is not missed in halves, and the others are
    # found again.
    if n_found < (clusters_asked(model) or 1):
        raise ValueError(
            f"it finds only {counted(n_found, 'cluster')}, fewer than asked for: many rows may be "
            f"equal. Ask for at most {n_found}"
        )
    inertia = float(getattr(last_step(model), "inertia_", np.nan))
    consistency = _consistency(model, samples, labels)
    return Outcome(labels, seconds, inertia, consistency, _eigengap(model))


def labels_of(model: Any, X: Any) -> Any:
    """Labels of the rows of a fit, as the model has them."""
    found = getattr(last_step(model), "labels_", None)
    return model.predict(X) if found is None else found


def last_step(model: Any) -> Any:
    """The last step of a pipeline; of anything else itself."""
    return model.steps[-1][1] if isinstance(model, Pipeline) else model


def _eigengap(model: Any) -> float:
    kernel = getattr(last_step(model), "kernel_", None)
    values = getattr(kernel, "leading_eigenvalues", ())
    return float(eigengap(values)) if len(values) > 1 else np.nan


def _consistency(model: Any, samples: Samples, labels: IntArray) -> float:
    """Consistency of near neighbours, corrected for the sizes of clusters.

    The neighbours are those of the rows that reach the clustering; NaN if these are no numbers. A
    row in no cluster counts as 0, and is a neighbour of none.
    """
    if samples.pairwise:
        return np.nan
    X = samples.loaded
    if isinstance(model, Pipeline) and len(model) > 1:
        X = model[:-1].transform(X)
    placed = np.flatnonzero(labels >= 0)
    labels, part = labels[placed], len(placed) / len(labels)
    try:
        consistent = neighbor_consistency(_safe_indexing(plain(X), placed), labels)
    except (TypeError, ValueError):
        return np.nan
    by_chance = np.square(np.unique(labels, return_counts=True)[1] / len(labels)).sum()
    return float(part * (consistent - by_chance) / (1 - by_chance)) if by_chance < 1 else np.nan
