"""The clusters in kernel PCA coordinates."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke

from kernelmeans._text import counted
from kernelmeans.plotting.points import map_points

# Okabe and Ito's colours, which the colour-blind can tell apart. Black is not used, and yellow is
# dark enough for small marks. The marker changes with each round of the colours.
_COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#B8A800")
_MARKERS = ("o", "^", "s", "D", "v", "P", "X")

# Smallest distance between two cluster numbers, as a fraction of the axes.
_ROOM = 0.05


def draw_clusters(
    ax: Axes, estimator: Any, X: Any, *, max_points: int = 2000, random_state: int = 0
) -> None:
    """Scatter the rows of `X` in kernel PCA coordinates, each cluster with its number.

    With the heat kernel, rows of two columns are drawn as they are, because the kernel PCA of a
    graph in two pieces has only two points.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    estimator : KernelPowerKMeans, KernelKMeans or MultiKernelPowerKMeans
        A fitted estimator.
    X : array or sparse matrix
        The data it was fitted to; the kernel matrix, or the stack of them, if precomputed.
    max_points : int
        Most rows that are drawn: a random subsample, if there are more.
    random_state : int
        Seed of the subsample.
    """
    found = map_points(estimator, X, max_points=max_points, random_state=random_state)
    rows, points, labels = found.rows, found.points, found.labels
    clusters = np.unique(labels)
    size = float(np.clip(12000 / len(rows), 8, 36))
    for cluster in clusters:
        x, y = points[labels == cluster].T
        ax.scatter(
            x,
            y,
            s=size,
            c=_COLORS[cluster % len(_COLORS)],
            marker=_MARKERS[cluster // len(_COLORS) % len(_MARKERS)],
            linewidths=0,
            alpha=0.65,
            snap=False,  # rounded to whole pixels, small plus signs would vanish
        )
    middles = [_middle(points[labels == cluster]) for cluster in clusters]
    _write_numbers(ax, clusters, np.array(middles))
    subsample = f", {len(rows)} of {found.n_rows} rows" if len(rows) < found.n_rows else ""
    ax.set_title(counted(len(clusters), "cluster") + subsample)
    ax.set(xlabel=found.axis_names[0], ylabel=found.axis_names[1])
    ax.tick_params(labelsize=8)


def _middle(points: Any) -> Any:
    """The point nearest to the median, so that the number of a ring lies on the ring."""
    return points[np.argmin(np.square(points - np.median(points, axis=0)).sum(axis=1))]


def _write_numbers(ax: Axes, clusters: Any, middles: Any) -> None:
    """Write each cluster's number at its middle, or with a line beside it if others are near."""
    low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
    places = low + _spread((middles - low) / (high - low)) * (high - low)
    halo = [withStroke(linewidth=2.5, foreground="white")]
    for cluster, middle, place in zip(clusters, middles, places, strict=True):
        ax.plot([middle[0], place[0]], [middle[1], place[1]], color="0.25", linewidth=0.7, zorder=3)
        ax.text(
            place[0],
            place[1],
            str(cluster),
            ha="center",
            va="center",
            fontsize=9,
            fontweight="bold",
            path_effects=halo,
            zorder=4,
        )
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))


def _spread(places: Any, rounds: int = 200) -> Any:
    """Push places apart, a little at a time, until no two are closer than `_ROOM`."""
    places = places.copy()
    golden = np.pi * (3 - np.sqrt(5)) * np.arange(len(places))
    places += 1e-6 * np.stack([np.cos(golden), np.sin(golden)], axis=1)  # so that none coincide
    for _ in range(rounds):
        apart = places[:, None] - places
        distance = np.sqrt((apart**2).sum(axis=-1))
        np.fill_diagonal(distance, np.inf)
        if distance.min() >= _ROOM:
            break
        push = np.maximum(_ROOM - distance, 0) / distance
        places = places + 0.3 * (push[..., None] * apart).sum(axis=1)
    return np.clip(places, 0.02, 0.98)
