"""Clusters of any shape: heat kernels beside other methods, from 500 to a million rows.

Run ``python benchmarks/shapes.py [gallery sizes noise equal spirals discs bananas]``; without names
all are run. The gallery is scikit-learn's (six sets of 500 rows, standardised, as its example draws
them). Rows of noise are not scored. The bananas have at most ``--most`` rows. UMAP + HDBSCAN is
left out where umap-learn is not installed. A dash stands for a method that would take minutes or
all memory on so many rows. Seconds are those of the clock; ARI is adjusted for chance, NMI is
arithmetic.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans, SpectralClustering
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

from graphs import with_umap
from heat_sets import discs, spirals, unequal
from kernelmeans import KernelPowerKMeans

#: Name, rows, classes (None if there are none) and number of clusters.
Set = tuple[str, np.ndarray, np.ndarray | None, int]
Method = Callable[[np.ndarray, int], np.ndarray]
SEED = 30
#: Rows above which a method is left out.
MOST = {"spectral": 20_000, "hdbscan": 100_000, "umap + hdbscan": 20_000}


def gallery() -> Iterator[Set]:
    """The six sets of scikit-learn's comparison of clustering methods."""
    n = 500
    yield "circles", *make_circles(n, factor=0.5, noise=0.05, random_state=SEED), 2
    yield "moons", *make_moons(n, noise=0.05, random_state=SEED), 2
    X, y = make_blobs(n, random_state=170, cluster_std=[1.0, 2.5, 0.5])
    yield "varied", X, y, 3
    X, y = make_blobs(n, random_state=170)
    yield "aniso", X @ np.array([[0.6, -0.6], [-0.4, 0.8]]), y, 3
    yield "blobs", *make_blobs(n, random_state=SEED), 3
    yield "no structure", np.random.RandomState(SEED).rand(n, 2), None, 3


def sizes() -> Iterator[Set]:
    """Seven round clusters, apart and near to each other."""
    yield "25 to 800 rows", *unequal(1.0), 7
    yield "25 to 800 rows, near", *unequal(1.6), 7


def noise() -> Iterator[Set]:
    """Two moons, and a fifth of the rows without a cluster, labelled -1, everywhere around them."""
    X, y = make_moons(1600, noise=0.06, random_state=0)
    low, high = X.min(axis=0) - 0.3, X.max(axis=0) + 0.3
    rows = np.random.default_rng(0).uniform(low, high, (400, 2))
    yield "moons in noise", np.concatenate([X, rows]), np.append(y, np.full(400, -1)), 2


def equal() -> Iterator[Set]:
    """Customers who bought, and a third who did not: their rows are equal."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 900).clip(max=1)
    yield "a third of zeros", np.log1p(y[:, None] * np.exp(rng.normal(5, 1, (900, 3)))), y, 2


def two_spirals() -> Iterator[Set]:
    """Two spirals, of narrow and of wide noise."""
    for noise in (0.3, 0.6):
        yield f"spirals, noise {noise}", *spirals(2000, noise), 2


def touching_discs() -> Iterator[Set]:
    """Two flat discs that touch."""
    yield "touching discs", *discs(4000), 2


def bananas(most: int) -> Iterator[Set]:
    """Two close bananas, from a thousand to a million rows."""
    for n in (10**3, 10**4, 10**5, 10**6):
        if n <= most:
            yield f"bananas {n}", *make_moons(n, noise=0.1, random_state=0), 2


METHODS: dict[str, Method] = {
    "k-means": lambda X, k: KMeans(k, n_init=10, random_state=0).fit_predict(X),
    "spectral": lambda X, k: SpectralClustering(
        k, affinity="nearest_neighbors", random_state=0
    ).fit_predict(X),
    "hdbscan": lambda X, k: HDBSCAN(min_cluster_size=max(5, len(X) // 50)).fit_predict(X),
    "mixture": lambda X, k: GaussianMixture(k, random_state=0).fit_predict(X),
    "umap + hdbscan": with_umap,
    "heat": lambda X, k: KernelPowerKMeans(k, kernel="heat", random_state=0).fit_predict(X),
}


def measured(method: str, X: np.ndarray, y: np.ndarray | None, k: int) -> str:
    """ARI, NMI and seconds of a method on a set."""
    if len(X) > MOST.get(method, len(X)):
        return f"{'-':>22}"
    begin = time.perf_counter()
    try:
        labels = METHODS[method](X, k)
    except ImportError:
        return f"{'-':>22}"
    seconds = time.perf_counter() - begin
    if y is None:
        return f"{f'{len(np.unique(labels))} found/{seconds:.2f}':>22}"
    y, labels = y[y >= 0], labels[y >= 0]
    ari, nmi = adjusted_rand_score(y, labels), normalized_mutual_info_score(y, labels)
    return f"{f'{ari:.3f}/{nmi:.3f}/{seconds:.2f}':>22}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--most", type=int, default=10**6, help="most rows of the bananas")
    arguments = parser.parse_args()
    made = {
        "gallery": gallery,
        "sizes": sizes,
        "noise": noise,
        "equal": equal,
        "spirals": two_spirals,
        "discs": touching_discs,
        "bananas": lambda: bananas(arguments.most),
    }
    warnings.simplefilter("ignore")
    print(f"{'ARI/NMI/seconds':<22}" + "".join(f"{name:>22}" for name in METHODS))
    for name in arguments.names or made:
        for title, X, y, k in made[name]():
            X = StandardScaler().fit_transform(X)
            cells = [measured(method, X, y, k) for method in METHODS]
            print(f"{title:<22}" + "".join(cells), flush=True)


if __name__ == "__main__":
    main()
