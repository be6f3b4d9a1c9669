"""Several kernels and several views: the paper's table of multi-kernel methods, and text views.

Run ``python benchmarks/multi.py`` (all tables) or name some: ``paper scalings text trivial``. Only
the last is printed where kernelmeans.datasets has not fetched the data of the others yet.

``paper``: the sets as Du et al. prepared them, their twelve kernels, 20 starts of every method;
KKM, RKKM and spectral clustering are averaged over the kernels. NMI with both normalisations: by
the arithmetic mean of the entropies (as the paper) and by their maximum (as Du et al., from whom
the paper quotes all rows but its own).
"""

import argparse
import warnings
from collections.abc import Callable, Iterable

import numpy as np
import scipy.sparse
from sklearn.cluster import SpectralClustering
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import normalized_mutual_info_score
from sklearn.preprocessing import StandardScaler, normalize

from kernelmeans import (
    MKKM,
    RKKM,
    RMKKM,
    KernelKMeans,
    KernelPowerKMeans,
    MultiKernelPowerKMeans,
)
from kernelmeans.datasets import VIEW_NAMES, fetch, is_present
from kernelmeans.kernels import du2015_kernels

STARTS = 20
#: Printed NMI: rows KKM to RMKKM are those of Du et al. (maximum), MKPK the paper's (arithmetic).
PRINTED = {
    "yale": (0.4207, 0.4479, 0.5006, 0.4287, 0.5558, 0.5482),
    "jaffe": (0.7148, 0.5935, 0.7979, 0.7401, 0.8937, 0.9247),
    "orl": (0.6336, 0.6674, 0.6886, 0.6391, 0.7483, 0.7876),
    "coil20": (0.6357, 0.5434, 0.7064, 0.6370, 0.7734, 0.7763),
}
SCALINGS = ("unit-variance", "cosine", "min-max", None)
LAMS = (0.1, 0.3, 1.0, 2.0, 5.0, np.inf)


def prepared(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows as Du et al. prepared them, and classes."""
    X, y = fetch(name, return_X_y=True)
    if name in ("yale", "orl"):
        X = StandardScaler().fit_transform(X)
    return (X if name == "coil20" else normalize(X)), y


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


def kkm(K: np.ndarray, k: int) -> Iterable[np.ndarray]:
    for matrix in K:
        model = KernelKMeans(k, kernel="precomputed", init="random", n_init=STARTS, random_state=0)
        yield from model.fit(matrix).result_.labels


def rkkm(K: np.ndarray, k: int) -> Iterable[np.ndarray]:
    for matrix in K:
        model = RKKM(k, kernel="precomputed", n_init=STARTS, random_state=0)
        yield from model.fit(matrix).result_.labels


def spectral(K: np.ndarray, k: int) -> Iterable[np.ndarray]:
    for matrix in K:
        # Some entries of polynomial kernels are negative, which an affinity cannot be. The
        # narrowest Gaussian is nearly the identity, on which the eigenvalue solver stumbles.
        model = SpectralClustering(k, affinity="precomputed", n_init=STARTS, random_state=0)
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            yield model.fit_predict(np.maximum(matrix, 0))


def mkkm(K: np.ndarray, k: int) -> Iterable[np.ndarray]:
    return MKKM(k, kernels="precomputed", n_init=STARTS, random_state=0).fit(K).result_.labels


def rmkkm(K: np.ndarray, k: int, n_init: int = 10) -> Iterable[np.ndarray]:
    # The published program makes ten starts in each of its runs.
    for seed in range(STARTS):
        yield RMKKM(k, kernels="precomputed", n_init=n_init, random_state=seed).fit(K).labels_


def mkpk(K: np.ndarray, k: int, **parameters: object) -> np.ndarray:
    model = MultiKernelPowerKMeans(
        k, kernels="precomputed", n_init=STARTS, random_state=0, **parameters
    )
    return model.fit(K).result_.labels


METHODS: dict[str, tuple[Callable[..., Iterable[np.ndarray]], int | None]] = {
    "KKM, mean of 12 kernels": (kkm, 0),
    "Spectral, mean of 12 kernels": (spectral, 1),
    "MKKM": (mkkm, 2),
    "RKKM, mean of 12 kernels": (rkkm, 3),
    "RMKKM, best of 10 starts": (rmkkm, 4),
    "RMKKM, one start": (lambda K, k: rmkkm(K, k, n_init=1), 4),
    "MKPK, default": (mkpk, 5),
    "MKPK, uniform weights": (lambda K, k: mkpk(K, k, lam=np.inf), None),
    "MKPK, random starts": (lambda K, k: mkpk(K, k, init="random"), None),
    "MKPK, paper's schedule": (
        lambda K, k: mkpk(K, k, init="random", s0=-1.0, eta=1.04, anneal_every=5),
        None,
    ),
}


def paper() -> None:
    """Every method on every set, beside the printed value."""
    print("NMI, arithmetic / maximum, mean of 20 starts; in brackets the printed value")
    print(f"{'':<30}" + "".join(f"{name:>26}" for name in PRINTED))
    sets = {}
    for name in PRINTED:
        X, y = prepared(name)
        sets[name] = (du2015_kernels(X), y, len(np.unique(y)))
    for method, (run, column) in METHODS.items():
        cells = []
        for name, (K, y, k) in sets.items():
            arithmetic, maximum = nmi(y, run(K, k))
            printed = f"({PRINTED[name][column]:.4f})" if column is not None else ""
            cells.append(f"{f'{arithmetic:.4f} / {maximum:.4f} {printed:<8}':>26}")
        print(f"{method:<30}" + "".join(cells), flush=True)


def scalings() -> None:
    """How kernels are put on one scale, and the weight of the entropy: mean NMI of 20 starts."""
    print("\nNMI (arithmetic) of MKPK by scaling and lam, mean of 20 starts; in brackets the "
          "largest kernel weight")  # fmt: skip
    print(f"{'':<24}" + "".join(f"{f'lam={lam:g}':>16}" for lam in LAMS))
    for name in ("yale", "jaffe", "orl"):
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


TABLES = {"paper": paper, "scalings": scalings, "text": text, "trivial": trivial}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []], help="all by default")
    arguments = parser.parse_args()
    # Runs that end at max_iter, and clusters that MKKM leaves empty, count as they are.
    warnings.simplefilter("ignore", ConvergenceWarning)
    absent = [name for name in (*PRINTED, *VIEW_NAMES) if not is_present(name)]
    for name in arguments.tables or TABLES:
        if absent and name != "trivial":
            print(f"{name}: kernelmeans.datasets.fetch has yet to get {', '.join(absent)}")
        else:
            TABLES[name]()


if __name__ == "__main__":
    main()
