"""Makers of sets for the benchmark of searches, with clusters and without: those of both halves."""

from collections.abc import Callable

import numpy as np
from sklearn import datasets
from sklearn.preprocessing import StandardScaler

from heat_sets import SHIPPED, Labelled, Table
from kernelmeans_paper.datasets import fetch

LOADERS = SHIPPED | {"digits": datasets.load_digits}
#: Smallest fraction of the rows in a cluster of unequal sizes, and the ratio of successive sizes.
SMALLEST, RATIO = 0.03, 0.6
#: Columns from which random centres are far enough from each other without a choice.
ROOMY = 10


def real(name: str, classes: object = None, n_rows: int | None = None) -> Labelled:
    """Standardised rows of some classes, or a random part of them."""
    X, y = LOADERS[name](return_X_y=True) if name in LOADERS else fetch(name, return_X_y=True)
    X, y = np.asarray(X, float), np.unique(y, return_inverse=True)[1]
    if classes is not None:
        among = np.isin(y, classes)
        X, y = X[among], y[among]
    if n_rows is not None and n_rows < len(y):
        chosen = np.random.default_rng(0).choice(len(y), n_rows, replace=False)
        X, y = X[chosen], y[chosen]
    return StandardScaler().fit_transform(X[:, X.std(axis=0) > 0]), y


def every_second(make: Callable[[], Labelled]) -> Labelled:
    X, y = make()
    return X[::2], y[::2]


def mixture(
    k: int,
    d: int,
    n: int,
    distance: float,
    seed: int,
    equal: bool = True,
    same_width: bool = True,
) -> Labelled:
    """Gaussian clusters whose centres are about so many standard deviations apart, or farther."""
    rng = np.random.default_rng(seed)
    centres = spread_out(k, d, distance, rng)
    shares = np.ones(k) if equal else RATIO ** np.arange(k)
    shares = np.maximum(shares / shares.sum(), SMALLEST)
    y = rng.choice(k, n, p=shares / shares.sum())
    widths = np.ones(k) if same_width else rng.uniform(0.5, 1.2, k)
    return centres[y] + widths[y, None] * rng.standard_normal((n, d)), y


def spread_out(k: int, d: int, distance: float, rng: np.random.Generator) -> Table:
    """Random centres; in few columns, from a box that grows until they are far enough apart."""
    if d >= ROOMY:
        return rng.standard_normal((k, d)) * distance / np.sqrt(2 * d)
    side = distance * max(1.2, k ** (1 / d))
    centres = np.empty((0, d))
    while len(centres) < k:
        centre = rng.uniform(0, side, d)
        if (np.linalg.norm(centres - centre, axis=1) >= distance).all():
            centres = np.vstack([centres, centre])
        elif rng.random() < 0.01:
            side *= 1.02
    return centres


def rings(n: int, seed: int) -> Labelled:
    """Three rings, one inside the other."""
    rng, y = np.random.default_rng(seed), np.arange(n) % 3
    angle = rng.random(n) * 2 * np.pi
    radius = 1 + 1.2 * y + 0.1 * rng.standard_normal(n)
    return np.c_[radius * np.cos(angle), radius * np.sin(angle)], y


def bananas(k: int, n: int, seed: int) -> Labelled:
    """Bent clusters, one above the other."""
    rng, y = np.random.default_rng(seed), np.arange(n) % k
    angle = rng.uniform(0.15 * np.pi, 0.85 * np.pi, n)
    X = np.c_[3 * np.cos(angle), 3 * np.sin(angle) + 2 * y]
    return X + 0.2 * rng.standard_normal((n, 2)), y


def without_clusters(draw: Callable[[np.random.Generator], Table], seed: int) -> Labelled:
    """Rows without clusters: 1 is right."""
    X = draw(np.random.default_rng(seed))
    return X, np.zeros(len(X), int)


def cube(n: int, d: int, seed: int) -> Labelled:
    return without_clusters(lambda rng: rng.random((n, d)), seed)


def box(n: int, sides: tuple[float, ...], seed: int) -> Labelled:
    return without_clusters(lambda rng: rng.random((n, len(sides))) * sides, seed)


def normal(n: int, d: int, seed: int) -> Labelled:
    return without_clusters(lambda rng: rng.standard_normal((n, d)), seed)


def correlated(n: int, d: int, seed: int) -> Labelled:
    def draw(rng: np.random.Generator) -> Table:
        mixed = rng.standard_normal((d, d))
        return rng.standard_normal((n, d)) @ mixed

    return without_clusters(draw, seed)


def ball(n: int, d: int, seed: int) -> Labelled:
    def draw(rng: np.random.Generator) -> Table:
        directions = rng.standard_normal((n, d))
        directions /= np.linalg.norm(directions, axis=1)[:, None]
        return directions * rng.random((n, 1)) ** (1 / d)

    return without_clusters(draw, seed)


def heavy(n: int, d: int, seed: int) -> Labelled:
    """Student's t with four degrees of freedom in each column."""
    return without_clusters(lambda rng: rng.standard_t(4, (n, d)), seed)


def lognormal(n: int, d: int, seed: int) -> Labelled:
    return without_clusters(lambda rng: np.exp(0.5 * rng.standard_normal((n, d))), seed)


def exponential(n: int, d: int, seed: int) -> Labelled:
    return without_clusters(lambda rng: rng.exponential(size=(n, d)), seed)


def arms(n: int, count: int, noise: float, seed: int) -> Labelled:
    """One or two arms of a spiral."""
    rng = np.random.default_rng(seed)
    angle = np.sqrt(rng.uniform(0.05, 1, n)) * 3 * np.pi
    arm = np.c_[np.cos(angle), np.sin(angle)] * angle[:, None]
    X = np.concatenate([arm, -arm][:count])
    return X + noise * rng.standard_normal(X.shape), np.repeat(np.arange(count), n)


def one_moon(n: int, noise: float, seed: int) -> Labelled:
    """The upper one of two moons, alone."""
    X, y = datasets.make_moons(2 * n, noise=noise, random_state=seed)
    return X[y == 0], y[y == 0]
