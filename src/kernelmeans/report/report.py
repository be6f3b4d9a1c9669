"""The report of a fitted model, in Python."""

import os
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from kernelmeans._files import write_files
from kernelmeans.profiles.columns import FEWEST
from kernelmeans.report import facts
from kernelmeans.report.fits import course, outcome, trace
from kernelmeans.report.page import frame, page
from kernelmeans.report.profiles import add_profiles
from kernelmeans.report.words import verdict


class ClusterReport:
    """A page on the clusters of a fitted model, for people who have not seen the data.

    It says how large the clusters are, which columns characterise them, how certain rows belong to
    them, how the fit went, and how the model is used again. It is one HTML file that needs neither
    a network nor scripts, follows the reader's light or dark colours, and can be printed.

    Parameters
    ----------
    model : estimator, Pipeline or ClusterSearch
        A fitted estimator of this package, a pipeline that ends with one, or a search over them.
    X : array-like, sparse matrix, data frame or Rows
        What the model was fitted to: of a pipeline the raw table. A data frame may have more
        columns; they describe the clusters too.
    table : data frame, array of shape (n_rows, n_columns) or mapping, default=None
        Columns that describe the clusters, used by the model or not; of a mapping by their names.
        When None it is X, unless that is a matrix between rows.
    labels_true : array-like of shape (n_rows,), default=None
        Known classes to compare with.
    search : ClusterSearch, default=None
        The search that has chosen the model's parameters; the model, if that is a search.
    names : sequence of str, default=None
        Names of the clusters; their numbers when None.
    rows : bool, default=False
        Whether the report shows single rows: the typical ones of each cluster, with their texts,
        and words that set texts apart. If False, it holds aggregates alone.
    title : str, default=None
        The title of the page.
    random_state : int, default=0
        Seed of the subsamples.
    kernel_names : sequence of str, default=None
        Names of the kernels of a model of several; when None those of the model.
    row_names : array-like of shape (n_rows,), default=None
        What typical rows are called; their positions, counted from 0, when None.
    source : path, default=None
        The file of the table, whose SHA-256 the report gives; `joblib.hash` of X when None.
    commands : sequence of str, default=()
        Command lines that make the report and use the model.
    program : str, default=None
        The same in Python; made of the parameters of the model when None.
    categorical : sequence of str, default=()
        Names of columns to take for categories, as in `kernelmeans.describe`.

    Attributes
    ----------
    verdict : str
        The most important in a sentence or two.

    Raises
    ------
    NotFittedError
        If the model has not been fitted.
    TypeError
        If the model is no estimator of this package.
    ValueError
        If a search has chosen no clusters, or if X, the labels or the names do not fit the model.

    Notes
    -----
    An aggregate of few rows reveals each of them. Unless ``rows`` is True, a cluster of fewer than
    5 rows therefore has no profile. A mean, or a fraction of rows with a value, is shown only if it
    stands for 5 rows or more. A fraction of rows without a value is also shown if it is 0.
    Histograms are of the values from the 1 % to the 99 % quantile of a column. These ends are
    rounded, and shown only if 5 rows or more are at or beyond each. Texts, words of them and
    identifiers are left out. The map counts rows in small cells, and its axes have no numbers. But
    somebody who knows the other rows may find out where one row lies. A mean of 5 rows may still be
    too much for some data: look at the page before you give it away. Names of columns, categories
    and classes are shown as they are.

    Columns are described by all rows. The map and the silhouettes are of 2000 rows, distances to
    centroids and typical rows of 20 000, drawn at random where there are more. With a matrix
    between more than 4000 rows there are no silhouettes.

    Examples
    --------
    >>> from kernelmeans import ClusterReport, KernelPowerKMeans
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris(as_frame=True).data
    >>> report = ClusterReport(KernelPowerKMeans(3, random_state=0).fit(X), X)
    >>> report.verdict.split(",")[0]
    '150 rows in 3 clusters'
    >>> report.write_html("iris.html")  # doctest: +SKIP
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        *,
        table: Any = None,
        labels_true: Any = None,
        search: Any = None,
        names: Sequence[str] | None = None,
        rows: bool = False,
        title: str | None = None,
        random_state: int = 0,
        kernel_names: Sequence[str] | None = None,
        row_names: Any = None,
        source: str | os.PathLike[str] | None = None,
        commands: Sequence[str] = (),
        program: str | None = None,
        categorical: Sequence[str] = (),
    ) -> None:
        if search is None and hasattr(model, "best_index_"):
            search = model
        path = None if source is None else Path(source)
        subject = facts.Subject.of(model, X, random_state)
        clusters, fit = facts.clusters_of(subject, names), subject.model
        self._found: dict[str, Any] = {
            "title": title or (f"Clusters of {path.name}" if path else "Clusters"),
            "rows": len(subject.labels),
            "outliers": int((subject.labels < 0).sum()),
            "aggregates_only": not rows,
            "clusters": clusters,
            "map": facts.map_of(subject),
            "tree": facts.tree_of(subject),
            # Typical rows, which profiles show, come from distances.
            "certainty": facts.add_certainty(clusters, subject, rows, row_names, random_state),
            "profiles": add_profiles(clusters, subject, table, rows, categorical),
            "columns": facts.columns_of(subject, rows),
            "silhouettes": facts.add_silhouettes(clusters, subject),
            "stability": facts.add_stability(clusters, subject, search),
            "agreement": facts.add_classes(clusters, subject, labels_true, 0 if rows else FEWEST),
            "fit": outcome(fit, kernel_names) | course(fit) | trace(fit),
            "again": facts.origin_of(subject, path, commands, program),
        }
        self.verdict = verdict(self._found)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.verdict}>"

    def _repr_html_(self) -> str:
        return str(frame(page(self._found)))

    def to_html(self) -> str:
        """Return the page.

        Returns
        -------
        str
            A whole document of HTML.
        """
        return str(page(self._found))

    def write_html(self, path: str | os.PathLike[str]) -> None:
        """Write the page into a file, which is complete or is not there.

        Parameters
        ----------
        path : path
            The file; one that exists is replaced.

        Raises
        ------
        OSError
            If the file cannot be written, or is a link or a folder.
        """
        write_files({Path(path): lambda file: file.write(self.to_html().encode())})

    def to_dict(self) -> dict[str, Any]:
        """Return all that the page says.

        Returns
        -------
        dict
            Numbers, texts, lists and dicts alone, ready for JSON.
        """
        return deepcopy(self._found)
