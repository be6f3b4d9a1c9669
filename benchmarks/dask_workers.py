"""Fits on Dask workers of one thread each: the speed of two, and the cost of killing one.

Run ``python benchmarks/dask_workers.py`` for the time with one worker and with two in turn, and
for the labels compared with those of a fit without a cluster; with ``--kills 10`` for ten fits on
two workers, of which one is killed at a random moment each time. Both processors should be idle.
"""

import argparse
import os
import random
import signal
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

os.environ.setdefault("OMP_NUM_THREADS", "1")  # The workers have it so, too.

import dask.array as da
import numpy as np
import psutil
from distributed import Client, LocalCluster

from kernelmeans import KernelPowerKMeans

K, COLUMNS = 10, 16


def chunk_of_blobs(rows: int, block_id: tuple[int, int]) -> np.ndarray:
    rng = np.random.default_rng((1, block_id[0]))
    centres = 3 * np.random.default_rng(0).standard_normal((K, COLUMNS), np.float32)
    noise = 3 * rng.standard_normal((rows, COLUMNS), np.float32)
    return centres[rng.integers(K, size=rows)] + noise


def blobs(rows: int, chunk: int) -> da.Array:
    """Overlapping round clusters, computed where they are needed and always the same."""
    chunks = ((chunk,) * (rows // chunk), (COLUMNS,))
    meta = np.empty((0, 0), np.float32)
    return da.map_blocks(chunk_of_blobs, chunk, chunks=chunks, dtype=np.float32, meta=meta)


@contextmanager
def workers(count: int) -> Iterator[Client]:
    options = {"threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(n_workers=count, **options) as cluster, Client(cluster) as client:
        yield client


def busy(client: Client) -> float:
    """Seconds that all workers have computed so far."""
    times = client.run(lambda: psutil.Process().cpu_times())
    return sum(each.user + each.system for each in times.values())


def fitted(arguments: argparse.Namespace, X: da.Array) -> tuple[KernelPowerKMeans, float]:
    low_rank = {"approximation": "landmarks", "n_components": arguments.components}
    model = KernelPowerKMeans(K, kernel="rbf", **low_rank, random_state=0)
    start = time.perf_counter()
    model.fit(X)
    return model, time.perf_counter() - start


def speed(arguments: argparse.Namespace) -> None:
    X = blobs(arguments.rows, arguments.chunk)
    print(f"{'workers':>8}{'seconds':>10}{'steps':>7}{'CPU seconds':>13}{'busy':>7}")
    pairs, models = [], {}
    for _ in range(arguments.rounds):
        seconds = []
        for count in (1, 2):
            with workers(count) as client:
                persisted = X.persist()
                persisted.sum().compute()
                before = busy(client)
                models[count], taken = fitted(arguments, persisted)
                work = busy(client) - before
            seconds.append(taken)
            share = work / taken / count
            steps = models[count].n_iter_
            print(f"{count:>8}{taken:>10.1f}{steps:>7}{work:>13.1f}{share:>7.0%}", flush=True)
        pairs.append(seconds)
    ratio = statistics.median(one / two for one, two in pairs)
    print(f"time with 1 worker / with 2 workers: {ratio:.2f} (target >= 1.6)")
    here, taken = fitted(arguments, X)
    print(f"    here{taken:>10.1f}{here.n_iter_:>7}   features recomputed in each step")
    for count, model in models.items():
        print(f"labels with {count} as here: {same(model, here)}")


def same(one: KernelPowerKMeans, other: KernelPowerKMeans) -> bool:
    """Whether two fits are equal, bit for bit."""
    labels = bool((one.labels_.compute() == other.labels_.compute()).all())
    history = np.array_equal(one.objective_history_, other.objective_history_)
    return labels and history and one.inertia_ == other.inertia_


def kills(arguments: argparse.Namespace) -> None:
    X = blobs(arguments.rows, arguments.chunk)
    rng = random.Random(arguments.seed)
    with workers(2):
        reference, undisturbed = fitted(arguments, X.persist())
    print(f"undisturbed: {undisturbed:.1f} s, {reference.n_iter_} steps", flush=True)
    right = 0
    for number in range(1, arguments.kills + 1):
        # New workers each time: sometimes a nanny does not restart its worker.
        with workers(2) as client:
            persisted = X.persist()
            pid = rng.choice(sorted(client.run(os.getpid).values()))
            # Some fits are faster than the first.
            moment = rng.uniform(0, 0.8 * undisturbed)
            killer = threading.Timer(moment, os.kill, (pid, signal.SIGKILL))
            killer.start()
            model, taken = fitted(arguments, persisted)
            in_time = not killer.is_alive()
            killer.join()
        right += (equal := same(model, reference))
        late = "" if in_time else " (too late)"
        print(f"kill {number} at {moment:.1f} s{late}: {taken:.1f} s, equal: {equal}", flush=True)
    print(f"{right} of {arguments.kills} fits are equal to the undisturbed one")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--chunk", type=int, default=100_000, help="rows of a chunk; a divisor")
    parser.add_argument("--components", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0, help="of the moments of the kills")
    arguments = parser.parse_args()
    if arguments.kills:
        kills(arguments)
    else:
        speed(arguments)


if __name__ == "__main__":
    main()
