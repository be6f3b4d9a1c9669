"""Heat kernels on real sets: how well clusters match classes, beside other methods.

Run ``python benchmarks/graphs.py [names]``; ``usps pendigits mnist letters`` are sets of 10 000 to
20 000 rows, downloaded where they are absent, of MNIST the test images. Sets that
kernelmeans_paper.datasets has not fetched are left out, and so is UMAP + HDBSCAN where umap-learn
is not installed. Every method fits the same rows: as they are for images and digits, standardised
for the others. HDBSCAN's noise counts as one cluster.

NMI is arithmetic, seconds are those of the clock. ``--splits`` adds a figure for the prediction of
new rows: the mean ARI over that many splits between `predict` on a held-out fifth of the rows and
the labels of these rows in a fit of all rows.
"""

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans, SpectralClustering
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import ShuffleSplit
from sklearn.preprocessing import StandardScaler

from kernelmeans import KernelPowerKMeans
from kernelmeans_paper.datasets import fetch, is_present
from large_sets import LARGE, load_large

NAMES = (
    "digits", "coil20", "orl", "yale", "jaffe", "isolet", "seeds", "glioma", "tox_171",
    "lung_discrete",
)  # fmt: skip
#: Sets whose columns have different units.
SCALED = ("seeds", "isolet", "glioma", "tox_171", "lung_discrete")
#: Most principal components for Gaussian mixtures.
COMPONENTS = 20
Method = Callable[[np.ndarray, int], np.ndarray]


def ours(**parameters: object) -> Method:
    return lambda X, k: KernelPowerKMeans(k, **{"random_state": 0, **parameters}).fit_predict(X)


def mixture(X: np.ndarray, k: int) -> np.ndarray:
    few = min(COMPONENTS, *X.shape)
    Z = PCA(few, random_state=0).fit_transform(X)
    return GaussianMixture(k, covariance_type="diag", random_state=0).fit_predict(Z)


def with_umap(X: np.ndarray, k: int) -> np.ndarray:
    """HDBSCAN of UMAP's two coordinates, as in UMAP's documentation."""
    import umap

    near = min(30, len(X) - 1)
    made = umap.UMAP(n_neighbors=near, min_dist=0.0, random_state=0).fit_transform(X)
    # A tenth of the mean class: UMAP's documentation takes about such a fraction on MNIST.
    return HDBSCAN(min_cluster_size=max(5, len(X) // (10 * k))).fit_predict(made)


METHODS: dict[str, Method] = {
    "k-means": lambda X, k: KMeans(k, n_init=10, random_state=0).fit_predict(X),
    "spectral": lambda X, k: SpectralClustering(
        k, affinity="nearest_neighbors", random_state=0
    ).fit_predict(X),
    "hdbscan": lambda X, k: HDBSCAN(min_cluster_size=5).fit_predict(X),
    "mixture": mixture,
    "umap + hdbscan": with_umap,
    "rbf": ours(kernel="rbf"),
    "heat, n_swaps=0": ours(kernel="heat", n_swaps=0),
    "heat": ours(kernel="heat"),
}


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name in LARGE:
        return load_large(name)
    X, y = load_digits(return_X_y=True) if name == "digits" else fetch(name, return_X_y=True)
    X = np.asarray(X, float)
    return (StandardScaler().fit_transform(X) if name in SCALED else X), y


def purity(y: np.ndarray, labels: np.ndarray) -> float:
    return float(contingency_matrix(y, labels).max(axis=0).sum() / len(y))


def predicted(X: np.ndarray, k: int, splits: int) -> float:
    """Mean agreement of predicted rows with a fit of all."""
    whole = KernelPowerKMeans(k, kernel="heat", random_state=0).fit_predict(X)
    found = []
    for seen, unseen in ShuffleSplit(splits, test_size=0.2, random_state=0).split(X):
        model = KernelPowerKMeans(k, kernel="heat", random_state=0).fit(X[seen])
        found.append(adjusted_rand_score(whole[unseen], model.predict(X[unseen])))
    return float(np.mean(found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--splits", type=int, default=0, help="splits on which predict is tried")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'NMI/ARI/purity/s':<16}" + "".join(f"{name:>22}" for name in METHODS))
    scores: dict[str, list[float]] = {method: [] for method in METHODS}
    for name in arguments.names:
        if name not in ("digits", *LARGE) and not is_present(name):
            print(f"{name}: left out, for kernelmeans_paper.datasets.fetch has yet to get it")
            continue
        X, y = load(name)
        k, cells = len(np.unique(y)), []
        for method, fit in METHODS.items():
            begin = time.perf_counter()
            try:
                labels = fit(X, k)
            except ImportError:
                cells.append(f"{'-':>22}")
                continue
            seconds = time.perf_counter() - begin
            nmi, ari = normalized_mutual_info_score(y, labels), adjusted_rand_score(y, labels)
            scores[method].append(nmi)
            cells.append(f"   {nmi:.3f}/{ari:.2f}/{purity(y, labels):.2f}/{seconds:.2f}")
        line = f"{name:<16}" + "".join(f"{cell:>22}" for cell in cells)
        if arguments.splits:
            line += f"   predict {predicted(X, k, arguments.splits):.3f}"
        print(line, flush=True)
    means = (f"{np.mean(values):>22.3f}" if values else f"{'-':>22}" for values in scores.values())
    print(f"{'mean NMI':<16}" + "".join(means))


if __name__ == "__main__":
    main()
