"""Describe clusters by all columns of a table."""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernelmeans._fitted import on_host, parts
from kernelmeans._given import plain, received
from kernelmeans._sklearn import _check_sample_weight
from kernelmeans._typing import Array, IntArray
from kernelmeans.profiles.columns import Grouped, Profile, profile_of
from kernelmeans.profiles.contrast import contrasted
from kernelmeans.profiles.description import IS_MISSING, Cluster, Description, Entry
from kernelmeans.profiles.rows import Placed, first_of_each, of_fit, place
from kernelmeans.profiles.texts import lines_of_each, text_columns, words_of_each
from kernelmeans.tables import TableTransformer
from kernelmeans.tables.columns import matching
from kernelmeans.tables.frames import Table
from kernelmeans.tables.kinds import is_nested
from kernelmeans.tables.values import read_column


def describe(
    model_or_labels: Any,
    table: Any,
    *,
    sample_weight: Any = None,
    X: Any = None,
    max_rows: int = 3,
    categorical: Sequence[str] = (),
) -> Description:
    """Say what clusters are, by all columns of a table, used for the clusters or not.

    In each cluster a column of numbers has a mean, or a median if it has heavy tails; dates are
    numbers. Numbers whose logarithms a `TableTransformer` of the pipeline takes have a log mean
    (see the notes). A category has its most frequent value there. A column with gaps appears twice:
    once for its values, and once as "age is missing", for example, for the fraction of its gaps.
    All are compared with the whole table, and columns are sorted by this difference. Identifiers,
    and columns whose most frequent value is rare, such as names, have no value and come last.
    Columns of lists of numbers, and of structs, are left out. Texts and identifiers are shown for
    typical rows, and words are named that are more frequent in the texts of a cluster than in those
    of the others. Clusters are compared with each other too: the columns that are named first
    include those that tell a cluster from its most similar one, and pairs that differ in one column
    alone are named.

    Parameters
    ----------
    model_or_labels : estimator, or array-like of shape (n_rows,)
        A fitted clusterer, a `Pipeline` that ends with one, or a `ClusterSearch`; or labels of the
        rows: numbers or text. Rows with the label -1, also as text, None or NaN belong to no
        cluster. They are left out and counted.
    table : data frame or array-like of shape (n_rows, n_columns)
        A data frame of polars or pandas, or an array, whose columns are then called "0", "1" and
        so on.
    sample_weight : array-like of shape (n_rows,), default=None
        Sample weights; all ones when None.
    X : object, default=None
        The rows as `predict` of the estimator takes them, if these are not the table itself. When
        None, it is the table where the estimator can take it; otherwise the rows are those of the
        fit.
    max_rows : int, default=3
        Most typical rows and most border rows of each cluster.
    categorical : sequence of str, default=()
        Names of columns to take for categories, though they hold numbers or many values: given
        labels, codes. Patterns such as ``"code_*"`` stand for several. What a `TableTransformer` of
        the pipeline has taken for a category is one here too, and so is a column whose type in
        pandas or polars is that of a category.

    Returns
    -------
    Description
        Print it, or take its data frames ``clusters`` and ``columns``.

    Raises
    ------
    NotFittedError
        If the estimator has not been fitted.
    TypeError
        If it is no clusterer, or the table is an estimator or a lazy frame.
    ValueError
        If the number of labels is not that of the rows, if no row belongs to a cluster, if a column
        to take for a category is absent, or if the table or the weights cannot be used.

    Notes
    -----
    The difference is that of the means or medians, in standard deviations of the whole table.
    Beside medians a number counts as their end if it is below the 5 % quantiles of all clusters, or
    above their 95 % quantiles, so that one absurd number hides nothing. For a log
    mean, the median of the positive numbers is added to all. Their geometric mean is taken, and the
    median is subtracted again. Difference and standard deviation are those of the logarithms then.
    For categories and gaps they are those of the column that is 1 where a row has the value or the
    gap, and 0 elsewhere. So all columns can be compared.
    Infinite numbers count as missing.

    Three columns of texts and identifiers are used at most, texts first. Words have two letters or
    more; in Chinese and Japanese two neighbouring signs are a word. They are sorted by the
    likelihood ratio of their mean TF-IDF in the cluster and in the others, so that words which all
    clusters use say nothing in any language. A word counts that is in 5 rows of the cluster or in
    half of it, and more often than chance explains (four standard deviations). The first 2000
    letters of a row are searched, in 20 000 rows at most: of large clusters they are drawn with a
    fixed seed. All rows count alike. Of more than 200 clusters 100 rows of each are searched.

    Examples
    --------
    >>> from kernelmeans import describe
    >>> import pandas as pd
    >>> table = pd.DataFrame({"visits": [1, 2, 2, 9, 8] * 4, "plan": [*"aabbb"] * 4})
    >>> described = describe([0, 0, 0, 1, 1] * 4, table)
    >>> print(described)
    20 rows in 2 clusters
    <BLANKLINE>
    Cluster 0: 12 rows, 60.0 %
      visits  mean 1.7  all rows 4.4   -0.81 sd
      plan    a 67 %    all rows 40 %  lift 1.67
    <BLANKLINE>
    Cluster 1: 8 rows, 40.0 %
      visits  mean 8.5  all rows 4.4   +1.21 sd
      plan    b 100 %   all rows 60 %  lift 1.67
    <BLANKLINE>
    sd: standard deviations of all rows; lift: times as frequent as in all rows
    >>> described.columns.loc[0, ["column", "value", "overall"]].tolist()
    ['visits', '1.7', '4.4']

    A model tells typical rows too, by their positions in the table:

    >>> from kernelmeans import KernelKMeans
    >>> from kernelmeans.tables import TableTransformer
    >>> from sklearn.pipeline import make_pipeline
    >>> model = make_pipeline(TableTransformer(), KernelKMeans(2, random_state=0)).fit(table)
    >>> [cluster.typical_rows for cluster in describe(model, table, max_rows=1).records]
    [(1,), (3,)]
    """
    # A data frame may have a column of that name.
    if callable(getattr(table, "fit", None)):
        raise TypeError(
            f"table should be rows, got {table!r}; the model comes first, as in "
            "describe(model, table)."
        )
    columns = Table(table)
    found, transformers = _found(model_or_labels, table, X)
    if len(found.labels) != columns.n_rows:
        raise ValueError(
            f"{len(found.labels)} rows have labels, but the table has {columns.n_rows} rows: give "
            "the table of the same rows, and as X= these rows as the estimator takes them."
        )
    given = received(sample_weight, "sample_weight")
    weights = _check_sample_weight(given, columns.X, dtype=np.float64, ensure_non_negative=True)
    kinds = dict.fromkeys(matching(categorical, columns, "categorical"), "category")
    return described(found, columns, transformers, weights=weights, max_rows=max_rows, kinds=kinds)


def used_columns(transformers: Sequence[Any], columns: Iterable[str]) -> set[str]:
    """The columns that clusters depend on; all if that is not known."""
    tables = tables_among(transformers)
    used = {one.name for table in tables for one in table.columns_ if one.used}
    return used & set(columns) or set(columns)


def logarithms_of(transformers: Sequence[Any]) -> dict[str, float]:
    """The columns whose logarithms a model takes, and their knees."""
    tables = tables_among(transformers)
    return {name: knee for one in tables for name, knee in one._logarithms().items()}


def reader_of(transformers: Sequence[Any]) -> Callable[[str, Array], Array]:
    """A function that reads the values of a column: text as numbers, if the model does so."""
    tables = tables_among(transformers)
    known = {one.name: table for table in tables for one in table.columns_ if one.kind == "number"}

    def read(name: str, values: Array) -> Array:
        if name not in known:
            return values
        return read_column(values, "number", spelling=known[name]._spelling(name))[0]

    return read


def tables_among(transformers: Sequence[Any]) -> list[TableTransformer]:
    """The transformers that know what the columns of a table are."""
    return [one for one in transformers if isinstance(one, TableTransformer)]


def described(
    found: Placed,
    columns: Mapping[str, Array],
    transformers: Sequence[Any] = (),
    *,
    weights: Array | None = None,
    max_rows: int = 3,
    kinds: Mapping[str, str],
    used: Collection[str] = (),
    row_names: Any = None,
    with_texts: bool = True,
) -> Description:
    """Describe clusters column by column, so that one column is in memory at a time.

    Parameters
    ----------
    found : Placed
        Labels of the rows, and maybe distances.
    columns : mapping of str to ndarray of shape (n_rows,)
        The table; missing values are None or NaN.
    transformers : sequence of transformer, default=()
        Those of the model: a `TableTransformer` knows how numbers are written, which clusters
        depend on as logarithms, and what is a category.
    weights : ndarray of shape (n_rows,), default=None
        Sample weights; all ones when None.
    max_rows : int, default=3
        Most typical rows and most border rows of each cluster.
    kinds : mapping of str to str
        More columns to take for categories, and what these are called.
    used : collection of str, default=()
        The columns that the clusters depend on, if no transformer knows them; all if empty.
    row_names : ndarray of shape (n_rows,), default=None
        What typical rows and border rows are called; their positions when None.
    with_texts : bool, default=True
        Whether columns of texts are shown for typical rows, and searched for words.

    Returns
    -------
    Description
        As from `describe`.
    """
    codes, names = coded(found.labels, found.n_clusters)
    weights = np.ones(len(codes)) if weights is None else weights
    is_placed = codes >= 0
    counted = is_placed & (weights > 0)
    if not counted.any():
        raise ValueError("no row of positive weight belongs to a cluster: there is nothing to tell")
    rows = slice(None) if counted.all() else np.flatnonzero(counted)
    grouped = Grouped(rows, codes[rows], weights[rows], len(names))
    sizes, sums = np.bincount(codes[is_placed], minlength=len(names)), grouped.sums()
    unknown = [None] * len(names)
    typical, border = (
        unknown if values is None else first_of_each(values, codes, len(names), max_rows)
        for values in (found.distances, found.border_gaps)
    )
    profiles = dict(_profiles(columns, grouped, kinds, transformers))
    used = used_columns(transformers, used or columns)
    pairs = {
        name: (profiles[name], profiles.get(f"{name}{IS_MISSING}"))
        for name in columns
        if name in profiles and name in used
    }
    found_apart, alike = contrasted(pairs, names, grouped.effective_sizes())
    apart = unknown if found.separation is None else found.separation.tolist()
    kinds_found = {name: profile.kind for name, profile in profiles.items()}
    shown = text_columns(kinds_found) if with_texts else []
    records = zip(names, sizes.tolist(), (sums / sums.sum()).tolist(), sums.tolist(),
                  _called(typical, row_names), _called(border, row_names), found_apart, apart,
                  words_of_each(columns, shown, grouped), lines_of_each(columns, shown, typical),
                  strict=True)  # fmt: skip
    frames = "polars" if type(getattr(columns, "X", None)).__module__.startswith("polars") else None
    return Description(
        tuple(Cluster(*record) for record in records),
        tuple(_entries(list(profiles.items()), names)),
        int((~is_placed).sum()),
        frames,
        alike,
    )


def _called(rows: Sequence[Any], names: Any) -> Sequence[Any]:
    """Rows by their names, or by their positions if they have none."""
    if names is None:
        return rows
    return [None if one is None else tuple(names[list(one)].tolist()) for one in rows]


def coded(labels: Any, n_clusters: int | None = None) -> tuple[IntArray, list[Any]]:
    """Labels counted from 0, -1 for rows of no cluster, and the labels of the clusters.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        Numbers or text. -1, also as text, None, NaN and empty text are no cluster.
    n_clusters : int, default=None
        The labels from 0 to one less are clusters, with rows or not.

    Returns
    -------
    codes : ndarray of int of shape (n_rows,)
        Places in the list of labels.
    names : list
        The labels of the clusters, in ascending order. Texts that are all whole numbers are in the
        order of these.
    """
    if labels.dtype.kind in "biuf":
        has_none = np.isnan(labels) | (labels == -1)
    else:
        has_none = np.array(list(map(_is_none, labels)))
        labels = labels.astype(str)
    known = labels[~has_none]
    if labels.dtype.kind == "f" and (known == np.floor(known)).all():
        known = known.astype(int)
    names = np.unique(known) if n_clusters is None else np.union1d(known, np.arange(n_clusters))
    places = np.searchsorted(names, known)
    if names.dtype.kind == "U" and np.char.isdecimal(names).all():
        order = np.array(sorted(range(len(names)), key=lambda place: int(names[place])))
        names, places = names[order], np.argsort(order)[places]
    codes = np.full(len(labels), -1)
    codes[~has_none] = places
    return codes, names.tolist()


def _is_none(label: Any) -> bool:
    """Whether a label of any type stands for no cluster; that of pandas cannot be compared."""
    return str(label) in ("<NA>", "-1") or label in (None, "", -1) or bool(label != label)


def _found(model: Any, table: Any, X: Any) -> tuple[Placed, list[Any]]:
    """Labels, of an estimator or as given, distances if they can be known, and its transformers."""
    if not (hasattr(model, "fit") or hasattr(model, "predict")):
        labels = on_host(plain(model, "labels"))
        if labels.ndim != 1:
            raise ValueError(f"labels of shape {labels.shape} are given; give one for each row")
        return Placed(labels), []
    is_search_without = getattr(model, "best_estimator_", model) is None
    if is_search_without or not hasattr(model, "predict"):
        check_is_fitted(model)
        return of_fit(model), []
    transformers, last = parts(model)
    if X is None and (transformers or _takes(last, table)):
        X = table
    found = of_fit(last) if X is None else place(transformers, last, X)
    return found, transformers


def _takes(model: Any, table: Any) -> bool:
    """Whether a table has the columns of a model."""
    names = getattr(model, "feature_names_in_", None)
    if names is not None and hasattr(table, "columns"):
        return list(table.columns) == list(names)
    return bool(np.shape(table)[-1] == getattr(model, "n_features_in_", None))


def _profiles(
    columns: Mapping[str, Array],
    grouped: Grouped,
    kinds: Mapping[str, str],
    transformers: Sequence[Any],
) -> Iterator[tuple[str, Profile]]:
    """All columns but nested ones, and after each with gaps where these are."""
    tables = tables_among(transformers)
    categories = [one.name for table in tables for one in table.columns_ if one.kind == "category"]
    kinds = dict.fromkeys(categories, "category") | {**kinds}
    knees, read = logarithms_of(transformers), reader_of(transformers)
    for name in columns:
        typed = isinstance(columns, Table) and columns.is_category(name)
        values = read(name, np.asarray(columns[name]))
        kind, knee = kinds.get(name), knees.get(name, 0.0)
        if kind is None and is_nested(values):
            continue
        profile = profile_of(values, name, grouped, kind, is_category=typed, knee=knee)
        yield name, profile
        if (gaps := profile.gaps(grouped)) is not None:
            yield f"{name}{IS_MISSING}", gaps


def _entries(columns: list[tuple[str, Profile]], names: Sequence[Any]) -> Iterator[Entry]:
    """All columns in all clusters, by cluster and size of the difference."""
    for code, name in enumerate(names):
        sizes = np.abs([profile.difference[code] for _, profile in columns])
        # NaN is sorted to the end.
        order = np.argsort(-sizes, kind="stable").tolist()
        for rank, (column, profile) in enumerate((columns[one] for one in order), 1):
            value, overall = profile.shown(code)
            number, overall_number = float(profile.numbers[code]), float(profile.overall[code])
            yield Entry(
                name,
                rank,
                column,
                profile.kind,
                profile.statistic,
                value,
                overall,
                number,
                overall_number,
                float(profile.difference[code]),
                math.nan if profile.values is None else number / overall_number,
                float(profile.missing[code]),
            )
