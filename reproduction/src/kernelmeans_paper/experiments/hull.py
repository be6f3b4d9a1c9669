"""Theorem 1, seen: centroids are convex combinations of the samples."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import StandardScaler

from kernelmeans import KernelPowerKMeans
from kernelmeans_paper.grid import Experiment, Outcome, Results, Scale
from kernelmeans_paper.methods import PAPER_SCHEDULE, PAPERS
from kernelmeans_paper.problems import gaussian, random_starts
from kernelmeans_paper.report import Entry, Picture, Section, Table, new_figure
from kernelmeans_paper.report.picture import draw_lines
from kernelmeans_paper.watch import coefficients_of_a_fit

SOURCES = {"wine": (load_wine, 3), "digits": (load_digits, 10)}
#: Enough of the digits.
ROWS = 500
SCHEDULES: Mapping[str, Mapping[str, Any]] = {PAPERS: PAPER_SCHEDULE, "default": {}}


def _grid(scale: Scale) -> list[dict[str, Any]]:
    return [
        {"source": source, "schedule": schedule} for source in SOURCES for schedule in SCHEDULES
    ]


def _run(source: str, schedule: str) -> Outcome:
    read, k = SOURCES[source]
    X = StandardScaler().fit_transform(read().data[:ROWS])
    weights = np.zeros((len(X), k))
    weights[random_starts(len(X), k, 1)[0], np.arange(k)] = 1
    estimator = KernelPowerKMeans(k, **SCHEDULES[schedule])
    seen = coefficients_of_a_fit(gaussian(X), weights, estimator)
    return {
        # In units of the coefficients of the mean of all samples.
        "least": [float(len(X) * coefficients.min()) for coefficients in seen],
        "sum": max(float(np.abs(c.sum(axis=1) - 1).max()) for c in seen),
    }


def _report(results: Results, scale: Scale) -> Section:
    rows = [
        (
            f"{parameters['source']}, {parameters['schedule']}",
            [
                Entry(len(outcome["least"]) - 1, digits=0),
                Entry(min(outcome["least"]), digits=3),
                Entry(outcome["least"][-1], digits=3),
                Entry(outcome["sum"], form=".1e"),
            ],
        )
        for parameters, outcome in results
    ]
    table = Table(
        "hull",
        "Coefficients of the centroids over the samples, times n",
        ("", "steps", "least of all steps", "least at the end", "largest |sum - 1|"),
        rows,
        notes=(
            "With a Gaussian kernel and distinct samples a centroid lies in the convex hull of "
            "the samples exactly if its coefficients sum to one and none is negative.",
        ),
    )
    return Section(
        "hull",
        "Theorem 1: centroids stay in the convex hull",
        (
            "The theorem is about minimisers. Plain steps, which the paper takes, make convex "
            "combinations at every step. The default's over-relaxed steps may leave the hull on "
            "the way; its last, hard steps are plain and lead back into it.",
        ),
        (table,),
        (_picture(results),) if len(results) else (),
    )


def _picture(results: Results) -> Picture:
    def draw(axes: Any) -> None:
        for ax, source in zip(axes[0], results.values("source"), strict=True):
            lines = [
                (p["schedule"], list(range(1, len(o["least"]) + 1)), o["least"], None)
                for p, o in results.where(source=source)
            ]
            draw_lines(ax, lines)
            for line in ax.lines:
                line.set_markevery(0.1)
            ax.axhline(0, color="0.3", linewidth=0.8)
            ax.set(xscale="log", xlabel="step", title=source)
        axes[0, 0].set_ylabel("least coefficient, times n")
        axes[0, 0].legend(frameon=False)

    return Picture(
        "hull",
        "Least coefficient of any centroid at each step; below the line a centroid is outside the "
        "convex hull.",
        new_figure(draw, 1, len(results.values("source")), height=2.4),
    )


HULL = Experiment("hull", _grid, _run, _report)
