"""Neighbours of heat kernels: the rule on the sets on which it was chosen, and on others.

Run ``python benchmarks/heat_neighbors.py``, with ``--sets`` for some sets only. One fit for each
set and number of neighbours gives the result of any rule a + b log2(n / k) and any fixed number.
"""

import argparse
import warnings
from collections.abc import Callable, Mapping

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from heat_sets import NAMES, load, present
from kernelmeans import KernelPowerKMeans
from kernelmeans.heat import auto_neighbors

#: Sets on which the rule was chosen; all others confirm it.
CHOSEN_ON = frozenset({
    "yale", "coil20", "isolet", "tox_171", "seeds", "iris", "breast_cancer", "blobs10", "varied",
    "bananas", "discs", "spirals",
})  # fmt: skip
NEIGHBOURS = (3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25)

Rule = Callable[[int, int], float]
RULES: Mapping[str, Rule] = {
    "the library's": auto_neighbors,
    **{f"{number}": lambda n, k, number=number: number for number in (5, 7, 10, 15)},
    **{
        f"{a} + {b:g} log2(n / k)": lambda n, k, a=a, b=b: a + b * np.log2(n / k)
        for a in (0, 1, 2, 3)
        for b in (0.75, 1.0, 1.25)
    },
}


def compare(names: list[str], seeds: int) -> None:
    """NMI of each number of neighbours on each set, and mean NMI of each rule."""
    print(f"{'NMI':<18}{'n':>6}{'k':>4}" + "".join(f"{m:>6}" for m in NEIGHBOURS))
    found: dict[str, tuple[int, int, list[float]]] = {}
    for name in names:
        X, y = load(name)
        k = len(np.unique(y))
        scores = []
        for m in NEIGHBOURS:
            model = KernelPowerKMeans(k, kernel="heat", n_neighbors=m)
            fits = [model.set_params(random_state=seed).fit_predict(X) for seed in range(seeds)]
            scores.append(
                float(np.mean([normalized_mutual_info_score(y, labels) for labels in fits]))
            )
        found[name] = len(X), k, scores
        print(f"{name:<18}{len(X):>6}{k:>4}" + "".join(f"{score:>6.3f}" for score in scores))
    print(f"\n{'mean NMI':<22}{'chosen on':>10}{'others':>10}{'all':>10}")
    for label, rule in RULES.items():
        nmi = {
            name: np.interp(np.clip(round(rule(n, k)), 2, 25), NEIGHBOURS, scores)
            for name, (n, k, scores) in found.items()
        }
        parts = [CHOSEN_ON & nmi.keys(), nmi.keys() - CHOSEN_ON, nmi.keys()]
        cells = [np.mean([nmi[name] for name in part]) if part else np.nan for part in parts]
        print(f"{label:<22}" + "".join(f"{cell:>10.4f}" for cell in cells))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", default=";".join(NAMES), help="names, separated by semicolons")
    parser.add_argument("--seeds", type=int, default=1, help="fits of each set and number")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    compare(present(arguments.sets.split(";")), arguments.seeds)


if __name__ == "__main__":
    main()
