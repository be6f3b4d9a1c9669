"""The critical power: what happens above and below it, and what a start there is worth."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kernelmeans import KernelPowerKMeans
from kernelmeans_paper.arrays import Array
from kernelmeans_paper.grid import Experiment, Outcome, Results, Scale
from kernelmeans_paper.methods import Runs, fitted, scores
from kernelmeans_paper.problems import TITLES, on_sphere, random_starts, standardised
from kernelmeans_paper.report import Entry, Picture, Section, Table, new_figure
from kernelmeans_paper.report.picture import draw_lines
from kernelmeans_paper.statistics import COST_TOLERANCE, MEAN_TOLERANCE, mean, tolerance
from kernelmeans_paper.watch import coefficients_at_a_power

#: Powers over the critical one.
FACTORS = (0.5, 0.75, 0.9, 1.0, 1.1, 1.25, 1.5)
STEPS = 8
#: Relative size of the first perturbation.
SMALL = 1e-4
STARTS: dict[str, float | str] = {"s0 = -1": -1.0, "s0 = auto": "auto"}
REAL_SETS = ("yale", "orl", "coil20", "jaffe", "lung_discrete", "glioma", "seeds")
QUICK_SETS = ("lung_discrete", "seeds")
SPHERES = (10, 20, 50)


def _real(scale: Scale) -> Sequence[str]:
    return scale.choose(REAL_SETS, QUICK_SETS)


def _grid(scale: Scale) -> list[dict[str, Any]]:
    data = [{"data": name} for name in _real(scale)]
    spheres = [{"sphere": k} for k in (SPHERES[:1] if scale.quick else SPHERES)]
    growth: list[dict[str, Any]] = [{"task": "growth", **where} for where in data + spheres[:1]]
    starts: list[dict[str, Any]] = [
        {"task": "start", **where, "start": start, "starts": scale.starts}
        for where in spheres + data
        for start in STARTS
    ]
    return growth + starts


def _run(task: str, starts: int = 0, start: str = "", **where: Any) -> Outcome:
    sphere = where.get("sphere")
    problem = on_sphere(sphere, 0) if sphere else standardised(where["data"])
    if task == "growth":
        return _growth(problem.K)
    init = random_starts(len(problem.y), problem.k, starts)
    model = fitted(KernelPowerKMeans, problem, s0=STARTS[start], eta=1.04, init=init)
    runs = Runs(model.result_.labels, model.result_.n_iter)
    return {**scores(problem, runs), "critical": model.critical_power_}


def _growth(K: Array) -> Outcome:
    """How fast two centroids part, or draw together, at powers about the critical one."""
    centre = np.eye(len(K)) - 1 / len(K)
    centred = centre @ K @ centre
    lengths = np.sqrt(np.maximum(np.diag(centred), 1e-12))
    values, vectors = np.linalg.eigh(centred / np.outer(lengths, lengths) / len(K))
    critical = float(1 - 1 / (2 * values[-1]))
    # Along the direction that grows fastest, to either side of the mean, but not evenly: centroids
    # as far from it as each other would be taken for coinciding, and shaken.
    direction = vectors[:, -1] / lengths
    direction = (direction - direction.mean()) / np.abs(direction).max()
    weights = np.stack([1 + SMALL * direction, 1 - 2 * SMALL * direction], axis=1)
    measured = []
    for factor in FACTORS:
        seen = coefficients_at_a_power(K, weights, factor * critical, STEPS)
        apart = [coefficients[0] - coefficients[1] for coefficients in seen]
        spread = np.sqrt([difference @ centred @ difference for difference in apart])
        measured.append(float((spread[-1] / spread[0]) ** (1 / (len(spread) - 1))))
    predicted = [(1 - factor * critical) / (1 - critical) for factor in FACTORS]
    return {"critical": critical, "predicted": predicted, "measured": measured}


def _report(results: Results, scale: Scale) -> Section:
    pictures = [_picture(results)] if len(results.where(task="growth")) else []
    return Section(
        "critical",
        "The critical power (not in the paper)",
        (
            "Centroids that all sit at the mean part again only below the critical power "
            "s* = 1 - 1/(2 lambda), lambda the top eigenvalue of the mean outer product of the "
            "samples' directions from the mean: a small difference between centroids is "
            "multiplied by (1 - s) / (1 - s*) per step. The paper starts at s = -1, which is above "
            "s* on most data: the centroids first collapse.",
            "Both starts run here with eta = 1.04 at every step, which the library keeps apart "
            "while they collapse.",
        ),
        (_growth_table(results), _start_table(results)),
        pictures,
    )


def _title(parameters: Any) -> str:
    if "sphere" in parameters:
        return f"sphere, k = {parameters['sphere']}"
    return TITLES[parameters["data"]]


def _growth_table(results: Results) -> Table:
    rows = []
    for parameters, outcome in results.where(task="growth"):
        critical = Entry(outcome["critical"], digits=2, tolerance=MEAN_TOLERANCE)
        measured = [Entry(value, tolerance=MEAN_TOLERANCE) for value in outcome["measured"]]
        rows.append((_title(parameters), [critical, *measured]))
        worst = max(
            abs(m / p - 1) for m, p in zip(outcome["measured"], outcome["predicted"], strict=True)
        )
        predicted = [Entry(value) for value in outcome["predicted"]]
        rows.append(
            (f"{_title(parameters)}, predicted (within {worst:.0e})", [Entry(None), *predicted])
        )
    return Table(
        "critical_growth",
        "Growth of a small difference between two centroids per step at powers about the critical "
        "one",
        ("data", "s*", *(f"s = {factor:g} s*" for factor in FACTORS)),
        rows,
        notes=("s* may be positive or near 0 for data that almost lie on a line (Seeds).",),
    )


def _start_table(results: Results) -> Table:
    found = results.where(task="start")
    rows = []
    for key in ("sphere", "data"):
        for value in found.values(key):
            outcomes = [found.one(**{key: value, "start": start}) for start in STARTS]
            if not all(outcomes):
                continue
            first, second = (outcome for outcome in outcomes if outcome)
            entries = [Entry(first["critical"], digits=2, tolerance=MEAN_TOLERANCE)]
            best = min(first["cost"] + second["cost"])
            for outcome in (first, second):
                gap = 100 * (mean(outcome["cost"]) / best - 1)
                entries += [
                    Entry(mean(outcome["nmi"]), tolerance=tolerance(outcome["nmi"])),
                    Entry(gap, digits=2, tolerance=COST_TOLERANCE),
                    Entry(mean(outcome["steps"]), digits=0),
                ]
            rows.append((_title({key: value}), entries))
    columns = [f"{what}, {start}" for start in STARTS for what in ("NMI", "gap %", "steps")]
    return Table(
        "critical_start",
        "Starting at s0 = -1 and at the critical power, matched random starts: mean NMI, cost "
        "above the best of both, steps",
        ("data", "s*", *columns),
        rows,
    )


def _picture(results: Results) -> Picture:
    def draw(axes: Any) -> None:
        ax = axes[0, 0]
        lines = [
            (_title(parameters), list(FACTORS), outcome["measured"], None)
            for parameters, outcome in results.where(task="growth")
        ]
        draw_lines(ax, lines)
        for line in ax.lines:
            line.set_linestyle("none")
        for _, outcome in results.where(task="growth"):
            ax.plot(FACTORS, outcome["predicted"], color="0.5", linewidth=0.8, zorder=0)
        ax.axhline(1, color="0.3", linewidth=0.8)
        ax.axvline(1, color="0.3", linewidth=0.8)
        ax.set(xlabel="power over the critical power", ylabel="growth per step")
        ax.legend(frameon=False, title="measured", loc="center left", bbox_to_anchor=(1, 0.5))

    return Picture(
        "critical",
        "Growth per step of a small difference between centroids: predicted (lines) and measured "
        "(marks).",
        new_figure(draw, height=2.9, width=5.2),
    )


CRITICAL = Experiment("critical", _grid, _run, _report, _real)
