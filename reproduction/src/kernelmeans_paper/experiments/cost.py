"""The cost claims: time per step against the numbers of samples, clusters and kernels."""

from time import process_time
from typing import Any, NamedTuple

import numpy as np
from matplotlib.ticker import LogLocator
from sklearn.metrics.pairwise import rbf_kernel

from kernelmeans import KernelPowerKMeans, MultiKernelPowerKMeans
from kernelmeans_paper.arrays import Array
from kernelmeans_paper.grid import Experiment, Outcome, Results, Scale
from kernelmeans_paper.methods import COMMON
from kernelmeans_paper.report import Entry, Picture, Section, Table, new_figure
from kernelmeans_paper.report.picture import draw_lines
from kernelmeans_paper.statistics import slope

#: Values along each axis, what is held fixed, and the exponent that the paper claims.
AXES: dict[str, tuple[tuple[int, ...], str, float]] = {
    "n": ((500, 1000, 2000, 4000), "number of samples n", 2.0),
    "k": ((5, 10, 20, 40, 80), "number of clusters k", 1.0),
    "L": ((1, 2, 4, 8, 16), "number of kernels L", 1.0),
}
FIXED = {"n": 2000, "k": 20, "L": 1}
#: Of the axis of kernels, whose matrices would else be large.
FEWER = {"n": 1000}
#: Steps of a short and of a long fit, and how often both are timed.
STEPS = (5, 65)
REPEATS = 3


def _grid(scale: Scale) -> list[dict[str, Any]]:
    return [
        {"axis": axis, **FIXED, **(FEWER if axis == "L" else {}), axis: value}
        for axis, (values, _, _) in AXES.items()
        for value in (values[:3] if scale.quick else values)
    ]


def _run(axis: str, n: int, k: int, L: int) -> Outcome:
    X = np.random.default_rng(0).standard_normal((n, 10))
    K = np.stack([rbf_kernel(X, gamma=0.05 * 2.0**index) for index in range(L)])
    common = {**COMMON, "eta": 1.01, "init": np.arange(k), "n_init": 1}
    if L == 1:
        short, long = _fits(KernelPowerKMeans(k, kernel="precomputed", **common), K[0])
    else:
        short, long = _fits(MultiKernelPowerKMeans(k, kernels="precomputed", **common), K)
    return {"seconds": (long.seconds - short.seconds) / (long.steps - short.steps)}


class _Fit(NamedTuple):
    seconds: float
    steps: int


def _fits(model: Any, K: Array) -> list[_Fit]:
    """The quickest of some fits of few steps, and of many; all but steps takes as long in both."""
    fits: dict[int, list[_Fit]] = {steps: [] for steps in STEPS}
    for _ in range(REPEATS):
        for steps in STEPS:
            start = process_time()
            model.set_params(max_iter=steps).fit(K)
            fits[steps].append(_Fit(process_time() - start, int(model.n_iter_)))
    return [min(of_steps) for of_steps in fits.values()]


def _report(results: Results, scale: Scale) -> Section:
    rows = []
    for axis, (_, title, claimed) in AXES.items():
        points = [(p[axis], o["seconds"]) for p, o in results.where(axis=axis)]
        if len(points) > 1:
            values, seconds = zip(*points, strict=True)
            fixed = ", ".join(
                f"{name} = {value}" for name, value in _fixed(axis).items() if name != axis
            )
            exponents = [Entry(slope(values, seconds), digits=2), Entry(claimed, digits=0)]
            span = f"{values[0]} to {values[-1]}"
            rows.append((title, [Entry(span), Entry(fixed), *exponents]))
    table = Table(
        "cost",
        "Time per step: exponent of the power law through the measured times",
        ("", "from, to", "fixed", "measured", "claimed"),
        rows,
        notes=(
            "The paper claims O(n^2 k L) per step. A thin matrix product costs less than in "
            "proportion to its width. Times depend on the machine: this table and figure are not "
            "the same from run to run.",
        ),
    )
    pictures = (_picture(results),) if rows else ()
    return Section(
        "cost",
        "Time per step",
        (
            "Processor time of sixty annealed steps of one restart, by the difference of a long "
            "and a short fit; kernel matrices cached, one thread.",
        ),
        (table,),
        pictures,
    )


def _fixed(axis: str) -> dict[str, int]:
    return {**FIXED, **(FEWER if axis == "L" else {})}


def _picture(results: Results) -> Picture:
    def draw(axes: Any) -> None:
        for ax, (axis, (_, title, claimed)) in zip(axes[0], AXES.items(), strict=True):
            points = [(p[axis], 1000 * o["seconds"]) for p, o in results.where(axis=axis)]
            if not points:
                continue
            values, seconds = zip(*points, strict=True)
            reference = [seconds[-1] * (v / values[-1]) ** claimed for v in values]
            exponent = f"claimed: {axis}" + ("²" if claimed == 2 else "")
            draw_lines(
                ax, [("measured", values, seconds, None), (exponent, values, reference, None)]
            )
            ax.set(xscale="log", yscale="log", xlabel=title)
            ax.set_xticks(values, [str(v) for v in values])
            ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            ax.yaxis.set_major_formatter("{x:g}")
            ax.minorticks_off()
            ax.legend(frameon=False)
        axes[0, 0].set_ylabel("milliseconds per step")

    return Picture("cost", "Time per step against n, k and L.", new_figure(draw, 1, 3, height=2.4))


COST = Experiment("cost", _grid, _run, _report, alone=True)
