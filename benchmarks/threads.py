"""CPU time of fits in another thread, relative to the same fits in the main thread.

Run ``python benchmarks/threads.py``. BLAS is held at one thread in both, so the ratio is 1 except
for noise. If other threads ignored the limit, it would be 2 and more.
"""

import statistics
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from sklearn.datasets import make_blobs
from threadpoolctl import threadpool_info

from kernelmeans import KernelPowerKMeans

FITS, ROUNDS = 4, 7


def fits() -> float:
    """CPU seconds of all threads of the process."""
    start = time.process_time()
    for seed in range(FITS):
        KernelPowerKMeans(10, kernel="rbf", n_swaps=0, random_state=seed).fit(X)
    return time.process_time() - start


def in_thread() -> float:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(fits).result()


def both_at_once() -> float:
    """CPU seconds of a set of fits, when two sets run in two threads."""
    start = time.process_time()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: fits(), range(2)))
    return (time.process_time() - start) / 2


X = make_blobs(2000, 20, centers=10, cluster_std=3.0, random_state=0)[0]

if __name__ == "__main__":
    before = threadpool_info()
    fits()
    seconds = [(fits(), in_thread(), both_at_once()) for _ in range(ROUNDS)]
    main, thread, overlapping = np.array(seconds).T
    print(f"{FITS} fits in the main thread        {statistics.median(main):.3f} s of CPU")
    for name, times in (("in another thread", thread), ("in two at once, each", overlapping)):
        ratio = statistics.median(times / main)
        print(f"{name:<30}{statistics.median(times):.3f} s of CPU   {ratio:.2f}   (at most 1.3)")
    print("threadpool_info() as before:", threadpool_info() == before)
