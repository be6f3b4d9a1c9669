"""The tree of the clusters: too many clusters, merged, beside a fit with the right number.

``python benchmarks/tree.py`` clusters nested blobs (3 x 4 x 2), parts of moons, and digits.
``python benchmarks/tree.py FOLDER`` adds the sets of `scoreboard.py`; FOLDER is a checkout of
gagolews/clustering-data-v1. Each reference of k classes is compared with three times as many
clusters, merged to k, and with a fit of k. A line has the mean ARI, or that of each level, and the
time of the tree and of all cuts as a fraction of the rest of the fit.

Constants were chosen on every second set by name, from the first on, and confirmed on the others.
"""

import argparse
import time
import warnings
from pathlib import Path
from unittest.mock import patch

import numpy as np
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from kernelmeans import KernelPowerKMeans
from kernelmeans.estimators.tree import ClusterTree
from kernelmeans.heat import separation
from scoreboard import sets

SEEDS = range(4)
#: Distances of the groups, of their groups, and of these, to the middle of each.
RADII = {3: 40.0, 4: 12.0, 2: 3.0}


def directions(rng: np.random.Generator, count: int, p: int) -> np.ndarray:
    """Unit vectors as far apart as two hundred draws have them; in a plane, at equal angles."""
    if p == 2:
        angles = rng.uniform(0, 2 * np.pi) + 2 * np.pi * np.arange(count) / count
        return np.c_[np.cos(angles), np.sin(angles)]
    draws = rng.normal(size=(200, count, p))
    draws /= np.linalg.norm(draws, axis=2, keepdims=True)
    products = np.einsum("aip,ajp->aij", draws, draws) - 2 * np.eye(count)
    return draws[products.max(axis=(1, 2)).argmin()]


def nested(seed: int, p: int, kind: str) -> tuple[np.ndarray, list[np.ndarray]]:
    """Blobs in groups of groups, and the labels at each of three levels."""
    rng, spots = np.random.default_rng(seed), np.zeros((1, p))
    for count, radius in RADII.items():
        spots = np.concatenate([spot + radius * directions(rng, count, p) for spot in spots])
    sizes = rng.integers(25, 300, 24) if kind == "sizes" else np.full(24, 100)
    spread = rng.uniform(0.3, 1.0, 24) if kind == "density" else np.full(24, 0.8)
    leaf = np.repeat(np.arange(24), sizes)
    noise = (spread[leaf] / np.sqrt(p / 2))[:, None] * rng.normal(size=(len(leaf), p))
    return spots[leaf] + noise, [leaf // 8, leaf // 2, leaf]


class Timed:
    """A fit, how long its tree and all cuts took, and the rest of the fit."""

    def __init__(self, X: np.ndarray, k: int) -> None:
        self.tree = 0.0
        model, begin = KernelPowerKMeans(k, random_state=0), time.perf_counter()
        closeness, merged = separation.closeness, ClusterTree.by_closeness
        with (
            patch.object(separation, "closeness", self._watched(closeness)),
            patch.object(ClusterTree, "by_closeness", self._watched(merged)),
        ):
            self.model = model.fit(X)
        self.rest = time.perf_counter() - begin - self.tree
        cut = self._watched(self.model.cut)
        self.labels = [cut(n_clusters) for n_clusters in range(1, k + 1)]

    def _watched(self, function):
        def watched(*given):
            begin = time.perf_counter()
            found = function(*given)
            self.tree += time.perf_counter() - begin
            return found

        return watched

    def ari(self, y: np.ndarray, k: int) -> float:
        """Agreement of k clusters with a reference, in which 0 is noise."""
        return adjusted_rand_score(y[y > 0], self.labels[k - 1][y > 0])


def say(name: str, scores: list, fits: list[Timed]) -> None:
    fractions = [fit.tree / fit.rest for fit in fits]
    mean, least = np.mean(scores, axis=0).round(3), np.min(scores, axis=0).round(3)
    took = f"{np.median(fractions):.3f}, at most {max(fractions):.3f}"
    print(f"{name:<22} mean {mean}  least {least}  time {took}")


def made() -> None:
    for p in (2, 5, 20):
        for kind in ("even", "density", "sizes"):
            pairs = [nested(seed, p, kind) for seed in SEEDS]
            fits = [Timed(X, 24) for X, _ in pairs]
            levels = [
                [fit.ari(1 + y, k) for y, k in zip(truth, (3, 12, 24), strict=True)]
                for fit, (_, truth) in zip(fits, pairs, strict=True)
            ]
            say(f"nested, p={p}, {kind}", levels, fits)
    scores, fits = [], []
    for seed in SEEDS:
        moons, of_moons = make_moons(800, noise=0.06, random_state=seed)
        middles = [[3.5, 0], [4.5, 1.2], [-2.2, 1]]
        others, of_others = make_blobs(400, 2, centers=middles, cluster_std=0.2, random_state=seed)
        fits.append(Timed(np.concatenate([moons, others]), 15))
        scores.append([fits[-1].ari(1 + np.append(of_moons, 2 + of_others), 5)])
    say("moons in 15 parts", scores, fits)
    X, y = load_digits(return_X_y=True)
    for k in (20, 30):
        fits = [Timed(X, k)]
        say(f"digits, {k} to 10", [[fits[0].ari(1 + y, 10)]], fits)


def public(folder: Path) -> None:
    halves: list[list] = [[], []]
    every: list[Timed] = []
    for place, one in enumerate(sets(folder)):
        fits: dict[int, Timed] = {}
        for y in one.references:
            k = int(y.max())
            for count in (k, 3 * k):
                if count not in fits:
                    fits[count] = Timed(one.X, count)
            halves[place % 2].append([fits[3 * k].ari(y, k), fits[k].ari(y, k)])
        every += fits.values()
    for name, scores in {"chosen on": halves[0], "confirmed on": halves[1]}.items():
        say(f"{name} {len(scores)}", scores, every)
    say("all, merged and fitted", halves[0] + halves[1], every)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("folder", nargs="?", type=Path)
    folder = parser.parse_args().folder
    warnings.simplefilter("ignore")
    made()
    if folder is not None:
        public(folder)
