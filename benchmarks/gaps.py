"""What fills gaps, and what a gap weighs: columns that say where values are missing.

``python benchmarks/gaps.py`` makes gaps in complete tables, fills them with medians or from similar
rows, and adds for each column with gaps one that is 1 where a value is missing, times a factor.
Columns with gaps in the same rows share one. Figures are mean adjusted Rand indices at the true
number of clusters.
"""

import argparse
import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_blobs,
    make_moons,
)
from sklearn.metrics import adjusted_rand_score

from kernelmeans import KernelPowerKMeans
from kernelmeans.tables.gaps import donors_of, fill

Table = tuple[np.ndarray, np.ndarray]
#: Whether medians fill gaps, and the factor.
WAYS = {
    "medians, 0.5": (True, 0.5),
    "medians, none": (True, 0.0),
    "rows, 1": (False, 1.0),
    "0.7": (False, 0.7),
    "0.5": (False, 0.5),
    "0.3": (False, 0.3),
    "none": (False, 0.0),
}
KINDS = (
    "a tenth of all",
    "half of a column",
    "columns, each its rows",
    "columns, the same rows",
    "told by a class",
)


def chosen_on(seed: int) -> Iterator[tuple[str, Table]]:
    """Tables on which the factor was chosen."""
    yield "iris", load_iris(return_X_y=True)
    yield "wine", load_wine(return_X_y=True)
    yield "breast cancer", load_breast_cancer(return_X_y=True)
    yield "3 blobs", make_blobs(600, 6, centers=3, cluster_std=2.0, random_state=seed)
    yield "5 blobs", make_blobs(800, 8, centers=5, cluster_std=2.5, random_state=10 + seed)


def confirmed_on(seed: int) -> Iterator[tuple[str, Table]]:
    """Tables that were looked at afterwards."""
    rng = np.random.default_rng(seed)
    X, y = load_digits(return_X_y=True)
    rows = rng.choice(len(X), 1000, replace=False)
    yield "digits", (X[rows], y[rows])
    X, y = make_moons(600, noise=0.06, random_state=seed)
    yield "moons and a column of noise", (np.c_[X, 0.2 * rng.normal(size=600)], y)
    y = np.repeat(range(4), [60, 150, 300, 500])
    yield "unequal sizes", (1.6 * rng.normal(size=(4, 10))[y] + rng.normal(size=(len(y), 10)), y)


def with_gaps(X: np.ndarray, y: np.ndarray, kind: str, rng: np.random.Generator) -> np.ndarray:
    """The table with values missing in a way."""
    telling = np.flatnonzero(X.std(axis=0) > 0.5 * np.median(X.std(axis=0)))
    some = rng.permutation(telling)[: max(2, X.shape[1] // 3)]
    lacks = np.zeros(X.shape, bool)
    if kind == "a tenth of all":
        lacks = rng.random(X.shape) < 0.1
    elif kind == "half of a column":
        lacks[:, some[0]] = rng.random(len(X)) < 0.5
    elif kind == "columns, each its rows":
        lacks[:, some] = rng.random((len(X), len(some))) < 0.3
    elif kind == "columns, the same rows":
        lacks[:, some] = rng.random((len(X), 1)) < 0.25
    else:  # noise that mostly lacks in one class
        X = np.c_[X, X.std() * rng.normal(size=len(X))]
        where = rng.random(len(X)) < np.where(y == 0, 0.8, 0.05)
        lacks = np.c_[lacks, where]
    return np.where(lacks, np.nan, X)


def prepared(X: np.ndarray, medians: bool, factor: float) -> np.ndarray:
    """Standardised numbers without gaps, and columns that say where the gaps were."""
    X = (X - np.nanmean(X, axis=0)) / np.maximum(np.nanstd(X, axis=0), 1e-12)
    lacks = np.isnan(X)
    where = np.unique(lacks[:, lacks.mean(axis=0) > 0.05], axis=1) * factor
    if medians:
        return np.hstack([np.where(lacks, np.nanmedian(X, axis=0), X), where])
    Z = np.hstack([X, where])
    fill(Z, donors_of(Z, np.full(len(Z), True)))
    return Z


def compare(n_seeds: int) -> None:
    for part in (chosen_on, confirmed_on):
        print(f"\n{part.__name__}: k-means, heat; {'; '.join(WAYS)}")
        means = []
        for kind in KINDS:
            rows = []
            for seed in range(n_seeds):
                rng = np.random.default_rng(seed)
                for _, (X, y) in part(seed):
                    k, holed = len(np.unique(y)), with_gaps(X, y, kind, rng)
                    tables = [prepared(holed, *way) for way in WAYS.values()]
                    models = KMeans(k, n_init=5, random_state=seed), KernelPowerKMeans(k)
                    models[1].set_params(random_state=seed)
                    rows.append(
                        [
                            [adjusted_rand_score(y, model.fit_predict(Z)) for Z in tables]
                            for model in models
                        ]
                    )
            means.append(np.mean(rows, axis=0))
            show(kind, means[-1])
        show("all", np.mean(means, axis=0))


def show(kind: str, means: np.ndarray) -> None:
    for name, own in zip(("k-means", "heat"), means, strict=True):
        print(f"| {kind} | {name} | {' | '.join(f'{mean:.3f}' for mean in own)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2)
    warnings.simplefilter("ignore")
    compare(parser.parse_args().seeds)


if __name__ == "__main__":
    main()
