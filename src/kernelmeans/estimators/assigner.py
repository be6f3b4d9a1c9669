"""Assigns rows to the clusters of a fitted estimator, in memory or block by block."""

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self, cast

import numpy as np
from sklearn.utils import check_array

from kernelmeans._arrays import put_first
from kernelmeans._devices import HOST, Device, device_of
from kernelmeans._given import received
from kernelmeans._typing import Array, Data, IntArray
from kernelmeans.estimators.callbacks import refused_later
from kernelmeans.estimators.checks import refuse_elsewhere
from kernelmeans.estimators.inputs import Input
from kernelmeans.heat.outliers import Outliers
from kernelmeans.rows import Rows
from kernelmeans.rows.dask import DaskRows
from kernelmeans.solver.power import certainty, memberships
from kernelmeans.spaces import Predictor
from kernelmeans.spaces.predictor import Comparison


def read_new(estimator: Any, X: Any) -> tuple[Data, Device]:
    """Check new rows for a fitted estimator; return them on the host, and the device to use."""
    # Some estimators have no parameter `device`.
    device = device_of(getattr(estimator, "device", None), X)
    data, dtype = estimator._input, estimator._predictor.norms.dtype
    rows = data.read(estimator, received(X), dtype, reset=False)
    refuse_elsewhere(rows, device)
    if not isinstance(rows, Rows):
        data.check_new(estimator.kernel_, rows)
    return rows, device


@dataclass(frozen=True, eq=False)
class Assigner:
    """The parts of a fitted estimator that assign rows to clusters.

    It compares rows on disk with the centroids block by block, and rows of Dask lazily. Workers get
    this object instead of the estimator, because they may not be able to import its callbacks.

    Attributes
    ----------
    input : Input
        Finds k(x, x) of rows.
    predictor : Predictor
        The centroids and the kernel, on the device to compute on.
    power : float
        Power of the memberships: the last finite one of the fit, -inf if all steps were hard.
    lowest : float
        Squared distance below which memberships treat all distances alike.
    outliers : Outliers or None
        Scores rows, if the fit looked for outliers.
    threshold : float or None
        The score above which a row belongs to no cluster.
    """

    input: Input
    predictor: Predictor
    power: float
    lowest: float
    outliers: Outliers | None = None
    threshold: float | None = None

    @classmethod
    def of(cls, estimator: Any, device: Device = HOST) -> Self:
        """Make an assigner from a fitted estimator."""
        powers = estimator.power_history_[np.isfinite(estimator.power_history_)]
        power = float(powers[-1]) if len(powers) else -np.inf
        predictor = estimator._predictor.on(device)
        lowest = max(estimator._floor, float(np.finfo(predictor.norms.dtype).tiny))
        found = estimator._outliers, estimator.outlier_threshold_
        return cls(estimator._input, predictor, power, lowest, *found)

    def labels(self, X: Data, diagonal: Any = None) -> Any:
        """The nearest centroid of each row, or -1."""
        if isinstance(X, Rows):
            return self._by_blocks(Assigner.labels, X, np.empty(0, np.int32))
        return self._without_outliers(X, self._nearest(X, diagonal))

    def outlier_scores(self, X: Data) -> Any:
        """How strange each row is in its cluster."""
        if isinstance(X, Rows):
            return self._by_blocks(Assigner.outlier_scores, X, np.empty(0))
        assert self.outliers is not None
        return self.outliers.scores(X, self._nearest(X))

    def _nearest(self, X: Data, diagonal: Any = None) -> IntArray:
        needed = self.input.diagonal_for_labels(self.predictor.kernel, X, diagonal)
        return self.predictor.compare(X, needed).labels

    def _without_outliers(self, X: Data, labels: IntArray) -> IntArray:
        """The labels, but -1 for rows that belong to no cluster."""
        if self.outliers is None or self.threshold is None:
            return labels
        strange = self.outliers.scores(X, labels) > self.threshold
        return np.where(strange, labels.dtype.type(-1), labels)

    def distances(self, X: Data, diagonal: Any = None) -> Any:
        """Distances of rows to all centroids."""
        norms = self.predictor.norms
        if isinstance(X, Rows):
            return self._by_blocks(Assigner.distances, X, np.empty((0, len(norms)), norms.dtype))
        squared = self.input.diagonal(self.predictor.kernel, X, self.predictor.device, diagonal)
        compared = self.predictor.compare(X, squared, keep_distances=True)
        return np.sqrt(cast(Array, compared.distances)).T

    def assigned(self, X: Data, diagonal: Any = None) -> Any:
        """What `labels` returns, squared distances to the nearest and the next, and certainty."""
        if isinstance(X, Rows):
            return self._by_blocks(Assigner.assigned, X, self.nothing)
        squared = self.input.diagonal(self.predictor.kernel, X, self.predictor.device, diagonal)
        found = self._as_assigned(self.predictor.compare(X, squared, summary=self._summary))
        found["label"] = self._without_outliers(X, found["label"])
        return found

    def assigned_training(
        self, X: Data, embedded: Callable[[slice], Any] | None, keep_distances: bool
    ) -> tuple[Any, Array | None]:
        """What `assigned` returns for training rows in memory, and all squared distances if wanted.

        `embedded` returns the embedded rows of a block; None if the rows are not embedded.
        """
        if embedded is None:
            squared = self.predictor.kernel.diagonal(X, self.predictor.device)
            compared = self.predictor.compare(X, squared, keep_distances, self._summary)
        else:
            n = X.shape[0]
            compared = self.predictor.compare_blocks(n, embedded, keep_distances, self._summary)
        return self._as_assigned(compared), compared.distances

    def memberships(self, squared: Array) -> Array:
        """Memberships (n_rows, n_clusters) at squared distances (n_clusters, n_rows)."""
        return memberships(squared, self.power, self.lowest).T

    def nearest(self, found: Any) -> Any:
        """Distances of assigned rows to the nearest centroid, and to the next if there is one."""
        squared = np.stack([found["nearest"], found["second"]], axis=1)
        return np.sqrt(squared[:, : len(self.predictor.norms)])

    @property
    def nothing(self) -> Any:
        """What `assigned` returns for no rows."""
        names, dtype = ("nearest", "second", "certainty"), self.predictor.norms.dtype
        return np.empty(0, [("label", np.int32), *((name, dtype) for name in names)])

    def _as_assigned(self, compared: Comparison) -> Any:
        assert compared.summary is not None
        found: Any = np.empty(len(compared.labels), self.nothing.dtype)
        found["label"], found["nearest"] = compared.labels, compared.nearest
        found["second"], found["certainty"] = compared.summary
        return found

    def _summary(self, distances: Array, labels: IntArray) -> Array:
        """The squared distance of rows to the second nearest centroid, and their certainty."""
        sure = certainty(distances, self.power, self.lowest)
        others = put_first(distances[:, None, :].copy(), labels[None], np.inf)
        return np.stack([others.min(axis=0)[0], sure])

    def _by_blocks(self, question: Callable[..., Any], rows: Rows, empty: Array) -> Any:
        """A method's answer for rows that are not in memory; `empty` is its answer for no rows."""
        predictor = copy.copy(self.predictor)
        # Dask already works on several blocks at a time.
        predictor.workers = 1 if isinstance(rows, DaskRows) else None
        answer = partial(Assigner._of_block, replace(self, predictor=predictor), question)
        return rows.mapped(answer, empty)

    @refused_later
    def _of_block(self, question: Callable[..., Any], block: Array) -> Any:
        """A method's answer for a block of rows, which it checks first."""
        X = check_array(block, dtype=self.predictor.norms.dtype, order="C", input_name="X")
        self.input.check_new(self.predictor.kernel, X)
        return question(self, X)
