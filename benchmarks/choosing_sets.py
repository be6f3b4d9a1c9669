"""Sets for the benchmark of searches: two halves, each with labelled sets and with no clusters."""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from sklearn import datasets
from sklearn.preprocessing import StandardScaler

from heat_sets import FETCHED, SHIPPED, Labelled, Table, aniso, dense_and_sparse, spirals, unequal
from kernelmeans_paper.datasets import fetch, is_present

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


#: The rule was chosen on these sets. New kinds of sets without clusters came later.
DEVELOPMENT: Mapping[str, Callable[[], Labelled]] = {
    "iris": partial(real, "iris"),
    "digits": partial(real, "digits", n_rows=1000),
    "seeds": partial(real, "seeds"),
    "jaffe": partial(real, "jaffe"),
    "glioma": partial(real, "glioma"),
    "coil20, 5 classes": partial(real, "coil20", (0, 3, 6, 9, 12)),
    "isolet, 8 classes": partial(real, "isolet", range(8)),
    "moons": lambda: datasets.make_moons(500, noise=0.07, random_state=0),
    "circles": lambda: datasets.make_circles(500, factor=0.5, noise=0.05, random_state=0),
    "aniso": partial(every_second, aniso),
    "spirals": partial(spirals, 800, 0.1),
    "mixture 3 in 2": partial(mixture, 3, 2, 400, 4, 1),
    "mixture 8 in 2": partial(mixture, 8, 2, 800, 4.5, 2),
    "mixture 5 in 2, unequal": partial(mixture, 5, 2, 600, 5, 3, equal=False),
    "mixture 4 in 5": partial(mixture, 4, 5, 500, 4, 4),
    "mixture 7 in 5, unequal": partial(mixture, 7, 5, 900, 5, 5, equal=False, same_width=False),
    "mixture 6 in 10": partial(mixture, 6, 10, 600, 5, 6),
    "mixture 3 in 20, unequal": partial(mixture, 3, 20, 400, 6, 7, equal=False),
    "mixture 10 in 50": partial(mixture, 10, 50, 1000, 8, 8),
    "mixture 2 in 50": partial(mixture, 2, 50, 300, 7, 9),
    "square": partial(cube, 500, 2, 1),
    "cube in 5": partial(cube, 500, 5, 2),
    "normal in 2": partial(normal, 400, 2, 3),
    "normal in 10": partial(normal, 500, 10, 4),
    "correlated in 5": partial(correlated, 500, 5, 5),
    "normal in 50": partial(normal, 300, 50, 6),
    "ball in 3": partial(ball, 600, 3, 7),
    "t in 3": partial(heavy, 500, 3, 8),
    "box 1 : 4": partial(box, 500, (1, 4), 10),
    "box 1 : 1 : 2 : 4": partial(box, 500, (1, 1, 2, 4), 30),
    "log-normal in 2": partial(lognormal, 500, 2, 31),
    "exponential in 4": partial(exponential, 500, 4, 32),
    "cube in 10": partial(cube, 500, 10, 33),
    "correlated in 20": partial(correlated, 500, 20, 34),
}
#: No rule was tried on these before all rules were settled.
HELD_OUT: Mapping[str, Callable[[], Labelled]] = {
    "wine": partial(real, "wine"),
    "breast_cancer": partial(real, "breast_cancer"),
    "yale, 8 classes": partial(real, "yale", range(8)),
    "lung_discrete": partial(real, "lung_discrete"),
    "tox_171": partial(real, "tox_171"),
    "coil20, 10 classes": partial(real, "coil20", range(10, 20)),
    "orl, 12 classes": partial(real, "orl", range(12)),
    "isolet, 6 classes": partial(real, "isolet", range(14, 26, 2)),
    "digits, 5 classes": partial(real, "digits", (0, 2, 4, 6, 7), 800),
    "bananas": partial(bananas, 3, 600, 0),
    "rings": partial(rings, 900, 0),
    "dense and sparse": partial(every_second, dense_and_sparse),
    "unequal": partial(every_second, partial(unequal, 0.6)),
    "moons, near": lambda: datasets.make_moons(600, noise=0.13, random_state=3),
    "mixture 4 in 2": partial(mixture, 4, 2, 500, 4, 11),
    "mixture 10 in 2": partial(mixture, 10, 2, 1000, 4.5, 12),
    "mixture 6 in 3, unequal": partial(mixture, 6, 3, 700, 5, 13, equal=False),
    "mixture 3 in 5": partial(mixture, 3, 5, 300, 4, 14),
    "mixture 9 in 8": partial(mixture, 9, 8, 900, 5, 15, same_width=False),
    "mixture 5 in 15, unequal": partial(mixture, 5, 15, 500, 6, 16, equal=False),
    "mixture 7 in 30": partial(mixture, 7, 30, 700, 7, 17),
    "mixture 4 in 50, unequal": partial(mixture, 4, 50, 500, 8, 18, equal=False),
    "mixture 2 in 2": partial(mixture, 2, 2, 300, 4, 19),
    "square, 400 rows": partial(cube, 400, 2, 21),
    "cube in 3": partial(cube, 600, 3, 22),
    "normal in 3": partial(normal, 500, 3, 23),
    "normal in 20": partial(normal, 400, 20, 24),
    "correlated in 10": partial(correlated, 500, 10, 25),
    "cube in 20": partial(cube, 500, 20, 26),
    "disc": partial(ball, 500, 2, 27),
    "t in 6": partial(heavy, 500, 6, 28),
    "log-normal in 4": partial(lognormal, 500, 4, 29),
    "box 1 : 6": partial(box, 500, (1, 6), 40),
    "box 1 : 2 : 5": partial(box, 500, (1, 2, 5), 41),
    "exponential in 2": partial(exponential, 500, 2, 42),
    "ball in 10": partial(ball, 500, 10, 43),
    "correlated in 30": partial(correlated, 500, 30, 44),
}
HALVES = {"development": DEVELOPMENT, "held-out": HELD_OUT}


def load(name: str) -> Labelled:
    """Rows, and classes; one class of sets without clusters."""
    return (DEVELOPMENT | HELD_OUT)[name]()


def present(names: list[str]) -> list[str]:
    """The sets whose rows are present; prints the missing ones."""
    absent = [name for name in names if not is_here(name.split(",")[0])]
    if absent:
        print(f"Left out, not fetched yet by kernelmeans_paper.datasets: {'; '.join(absent)}")
    return [name for name in names if name not in absent]


def is_here(name: str) -> bool:
    return name not in FETCHED or is_present(name)
