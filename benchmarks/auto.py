"""The choice of ``approximation="auto"``: its time and true cost beside those of the exact kernel.

Run ``python benchmarks/auto.py [default components threshold]``; without names all three are run:
the default at many rows; how many components it takes; and up to how many rows the exact kernel is
fast. Each figure is the mean of ``--seeds`` fits. Seconds are processor seconds of all threads
together, so that other programs matter little.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_digits, load_sample_images
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.image import extract_patches_2d
from sklearn.preprocessing import scale

from kernelmeans import KernelPowerKMeans
from kernelmeans.estimators.plan import exact_is_fast
from kernelmeans.kernels import Kernel, resolve_gamma
from kernelmeans.lowrank import auto_components
from kernelmeans_paper.datasets import fetch, is_present

K = 10
#: Most rows of a fit with the exact kernel; for more rows only true costs are computed.
MOST_EXACT = 20_000
#: Exact steps from the labels of a fit.
STEPS = 5


class Fit(NamedTuple):
    """A fit, and the cost of its labels under the exact kernel."""

    model: KernelPowerKMeans
    seconds: float
    cost: float


def blobs(n: int, p: int) -> np.ndarray:
    """Twenty overlapping clusters of different weight."""
    rng = np.random.default_rng(0)
    centers = 1.5 * rng.standard_normal((20, p))
    cluster = rng.choice(20, size=n, p=rng.dirichlet(np.full(20, 3.0)))
    return centers[cluster] + rng.standard_normal((n, p))


def heavy_tails(n: int, p: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    centers = 2 * rng.standard_normal((20, p))
    return centers[rng.integers(0, 20, n)] + rng.standard_t(2, size=(n, p))


def no_clusters(n: int, p: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((n, p))


def shifted_digits(n: int) -> np.ndarray:
    """Digits, each also moved by a pixel in all directions."""
    images = load_digits().images
    moves = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1)]
    rows = np.concatenate([np.roll(images, move, (1, 2)).reshape(-1, 64) for move in moves])
    return np.random.default_rng(0).permutation(rows)[:n]


def patches(n: int, size: int, image: int) -> np.ndarray:
    """Square pieces of a photograph, of three colours."""
    picture = load_sample_images().images[image].astype(float)
    return extract_patches_2d(picture, (size, size), max_patches=n, random_state=0).reshape(n, -1)


#: The sets on which the rules were chosen, and those that confirmed them.
CHOSEN_ON: dict[str, Callable[[int], np.ndarray]] = {
    "blobs x 2": lambda n: blobs(n, 2),
    "blobs x 6": lambda n: blobs(n, 6),
    "blobs x 50": lambda n: blobs(n, 50),
    "no clusters x 3": lambda n: no_clusters(n, 3),
    "no clusters x 10": lambda n: no_clusters(n, 10),
    "no clusters x 50": lambda n: no_clusters(n, 50),
    "digits": lambda n: load_digits().data,
    "isolet": lambda n: fetch("isolet", return_X_y=True)[0],
    "coil20": lambda n: fetch("coil20", return_X_y=True)[0],
}
CONFIRMED_ON: dict[str, Callable[[int], np.ndarray]] = {
    "heavy tails x 5": lambda n: heavy_tails(n, 5),
    "heavy tails x 20": lambda n: heavy_tails(n, 20),
    "shifted digits x 64": shifted_digits,
    "pixels x 3": lambda n: patches(n, 1, 1),
    "patches x 27": lambda n: patches(n, 3, 0),
    "patches x 192": lambda n: patches(n, 8, 1),
}


def kernel_blocks(X: np.ndarray, gamma: float) -> Iterator[tuple[slice, np.ndarray]]:
    """Rows of the Gaussian kernel matrix, a thousand at a time."""
    X = (X - X.mean(axis=0)).astype(np.float32)
    squares = np.vecdot(X, X)
    for start in range(0, len(X), 1000):
        block = slice(start, start + 1000)
        values = X[block] @ X.T
        values *= 2 * gamma
        values -= gamma * squares
        values -= gamma * squares[block, None]
        yield block, np.exp(np.minimum(values, 0, out=values), out=values)


def exact_steps(X: np.ndarray, gamma: float, labels: np.ndarray, steps: int) -> list[float]:
    """True kernel k-means cost of labels, and after each of a few exact steps from them."""
    costs = []
    for _ in range(steps + 1):
        members = np.eye(labels.max() + 1, dtype=np.float32)[labels]
        sums = np.concatenate([values @ members for _, values in kernel_blocks(X, gamma)])
        sizes = np.maximum(members.sum(axis=0), 1)
        within = (members * sums).sum(axis=0, dtype=np.float64)
        costs.append(float(len(X) - (within / sizes).sum()))
        labels = (within / sizes**2 - 2 * sums / sizes).argmin(axis=1)
    return costs


def fitted(X: np.ndarray, seed: int, k: int = K, **parameters: object) -> Fit:
    model = KernelPowerKMeans(k, kernel="rbf", random_state=seed, **parameters)
    start = time.process_time()
    model.fit(X)
    seconds = time.process_time() - start
    return Fit(model, seconds, exact_steps(X, model.gamma_, model.labels_, 0)[0])


def percent(cost: float, reference: float) -> float:
    return 100 * (cost / reference - 1)


def fall(costs: list[float]) -> float:
    return 100 * (1 - costs[-1] / costs[0])


def default(seeds: int) -> None:
    """The default beside the exact kernel, where that does not take an hour."""
    print(f"The default, and approximation=None; k = {K}, float64, mean of {seeds} seeds.")
    print("true cost: of the labels, over that of the exact fit; falls: in exact steps from them")
    for n, p in ((15_000, 6), (15_000, 50), (60_000, 16)):
        X = blobs(n, p)
        fits = [fitted(X, seed) for seed in range(seeds)]
        model, seconds = fits[0].model, np.mean([fit.seconds for fit in fits])
        costs = exact_steps(X, model.gamma_, model.labels_, STEPS)
        low, high = model.inertia_bounds_
        print(f"{n} x {p}: {model.approximation_}: {model.approximation_reason_}")
        print(f"  auto {seconds:.2f} s; {model.approximation_error_:.2%} of the trace is residual,")
        print(f"  true cost {costs[0]:.6g} within the bounds {low:.6g} to {high:.6g};")
        print(f"  falls by {fall(costs):.4f} % in {STEPS} steps", flush=True)
        if n > MOST_EXACT:
            continue
        exact = [fitted(X, seed, approximation=None) for seed in range(seeds)]
        cost = np.mean([fit.cost for fit in exact])
        gaps = [percent(a.cost, b.cost) for a, b in zip(fits, exact, strict=True)]
        ratio = np.mean([fit.seconds for fit in exact]) / seconds
        print(f"  exact {ratio * seconds:.2f} s, {ratio:.1f} times as long; true cost of auto")
        print(f"  {percent(np.mean([fit.cost for fit in fits]), cost):+.3f} % on average, by seed")
        print("  " + ", ".join(f"{gap:+.3f} %" for gap in gaps), flush=True)


def components(seeds: int) -> None:
    """How far exact steps lower the cost of labels from so many landmarks, for each set."""
    counts = (10, 30, 100, auto_components(8000, K))
    print(f"Landmarks: trace left out, fall of the true cost in {STEPS} exact steps;")
    print(f"8000 rows or all, standardised, k = {K}, mean of {seeds} seeds")
    print(f"{'':<22}" + "".join(f"{count:^22}" for count in counts))
    for title, sets in (("chosen on", CHOSEN_ON), ("confirmed on", CONFIRMED_ON)):
        print(title)
        for name, rows in sets.items():
            if name in ("isolet", "coil20") and not is_present(name):
                continue
            X, cells = scale(rows(8000)), ""
            for count in counts:
                falls, left = [], 0.0
                for seed in range(seeds):
                    fit = fitted(X, seed, approximation="landmarks", n_components=count)
                    costs = exact_steps(X, fit.model.gamma_, fit.model.labels_, STEPS)
                    falls.append(fall(costs))
                    left = fit.model.approximation_error_
                cells += f"{left:>10.2%}{np.mean(falls):>10.4f} %"
            print(f"  {name:<20}{cells}", flush=True)


def threshold(seeds: int) -> None:
    """Seconds of the exact kernel and of landmarks, and the one that the rule takes."""
    print("Exact kernel, landmarks; seconds, how many times faster, and what auto takes")
    for k, p in ((3, 10), (10, 6), (10, 200), (50, 16)):
        for n in (2000, 4000, 8000):
            X = blobs(n, p)
            kernel = Kernel("rbf", {"gamma": resolve_gamma("rms", "rbf", X)})
            taken = "exact" if exact_is_fast(kernel, X, k) else "landmarks"
            seconds = {
                way: np.mean([fitted(X, s, k, approximation=way).seconds for s in range(seeds)])
                for way in (None, "landmarks")
            }
            ratio = seconds[None] / seconds["landmarks"]
            times = f"{seconds[None]:>8.2f}{seconds['landmarks']:>8.2f}{ratio:>8.1f}"
            print(f"  n = {n:>5}, k = {k:>2}, {p:>3} columns:{times}  {taken}", flush=True)


PARTS = {"default": default, "components": components, "threshold": threshold}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="*", help="default, components, threshold")
    parser.add_argument("--seeds", type=int, default=3, help="fits for each figure")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    for part in arguments.parts or PARTS:
        PARTS[part](arguments.seeds)


if __name__ == "__main__":
    main()
