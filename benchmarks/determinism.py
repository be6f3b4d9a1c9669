"""Which labels depend on threads, runs, chunks, the order of rows and the precision.

Run ``python benchmarks/determinism.py``, with ``--sets`` for other sets. Each kernel is fitted to
the same rows again and again, and so is a search of the number of clusters and the kernel. "same"
means that all labels, and the cost or score, are the same to the last bit. A number is the lowest
adjusted Rand index of two fits.
"""

import argparse
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import dask.array as da
import numpy as np
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from kernelmeans import ClusterSearch, KernelPowerKMeans
from kernelmeans_paper.problems import standardised

KERNELS = ("rbf", "laplacian", "poly", "sigmoid", "cosine", "linear", "geodesic", "heat")
THREADS = (1, 2, 3, 4)
COLUMNS = ("threads 1-4", "second run", "chunks 2, 7", "other order", "float32")
#: How kernels are held in fits to chunks.
LANDMARKS = {"approximation": "landmarks", "n_components": 50}


def main() -> None:
    """Print a line for each kernel and set."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", default="seeds,jaffe,lung_discrete", help="comma separated names")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # fits that end at max_iter count as they are
    for name in arguments.sets.split(","):
        problem = standardised(name)
        print(f"\n{line(name, COLUMNS)}")
        for kernel in KERNELS:
            model = KernelPowerKMeans(problem.k, kernel=kernel, random_state=0)
            print(line(kernel, cells(model, problem.X)), flush=True)
        grid = {"kernel": ["rbf", "heat"], "n_clusters": [2, 3, 4, 5]}
        search = ClusterSearch(KernelPowerKMeans(random_state=0), grid, n_splits=4, random_state=0)
        print(line("search", cells(search, problem.X)), flush=True)


def line(name: str, found: Iterable[str]) -> str:
    """A line of a table."""
    return f"{name:14}" + "".join(f"{one:>14}" for one in found)


def cells(model: Any, X: np.ndarray) -> Iterable[str]:
    """Agreement over what changes, in the order of the columns."""
    order = np.random.default_rng(0).permutation(len(X))
    first = clone(model).fit(X)
    yield agreement(first, [with_threads(model, X, count) for count in THREADS])
    yield agreement(first, [clone(model).fit(X)])
    if isinstance(model, KernelPowerKMeans):
        held = clone(model).set_params(**LANDMARKS)
        chunked = [clone(held).fit(da.from_array(X, (len(X) // n, -1))) for n in (2, 7)]
        yield agreement(chunked[0], chunked[1:])
    else:
        yield "-"  # a search takes no chunks
    yield agreement(first, [clone(model).fit(X[order])], lambda labels: labels[np.argsort(order)])
    yield agreement(first, [clone(model).fit(X.astype("f4"))])


def with_threads(model: Any, X: np.ndarray, count: int) -> Any:
    """A fit with so many threads."""
    with threadpool_limits(count):
        return clone(model).fit(X)


def agreement(
    first: Any, others: list[Any], restored: Callable[[Any], Any] = lambda labels: labels
) -> str:
    """Whether fits are the same, or else how much their labels agree."""
    expected = np.asarray(first.labels_)
    found = [restored(np.asarray(one.labels_)) for one in others]
    if all(np.array_equal(one, expected) for one in found):
        return "same" if len({number_of(one) for one in [first, *others]}) == 1 else "same labels"
    return f"{min(adjusted_rand_score(expected, one) for one in found):.4f}"


def number_of(model: Any) -> float:
    """What a fit or search minimises or maximises, to the last bit."""
    return float(model.inertia_ if hasattr(model, "inertia_") else model.best_score_)


if __name__ == "__main__":
    main()
