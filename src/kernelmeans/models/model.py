"""A fitted pipeline and the table that it belongs to."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.pipeline import Pipeline

from kernelmeans._fitted import count_rows, on_host, parts, readable
from kernelmeans._given import received
from kernelmeans._sklearn import _check_sample_weight
from kernelmeans._text import bounded, listed
from kernelmeans._typing import IntArray
from kernelmeans.estimators.base import KernelClusterer
from kernelmeans.models.content import save
from kernelmeans.models.far import far_beyond
from kernelmeans.models.labels import Labels, label
from kernelmeans.models.placing import open_table
from kernelmeans.profiles import Description, describe
from kernelmeans.profiles.describing import logarithms_of
from kernelmeans.report import ClusterReport
from kernelmeans.tables import TableTransformer


@dataclass(frozen=True)
class Model:
    """A fitted pipeline and the table that it belongs to.

    `Model.of` makes one from a fitted estimator, `kernelmeans.load_model` from a file.

    Parameters
    ----------
    pipeline : Pipeline
        The preparation of the table, if there is any, and the fitted estimator.
    columns : list of str
        The columns that new rows need, in the order of the fit. Those of an array are "0", "1" etc.
    dtype : {"float64", "float32"}
        The precision of the fit.
    reading : dict or None, default=None
        How the file of the table was read. The files of new rows are read in the same way.
    far : float or None, default=None
        Distance beyond which rows are far; None if it is not known.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.pipeline import make_pipeline
    >>> from kernelmeans import KernelPowerKMeans
    >>> from kernelmeans.models import Model
    >>> from kernelmeans.tables import TableTransformer
    >>> table = pd.DataFrame({"age": [31, 33, 30, 64, 66, 65], "visits": [1, 2, 1, 8, 9, 9]})
    >>> pipeline = make_pipeline(TableTransformer(), KernelPowerKMeans(2, random_state=0))
    >>> model = Model.of(pipeline.fit(table), table)
    >>> new = pd.DataFrame({"age": [32, "?!", 630, 65, 66], "visits": [2, 8, None, 9, 8]})
    >>> found = model.label(new)
    >>> found.labels.tolist(), found.far.tolist()
    ([0, -1, 1, 1, 1], [False, False, True, False, False])
    >>> for remark in found.remarks:
    ...     print(remark)
    1 missing value of 'visits' filled from rows of the fit
    1 row without a label: no finite number in 'age' ('?!' in row 1), the first data row being 0
    """

    pipeline: Pipeline
    columns: list[str]
    dtype: str
    reading: dict[str, Any] | None = None
    far: float | None = None

    def __repr__(self) -> str:
        # A graph has a column for each row of the fit. scikit-learn shortens pipelines itself.
        shown = {name: bounded(repr(value), 500) for name, value in vars(self).items()}
        shown["pipeline"] = repr(self.pipeline)
        return f"Model({', '.join(f'{name}={text}' for name, text in shown.items())})"

    @classmethod
    def of(cls, estimator: Any, X: Any = None, *, sample_weight: Any = None) -> Self:
        """Make a model from a fitted estimator.

        Parameters
        ----------
        estimator : estimator, Pipeline or ClusterSearch
            A fitted estimator of this package, a pipeline that ends with one, or a search over
            them.
        X : array-like, sparse matrix, data frame or Rows, default=None
            The rows of the fit. When None, the model does not know which rows are far.
        sample_weight : array-like of shape (n_rows,), default=None
            The sample weights of the fit.

        Returns
        -------
        Model
            The model.

        Raises
        ------
        NotFittedError
            If the estimator has not been fitted.
        TypeError
            If it is no estimator of this package.
        ValueError
            If X has not as many rows as the fit had.
        """
        transformers, clusterer = parts(estimator)
        if not isinstance(clusterer, KernelClusterer):
            raise TypeError(
                f"estimator={type(clusterer).__name__} should be an estimator of kernelmeans, such "
                "as KernelPowerKMeans, or a pipeline that ends with one."
            )
        estimator = getattr(estimator, "best_estimator_", estimator)
        if not isinstance(estimator, Pipeline):
            estimator = Pipeline([("cluster", estimator)])
        far = None if X is None else _far(transformers, clusterer, X, sample_weight)
        dtype = str(on_host(clusterer.certainty_[:0]).dtype)
        return cls(estimator, _columns(estimator[0]), dtype, far=far)

    def predict(self, X: Any) -> IntArray:
        """Give rows the clusters that they belong to, as an estimator of scikit-learn does.

        Parameters
        ----------
        X : data frame, array-like, sparse matrix or Rows
            The rows, as ``pipeline.predict`` takes them.

        Returns
        -------
        ndarray of int of shape (n_rows,)
            Their labels, -1 for outliers.

        Raises
        ------
        ValueError
            If a value is no number, or the columns are others, or in another order, than in the
            fit. `label` finds columns by name, gives rows that it cannot place -1, and says why.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from kernelmeans import KernelPowerKMeans
        >>> from kernelmeans.models import Model
        >>> X = load_iris().data
        >>> Model.of(KernelPowerKMeans(3, random_state=0).fit(X)).predict(X[:2])
        array([1, 1], dtype=int32)
        """
        labels: IntArray = self.pipeline.predict(X)
        return labels

    def label(self, table: Any) -> Labels:
        """Give rows the clusters that they belong to, block by block.

        Parameters
        ----------
        table : path, data frame, array-like, sparse matrix or Rows
            The rows. A file is read as ``kernelmeans predict`` reads it. Columns of files and data
            frames are found by name, in any order, if the fit had names.

        Returns
        -------
        Labels
            The label that ``pipeline.predict`` gives each row, or -1 if it cannot be placed; also
            distances, certainty, which rows are far, and remarks.

        Raises
        ------
        ValueError
            If a column is absent, or the rows have another form than in the fit.

        Warns
        -----
        UserWarning
            If more than a quarter of the rows, and at least two, are far, or all values of a
            category are new.
        """
        if isinstance(table, str | Path):
            table = open_table(self, Path(table))
        return label(self, table)

    def describe(self, table: Any, **options: Any) -> Description:
        """Describe the clusters, by `kernelmeans.describe`.

        Parameters
        ----------
        table : data frame or array-like of shape (n_rows, n_columns)
            The table.
        **options : object
            Further arguments of `kernelmeans.describe`.

        Returns
        -------
        Description
            Print it, or take its data frames.
        """
        return describe(self.pipeline, table, **options)

    def report(self, X: Any, **options: Any) -> ClusterReport:
        """Make a report for people who have not seen the data.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Rows
            The rows of the fit.
        **options : object
            Further arguments of `kernelmeans.ClusterReport`.

        Returns
        -------
        ClusterReport
            The report.
        """
        return ClusterReport(self.pipeline, X, **options)

    def save(self, path: str | Path) -> None:
        """Write the model to a file, as `kernelmeans.save_model` does.

        Parameters
        ----------
        path : str or Path
            The file. It replaces one of the same name.

        Raises
        ------
        ValueError
            If it holds what no model file may hold. Nothing is written then.
        """
        save(self, Path(path))


def changed_columns(model: Model, earlier: Model) -> str:
    """The columns that only the model or only the earlier one uses; empty if there are none."""
    ours, theirs = set(model.columns), set(earlier.columns)
    new = [name for name in model.columns if name not in theirs]
    old = [name for name in earlier.columns if name not in ours]
    changes = {"new are": new, "left out are": old}
    return ", ".join(f"{what} {listed(names)}" for what, names in changes.items() if names)


def changed_logarithms(model: Model, earlier: Model) -> str:
    """The columns of both models of which only one takes logarithms; empty if there are none."""
    ours, theirs = (logarithms_of([*one.pipeline]) for one in (model, earlier))
    both = [name for name in model.columns if name in earlier.columns]
    new = [name for name in both if name in ours and name not in theirs]
    old = [name for name in both if name in theirs and name not in ours]
    changes = {"now of": new, "no longer of": old}
    return ", ".join(f"{what} {listed(names)}" for what, names in changes.items() if names)


def _far(transformers: list[Any], clusterer: Any, X: Any, sample_weight: Any) -> float:
    """Find the distance beyond which rows are far from the training rows."""
    X = readable(X, *transformers, clusterer)
    n_rows, n_fitted = count_rows(X, clusterer), len(clusterer.labels_)
    if n_rows != n_fitted:
        raise ValueError(f"X has {n_rows} rows, but the estimator was fitted to {n_fitted}.")
    given = received(sample_weight, "sample_weight")
    weights = _check_sample_weight(given, np.empty((n_rows, 1)), ensure_non_negative=True)
    return far_beyond(clusterer, X, weights, transformers)


def _columns(first: Any) -> list[str]:
    """The columns that new rows need, by the first step of a pipeline."""
    if isinstance(first, TableTransformer):
        return [one.name for one in first.columns_ if one.used]
    # A vectorizer takes texts, which have no columns.
    names = getattr(first, "feature_names_in_", range(getattr(first, "n_features_in_", 0)))
    return [str(name) for name in names]
