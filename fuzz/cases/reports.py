"""`ClusterReport`, `describe` and plots over random fits."""

import math
import warnings
from html.parser import HTMLParser
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from sklearn.pipeline import make_pipeline

from fuzz import Case, Rng
from fuzz.draw import graph, kernel_matrix, pick, plain_rows, rarely, weights
from fuzz.frames import NOT_FINITE, frame
from fuzz.judge import require
from kernelmeans import (
    ClusterReport,
    ClusterSearch,
    KernelKMeans,
    KernelPowerKMeans,
    MultiKernelPowerKMeans,
    PowerKMeans,
    describe,
)
from kernelmeans.plotting import (
    plot_bifurcation,
    plot_fit,
    plot_kernel_weights,
    plot_search,
    plot_spectrum,
    plot_trace,
)
from kernelmeans.tables import TableTransformer

WEIGHT = 2
PICTURES = (
    *(plot_fit, plot_fit, plot_trace, plot_spectrum, plot_kernel_weights, plot_search),
    plot_bifurcation,
)
VOID = ("meta", "link", "br", "wbr", "img", "hr", "input", "path", "rect", "circle", "line", "use")


def case(rng: Rng) -> Case:
    n, k = int(rng.integers(2, 50)), int(rng.integers(1, 5))
    X: Any = plain_rows(rng, n, int(rng.integers(1, 5)))
    given: dict[str, Any] = {"n_swaps": 0, "random_state": 0}
    model: Any = pick(
        rng,
        lambda: KernelPowerKMeans(k, **given),
        lambda: KernelPowerKMeans(k, kernel=pick(rng, "rbf", "linear", "cosine"), **given),
        lambda: KernelPowerKMeans(k, kernel=pick(rng, "precomputed", "graph"), **given),
        lambda: KernelPowerKMeans(k, kernel="rbf", approximation="landmarks", **given),
        lambda: MultiKernelPowerKMeans(k, kernels=pick(rng, "neighbors", "widths"), **given),
        lambda: PowerKMeans(k, **given),
        lambda: KernelKMeans(k, random_state=0),
    )()
    kernel = getattr(model, "kernel", "")
    X = kernel_matrix(rng, n) if kernel == "precomputed" else X
    X = graph(rng, n) if kernel == "graph" else X
    table = frame(rng, n)
    more: dict[str, Any] = {
        "table": table if kernel in ("precomputed", "graph") or rarely(rng, 2) else None,
        "labels_true": pick(rng, None, None, rng.integers(0, 3, n), rng.choice(["a", "<b>"], n)),
        "names": pick(rng, None, None, [f"<&{j}>" for j in range(k)]),
        "rows": bool(rng.integers(2)),
        "title": pick(rng, None, "A <b> & 'c'"),
        "random_state": int(rng.integers(3)),
        "row_names": pick(rng, None, None, [f"<{i}&" for i in range(n)]),
        "kernel_names": pick(rng, *[None] * 9, ["<a>", "b"]),
        "commands": pick(rng, (), ("kernelmeans fit <x>",)),
        "program": pick(rng, None, "a < b & c"),
        "categorical": pick(rng, (), (), [pick(rng, *table.columns, "zz")]),
    }
    if rarely(rng, 6) and kernel != "precomputed":
        model = ClusterSearch(model, {"n_clusters": [k, k + 1]}, n_splits=2, random_state=0)
    elif kernel not in ("precomputed", "graph") and rarely(rng, 5):
        model, X, more["table"] = make_pipeline(TableTransformer(), model), table, None
    weight = weights(rng, n) if rarely(rng, 4) and hasattr(model, "n_clusters") else None
    picture = pick(rng, *[None] * 9, *PICTURES)
    words = f"{model!r}\nX = {X!r}\n{more}\nsample_weight = {weight!r}\n{picture}"

    def check() -> None:
        model.fit(X, **({} if weight is None else {"sample_weight": weight}))
        if picture is not None:
            check_picture(picture, model, X)
        labels = getattr(model, "labels_", model[-1].labels_ if hasattr(model, "steps") else None)
        described = str(describe(labels, table, sample_weight=weight))
        require(not NOT_FINITE.search(described), described)
        check_report(ClusterReport(model, X, **more))

    return Case(words, check)


def check_report(report: ClusterReport) -> None:
    """The page is closed HTML without NaN, and the facts are numbers."""
    page = Page()
    page.feed(report.to_html())
    require(not page.open, f"tags that are not closed: {page.open}")
    text = " ".join(page.texts)
    words = text.lower().replace(",", " ").split()
    # A value of a category may be called inf.
    wrong = "nan" in words or NOT_FINITE.search(text)
    require(not wrong, f"the page says nan: {text[:2000]}")
    for name, value in numbers(report.to_dict()):
        require(math.isfinite(value), f"{name} is {value}")
    require(report.verdict and "nan" not in report.verdict, report.verdict)


class Page(HTMLParser):
    """A page that is read: its text, and the tags that are open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            require(self.open and self.open.pop() == tag, f"</{tag}> closes another tag")

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("style", "script", "pre", "code"):
            self.texts.append(data)


def numbers(value: Any, name: str = "to_dict()") -> Any:
    """All numbers in lists and dicts, with their names."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from numbers(one, f"{name}[{key!r}]")
    elif isinstance(value, list | tuple):
        for one in value:
            yield from numbers(one, name)
    elif isinstance(value, float | np.floating):
        yield name, value


def check_picture(draw: Any, model: Any, X: Any) -> None:
    """A figure is drawn and can be rendered."""
    try:
        figure = draw(model, X) if draw in (plot_fit, plot_bifurcation) else draw(model)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # fonts without a sign, tight layouts
            figure.canvas.draw()
    finally:
        plt.close("all")
