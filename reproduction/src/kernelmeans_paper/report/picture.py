"""Figures in one style, readable at print size and by the colour-blind."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Literal

import matplotlib
import numpy as np
from matplotlib.figure import Figure

#: Colours that the colour-blind can tell apart: Okabe and Ito's, and some of Paul Tol's.
COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#882255",
    "#9A8A00",
    "#7A7A7A",
    "#332288",
)
#: Lines differ by more than their colour.
MARKERS = ("o", "s", "^", "D", "v", "P", "h", "*", "<", ">")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)))
#: A journal's page is about this wide, in inches.
WIDTH = 6.9
_STYLE: dict[Any, Any] = {
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8,
    "legend.fontsize": 7.5,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.3,
    "lines.markersize": 4,
    "svg.fonttype": "path",
    # The same figure is the same file.
    "svg.hashsalt": "kernelmeans",
}


@dataclass(frozen=True)
class Picture:
    """A figure with a name, from which its files get theirs, and a caption.

    Attributes
    ----------
    name : str
        Stem of the files.
    caption : str
        What is seen.
    figure : matplotlib.figure.Figure
        The figure.
    """

    name: str
    caption: str
    figure: Figure

    def drawn(self, kind: str) -> bytes:
        """Content of its file of this kind, ``"png"`` or ``"svg"``: the same bytes each time."""
        metadata = {"Software": None} if kind == "png" else {"Date": None, "Creator": None}
        content = BytesIO()
        with matplotlib.rc_context(_STYLE):
            self.figure.savefig(content, format=kind, dpi=200, metadata=metadata)
        return content.getvalue()


def new_figure(
    draw: Callable[[Any], None],
    rows: int = 1,
    columns: int = 1,
    *,
    height: float = 2.7,
    width: float = WIDTH,
    layout: Literal["constrained", "compressed"] = "constrained",
    **subplots: Any,
) -> Figure:
    """Make a figure of a grid of axes in the style of the report.

    Parameters
    ----------
    draw : callable
        Given the axes, an array of shape (rows, columns).
    rows, columns : int, default=1
        The grid.
    height : float, default=2.7
        Of the figure, in inches.
    width : float, default=6.9
        Of the figure, in inches.
    layout : {"constrained", "compressed"}, default="constrained"
        ``"compressed"`` for axes of equal aspect.
    **subplots
        Passed to ``Figure.subplots``.

    Returns
    -------
    matplotlib.figure.Figure
        Not tied to pyplot.

    Examples
    --------
    >>> from kernelmeans_paper.report import new_figure
    >>> len(new_figure(lambda axes: axes[0, 0].plot([1, 2]), 1, 2).axes)
    2
    """
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout=layout)
        draw(figure.subplots(rows, columns, squeeze=False, **subplots))
        # Laid out once: each further time would move things by a last bit.
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        return figure


def draw_lines(
    ax: Any, lines: Sequence[tuple[str, Sequence[float], Sequence[float], Sequence[float] | None]]
) -> None:
    """Draw labelled lines (label, x, y, half-width of a band or None), told apart without colour.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    lines : sequence of (str, sequence, sequence, sequence or None)
        The lines, in the order of their colours, markers and dashes.
    """
    for index, (label, x, y, band) in enumerate(lines):
        colour = COLOURS[index % len(COLOURS)]
        ax.plot(
            x,
            y,
            label=label,
            color=colour,
            marker=MARKERS[index % len(MARKERS)],
            linestyle=DASHES[index % len(DASHES)],
        )
        if band is not None:
            low = [value - half for value, half in zip(y, band, strict=True)]
            high = [value + half for value, half in zip(y, band, strict=True)]
            ax.fill_between(x, low, high, color=colour, alpha=0.1, linewidth=0)


def draw_partition(ax: Any, points: Any, labels: Any, classes: Any) -> None:
    """Scatter points in the plane by cluster; those that left their class's majority as crosses.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    points : ndarray of shape (n, 2)
        Coordinates.
    labels : ndarray of shape (n,)
        Clusters found.
    classes : ndarray of shape (n,)
        Clusters known.
    """
    strays = np.zeros(len(labels), bool)
    for known in np.unique(classes):
        members = classes == known
        strays |= members & (labels != np.bincount(labels[members]).argmax())
    for cluster in np.unique(labels):
        colour = COLOURS[cluster % len(COLOURS)]
        marker = MARKERS[cluster % len(MARKERS)]
        x, y = points[(labels == cluster) & ~strays].T
        ax.scatter(x, y, s=7, c=colour, marker=marker, linewidths=0, alpha=0.8)
    ax.scatter(*points[strays].T, s=14, c="black", marker="x", linewidths=0.8)
    ax.set(xticks=[], yticks=[], aspect="equal")
    ax.grid(False)
    ax.spines[:].set_visible(False)
