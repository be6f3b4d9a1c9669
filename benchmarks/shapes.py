"""Clusters of any shape: heat kernels beside other methods, from 300 to a million rows.

Run ``python benchmarks/shapes.py [gallery sizes noise equal spirals discs line bananas]``; without
names all are run. The gallery is scikit-learn's (six sets of 500 rows, standardised). ARI, adjusted
for chance, and NMI, arithmetic, are means of five draws of each set, because one draw is luck. The
first draw of the gallery's is that of its example. Sets of more than 10 000 rows are drawn once.
Rows of noise are not scored. HDBSCAN gets 15 rows as its smallest cluster, the best of 5, 10, 15,
25 and a fiftieth of the rows over these sets. The bananas have at most ``--most`` rows. UMAP +
HDBSCAN is left out where umap-learn is not installed. A dash stands for a method that would take
minutes or all memory on so many rows. Seconds are those of the clock, for the first draw.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans, SpectralClustering
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

from graphs import with_umap
from heat_sets import discs, spirals, unequal
from kernelmeans import KernelPowerKMeans

#: Rows, classes (None if there are none) and number of clusters.
Labelled = tuple[np.ndarray, np.ndarray | None, int]
Method = Callable[[np.ndarray, int], np.ndarray]
#: Of the gallery, and widths of its varied clusters.
SEED, WIDTHS = 30, [1.0, 2.5, 0.5]
#: Rows of the bananas.
BANANAS = (1000, 2000, 10_000, 20_000, 100_000, 10**6)
#: Most rows of a set that is drawn more than once.
MANY = 10_000
#: Rows above which a method is left out.
MOST = {"spectral": 20_000, "hdbscan": 100_000, "umap + hdbscan": 20_000}


def varied(seed: int) -> Labelled:
    """Three clusters of different width, at the places of the gallery's."""
    *first, centers = make_blobs(500, random_state=170, cluster_std=WIDTHS, return_centers=True)
    if seed == 0:
        return first[0], first[1], 3
    return *make_blobs(500, centers=centers, random_state=seed, cluster_std=WIDTHS), 3


def aniso(seed: int) -> Labelled:
    """Three long clusters."""
    X, y = make_blobs(500, random_state=170 + seed)
    return X @ np.array([[0.6, -0.6], [-0.4, 0.8]]), y, 3


def four(large: int, small: int, seed: int) -> Labelled:
    """A large round cluster and three small ones, on the corners of a square."""
    corners = [[0, 0], [10, 0], [0, 10], [10, 10]]
    sizes = [large, small, small, small]
    return *make_blobs(sizes, centers=corners, cluster_std=1.5, random_state=seed), 4


def line(n: int, seed: int) -> Labelled:
    """Numbers in three normal groups, six standard deviations apart."""
    y = np.arange(n) % 3
    return (6.0 * y + np.random.default_rng(seed).standard_normal(n))[:, None], y, 3


def moons(seed: int) -> Labelled:
    """Two moons."""
    return *make_moons(1600, noise=0.06, random_state=seed), 2


def in_noise(draw: Callable[[int], Labelled], part: float, seed: int) -> Labelled:
    """Clusters, and rows without one, labelled -1, everywhere around them: a part of all rows."""
    X, y, k = draw(seed)
    assert y is not None
    n = round(len(X) * part / (1 - part))
    low, high = X.min(axis=0) - 0.3, X.max(axis=0) + 0.3
    rows = np.random.default_rng(seed).uniform(low, high, (n, 2))
    return np.concatenate([X, rows]), np.append(y, np.full(n, -1)), k


def customers(seed: int) -> Labelled:
    """Customers who bought, and a third who did not: their rows are equal."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 900).clip(max=1)
    return np.log1p(y[:, None] * np.exp(rng.normal(5, 1, (900, 3)))), y, 2


def bananas(n: int, seed: int) -> Labelled:
    """Two close bananas."""
    return *make_moons(n, noise=0.1, random_state=seed), 2


#: Sets by kind and name; a seed draws their rows.
SETS: Mapping[str, Mapping[str, Callable[[int], Labelled]]] = {
    # Those of scikit-learn's comparison of clustering methods, which draws the first of each.
    "gallery": {
        "circles": lambda seed: (
            *make_circles(500, factor=0.5, noise=0.05, random_state=SEED + seed),
            2,
        ),
        "moons": lambda seed: (*make_moons(500, noise=0.05, random_state=SEED + seed), 2),
        "varied": varied,
        "aniso": aniso,
        "blobs": lambda seed: (*make_blobs(500, random_state=SEED + seed), 3),
        "no structure": lambda seed: (np.random.RandomState(SEED + seed).rand(500, 2), None, 3),
    },
    # Four round clusters, and seven, apart and near to each other.
    "sizes": {
        "9100 and 3 x 300 rows": partial(four, 9100, 300),
        "2700 and 3 x 90 rows": partial(four, 2700, 90),
        "900 and 3 x 30 rows": partial(four, 900, 30),
        "900 and 3 x 90 rows": partial(four, 900, 90),
        "25 to 800 rows": lambda seed: (*unequal(1.0, seed), 7),
        "25 to 800 rows, near": lambda seed: (*unequal(1.6, seed), 7),
    },
    "noise": {
        "moons in noise": partial(in_noise, moons, 0.2),
        "2700 and 3 x 90 rows in noise": partial(in_noise, partial(four, 2700, 90), 0.1),
    },
    "equal": {"a third of zeros": customers},
    "spirals": {
        "spirals, noise 0.3": lambda seed: (*spirals(2000, 0.3, seed), 2),
        "spirals, noise 0.6": lambda seed: (*spirals(2000, 0.6, seed), 2),
    },
    "discs": {"touching discs": lambda seed: (*discs(4000, seed), 2)},
    "line": {f"{n} numbers": partial(line, n) for n in (300, 3000, 30_000)},
    "bananas": {f"bananas {n}": partial(bananas, n) for n in BANANAS},
}


METHODS: dict[str, Method] = {
    "k-means": lambda X, k: KMeans(k, n_init=10, random_state=0).fit_predict(X),
    "spectral": lambda X, k: SpectralClustering(
        k, affinity="nearest_neighbors", random_state=0
    ).fit_predict(X),
    "hdbscan": lambda X, k: HDBSCAN(min_cluster_size=15).fit_predict(X),
    "mixture": lambda X, k: GaussianMixture(k, random_state=0).fit_predict(X),
    "umap + hdbscan": with_umap,
    "heat": lambda X, k: KernelPowerKMeans(k, kernel="heat", random_state=0).fit_predict(X),
}


def measured(method: str, draws: Sequence[Labelled]) -> str:
    """Mean ARI and NMI of a method, and seconds of the first draw."""
    if len(draws[0][0]) > MOST.get(method, len(draws[0][0])):
        return f"{'-':>22}"
    found, seconds = [], []
    for X, y, k in draws:
        begin = time.perf_counter()
        try:
            labels = METHODS[method](X, k)
        except ImportError:
            return f"{'-':>22}"
        seconds.append(time.perf_counter() - begin)
        if y is None:
            return f"{f'{len(np.unique(labels))} found/{seconds[0]:.2f}':>22}"
        y, labels = y[y >= 0], labels[y >= 0]
        found.append([adjusted_rand_score(y, labels), normalized_mutual_info_score(y, labels)])
    ari, nmi = np.mean(found, axis=0)
    return f"{f'{ari:.3f}/{nmi:.3f}/{seconds[0]:.2f}':>22}"


def drawn(make: Callable[[int], Labelled], n_draws: int) -> list[Labelled]:
    """Draws of a set, standardised; one of a set of many rows."""
    draws: list[Labelled] = []
    while len(draws) < n_draws:
        X, y, k = make(len(draws))
        draws.append((StandardScaler().fit_transform(X), y, k))
        if len(X) > MANY:
            break
    return draws


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kinds", nargs="*", default=SETS, help=", ".join(SETS))
    parser.add_argument("--draws", type=int, default=5, help="draws of each set, by default 5")
    parser.add_argument("--most", type=int, default=10**6, help="most rows of the bananas")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'ARI/NMI/seconds':<22}" + "".join(f"{name:>22}" for name in METHODS))
    for kind in arguments.kinds:
        for title, make in SETS[kind].items():
            if kind == "bananas" and int(title.split()[1]) > arguments.most:
                continue
            draws = drawn(make, arguments.draws)
            cells = [measured(method, draws) for method in METHODS]
            print(f"{title:<22}" + "".join(cells), flush=True)


if __name__ == "__main__":
    main()
