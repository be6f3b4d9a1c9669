"""Two moons that nearly touch: the default kernel, its other settings, and rivals.

Run ``python benchmarks/noisy_moons.py``. Every figure is the mean ARI over ten draws.
"""

import argparse
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from kernelmeans import KernelPowerKMeans, MultiKernelPowerKMeans

N_ROWS = (300, 1000, 3000)
NOISES = (0.05, 0.1, 0.15, 0.2)
METHODS: Mapping[str, Any] = {
    "default": KernelPowerKMeans(2, random_state=0),
    "landmarks": KernelPowerKMeans(2, approximation="landmarks", random_state=0),
    "20 neighbours": KernelPowerKMeans(2, n_neighbors=20, random_state=0),
    "40 neighbours": KernelPowerKMeans(2, n_neighbors=40, random_state=0),
    "family": MultiKernelPowerKMeans(2, kernels="neighbors", random_state=0),
    "rbf": KernelPowerKMeans(2, kernel="rbf", random_state=0),
    "spectral, 10": SpectralClustering(2, affinity="nearest_neighbors", random_state=0),
    "k-means": KMeans(2, n_init=10, random_state=0),
}


def mean_ari(method: Any, n_rows: int, noise: float, draws: int) -> float:
    """Mean ARI over draws of the moons."""
    found = []
    for seed in range(draws):
        X, y = make_moons(n_rows, noise=noise, random_state=seed)
        found.append(adjusted_rand_score(y, method.fit_predict(X)))
    return float(np.mean(found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--draws", type=int, default=10, help="draws of each set")
    draws = parser.parse_args().draws
    warnings.simplefilter("ignore")
    print(f"{'rows':>6}{'noise':>7}" + "".join(f"{name:>15}" for name in METHODS))
    for n_rows in N_ROWS:
        for noise in NOISES:
            scores = [mean_ari(one, n_rows, noise, draws) for one in METHODS.values()]
            cells = "".join(f"{score:>15.2f}" for score in scores)
            print(f"{n_rows:>6}{noise:>7}{cells}", flush=True)


if __name__ == "__main__":
    main()
