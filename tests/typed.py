"""A program of a user, as mypy reads it: no test runs it, and `.ci/run` checks its types.

An ``ignore`` that is not needed is an error, so that each marks what has to be refused.
"""

from pathlib import Path
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

from kernelmeans import (
    ClusterReport,
    ClusterSearch,
    KernelKMeans,
    KernelPowerKMeans,
    MultiKernelPowerKMeans,
    PowerKMeans,
    describe,
    load_model,
)
from kernelmeans.baselines import MKKM, RKKM
from kernelmeans.metrics import ClusterChange, cluster_changes
from kernelmeans.models import Labels, Model
from kernelmeans.profiles import Description
from kernelmeans.tables import TableTransformer

Integers = NDArray[np.integer[Any]]
Floats = NDArray[np.floating[Any]]


def results(X: Floats) -> None:
    """Results have types."""
    model = KernelPowerKMeans(3, kernel="rbf", gamma=0.5, random_state=0)
    assert_type(model.fit(X), KernelPowerKMeans)
    assert_type(model.fit_predict(X), Integers)
    assert_type(model.predict(X), Integers)
    assert_type(model.labels_, Integers)
    assert_type(model.fit_transform(X), Floats)
    assert_type(model.transform(X), Floats)
    assert_type(model.distances_, Floats)
    assert_type(model.certainty_, Floats)
    assert_type(model.memberships_, Floats | None)
    assert_type(model.inertia_, float)
    assert_type(model.score(X), float)
    assert_type(model.n_iter_, int)
    assert_type(model.approximation_, str)
    assert_type(model.gamma_, float | None)
    assert_type(PowerKMeans().fit(X).cluster_centers_, Floats)
    assert_type(KernelKMeans().fit(X), KernelKMeans)
    several = MultiKernelPowerKMeans(kernels=["rbf", "linear"]).fit(X)
    assert_type(several.kernel_weights_, Floats)
    assert_type(several.kernel_names_, list[str])


def search(X: Floats, path: Path) -> None:
    """So have those of a search."""
    found = ClusterSearch(KernelPowerKMeans(), {"n_clusters": [2, 3]}, scoring="stability").fit(X)
    assert_type(found, ClusterSearch)
    assert_type(found.labels_, Integers)
    assert_type(found.fit_predict(X), Integers)
    assert_type(found.best_index_, int | None)
    assert_type(found.verdict_, str)
    assert_type(describe(found, X), Description)
    assert_type(TableTransformer(missing="drop").fit_transform(X), Floats)
    assert_type(ClusterReport(found, X).to_html(), str)


def new_rows(X: Floats, path: Path) -> None:
    """So have those of a model."""
    model = Model.of(KernelPowerKMeans(3).fit(X), X)
    assert_type(model.label(path), Labels)
    assert_type(load_model(path).label(X).labels, Integers)
    earlier = load_model(path).label(X).labels
    again = KernelPowerKMeans(3).fit(X, like=earlier)
    assert_type(again.changes_, list[ClusterChange] | None)
    assert_type(cluster_changes(again.labels_, earlier), list[ClusterChange])


def starts(X: Floats) -> None:
    """Starts of all kinds are allowed."""
    for init in (X[:3], [0, 1, 2], lambda X, n_clusters, random_state: X[:n_clusters]):
        KernelPowerKMeans(3, init=init)
    KernelPowerKMeans(3, init="random", n_init=5, t="auto", n_neighbors=5, approximation=None)
    KernelPowerKMeans(3, kernel=lambda X, Y: X @ Y.T)


def misspelled() -> None:
    """Names that are not known are refused."""
    KernelPowerKMeans(kernel="rfb")  # type: ignore[arg-type]
    KernelPowerKMeans(gamma="mean")  # type: ignore[arg-type]
    KernelPowerKMeans(metric="minkowski")  # type: ignore[arg-type]
    KernelPowerKMeans(n_neighbors="automatic")  # type: ignore[arg-type]
    KernelPowerKMeans(t="automatic")  # type: ignore[arg-type]
    KernelPowerKMeans(density="automatic")  # type: ignore[arg-type]
    KernelPowerKMeans(s0="automatic")  # type: ignore[arg-type]
    KernelPowerKMeans(eta="automatic")  # type: ignore[arg-type]
    KernelPowerKMeans(init="kmeans++")  # type: ignore[arg-type]
    KernelPowerKMeans(n_init="automatic")  # type: ignore[arg-type]
    KernelPowerKMeans(n_swaps="automatic")  # type: ignore[arg-type]
    KernelPowerKMeans(approximation="nystroem")  # type: ignore[arg-type]
    KernelPowerKMeans(n_components="automatic")  # type: ignore[arg-type]
    KernelKMeans(kernel="rfb")  # type: ignore[arg-type]
    PowerKMeans(init="kmeans++")  # type: ignore[arg-type]
    MultiKernelPowerKMeans(kernels="width")  # type: ignore[arg-type]
    MultiKernelPowerKMeans(kernel_scaling="cos")  # type: ignore[arg-type]
    MKKM(init="random_partition")  # type: ignore[arg-type]
    RKKM(kernel="rfb")  # type: ignore[arg-type]
    ClusterSearch(KernelKMeans(), {}, scoring="silhouette")  # type: ignore[arg-type]
    TableTransformer(missing="mean")  # type: ignore[arg-type]
    TableTransformer(skewed="sqrt")  # type: ignore[arg-type]
    TableTransformer(dtype="float16")  # type: ignore[arg-type]
