"""Names of clusters beside their rows, without lines between them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patheffects import withStroke

from kernelmeans._fitted import cluster_sizes
from kernelmeans._typing import Array
from kernelmeans.plotting.palette import look
from kernelmeans.plotting.points import MapPoints

# Rows of a cluster that its name may stand beside, and the fraction that are near its middle.
_BESIDE, _NEAR = 100, 0.85
# Approximate number of rows that names try not to cover.
_SEEN = 2000
# Points between a row and a name.
_GAP = 4
# Costs of a place for a name: for each row of its cluster that it covers, for each other row that
# it covers or is less than its height away from, for each name that it covers, and for a place
# outside the axes. The unit is a height of the name between it and the middle of its cluster.
_OWN, _OTHER, _NAME, _OUTSIDE = 2.0, 6.0, 1e3, 1e6
# Ways from a row to the middle of a name, in halves of the name's width and height.
_WAYS = np.array([(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y])


def write_names(ax: Axes, found: MapPoints, names: Sequence[str], letter: float = 10) -> None:
    """Write each name beside rows of its cluster, where it covers few rows and no other name.

    A name that has no such place is left out.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where the rows have been drawn.
    found : MapPoints
        The rows.
    names : sequence of str
        The name of each cluster.
    letter : float, default=10
        Size of the letters, in points.
    """
    figure: Any = ax.get_figure(root=True)
    figure.draw_without_rendering()  # the layout decides where rows lie on the page
    pixels = np.asarray(ax.transData.transform(found.points))
    per_point = figure.dpi / 72
    frame = ax.get_window_extent().padded(-_GAP * per_point)
    taken, every = np.empty((0, 4)), -(-len(pixels) // _SEEN)
    drawn = cluster_sizes(found.labels, len(names))
    # Small clusters have fewer places.
    for cluster in np.argsort(drawn, kind="stable").tolist():
        if not (names[cluster] and drawn[cluster]):
            continue
        text: Any = _write(ax, names[cluster], look(cluster)[0], letter)
        box = text.get_window_extent()
        half = np.array([box.width, box.height]) / 2
        is_own = found.labels == cluster
        middle = np.median(pixels[is_own], axis=0)
        rows = np.repeat(_near(pixels[is_own], middle), len(_WAYS), axis=0)
        centers = rows + np.resize(_WAYS, rows.shape) * (half + _GAP * per_point)
        boxes = np.hstack([centers - half, centers + half])
        seen, own = pixels[::every], is_own[::every]
        cost = _OWN * _covered(boxes, seen[own])
        # Else it might be read as the name of the cluster on its other side.
        around = boxes + box.height * np.array([-1, -1, 1, 1])
        cost += _OTHER * _covered(around, seen[~own])
        cost += _NAME * _overlapping(boxes, taken)
        cost += np.linalg.norm(centers - middle, axis=1) / box.height
        cost += _OUTSIDE * ((boxes[:, :2] < frame.min) | (boxes[:, 2:] > frame.max)).any(axis=1)
        best = int(cost.argmin())
        if _overlapping(boxes[[best]], taken)[0]:
            text.remove()
            continue
        taken = np.vstack([taken, boxes[best]])
        # Tied to the row, so that the name stays beside it if the size of the figure changes.
        text.xy = ax.transData.inverted().transform(rows[best])
        text.set_position((centers[best] - rows[best]) / per_point)


def _write(ax: Axes, name: str, color: str, letter: float) -> Any:
    """A name in a dark tone of its cluster, not yet in its place."""
    font: Any = {"fontsize": letter, "fontweight": "bold", "parse_math": False, "zorder": 4}
    font["color"] = tuple(0.5 * np.array(to_rgb(color)))
    font["path_effects"] = [withStroke(linewidth=2.5, foreground="white", alpha=0.9)]
    place: Any = {"xytext": (0, 0), "textcoords": "offset points", "ha": "center", "va": "center"}
    return ax.annotate(name, (0, 0), **place, **font)


def _near(points: Array, middle: Array) -> Array:
    """Some rows of a cluster, but not those far out."""
    away = np.linalg.norm(points - middle, axis=1)
    near: Array = points[away <= np.quantile(away, _NEAR)]
    return near[:: -(-len(near) // _BESIDE)]


def _covered(boxes: Array, points: Array) -> Array:
    """The number of points that boxes of left, bottom, right and top cover."""
    inside = (points >= boxes[:, None, :2]) & (points <= boxes[:, None, 2:])
    return np.asarray(inside.all(axis=2).sum(axis=1))


def _overlapping(boxes: Array, others: Array) -> Array:
    """Number of other boxes that each box overlaps."""
    apart = (boxes[:, None, :2] >= others[:, 2:]) | (boxes[:, None, 2:] <= others[:, :2])
    return np.asarray((~apart.any(axis=2)).sum(axis=1))
