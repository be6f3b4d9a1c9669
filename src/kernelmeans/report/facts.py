"""All that a report says, as one dict that JSON can hold: pages are made from nothing else."""

import hashlib
import platform
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import joblib
import numpy as np
import scipy
import sklearn

import kernelmeans
from kernelmeans._fitted import (
    cluster_sizes,
    is_pairwise,
    is_stacked,
    on_host,
    parts,
    readable,
    taken,
    transformed,
)
from kernelmeans._given import checked_names
from kernelmeans._numbers import finite
from kernelmeans._typing import IntArray
from kernelmeans.estimators.base import KernelClusterer
from kernelmeans.metrics import kernel_silhouette_samples
from kernelmeans.plotting.points import MapPoints, map_points
from kernelmeans.profiles.describing import tables_among
from kernelmeans.profiles.rows import first_of_each, place
from kernelmeans.report import measures
from kernelmeans.report.searches import found_by
from kernelmeans.rows import Rows
from kernelmeans.tables.columns import as_lines

#: Rows of the map and of silhouettes, and rows whose distances to centroids are taken.
MAP_ROWS, DISTANCE_ROWS = 2000, 20_000
#: Most rows of a matrix between rows for silhouettes, which need all of it.
PAIRWISE_ROWS = 4000
#: Typical rows of a cluster.
TYPICAL = 3

Clusters = list[dict[str, Any]]


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
    table : object
        The rows as the user gave them, with columns that the model may not have seen.
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
    table: Any
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
        table, X = X, readable(X, *transformers, model)
        try:
            drawn = map_points(given, X, max_points=MAP_ROWS, random_state=random_state)
        except ValueError as error:
            if transformers or "features, but" not in str(error):
                raise
            remedy = "Give other columns that describe the clusters as table=."
            raise ValueError(f"{error} {remedy}") from error
        known = on_host(model.labels_)
        if len(known) != drawn.n_rows or not np.array_equal(known[drawn.rows], drawn.labels):
            known = on_host(given.predict(X))
        if not (known >= 0).any():
            raise ValueError("X: no row belongs to a cluster, so that there is nothing to report.")
        return cls(given, transformers, model, table, X, drawn, known)

    @property
    def is_matrix(self) -> bool:
        """Whether X is a matrix between rows, or a stack of them."""
        return is_pairwise(self.model) or is_stacked(self.model)

    def shown(self, rows: IntArray) -> Any:
        """Some rows, as the model takes them."""
        return transformed(self.transformers, taken(self.X, rows, self.model))


def clusters_of(subject: Subject, names: Sequence[str] | None) -> Clusters:
    """Number, name and size of each cluster; what else belongs to it is added later."""
    sizes = cluster_sizes(subject.labels, subject.model._n_centroids).tolist()
    n_rows = len(subject.labels)
    called = [None] * len(sizes) if names is None else checked_names(names, sizes, "cluster")
    clusters = [
        {"cluster": number, "name": name, "hint": "", "rows": size, "fraction": size / sum(sizes)}
        for number, (name, size) in enumerate(zip(called, sizes, strict=True))
    ]
    of_fit = subject.model.separation_ is not None and n_rows == len(subject.model.labels_)
    apart = subject.model.separation_.tolist() if of_fit else [None] * len(sizes)
    add(clusters, "separation", apart)
    return clusters


def columns_of(subject: Subject, rows: bool) -> dict[str, Any] | None:
    """What a `TableTransformer` took each column for; reasons may hold values of single rows."""
    if (made := next(iter(tables_among(subject.transformers)), None)) is None:
        return None
    columns = [
        one if rows or not (one.used or one.kind == "text") else one._replace(reason="")
        for one in made.columns_
    ]
    return {
        "used": [one.name for one in columns if one.used],
        "lines": as_lines(columns, made._n_rows, made.missing),
    }


def add(clusters: Clusters, name: str, values: Sequence[Any]) -> None:
    """Add an entry to each cluster."""
    for cluster, value in zip(clusters, values, strict=True):
        cluster[name] = value


def map_of(subject: Subject) -> dict[str, Any]:
    """Where the clusters lie."""
    drawn = subject.drawn
    counts = measures.cells(drawn.points, drawn.labels)
    return {"rows": len(drawn.rows), "axes": list(drawn.axis_names), **counts}


def tree_of(subject: Subject) -> dict[str, Any] | None:
    """The tree of the clusters, and the lines of its drawing; of older models there is none."""
    if (tree := subject.model.tree_) is None:
        return None
    merges = {"children": tree.children_.tolist(), "distances": tree.distances_.tolist()}
    return merges | {"leaves": tree.leaves, "branches": tree.branches().round(4).tolist()}


def add_certainty(
    clusters: Clusters, subject: Subject, rows: bool, names: Any, random_state: int
) -> dict[str, Any] | None:
    """First against second centroid, where there are two; typical rows, if they may be shown.

    Typical rows have the given names.
    """
    several, drawn = len(clusters) > 1, np.flatnonzero(subject.labels >= 0)
    if len(drawn) > DISTANCE_ROWS:
        drawn = np.sort(np.random.default_rng(random_state).choice(drawn, DISTANCE_ROWS, False))
    labels = subject.labels[drawn]
    distances = on_host(subject.model.transform(subject.shown(drawn)))
    placed = place(subject.transformers, subject.model, subject.X) if rows else None
    if placed is not None and placed.distances is not None:
        own = first_of_each(placed.distances, placed.labels, len(clusters), TYPICAL)
        add(clusters, "typical_rows", [list(one) for one in own])
        if names is not None:
            add(clusters, "typical_names", [[str(names[row]) for row in one] for one in own])
    found = measures.certainty(distances, labels) if several else [None] * len(clusters)
    add(clusters, "certainty", found)
    near = sum(one["rows"] * one["near_border"] for one in found if one)
    return {"rows": len(drawn), "near_border": near / len(drawn)} if several else None


def add_silhouettes(clusters: Clusters, subject: Subject) -> dict[str, Any] | None:
    """Silhouettes of a subsample; of a matrix between rows all are needed, or there are none."""
    rows = np.arange(len(subject.labels)) if subject.is_matrix else subject.drawn.rows
    rows = rows[subject.labels[rows] >= 0]
    labels = subject.labels[rows]
    if not 1 < len(np.unique(labels)) < len(labels) <= PAIRWISE_ROWS:
        return None
    X = subject.X if subject.is_matrix else subject.shown(rows)
    values = kernel_silhouette_samples(subject.model, X, labels)
    add(clusters, "silhouette", measures.silhouettes(values, labels, len(clusters)))
    return {"rows": len(rows), "mean": float(values.mean())}


def add_stability(clusters: Clusters, subject: Subject, search: Any) -> dict[str, Any] | None:
    """What a search has found, where there was one."""
    if search is None:
        return None
    add(clusters, "jaccard", measures.found_again(search, subject.labels, len(clusters)))
    found: dict[str, Any] = finite(found_by(search))
    return found


def add_classes(
    clusters: Clusters, subject: Subject, labels_true: Any, fewest: int
) -> dict[str, Any] | None:
    """Agreement with given labels, and the labels that at least so many rows of a cluster have."""
    if labels_true is None:
        return None
    found = measures.agreement(labels_true, subject.labels, len(clusters))
    for cluster, classes in zip(clusters, found.pop("classes"), strict=True):
        cluster["classes"] = [
            [name, part] for name, part in classes if round(part * cluster["rows"]) >= fewest
        ]
    return found


def origin_of(
    subject: Subject, source: Path | None, commands: Sequence[str], program: str | None
) -> dict[str, Any]:
    """What it takes to make the same clusters, and to use the model."""
    given = getattr(subject.given, "best_estimator_", subject.given)
    seed = subject.model.random_state
    if source is not None and source.is_file():
        with source.open("rb") as file:
            kind, digest = "SHA-256 of the file", hashlib.file_digest(file, "sha256").hexdigest()
    else:
        kind, digest = "joblib.hash of the data", None
        # Objects of any kind may be in a table; some cannot be pickled.
        with suppress(Exception):
            digest = None if isinstance(subject.X, Rows) else joblib.hash(subject.X)
    return {
        "program": program or f"model = {given!r}\nmodel.fit(X)\nmodel.predict(X_new)",
        "seed": seed if isinstance(seed, int) else None,
        "commands": [str(one) for one in commands],
        "hash": {"kind": kind, "value": digest},
        "versions": {
            "kernelmeans": kernelmeans.__version__,
            "Python": platform.python_version(),
            "NumPy": np.__version__,
            "SciPy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
        },
    }
