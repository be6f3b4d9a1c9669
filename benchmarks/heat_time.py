"""The time of heat kernels: rules compared by the labels of one default fit.

Run ``python benchmarks/heat_time.py``, with ``--sets`` for some sets only. All rules get the same
graphs and the same eigenvalues. The features, and everything after them, are the library's.
"""

import argparse
import warnings
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from heat_sets import NAMES, Table, load, present
from kernelmeans import KernelPowerKMeans
from kernelmeans.heat import HeatKernel
from kernelmeans.heat.basis import solve_time
from kernelmeans.heat.eigenpairs import leading_pairs, normalized
from kernelmeans.heat.pieces import find_pieces
from kernelmeans.kernels.formulas import unit_rows

#: Bounds of the time, also for rules without a solution.
SHORTEST, LONGEST = 1e-2, 1e6


class Spectrum(NamedTuple):
    """Leading eigenpairs of all pieces that are kept."""

    values: Table
    vectors: Table
    k: int
    pieces: int


def spectrum(kernel: HeatKernel, k: int) -> Spectrum:
    """The input of the rules: the graph of a fitted kernel, ten pairs for each cluster."""
    rows, count = kernel._features.rows, kernel.parameters["n_neighbors"]
    density = kernel._settle_density(
        lambda wanted, end: rows.distances(max(wanted, count - 1), end), rows.rows.shape[0]
    )
    graph = rows.graph(count, density)
    pieces, S = find_pieces(graph, k), normalized(graph)
    values, vectors = [], []
    for piece in range(pieces.n_kept):
        of_piece = np.flatnonzero(pieces.labels == piece)
        found, vectors_of_piece = leading_pairs(S, of_piece, min(len(of_piece), 10 * k + 50))
        whole = np.zeros((S.shape[0], len(found)))
        whole[of_piece] = vectors_of_piece
        values.append(found)
        vectors.append(whole)
    return Spectrum(np.concatenate(values), np.hstack(vectors), k, pieces.n_kept)


def solved(number: Callable[[float], float], k: int) -> float:
    """The time at which a number of states that falls with time is k."""
    low, high = SHORTEST, LONGEST
    for _ in range(60):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if number(middle) > k else (low, middle)
    return high


def trace(pairs: Spectrum) -> float:
    """As many states as clusters: the library's rule."""
    return solve_time(pairs.values, pairs.k, pairs.pieces)


def counted(pairs: Spectrum) -> float:
    """The same, but eigenvectors that live on few rows are not whole states."""
    rows = 1 / (pairs.vectors**4).sum(axis=0)
    count = np.minimum(1, rows / (0.05 * len(pairs.vectors) / pairs.k))
    if count[pairs.values > 1 - 1e-12].sum() >= pairs.k - 1e-3:
        return trace(pairs)
    return solved(lambda t: float(count @ np.exp(-2 * t * (1 - pairs.values))), pairs.k)


def participation(pairs: Spectrum) -> float:
    """The time at which n^2 / ||K||^2 of the cosine kernel is the number of clusters."""

    def ratio(t: float) -> float:
        Z = unit_rows(pairs.vectors * np.exp(-t * (1 - pairs.values)))
        Z = Z[Z.any(axis=1)]
        return float(len(Z) ** 2 / ((Z.T @ Z) ** 2).sum())

    return solved(ratio, pairs.k)


def entropy_knee(pairs: Spectrum) -> float:
    """The knee of the von Neumann entropy over times 1 to 100, as PHATE finds it."""
    times = np.arange(1.0, 101.0)
    weights = np.exp(-2 * times[:, None] * (1 - pairs.values))
    weights /= weights.sum(axis=1, keepdims=True)
    entropy = -(weights * np.log(np.maximum(weights, 1e-300))).sum(axis=1)

    def misfit(part: slice) -> float:
        line = np.polyfit(times[part], entropy[part], 1)
        return float(np.abs(np.polyval(line, times[part]) - entropy[part]).sum())

    breaks = range(2, len(times) - 2)
    return float(times[min(breaks, key=lambda i: misfit(slice(0, i + 1)) + misfit(slice(i, None)))])


RULES: Mapping[str, Callable[[Spectrum], float]] = {
    "trace": trace,
    "counted": counted,
    "participation": participation,
    "entropy knee": entropy_knee,
}


def compare(names: list[str], seeds: int) -> None:
    """NMI, ARI and time of each rule on each set, and their means."""
    scores: list[list[list[float]]] = []
    print(f"{'NMI, ARI, t':<18}{'n':>6}{'k':>4}{'pieces':>7}" + "".join(f"{r:^24}" for r in RULES))
    for name in names:
        X, y = load(name)
        k = len(np.unique(y))
        kernel = HeatKernel().fit(X, n_clusters=k)
        pairs = spectrum(kernel, k)
        scores.append([])
        cells = f"{name:<18}{len(X):>6}{k:>4}{kernel.n_pieces:>7}"
        for rule in RULES.values():
            t = min(max(rule(pairs), SHORTEST), LONGEST)
            model = KernelPowerKMeans(
                k, kernel="heat", n_neighbors=kernel.parameters["n_neighbors"], t=t
            )
            fits = [model.set_params(random_state=seed).fit_predict(X) for seed in range(seeds)]
            nmi = float(np.mean([normalized_mutual_info_score(y, labels) for labels in fits]))
            ari = float(np.mean([adjusted_rand_score(y, labels) for labels in fits]))
            scores[-1].append([nmi, ari])
            cells += f"{nmi:>7.3f}{ari:>7.3f}{t:>9.3g} "
        print(cells, flush=True)
    means = np.mean(scores, axis=0)
    print(
        f"{f'mean of {len(names)}':<35}" + "".join(f"{a:>7.3f}{b:>7.3f}{'':10}" for a, b in means)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", default=";".join(NAMES), help="names, separated by semicolons")
    parser.add_argument("--seeds", type=int, default=1, help="fits of each rule and set")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    compare(present(arguments.sets.split(";")), arguments.seeds)


if __name__ == "__main__":
    main()
