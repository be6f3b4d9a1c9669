"""Ten blobs on two rings: kernel k-means and kernel power k-means from the same starts.

The paper's motivating example (its Section 1). Needs matplotlib. Writes rings.png, or the file
named on the command line.
"""

import sys

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.metrics import adjusted_rand_score

from kernelmeans import KernelKMeans, KernelPowerKMeans
from kernelmeans.simulate import make_rings

COLORS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#B8A800", "#000000",
           "#999999", "#7A4FBF"]  # fmt: skip


def draw(ax: Axes, X: np.ndarray, labels: np.ndarray, title: str) -> None:
    for cluster in range(10):
        members = X[labels == cluster]
        ax.scatter(*members.T, s=9, c=COLORS[cluster], linewidths=0)
    ax.set_title(title, fontsize=14)
    ax.set(aspect="equal", xticks=[], yticks=[])


def main() -> None:
    X, y = make_rings(random_state=0)
    rng = np.random.default_rng(1)
    starts = np.stack([rng.permutation(len(X))[:10] for _ in range(20)])
    figure = Figure(figsize=(8, 4.6), dpi=150, layout="constrained")
    panels = figure.subplots(1, 2)
    models = (
        KernelKMeans(10, gamma=0.5, init=starts),
        KernelPowerKMeans(10, kernel="rbf", gamma=0.5, init=starts, n_swaps=0, random_state=0),
    )
    for ax, model in zip(panels, models, strict=True):
        result = model.fit(X).result_
        scores = [adjusted_rand_score(y, labels) for labels in result.labels]
        # The picture shows the restart whose score is the median one.
        typical = np.argsort(scores)[len(scores) // 2]
        name = type(model).__name__
        title = f"{name},\na typical one of 20 starts,\nmean ARI {np.mean(scores):.2f}"
        draw(ax, X, result.labels[typical], title)
        print(f"{name}: mean ARI over 20 matched starts {np.mean(scores):.3f}")
    path = sys.argv[1] if len(sys.argv) > 1 else "rings.png"
    figure.savefig(path, bbox_inches="tight", pad_inches=0.1)


if __name__ == "__main__":
    main()
