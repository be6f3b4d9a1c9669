"""Effects of rounding on real data: precision, threads, a perturbation of the kernel matrix.

Run ``python benchmarks/agreement.py``, with ``--sets`` for some sets only and ``--kernel heat`` for
the heat kernel. Another order of the rows and a second run then replace the kernel matrix. Sets
that kernelmeans_paper.datasets has not fetched yet are left out. (Costs, NMI and steps of methods
and schedules are printed by ``kernelmeans-paper single schedules``.)
"""

import argparse
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from kernelmeans import KernelPowerKMeans
from kernelmeans_paper.datasets import NAMES, is_present
from kernelmeans_paper.problems import standardised

SEEDS = 5


def agreement(names: list[str]) -> None:
    """Lowest agreement of fits that should be the same, for each set."""
    print("kernel='rbf', 5 seeds: lowest ARI between two fits that differ in rounding only")
    print(f"{'':<20}{'float32/64':>12}{'1/2 threads':>13}{'K + 1e-12':>12}")
    for name in names:
        problem = standardised(name)
        X, K, k = problem.X, problem.K, problem.k
        noise = np.random.default_rng(0).standard_normal(K.shape)
        shaken = K + 1e-12 * (noise + noise.T)
        cells: list[list[float]] = [[], [], []]
        for seed in range(SEEDS):
            model = KernelPowerKMeans(k, kernel="rbf", random_state=seed)
            labels = model.fit_predict(X)
            cells[0].append(adjusted_rand_score(labels, model.fit_predict(X.astype("f4"))))
            cells[1].append(_with_one_thread(model, X, labels))
            model.set_params(kernel="precomputed")
            same = np.array_equal(model.fit_predict(K), model.fit_predict(shaken))
            cells[2].append(float(same))
        print(f"{name:<20}{min(cells[0]):>12.4f}{_same(cells[1]):>13}{_same(cells[2]):>12}",
              flush=True)  # fmt: skip


def agreement_of_heat(names: list[str]) -> None:
    """The same for heat kernels, whose graph does not depend on the order of rows."""
    print("kernel='heat', 5 seeds: lowest ARI between two fits of the same rows")
    head = f"{'':<20}{'float32/64':>12}{'another order':>15}{'1/2 threads':>13}{'second run':>12}"
    print(head)
    for name in names:
        X, k = standardised(name).X, standardised(name).k
        order = np.random.default_rng(0).permutation(len(X))
        cells: list[list[float]] = [[], [], [], []]
        for seed in range(SEEDS):
            model = KernelPowerKMeans(k, kernel="heat", random_state=seed)
            labels = model.fit_predict(X)
            cells[0].append(adjusted_rand_score(labels, model.fit_predict(X.astype("f4"))))
            cells[1].append(adjusted_rand_score(labels[order], model.fit_predict(X[order])))
            cells[2].append(_with_one_thread(model, X, labels))
            cells[3].append(float(np.array_equal(labels, model.fit_predict(X))))
        print(f"{name:<20}{min(cells[0]):>12.4f}{min(cells[1]):>15.4f}{_same(cells[2]):>13}"
              f"{_same(cells[3]):>12}", flush=True)  # fmt: skip


def _with_one_thread(model: KernelPowerKMeans, X: np.ndarray, labels: np.ndarray) -> float:
    with threadpool_limits(1):
        return float(np.array_equal(labels, model.fit_predict(X)))


def _same(equal: list[float]) -> str:
    return "same" if min(equal) == 1 else f"{sum(equal):.0f} of {len(equal)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", default=",".join(NAMES), help="comma separated names")
    parser.add_argument("--kernel", choices=["rbf", "heat"], default="rbf")
    arguments = parser.parse_args()
    names = arguments.sets.split(",")
    absent = [name for name in names if not is_present(name)]
    if absent:
        print(f"Left out, not fetched yet by kernelmeans_paper.datasets: {', '.join(absent)}")
    # Runs that end at max_iter count as they are.
    warnings.simplefilter("ignore", ConvergenceWarning)
    compare = agreement_of_heat if arguments.kernel == "heat" else agreement
    compare([name for name in names if name not in absent])


if __name__ == "__main__":
    main()
