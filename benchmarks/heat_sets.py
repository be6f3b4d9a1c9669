"""Labelled sets for the benchmarks of heat kernels: real ones, and made ones of many shapes."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.preprocessing import StandardScaler

from kernelmeans_paper.datasets import is_present
from kernelmeans_paper.problems import standardised

Table = NDArray[np.float64]
Labelled = tuple[Table, NDArray[np.integer]]

#: Sets of kernelmeans_paper.datasets, and of scikit-learn.
FETCHED = ("yale", "jaffe", "orl", "coil20", "isolet", "seeds", "lung_discrete", "tox_171",
           "glioma", "digits")  # fmt: skip
SHIPPED = {
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
    "breast_cancer": datasets.load_breast_cancer,
}


def discs(n: int, seed: int = 0) -> Labelled:
    """Two discs that touch in one point."""
    rng, y = np.random.default_rng(seed), np.arange(n) % 2
    angle, radius = 2 * np.pi * rng.random(n), np.sqrt(rng.random(n))
    return np.c_[radius * np.cos(angle) + 2 * y, radius * np.sin(angle)], y


def spirals(n: int, noise: float, seed: int = 0) -> Labelled:
    """Two spirals, one inside the other."""
    rng, y = np.random.default_rng(seed), np.arange(n) % 2
    radius = 3 * np.pi * np.sqrt(rng.random(n)) + 0.5
    angle = radius + np.pi * y
    X = np.c_[radius * np.cos(angle), radius * np.sin(angle)]
    return X + noise * rng.standard_normal(X.shape), y


def aniso() -> Labelled:
    """Three long clusters."""
    X, y = datasets.make_blobs(1500, random_state=170)
    return X @ np.array([[0.6, -0.6], [-0.4, 0.8]]), y


def unequal(spread: float, seed: int = 0) -> Labelled:
    """Seven round clusters of 25 to 800 rows."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(7), [800, 400, 200, 100, 50, 25, 25])
    return 4 * rng.standard_normal((7, 5))[y] + spread * rng.standard_normal((len(y), 5)), y


def dense_and_sparse() -> Labelled:
    """Four round clusters of sizes and widths that differ tenfold."""
    y = np.repeat(np.arange(4), [1000, 300, 100, 100])
    rng = np.random.default_rng(0)
    centres = np.array([[0, 0], [6, 0], [0, 6], [6, 6]])
    return centres[y] + np.array([0.3, 1.0, 1.0, 0.1])[y, None] * rng.standard_normal((1500, 2)), y


def debris(n_clumps: int, distance: float) -> Labelled:
    """Four clusters, and clumps of twelve rows that belong to the nearest one: a torn graph."""
    X, y = datasets.make_blobs(1000, centers=np.array([[0, 0], [5, 0], [0, 5], [5, 5]]),
                               cluster_std=1.2, random_state=0)  # fmt: skip
    rng = np.random.default_rng(0)
    places = X[rng.choice(1000, n_clumps, replace=False)]
    places = places + distance * rng.standard_normal(places.shape)
    clumps = np.repeat(places, 12, axis=0) + 0.01 * rng.standard_normal((12 * n_clumps, 2))
    nearest = ((clumps[:, None] - X) ** 2).sum(axis=2).argmin(axis=1)
    return np.vstack([X, clumps]), np.r_[y, y[nearest]]


def heavy_tails() -> Labelled:
    """Five clusters with rows far out."""
    rng, y = np.random.default_rng(0), np.arange(1500) % 5
    return 2.5 * rng.standard_normal((5, 10))[y] + rng.standard_t(2.5, size=(1500, 10)), y


MADE: Mapping[str, Callable[[], Labelled]] = {
    "moons": lambda: datasets.make_moons(1000, noise=0.05, random_state=0),
    "bananas": lambda: datasets.make_moons(3000, noise=0.1, random_state=0),
    "circles": lambda: datasets.make_circles(1000, factor=0.5, noise=0.05, random_state=0),
    "blobs10": lambda: datasets.make_blobs(1000, 8, centers=10, cluster_std=3.0, random_state=1),
    "blobs30": lambda: datasets.make_blobs(600, 5, centers=30, cluster_std=1.2, random_state=1),
    "varied": lambda: datasets.make_blobs(1500, cluster_std=[1, 2.5, 0.5], random_state=170),
    "aniso": aniso,
    "discs": lambda: discs(1000),
    "spirals": lambda: spirals(1000, 0.25),
    "wide spirals": lambda: spirals(3000, 0.4),
    "unequal": lambda: unequal(1.0),
    "unequal, near": lambda: unequal(1.6),
    "dense and sparse": dense_and_sparse,
    "debris": lambda: debris(8, 6.0),
    "more debris": lambda: debris(20, 4.0),
    "heavy tails": heavy_tails,
}
NAMES = (*FETCHED, *SHIPPED, *MADE)


def load(name: str) -> Labelled:
    """Rows with standardised columns, and classes."""
    if name in FETCHED:
        problem = standardised(name)
        return problem.X, problem.y
    X, y = SHIPPED[name](return_X_y=True) if name in SHIPPED else MADE[name]()
    return StandardScaler().fit_transform(X), y


def present(names: list[str]) -> list[str]:
    """The sets that are present; prints the missing ones."""
    absent = [name for name in names if name in FETCHED and not is_present(name)]
    if absent:
        print(f"Left out, not fetched yet by kernelmeans_paper.datasets: {', '.join(absent)}")
    return [name for name in names if name not in absent]
