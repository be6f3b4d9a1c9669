"""Time, memory and cost from ten thousand rows to millions, beside scikit-learn's methods.

Run ``python benchmarks/scale.py [rows steps disk refusal]``; without names all but the rows from
disk are run. Each fit is a process, so that its peak memory can be measured. ``--large``
adds ten million rows from disk, ``--figure FILE`` draws the times, ``--folder`` says where the
files of rows go (they take up to 8 GB and are deleted).
"""

import argparse
import multiprocessing
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline

from kernelmeans import KernelPowerKMeans
from kernelmeans.engines import Threads
from kernelmeans.kernels import Kernel, resolve_gamma
from kernelmeans.lowrank import Explicit, FeatureMap, approximate
from kernelmeans.solver import Annealed, coldest_start, critical_power, solve
from kernelmeans.solver.methods import AUTO
from kernelmeans.spaces import FeatureSpace, stream
from kernelmeans.spaces.features import row_blocks
from peak import Peak, status

K, P, LANDMARKS = 10, 16, 500
ROWS = (10_000, 31_623, 100_000, 316_228, 1_000_000)
HELD_OUT = 30_000
GB = 1e9


def blobs(n: int, p: int, first: int = 0) -> np.ndarray:
    """Twenty overlapping clusters of different weight: rows ``first`` to ``first + n``."""
    rng = np.random.default_rng(0)
    centers = 1.5 * rng.standard_normal((2 * K, p), dtype=np.float32)
    weights = rng.dirichlet(np.full(2 * K, 3.0))
    rng = np.random.default_rng((1, first))
    X = rng.standard_normal((n, p), dtype=np.float32)
    X += centers[rng.choice(2 * K, size=n, p=weights)]
    return X


def gamma_of(X: np.ndarray) -> float:
    return resolve_gamma("rms", "rbf", X)


METHODS: dict[str, Callable[[float], Any]] = {
    "kernelmeans": lambda gamma: KernelPowerKMeans(
        K,
        kernel="rbf",
        gamma=gamma,
        approximation="landmarks",
        n_components=LANDMARKS,
        random_state=0,
    ),
    "Nystroem+KMeans": lambda gamma: make_pipeline(
        Nystroem(gamma=gamma, n_components=LANDMARKS, random_state=0),
        KMeans(K, n_init=5, random_state=0),
    ),
    "MiniBatchKMeans": lambda gamma: MiniBatchKMeans(K, random_state=0),
}


def alone(function: Callable[..., Any], *arguments: Any) -> Any:
    """Result of a function in a fresh process."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(function, *arguments).result()


def one_fit(method: str, n: int) -> tuple[float, float, float]:
    """Seconds, peak memory, and true kernel k-means cost of held-out rows per row."""
    X = blobs(n, P)
    model = METHODS[method](gamma_of(X))
    start = time.perf_counter()
    model.fit(X)
    seconds = time.perf_counter() - start
    return seconds, status("VmHWM"), held_out_cost(model, gamma_of(X))


def held_out_cost(model: Any, gamma: float) -> float:
    """Kernel k-means cost of held-out rows per row, from their kernel a block of rows at a time."""
    held_out = blobs(HELD_OUT, P, first=10**9).astype(np.float64)
    labels = model.predict(held_out.astype(np.float32))
    clusters = np.eye(K)[labels]
    within = np.zeros(K)
    for start in range(0, HELD_OUT, 1000):
        block = slice(start, start + 1000)
        sums = rbf_kernel(held_out[block], held_out, gamma=gamma) @ clusters
        within += (clusters[block] * sums).sum(axis=0)
    return float(1 - (within / np.maximum(clusters.sum(axis=0), 1)).sum() / HELD_OUT)


def rows(figure: Path | None) -> None:
    """Fits of growing size, and how time grows."""
    print(f"{P} columns float32, k={K}, {LANDMARKS} landmarks, default restarts, rms width")
    print(f"{'rows':>10} {'method':<18}{'seconds':>9}{'peak GB':>9}{'held-out cost':>15}")
    times: dict[str, list[float]] = {method: [] for method in METHODS}
    for n in ROWS:
        for method in METHODS:
            seconds, peak, cost = alone(one_fit, method, n)
            times[method].append(seconds)
            print(f"{n:>10} {method:<18}{seconds:>9.2f}{peak / GB:>9.2f}{cost:>15.5f}", flush=True)
    for method, taken in times.items():
        slope = np.polyfit(np.log(ROWS), np.log(taken), 1)[0]
        whole = np.log(taken[-1] / taken[0]) / np.log(ROWS[-1] / ROWS[0])
        print(f"slope of log time over log rows, {method:<18}{slope:>6.2f}, ends {whole:.2f}")
    ratio = times["kernelmeans"][-1] / times["Nystroem+KMeans"][-1]
    print(f"time at {ROWS[-1]} rows over Nystroem+KMeans: {ratio:.2f} (<= 1)")
    if figure is not None:
        draw(times, figure)


def draw(times: dict[str, list[float]], file: Path) -> None:
    """Times over rows, both axes logarithmic."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for (method, taken), marker in zip(times.items(), "os^", strict=True):
        axes.loglog(ROWS, taken, marker=marker, label=method)
    linear = [times["kernelmeans"][-1] * n / ROWS[-1] for n in ROWS]
    axes.loglog(ROWS, linear, color="0.7", linestyle="--", label="in proportion to rows")
    axes.set(xlabel="rows", ylabel="seconds", title=f"{P} columns, k = {K}, {LANDMARKS} landmarks")
    axes.legend()
    figure.savefig(file, dpi=120)
    print(f"figure: {file}")


def schedule_for(space: FeatureSpace, n_steps: int) -> Annealed:
    critical = critical_power(space.subsample, 0)
    settings = {**AUTO, "softness": 0.0}
    first = coldest_start(critical)
    return Annealed(s0=first, critical_power=critical, max_iter=n_steps, **settings)


def steps(n: int = 1_000_000, n_steps: int = 10) -> None:
    """The step loop of a low rank over its bare products."""
    X, weight = blobs(n, P), np.ones(n, np.float32)
    kernel = Kernel("rbf", {"gamma": gamma_of(X)})
    found = approximate(kernel, X, weight, "landmarks", LANDMARKS, 0)
    with Threads() as threads:
        space = FeatureSpace.hold(found, X, weight, threads)
        schedule = schedule_for(space, n_steps)
    seeds = np.random.default_rng(0).choice(n, (K, 1), replace=False)
    Z, width = space.source.Z, space.source.width
    C, W = np.zeros((K, width), np.float32) + 0.1, np.full((K, n), 0.1, np.float32)

    def loop() -> None:
        with space.engine:
            solve(space, space.at(seeds), schedule, [0])

    def whole() -> None:
        for _ in range(n_steps):
            Z @ C.T
            W @ Z

    def blockwise() -> None:
        def products(block: slice) -> np.ndarray:
            Z[block] @ C.T
            return W[:, block] @ Z[block]

        with Threads() as threads:
            for _ in range(n_steps):
                sum(share for _, share in threads.map(products, space.blocks(K)))

    print(f"step loop / bare products, low rank {n} x {width}, k={K}:")
    for name, bare in (("as two calls of BLAS", whole), ("block by block", blockwise)):
        print(f"  {name}: {paired(loop, bare, 5):.2f} (<= 1.35)", flush=True)


def paired(first: Callable[[], None], second: Callable[[], None], repeats: int) -> float:
    """Median ratio of the times of two functions, run in turns."""
    ratios = []
    for _ in range(repeats):
        taken = []
        for function in (first, second):
            start = time.perf_counter()
            function()
            taken.append(time.perf_counter() - start)
        ratios.append(taken[0] / taken[1])
    return float(np.median(ratios))


def written(folder: Path, n: int, p: int) -> Path:
    """A .npy file of rows, written a piece at a time."""
    file = folder / f"{n}x{p}.npy"
    shape, piece = (n, p), 20_000
    out = np.lib.format.open_memmap(file, mode="w+", dtype=np.float32, shape=shape)
    for start in range(0, n, piece):
        out[start : start + piece] = blobs(min(piece, n - start), p, first=start)
    out.flush()
    del out
    return file


def fit_from_disk(file: Path, n_landmarks: int, budget: str) -> tuple[float, float, int, str]:
    """Seconds, peak anonymous memory, steps, and how the kernel was held."""
    X = np.load(file, mmap_mode="r")
    model = KernelPowerKMeans(
        K,
        kernel="rbf",
        approximation="landmarks",
        n_components=n_landmarks,
        memory_budget=budget,
        random_state=0,
    )
    with Peak() as peak:
        start = time.perf_counter()
        model.fit(X)
        seconds = time.perf_counter() - start
    assert model.labels_.shape == (len(X),)
    return seconds, peak.bytes, model.n_iter_, model.approximation_


def disk(folder: Path) -> None:
    """More rows than memory may hold, and the time to recompute features in each step."""
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        n, p = 2_000_000, 1000
        file = written(Path(temporary), n, p)
        seconds, peak, n_steps, _ = alone(fit_from_disk, file, 100, "2GB")
        print(f"from disk, {n} x {p} float32 (8 GB), 100 landmarks, 2 GB budget: peak anonymous "
              f"memory {peak / GB:.2f} GB (<= 2.5), {n_steps} steps, {seconds:.0f} s")  # fmt: skip
    print(f"a fit from disk / in memory, 100000 x 1000 (400 MB), 100 landmarks, 1 GB budget: "
          f"{disk_over_memory(100_000, 1000, 100, '1GB'):.2f} (<= 2)", flush=True)  # fmt: skip
    for n, p, n_landmarks in ((400_000, P, LANDMARKS), (100_000, 1000, 100), (400_000, P, 0)):
        ratio = anew_over_held(n, p, n_landmarks)
        what = f"{n_landmarks} landmarks" if n_landmarks else "linear kernel"
        print(f"a step with features recomputed / held, {n} x {p}, {what}: {ratio:.2f}", flush=True)


def disk_over_memory(n: int, p: int, n_landmarks: int, budget: str) -> float:
    """Time of fits whose features fit, of rows read block by block over rows in memory."""
    with tempfile.TemporaryDirectory() as temporary:
        file = written(Path(temporary), n, p)
        X = np.load(file, mmap_mode="r")
        held = np.array(X)
        model = KernelPowerKMeans(
            K, kernel="rbf", approximation="landmarks", n_components=n_landmarks, random_state=0
        ).set_params(memory_budget=budget)
        return paired(lambda: model.fit(X), lambda: model.fit(held), 3)


def anew_over_held(n: int, p: int, n_landmarks: int, n_steps: int = 8) -> float:
    """Time of steps that recompute features over that of steps that hold them."""
    with tempfile.TemporaryDirectory() as temporary:
        X = np.load(written(Path(temporary), n, p), mmap_mode="r")
        weight = np.ones(n, np.float32)
        gamma = gamma_of(np.array(X[:20_000]))
        with Threads() as threads:
            if n_landmarks:
                kernel = Kernel("rbf", {"gamma": gamma})
                found: FeatureMap = approximate(kernel, X, weight, "landmarks", n_landmarks, 0)
            else:
                found = Explicit(Kernel("linear", {}))
            held = FeatureSpace.hold(found, X, weight, threads)
            recomputed = stream(held, X, row_blocks(X, 4096), weight)
            schedule = schedule_for(held, n_steps)
        seeds = np.random.default_rng(0).choice(n, (K, 1), replace=False)

        def loop(space: FeatureSpace) -> Callable[[], None]:
            def run() -> None:
                with space.engine:
                    solve(space, space.at(seeds), schedule, [0])

            return run

        return paired(loop(recomputed), loop(held), 3)


def large(folder: Path, budget: str) -> None:
    """Ten million rows from disk."""
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        file = written(Path(temporary), 10_000_000, P)
        seconds, peak, n_steps, _ = alone(fit_from_disk, file, LANDMARKS, budget)
        print(f"from disk, 10 000 000 x {P}, {LANDMARKS} landmarks, budget {budget}:")
        print(f"  {seconds:.0f} s, {n_steps} steps, peak anonymous memory {peak / GB:.2f} GB")


def refusal() -> None:
    """The message for a kernel matrix of a million rows."""
    start = time.perf_counter()
    try:
        KernelPowerKMeans(K, kernel="rbf", approximation=None).fit(blobs(1_000_000, P))
    except MemoryError as error:
        print(f"approximation=None, 1 000 000 rows, after {time.perf_counter() - start:.2f} s:")
        print(f"  {error}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parts = ("rows", "steps", "disk", "refusal")
    # With `choices` Python 3.11 refuses an empty list of parts.
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(parts))
    parser.add_argument("--large", action="store_true", help="ten million rows from disk too")
    parser.add_argument("--budget", default="4GB", help="memory budget of the ten million rows")
    parser.add_argument("--figure", type=Path, help="file for the figure of times")
    parser.add_argument("--folder", type=Path, default=None, help="where files of rows go")
    arguments = parser.parse_args()
    if unknown := set(arguments.parts).difference(parts):
        parser.error(f"no such part: {', '.join(sorted(unknown))}; choose from {', '.join(parts)}")
    chosen = arguments.parts or ([] if arguments.large else ["rows", "steps", "refusal"])
    if "refusal" in chosen:
        refusal()
    if "steps" in chosen:
        steps()
    if "rows" in chosen:
        rows(arguments.figure)
    if "disk" in chosen:
        disk(arguments.folder)
    if arguments.large:
        large(arguments.folder, arguments.budget)


if __name__ == "__main__":
    main()
