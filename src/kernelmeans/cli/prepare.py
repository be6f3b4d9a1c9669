"""What a fit or a search works on: the estimator, the table, and its features."""

import re
import shlex
import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.preprocessing import StandardScaler
from sklearn.utils import gen_batches

from kernelmeans import KernelPowerKMeans, MultiKernelPowerKMeans
from kernelmeans._dialect import learn, option
from kernelmeans._errors import InputError
from kernelmeans._text import counted, listed
from kernelmeans._typing import Array, BoolArray, IntArray
from kernelmeans.cli import values
from kernelmeans.cli.data import find_columns
from kernelmeans.cli.errors import estimator_errors
from kernelmeans.cli.jobs import TableJob
from kernelmeans.cli.labels import first_identifier
from kernelmeans.cli.views import kernels_of, read_views
from kernelmeans.models.placing import kept, without_value
from kernelmeans.rows import Rows
from kernelmeans.tables import TableTransformer
from kernelmeans.tables.files.archives import check_size
from kernelmeans.tables.files.tables import FileTable, PreparedRows, blocks, loaded, open_file
from kernelmeans.tables.kinds import DOUBTED

#: Part of the squared length of all rows that is nearly all, and part of the columns that are few.
LARGE, LARGE_AMONG = 0.9, 0.05
#: Metrics of rows in which the largest columns decide.
LENGTHS = frozenset({"cosine", "correlation", "braycurtis"})
#: Rows whose squares are taken at a time.
BATCH = 2**14
#: Largest whole number of grades and of yes and no. Larger ones are counts.
LARGEST_GRADE = 9


@dataclass(frozen=True)
class Task:
    """What to cluster, and how.

    Parameters
    ----------
    estimator : estimator
        Not fitted yet.
    table : FrameTable or ArrayTable
        The file.
    columns : dict of range
        Its columns that the clusters depend on, and the features that each has become.
    X : polars.DataFrame, ndarray, CSR matrix or Rows of shape (n_rows, n_columns)
        Its columns that may be features, as they are.
    Z : ndarray, CSR matrix or Rows of shape (n_rows, n_features)
        The features as the estimator sees them.
    labels, weights : ndarray of shape (n_rows,) or None
        Known classes, and sample weights.
    rows : ndarray of bool
        Which rows of the file are clustered.
    preparation : TableTransformer, StandardScaler or None
        What has made Z of the table.
    categories : list of str
        Columns and annotations that are categories by the file or by an option.
    view_columns : list of int or None
        With views, the number of columns of the table that each kernel sees.
    like : ndarray of int of shape (n_rows,) or None, default=None
        Labels by an earlier model.
    """

    estimator: Any
    table: FileTable
    columns: dict[str, range]
    X: Any
    Z: Any
    labels: Any
    weights: Any
    rows: BoolArray
    preparation: Any
    categories: list[str]
    view_columns: list[int] | None
    like: IntArray | None = None


def prepare(job: TableJob) -> Task:
    """Make the estimator, read the table and make numbers of it.

    The options have been checked.
    """
    views = None if job.views is None else read_views(job.views)
    n_clusters = 2 if job.n_clusters is None else job.n_clusters[0]
    estimator: Any = (
        KernelPowerKMeans(n_clusters, **job.parameters)
        if views is None
        else MultiKernelPowerKMeans(n_clusters, **views.parameters, **job.parameters)
    )
    with estimator_errors():
        estimator._validate_params()
    table = _read(job, n_clusters)
    features, called = job.features(table), job.called(table)
    seen = [] if views is None else views.find(features)
    if views is not None:
        called |= {name for _, columns in seen for name, is_full in columns.items() if is_full}
        wanted = {name for _, columns in seen for name in columns}
        if ignored := [name for name in features if name not in wanted]:
            job.note(f"columns in no view of {views.source} are ignored: {listed(ignored)}")
        features = [name for name in features if name in wanted]
    _check_categorical(job, table, features)
    categorical = find_columns(
        table, [*table.annotations, *features], job.categorical, "categorical"
    )
    if job.scale and job.unscaled:
        job.note(f"columns are not scaled, because {job.unscaled}")
    X = None if job.pairwise else table.whole(features, job.dtype)
    rows, view_columns = np.full(table.shape[0], True), None
    with estimator_errors():
        if X is None:
            labels, weights = values.labels_and_weights(table, job, job.dtype, rows)
            X, Z, preparation = _numbers(job, table, features, categorical, weights)
            places = {name: range(place, place + 1) for place, name in enumerate(features)}
        else:
            X, Z, preparation, rows = _prepared(job, table, X, features, called, categorical)
            used = preparation._used()
            places = {one.name: range(at.start, at.stop) for one, _, at in used}
            labels, weights = values.labels_and_weights(table, job, job.dtype, rows)
        if views is not None:
            kernels, view_columns = kernels_of(seen, places)
            estimator.set_params(kernels=kernels)
    categories = [*table.categories, *categorical]
    return Task(
        estimator,
        table,
        places,
        X,
        Z,
        labels,
        weights,
        rows,
        preparation,
        categories,
        view_columns,
    )


def _check_categorical(job: TableJob, table: FileTable, features: Sequence[str]) -> None:
    """Refuse a category that another option leaves out."""
    given = {name.strip() for text in job.categorical for name in [text, *text.split(",")]}
    dropped = find_columns(table, table.names, job.drop, "drop").keys()
    if both := [name for name in table.names if name in given & dropped and name not in features]:
        raise InputError(
            f"{table.source}: --categorical and --drop both name {listed(both)}: a column that is "
            "left out is no category"
        )


def _read(job: TableJob, n_clusters: int) -> FileTable:
    """Read a table of enough rows."""
    table = open_file(job.data, job, budget=job.budget(), verbatim=job.id_column)
    learn(lines=table.lines)
    if (n_rows := table.shape[0]) < max(2, n_clusters):
        raise InputError(
            f"{table.source}: has {counted(n_rows, 'row')}, too few for {n_clusters} clusters: "
            "give more rows, or lower -k"
        )
    if job.take is not None and job.take.startswith("obsp:") and not job.pairwise:
        job.note(
            f"{job.take} relates rows to rows, and is taken for features of rows; --kernel graph "
            "takes it for a graph, --metric precomputed for distances"
        )
    return table


def _prepared(
    job: TableJob,
    table: FileTable,
    X: Any,
    features: Sequence[str],
    called: Collection[str],
    categorical: Collection[str],
) -> tuple[Any, Any, TableTransformer, BoolArray]:
    """Decide what each column is, print the decisions, and make numbers of the table.

    Columns in `called` are used, because the user gave their full names. Rows may be left out: the
    mask that is returned last marks the rows that stay.
    """
    transformer = TableTransformer(
        columns=["*", *(name for name in features if name in called)],
        categorical=[name for name in features if name in categorical],
        dates=job.dates,
        missing=job.missing,
        missing_values=table.reading.words(),
        decimal=job.decimal,
        thousands=job.thousands,
        skewed=job.skewed,
        scale=job.scales,
        dtype=job.dtype,
    )
    transformer._guess = getattr(table, "guess", ".")
    rows, weights = np.full(table.shape[0], True), values.weights(table, job, job.dtype)
    if weights is not None:  # those of rows that are clustered are checked once these are known
        weights = np.where(np.isfinite(weights), weights, 1)
    try:
        if job.missing == "drop":
            rows = transformer.fit(X, sample_weight=weights).inspect(X).placeable
            X = kept(X, rows)
            Z = transformer.transform(X)
        else:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "X: .* without a value")  # said below
                Z = transformer.fit_transform(X, sample_weight=weights)
            if all(one.n_missing for one in transformer.columns_ if one.used):
                rows = transformer.inspect(X).placeable
            if not rows.all():
                job.note(without_value(int((~rows).sum())))
                X = kept(X, rows)
                weights = None if weights is None else weights[rows]
                # All is said, and lines would be counted without these rows.
                with warnings.catch_warnings(action="ignore"):
                    Z = transformer.fit_transform(X, None, weights)
    except ValueError as error:
        raise InputError(f"{table.source}: {str(error).removeprefix('X: ')}") from error
    columns = transformer.columns_
    if any(one[1:5] != ("number", True, "", 0) or one.is_logarithm for one in columns):
        job.say(transformer.report_)
    if job.id_column is None and (name := first_identifier(table, columns)) is not None:
        job.note(f"--id-column {shlex.quote(name)} keeps that column in the labels file")
    remarks = [(one, re.search(rf"(\S+) \(\d+ rows\) {DOUBTED}", one.reason)) for one in columns]
    doubts = [(one.name, found) for one, found in remarks if one.used and found]
    # After a unit the number is another text in each row, unless it stands alone, as errors do.
    doubted = [found[1] for name, found in doubts if not found.start() or found[1] in X[name]]
    if doubted:
        words = ",".join(dict.fromkeys(doubted))
        job.note(f"--missing-values={words} takes such values for missing, in all columns")
    if job.parameters.get("metric") in LENGTHS and not job.scales:
        _note_large_columns(job, Z, transformer)
    return X, Z, transformer, rows


def _note_large_columns(job: TableJob, Z: Array, transformer: TableTransformer) -> None:
    """Note a few columns that hold nearly all of the squared length of the rows."""
    scale = max(float(np.abs(Z).max()), float(np.finfo(np.float32).tiny))
    squares = np.zeros(Z.shape[1])
    for rows in gen_batches(len(Z), BATCH):
        squares += np.square(Z[rows] / scale).sum(axis=0)
    parts = {one.name: squares[place].sum() for one, _, place in transformer._used()}
    few = sorted(parts, key=lambda name: -parts[name])[: int(LARGE_AMONG * len(parts))]
    if sum(parts[name] for name in few) > LARGE * squares.sum():
        few = [name for name in few if parts[name] > (1 - LARGE) * squares.sum() / len(few)]
        hold = "holds" if len(few) == 1 else "hold"
        job.note(
            f"{listed(few, most=3)} {hold} nearly all of the squared length of the rows, so that "
            f"{job.sees_origin} sees little else: {option('drop', few)} leaves it out"
        )


def _are_counts(X: Any) -> bool:
    """Whether a sparse matrix holds counts, most likely of molecules or of words."""
    if not scipy.sparse.issparse(X) or not LARGEST_GRADE < X.data.max(initial=0) < np.inf:
        return False
    return bool(X.data.min() >= 0 and (X.data == np.floor(X.data)).all())


def _numbers(
    job: TableJob,
    table: FileTable,
    features: list[str],
    categorical: Collection[str],
    weights: Any,
) -> tuple[Any, Any, StandardScaler | None]:
    """Read columns that must be numbers, and scale them, block by block if they stay on disk."""
    if {*features} & {*categorical} or job.dates or job.missing == "drop":
        raise InputError(
            "--categorical, --dates and --missing drop are for tables in memory, not for a kernel "
            "matrix, a graph, a sparse table, or a table that stays on disk"
        )
    if job.pairwise and table.shape[0] != len(features):
        name = "metric" if job.parameters.get("metric") == "precomputed" else "kernel"
        shape = f"{counted(table.shape[0], 'row')} and {counted(len(features), 'column')}"
        named = f"add --id-column {shlex.quote(features[0])} if it names the rows, or "
        raise InputError(
            f"{job.data}: --{name} {job.parameters[name]} takes a table that relates all rows to "
            f"each other, a square with a column for each row; this one has {shape} of features: "
            f"{named * (table.shape[0] + 1 == len(features))}leave the option out"
        )
    X = values.numbers(table, features, job.dtype)
    if isinstance(X, Rows) and job.pairwise:
        # A fit with a kernel matrix or a graph holds little else, so all of the budget is allowed.
        check_size(job.data, X.nbytes, job.budget())
        X = loaded(X)
    elif isinstance(X, Rows):
        job.note(
            f"{job.data} stays on disk and is read block by block, because it would take more "
            "than a quarter of the memory budget"
        )
    if job.scale and job.pairwise:
        what = "graph" if job.parameters["kernel"] != "precomputed" else "precomputed kernel"
        job.note(f"--scale does not apply to a {what}, which stays as it is")
    if not (job.pairwise or job.sees_origin) and _are_counts(X):
        job.note(
            "the numbers look like counts. Rows with a small and with a large total get different "
            "clusters. Divide each row by its total and take logarithms first; for cells "
            "scanpy.pp.normalize_total and scanpy.pp.log1p do so"
        )
    if job.pairwise or not job.scales:
        return X, X, None
    # Centering would fill a sparse matrix. Of our kernels only the dot products depend on it.
    scaler = StandardScaler(with_mean=not scipy.sparse.issparse(X))
    for block, rows in blocks(X):
        with np.errstate(over="ignore", invalid="ignore"):
            scaler.partial_fit(rows, None, None if weights is None else weights[block])
    if (wild := np.flatnonzero(~np.isfinite(scaler.var_))).size:
        raise InputError(
            f"{job.data}: the numbers of column {features[wild[0]]!r} are so large that their "
            "variance overflows: divide them, or leave the column out with --drop"
        )
    if isinstance(X, Rows):
        return X, PreparedRows(X, X.dtype, scaler.transform), scaler
    return X, scaler.transform(X), scaler
