"""Places of rows on a map of the clusters: numbers alone, which any picture can use."""

from typing import Any, NamedTuple

import numpy as np

from kernelmeans._fitted import (
    cluster_sizes,
    count_clusters,
    count_rows,
    on_host,
    parts,
    readable,
    taken,
    transformed,
)
from kernelmeans._given import is_integer, received
from kernelmeans._typing import Array, IntArray
from kernelmeans.plotting.places import places


class MapPoints(NamedTuple):
    """Rows on a map.

    Attributes
    ----------
    rows : ndarray of int of shape (m,)
        Positions of the drawn rows in X, in ascending order.
    points : ndarray of shape (m, 2)
        Their places.
    axis_names : tuple of two str
        Names of the axes.
    labels : ndarray of int of shape (m,)
        Clusters of the drawn rows; -1 for those of none.
    sizes : ndarray of int of shape (n_clusters,)
        Rows in each cluster: of all rows if these are the rows of the fit, else of the drawn ones.
    n_rows : int
        Number of all rows.
    n_outliers : int
        Rows in no cluster, counted as ``sizes``.
    """

    rows: IntArray
    points: Array
    axis_names: tuple[str, str]
    labels: IntArray
    sizes: IntArray
    n_rows: int
    n_outliers: int = 0


def map_points(
    estimator: Any,
    X: Any,
    *,
    coordinates: Any = None,
    max_points: int = 2000,
    random_state: int = 0,
) -> MapPoints:
    """Place rows on a map by the kernel of a fitted clusterer.

    Rows of two columns are placed as they are, before they were scaled. Other places are kernel
    principal components, or principal components if the estimator has no kernel. With the heat
    kernel, two components show few of many clusters: then places are a projection of more
    components that keeps centroids apart. Where the heat kernel draws clear clusters together to
    dots, the rows themselves are projected instead; of a graph that is drawn whole, each cluster
    gets components of its own. Labels are those of `predict`.

    Parameters
    ----------
    estimator : clusterer, Pipeline or ClusterSearch
        Fitted; a pipeline ends with a clusterer.
    X : array-like, sparse matrix, data frame or Rows
        The rows of the fit or new ones, as `predict` of the estimator takes them. Columns of a data
        frame that the fit has not seen are left out.
    coordinates : array-like of shape (n_rows, 2), default=None
        Places of all rows of X, from UMAP for instance; computed when None.
    max_points : int, default=2000
        Most rows on the map: a random subsample, if there are more. Without coordinates the kernel
        matrix between them is computed.
    random_state : int, default=0
        Seed of the subsample.

    Returns
    -------
    MapPoints
        Drawn rows, their places and labels, names of the axes, and sizes of the clusters.

    Raises
    ------
    NotFittedError
        If the estimator has not been fitted.
    TypeError
        If the estimator is no clusterer that can label rows, or X is not of rows.
    ValueError
        If the search has chosen no clusters, if X or the coordinates cannot be used, or if X holds
        kernel values of new rows and there are no coordinates.

    Examples
    --------
    >>> from kernelmeans import KernelPowerKMeans
    >>> from kernelmeans.plotting.points import map_points
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> found = map_points(KernelPowerKMeans(3, random_state=0).fit(X), X, max_points=60)
    >>> found.points.shape, found.axis_names[0], int(found.sizes.sum())
    ((60, 2), 'heat component 1', 150)
    """
    transformers, model = parts(estimator)
    X = readable(X, *transformers, model)
    n_rows = count_rows(X, model)
    if not is_integer(max_points) or max_points < 1:
        raise ValueError(f"max_points={max_points!r} should be a positive number of rows.")
    rows = np.arange(n_rows)
    if n_rows > max_points:
        drawn = np.random.default_rng(random_state).choice(n_rows, max_points, replace=False)
        rows = np.sort(drawn)
    shown = transformed(transformers, taken(X, rows, model))
    labels = on_host(model.predict(shown))
    if coordinates is None:
        points, names = places(transformers, model, shown, rows, n_rows, labels)
    else:
        points, names = _given(coordinates, rows, n_rows)
    sizes, n_outliers = _sizes(model, labels, rows, n_rows)
    return MapPoints(rows, points, names, labels, sizes, n_rows, n_outliers)


def _given(coordinates: Any, rows: IntArray, n_rows: int) -> tuple[Array, tuple[str, str]]:
    """Places from the user, checked."""
    needed = f"two for each row of X: shape ({n_rows}, 2)"
    coordinates = received(coordinates, "coordinates")
    try:
        points = np.asarray(coordinates, np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"coordinates should be an array of numbers, {needed}: {error}") from error
    if points.shape != (n_rows, 2):
        raise ValueError(f"coordinates has shape {points.shape}; give {needed}.")
    points = points[rows]
    if not np.isfinite(points).all():
        raise ValueError(f"coordinates holds NaN or infinity; give finite numbers, {needed}.")
    first, second = getattr(coordinates, "columns", ("coordinate 1", "coordinate 2"))
    return points, (str(first), str(second))


def _sizes(model: Any, labels: IntArray, rows: IntArray, n_rows: int) -> tuple[IntArray, int]:
    """Rows in each cluster and in none: of all rows, if these have the labels of the fit."""
    known = getattr(model, "labels_", ())
    if len(known) == n_rows:
        known = on_host(known)
        if np.array_equal(known[rows], labels):
            labels = known
    sizes = cluster_sizes(labels, count_clusters(model) or 0)
    return sizes, int(len(labels) - sizes.sum())
