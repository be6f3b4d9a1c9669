"""Fits on a device beside the processor, and steps beside their bare products, in one run.

Run ``python benchmarks/gpu.py``; where there is no GPU it says so. ``--device cpu`` runs the same
on PyTorch's CPU, at smaller sizes.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from kernelmeans import KernelPowerKMeans
from kernelmeans._devices import Device, device_of
from kernelmeans._typing import Array
from kernelmeans.engines import Threads
from kernelmeans.kernels import Kernel
from kernelmeans.lowrank import Explicit
from kernelmeans.solver import Annealed, solve
from kernelmeans.solver.methods import AUTO
from kernelmeans.spaces import FeatureSpace, GramSpace, Space
from kernelmeans.spaces.kernel_rows import slices

ROW = "{:<58}{:>12}{:>12}{:>8}"
#: Samples in a kernel matrix, samples of a matrix-free step, samples and width of features.
SIZES = {"cuda": (30_000, 100_000, 2_000_000, 256), "cpu": (2_000, 2_000, 20_000, 128)}
#: Columns of the rows of a whole fit, and the standard deviation of the centres of clusters.
FITTED_COLUMNS, SPREAD = 20, 0.8
K, RESTARTS, COLUMNS, ROUNDS = 10, 20, 50, 5
RBF = Kernel("rbf", {"gamma": 0.01})


def seconds(function: Callable[[], object], wait: Callable[[], None]) -> float:
    wait()
    start = time.perf_counter()
    function()
    wait()
    return time.perf_counter() - start


def report(
    name: str, steps: Callable[[int], object], bare: Callable[[], object], wait: Callable[[], None]
) -> None:
    """Medians of one step and of its products, and of the ratio of neighbours in time.

    A step is the difference of a long and a short run over that of their numbers of steps, so that
    starts and labels do not count.
    """
    short, long = 2, 12
    steps(short), bare()
    pairs = []
    for _ in range(ROUNDS):
        extra = seconds(lambda: steps(long), wait) - seconds(lambda: steps(short), wait)
        products = seconds(lambda: [bare() for _ in range(long - short)], wait)
        pairs.append((extra / (long - short), products / (long - short)))
    ours, theirs = (statistics.median(times) for times in zip(*pairs, strict=True))
    ratio = statistics.median(a / b for a, b in pairs)
    print(ROW.format(name, f"{ours:.5f} s", f"{theirs:.5f} s", f"{ratio:.2f}"), flush=True)


def clusters(n: int, columns: int) -> Array:
    """Rows in clusters of unequal width that take turns: the first rows are one of each."""
    rng = np.random.default_rng(0)
    centres = SPREAD * rng.standard_normal((K, columns), np.float32)
    own = np.arange(n) % K
    widths = 0.8 ** own.astype(np.float32)
    return centres[own] + widths[:, None] * rng.standard_normal((n, columns), np.float32)


def runner(space: Space, restarts: int) -> Callable[[int], object]:
    """A run from samples, one of each cluster, stopped after a few soft steps.

    Centroids that coincide would get noise, which is drawn on the processor.
    """
    seeds = np.arange(K * restarts).reshape(restarts, K).T

    def run(n_steps: int) -> None:
        settings = {**AUTO, "eta": 1.01}
        method = Annealed(s0=-3.0, critical_power=-1.0, max_iter=n_steps, **settings)
        with space.engine:
            solve(space, space.at(seeds), method, range(restarts))

    return run


def gram(device: Device, n: int, cached: bool, wait: Callable[[], None]) -> None:
    rng = np.random.default_rng(0)
    X = clusters(n, COLUMNS)
    A = device.put(rng.random((K * RESTARTS, n), dtype=np.float32))
    weight = np.ones(n, np.float32)
    if cached:
        space = GramSpace.hold(RBF, X, weight, Threads(1), device=device)
        matrix = space.rows.read(slice(0, n))
        name = "kernel matrix in memory"

        def bare() -> None:
            A @ matrix

    else:
        space = GramSpace.hold(RBF, X, weight, Threads(1), device, device.budget(None).n_bytes)
        blocks = slices(n, space.rows.at_a_time)
        rows, width = device.put(X), blocks[0].stop
        block = device.put(rng.random((width, n), dtype=np.float32))
        name = "matrix-free: kernel rows recomputed"

        def bare() -> None:
            # The products of any such step; nothing for the exponentials.
            for some in blocks:
                rows[some, ...] @ rows.T
                A @ block[: some.stop - some.start, ...].T

    text = f"{name}, n={n}, k={K}, R={RESTARTS}, float32"
    report(text, runner(space, RESTARTS), bare, wait)


def low_rank(device: Device, n: int, width: int, wait: Callable[[], None]) -> None:
    rng = np.random.default_rng(0)
    X = clusters(n, width)
    linear = Explicit(Kernel("linear", {}))
    space = FeatureSpace.hold(linear, X, np.ones(n, np.float32), Threads(1), device=device)
    Z = device.put(X)
    C = device.put(rng.random((K, width), dtype=np.float32))
    W = device.put(rng.random((K, n), dtype=np.float32))

    def bare() -> None:
        Z @ C.T
        W @ Z

    report(f"features, {n} x {width}, k={K}, float32", runner(space, 1), bare, wait)


def fits(name: str, n: int, **parameters: Any) -> None:
    """One fit on the device and one on the processor, after a small one that loads libraries."""
    X = clusters(n, FITTED_COLUMNS)
    there, here = (
        KernelPowerKMeans(K, kernel="rbf", random_state=0, device=device, **parameters)
        for device in (name, None)
    )
    there.fit(X[:500])
    times = [seconds(partial(model.fit, X), lambda: None) for model in (there, here)]
    same = np.mean(there.labels_ == here.labels_)
    text = f"{there.approximation_ or 'exact'} fit, n={n}, k={K}, float32"
    print(ROW.format(text, *(f"{time:.2f} s" for time in times), f"{times[0] / times[1]:.2f}"))
    print(f"    {100 * same:.4f} % of the labels are the same")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", default="cuda", help="PyTorch's name of a device")
    name = parser.parse_args().device
    try:
        device = device_of(name, None)
    except (ImportError, ValueError) as error:
        print(f"No GPU at hand, nothing is measured: {error}")
        return
    import torch

    on_gpu = name.startswith("cuda")
    wait = (lambda: torch.cuda.synchronize(name)) if on_gpu else (lambda: None)
    what = torch.cuda.get_device_name(name) if on_gpu else "PyTorch's CPU"
    # On busy cores, threads that wait for each other would dominate the time.
    torch.set_num_threads(torch.get_num_threads() if on_gpu else 1)
    n_cached, n_free, n_features, width = SIZES["cuda" if on_gpu else "cpu"]
    print(f"{what}, PyTorch {torch.__version__}, float32 products: ", end="")
    print(torch.get_float32_matmul_precision())
    print(ROW.format("", "device", "processor", "ratio"))
    fits(name, n_cached, approximation=None)
    fits(name, n_features, approximation="landmarks")
    print(ROW.format("", "a step", "products", "ratio"))
    gram(device, n_cached, True, wait)
    gram(device, n_free, False, wait)
    low_rank(device, n_features, width, wait)


if __name__ == "__main__":
    main()
