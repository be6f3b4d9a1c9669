"""Speed and memory, as ratios of two things measured in one run.

Run ``python benchmarks/speed.py`` (all rows) or name some: ``steps setup digits memory``...
The comparison with tslearn needs ``pip install tslearn==0.10.0`` and is left out without it.
"""

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_digits, make_blobs
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler

from kernelmeans import KernelPowerKMeans
from kernelmeans.engines import Threads
from kernelmeans.estimators import base
from kernelmeans.kernels import Kernel, resolve_gamma
from kernelmeans.lowrank import Explicit
from kernelmeans.solver import Annealed, coldest_start, critical_power, solve
from kernelmeans.solver.methods import AUTO
from kernelmeans.solver.seeding import random_seeds
from kernelmeans.spaces import EntropyRule, FeatureSpace, GramSpace, ProductSpace, Space

ROW = "{:<67}{:>12}{:>12}{:>9}   {}"


def seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def paired(ours: Callable[[], object], theirs: Callable[[], object], rounds: int) -> list[float]:
    """Medians of both, and of the ratio of neighbours in time, after one warm-up of each."""
    ours(), theirs()
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(rounds)]
    first, second = zip(*pairs, strict=True)
    ratio = statistics.median(a / b for a, b in pairs)
    return [statistics.median(first), statistics.median(second), ratio]


def report(name: str, measured: list[float], target: str) -> None:
    ours, theirs, ratio = measured
    print(ROW.format(name, f"{ours:.4f} s", f"{theirs:.4f} s", f"{ratio:.2f}", target), flush=True)


def steps(space: Space, k: int, restarts: int, n_steps: int) -> Callable[[], object]:
    """A default run from random samples, stopped after a few steps."""
    seeds = random_seeds(space, k, range(restarts))
    with space.engine:
        critical = critical_power(space, seed=0)
    first = coldest_start(critical)
    method = Annealed(s0=first, critical_power=critical, max_iter=n_steps, **AUTO)

    def run() -> None:
        with space.engine:
            solve(space, space.at(seeds), method, range(restarts))

    return run


def step_loops(n_steps: int = 25) -> None:
    """Whole runs, labels at their end included, against as many bare products."""
    rng = np.random.default_rng(0)
    k, restarts, n = 10, 20, 4000
    X = rng.standard_normal((n, 20), dtype=np.float32)
    with Threads() as threads:
        gram = GramSpace.hold(Kernel("rbf", {"gamma": 0.02}), X, np.ones(n, "f4"), threads)
    A = rng.random((k * restarts, n), dtype=np.float32)
    K = gram.rows.read(slice(0, n))

    def bare_gram() -> None:
        for _ in range(n_steps):
            A @ K

    name = "step loop / bare products, gram 4000, k=10, R=20, float32"
    report(name, paired(steps(gram, k, restarts, n_steps), bare_gram, 7), "<= 1.30")

    n = 200_000
    Z = rng.standard_normal((n, 256), dtype=np.float32)
    features = FeatureSpace.hold(Explicit(Kernel("linear", {})), Z, np.ones(n, "f4"), Threads())
    C, W = rng.random((k, 256), dtype=np.float32), rng.random((k, n), dtype=np.float32)

    def bare_features() -> None:
        for _ in range(n_steps):
            # The faster of the two ways to write the first product.
            Z @ C.T
            W @ Z

    name = "step loop / bare products, features 200000 x 256, k=10"
    report(name, paired(steps(features, k, 1, n_steps), bare_features, 5), "<= 1.35")


def setup(n: int = 6000, rounds: int = 9) -> None:
    """CPU seconds of whole fits against those of the step loop inside them."""
    X, _ = make_blobs(n, 20, centers=10, cluster_std=3, random_state=0)
    X = X.astype(np.float32)
    gamma = resolve_gamma("rms", "rbf", X)
    steps = 0.0

    def timed(*arguments: object) -> object:
        nonlocal steps
        start = time.process_time()
        result = solve(*arguments)  # type: ignore[arg-type]
        steps += time.process_time() - start
        return result

    base.solve = timed  # type: ignore[assignment]
    exact = {"approximation": None, "n_swaps": 0, "random_state": 0}
    for rows, given in (
        (X, {"kernel": "rbf", "gamma": gamma}),
        (rbf_kernel(X, gamma=gamma), {"kernel": "precomputed"}),
    ):
        pairs = []
        for _ in range(1 + rounds):
            model = KernelPowerKMeans(10, **given, **exact)
            steps, start = 0.0, time.process_time()
            model.fit(rows)
            pairs.append((time.process_time() - start, steps))
        # The first one is a warm-up.
        whole, loop = zip(*pairs[1:], strict=True)
        ratio = statistics.median(a / b for a, b in pairs[1:])
        name = f"CPU of a fit / its {model.n_iter_} steps, n={n}, k=10, float32, {given['kernel']}"
        report(name, [statistics.median(whole), statistics.median(loop), ratio], "<= 1.70")
    base.solve = solve


def several_kernels(n_steps: int = 25) -> None:
    """The same with twelve kernels, whose weights change in each step, and the memory of a fit."""
    rng = np.random.default_rng(0)
    n, n_kernels, k, restarts = 2000, 12, 20, 5
    X = rng.standard_normal((n, 20), dtype=np.float32)
    with Threads() as threads:
        members = [
            GramSpace.hold(Kernel("rbf", {"gamma": gamma}), X, np.ones(n, "f4"), threads)
            for gamma in np.geomspace(0.005, 0.1, n_kernels)
        ]
    rule = EntropyRule(entropy_weight=n * 0.5)
    product = ProductSpace(members, [slice(None)] * n_kernels, rule)
    A = rng.random((k * restarts, n), dtype=np.float32)
    matrices = [member.rows.read(slice(0, n)) for member in members]

    def bare() -> None:
        for _ in range(n_steps):
            for K in matrices:
                A @ K

    name = "step loop / bare products, 12 kernels, n=2000, k=20, R=5, float32"
    report(name, paired(steps(product, k, restarts, n_steps), bare, 7), "<= 1.30")

    exact = "approximation=None, random_state=0"
    estimator = f"MultiKernelPowerKMeans(20, kernels={{}}, n_init=5, {exact})"
    family = "[dict(kernel='rbf', gamma=0.02 * g) for g in range(1, 13)]"
    stack = "[sklearn.metrics.pairwise.rbf_kernel(X, gamma=0.02 * g) for g in range(1, 13)]"
    for kind, kernels, prepare in (
        ("rbf", family, ""),
        ("precomputed", "'precomputed'", f"X = np.stack({stack})"),
    ):
        name = f"peak memory of a fit / 12 kernel matrices, n={n} float32, {kind}"
        peak = peak_bytes(n, estimator.format(kernels), prepare)
        report_memory(name, peak, n_kernels * n * n * 4, "<= 1.20")


def kernel_cost(K: np.ndarray, labels: np.ndarray) -> float:
    """True kernel k-means cost of a partition, for every library alike."""
    cost = np.trace(K, dtype=np.float64)
    for cluster in np.unique(labels):
        members = np.flatnonzero(labels == cluster)
        cost -= K[np.ix_(members, members)].sum(dtype=np.float64) / len(members)
    return float(cost)


def against_tslearn(X: np.ndarray, gamma: float, K: np.ndarray, target: str) -> None:
    """Twenty restarts of both, and the true cost of their labels."""
    try:
        from tslearn.clustering import KernelKMeans as TslearnKernelKMeans
    except ImportError:
        print("tslearn is not installed: its rows are left out")
        return
    ours = KernelPowerKMeans(10, kernel="rbf", gamma=gamma, n_init=20, random_state=0)
    theirs = TslearnKernelKMeans(
        10, kernel="rbf", n_init=20, kernel_params={"gamma": gamma}, random_state=0
    )
    series = X[:, :, None]
    name = f"digits, rbf, n_init=20, {X.dtype}: ours / tslearn"
    report(name, paired(lambda: ours.fit(X), lambda: theirs.fit(series), 3), target)
    costs = [kernel_cost(K, labels) for labels in (ours.labels_, theirs.labels_)]
    cells = [f"{cost:.2f}" for cost in costs]
    print(ROW.format("    true cost of the labels", *cells, f"{costs[0] / costs[1]:.3f}", "< 1"))


def digits() -> None:
    X = StandardScaler().fit_transform(load_digits().data)
    gamma = resolve_gamma("rms", "rbf", X)
    K = rbf_kernel(X, gamma=gamma)
    against_tslearn(X.astype(np.float32), gamma, K, "<= 0.125")
    against_tslearn(X, gamma, K, "<= 0.20")
    ours = KernelPowerKMeans(10, kernel="rbf", random_state=0)
    spectral = SpectralClustering(10, affinity="rbf", gamma=gamma, random_state=0)
    name = "digits, one fit of kernel='rbf' / SpectralClustering(rbf)"
    report(name, paired(lambda: ours.fit(X), lambda: spectral.fit(X), 5), "<= 1")


PEAK = """
from pathlib import Path
import numpy as np, scipy.sparse.linalg, sklearn.metrics.pairwise
from kernelmeans import KernelPowerKMeans, MultiKernelPowerKMeans
def kilobytes(field):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field))
X = np.random.default_rng(0).standard_normal(({n}, 10), dtype=np.float32)
{prepare}
model = {estimator}
before = kilobytes("VmRSS")
Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
model.fit(X)
print(kilobytes("VmHWM") - before)
"""


def peak_bytes(n: int, estimator: str, prepare: str) -> int:
    """Memory that a fit adds to the interpreter with its imports and the input (Linux)."""
    code = PEAK.format(n=n, estimator=estimator, prepare=prepare)
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    return int(out.stdout) * 1024


def report_memory(name: str, peak: int, matrices: int, target: str) -> None:
    sizes = (f"{size / 1e6:.0f} MB" for size in (peak, matrices))
    print(ROW.format(name, *sizes, f"{peak / matrices:.2f}", target), flush=True)


def memory(n: int = 10_000) -> None:
    """Peak memory of a fit with one kernel."""
    K = "X = sklearn.metrics.pairwise.rbf_kernel(X, gamma=0.05)"
    for kernel, prepare in (("rbf", ""), ("precomputed", K)):
        exact = f"kernel={kernel!r}, approximation=None, random_state=0"
        estimator = f"KernelPowerKMeans(10, {exact})"
        name = f"peak memory of a fit / kernel matrix, n={n} float32, {kernel}"
        report_memory(name, peak_bytes(n, estimator, prepare), n * n * 4, "<= 1.30")


def help_time() -> None:
    command = [sys.executable, "-m", "kernelmeans.cli", "--help"]
    bare = [sys.executable, "-c", "pass"]
    timings = paired(
        lambda: subprocess.run(command, capture_output=True, check=True),
        lambda: subprocess.run(bare, capture_output=True, check=True),
        9,
    )
    report("kernelmeans --help / python -c pass", timings, "< 0.3 s")


ROWS = {
    "steps": step_loops,
    "setup": setup,
    "digits": digits,
    "memory": memory,
    "kernels": several_kernels,
    "help": help_time,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rows", nargs="*", choices=[*ROWS, []], help="which rows; all by default")
    wanted = parser.parse_args().rows or list(ROWS)
    print(ROW.format("", "ours", "other", "ratio", "target"))
    for name in wanted:
        ROWS[name]()


if __name__ == "__main__":
    main()
