"""A map of the clusters: rows as marks, names beside them, sizes in a legend."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernelmeans._given import checked_names
from kernelmeans._text import counted, shortened
from kernelmeans._typing import Array
from kernelmeans.plotting.names import write_names
from kernelmeans.plotting.palette import GREY, look
from kernelmeans.plotting.points import MapPoints, map_points
from kernelmeans.plotting.style import slide

# Width of axes, in inches, below which marks, letters and names are smaller.
_WIDE = 6
# Area of all marks together, and of the smallest and the largest, in square points.
_INK, _SMALLEST, _LARGEST = 12000, 8, 36
# Most rows that are shapes in a PDF or SVG; more are one image, which stays small.
_MOST_SHAPES = 5000
# Most letters of a name in wide axes, and in the smallest.
_LETTERS, _FEW_LETTERS = 24, 12
# Smallest and largest size of a letter, in points.
_SMALL_LETTER, _LETTER = 7, 9
# Width of a letter and height of a line in the legend, as parts of the size of a letter, and most
# of the figure's width that the legend takes.
_LETTER_WIDTH, _LINE_HEIGHT, _LEGEND = 0.6, 1.4, 0.45


def plot_fit(
    estimator: Any,
    X: Any,
    *,
    coordinates: Any = None,
    names: Sequence[str] | None = None,
    max_points: int = 2000,
    random_state: int = 0,
) -> Figure:
    """Draw a map of the clusters: rows, the name of each cluster beside it, sizes in a legend.

    Rows of two columns are drawn as they are. Other places are kernel principal components. With
    the heat kernel they are heat components, or if there are more than three clusters, a projection
    of more components that keeps centroids apart. Where the heat kernel draws clear clusters
    together to dots, components of the rows take their place; of a graph those of each cluster
    alone, beside each other.

    Parameters
    ----------
    estimator : KernelPowerKMeans or another clusterer, Pipeline or ClusterSearch
        Fitted; a pipeline ends with a clusterer.
    X : array-like, sparse matrix, data frame or Rows
        The rows of the fit or new ones, as `predict` of the estimator takes them: with a pipeline
        before its transformers, the kernel matrix or the stack of them if precomputed. Columns of
        a data frame that the fit has not seen are left out.
    coordinates : array-like of shape (n_rows, 2), default=None
        Places of the rows, from UMAP or t-SNE for instance; when None components as above.
    names : sequence of str, default=None
        Names of the clusters; their numbers when None.
    max_points : int, default=2000
        Most rows that are drawn: a random subsample, if there are more. Without coordinates the
        kernel matrix between them is computed, 32 MB for 2000 rows.
    random_state : int, default=0
        Seed of the subsample.

    Returns
    -------
    matplotlib.figure.Figure
        Not tied to pyplot: call its ``savefig``, or display it in a notebook. It has 1280 x 720
        pixels, as a slide. For other sizes use `draw_clusters`.

    Raises
    ------
    NotFittedError
        If the estimator has not been fitted.
    TypeError
        If it is no clusterer that can label rows.
    ValueError
        If X, the coordinates or the names cannot be used, or if X holds kernel values of new rows
        and there are no coordinates.

    Examples
    --------
    >>> from kernelmeans import KernelPowerKMeans
    >>> from kernelmeans.plotting import plot_fit
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> figure = plot_fit(KernelPowerKMeans(3, random_state=0).fit(X), X)
    >>> figure.axes[0].get_xlabel()
    'heat component 1'
    """
    figure = slide()
    drawn: Any = {"max_points": max_points, "random_state": random_state}
    draw_clusters(figure.subplots(), estimator, X, coordinates=coordinates, names=names, **drawn)
    return figure


def draw_clusters(
    ax: Axes,
    estimator: Any,
    X: Any,
    *,
    coordinates: Any = None,
    names: Sequence[str] | None = None,
    max_points: int = 2000,
    random_state: int = 0,
) -> None:
    """Scatter the rows of `X`, with the name of each cluster beside it and sizes in a legend.

    Places and labels are those of ``kernelmeans.plotting.points.map_points``.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw. Set the limits and the size of the figure before. The legend is beside the
        axes: ``layout="constrained"`` of the figure makes room for it.
    estimator, X, coordinates, max_points, random_state
        As in `plot_fit`.
    names : sequence of str, default=None
        Names of the clusters; their numbers when None.

    Raises
    ------
    NotFittedError, TypeError, ValueError
        As in `plot_fit`.

    Examples
    --------
    Two fits beside each other:

    >>> from kernelmeans import KernelPowerKMeans
    >>> from kernelmeans.plotting import draw_clusters
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> figure = Figure(figsize=(12, 5), layout="constrained")
    >>> for ax, kernel in zip(figure.subplots(1, 2), ["heat", "rbf"], strict=True):
    ...     draw_clusters(ax, KernelPowerKMeans(3, kernel=kernel, random_state=0).fit(X), X)
    >>> figure.axes[1].get_xlabel()
    'kernel principal component 1'
    """
    places = {"coordinates": coordinates, "max_points": max_points, "random_state": random_state}
    found = map_points(estimator, X, **places)
    given = checked_names(names, range(len(found.sizes)), "cluster")
    scale = min(1, _inches(ax)[0] / _WIDE)
    names = [shortened(name, max(_FEW_LETTERS, int(_LETTERS * scale))) for name in given]
    _draw_marks(ax, found, names, scale)
    subsample = f", {len(found.rows):,} of {found.n_rows:,} rows drawn"
    title = counted(int(np.count_nonzero(found.sizes)), "cluster")
    ax.set_title(title + subsample * (len(found.rows) < found.n_rows))
    ax.set(xlabel=found.axis_names[0], ylabel=found.axis_names[1])
    ax.tick_params(labelsize=8)
    write_names(ax, found, names, 1 + max(_SMALL_LETTER, _LETTER * scale))


def _inches(artist: Any) -> Array:
    """Width and height of axes or a figure."""
    box = artist.get_window_extent()
    return np.array([box.width, box.height]) / float(artist.get_figure(root=True).dpi)


def _draw_marks(ax: Axes, found: MapPoints, names: Sequence[str], scale: float) -> None:
    """Draw the rows, and the legend; clusters are numbered by size, and small ones are on top."""
    size = np.clip(_INK / len(found.rows), _SMALLEST, _LARGEST) * scale
    # Rounded to whole pixels, small plus signs would vanish.
    style: Any = {"s": size, "linewidths": 0, "alpha": 0.75, "snap": False}
    style["rasterized"] = len(found.rows) > _MOST_SHAPES
    marks: list[Any] = []
    lines: list[str] = []
    for cluster in np.flatnonzero(found.sizes).tolist():
        color, marker = look(cluster)
        x, y = found.points[found.labels == cluster].T
        marks.append(ax.scatter(x, y, color=color, marker=marker, **style))
        lines.append(f"{names[cluster]}: {found.sizes[cluster]:,}")
    counted = int(found.sizes.sum()) + found.n_outliers
    if found.n_outliers:
        x, y = found.points[found.labels < 0].T
        crosses = style | {"linewidths": 1}
        marks.append(ax.scatter(x, y, color=GREY, marker="x", **crosses))
        lines.append(f"none: {found.n_outliers:,}")
    title = "rows" if counted == found.n_rows else "drawn rows"
    _write_legend(ax, marks, lines, title, max(_SMALL_LETTER, _LETTER * scale))


def _write_legend(
    ax: Axes, marks: Sequence[Any], lines: Sequence[str], title: str, letter: float
) -> None:
    """Write the sizes beside the axes, as many as there is room for."""
    widest = letter * (3 + _LETTER_WIDTH * max(map(len, lines)))
    width, height = 72 * _inches(ax)
    in_column = max(1, int(height / (_LINE_HEIGHT * letter)) - 1)
    most = in_column * max(1, int(_LEGEND * width / widest))
    if len(lines) > most:
        title += f"\n({most} of {len(lines)} clusters)"
        marks, lines = marks[:most], lines[:most]
    columns = -(-len(lines) // in_column)
    place: Any = {"loc": "center left", "bbox_to_anchor": (1, 0.5), "ncols": columns}
    style: Any = {"frameon": False, "handletextpad": 0.2, "columnspacing": 0.8}
    style |= {"fontsize": letter, "title_fontsize": letter + 1, "labelspacing": _LINE_HEIGHT - 1}
    legend = ax.legend(marks, lines, title=title, **place, **style)
    shown: Any = zip(legend.legend_handles, legend.get_texts(), strict=True)
    for mark, text in shown:
        mark.set(alpha=1, sizes=[30 * (letter / _LETTER) ** 2])
        text.set_parse_math(False)
