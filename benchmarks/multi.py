"""Several kernels and several views: schedules, scales of kernels, text views, a trivial view.

Run ``python benchmarks/multi.py`` (all tables) or name some: ``schedules fits scalings text
trivial``. Only the last is printed where kernelmeans_paper.datasets has not fetched the data of the
others yet. (The paper's table of methods is printed by ``kernelmeans-paper multi``.) NMI of text
views is printed with both normalizations: by the arithmetic mean of the entropies (as in the paper,
and everywhere else here) and by their maximum (as in Du et al.).
"""

import argparse
import warnings
from collections.abc import Iterable

import numpy as np
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import normalized_mutual_info_score

from kernelmeans import (
    KernelPowerKMeans,
    MultiKernelPowerKMeans,
)
from kernelmeans.kernels import du2015_kernels
from kernelmeans_paper.datasets import VIEW_NAMES, fetch, is_present
from kernelmeans_paper.methods import PAPER_SCHEDULE
from kernelmeans_paper.problems import prepared

STARTS = 20
#: Seeds of the schedules: the standard error of 20 starts is about 0.004.
SEEDS = 4
#: Image sets with the kernels of Du et al.
SETS = ("yale", "jaffe", "orl")
#: And those with which schedules are compared.
MORE_SETS = (*SETS, "coil20")
SCHEDULES = {
    "default": {},
    "plain steps": {"eta": 1.04},
    "the paper's": dict(PAPER_SCHEDULE),
}
#: Swap moves of whole fits; there are as many seeds as starts.
MOVES = {"annealed": 0, "default": "auto"}
SCALINGS = ("unit-variance", "cosine", "min-max", None)
STRENGTHS = (0.1, 0.3, 1.0, 2.0, 5.0, np.inf)


def nmi(y: np.ndarray, labelings: Iterable[np.ndarray]) -> np.ndarray:
    """Mean NMI of several labelings, arithmetic and maximum."""
    return np.mean(
        [
            [
                normalized_mutual_info_score(y, labels, average_method=how)
                for how in ("arithmetic", "max")
            ]
            for labels in labelings
        ],
        axis=0,
    )


def schedules() -> None:
    """The default against plain arguments: 20 starts from each of some seeds."""
    print(f"\nSchedules: mean NMI of {STARTS} starts from each of {SEEDS} seeds (standard error), "
          "mean NMI of the first seed, steps, cost and largest kernel weight")  # fmt: skip
    for name in MORE_SETS:
        X, y = prepared(name)
        K, k = du2015_kernels(X), len(np.unique(y))
        for title, schedule in SCHEDULES.items():
            # Schedules from matched starts, without swap moves.
            model = MultiKernelPowerKMeans(
                k, kernels="precomputed", n_init=STARTS, n_swaps=0, **schedule
            )
            results = [model.set_params(random_state=seed).fit(K).result_ for seed in range(SEEDS)]
            values = np.array([[nmi(y, [run])[0] for run in result.labels] for result in results])
            error = values.std(ddof=1) / np.sqrt(values.size)
            steps = np.mean([result.n_iter for result in results])
            cost = np.mean([result.cost for result in results])
            largest = np.mean([result.kernel_weights.max(axis=1) for result in results])
            print(f"{name:<8}{title:<13}{values.mean():.4f} ({error:.4f}){values[0].mean():>9.4f}"
                  f"{steps:>8.1f}{cost:>12.3f}{largest:>8.3f}", flush=True)  # fmt: skip


def fits() -> None:
    """Whole fits, one for each seed: annealed alone, and with the swap moves of the default."""
    print(f"\nWhole fits, mean of {STARTS} seeds: NMI (standard error), cost, steps")
    for name in MORE_SETS:
        X, y = prepared(name)
        K, k = du2015_kernels(X), len(np.unique(y))
        for title, n_swaps in MOVES.items():
            model = MultiKernelPowerKMeans(k, kernels="precomputed", n_swaps=n_swaps)
            models = [clone(model).set_params(random_state=s).fit(K) for s in range(STARTS)]
            values = np.array([nmi(y, [model.labels_])[0] for model in models])
            cost = np.mean([model.result_.cost.min() for model in models])
            steps = np.mean([model.n_iter_ for model in models])
            error = values.std(ddof=1) / np.sqrt(STARTS)
            print(f"{name:<8}{title:<10}{values.mean():.4f} ({error:.4f}){cost:>12.3f}"
                  f"{steps:>9.1f}", flush=True)  # fmt: skip


def scalings() -> None:
    """Scaling of the kernels, and the weight of the entropy: mean NMI of 20 starts."""
    print("\nNMI (arithmetic) of MKPK by scaling and entropy_weight, mean of 20 starts; in "
          "brackets the largest kernel weight")  # fmt: skip
    print(f"{'':<24}" + "".join(f"{f'{strength:g}':>16}" for strength in STRENGTHS))
    for name in SETS:
        X, y = prepared(name)
        K, k = du2015_kernels(X), len(np.unique(y))
        for scaling in SCALINGS:
            cells = []
            for strength in STRENGTHS:
                model = MultiKernelPowerKMeans(
                    k, kernels="precomputed", kernel_scaling=scaling, entropy_weight=strength,
                    n_init=STARTS, n_swaps=0, random_state=0,
                ).fit(K)  # fmt: skip
                value = nmi(y, model.result_.labels)[0]
                cells.append(f"{f'{value:.3f} ({model.kernel_weights_.max():.2f})':>16}")
            print(f"{name:<8}{scaling!s:<16}" + "".join(cells), flush=True)


def text() -> None:
    """Views of documents: each on its own, side by side, with uniform and with learned weights."""
    print("\nText views, cosine kernels: NMI, arithmetic / maximum, mean of 20 starts")
    for name in VIEW_NAMES:
        documents = fetch(name)
        views = [documents.data[:, columns] for columns in documents.views]
        if name == "three_sources":
            views = [TfidfTransformer().fit_transform(view) for view in views]
        y, k = documents.target, len(documents.target_names)
        X = scipy.sparse.hstack(views, format="csr")
        kernels = [("cosine", columns) for columns in documents.views]
        common = {"n_init": STARTS, "n_swaps": 0, "random_state": 0}
        rows = {
            f"view {index}": (KernelPowerKMeans(k, kernel="cosine", **common), view)
            for index, view in enumerate(views)
        }
        rows["side by side"] = (KernelPowerKMeans(k, kernel="cosine", **common), X)
        for title, strength in (("uniform weights", np.inf), ("MKPK, default", 2.0)):
            model = MultiKernelPowerKMeans(k, kernels=kernels, entropy_weight=strength, **common)
            rows[title] = (model, X)
        for title, (model, rows_of_view) in rows.items():
            arithmetic, maximum = nmi(y, model.fit(rows_of_view).result_.labels)
            weights = getattr(model, "kernel_weights_", np.array([]))
            print(f"{name:<15}{title:<18}{arithmetic:.4f} / {maximum:.4f}   {weights.round(3)}",
                  flush=True)  # fmt: skip


def trivial() -> None:
    """Four noisy views of the classes, and one of two columns without information."""
    print("\nFour noisy views of five classes and a trivial one, mean of 10 made sets: NMI by "
          "entropy_weight and, in brackets, weight of the trivial view")  # fmt: skip
    print(f"{'noise':<8}" + "".join(f"{f'{strength:g}':>16}" for strength in STRENGTHS))
    for noise in (1.5, 2.5, 3.5):
        cells = np.array([[made(noise, seed, each) for each in STRENGTHS] for seed in range(10)])
        print(f"{noise:<8}" + "".join(f"{f'{v:.3f} ({w:.2f})':>16}" for v, w in cells.mean(axis=0)))


def made(noise: float, seed: int, strength: float) -> tuple[float, float]:
    """NMI of one run on a made set, and the weight of its trivial view."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 5, 300)
    views = [
        rng.standard_normal((5, 20))[y] + noise * rng.standard_normal((300, 20)) for _ in range(4)
    ]
    groups = np.where(rng.integers(0, 2, 300), 1.0, -1.0)
    views.append(groups[:, None] + 0.05 * rng.standard_normal((300, 2)))
    kernels = [("rbf", slice(20 * view, 20 * view + 20)) for view in range(4)]
    kernels.append(("rbf", slice(80, 82)))
    model = MultiKernelPowerKMeans(5, kernels=kernels, entropy_weight=strength, random_state=0)
    labels = model.fit_predict(np.hstack(views))
    return normalized_mutual_info_score(y, labels), model.kernel_weights_[-1]


TABLES = {
    "schedules": schedules,
    "fits": fits,
    "scalings": scalings,
    "text": text,
    "trivial": trivial,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []], help="all by default")
    arguments = parser.parse_args()
    # Runs that end at max_iter count as they are.
    warnings.simplefilter("ignore", ConvergenceWarning)
    absent = [name for name in (*MORE_SETS, *VIEW_NAMES) if not is_present(name)]
    for name in arguments.tables or TABLES:
        if absent and name != "trivial":
            print(f"{name}: kernelmeans_paper.datasets.fetch has yet to get {', '.join(absent)}")
        else:
            TABLES[name]()


if __name__ == "__main__":
    main()
