"""Rows that belong to no cluster: public sets with noise, and made noise.

Run ``python benchmarks/outliers.py FOLDER``; FOLDER is a checkout of the repository
gagolews/clustering-data-v1. Its sets of at most 10 000 rows are used, as in ``scoreboard.py``, with
the number of clusters of their reference labels.

- Sets in which rows have the label 0 are noise sets. The area under the ROC curve is that of the
  outlier score, F1 that of ``outliers="auto"``. Beside them is a local outlier factor with 20
  neighbours, with its own threshold for F1, and HDBSCAN with the smallest cluster that scores best.
- Of other sets: the fraction of the rows that are left out, and how much ARI of the rest differs.
- Moons, circles and blobs of 1000 rows in uniform noise, three draws of each. Noise is a fraction
  of all rows, in a box a third wider than the data on each side. ARI is that of the other rows;
  those of them that are left out count as one more cluster. "All rows" is a fit without
  ``outliers``. HDBSCAN has the smallest cluster that scores best of nine.
- The same shapes without noise, of 1000 to 16 000 rows: the fraction of the rows that is left out.
- The topics of ``embeddings.py``, a tenth of whose rows are off topic: the area under the ROC curve
  of the outlier score, and of the distance to the nearest centroid.
- Tables of 1000 rows in four clusters of four numbers, beside columns of few values that say
  nothing, three draws of each: the rows left out without noise, and AUC and F1 with 4 % of it.

The rule and its constants are chosen on the made noise and on every second set by name, from the
first on, and confirmed on the others. ``fuzzyx`` is listed but is not in the means: its label 0 is
for rows where clusters cross, which are dense.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.cluster import HDBSCAN
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score, f1_score, roc_auc_score
from sklearn.neighbors import LocalOutlierFactor

from embedding_sets import topics
from kernelmeans import KernelPowerKMeans
from kernelmeans.tables import TableTransformer
from scoreboard import Labelled, sets

CROSSING = "graves/fuzzyx"
FRACTIONS = 0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5
SMALLEST = 5, 8, 12, 20, 30, 50, 80, 120, 200
SEEDS = 0, 1, 2
ROWS = 1000, 4000, 16_000
#: Rows and topics.
TOPICS = (6000, 15), (8000, 40), (20_000, 60)
#: Each with its number of clusters. Blobs are drawn until their centres are six deviations apart.
SHAPES: dict[str, tuple[int, Callable[[int, int], tuple[np.ndarray, np.ndarray]]]] = {
    "moons": (2, lambda n, seed: make_moons(n, noise=0.06, random_state=seed)),
    "circles": (2, lambda n, seed: make_circles(n, noise=0.04, factor=0.5, random_state=seed)),
    "blobs": (5, lambda n, seed: apart(n, seed)),
}
#: Columns beside the numbers of a table, from a generator.
CATEGORY, FLAG = [0.4, 0.3, 0.15, 0.1, 0.04, 0.01], [0.98, 0.02]
BESIDE: dict[str, Callable[[np.random.Generator, int], list[np.ndarray]]] = {
    "nothing": lambda rng, n: [],
    "a category": lambda rng, n: [rng.choice(list("uvwxyz"), n, p=CATEGORY)],
    "three categories": lambda rng, n: [*rng.choice(list("uvwxyz"), (3, n), p=CATEGORY)],
    "two flags": lambda rng, n: [*rng.choice(["no", "yes"], (2, n), p=FLAG)],
    "a grade of five": lambda rng, n: [1 + rng.choice(5, n, p=[0.4, 0.3, 0.25, 0.04, 0.01])],
    "a count": lambda rng, n: [rng.poisson(1.2, n)],
}


def apart(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    while True:
        centers = rng.uniform(-8, 8, (5, 2))
        gaps = np.linalg.norm(centers[:, None] - centers, axis=2) + 1e9 * np.eye(5)
        if gaps.min() >= 6 * 0.6:
            return make_blobs(n, centers=centers, cluster_std=0.6, random_state=seed)


def in_noise(
    X: np.ndarray, y: np.ndarray, fraction: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """The rows, and rows of noise with the label -1."""
    low, wide = X.min(axis=0), np.ptp(X, axis=0)
    count = round(fraction / (1 - fraction) * len(X))
    noise = np.random.default_rng(seed).uniform(low - wide / 3, low + wide * 4 / 3, (count, 2))
    return np.vstack([X, noise]), np.append(y, np.full(count, -1))


def fitted(X: np.ndarray, k: int, metric: str = "euclidean") -> KernelPowerKMeans:
    model = KernelPowerKMeans(k, metric=metric, outliers="auto", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X)


def noise_scores(one: Labelled) -> Iterator[list[float]]:
    """AUC and F1 of ours, of a local outlier factor, and F1 of HDBSCAN, for each labelling."""
    factor = LocalOutlierFactor(20)
    strange = factor.fit_predict(one.X) < 0
    sizes = [size for size in SMALLEST if size <= len(one.X) // 2]
    found = [HDBSCAN(min_cluster_size=size, copy=True).fit_predict(one.X) < 0 for size in sizes]
    for y in one.references:
        if (y == 0).any():
            model = fitted(one.X, int(y.max()))
            yield [
                roc_auc_score(y == 0, model.outlier_score_),
                f1_score(y == 0, model.labels_ < 0, zero_division=0),
                roc_auc_score(y == 0, -factor.negative_outlier_factor_),
                f1_score(y == 0, strange),
                max(f1_score(y == 0, noise) for noise in found),
            ]


def loss(one: Labelled, y: np.ndarray) -> tuple[float, float]:
    """The fraction of rows left out, and ARI of the rest less that of all."""
    model = fitted(one.X, int(y.max()))
    every = KernelPowerKMeans(int(y.max()), random_state=0).fit_predict(one.X)
    kept = model.labels_ >= 0
    rest = adjusted_rand_score(y[kept], model.labels_[kept])
    return float(1 - kept.mean()), rest - adjusted_rand_score(y, every)


def public(folder: Path) -> None:
    print(f"{'set':<25}{'rows':>6}{'AUC':>8}{'F1':>7}{'LOF AUC':>10}{'F1':>7}{'HDBSCAN F1':>13}")
    noisy, losses = {}, []
    for number, one in enumerate(sets(folder)):
        if any((y == 0).any() for y in one.references):
            scores = np.mean(list(noise_scores(one)), axis=0)
            if one.name != CROSSING:
                noisy[number] = scores
            widths = zip(scores, (8, 7, 10, 7, 13), strict=True)
            cells = "".join(f"{value:>{width}.3f}" for value, width in widths)
            print(f"{one.name:<25}{len(one.X):>6}{cells}", flush=True)
        clean = [y for y in one.references if not (y == 0).any()]
        if clean:
            losses.append((number, *np.mean([loss(one, y) for y in clean], axis=0)))
    parts = {"mean": (0, 1), "half that chooses": (0,), "half that confirms": (1,)}
    for name, halves in parts.items():
        means = np.mean([row for number, row in noisy.items() if number % 2 in halves], axis=0)
        widths = zip(means, (8, 7, 10, 7, 13), strict=True)
        print(f"{name:<31}" + "".join(f"{value:>{width}.3f}" for value, width in widths))
    for name, halves in parts.items():
        left, gain = np.array([row for number, *row in losses if number % 2 in halves]).T
        print(
            f"{name}: of {len(left)} sets without noise the median loses {np.median(left):.2%} of "
            f"its rows, the mean {left.mean():.2%}, the worst {left.max():.1%}; ARI of the rest "
            f"differs by {gain.mean():+.4f} in the mean, {gain.min():+.3f} at worst"
        )


def ari_of_others(y: np.ndarray, labels: np.ndarray) -> float:
    return float(adjusted_rand_score(y[y >= 0], labels[y >= 0]))


def made() -> None:
    print(f"\n{'noise':<22}" + "".join(f"{fraction:>7.0%}" for fraction in FRACTIONS))
    for name, (k, draw) in SHAPES.items():
        lines: dict[str, list[float]] = {}
        for fraction in FRACTIONS:
            cells: dict[str, list[float]] = {}
            for seed in SEEDS:
                X, y = in_noise(*draw(1000, seed), fraction, seed)
                model = fitted(X, k)
                rival = [
                    HDBSCAN(min_cluster_size=size, copy=True).fit_predict(X) for size in SMALLEST
                ]
                every = KernelPowerKMeans(k, random_state=0).fit_predict(X)
                cells.setdefault("ARI", []).append(ari_of_others(y, model.labels_))
                cells.setdefault("all rows", []).append(ari_of_others(y, every))
                best = max(ari_of_others(y, labels) for labels in rival)
                cells.setdefault("HDBSCAN", []).append(best)
                cells.setdefault("F1", []).append(
                    f1_score(y < 0, model.labels_ < 0, zero_division=0)
                )
            for what, values in cells.items():
                lines.setdefault(what, []).append(float(np.mean(values)))
        for what, values in lines.items():
            numbers = "".join(f"{value:>7.3f}" for value in values)
            print(f"{name:<9}{what:<13}{numbers}", flush=True)


def clean() -> None:
    print(f"\n{'lost without noise':<22}" + "".join(f"{n:>8}" for n in ROWS))
    for name, (k, draw) in SHAPES.items():
        lost = [np.mean([fitted(draw(n, s)[0], k).labels_ < 0 for s in SEEDS]) for n in ROWS]
        print(f"{name:<22}" + "".join(f"{part:>8.1%}" for part in lost), flush=True)


def off_topic() -> None:
    print(f"\n{'rows off topic, AUC of':<24}{'score':>7}{'distance':>10}")
    for n, k in TOPICS:
        X, y = next(topics(n, k))
        model = fitted(X, k, "cosine")
        nearest = model.distances_[:, 0]
        score, distance = (roc_auc_score(y < 0, by) for by in (model.outlier_score_, nearest))
        print(f"{f'{n} rows, {k} topics':<24}{score:>7.3f}{distance:>10.3f}", flush=True)


def few_values() -> None:
    print(f"\n{'beside four numbers':<22}{'lost':>7}{'AUC':>8}{'F1':>7}")
    for name, beside in BESIDE.items():
        cells = []
        for seed in SEEDS:
            rng = np.random.default_rng(seed)
            X, _ = make_blobs(1000, 4, centers=rng.normal(0, 5, (4, 4)), random_state=seed)
            noise = rng.random(len(X)) < 0.04
            noisy = np.where(noise[:, None], rng.uniform(X.min(0) - 1, X.max(0) + 1, X.shape), X)
            columns = beside(rng, len(X))
            clean, model = (
                fitted(TableTransformer().fit_transform(pd.DataFrame(dict(enumerate(table)))), 4)
                for table in ([*X.T, *columns], [*noisy.T, *columns])
            )
            cells.append(
                [
                    np.mean(clean.labels_ < 0),
                    roc_auc_score(noise, model.outlier_score_),
                    f1_score(noise, model.labels_ < 0, zero_division=0),
                ]
            )
        lost, area, f1 = np.mean(cells, axis=0)
        print(f"{name:<22}{lost:>7.1%}{area:>8.3f}{f1:>7.3f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", help="a checkout of clustering-data-v1")
    folder = parser.parse_args().folder
    if folder is not None:
        public(folder)
    made()
    clean()
    off_topic()
    few_values()


if __name__ == "__main__":
    main()
