"""Cost per second: restarts, annealing and swap moves on many tables, against the best known.

Run ``python benchmarks/frontier.py``, with ``--tables`` and ``--seeds`` for less. Tables that
kernelmeans_paper.datasets has not fetched are left out. Every method fits the same standardised
rows with the kernel rbf of rms width, or with ``--kernel heat``. Times are those of whole
fits on one processor, costs those of the labels under that kernel. A cell is a table and a number
of clusters; cells run side by side, one on each processor. The best known cost of a cell is the
least of all runs of all methods.
"""

import argparse
import os
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from kernelmeans import KernelKMeans, KernelPowerKMeans
from kernelmeans_paper.datasets import fetch, is_present

Table = tuple[np.ndarray, np.ndarray]
N_CLUSTERS = (3, 5, 8, 12, 20)
FETCHED = ("seeds", "jaffe", "orl", "coil20", "isolet", "glioma")
METHODS: dict[str, Callable[[int, int], KernelKMeans | KernelPowerKMeans]] = {
    f"plain, n_init={n}": lambda k, seed, n=n: KernelKMeans(k, n_init=n, random_state=seed)
    for n in (1, 10, 20, 100)
}
METHODS |= {
    "plain, swap moves": lambda k, seed: KernelKMeans(k, n_swaps="auto", random_state=seed),
    "annealed alone": lambda k, seed: KernelPowerKMeans(k, n_swaps=0, random_state=seed),
    "default": lambda k, seed: KernelPowerKMeans(k, random_state=seed),
    "default, n_swaps=200": lambda k, seed: KernelPowerKMeans(k, n_swaps=200, random_state=seed),
}
#: A cost of some hundred rows that is rounding only.
NIL = 1e-6
COMPARED, DEFAULT = ("plain, n_init=20", "plain, n_init=100"), "default"


def blobs(n: int, columns: int, k: int, spread: float, seed: int, equal: bool = True) -> Table:
    """Gaussian clusters at random places, of equal or of very different sizes."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-10, 10, (k, columns))
    shares = np.full(k, 1 / k) if equal else rng.dirichlet(np.full(k, 0.6))
    y = rng.choice(k, n, p=shares)
    return centres[y] + spread * rng.standard_normal((n, columns)), y


MADE: dict[str, Callable[[], Table]] = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "cancer": lambda: load_breast_cancer(return_X_y=True),
    "digits": lambda: load_digits(return_X_y=True),
    "blobs 2": lambda: blobs(1000, 2, 12, 1.5, 0),
    "blobs 5": lambda: blobs(1000, 5, 10, 3.0, 1),
    "blobs 20": lambda: blobs(1000, 20, 15, 6.0, 2),
    "unbalanced 2": lambda: blobs(800, 2, 10, 1.0, 3, equal=False),
    "unbalanced 5": lambda: blobs(1000, 5, 12, 2.0, 4, equal=False),
}


def load(name: str) -> Table:
    """Standardised rows of a table, and its classes."""
    X, y = MADE[name]() if name in MADE else fetch(name, return_X_y=True)
    return StandardScaler().fit_transform(np.asarray(X, float)), y


def cell(name: str, k: int, seeds: int, kernel: str) -> dict[str, list[tuple[float, ...]]]:
    """Cost, seconds, NMI and ARI of each method and seed."""
    # Plain restarts may leave a cluster empty or end at max_iter; they count as they are.
    warnings.simplefilter("ignore", ConvergenceWarning)
    # Graphs of clear blobs are in more pieces than the smaller numbers of clusters.
    warnings.filterwarnings("ignore", message="kernel='heat'")
    X, y = load(name)
    found: dict[str, list[tuple[float, ...]]] = {method: [] for method in METHODS}
    with threadpool_limits(1):
        for seed in range(seeds):
            for method, make in METHODS.items():
                begin = time.process_time()
                model = make(k, seed).set_params(kernel=kernel).fit(X)
                seconds = time.process_time() - begin
                nmi = normalized_mutual_info_score(y, model.labels_)
                ari = adjusted_rand_score(y, model.labels_)
                found[method].append((model.inertia_, seconds, nmi, ari))
    return found


def runs(names: list[str], seeds: int, kernel: str) -> dict[str, np.ndarray]:
    """Figures of all cells, by method: shape (cells, seeds, 4)."""
    found = []
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        cells = [(name, k) for name in names for k in N_CLUSTERS]
        waiting = [pool.submit(cell, *task, seeds, kernel) for task in cells]
        for (name, k), future in zip(cells, waiting, strict=True):
            found.append(future.result())
            costs = [np.array(rows)[:, 0] for rows in found[-1].values()]
            best = min(cost.min() for cost in costs)
            gaps = "".join(f"{gap(cost.mean(), best):>9.3f}" for cost in costs)
            print(f"{name:<14}{k:>3}{gaps}", flush=True)
    return {method: np.array([figures[method] for figures in found]) for method in METHODS}


def gap(cost: Any, best: Any) -> Any:
    """Percent above the best cost, which is 0 where the pieces of a graph are the clusters."""
    return 100 * (cost - best) / np.maximum(best, NIL)


def report(found: dict[str, np.ndarray]) -> None:
    """One line for each method; the default against restarts in each cell."""
    best = np.min([rows[..., 0].min(axis=1) for rows in found.values()], axis=0)[:, None]
    unit = found[COMPARED[0]][..., 1].sum()
    print(f"\n{'':<24}{'gap %':>8}{'worst':>8}{'seconds':>9}{'ratio':>7}{'NMI':>8}{'ARI':>8}")
    for method, rows in found.items():
        gaps, seconds = gap(rows[..., 0], best), rows[..., 1].sum()
        nmi, ari = rows[..., 2].mean(), rows[..., 3].mean()
        print(
            f"{method:<24}{gaps.mean():>8.3f}{gaps.max():>8.2f}{seconds:>9.1f}"
            f"{seconds / unit:>7.2f}{nmi:>8.4f}{ari:>8.4f}"
        )
    ours = found[DEFAULT][..., 0]
    for method in COMPARED:
        others = found[method][..., 0]
        worse = np.mean(gap(ours, others) > 0.1)
        better = np.mean(gap(others, ours) > 0.1)
        print(
            f"default against {method}, seed by seed: worse by more than 0.1 % in {worse:.1%} of "
            f"{ours.size} runs, better by more than 0.1 % in {better:.1%}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tables", default=",".join([*MADE, *FETCHED]), help="names, after commas")
    parser.add_argument("--seeds", type=int, default=5, help="seeds of each method")
    parser.add_argument("--kernel", default="rbf", choices=["rbf", "heat"])
    arguments = parser.parse_args()
    names = arguments.tables.split(",")
    absent = [name for name in names if name not in MADE and not is_present(name)]
    if absent:
        print(f"Left out, not fetched yet by kernelmeans_paper.datasets: {', '.join(absent)}")
    print("mean gap % of", "; ".join(METHODS))
    present = [name for name in names if name not in absent]
    report(runs(present, arguments.seeds, arguments.kernel))


if __name__ == "__main__":
    main()
