"""Which labels depend on threads, runs, chunks, workers, the order of rows and the precision.

Run ``python benchmarks/determinism.py``, with ``--quick`` for small sets, or ``--sets`` for others.
Each kernel is fitted to the same rows again and again, and so are several kernels together and a
search of the number of clusters and the kernel. "same" means that all labels, and the cost or
score, are the same to the last bit. "same labels" means that the last bits of the cost differ. A
number is the lowest adjusted Rand index of two fits: 1.0000 are the same clusters with other
numbers. The last table has the worst answer of all sets. The exit code is 1 if labels depend on
threads, runs, chunks or workers.
"""

import argparse
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph
from threadpoolctl import threadpool_limits

from kernelmeans import ClusterSearch, KernelPowerKMeans, MultiKernelPowerKMeans
from kernelmeans_paper.datasets import NAMES, is_present
from kernelmeans_paper.problems import Problem, standardised

QUICK = ("seeds", "jaffe", "lung_discrete")
KERNELS = ("rbf", "laplacian", "poly", "sigmoid", "cosine", "linear", "geodesic", "heat")
THREADS, RUNS, CHUNKS, WORKERS, ORDERS = range(1, 9), 2, (2, 3, 7), (1, 2, 3), 2
COLUMNS = {
    "threads": "1 to 8 threads",
    "runs": "three runs",
    "chunks": "2, 3, 7 chunks",
    "workers": "0 to 3 workers",
    "orders": "three orders",
    "precision": "float32 / 64",
}
#: What labels never depend on, and the answers that say so.
PROMISED = ("threads", "runs", "chunks", "workers")
SAME = ("-", "same", "same labels")
#: Most rows of a search, which is a hundred fits.
SEARCHED_ROWS = 250
#: How kernels are held in fits to chunks.
LANDMARKS = {"approximation": "landmarks", "n_components": 50}


class Task(NamedTuple):
    """A model and the rows, or the matrix between all rows, that it is fitted to."""

    name: str
    model: Any
    X: Any
    takes_chunks: bool = True
    is_matrix: bool = False


def main() -> int:
    """Print a line for each kernel and set, and the worst answers; 1 if a promise is broken."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", default=",".join(NAMES), help="comma separated names")
    parser.add_argument("--quick", action="store_true", help=f"only {', '.join(QUICK)}")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # fits that end at max_iter count as they are
    found: dict[str, list[list[str]]] = defaultdict(list)
    with ExitStack() as stack:
        clients = [stack.enter_context(client_of(count)) for count in WORKERS]
        for name in QUICK if arguments.quick else arguments.sets.split(","):
            if not is_present(name):
                print(f"\n{name}: left out, not fetched yet by kernelmeans_paper.datasets")
                continue
            print(f"\n{line(name, COLUMNS.values())}")
            for task in tasks(standardised(name)):
                answers = list(cells(task, clients))
                print(line(task.name, answers), flush=True)
                found[task.name].append(answers)
    print(f"\n{line('all', COLUMNS.values())}")
    broken = False
    for kernel, rows in found.items():
        answers = dict(zip(COLUMNS, map(worst, zip(*rows, strict=True)), strict=True))
        print(line(kernel, answers.values()))
        broken |= any(answers[column] not in SAME for column in PROMISED)
    return int(broken)


@contextmanager
def client_of(n_workers: int) -> Iterator[Client]:
    """A client of so many processes with a thread each, for those who ask for it."""
    options = {"n_workers": n_workers, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**options) as cluster, Client(cluster, set_as_default=False) as client:
        yield client


def tasks(problem: Problem) -> Iterator[Task]:
    """What is fitted to a set."""
    X, k = problem.X, problem.k
    for kernel in KERNELS:
        yield Task(kernel, KernelPowerKMeans(k, kernel=kernel, random_state=0), X)
    matrix = {"takes_chunks": False, "is_matrix": True}
    given = KernelPowerKMeans(k, kernel="precomputed", random_state=0)
    yield Task("precomputed", given, problem.K, **matrix)
    edges = kneighbors_graph(X, 10)
    edges = edges.maximum(edges.T)
    yield Task("graph", KernelPowerKMeans(k, kernel="graph", random_state=0), edges, **matrix)
    yield Task("several", MultiKernelPowerKMeans(k, kernels="widths", random_state=0), X)
    if len(X) > SEARCHED_ROWS:
        return
    grid = {"kernel": ["rbf", "heat"], "n_clusters": [2, 3, 4, 5]}
    search = ClusterSearch(KernelPowerKMeans(random_state=0), grid, n_splits=4, random_state=0)
    yield Task("search", search, X, takes_chunks=False)


def cells(task: Task, clients: Iterable[Client]) -> Iterator[str]:
    """Agreement over what changes, in the order of the columns."""
    model, X = task.model, task.X
    first = clone(model).fit(X)
    yield agreement(first, [with_threads(model, X, count) for count in THREADS])
    yield agreement(first, [clone(model).fit(X) for _ in range(RUNS)])
    if task.takes_chunks:
        held = clone(model).set_params(**LANDMARKS)
        rows = [da.from_array(X, (-(-len(X) // n), -1)) for n in CHUNKS]
        chunked = [clone(held).fit(one) for one in rows]
        yield agreement(chunked[0], chunked[1:])
        yield agreement(chunked[-1], [on_workers(held, rows[-1], client) for client in clients])
    else:
        yield "-"
        # A search has processes of joblib.
        jobs = isinstance(model, ClusterSearch)
        yield agreement(first, [clone(model).set_params(n_jobs=2).fit(X)]) if jobs else "-"
    orders = [np.random.default_rng(seed).permutation(X.shape[0]) for seed in range(ORDERS)]
    ordered = [clone(model).fit(permuted(task, order)) for order in orders]
    yield agreement(first, ordered, [np.argsort(order) for order in orders])
    yield agreement(first, [clone(model).fit(X.astype("f4"))])


def with_threads(model: Any, X: Any, count: int) -> Any:
    """A fit with so many threads."""
    with threadpool_limits(count):
        return clone(model).fit(X)


def on_workers(model: Any, rows: Any, client: Client) -> Any:
    """A fit on the workers of a client."""
    with client.as_current():
        return clone(model).fit(rows)


def permuted(task: Task, order: Any) -> Any:
    """The rows in another order, and so the columns of a matrix between them."""
    return task.X[order][:, order] if task.is_matrix else task.X[order]


def agreement(first: Any, others: list[Any], places: list[Any] | None = None) -> str:
    """Whether fits are the same, or else how much their labels agree."""
    expected = np.asarray(first.labels_)
    found = [np.asarray(one.labels_) for one in others]
    if places is not None:
        found = [labels[place] for labels, place in zip(found, places, strict=True)]
    if all(np.array_equal(one, expected) for one in found):
        return "same" if len({number_of(one) for one in [first, *others]}) == 1 else "same labels"
    return f"{min(adjusted_rand_score(expected, one) for one in found):.4f}"


def number_of(model: Any) -> str:
    """What a fit or search minimises or maximises, to the last bit."""
    return repr(float(model.inertia_ if hasattr(model, "inertia_") else model.best_score_))


def worst(answers: Iterable[str]) -> str:
    """The answer that says least of what is the same."""
    return max(answers, key=lambda one: SAME.index(one) if one in SAME else 4 - float(one))


def line(name: str, found: Iterable[str]) -> str:
    """A line of a table."""
    return f"{name:14}" + "".join(f"{one:>16}" for one in found)


if __name__ == "__main__":
    sys.exit(main())
