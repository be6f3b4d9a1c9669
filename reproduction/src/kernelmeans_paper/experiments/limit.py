"""Theorem 2, seen: f_s tends to f_-inf uniformly over the convex hull as s falls."""

from typing import Any

import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from kernelmeans_paper.arrays import Array
from kernelmeans_paper.grid import Experiment, Outcome, Results, Scale
from kernelmeans_paper.power import power_means
from kernelmeans_paper.problems import gaussian
from kernelmeans_paper.report import Entry, Picture, Section, Table, new_figure
from kernelmeans_paper.report.picture import draw_lines

POWERS = [-float(2**exponent) for exponent in range(11)]
#: Widths of the kernels, over the default one; the theorem of the appendix has several kernels.
WIDTHS = {1: (1.0,), 3: (0.25, 1.0, 4.0)}
#: From single data points to means of nearly everything.
CONCENTRATIONS = (0.001, 0.01, 0.1, 1.0, 10.0)


def _grid(scale: Scale) -> list[dict[str, Any]]:
    return [
        {"k": k, "kernels": kernels, "centroids": 40 if scale.quick else 400}
        for kernels in WIDTHS
        for k in (3, 10)
    ]


def _run(k: int, kernels: int, centroids: int) -> Outcome:
    X = StandardScaler().fit_transform(load_wine().data)
    K = [gaussian(X, width) for width in WIDTHS[kernels]]
    rng = np.random.default_rng(0)
    gaps, limits = [], []
    for draw in range(centroids):
        concentration = CONCENTRATIONS[draw % len(CONCENTRATIONS)]
        # Centroids anywhere in the hull, and kernel weights anywhere on the simplex.
        distances = sum(
            alpha * _distances(matrix, _convex_weights(rng, k, len(X), concentration))
            for alpha, matrix in zip(rng.dirichlet(np.ones(kernels)), K, strict=True)
        )
        limit = distances.min(axis=0).mean()
        gaps.append([power_means(distances, power).mean() - limit for power in POWERS])
        limits.append(limit)
    return {
        "largest": np.max(gaps, axis=0).tolist(),
        "median": np.median(gaps, axis=0).tolist(),
        "smallest": float(np.min(gaps)),
        "largest_limit": float(max(limits)),
    }


def _convex_weights(rng: np.random.Generator, k: int, n: int, concentration: float) -> Array:
    weights = rng.gamma(concentration, size=(k, n)) + 1e-300
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _distances(K: Array, coefficients: Array) -> Array:
    """Squared distances (k, n) of all samples to centroids that are sums of samples."""
    products = coefficients @ K
    norms = np.einsum("ji,ji->j", products, coefficients)
    return np.asarray(np.maximum(np.diag(K) - 2 * products + norms[:, None], 1e-12))


def _bound(k: int, power: float, largest_limit: float) -> float:
    """M_s(y) <= k^(-1/s) min y: the same for every Theta."""
    return float(np.expm1(np.log(k) / -power)) * largest_limit


def _report(results: Results, scale: Scale) -> Section:
    shown = [power for power in POWERS if power in (-1, -4, -16, -64, -256, -1024)]
    rows = []
    for parameters, outcome in results:
        largest = dict(zip(POWERS, outcome["largest"], strict=True))
        label = f"k = {parameters['k']}, {_kernels(parameters['kernels'])}"
        cells = [Entry(largest[power], digits=5) for power in shown]
        rows.append((label, [*cells, Entry(outcome["smallest"], form=".1e")]))
        bound = [_bound(parameters["k"], power, outcome["largest_limit"]) for power in shown]
        rows.append((f"bound for {label}", [*(Entry(b, digits=5) for b in bound), Entry(None)]))
    table = Table(
        "limit",
        "Largest (f_s - f_-∞) / n over centroids drawn from the convex hull",
        ("", *(f"s = {power:g}" for power in shown), "smallest of all"),
        rows,
        notes=(
            "f_s lies above its limit everywhere, and no more than (k^(1/|s|) - 1) times the "
            "limit: a bound that does not depend on the centroids, and falls as log(k) / |s|.",
        ),
    )
    return Section(
        "limit",
        "Theorem 2: uniform convergence to the cost of kernel k-means",
        (
            "Wine, Gaussian kernel (three of them with weights from the whole simplex for the "
            f"theorem of the appendix): {max(results.values('centroids'), default=0)} sets of k "
            "centroids, from single samples to means of nearly all, and the gap between f_s and "
            "its limit.",
        ),
        (table,),
        (_picture(results.where(kernels=1)),) if len(results.where(kernels=1)) else (),
    )


def _kernels(count: int) -> str:
    return "one kernel" if count == 1 else f"{count} kernels"


def _picture(results: Results) -> Picture:
    sizes = [-power for power in POWERS]

    def draw(axes: Any) -> None:
        for ax, (parameters, outcome) in zip(axes[0], results, strict=True):
            k = parameters["k"]
            bound = [_bound(k, power, outcome["largest_limit"]) for power in POWERS]
            lines = [
                ("bound", sizes, bound, None),
                ("largest", sizes, outcome["largest"], None),
                ("median", sizes, outcome["median"], None),
            ]
            draw_lines(ax, lines)
            ax.set(xscale="log", yscale="log", xlabel="|s|", title=f"k = {k}")
        axes[0, 0].set_ylabel(r"$(f_s - f_{-\infty})\,/\,n$")
        axes[0, 0].legend(frameon=False)

    return Picture(
        "limit",
        "Gap between f_s and its limit over centroids drawn from the convex hull, one kernel.",
        new_figure(draw, 1, len(results), height=2.5, sharey=True),
    )


LIMIT = Experiment("limit", _grid, _run, _report)
