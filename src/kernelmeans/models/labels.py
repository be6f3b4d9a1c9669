"""The labels of rows by a model: their clusters, how near they are, and how certain that is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from kernelmeans._text import counted
from kernelmeans._typing import Array, BoolArray, IntArray
from kernelmeans._warnings import warn_user
from kernelmeans.estimators.assigner import Assigner, read_new
from kernelmeans.estimators.callbacks import refused_later
from kernelmeans.estimators.checks import zero_rows
from kernelmeans.models.far import remoteness
from kernelmeans.models.placing import NewRows

if TYPE_CHECKING:
    from kernelmeans.models.model import Model

#: Fraction of far rows above which the whole table is likely wrong.
_MANY_FAR = 0.25


@dataclass(frozen=True)
class Labels:
    """The clusters of the rows of a table.

    Attributes
    ----------
    labels : ndarray of int of shape (n_rows,)
        The clusters; -1 for rows that the model cannot place, and for those of no cluster.
    distances : ndarray of shape (n_rows, 2)
        Distances to the nearest centroid and to the second; NaN for rows that are not placed.
        With one cluster, only the first column.
    certainty : ndarray of shape (n_rows,)
        Memberships in the nearest clusters; NaN for rows that are not placed.
    placed : ndarray of bool of shape (n_rows,)
        Which rows the model can place; those of no cluster too.
    far : ndarray of bool of shape (n_rows,) or None
        Which rows are farther away than 99 % of the rows of the fit: from the nearest centroid, or
        with heat kernels from the nearest row of the fit. None if the model does not know.
    remarks : sequence of str
        Sentences on rows without a label and why, on rows without a direction, on missing values
        that were filled, on values that are new to a category, and on rows that look like totals.
    """

    labels: IntArray
    distances: Array
    certainty: Array
    placed: BoolArray
    far: BoolArray | None = None
    remarks: Sequence[str] = ()

    @classmethod
    def of_placed(cls, placed: BoolArray, label: Any, near: Any, sure: Any, **more: Any) -> Self:
        """Make labels of all rows from the labels, distances and certainty of the placed rows."""
        labels, gap = spread(label, placed, -1), np.nan
        distances, certainty = spread(near, placed, gap), spread(sure, placed, gap)
        return cls(labels, distances, certainty, placed=placed, **more)


@refused_later
def label(model: "Model", table: Any) -> Labels:
    """Place the rows of a table, block by block, as `Model.label` describes."""
    rows = NewRows(model, table)
    estimator, assigner = rows.estimator, Assigner.of(rows.estimator)

    def assigned(block: tuple[Any, BoolArray]) -> tuple[Any, Any, BoolArray]:
        X, placed = block
        if not placed.any():
            return assigner.nothing, np.empty(0), placed
        X, device = read_new(estimator, rows.prepared(X))
        rows.n_zero += zero_rows(estimator.kernel_, X)
        found = Assigner.of(estimator, device).assigned(X)
        if model.far is None:
            return found, np.empty(0), placed
        return found, remoteness(estimator, X, np.sqrt(found["nearest"])), placed

    # A loop would hold its last block in memory while the next is read.
    nothing = [(assigner.nothing, np.empty(0), np.empty(0, np.bool_))]  # of a table without rows
    found, away, placed = map(np.concatenate, zip(*map(assigned, rows), *nothing, strict=True))
    far = None if model.far is None else away > model.far
    # One usual row in a hundred is far: a single one says nothing of the columns.
    if far is not None and far.sum() > max(1, _MANY_FAR * len(far)):
        warn_user(
            f"far from all that the model has seen: {far.sum()} of {counted(len(far), 'row')}. "
            f"{rows.most_unlike(len(far))}Other units, or other columns?"
        )
    elif new := rows.all_new():
        warn_user(
            f"the fit has seen none of the values of {new}. Other spellings, or another column?"
        )
    if far is not None:
        far = spread(far, placed, False)
    known = found["label"], assigner.nearest(found), found["certainty"]
    return Labels.of_placed(placed, *known, far=far, remarks=rows.remarks(int(placed.sum())))


def spread(values: Any, placed: BoolArray, empty: Any) -> Any:
    """Put the values of the placed rows among all rows; the others are `empty`."""
    if placed.all():
        return values
    every = np.full((len(placed), *values.shape[1:]), empty, values.dtype)
    every[placed] = values
    return every
