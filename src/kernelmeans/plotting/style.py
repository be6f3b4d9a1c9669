"""What pictures have in common: a slide, a page, colours, remarks."""

from io import BytesIO
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

# Margin of a slide, in inches.
_PAD = 0.08
BLUE, RED, GREY, DARK = "#0072B2", "#D55E00", "0.75", "0.3"
#: For a page: 16 cm wide, letters of 8 points.
WIDTH = 6.3
PAGE: Any = {"font.size": 8, "axes.titlesize": "medium", "legend.fontsize": "medium"}
DASHED: dict[str, Any] = {"color": RED, "linestyle": "--", "linewidth": 1.1}
#: A remark some points beside its place.
REMARK: Any = {"textcoords": "offset points", "fontsize": 8}


class Picture(Figure):
    """A figure that notebooks show as it is, before pyplot is imported too."""

    def _repr_png_(self) -> bytes:
        file = BytesIO()
        self.savefig(file, format="png")
        return file.getvalue()


def slide() -> Figure:
    """A figure of 1280 x 720 pixels, with letters that can be read on a wall."""
    layout = ConstrainedLayoutEngine(w_pad=_PAD, h_pad=_PAD)
    return Picture(figsize=(1280 / 150, 720 / 150), dpi=150, layout=layout)


def finish(ax: Axes) -> None:
    """Draw a grid, and make the numbers small."""
    ax.grid(alpha=0.25, linewidth=0.6)
    ax.tick_params(labelsize=8)
