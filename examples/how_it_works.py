"""The four pictures of "How it works": heat, annealing, a swap move, and the number of clusters.

Needs matplotlib. Writes heat.png, annealing.png, swap.png and clusters.png into the folder that is
named on the command line.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure
from PIL import Image
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import RBF
from sklearn.neighbors import kneighbors_graph

from kernelmeans import KernelPowerKMeans, PowerKMeans
from kernelmeans.heat import HeatKernel

COLORS = np.array([to_rgb(it) for it in ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9",
                                         "#D55E00", "#B8A800", "#7A4FBF")])  # fmt: skip
SIMILAR = LinearSegmentedColormap.from_list("similar", ["0.85", "#56B4E9", "#003C64"])
CENTER = {"marker": "X", "s": 70, "c": "black", "edgecolors": "white", "linewidths": 1}


def panels(count: int, shape: float = 0.9) -> tuple[Figure, list[Axes]]:
    """Panels side by side, without ticks; the shape is their height over their width."""
    figure = Figure(figsize=(8, 8 / count * shape + 0.45), dpi=150, layout="constrained")
    axes = list(np.atleast_1d(figure.subplots(1, count)))
    for ax in axes:
        ax.set(xticks=[], yticks=[], box_aspect=shape)
    return figure, axes


def heat() -> Figure:
    """What three kernels think of the rows, seen from one row."""
    X, _ = make_moons(300, noise=0.06, random_state=0)
    start = int(np.argmin(np.linalg.norm(X - [-0.95, 0.3], axis=1)))
    # At the time that is found for two clusters, each moon has one colour.
    kernel = HeatKernel(n_neighbors=8, t=200.0).fit(X, n_clusters=10)
    figure, axes = panels(3)
    similar = {
        "Gaussian kernel:\nnear is alike": RBF(0.7)(X, X[[start]])[:, 0],
        "the graph\nof neighbours": None,
        "heat kernel:\nconnected is alike": kernel.values(X, X[[start]])[:, 0],
    }
    for ax, (title, values) in zip(axes, similar.items(), strict=True):
        if values is None:
            rows, others = kneighbors_graph(X, 7).nonzero()
            ends = np.stack([X[rows], X[others]])
            ax.plot(*ends.transpose(2, 0, 1), c="0.6", linewidth=0.5, zorder=0)
        shades = np.zeros(len(X)) + 0.3 if values is None else values
        ax.scatter(*X.T, s=9, c=shades, cmap=SIMILAR, vmin=0, vmax=1)
        ax.scatter(*X[start], s=110, facecolors="none", edgecolors="#D55E00", linewidths=2)
        ax.set_title(title, fontsize=14)
    return figure


def annealing() -> Figure:
    """Frames of one run: a run that is cut off after some steps is the beginning of the whole."""
    angles = np.arange(6) * np.pi / 3
    centers = 3 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    X, blob = make_blobs(360, centers=centers, cluster_std=0.55, random_state=0)
    start = np.flatnonzero(blob == 0)[:6]
    whole = PowerKMeans(6, n_swaps=0, init=start, s0=-0.05, eta=1.06).fit(X)
    figure, axes = panels(4)
    plain = KMeans(6, init=X[start], n_init=1).fit(X)
    axes[0].scatter(*X.T, s=7, c=COLORS[plain.labels_])
    axes[0].scatter(*plain.cluster_centers_.T, **CENTER)
    axes[0].set_title("k-means is stuck", fontsize=14)
    for ax, n_steps in zip(axes[1:], (3, 12, whole.n_iter_), strict=True):
        model = PowerKMeans(**whole.get_params()).set_params(max_iter=n_steps)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X)
        ax.scatter(*X.T, s=7, c=np.clip(model.memberships_ @ COLORS[:6], 0, 1))
        ax.scatter(*model.cluster_centers_.T, **CENTER)
        ended = n_steps == whole.n_iter_
        power = model.power_history_[-1]
        ax.set_title(f"the end, step {n_steps}" if ended else f"power {power:.2f}", fontsize=14)
    return figure


def swap() -> Figure:
    """A local optimum of k-means, a move that leaves it, and the optimum below."""
    X, _ = make_blobs(300, centers=[[0, 0], [2.7, 0], [6, 0.4], [9, 0]], cluster_std=0.6,
                      random_state=0)  # fmt: skip
    stuck = KMeans(4, init=np.array([[1.3, 0], [6, 0.4], [8.7, -0.4], [9.3, 0.4]]), n_init=1).fit(X)
    moved = stuck.cluster_centers_.copy()
    moved[3] = X[np.argmax((X[:, 0] - X[:, 1] ** 2) * (stuck.labels_ == 0))]
    better = KMeans(4, init=moved, n_init=1).fit(X)
    titles = f"stuck, cost {stuck.inertia_:.0f}", "the move", f"after, cost {better.inertia_:.0f}"
    figure, axes = panels(3, shape=0.45)
    for ax, title, model in zip(axes, titles, (stuck, stuck, better), strict=True):
        ax.scatter(*X.T, s=7, c=COLORS[model.labels_])
        ax.scatter(*(moved if title == "the move" else model.cluster_centers_).T, **CENTER)
        ax.set_title(title, fontsize=14)
    arrow = {"arrowstyle": "->", "linewidth": 1.5, "connectionstyle": "arc3,rad=0.4"}
    axes[1].annotate("", moved[3], stuck.cluster_centers_[3], arrowprops=arrow)
    return figure


def clusters() -> Figure:
    """The same rows at three numbers of clusters."""
    moons, _ = make_moons(300, noise=0.05, random_state=0)
    blobs, _ = make_blobs(200, centers=[[3.1, 0.9], [4.1, 0.9], [3.6, 0]], cluster_std=0.17,
                          random_state=0)  # fmt: skip
    X = np.concatenate([moons, blobs])
    figure, axes = panels(3, shape=0.75)
    for ax, k in zip(axes, (2, 5, 8), strict=True):
        model = KernelPowerKMeans(k, n_neighbors=24, random_state=0).fit(X)
        ax.scatter(*X.T, s=7, c=COLORS[model.labels_])
        ax.set_title(f"k = {k}, t = {model.t_:.0f}", fontsize=14)
    return figure


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    for draw in (heat, annealing, swap, clusters):
        path = folder / f"{draw.__name__}.png"
        draw().savefig(path, bbox_inches="tight", pad_inches=0.05)
        # A third of the size.
        Image.open(path).convert("RGB").quantize(64).save(path, optimize=True)


if __name__ == "__main__":
    main()
