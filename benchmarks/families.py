"""Candidates for the default of several kernels: widths, neighbours, neighbours and one Gaussian.

Run ``python benchmarks/families.py`` (all tables) or name some: ``single views weights anchors``.
NMI is arithmetic, the mean over seeds. The rule for the number of neighbours was chosen on half of
the sets; the others confirm it. Missing sets are left out: those of kernelmeans_paper.datasets, and
MATLAB files of views whose addresses are in this file.
"""

import argparse
import time
import warnings
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.datasets import make_moons
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import normalized_mutual_info_score
from sklearn.preprocessing import StandardScaler, normalize

from heat_neighbors import CHOSEN_ON
from heat_sets import NAMES, load, present
from kernelmeans import MultiKernelPowerKMeans
from kernelmeans.heat import auto_neighbors
from kernelmeans_paper.datasets import data_folder, fetch, is_present
from kernelmeans_paper.datasets.download import Network, obtain
from kernelmeans_paper.datasets.readers import views as reader
from kernelmeans_paper.datasets.sources import MULTI_VIEW, File

Kernels = list[Any]
#: Views of texts in kernelmeans_paper.datasets.
TEXTS = ("bbcsport", "three_sources")
#: Views of images: file, and its keys of rows and classes.
IMAGES = {
    "handwritten": (
        File(
            "UCI_Digits.mat",
            "854a7bf0206b123d450e495fe107789b95116b070edc81c6167b8091ef9a682a",
            MULTI_VIEW,
            "data/UCI_Digits.mat",
        ),
        ("fea", "gt"),
    ),
    "msrc_v1": (
        File(
            "MSRC_v1.mat",
            "38d89aa41ae984f0b026f4baa8b5dcb7c569c471e2fb42b73a0f6743398e9103",
            MULTI_VIEW,
            "data/MSRC_v1.mat",
        ),
        ("fea", "gt"),
    ),
}
#: Sets of the table of scales and weights of the entropy.
WEIGHED = ("yale", "seeds", "glioma", "varied")
SCALINGS = ("unit-variance", None)
STRENGTHS = (0.1, 0.5, 2.0, np.inf)
#: Numbers of anchor sets that are used together.
DRAWS = (1, 3, 5, 10)


def fits(kernels: Kernels, X: Any, y: Any, seeds: int, **others: Any) -> tuple[float, Any, float]:
    """Mean NMI and mean kernel weights of fits with several seeds, and seconds of one."""
    k, scores, weights = len(np.unique(y)), [], []
    begin = time.process_time()
    for seed in range(seeds):
        model = MultiKernelPowerKMeans(k, kernels=kernels, random_state=seed, **others).fit(X)
        scores.append(normalized_mutual_info_score(y, model.labels_))
        weights.append(model.kernel_weights_)
    seconds = (time.process_time() - begin) / seeds
    return float(np.mean(scores)), np.mean(weights, axis=0), seconds


def candidates(n: int, k: int) -> dict[str, Kernels]:
    """The kernels of each table, or of each view."""
    auto = auto_neighbors(n, k)

    def heat(*n_neighbors: int) -> Kernels:
        return [{"kernel": "heat", "n_neighbors": min(count, n)} for count in n_neighbors]

    return {
        "widths": ["widths"],
        "one heat": ["heat"],
        "5 10 20 40": heat(40, 20, 10, 5),
        "auto x 1 2 4": heat(4 * auto, 2 * auto, auto),
        "neighbors": ["neighbors"],
        "and one rbf": ["neighbors", "rbf"],
    }


def table(sets: Iterable[tuple[str, Any, Any, list[Any]]], seeds: int) -> None:
    """NMI, smallest and largest kernel weight, and processor seconds of every candidate."""
    heads = candidates(2, 1)
    print(f"{'NMI (weights) seconds':<25}" + "".join(f"{name:>25}" for name in heads))
    found: dict[str, list[float]] = {}
    for name, X, y, columns in sets:
        cells, found[name] = [], []
        for candidate in candidates(len(y), len(np.unique(y))).values():
            kernels = [(kernel, view) for view in columns for kernel in candidate]
            nmi, weights, seconds = fits(kernels, X, y, seeds)
            found[name].append(nmi)
            cell = f"{nmi:.3f} ({weights.min():.2f} {weights.max():.2f}) {seconds:.2f}"
            cells.append(f"{cell:>25}")
        print(f"{name:<25}" + "".join(cells), flush=True)
    halves = {"chosen on": CHOSEN_ON & found.keys(), "others": found.keys() - CHOSEN_ON}
    for half, names in {**halves, "all": found.keys()}.items():
        if names:
            means = np.mean([found[name] for name in names], axis=0)
            print(f"{f'mean, {half} ({len(names)})':<25}" + "".join(f"{m:>25.4f}" for m in means))


def single(seeds: int, names: list[str]) -> None:
    """Tables of rows."""
    print("\nSingle tables")
    table(((name, *load(name), [slice(None)]) for name in present(names)), seeds)


def views(seeds: int) -> None:
    """A graph, or widths, for each view; texts are rows of norm 1."""
    print("\nSeveral views")
    table(map(viewed, filter(here, (*TEXTS, *IMAGES))), seeds)


def here(name: str) -> bool:
    """Whether a set of views is present."""
    if name in TEXTS:
        return is_present(name)
    file, _ = IMAGES[name]
    found = (data_folder() / file.name).is_file()
    if not found:
        print(f"Left out: {file.url} is not in {data_folder()}")
    return found


def viewed(name: str) -> tuple[str, Any, Any, list[Any]]:
    """Name, rows, classes and columns of each view."""
    if name in TEXTS:
        documents = fetch(name)
        parts = [documents.data[:, columns] for columns in documents.views]
        if name == "three_sources":
            parts = [TfidfTransformer().fit_transform(part) for part in parts]
        X = scipy.sparse.hstack([normalize(part) for part in parts], format="csr")
        return name, X, documents.target, documents.views
    file, keys = IMAGES[name]
    path = obtain(file, data_folder(), Network(allowed=False, timeout=1, n_retries=0))
    content = reader(*keys)([path])
    order = np.random.default_rng(0).permutation(content.classes.size)
    X = StandardScaler().fit_transform(content.data.toarray()[order])
    return name, X, np.ravel(content.classes)[order], content.fields["views"]


def weights(seeds: int) -> None:
    """Learned weights of graphs of many and few neighbours, and of a Gaussian."""
    print("\nNeighbors and one rbf: NMI and weights by scaling and entropy_weight; graphs of most "
          "neighbours first, the rbf kernel last")  # fmt: skip
    for name in present(list(WEIGHED)):
        for scaling in SCALINGS:
            for strength in STRENGTHS:
                given = {"kernel_scaling": scaling, "entropy_weight": strength}
                nmi, found, _ = fits(["neighbors", "rbf"], *load(name), seeds, **given)
                weights = " ".join(f"{weight:.2f}" for weight in found)
                print(f"{name:<10}{scaling!s:<15}{strength:<6g}{nmi:.3f}  {weights}", flush=True)


def anchors(seeds: int) -> None:
    """Several random sets of anchors, each of them a kernel."""
    print("\nDraws of anchors, equal weights: NMI and processor seconds of one fit")
    print(f"{'':<18}" + "".join(f"{draws:>16}" for draws in DRAWS))
    moons = {f"moons {n}": make_moons(n, noise=0.1, random_state=0) for n in (10**4, 10**5)}
    tables = {name: load(name) for name in present(["digits", "coil20"])}
    side_by_side = {name: viewed(name)[1:3] for name in filter(here, ["handwritten"])}
    for name, (X, y) in {**moons, **tables, **side_by_side}.items():
        cells = []
        for draws in DRAWS:
            given = {"approximation": "landmarks", "entropy_weight": np.inf}
            nmi, _, seconds = fits(["heat"] * draws, X, y, seeds, **given)
            cells.append(f"{f'{nmi:.3f} {seconds:.2f}':>16}")
        print(f"{name:<18}" + "".join(cells), flush=True)


TABLES = {"views": views, "weights": weights, "anchors": anchors}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tables", nargs="*", choices=["single", *TABLES, []], help="all by default")
    parser.add_argument("--seeds", type=int, default=2, help="fits of each set and candidate")
    parser.add_argument("--sets", default=";".join(NAMES), help="single tables, by semicolons")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    tables = {"single": partial(single, names=arguments.sets.split(";")), **TABLES}
    for name in arguments.tables or tables:
        tables[name](arguments.seeds)


if __name__ == "__main__":
    main()
