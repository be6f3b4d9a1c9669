"""The quality of a low rank: matched starts against the exact kernel, on real data.

Run ``python benchmarks/lowrank.py``, with ``--sets`` for some sets only. Sets that
kernelmeans_paper.datasets has not fetched yet are left out.
"""

import argparse
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from kernelmeans import KernelPowerKMeans
from kernelmeans_paper.datasets import NAMES, is_present
from kernelmeans_paper.methods import kernel_cost
from kernelmeans_paper.problems import standardised

STARTS = 20


def low_rank(names: list[str], share: float) -> None:
    """Mean true cost and agreement with exact fits from the same random starts, for each set."""
    print(f"{share:.0%} of tr K kept, {STARTS} matched random starts, against the exact kernel:")
    print("left out; number of components; true cost of the mean run; ARI, mean over the runs")
    methods = ("landmarks", "rpcholesky")
    print(f"{'':<20}" + "".join(f"{method:^40}" for method in methods))
    for name in names:
        problem = standardised(name)
        X, K, k = problem.X, problem.K, problem.k
        starts = [np.random.RandomState(i).permutation(len(X))[:k] for i in range(STARTS)]
        model = KernelPowerKMeans(k, kernel="rbf", init=np.array(starts), random_state=0)
        exact = model.fit(X).result_.labels
        exact_cost = np.mean([kernel_cost(K, labels) for labels in exact])
        cells = ""
        for method in methods:
            model.set_params(approximation=method, n_components=share).fit(X)
            found = model.result_.labels
            cost = np.mean([kernel_cost(K, labels) for labels in found])
            ari = np.mean([adjusted_rand_score(*pair) for pair in zip(exact, found, strict=True)])
            count = model._predictor.theta.shape[1]
            left = model.approximation_error_
            cells += f"{left:>10.2%}{count:>7}{cost / exact_cost - 1:>+12.3%}{ari:>8.3f}   "
        print(f"{name:<20}{cells}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", default=",".join(NAMES), help="comma separated names")
    parser.add_argument("--share", type=float, default=0.99, help="share of the trace to keep")
    arguments = parser.parse_args()
    names = arguments.sets.split(",")
    absent = [name for name in names if not is_present(name)]
    if absent:
        print(f"Left out, not fetched yet by kernelmeans_paper.datasets: {', '.join(absent)}")
    # Runs that end at max_iter count as they are.
    warnings.simplefilter("ignore", ConvergenceWarning)
    low_rank([name for name in names if name not in absent], arguments.share)


if __name__ == "__main__":
    main()
