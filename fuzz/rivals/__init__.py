"""The same random problems for this package and for others, and one judge for all.

Modules whose names are the same up to the underscore take the same problems:
``python -m fuzz --package fuzz.rivals --replay kmeans_sklearn 17`` runs one again. The table is
made by ``python -m fuzz.compare``.

No failure is what the documentation of a library leaves out, and a library that warns of its
result is believed: then the number of clusters and the objective are not looked at.
"""

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from io import StringIO
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from sklearn.base import clone

from fuzz import Case, Failure, Refused, Rng
from fuzz.draw import graph, kernel_matrix, pick, plain_rows, rarely, rows, weights
from fuzz.judge import OWN, is_refusal, promised
from fuzz.sound import POSITIVE, not_finite

#: Where errors of scikit-learn, and of packages that call it, may come from.
SKLEARN = ("/sklearn/",)
#: How the words of a case begin whose numbers are ordinary.
ORDINARY = "ordinary numbers"
#: A rise of the objective that counts, as a part of its largest value.
RISE = 1e-4


class Problem(NamedTuple):
    """Rows or a matrix, and what any library is asked for."""

    X: Any
    n_clusters: int
    random_state: int
    weight: Any = None
    kernel: str = "linear"
    gamma: float = 1.0
    init: Any = "k-means++"
    n_neighbors: int = 10

    def taken(self, *names: str) -> dict[str, Any]:
        """Parameters of an estimator, the number of clusters and the seed among them."""
        return {name: getattr(self, name) for name in ("n_clusters", "random_state", *names)}

    @property
    def weights(self) -> np.ndarray:
        """Weights of the rows."""
        return np.ones(self.X.shape[0]) if self.weight is None else np.asarray(self.weight)

    @property
    def sizes(self) -> np.ndarray:
        """Absolute values of the rows or the matrix, but for zeros that are not held."""
        return np.asarray(np.abs(self.X.data if scipy.sparse.issparse(self.X) else self.X))

    @property
    def is_ordinary(self) -> bool:
        """Whether the rows could be measurements: no very large or small numbers or weights."""
        return bool(
            1e-3 <= float(self.sizes.max(initial=0)) <= 1e6  # not for NaN either
            and (self.weights >= 0).all()
            and 1e-3 <= self.weights.max() <= 1e3
            and (self.weights > 0).sum() >= self.n_clusters
        )

    @property
    def rounding(self) -> float:
        """Rounding of a sum of kernel values over all rows, very generously."""
        eps = np.finfo(np.float64 if self.X.dtype in (np.float64, np.int64) else np.float32).eps
        with np.errstate(over="ignore"):
            square = np.square(self.sizes.max(initial=0).astype(float)) * self.X.shape[1]
            value = square if self.kernel == "linear" else 1
            return float(1000 * eps * self.weights.sum() * value)


def of_rows(rng: Rng) -> Problem:
    """Rows of all kinds, dense or sparse, and a start, for k-means."""
    n, p, k = sizes(rng)
    init = pick(rng, "k-means++", "k-means++", "random", plain_rows(rng, k, p))
    return Problem(rows(rng, n, p), k, int(rng.integers(99)), weights(rng, n), init=init)


def of_kernels(rng: Rng) -> Problem:
    """Dense rows and one of scikit-learn's kernels, or a kernel matrix."""
    n, p, k = sizes(rng)
    X = rows(rng, n, p)
    X = X.toarray() if scipy.sparse.issparse(X) else X
    kernel = pick(rng, "rbf", "rbf", "laplacian", "linear", "cosine", "poly", "precomputed")
    X = kernel_matrix(rng, n) if kernel == "precomputed" else X
    gamma = pick(rng, 0.01, 0.3, 1.0, 30.0)
    return Problem(X, k, int(rng.integers(99)), weights(rng, n), kernel, gamma)


def of_affinities(rng: Rng) -> Problem:
    """Rows and an affinity that is never negative, or a graph."""
    n, p, k = sizes(rng)
    kernel = pick(rng, "rbf", "rbf", "laplacian", "heat", "heat", "graph")
    X = rows(rng, n, p)
    if kernel == "graph":
        A = abs(graph(rng, n))
        X = A + A.T
    n_neighbors = pick(rng, 3, 7, 10)
    gamma = pick(rng, 0.01, 0.3, 1.0, 30.0)
    return Problem(X, k, int(rng.integers(99)), kernel=kernel, gamma=gamma, n_neighbors=n_neighbors)


def sizes(rng: Rng) -> tuple[int, int, int]:
    """Numbers of rows, columns and clusters."""
    n, p = int(rng.integers(1, 40)), int(rng.integers(1, 5))
    return n, p, n if rarely(rng, 15) else int(rng.integers(1, 6))


def case(
    problem: Problem,
    model: Any,
    objectives: Callable[[Any, str], list[list[float]]] = lambda model, printed: [],
    own: Sequence[str] = OWN,
) -> Case:
    """The case of a problem and an estimator of some library.

    Parameters
    ----------
    problem : Problem
        What is asked for.
    model : estimator
        It is fitted twice.
    objectives : callable
        The objective at each step of each run, of a fitted model and what it has printed.
    own : sequence of str
        Parts of the paths of the files where its refusals may come from.
    """
    kind = ORDINARY if problem.is_ordinary else "extreme numbers"
    words = f"{kind}\n{model!r}\nX = {problem.X!r}\nsample_weight = {problem.weight!r}"
    return Case(words, lambda: check(problem, model, objectives, own))


def check(
    problem: Problem,
    model: Any,
    objectives: Callable[[Any, str], list[list[float]]],
    own: Sequence[str],
) -> None:
    """Fit twice, and fail with all that is wrong, one line for each.

    Raises
    ------
    Refused
        If the library says why it does not fit.
    Failure
        If something is wrong.
    """
    weight = {} if problem.weight is None else {"sample_weight": problem.weight}
    again = clone(model).set_params(verbose=1)
    with warnings.catch_warnings(record=True) as said, redirect_stdout(StringIO()) as printed:
        warnings.simplefilter("always")
        try:
            model.fit(problem.X, **weight)
        except Exception as error:
            if is_refusal(error, own):
                raise Refused(str(error)) from error
            raise
        with promised():
            again.fit(problem.X, **weight)
        found = [*of_result(problem, model, again), *of_predict(problem, model)]
    warned = [one for one in said if issubclass(one.category, UserWarning)]
    if not warned:
        found += of_size(problem, model)
        found += of_objective(problem, objectives(again, printed.getvalue()))
    found += of_warnings(said)
    if found:
        raise Failure("\n".join(["", *dict.fromkeys(found)]))


def of_result(problem: Problem, model: Any, again: Any) -> Iterator[str]:
    """Labels are numbers of clusters, all numbers are finite, and two fits are the same."""
    labels = np.asarray(model.labels_)
    if labels.shape != (problem.X.shape[0],) or not np.isin(labels, range(model.n_clusters)).all():
        yield f"no labels: {labels}"
    for name, value in not_finite(model):
        yield f"not finite: {name} {value}"
    if not np.array_equal(labels, again.labels_):
        yield f"two fits differ: {labels} {again.labels_}"


def of_predict(problem: Problem, model: Any) -> Iterator[str]:
    """Labels of the training rows are those of ``predict``, once a fit has converged."""
    if hasattr(model, "predict"):
        try:
            labels = model.predict(problem.X)
        except Exception as error:
            yield f"predict fails: {type(error).__name__}: {error}"
        else:
            if model.n_iter_ < model.max_iter and not np.array_equal(labels, model.labels_):
                yield f"predict differs: {model.labels_} {labels}"


def of_size(problem: Problem, model: Any) -> Iterator[str]:
    """There are as many clusters as were asked for."""
    if (count := len(np.unique(model.labels_))) < problem.n_clusters:
        yield f"fewer clusters: {count} of {problem.n_clusters}"


def of_objective(problem: Problem, runs: list[list[float]]) -> Iterator[str]:
    """The objective does not rise where costs cannot be negative, but for rounding."""
    if problem.kernel in POSITIVE and (problem.weights >= 0).all():
        for run in runs:
            with np.errstate(invalid="ignore"):
                rise = np.diff(run).max(initial=0)
            if rise > RISE * np.abs(run).max(initial=0) + problem.rounding:
                yield f"objective rises: {run}"


def of_warnings(said: list[warnings.WarningMessage]) -> Iterator[str]:
    """Warnings are for users: those of NumPy and SciPy about numbers are not."""
    for one in said:
        if issubclass(one.category, RuntimeWarning) and "n_init=" not in str(one.message):
            yield f"foreign warning: {one.message} ({one.filename}:{one.lineno})"


def printed_numbers(pattern: str, text: str) -> list[float]:
    """Numbers of a text in a pattern."""
    return [float(number) for number in re.findall(pattern, text)]
