"""What rounding changes on real data: precision, threads, a perturbation of the kernel matrix.

Run ``python benchmarks/agreement.py``, with ``--sets`` for some sets only. Sets that
kernelmeans.datasets has not fetched yet are left out. (Costs, NMI and steps of methods and
schedules are printed by ``kernelmeans paper single schedules``.)
"""

import argparse
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from kernelmeans import KernelPowerKMeans
from kernelmeans.datasets import NAMES, is_present
from kernelmeans.paper.problems import standardised


def agreement(names: list[str]) -> None:
    """Lowest agreement of fits that should be the same, for each set."""
    print("Defaults, 5 seeds: lowest ARI between two fits that differ in rounding only")
    heads = ("float32/64", "1/2 threads", "rbf, float32/64", "1/2 threads", "K + 1e-12")
    print(f"{'':<20}" + "".join(f"{head:>17}" for head in heads))
    for name in names:
        problem = standardised(name)
        noise = np.random.default_rng(0).standard_normal(problem.K.shape)
        shaken = problem.K + 1e-12 * (noise + noise.T)
        cells: list[list[float]] = [[] for _ in heads]
        for seed in range(5):
            found: list[float] = []
            for kernel in ("heat", "rbf"):
                model = KernelPowerKMeans(problem.k, kernel=kernel, random_state=seed)
                labels = model.fit_predict(problem.X)
                single = model.fit_predict(problem.X.astype("f4"))
                with threadpool_limits(1):
                    one_thread = model.fit_predict(problem.X)
                found += [adjusted_rand_score(labels, single), np.array_equal(labels, one_thread)]
            model.set_params(kernel="precomputed")
            found.append(np.array_equal(model.fit_predict(problem.K), model.fit_predict(shaken)))
            for cell, value in zip(cells, found, strict=True):
                cell.append(float(value))
        lowest = [
            f"{min(cell):.4f}" if j in (0, 2) else _same(cell) for j, cell in enumerate(cells)
        ]
        print(f"{name:<20}" + "".join(f"{value:>17}" for value in lowest), flush=True)


def _same(equal: list[float]) -> str:
    return "same" if min(equal) == 1 else f"{sum(equal):.0f} of {len(equal)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", default=",".join(NAMES), help="comma separated names")
    names = parser.parse_args().sets.split(",")
    absent = [name for name in names if not is_present(name)]
    if absent:
        print(f"Left out, for kernelmeans.datasets.fetch has yet to get them: {', '.join(absent)}")
    # Runs that end at max_iter count as they are.
    warnings.simplefilter("ignore", ConvergenceWarning)
    agreement([name for name in names if name not in absent])


if __name__ == "__main__":
    main()
