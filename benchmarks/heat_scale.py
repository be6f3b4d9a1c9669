"""Heat kernels: the time of the parts of a fit, and of fits of up to ten million rows.

Run ``python benchmarks/heat_scale.py [digits graph anchors]``. Each fit by anchors is a
process that reads its rows from disk. The memory of the features is printed before the fit, the
peak of anonymous memory after it. Seconds are those of the clock, and of both processors together.
"""

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_digits, make_blobs

from kernelmeans import KernelPowerKMeans
from kernelmeans.heat import HeatKernel, auto_neighbors
from kernelmeans.heat.eigenpairs import pair_count
from kernelmeans.heat.neighbors import NearestRows
from peak import Peak
from scale import GB, alone, written

K, P, ANCHORS = 10, 16, 1000
#: Rounds in which the parts of a fit of digits are timed.
ROUNDS = 15
#: Bytes that do not depend on the rows, and numbers of each row.
SUBSAMPLE, NUMBERS = 0.2 * GB, 6


def heat(k: int, **parameters: object) -> KernelPowerKMeans:
    return KernelPowerKMeans(k, kernel="heat", random_state=0, **parameters)


def spectral(k: int) -> SpectralClustering:
    return SpectralClustering(k, affinity="nearest_neighbors", random_state=0)


def taken(function: Callable[[], object]) -> tuple[float, float]:
    """Seconds of the clock and of the processors."""
    clock, processors = time.perf_counter(), time.process_time()
    function()
    return time.perf_counter() - clock, time.process_time() - processors


def digits() -> None:
    """One default fit of digits, part by part, and spectral clustering."""
    X = load_digits().data
    n = auto_neighbors(len(X), K)
    parts = {
        "search for neighbours, and graph": lambda: NearestRows(X, "euclidean").graph(n),
        "kernel: that, eigenvectors, features": lambda: HeatKernel().fit(X, n_clusters=K),
        "fit without swap moves": lambda: heat(K, n_swaps=0).fit(X),
        "fit": lambda: heat(K).fit(X),
        "SpectralClustering(nearest_neighbors)": lambda: spectral(K).fit(X),
    }
    print(f"{'digits, each part with those before':<44}{'clock':>8}{'processors':>12}")
    for function in parts.values():
        function()  # warm-up
    # One after the other in each round, so that all are timed under the same load.
    seconds = np.array([[taken(function) for function in parts.values()] for _ in range(ROUNDS)])
    for name, (clock, processors) in zip(parts, seconds.min(axis=0), strict=True):
        print(f"{name:<44}{clock:>7.3f}s{processors:>11.3f}s")
    clock, processors = np.median(seconds[:, -2] / seconds[:, -1], axis=0)
    print(f"{'ratio of the last two, median of the rounds':<44}{clock:>8.2f}{processors:>12.2f}")


def graph() -> None:
    """Blobs by the exact graph."""
    print(f"{'blobs, exact graph':<24}{'clock':>8}{'processors':>12}   spectral")
    for n, k, beside in (
        (20_000, 10, True),
        (20_000, 20, True),
        (50_000, 10, False),
        (100_000, 10, False),
    ):
        X, _ = make_blobs(n, P, centers=k, cluster_std=3.0, random_state=0)
        clock, processors = taken(lambda: heat(k, approximation=None).fit(X))  # noqa: B023
        line = f"{f'{n} x {P}, k={k}':<24}{clock:>7.1f}s{processors:>11.1f}s"
        if beside:
            clock, processors = taken(lambda: spectral(k).fit(X))  # noqa: B023
            line += f"{clock:>9.1f}s{processors:>11.1f}s"
        print(line, flush=True)


def fit_from_disk(file: Path) -> tuple[float, float, int, int]:
    """Seconds of the clock and of the processors, peak anonymous memory, steps."""
    X, model = np.load(file, mmap_mode="r"), heat(K, approximation="landmarks")
    model.set_params(n_components=ANCHORS)
    with Peak() as peak:
        clock, processors = taken(lambda: model.fit(X))
    return clock, processors, peak.bytes, model.n_iter_


def stated(n: int) -> float:
    """Bytes that a fit by anchors takes, rows on disk not counted.

    That is a subsample with its weights on anchors. For each row it is the features, a distance and
    a weight for each cluster, all in float32, and some numbers of eight bytes.
    """
    return SUBSAMPLE + n * (4 * (pair_count(K) + 2 * K) + 8 * NUMBERS)


def anchors(most: int) -> None:
    """Ten times as many rows, from disk."""
    print(f"{P} columns float32 from disk, k={K}, {ANCHORS} anchors")
    for n in (10**5, 10**6, 10**7):
        if n > most:
            continue
        with tempfile.TemporaryDirectory() as folder:
            file = written(Path(folder), n, P)
            print(f"{n:>9} rows: at most {stated(n) / GB:.2f} GB", end=", ", flush=True)
            clock, processors, peak, steps = alone(fit_from_disk, file)
        print(
            f"{clock:.1f} s ({processors:.1f} s of processors), {steps} steps, "
            f"{1e6 * clock / n:.1f} ({1e6 * processors / n:.1f}) microseconds a row, "
            f"peak {peak / GB:.2f} GB",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="*", default=["digits", "graph", "anchors"])
    parser.add_argument("--most", type=int, default=10**7, help="most rows by anchors")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if "digits" in arguments.parts:
        digits()
    if "graph" in arguments.parts:
        graph()
    if "anchors" in arguments.parts:
        anchors(arguments.most)


if __name__ == "__main__":
    main()
