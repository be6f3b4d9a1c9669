"""The clusters in kernel PCA coordinates."""

from typing import Any

import numpy as np
import scipy.sparse
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from sklearn.decomposition import KernelPCA

from kernelmeans._sklearn import _safe_indexing
from kernelmeans._text import counted

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
    n = X.shape[-2]  # rows of data, of a kernel matrix or of each in a stack
    rows = np.arange(n)
    if n > max_points:
        rows = np.sort(np.random.default_rng(random_state).choice(n, max_points, replace=False))
    as_given = _is_drawn_as_given(estimator.kernel_, X)
    points = _values(X, rows) if as_given else _coordinates(estimator, X, rows)
    labels = estimator.labels_[rows]
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
    subsample = f", {len(rows)} of {n} rows" if len(rows) < n else ""
    ax.set_title(counted(len(clusters), "cluster") + subsample)
    kind = "heat" if estimator.kernel_.name in ("heat", "graph") else "kernel principal"
    names = getattr(X, "columns", ["column 1", "column 2"])
    if not as_given:
        names = [f"{kind} component 1", f"{kind} component 2"]
    ax.set_xlabel(str(names[0]))
    ax.set_ylabel(str(names[1]))
    ax.tick_params(labelsize=8)


def _is_drawn_as_given(kernel: Any, X: Any) -> bool:
    """Whether rows of data are drawn as they are: two columns, with a heat kernel."""
    if kernel.name != "heat" or X.shape[1] != 2:
        return False
    return bool(kernel.parameters["metric"] != "precomputed")


def _values(X: Any, rows: Any) -> Any:
    """Some rows of data as a dense array."""
    shown = _safe_indexing(X, rows)
    return shown.toarray() if scipy.sparse.issparse(shown) else np.asarray(shown)


def _coordinates(estimator: Any, X: Any, rows: Any) -> Any:
    """Two kernel principal components of some rows; zeros if there are fewer components."""
    K = _kernel_matrix(estimator.kernel_, X, rows)
    components = min(2, len(rows))
    # ARPACK's start is random without a seed. An indefinite kernel is clipped, not refused.
    pca = KernelPCA(components, kernel="precomputed", eigen_solver="auto", random_state=0)
    found = pca.fit_transform(np.asarray(K, dtype=np.float64))
    points = np.zeros((len(rows), 2))
    points[:, : found.shape[1]] = found
    return points


def _kernel_matrix(kernel: Any, X: Any, rows: Any) -> Any:
    if not kernel.precomputed:
        shown = _safe_indexing(X, rows)
        if hasattr(shown, "to_numpy"):
            shown = shown.to_numpy()
        return kernel(shown, shown)
    K = np.asarray(X)[..., rows[:, None], rows]
    return K if K.ndim == 2 else _combined(kernel, K)


def _combined(kernel: Any, stack: Any) -> Any:
    """Weighted sum of kernel matrices, normalized by their diagonals if the kernels are."""
    total = np.zeros(stack.shape[1:])
    triples = zip(kernel.kernels, kernel.columns, kernel.multipliers, strict=True)
    for matrix, index, multiplier in triples:
        K, diagonal = np.array(stack[index], np.float64), np.diagonal(stack[index])
        total += multiplier * matrix.divide_by_norms(K, diagonal, matrix.norms(diagonal))
    return total


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
