"""Clusterers of any kind, alone or in a pipeline or a search, and the rows that they take."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import is_clusterer
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from kernelmeans._arrays import to_numpy
from kernelmeans._frames import with_columns_of
from kernelmeans._given import holds_none, plain, with_gaps
from kernelmeans._sklearn import _num_samples, _safe_indexing
from kernelmeans._typing import Array, IntArray
from kernelmeans.rows import Rows, as_rows
from kernelmeans.rows.dask import computed


def is_pairwise(estimator: Any) -> bool:
    """Whether columns of X stand for training rows, as those of a kernel matrix do."""
    return bool(get_tags(estimator).input_tags.pairwise)


def is_stacked(estimator: Any) -> bool:
    """Whether X is a stack of kernel matrices."""
    tags = get_tags(estimator).input_tags
    return bool(tags.three_d_array and not tags.two_d_array)


def count_rows(X: Any, estimator: Any) -> int:
    """Rows of X, as an estimator sees them."""
    return int(X.shape[1] if is_stacked(estimator) else _num_samples(X))


def count_clusters(model: Any) -> int | None:
    """Clusters of a fitted clusterer, with rows or without; None if the labels alone tell."""
    # The parameter may have changed since the fit, and of other packages be no number.
    if hasattr(model, "_n_centroids"):
        return int(model._n_centroids)
    if hasattr(model, "cluster_centers_"):
        return len(model.cluster_centers_)
    count = getattr(model, "n_clusters", None)
    return int(count) if isinstance(count, Integral) else None


def cluster_sizes(labels: Any, n_clusters: int) -> IntArray:
    """Rows in each cluster; those of no cluster, with the label -1, are in none."""
    return np.bincount(labels[labels >= 0], minlength=n_clusters)


def parts(estimator: Any) -> tuple[list[Any], Any]:
    """The transformers of a fitted estimator, and the clusterer after them.

    Parameters
    ----------
    estimator : clusterer, Pipeline or ClusterSearch
        Fitted.

    Returns
    -------
    transformers : list
        Applied to X in this order.
    model : clusterer
        Labels the rows.

    Raises
    ------
    NotFittedError
        If the estimator has not been fitted.
    TypeError
        If it is no clusterer that can label rows.
    ValueError
        If the search has chosen no clusters.
    """
    if hasattr(estimator, "fit"):
        check_is_fitted(estimator)
    transformers: list[Any] = []
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
            if estimator is None:
                raise ValueError(
                    "estimator: the search has chosen no clusters, because none would be found "
                    "again; fit an estimator with n_clusters of your own."
                )
        elif isinstance(estimator, Pipeline):
            steps = [step for _, step in estimator.steps]
            transformers += [step for step in steps[:-1] if step not in (None, "passthrough")]
            estimator = steps[-1]
        else:
            break
    # What is no estimator, such as a Model, has no tags.
    has_both = hasattr(estimator, "fit") and hasattr(estimator, "predict")
    if not (has_both and is_clusterer(estimator)):
        raise TypeError(
            f"estimator={type(estimator).__name__} should be a clusterer with the method predict, "
            "a pipeline that ends with one, such as that of a Model, or a ClusterSearch."
        )
    return transformers, estimator


def transformed(transformers: Sequence[Any], X: Any) -> Any:
    """Rows as the clusterer after these transformers sees them."""
    for transformer in transformers:
        X = transformer.transform(X)
    return X


def readable(X: Any, *steps: Any) -> Any:
    """X in a form from which rows can be taken, with the columns that the first step has seen."""
    X = plain(with_gaps(X))
    if (rows := as_rows(X)) is not None:
        return rows
    if isinstance(X, list | tuple):
        return np.asarray(X)
    if not hasattr(X, "shape"):
        raise TypeError(
            f"{holds_none(X)}, a sparse matrix, or rows on disk by kernelmeans.rows.open_rows."
        )
    return with_columns_of(to_numpy(X), steps[0])


def taken(X: Any, rows: IntArray | slice, model: Any) -> Any:
    """Some rows of X, as `predict` takes them."""
    if is_stacked(model):
        return X[:, rows]
    taken = _safe_indexing(X, rows)
    named = isinstance(X, Rows) and X.names
    return Rows(taken, X.source, X.names) if named else taken


def exact(model: Any, values: Any) -> Array:
    """Costs or objectives of a fit, 0 where they are no more than rounding."""
    # A power mean may be as many times its smallest distance as there are clusters.
    rounding = 2 * model._n_centroids * model.result_.rounding
    return np.where(np.abs(values) <= rounding, 0.0, values)


def on_host(values: Any) -> Any:
    """Values for rows as an array of NumPy. The lazy values of a fit to Dask are computed."""
    return np.asarray(to_numpy(computed(values)))
