"""The simulation study: von Mises-Fisher clusters on the sphere, from 10 to 100 of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.manifold import TSNE

from kernelmeans.simulate import make_sphere_clusters
from kernelmeans_paper.grid import Experiment, Outcome, Results, Scale
from kernelmeans_paper.methods import METHODS, PAPERS, scores
from kernelmeans_paper.problems import on_sphere, random_starts
from kernelmeans_paper.report import Entry, Picture, Section, Table, new_figure
from kernelmeans_paper.report.picture import draw_lines, draw_partition
from kernelmeans_paper.statistics import mean, spread

PLAIN: dict[str, float] = {"imbalance": 1.0, "noise": 0.0}
#: Harder variants, for one k.
VARIANTS: dict[str, dict[str, float]] = {
    "imbalanced (largest 8 times the smallest)": {"imbalance": 8.0, "noise": 0.0},
    "noisy (20 % rows from everywhere)": {"imbalance": 1.0, "noise": 0.2},
}
VARIANT_K = 20
#: Whose partitions the panels show.
PANELS = (f"Kernel power k-means, {PAPERS}", "Kernel k-means")
SCORES = {"nmi": "NMI", "ari": "adjusted Rand index"}


def _sizes(scale: Scale) -> list[int]:
    return [10, 20] if scale.quick else [10, 20, 50, 100]


def _grid(scale: Scale) -> list[dict[str, Any]]:
    made = [(k, PLAIN) for k in _sizes(scale)] + [(VARIANT_K, v) for v in VARIANTS.values()]
    return [
        {"k": k, **variant, "seed": seed, "method": method, "starts": scale.starts}
        # The longest first, so that no process is left with them at the end.
        for k, variant in sorted(made, key=lambda pair: -pair[0])
        for method in METHODS
        for seed in range(min(scale.datasets, 2) if scale.quick else scale.datasets)
    ]


def _run(k: int, imbalance: float, noise: float, seed: int, method: str, starts: int) -> Outcome:
    problem = on_sphere(k, seed, np.float32, imbalance=imbalance, noise=noise)
    problem = problem._replace(starts=random_starts(len(problem.y), k, starts))
    runs = METHODS[method](problem)
    outcome: dict[str, Any] = scores(problem, runs)
    if k == 10 and seed == 0 and method in PANELS:
        typical = int(np.argsort(outcome["nmi"], kind="stable")[len(outcome["nmi"]) // 2])
        outcome["typical"] = {
            "nmi": outcome["nmi"][typical],
            "labels": runs.labels[typical].tolist(),
            "points": TSNE(2, perplexity=20, random_state=0).fit_transform(problem.X).tolist(),
        }
    return outcome


def _all(results: Results, key: str, **wanted: Any) -> list[float]:
    """Values of all runs on all data sets."""
    return [value for _, outcome in results.where(**wanted) for value in outcome[key]]


def _report(results: Results, scale: Scale) -> Section:
    sizes = [k for k in _sizes(scale) if len(results.where(k=k, **PLAIN))]
    tables = [_score_table(results, sizes, key, scale) for key in SCORES]
    tables += [_step_table(results, sizes, scale), _variant_table(results, scale)]
    pictures = [_curves(results, sizes)] if sizes else []
    if all(results.where(k=10, seed=0, method=method, **PLAIN) for method in PANELS):
        pictures.append(_panels(results))
    return Section(
        "sphere",
        "Simulation study on the sphere",
        (
            "Mean directions uniform on the unit sphere of 20 dimensions, 20 points from a von "
            "Mises-Fisher distribution with kappa = 30 around each; kernel "
            "exp(-arccos(x.y) / (2 sigma^2)) with sigma = 1, float32. The paper's n = 20 points "
            "cannot be meant with up to 100 clusters: 20 per cluster are drawn here.",
            "These clusters are round: power k-means, which has no kernel, is at home here, and "
            "what annealing gains over kernel k-means is not the kernel's doing. Compare its rows, "
            "and those of spectral clustering where clusters are many.",
        ),
        tables,
        pictures,
    )


def _means(results: Results, key: str, method: str, sizes: Sequence[int]) -> list[Entry]:
    found = [_all(results, key, k=k, method=method, **PLAIN) for k in sizes]
    return [Entry(mean(values) if values else None) for values in found]


def _score_table(results: Results, sizes: Sequence[int], key: str, scale: Scale) -> Table:
    return Table(
        f"sphere_{key}",
        f"Sphere: mean {SCORES[key]} by number of clusters, {scale.starts} matched random starts "
        "on each data set",
        ("method", *(f"k = {k}" for k in sizes)),
        [(method, _means(results, key, method, sizes)) for method in METHODS],
        digits=3,
        notes=("The paper shows a figure without numbers.",) if key == "nmi" else (),
    )


def _step_table(results: Results, sizes: Sequence[int], scale: Scale) -> Table:
    methods = [method for method in METHODS if method != "Spectral"]
    return Table(
        "sphere_steps",
        "Sphere: mean number of steps",
        ("method", *(f"k = {k}" for k in sizes)),
        [(method, _means(results, "steps", method, sizes)) for method in methods],
        digits=0,
    )


def _variant_table(results: Results, scale: Scale) -> Table:
    variants = {"as in the paper": PLAIN, **VARIANTS}

    def entry(method: str, variant: dict[str, float]) -> Entry:
        found = _all(results, "nmi", k=VARIANT_K, method=method, **variant)
        return Entry(mean(found) if found else None)

    return Table(
        "sphere_variants",
        f"Sphere, k = {VARIANT_K}: mean NMI when clusters differ in size or are not alone",
        ("method", *variants),
        [(method, [entry(method, variant) for variant in variants.values()]) for method in METHODS],
        digits=3,
        notes=("Noise counts in the fit but not in the NMI.",),
    )


def _curves(results: Results, sizes: Sequence[int]) -> Picture:
    def draw(axes: Any) -> None:
        for ax, (key, label) in zip(axes[0], SCORES.items(), strict=True):
            lines = []
            for method in METHODS:
                found = [_all(results, key, k=k, method=method, **PLAIN) for k in sizes]
                if all(found):
                    title = method.removesuffix(" schedule")
                    lines.append((title, sizes, list(map(mean, found)), list(map(spread, found))))
            draw_lines(ax, lines)
            ax.set_xscale("log")
            ax.set_xticks(sizes, [str(k) for k in sizes])
            ax.minorticks_off()
            ax.set_xlabel("number of clusters")
            ax.set_ylabel(label)
        handles, names = axes[0, 0].get_legend_handles_labels()
        axes[0, 0].figure.legend(handles, names, loc="outside lower center", ncols=3, frameon=False)

    return Picture(
        "sphere",
        "Agreement with the known clusters on the sphere; bands are one standard deviation over "
        "all runs on all data sets.",
        new_figure(draw, 1, 2, height=3.1),
    )


def _panels(results: Results) -> Picture:
    _, y = make_sphere_clusters(10, random_state=0)

    def draw(axes: Any) -> None:
        for ax, method in zip(axes[0], PANELS, strict=True):
            outcome = results.one(k=10, seed=0, method=method, **PLAIN)
            assert outcome is not None
            typical = outcome["typical"]
            draw_partition(ax, np.array(typical["points"]), np.array(typical["labels"]), y)
            ax.set_title(f"{method}\nNMI {typical['nmi']:.3f}")

    return Picture(
        "sphere_tsne",
        "t-SNE of one data set with k = 10, coloured by the partition of the run with the median "
        "NMI. Crosses are rows that do not have the label that most of their cluster has.",
        new_figure(draw, 1, 2, height=2.6, layout="compressed"),
    )


SPHERE = Experiment("sphere", _grid, _run, _report)
