"""Table "multi": twelve kernels of image data, after Du et al. (2015)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from kernelmeans import KernelKMeans, MultiKernelPowerKMeans
from kernelmeans.baselines import MKKM, RKKM, RMKKM
from kernelmeans.kernels import du2015_kernels
from kernelmeans_paper import printed
from kernelmeans_paper.arrays import Array, IntArray
from kernelmeans_paper.grid import Experiment, Outcome, Results, Scale
from kernelmeans_paper.methods import (
    AUTOMATIC,
    MEMORY_BUDGET,
    PAPER_SCHEDULE,
    PAPERS,
    SCHEDULES,
    scheduled,
    spectral_labels,
)
from kernelmeans_paper.problems import TITLES, prepared
from kernelmeans_paper.ranking import average_ranks, missing, ranked
from kernelmeans_paper.report import Entry, Section, Table
from kernelmeans_paper.statistics import mean, tolerance

#: The published program of RMKKM makes ten starts in each of its runs.
RMKKM_STARTS = 10
#: How NMI is normalised: as the paper does, and as Du et al. do.
AVERAGES = {"arithmetic": "the arithmetic mean", "max": "the maximum"}
#: What every method here is given: starts, seed and memory.
Common = Mapping[str, Any]


def _each_kernel(model: Any, K: Array) -> Iterable[IntArray]:
    for matrix in K:
        yield from model.fit(matrix).result_.labels


def _kernel_kmeans(K: Array, k: int, common: Common) -> Iterable[IntArray]:
    return _each_kernel(KernelKMeans(k, kernel="precomputed", init="random", **common), K)


def _rkkm(K: Array, k: int, common: Common) -> Iterable[IntArray]:
    return _each_kernel(RKKM(k, kernel="precomputed", **common), K)


def _spectral(K: Array, k: int, common: Common) -> Iterable[IntArray]:
    for matrix in K:
        yield from spectral_labels(matrix, k, common["n_init"])


def _rmkkm(K: Array, k: int, common: Common, restarts: int) -> Iterable[IntArray]:
    """One run for each seed, which keeps the best of its restarts."""
    model = RMKKM(k, kernels="precomputed", **{**common, "n_init": restarts})
    for seed in range(common["n_init"]):
        yield model.set_params(random_state=seed).fit(K).labels_


def _together(estimator: Any, K: Array, k: int, common: Common, **others: Any) -> IntArray:
    """All starts of a method of several kernels in one fit."""
    labels: IntArray = estimator(k, kernels="precomputed", **common, **others).fit(K).result_.labels
    return labels


def _mkpk(K: Array, k: int, common: Common, **others: Any) -> IntArray:
    return _together(MultiKernelPowerKMeans, K, k, common, n_swaps=0, **others)


#: By title.
METHODS: Mapping[str, Callable[[Array, int, Common], Iterable[IntArray]]] = {
    # The paper brings its kernels to [0, 1]; it does not say its lambda.
    f"MKPK, {PAPERS}": lambda K, k, common: _mkpk(
        K, k, common, init="random", kernel_scaling="min-max", **PAPER_SCHEDULE
    ),
    f"MKPK, {AUTOMATIC}": _mkpk,
    "MKPK, uniform weights": lambda K, k, common: _mkpk(K, k, common, entropy_weight=np.inf),
    "Kernel k-means": _kernel_kmeans,
    "Spectral": _spectral,
    "MKKM": lambda K, k, common: _together(MKKM, K, k, common),
    "RKKM": _rkkm,
    "RMKKM": lambda K, k, common: _rmkkm(K, k, common, RMKKM_STARTS),
    "RMKKM, one start": lambda K, k, common: _rmkkm(K, k, common, 1),
}
#: By the paper's names.
RANKED = ("MKPK", *(method for method in METHODS if method in printed.MULTI_METHODS))
#: Methods that are not ranked, and the row in which each stands.
BESIDE = {"MKPK, uniform weights": AUTOMATIC, "RMKKM, one start": PAPERS}


def _sets(scale: Scale) -> Sequence[str]:
    return scale.choose(tuple(printed.MULTI), ("yale",))


def _grid(scale: Scale) -> list[dict[str, Any]]:
    return [
        {"data": name, "method": method, "starts": scale.starts}
        for name in reversed(_sets(scale))  # the largest first
        for method in METHODS
    ]


def _run(data: str, method: str, starts: int) -> Outcome:
    X, y = prepared(data)
    K, k = du2015_kernels(X), len(np.unique(y))
    common = {"n_init": starts, "random_state": 0, "memory_budget": MEMORY_BUDGET}
    labels = list(METHODS[method](K, k, common))
    return {
        how: [float(normalized_mutual_info_score(y, run, average_method=how)) for run in labels]
        for how in AVERAGES
    }


def _report(results: Results, scale: Scale) -> Section:
    return Section(
        "multi",
        "Several kernels",
        (
            "The twelve kernels of Du et al. (2015) on their sets, rows prepared as they did. "
            "Kernel k-means, RKKM and spectral clustering are means over the twelve kernels, each "
            "on its own. MKPK with the paper's schedule starts at random rows and brings kernels "
            "to [0, 1], as the paper does. With the automatic schedule it starts at k-means++ "
            "seeds and puts the kernels on the scale of unit variance. Neither makes swap moves "
            "(n_swaps=0). Each has a row of its own; the other ranked methods are the same in "
            "both. The k-means of spectral clustering starts at k-means++ seeds, all others at "
            "random.",
        ),
        [_table(results, scale, how) for how in AVERAGES],
    )


def _theirs(name: str) -> dict[str, float]:
    """The paper's values of a row."""
    return dict(zip(printed.MULTI_METHODS, printed.MULTI[name], strict=True))


def _normalised(name: str, how: str) -> dict[str, float]:
    """Those of them that are normalised in this way."""
    return {m: v for m, v in _theirs(name).items() if (m == "MKPK") == (how == "arithmetic")}


def _table(results: Results, scale: Scale, how: str) -> Table:
    rows: list[tuple[str, Sequence[Entry]]] = []
    own: dict[str, list[Sequence[Entry]]] = {schedule: [] for schedule in SCHEDULES}
    papers = []
    for name in _sets(scale):
        found = {m: o[how] for m in METHODS if (o := results.one(data=name, method=m)) is not None}
        if len(found) < len(METHODS):
            theirs = _normalised(name, how)
            cells = missing(name, scale, [theirs.get(m) for m in (*RANKED, *BESIDE)])
            rows.append((TITLES[name], cells))
            continue
        papers.append([_theirs(name)[method] for method in RANKED])
        for schedule in SCHEDULES:
            runs = {method: found[scheduled(method, schedule, METHODS)] for method in RANKED}
            own[schedule].append(ranked(runs, _normalised(name, how) if schedule == PAPERS else {}))
            beside = [_beside(found[m]) if BESIDE[m] == schedule else Entry(None) for m in BESIDE]
            rows.append((f"{TITLES[name]}, {schedule}", [*own[schedule][-1], *beside]))
    for schedule in SCHEDULES if papers else ():
        ranks = average_ranks(own[schedule], papers if schedule == PAPERS else ())
        rows.append((f"Average rank, {schedule}", [*ranks, *[Entry(None)] * len(BESIDE)]))
    return Table(
        "multi" if how == "arithmetic" else "multi_max",
        f"Mean NMI over {scale.starts} starts, normalised by {AVERAGES[how]} of the entropies",
        ("data", *RANKED, *BESIDE),
        rows,
        notes=(
            "Printed values stand in the table of the normalisation that they were computed with: "
            "MKPK's the arithmetic mean, all others the maximum. The paper's average ranks are "
            "those of its values in the same rows, whatever their normalisation; its 6.5 of kernel "
            "k-means is a slip for 5.5.",
            "RMKKM: the authors' program keeps the best of ten starts in each run, and so does the "
            "ranked column.",
        ),
    )


def _beside(values: Sequence[float]) -> Entry:
    return Entry(mean(values), tolerance=tolerance(values))


MULTI = Experiment("multi", _grid, _run, _report, _sets)
