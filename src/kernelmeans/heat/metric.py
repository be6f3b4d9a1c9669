"""The metrics by which a heat kernel finds neighbours, and what each of them needs of rows."""

from typing import Any, get_args

import scipy.sparse
from sklearn.metrics.pairwise import PAIRWISE_BOOLEAN_FUNCTIONS
from sklearn.neighbors import VALID_METRICS, VALID_METRICS_SPARSE

from kernelmeans._dialect import option
from kernelmeans._sklearn import StrOptions
from kernelmeans._text import suggestion
from kernelmeans._typing import Array, BoolArray, Data, MetricName
from kernelmeans.kernels.formulas import largest_entries, unit_rows

#: Metrics of rows of features.
METRICS = tuple(name for name in get_args(MetricName) if name != "precomputed")
#: Metrics of norms: they depend on the differences of columns alone, so that rows can be moved and
#: scaled, means of rows are near them, and noise on a column is a small distance.
NORMS = frozenset(VALID_METRICS["kd_tree"])
#: Metrics that have the order of Euclidean distances between rows scaled to norm 1.
DIRECTIONS = frozenset({"cosine", "correlation"})
#: Metrics of sums by which differences are divided: they see the origin, but no common factor.
RATIOS = frozenset({"canberra", "braycurtis"})
#: Metrics that see only which columns are zero.
BOOLEAN = frozenset(PAIRWISE_BOOLEAN_FUNCTIONS)
#: Metrics that scikit-learn computes between sparse rows.
SPARSE = frozenset(VALID_METRICS_SPARSE["brute"])
#: Metrics of kernels with anchors: means of rows stand for the rows near them.
WITH_ANCHORS = tuple(name for name in METRICS if name in NORMS | DIRECTIONS)


def _remedy() -> str:
    """What to do with any other metric, for messages."""
    return (
        "for any other metric, with its parameters, pass the distances to neighbours that "
        f"sklearn.neighbors.KNeighborsTransformer finds, with {option('metric', 'precomputed')}"
    )


class MetricOptions(StrOptions):  # type: ignore[misc]
    """Names of metrics; the message on others says how these are used."""

    def __str__(self) -> str:
        return f"{super().__str__()}; {_remedy()}"


def check_metric(metric: Any) -> None:
    """Refuse what is no name of a metric of rows.

    Parameters
    ----------
    metric : object
        The parameter of this name.

    Raises
    ------
    ValueError
        If it is not in `METRICS`.

    Examples
    --------
    >>> from kernelmeans.heat.metric import check_metric
    >>> check_metric("manhattan")
    """
    if metric not in METRICS:
        raise ValueError(
            f"{option('metric', metric)} is not known.{suggestion(metric, METRICS)} Allowed: "
            f"{', '.join(map(repr, METRICS))}; {_remedy()}."
        )


def check_rows(X: Data, metric: str) -> None:
    """Refuse rows that a metric cannot compare.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_rows, n_features)
        Training rows, or new ones.
    metric : str
        One of `METRICS`.

    Raises
    ------
    ValueError
        If X is sparse and the metric needs dense rows, or if X has other values than 0 and 1 and
        the metric compares yes with no.
    """
    if scipy.sparse.issparse(X):
        if metric not in SPARSE:
            of_sparse = ", ".join(repr(name) for name in METRICS if name in SPARSE)
            raise ValueError(
                f"{option('metric', metric)}: X is sparse, and this metric needs dense rows. Pass "
                f"X.toarray(), or use one of {of_sparse}."
            )
    elif metric in BOOLEAN:
        others = X[(X != 0) & (X != 1)]
        if len(others):
            raise ValueError(
                f"{option('metric', metric)} compares yes with no: X must hold nothing but 0 and "
                f"1, got {float(others[0]):.3g}. Leave such columns as they are when you scale "
                f"others, or use {option('metric', 'hamming')}, which counts the columns that "
                "differ, whatever they hold."
            )


def as_directions(X: Data, metric: str) -> Data:
    """Rows of norm 1 whose Euclidean distances have the order of a metric of `DIRECTIONS`.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_rows, n_features)
        Rows.
    metric : {"cosine", "correlation"}
        The metric. Correlation is the cosine of rows whose own mean has been subtracted.

    Returns
    -------
    {ndarray, CSR matrix} of shape (n_rows, n_features)
        The directions; zeros for a row that has none.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.heat.metric import as_directions
    >>> as_directions(np.array([[1.0, 1.0, 4.0], [0.1, 0.1, 0.1]]), "correlation").round(2)
    array([[-0.41, -0.41,  0.82],
           [ 0.  ,  0.  ,  0.  ]])
    """
    if metric == "cosine":
        return unit_rows(X)
    rows = unit_rows(from_first(X))
    return unit_rows(rows - rows.mean(axis=1, keepdims=True))


def has_direction(X: Data, metric: str) -> BoolArray:
    """Whether a metric of `DIRECTIONS` can compare each row with others."""
    found: BoolArray = largest_entries(as_directions(X, metric)) > 0
    return found


def from_first(X: Array) -> Array:
    """Half of the differences to the first column: exact zeros for a row of one value."""
    return X / 2 - X[:, :1] / 2
