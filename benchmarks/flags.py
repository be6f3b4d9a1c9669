"""Columns of chance beside clusters: yes and no, or few values. The default kernel, and rivals.

Run ``python benchmarks/flags.py``. Every figure is the mean ARI over draws of the columns. The
number of clusters is given. All columns have variance 1.
"""

import argparse
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_blobs
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from heat_sets import Labelled
from kernelmeans import KernelPowerKMeans
from kernelmeans_paper.datasets import fetch, is_present


def blobs(n_rows: int) -> Labelled:
    """Three clusters 10 standard deviations apart."""
    X, y = make_blobs(n_rows, centers=[[0, 0, 0], [10, 0, 0], [0, 10, 0]], random_state=0)
    return X, y


def digits() -> Labelled:
    """Digits in the plane of five components."""
    X, y = load_digits(return_X_y=True)
    return PCA(5, random_state=0).fit_transform(X), y


SETS: Mapping[str, Callable[[], Labelled]] = {
    "blobs, 150": lambda: blobs(150),
    "blobs, 600": lambda: blobs(600),
    "blobs, 2000": lambda: blobs(2000),
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "seeds": lambda: fetch("seeds", return_X_y=True),
    "digits, 5 components": digits,
}
#: For each column, the probabilities of its values.
COLUMNS: Mapping[str, list[list[float]]] = {
    "none": [],
    "1 coin": [[0.5, 0.5]],
    "3 flags": [[0.5, 0.5], [0.3, 0.7], [0.2, 0.8]],
    "2 grades": [[0.2] * 5, [0.25] * 4],
}


def methods(k: int) -> Mapping[str, Any]:
    return {
        "default": KernelPowerKMeans(k, random_state=0),
        "landmarks": KernelPowerKMeans(k, approximation="landmarks", random_state=0),
        "rbf": KernelPowerKMeans(k, kernel="rbf", random_state=0),
        "spectral, 10": SpectralClustering(k, affinity="nearest_neighbors", random_state=0),
        "k-means": KMeans(k, n_init=10, random_state=0),
    }


def with_columns(X: np.ndarray, columns: list[list[float]], seed: int) -> np.ndarray:
    """Rows with columns of chance, all of variance 1."""
    rng = np.random.default_rng(seed)
    drawn = [rng.choice(len(chances), len(X), p=chances) for chances in columns]
    return StandardScaler().fit_transform(np.column_stack([X, *drawn]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--draws", type=int, default=3, help="draws of the columns")
    draws = parser.parse_args().draws
    warnings.simplefilter("ignore")
    print(f"{'set':<22}{'columns':<10}" + "".join(f"{name:>14}" for name in methods(2)))
    for name, load in SETS.items():
        if name == "seeds" and not is_present("seeds"):
            continue
        X, y = load()
        for columns, chances in COLUMNS.items():
            tables = [with_columns(X, chances, seed) for seed in range(draws if chances else 1)]
            scores = [
                np.mean([adjusted_rand_score(y, method.fit_predict(Z)) for Z in tables])
                for method in methods(len(np.unique(y))).values()
            ]
            cells = "".join(f"{score:>14.2f}" for score in scores)
            print(f"{name:<22}{columns:<10}{cells}", flush=True)


if __name__ == "__main__":
    main()
