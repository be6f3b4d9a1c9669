"""All that a report says, as one dict that JSON can hold: pages are made from nothing else."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse

from kernelmeans._arrays import to_numpy
from kernelmeans._text import counted
from kernelmeans._typing import Array, IntArray
from kernelmeans.estimators.base import KernelClusterer
from kernelmeans.metrics import kernel_silhouette_samples
from kernelmeans.plotting.points import MapPoints, map_points, parts, readable, taken
from kernelmeans.report import measures
from kernelmeans.report.profiles import FEWEST, add_profiles
from kernelmeans.rows import Rows
from kernelmeans.rows.dask import computed, is_dask
from kernelmeans.search.splits import is_pairwise, is_stacked

#: Rows of the map and of silhouettes, and rows whose distances to centroids are taken.
MAP_ROWS, DISTANCE_ROWS = 2000, 20_000
#: Most rows of a matrix between rows for silhouettes, which need all of it.
PAIRWISE_ROWS = 4000
#: Typical rows of a cluster.
TYPICAL = 3


class Asked(NamedTuple):
    """The parameters of a report beside the model and its rows."""

    labels_true: Any
    search: Any
    names: Sequence[str] | None
    rows: bool
    title: str | None
    random_state: int
    kernel_names: Sequence[str] | None
    source: Path | None
    commands: Sequence[str]


@dataclass(frozen=True)
class Subject:
    """A fitted model and the rows that the report is about.

    Parameters
    ----------
    given : estimator, Pipeline or ClusterSearch
        What the user gave.
    transformers : list
        What comes before the model.
    model : KernelClusterer
        The model itself.
    X : object
        The rows, in a form from which some can be taken.
    drawn : MapPoints
        The rows on the map.
    labels : ndarray of shape (n_rows,)
        The clusters of all rows.
    """

    given: Any
    transformers: list[Any]
    model: Any
    X: Any
    drawn: MapPoints
    labels: IntArray

    @classmethod
    def of(cls, given: Any, X: Any, random_state: int) -> Self:
        """Place rows on a map and label all; of the fit's rows the labels are known."""
        transformers, model = parts(given)
        if not isinstance(model, KernelClusterer):
            raise TypeError(
                f"model={type(model).__name__} is no estimator of kernelmeans: give a fitted one, "
                "such as KernelPowerKMeans, a pipeline that ends with one, or a ClusterSearch."
            )
        X = readable(X)
        drawn = map_points(given, X, max_points=MAP_ROWS, random_state=random_state)
        known = model.labels_
        known = np.asarray(computed(known) if is_dask(known) else to_numpy(known))
        if len(known) != drawn.n_rows or not np.array_equal(known[drawn.rows], drawn.labels):
            known = given.predict(X)
            known = np.asarray(computed(known) if is_dask(known) else to_numpy(known))
        return cls(given, transformers, model, X, drawn, known)

    @property
    def n_rows(self) -> int:
        """Number of all rows."""
        return self.drawn.n_rows

    @property
    def n_clusters(self) -> int:
        """Number of clusters of the model."""
        return int(self.model.n_clusters)

    @cached_property
    def sizes(self) -> list[int]:
        """Rows of each cluster."""
        sizes: list[int] = np.bincount(self.labels, minlength=self.n_clusters).tolist()
        return sizes

    def shown(self, rows: IntArray) -> Any:
        """Some rows, as the model takes them."""
        found = taken(self.X, rows, self.model)
        for transformer in self.transformers:
            found = transformer.transform(found)
        return found

    def sample(self, most: int, seed: int) -> IntArray:
        """All rows, or so many at random."""
        if self.n_rows <= most:
            return np.arange(self.n_rows)
        return np.sort(np.random.default_rng(seed).choice(self.n_rows, most, replace=False))


def gather(subject: Subject, table: Any, asked: Asked) -> dict[str, Any]:
    """Everything that a report says.

    Parameters
    ----------
    subject : Subject
        What it is about.
    table : object or None
        What describes the clusters.
    asked : Asked
        The other parameters.

    Returns
    -------
    dict
        Ready for JSON. What belongs to one cluster is in an entry of ``clusters``.
    """
    clusters = _clusters(subject, asked.names)
    found: dict[str, Any] = {
        "title": asked.title
        or (f"Clusters of {asked.source.name}" if asked.source else "Clusters"),
        "rows": subject.n_rows,
        "clusters": clusters,
        "aggregates_only": not asked.rows,
        "map": _map(subject),
        # Typical rows, which profiles show, come from distances.
        "certainty": _add_certainty(clusters, subject, asked),
        "profiles": _add_profiles(clusters, subject, table, asked.rows),
        "silhouettes": _add_silhouettes(clusters, subject),
        "stability": _add_stability(clusters, subject, asked.search),
        "agreement": _add_classes(clusters, subject, asked),
        "kernels": _kernels(subject.model, asked.kernel_names),
        "trace": measures.trace(subject.model),
        "model": _model(subject),
        "again": _again(subject, asked),
    }
    return found


def _clusters(subject: Subject, names: Sequence[str] | None) -> list[dict[str, Any]]:
    """Number, name and size of each cluster."""
    sizes = subject.sizes
    if names is not None and (isinstance(names, str) or len(names) != len(sizes)):
        raise ValueError(
            f"names={names!r} should name each of the {counted(len(sizes), 'cluster')}, in the "
            "order of their numbers."
        )
    return [
        {
            "cluster": number,
            "name": None if names is None else str(names[number]),
            "rows": size,
            "fraction": size / max(1, subject.n_rows),
        }
        for number, size in enumerate(sizes)
    ]


def _map(subject: Subject) -> dict[str, Any]:
    drawn = subject.drawn
    counts = measures.cells(drawn.points, drawn.labels)
    return {"rows": len(drawn.rows), "axes": list(drawn.axis_names), **counts}


def _add(clusters: list[dict[str, Any]], name: str, values: Sequence[Any]) -> None:
    for cluster, value in zip(clusters, values, strict=True):
        cluster[name] = value


def _add_certainty(
    clusters: list[dict[str, Any]], subject: Subject, asked: Asked
) -> dict[str, Any] | None:
    """First against second centroid, where there are two; typical rows, if they are asked for."""
    if subject.n_clusters < 2 and not asked.rows:
        return None
    rows = subject.sample(DISTANCE_ROWS, asked.random_state)
    labels = subject.labels[rows]
    distances: Array = np.asarray(to_numpy(subject.model.transform(subject.shown(rows))))
    if asked.rows:
        own = distances[np.arange(len(rows)), labels]
        order = np.argsort(own, kind="stable")
        nearest = [rows[order[labels[order] == number]] for number in range(len(clusters))]
        _add(clusters, "typical_rows", [one[:TYPICAL].tolist() for one in nearest])
    if subject.n_clusters < 2:
        return None
    found = measures.certainty(distances, labels)
    _add(clusters, "certainty", found)
    near = sum(one["rows"] * one["near_border"] for one in found if one)
    return {"rows": len(rows), "near_border": near / len(rows)}


def _add_profiles(
    clusters: list[dict[str, Any]], subject: Subject, table: Any, rows: bool
) -> dict[str, Any] | None:
    """What characterises the clusters, where there is a table: X, unless it is a matrix of rows."""
    if table is None:
        pairwise = is_pairwise(subject.model) or is_stacked(subject.model)
        if pairwise or isinstance(subject.X, Rows) or scipy.sparse.issparse(subject.X):
            return None
        table = subject.X
    return add_profiles(clusters, subject.labels, table, rows)


def _add_silhouettes(clusters: list[dict[str, Any]], subject: Subject) -> dict[str, Any] | None:
    """Silhouettes of a subsample; of a matrix between rows all are needed, or there are none."""
    X, rows = subject.X, subject.drawn.rows
    if is_pairwise(subject.model) or is_stacked(subject.model):
        rows = np.arange(subject.n_rows)
        if len(rows) > PAIRWISE_ROWS:
            return None
    else:
        X = subject.shown(rows)
    labels = subject.labels[rows]
    if not 1 < len(np.unique(labels)) < len(labels):
        return None
    values = kernel_silhouette_samples(subject.model, X, labels)
    _add(clusters, "silhouette", measures.silhouettes(values, labels, len(clusters)))
    return {"rows": len(rows), "mean": float(values.mean())}


def _add_stability(
    clusters: list[dict[str, Any]], subject: Subject, search: Any
) -> dict[str, Any] | None:
    """What a search has found, where there was one."""
    if search is None:
        return None
    found = measures.stability(search, subject.labels, len(clusters))
    if (overlaps := found.pop("jaccard")) is not None:
        _add(clusters, "jaccard", overlaps)
    return found


def _add_classes(
    clusters: list[dict[str, Any]], subject: Subject, asked: Asked
) -> dict[str, Any] | None:
    """Agreement with given labels; those of few rows would tell of each."""
    if asked.labels_true is None:
        return None
    found = measures.agreement(asked.labels_true, subject.labels, len(clusters))
    enough = [asked.rows or one["rows"] >= FEWEST for one in clusters]
    classes = found.pop("classes")
    _add(clusters, "classes", [one if ok else [] for one, ok in zip(classes, enough, strict=True)])
    return found


def _kernels(model: Any, names: Sequence[str] | None) -> list[dict[str, Any]] | None:
    """The weights of several kernels."""
    if not hasattr(model, "kernel_weights_"):
        return None
    weights = model.kernel_weights_.tolist()
    settled = iter(model.kernel_.kernels)
    kinds = [next(settled).name if factor else "constant" for factor in model.kernel_factors_]
    if names is not None and len(names) != len(weights):
        raise ValueError(
            f"kernel_names has {counted(len(names), 'name')} for {counted(len(weights), 'kernel')}."
        )
    called = map(str, range(len(weights)) if names is None else names)
    return [
        {"name": name, "kernel": kind, "weight": weight}
        for name, kind, weight in zip(called, kinds, weights, strict=True)
    ]


def _model(subject: Subject) -> dict[str, Any]:
    """The kernel and how it was held."""
    model = subject.model
    held = dict.fromkeys(np.atleast_1d(model.approximation_).tolist())
    found: dict[str, Any] = {"estimator": type(model).__name__, "approximation": ", ".join(held)}
    if not hasattr(model, "kernel_weights_"):
        values = {name: getattr(model, name, None) for name in ("gamma_", "n_neighbors_", "t_")}
        values["n_pieces_"] = getattr(model, "n_pieces_", None)
        found["kernel"] = model.kernel_.name
        found |= {
            name.strip("_"): float(value) for name, value in values.items() if value is not None
        }
    error = getattr(model, "approximation_error_", None)
    return found | {"approximation_error": None if error is None else float(error)}


def _again(subject: Subject, asked: Asked) -> dict[str, Any]:
    """What it takes to make the same clusters, and to use the model."""
    given = getattr(subject.given, "best_estimator_", subject.given)
    seed, source = subject.model.random_state, asked.source
    return {
        "python": repr(given),
        "seed": seed if isinstance(seed, int) else None,
        "commands": [str(one) for one in asked.commands],
        "source": None if source is None else source.name,
        "sha256": _file_hash(source) or data_hash(subject.X),
        "versions": measures.versions(),
    }


def _file_hash(source: Path | None) -> str | None:
    if source is None or not source.is_file():
        return None
    with source.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def data_hash(X: Any) -> str:
    """SHA-256 of rows: of the names, types and values of their columns, or of an array.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.report.facts import data_hash
    >>> data_hash(np.eye(2)) == data_hash(np.eye(2)), data_hash(np.eye(2)) == data_hash(np.ones(2))
    (True, False)
    """
    if scipy.sparse.issparse(X):
        X = X.tocsr()
        return measures.digest([(name, getattr(X, name)) for name in ("data", "indices", "indptr")])
    if hasattr(X, "blocks"):
        return measures.digest([("", X[block]) for block in X.blocks()])
    if hasattr(X, "columns"):
        return measures.digest([(str(name), X[name].to_numpy()) for name in X.columns])
    return measures.digest([("", np.asarray(X))])
