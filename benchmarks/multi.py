"""Several kernels and several views: how kernels are put on one scale, text views, a trivial view.

Run ``python benchmarks/multi.py`` (all tables) or name some: ``scalings text trivial``. Only the
last is printed where kernelmeans.datasets has not fetched the data of the others yet. (The paper's
table of methods is printed by ``kernelmeans paper multi``.) NMI with both normalisations: by the
arithmetic mean of the entropies (as the paper) and by their maximum (as Du et al.).
"""

import argparse
import warnings
from collections.abc import Iterable

import numpy as np
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import normalized_mutual_info_score

from kernelmeans import (
    KernelPowerKMeans,
    MultiKernelPowerKMeans,
)
from kernelmeans.datasets import VIEW_NAMES, fetch, is_present
from kernelmeans.kernels import du2015_kernels
from kernelmeans.paper.problems import prepared

STARTS = 20
#: Image sets with the kernels of Du et al.
SETS = ("yale", "jaffe", "orl")
SCALINGS = ("unit-variance", "cosine", "min-max", None)
LAMS = (0.1, 0.3, 1.0, 2.0, 5.0, np.inf)


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


def scalings() -> None:
    """How kernels are put on one scale, and the weight of the entropy: mean NMI of 20 starts."""
    print("\nNMI (arithmetic) of MKPK by scaling and lam, mean of 20 starts; in brackets the "
          "largest kernel weight")  # fmt: skip
    print(f"{'':<24}" + "".join(f"{f'lam={lam:g}':>16}" for lam in LAMS))
    for name in SETS:
        X, y = prepared(name)
        K, k = du2015_kernels(X), len(np.unique(y))
        for scaling in SCALINGS:
            cells = []
            for lam in LAMS:
                model = MultiKernelPowerKMeans(
                    k, kernels="precomputed", kernel_scaling=scaling, lam=lam, n_init=STARTS,
                    random_state=0,
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
        common = {"n_init": STARTS, "random_state": 0}
        rows = {
            f"view {index}": (KernelPowerKMeans(k, kernel="cosine", **common), view)
            for index, view in enumerate(views)
        }
        rows["side by side"] = (KernelPowerKMeans(k, kernel="cosine", **common), X)
        for title, lam in (("uniform weights", np.inf), ("MKPK, default", 2.0)):
            rows[title] = (MultiKernelPowerKMeans(k, kernels=kernels, lam=lam, **common), X)
        for title, (model, rows_of_view) in rows.items():
            arithmetic, maximum = nmi(y, model.fit(rows_of_view).result_.labels)
            weights = getattr(model, "kernel_weights_", np.array([]))
            print(f"{name:<15}{title:<18}{arithmetic:.4f} / {maximum:.4f}   {weights.round(3)}",
                  flush=True)  # fmt: skip


def trivial() -> None:
    """Four noisy views that tell of the classes, and one of two columns that does not."""
    print("\nFour noisy views of five classes and a trivial one, mean of 10 made sets: NMI and, in "
          "brackets, weight of the trivial view")  # fmt: skip
    print(f"{'noise':<8}" + "".join(f"{f'lam={lam:g}':>16}" for lam in LAMS))
    for noise in (1.5, 2.5, 3.5):
        cells = np.array([[made(noise, seed, lam) for lam in LAMS] for seed in range(10)])
        print(f"{noise:<8}" + "".join(f"{f'{v:.3f} ({w:.2f})':>16}" for v, w in cells.mean(axis=0)))


def made(noise: float, seed: int, lam: float) -> tuple[float, float]:
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
    model = MultiKernelPowerKMeans(5, kernels=kernels, lam=lam, random_state=0)
    labels = model.fit_predict(np.hstack(views))
    return normalized_mutual_info_score(y, labels), model.kernel_weights_[-1]


TABLES = {"scalings": scalings, "text": text, "trivial": trivial}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []], help="all by default")
    arguments = parser.parse_args()
    # Runs that end at max_iter count as they are.
    warnings.simplefilter("ignore", ConvergenceWarning)
    absent = [name for name in (*SETS, *VIEW_NAMES) if not is_present(name)]
    for name in arguments.tables or TABLES:
        if absent and name != "trivial":
            print(f"{name}: kernelmeans.datasets.fetch has yet to get {', '.join(absent)}")
        else:
            TABLES[name]()


if __name__ == "__main__":
    main()
