"""Public sets with reference labels: the default kernel beside other methods, k given.

Run ``python benchmarks/scoreboard.py FOLDER``; FOLDER is a checkout of the repository
gagolews/clustering-data-v1. Its sets of at most 10 000 rows are used, 73 in all, but neither its
draws of two Gaussians (g2mg, h2mg) nor its images (mnist). Columns are centred, and the whole table
is divided by one standard deviation, so that columns keep their relative sizes.

A set has one or several reference labellings. Each method is fitted to all rows, once for each
number of clusters in them, and its best ARI counts. Rows labelled 0 are noise: they are not scored.
HDBSCAN gets 10 rows as its smallest cluster, the best of 5, 10, 15, 25 and a tenth of the mean
class over these sets, and its noise is one more cluster. A failed fit counts as 0, with its error
below the table; a dash stands for a set without another fit. A star stands for a warning of
ours.

Rules and constants are chosen on every second set by name, from the first on, and confirmed on the
others. ``--methods ours --parameter n_neighbors=20`` scores other parameters of KernelPowerKMeans.
"""

import argparse
import ast
import time
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.cluster import HDBSCAN
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from graphs import METHODS, Method, ours

BATTERIES = ("fcps", "graves", "other", "sipu", "uci", "wut")
MOST_ROWS = 10_000
RIVALS: Mapping[str, Method] = {
    "k-means": METHODS["k-means"],
    "mixture": lambda X, k: GaussianMixture(k, n_init=5, random_state=0).fit_predict(X),
    "spectral": METHODS["spectral"],
    "hdbscan": lambda X, k: HDBSCAN(min_cluster_size=10).fit_predict(X),
}
#: Scored in the same way by their own packages, with default parameters: mean, and both halves.
LEADERS = {"Lumbermark 0.9.1": (0.814, 0.786, 0.843), "Genie 1.3.0": (0.784, 0.739, 0.830)}
#: ARI above which a warning is not deserved.
GOOD = 0.95


class Labelled(NamedTuple):
    """A table and its reference labellings, in which 0 is noise."""

    name: str
    X: np.ndarray
    references: list[np.ndarray]


class Score(NamedTuple):
    """The best ARI of a method on a set, whether that fit warned, and the time of all fits."""

    ari: float
    warned: bool
    seconds: float
    failures: list[str]


def sets(folder: Path) -> Iterator[Labelled]:
    """The sets that are not too large, by name."""
    paths = [path for name in BATTERIES for path in (folder / name).glob("*.data.gz")]
    stems = {f"{path.parent.name}/{path.name.removesuffix('.data.gz')}" for path in paths}
    for name in sorted(stems):
        X = np.loadtxt(folder / f"{name}.data.gz", ndmin=2)
        if len(X) <= MOST_ROWS:
            X -= X.mean(axis=0)
            labels = sorted(folder.glob(f"{name}.labels*.gz"))
            yield Labelled(name, X / X.std(), [np.loadtxt(path, dtype=int) for path in labels])


def score(method: Method, one: Labelled) -> Score:
    found: list[tuple[float, bool]] = []
    failures: list[str] = []
    begin = time.process_time()
    for k in sorted({int(y.max()) for y in one.references}):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                labels = method(one.X, k)
            except (ValueError, np.linalg.LinAlgError) as error:
                failures.append(f"k = {k}: {error}")
                continue
        for y in one.references:
            if y.max() == k:
                found.append((adjusted_rand_score(y[y > 0], labels[y > 0]), bool(caught)))
    ari, warned = max(found, default=(0.0, False))
    return Score(ari, warned, time.process_time() - begin, failures)


def cell(name: str, found: Score, fits: int) -> str:
    if len(found.failures) == fits:
        return f"{'-':>10} "
    return f"{found.ari:>10.3f}" + ("*" if name == "ours" and found.warned else " ")


def print_summary(found: Mapping[str, list[Score]], chooses: list[bool]) -> None:
    """Means over all sets and over both halves, and what fits of ours warned of."""
    parts = {
        "mean": [True] * len(chooses),
        "half that chooses": chooses,
        "half that confirms": [not one for one in chooses],
    }
    for title, part in parts.items():
        means = [
            np.mean([one.ari for one, inside in zip(scores, part, strict=True) if inside])
            for scores in found.values()
            if any(part)
        ]
        print(f"{title:<25}{sum(part):>6}" + "".join(f"{mean:>10.3f} " for mean in means))
    seconds = [sum(one.seconds for one in scores) for scores in found.values()]
    print(
        f"{'processor seconds':<25}{len(chooses):>6}" + "".join(f"{one:>10.1f} " for one in seconds)
    )
    for name, (mean, first, second) in LEADERS.items():
        print(f"{name}, not run here: mean {mean:.3f}, halves {first:.3f} and {second:.3f}")
    if "ours" in found:
        warned = [one.ari for one in found["ours"] if one.warned]
        good = sum(ari > GOOD for ari in warned)
        print(f"Sets with a warning of ours: {len(warned)}, {good} of them above {GOOD}")


def parameter(text: str) -> tuple[str, object]:
    """``name=value``; the value is Python, or else a string."""
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not name=value")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    names = ["ours", *RIVALS]
    parser.add_argument("folder", type=Path, help="a checkout of gagolews/clustering-data-v1")
    parser.add_argument("--methods", nargs="+", choices=names, default=names, metavar="NAME")
    parser.add_argument("--set", action="append", metavar="BATTERY/NAME", help="only this set")
    parser.add_argument("--parameter", action="append", type=parameter, default=[],
                        metavar="NAME=VALUE", help="of KernelPowerKMeans")  # fmt: skip
    arguments = parser.parse_args()
    known = list(sets(arguments.folder))
    if not known:
        parser.error(f"{arguments.folder} has none of the folders {', '.join(BATTERIES)}")
    if unknown := set(arguments.set or ()) - {one.name for one in known}:
        parser.error(f"no such set of at most {MOST_ROWS} rows: {', '.join(sorted(unknown))}")
    methods = {"ours": ours(**dict(arguments.parameter)), **RIVALS}
    found: dict[str, list[Score]] = {name: [] for name in arguments.methods}
    chooses, failures = [], []
    print(f"{'set':<25}{'rows':>6}" + "".join(f"{name:>10} " for name in found))
    for number, one in enumerate(known):
        if arguments.set and one.name not in arguments.set:
            continue
        chooses.append(number % 2 == 0)
        fits, cells = len({y.max() for y in one.references}), ""
        for name, scores in found.items():
            scores.append(score(methods[name], one))
            cells += cell(name, scores[-1], fits)
            failures += [f"{one.name}, {name}, {text}" for text in scores[-1].failures]
        print(f"{one.name:<25}{len(one.X):>6}{cells}", flush=True)
    print_summary(found, chooses)
    for text in failures:
        print(text)


if __name__ == "__main__":
    main()
