"""Table "single" and its k-means++ version: one kernel, real data, matched starts."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from kernelmeans import datasets
from kernelmeans.kernels import Kernel, resolve_gamma
from kernelmeans.paper import printed
from kernelmeans.paper.grid import Experiment, Outcome, Results, Scale
from kernelmeans.paper.methods import (
    METHODS,
    RANKED,
    Problem,
    plusplus_starts,
    random_starts,
    scores,
)
from kernelmeans.paper.statistics import mark, mean, ranks, signed_rank_p
from kernelmeans.report import Entry, Section, Table

#: The paper's rows, and two sets that it does not have.
PAPER_SETS = tuple(printed.SINGLE)
OTHER_SETS = ("orl", "lung_bhattacharjee")
QUICK_SETS = ("seeds", "lung_discrete", "glioma")
SEEDINGS = {"random": printed.SINGLE, "k-means++": printed.SINGLE_PLUSPLUS}
#: Why a row does not come out as printed, where something is known.
REASONS = {
    "tox_171": "TOX171, GLIOMA: annealing reaches the lower cost, but not the higher NMI; the "
    "printed values of all methods are out of reach on the public files.",
    "lung_discrete": "Lung discrete, Isolet, COIL20: all methods lie below the printed values or "
    "are shifted alike; the authors' preparation of the files is not known.",
}
TITLES = {
    "yale": "Yale",
    "jaffe": "JAFFE",
    "tox_171": "TOX171",
    "seeds": "Seeds",
    "lung": "Lung",
    "isolet": "Isolet",
    "lung_discrete": "Lung discrete",
    "coil20": "COIL20",
    "glioma": "GLIOMA",
    "orl": "ORL (not in the paper)",
    "lung_bhattacharjee": "lung_bhattacharjee (not in the paper)",
}


def standardised(name: str) -> tuple[Any, Any, Any, int]:
    """Rows with columns centred and scaled, the paper's Gaussian kernel of them, classes and k."""
    X, y = datasets.fetch(name, return_X_y=True)
    X = StandardScaler().fit_transform(X)
    kernel = Kernel("rbf", {"gamma": resolve_gamma("rms", "rbf", X)})
    return X, kernel(X, X), y, len(np.unique(y))


def _sets(scale: Scale) -> Sequence[str]:
    return QUICK_SETS if scale.quick else (*PAPER_SETS, *OTHER_SETS)


def _grid(scale: Scale) -> list[dict[str, Any]]:
    return [
        {"data": name, "seeding": seeding, "method": method, "starts": scale.starts}
        for name in _sets(scale)
        for seeding in SEEDINGS
        for method in METHODS
        # scikit-learn's takes no starts: there is one row of it for both tables.
        if not (method == "Spectral" and seeding == "k-means++")
    ]


def _run(data: str, seeding: str, method: str, starts: int) -> Outcome:
    X, K, y, k = standardised(data)
    indices = (
        random_starts(len(y), k, starts) if seeding == "random" else plusplus_starts(K, k, starts)
    )
    problem = Problem(X, K, y, k, indices)
    return scores(problem, METHODS[method](problem))


def _outcomes(results: Results, data: str, seeding: str) -> dict[str, Outcome]:
    """The outcomes of a row by method; none where one is missing."""
    found = {
        method: results.one(
            data=data, seeding="random" if method == "Spectral" else seeding, method=method
        )
        for method in METHODS
    }
    return {method: o for method, o in found.items() if o} if all(found.values()) else {}


def _report(results: Results, scale: Scale) -> Section:
    tables: list[Table] = []
    for seeding in SEEDINGS:
        rows = {name: _outcomes(results, name, seeding) for name in _sets(scale)}
        tables += [
            _nmi_table(rows, seeding, scale),
            _p_table(rows, seeding, scale),
            _cost_table(rows, seeding, scale),
        ]
    return Section(
        "single",
        "One kernel, real data",
        (
            "Columns centred and scaled, Gaussian kernel of the paper's width (the root mean "
            "square distance of two rows), every method from the same starts. Kernel power k-means "
            "and power k-means run with the library's defaults and with the paper's schedule "
            "(s0 = -1, eta = 1.04 every 5 steps), whose collapse onto the mean is prevented; ranks "
            "count the defaults. Spectral clustering is scikit-learn's on the same kernel matrix, "
            "which seeds its own k-means by k-means++ in both tables.",
        ),
        tables,
    )


def _name(seeding: str, stem: str) -> str:
    return stem if seeding == "random" else f"{stem}_plusplus"


def _missing(scale: Scale, name: str, count: int) -> list[Entry]:
    reason = "file not here" if name in scale.absent else "not run"
    return [Entry(reason), *[Entry(None)] * (count - 1)]


def _best(outcomes: Mapping[str, Outcome]) -> str:
    """The best of the ranked methods."""
    return max(RANKED, key=lambda method: mean(outcomes[method]["nmi"]))


def _nmi_table(rows: Mapping[str, Mapping[str, Outcome]], seeding: str, scale: Scale) -> Table:
    lines = []
    all_ranks = []
    for name, outcomes in rows.items():
        values = dict(zip(printed.SINGLE_METHODS, SEEDINGS[seeding].get(name, ()), strict=False))
        if outcomes:
            nmi = {method: mean(outcomes[method]["nmi"]) for method in METHODS}
            own = dict(zip(RANKED, ranks([nmi[method] for method in RANKED]), strict=True))
            all_ranks.append(list(own.values()))
            best = _best(outcomes)
            entries = [
                Entry(
                    nmi[method],
                    values.get(method),
                    "" if method == best else _mark(outcomes, method, best),
                    own.get(method),
                    method == best,
                )
                for method in METHODS
            ]
        else:
            entries = _missing(scale, name, len(METHODS))
            entries = [
                Entry(entry.value, values.get(method))
                for entry, method in zip(entries, METHODS, strict=True)
            ]
        lines.append((TITLES[name], entries))
    if all_ranks:
        lines.append(("Average rank", _average_ranks(all_ranks, seeding)))
    return Table(
        _name(seeding, "single"),
        f"Mean NMI over {scale.starts} matched {seeding} starts, and rank of the defaults",
        ("data", *METHODS),
        lines,
        notes=(
            "+: significantly different from the best of the ranked methods (bold) by Wilcoxon's "
            "signed-rank test at 5 %; ≈: not. The average rank is over the rows that are here.",
            "The printed average ranks 3.11 and 2.78 are slips for 3.22 and 2.67: two ranks in the "
            "row of Yale are exchanged.",
            *(reason for name, reason in REASONS.items() if rows.get(name)),
            "Lung: the paper's file (ASU lung.mat) has no pinned public address; "
            "lung_bhattacharjee is another selection of genes from the same samples.",
        ),
    )


def _mark(outcomes: Mapping[str, Outcome], method: str, best: str) -> str:
    return mark(signed_rank_p(outcomes[method]["nmi"], outcomes[best]["nmi"]))


def _average_ranks(all_ranks: list[list[float]], seeding: str) -> list[Entry]:
    average = dict(zip(RANKED, np.mean(all_ranks, axis=0).tolist(), strict=True))
    theirs = dict(zip(printed.SINGLE_METHODS, printed.SINGLE_RANKS, strict=True))
    return [
        Entry(
            average.get(method),
            theirs.get(method) if seeding == "random" and method in average else None,
            best=average.get(method) == min(average.values()),
            digits=2,
        )
        for method in METHODS
    ]


def _p_table(rows: Mapping[str, Mapping[str, Outcome]], seeding: str, scale: Scale) -> Table:
    lines = []
    for name, outcomes in rows.items():
        if not outcomes:
            continue
        best = _best(outcomes)
        p = {m: signed_rank_p(outcomes[m]["nmi"], outcomes[best]["nmi"]) for m in METHODS}
        own = [Entry("best" if method == best else f"{p[method]:.2g}") for method in METHODS]
        lines.append((TITLES[name], own))
        if seeding == "random" and name in printed.P_VALUES:
            theirs = dict(zip(printed.SINGLE_METHODS, printed.P_VALUES[name], strict=True))
            texts = {m: "best" if value is None else f"{value:.2g}" for m, value in theirs.items()}
            lines.append(("… in the paper", [Entry(texts.get(method)) for method in METHODS]))
    return Table(
        _name(seeding, "single_p"),
        "p-values of Wilcoxon's signed-rank test of NMI against the best of the ranked methods, "
        f"{scale.starts} matched {seeding} starts",
        ("data", *METHODS),
        lines,
    )


def _cost_table(rows: Mapping[str, Mapping[str, Outcome]], seeding: str, scale: Scale) -> Table:
    lines = []
    for name, outcomes in rows.items():
        if outcomes:
            best = min(min(outcome["cost"]) for outcome in outcomes.values())
            gaps = {m: 100 * (mean(outcomes[m]["cost"]) / best - 1) for m in METHODS}
            kernel = {m: gaps[m] for m in METHODS if m.startswith("Kernel")}
            lines.append(
                (
                    TITLES[name],
                    [Entry(gaps[m], best=gaps[m] == min(kernel.values())) for m in METHODS],
                )
            )
    return Table(
        _name(seeding, "single_cost"),
        "Mean cost of kernel k-means above the best that any run of the row reached, %, "
        f"{scale.starts} matched {seeding} starts",
        ("data", *METHODS),
        lines,
        digits=2,
        notes=(
            "Power k-means and spectral clustering minimise something else: their labels' cost is "
            "shown beside it.",
        ),
    )


SINGLE = Experiment("single", "One kernel, real data", _grid, _run, _report, _sets)
