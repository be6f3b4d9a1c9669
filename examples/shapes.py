"""Clusters that are not round: k-means, spectral clustering and kernel power k-means.

Two moons, two circles and two spirals, clustered by three methods. All parameters but the number of
clusters have their defaults, and spectral clustering uses its graph of nearest neighbours. Needs
matplotlib. Writes shapes.png, or the file named on the command line.
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from sklearn.base import ClusterMixin
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

from kernelmeans import KernelPowerKMeans

COLORS = np.array(["#0072B2", "#E69F00"])


def spirals(n: int = 500) -> tuple[np.ndarray, np.ndarray]:
    """Two arms around one center, with noise."""
    rng = np.random.default_rng(0)
    angle = np.sqrt(rng.uniform(0.05, 1, n)) * 3 * np.pi
    arm = np.c_[np.cos(angle), np.sin(angle)] * angle[:, None]
    X = np.concatenate([arm, -arm]) + 0.3 * rng.standard_normal((2 * n, 2))
    return X, np.repeat([0, 1], n)


def methods() -> dict[str, ClusterMixin]:
    return {
        "k-means": KMeans(2, random_state=0),
        "spectral clustering": SpectralClustering(2, affinity="nearest_neighbors", random_state=0),
        "KernelPowerKMeans": KernelPowerKMeans(2, random_state=0),
    }


def main() -> None:
    sets = (
        make_moons(600, noise=0.08, random_state=0),
        make_circles(600, factor=0.5, noise=0.06, random_state=0),
        spirals(),
    )
    figure = Figure(figsize=(8, 7.2), dpi=150, layout="constrained")
    figure.get_layout_engine().set(h_pad=0.08)
    panels = figure.subplots(len(sets), len(methods()))
    for row, (X, y) in zip(panels, sets, strict=True):
        for ax, (name, model) in zip(row, methods().items(), strict=True):
            labels = model.fit_predict(X)
            agreement = adjusted_rand_score(y, labels)
            ax.scatter(*X.T, s=6, c=COLORS[labels], linewidths=0)
            ax.set(xticks=[], yticks=[], box_aspect=0.8)
            ax.set_title(name if ax in panels[0] else "", fontsize=11)
            ax.set_xlabel(f"ARI {abs(agreement):.2f}", fontsize=9)
            print(f"{name}: ARI {agreement:.3f}")
    figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "shapes.png")


if __name__ == "__main__":
    main()
