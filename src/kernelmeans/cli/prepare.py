"""What a fit or a search works on: the estimator, the table, and its features."""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import scipy.sparse
from sklearn.preprocessing import StandardScaler

from kernelmeans import KernelPowerKMeans, MultiKernelPowerKMeans
from kernelmeans._text import counted, listed
from kernelmeans.cli.archives import check_size
from kernelmeans.cli.data import Data, whole_table
from kernelmeans.cli.errors import BadInputError, estimator_errors
from kernelmeans.cli.tables import PreparedRows, Table, blocks, loaded, read_table
from kernelmeans.cli.views import FoundViews, Views, read_views
from kernelmeans.rows import Rows
from kernelmeans.tables import TableTransformer

if TYPE_CHECKING:
    from kernelmeans.cli.job import TableJob


@dataclass(frozen=True)
class Task:
    """What to cluster, and how.

    Parameters
    ----------
    estimator : estimator
        Not fitted yet.
    data : Data
        The table.
    Z : ndarray, CSR matrix or Rows of shape (n_rows, n_features)
        Its features as the estimator sees them.
    preparation : TableTransformer, StandardScaler or None
        What has made Z of the table.
    views : FoundViews or None
        The views.
    refusals : callable
        A context in which messages of the estimator name the views.
    """

    estimator: Any
    data: Data
    Z: Any
    preparation: Any
    views: FoundViews | None
    refusals: Callable[[], AbstractContextManager[None]]


def prepare(job: "TableJob") -> Task:
    """Make the estimator, read the table and scale it."""
    views = None if job.views is None else read_views(job.views)
    refusals = nullcontext if views is None else views.errors
    n_clusters = 2 if job.n_clusters is None else job.n_clusters[0]
    estimator: Any = (
        KernelPowerKMeans(n_clusters, **job.parameters)
        if views is None
        else MultiKernelPowerKMeans(n_clusters, **views.parameters, **job.parameters)
    )
    with estimator_errors(), refusals():
        estimator._validate_params()
    table = read_table(job.data, job, budget=job.budget())
    if job.take is not None and job.take.startswith("obsp:") and not job.pairwise:
        job.note(
            f"{job.take} relates rows to rows, and is taken for features of rows; --kernel graph "
            "takes it for a graph, --metric precomputed for distances"
        )
    features = job.features(table)
    if views is None and not job.pairwise:
        X = whole_table(table, features, job.dtype)
        if X is not None:
            data = job.beside(table, X, features, job.dtype)
            return Task(estimator, *_prepared(job, data), None, refusals)
    if job.categorical or job.dates or job.missing == "drop":
        raise BadInputError(
            "--categorical, --dates and --missing drop are for tables in memory, not for a kernel "
            "matrix, a graph, a sparse table, --views, or a table that stays on disk"
        )
    data, found = _load(job, table, features, views)
    if found is not None:
        estimator.set_params(kernels=found.kernels)
    with estimator_errors(), refusals():
        scaler = _scaler(job, data)
        Z = data.X if scaler is None else _scaled(scaler, data.X)
    return Task(estimator, data, Z, scaler, found, refusals)


def _prepared(job: "TableJob", data: Data) -> tuple[Data, Any, TableTransformer]:
    """Decide what each column is, say so, and make numbers of the table."""
    transformer = job.transformer(data.table, data.columns, job.scale, job.dtype)
    with table_errors(data.table.source):
        if job.missing == "drop":
            transformer.fit(data.X, sample_weight=data.weights)
            data = data.among(transformer.inspect(data.X).placeable)
            Z = transformer.transform(data.X)
        else:
            Z = transformer.fit_transform(data.X, sample_weight=data.weights)
    columns = transformer.columns_
    if any(one.kind != "number" or one.n_missing or one.is_logarithm for one in columns):
        job.say(transformer.report_)
    return replace(data, columns=[one.name for one in columns if one.used]), Z, transformer


@contextmanager
def table_errors(source: Path) -> Iterator[None]:
    """Name the file, and options in place of parameters, in messages about columns."""
    with estimator_errors():
        try:
            yield
        except ValueError as error:
            said = re.sub(
                r"n_samples=(\d+)", lambda found: counted(int(found[1]), "row"), str(error)
            )
            options = r"\b(categorical|columns|drop|missing)(?:=(?= )|(=))"
            said = re.sub(options, r"--\1\2", said)
            raise ValueError(f"{source}: {said.removeprefix('X: ')}") from error


def _load(
    job: "TableJob", table: Table, features: list[str], views: Views | None
) -> tuple[Data, FoundViews | None]:
    """Read the features as numbers; columns of no view are left out, with a note."""
    found = None
    if views is not None:
        found = views.find(features)
        seen = set(found.columns)
        if ignored := [name for name in features if name not in seen]:
            job.note(f"columns in no view of {views.source} are ignored: {listed(ignored)}")
        features = found.columns
    data = job.load(table, features, job.dtype)
    if isinstance(data.X, Rows) and job.pairwise:
        # A fit with a kernel matrix or a graph holds little else, so all of the budget is allowed.
        check_size(job.data, data.X.nbytes, job.budget())
        data = replace(data, X=loaded(data.X))
    elif isinstance(data.X, Rows):
        job.note(
            f"{job.data} stays on disk and is read block by block, because it would take more "
            "than a quarter of the memory budget"
        )
    return data, found


def _scaler(job: "TableJob", data: Data) -> StandardScaler | None:
    if not job.scale:
        return None
    if job.pairwise:
        what = "graph" if job.parameters["kernel"] != "precomputed" else "precomputed kernel"
        job.note(f"--scale does not apply to a {what}, which stays as it is")
        return None
    # Centering would fill a sparse matrix. Of our kernels only the dot products depend on it.
    scaler = StandardScaler(with_mean=not scipy.sparse.issparse(data.X))
    for block, rows in blocks(data.X):
        scaler.partial_fit(rows, None, None if data.weights is None else data.weights[block])
    return scaler


def _scaled(scaler: StandardScaler, X: Any) -> Any:
    if isinstance(X, Rows):
        return PreparedRows(X, X.dtype, scaler.transform)
    return scaler.transform(X)
