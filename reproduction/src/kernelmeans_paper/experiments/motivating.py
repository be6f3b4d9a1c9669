"""The motivating figure: ten blobs on two rings, and the best of 20 matched starts."""

from typing import Any

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from kernelmeans.simulate import make_rings
from kernelmeans_paper import printed
from kernelmeans_paper.grid import Experiment, Outcome, Results, Scale
from kernelmeans_paper.methods import AUTOMATIC, METHODS, PAPERS, paper_name, scores
from kernelmeans_paper.problems import Problem, random_starts
from kernelmeans_paper.report import Entry, Picture, Section, Table, new_figure
from kernelmeans_paper.report.picture import draw_partition
from kernelmeans_paper.statistics import mean, tolerance

TITLES = {
    f"Kernel power k-means, {PAPERS}": f"KPK, {PAPERS}, n_swaps=0",
    f"Kernel power k-means, {AUTOMATIC}": f"KPK, {AUTOMATIC}, n_swaps=0",
    "Kernel k-means": "kernel k-means",
}
SHOWN = tuple(TITLES)
#: The paper's sigma = 1.
GAMMA = 0.5


def _grid(scale: Scale) -> list[dict[str, Any]]:
    return [
        {"method": method, "seed": seed, "starts": scale.starts}
        for method in SHOWN
        for seed in range(scale.datasets)
    ]


def _run(method: str, seed: int, starts: int) -> Outcome:
    X, y = make_rings(random_state=seed)
    problem = Problem(X, rbf_kernel(X, gamma=GAMMA), y, 10, random_starts(len(y), 10, starts))
    runs = METHODS[method](problem)
    found = scores(problem, runs)
    return {**found, "best": runs.labels[int(np.argmin(found["cost"]))].tolist()}


def _report(results: Results, scale: Scale) -> Section:
    rows = []
    for method in SHOWN:
        of_method = [outcome for _, outcome in results.where(method=method)]
        if of_method:
            first = of_method[0]
            everything = [ari for outcome in of_method for ari in outcome["ari"]]
            rows.append(
                (
                    method,
                    [
                        Entry(
                            mean(first["ari"]),
                            printed.MOTIVATING[paper_name(method)],
                            tolerance=tolerance(first["ari"]),
                        ),
                        Entry(mean(everything), tolerance=tolerance(everything)),
                        Entry(float(np.mean(np.array(first["ari"]) == 1)), digits=2),
                        Entry(mean(first["steps"]), digits=1),
                    ],
                )
            )
    table = Table(
        "motivating",
        f"Ten blobs on two rings: adjusted Rand index over {scale.starts} matched random starts",
        ("method", "mean ARI", f"mean of {scale.datasets} data sets", "share perfect", "steps"),
        rows,
        notes=(
            "The paper does not say what its data are: these are two rings (radii 2 and 5) of five "
            "Gaussian blobs (standard deviation 0.35, 50 points each), Gaussian kernel with "
            "sigma = 1. The first column and the picture are of the first data set.",
        ),
    )
    return Section(
        "motivating",
        "The motivating figure",
        (
            "From random starts kernel k-means falls into local minima even here. Kernel power "
            "k-means begins at the same starts.",
        ),
        (table,),
        [_picture(results)] if len(results.where(seed=0)) else (),
    )


def _picture(results: Results) -> Picture:
    X, y = make_rings(random_state=0)
    shown = [method for method in SHOWN if results.one(method=method, seed=0)]

    def draw(axes: Any) -> None:
        for ax, method in zip(axes[0], shown, strict=True):
            outcome = results.one(method=method, seed=0)
            assert outcome is not None
            draw_partition(ax, X, np.array(outcome["best"]), y)
            best = outcome["ari"][int(np.argmin(outcome["cost"]))]
            ax.set_title(
                f"{TITLES[method]}\nmean ARI {mean(outcome['ari']):.2f}, this one {best:.2f}"
            )

    return Picture(
        "motivating",
        "Best partition (least cost) of each method over the same starts. Crosses are rows that do "
        "not have the label that most of their blob has.",
        new_figure(draw, 1, len(shown), height=2.75, layout="compressed"),
    )


MOTIVATING = Experiment("motivating", _grid, _run, _report)
