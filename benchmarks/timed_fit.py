"""The program of one process of choosing_times.py: seconds of a fit.

It reads rows and settings from its input, and imports the copy of the library that PYTHONPATH has.
"""

import json
import pickle
import resource
import sys
import time
from typing import Any

import numpy as np
from joblib.externals.loky import get_reusable_executor

from kernelmeans import ClusterSearch, KernelPowerKMeans

#: Numbers of clusters of a search, and fits of which the median is taken where there is none.
N_CLUSTERS, N_FITS = range(2, 13), 15


def seconds_of(model: Any, X: np.ndarray) -> tuple[float, float]:
    """CPU and wall seconds."""
    begin, before = time.perf_counter(), cpu_seconds()
    model.fit(X)
    wall = time.perf_counter() - begin
    if isinstance(model, ClusterSearch) and model.n_jobs:
        # Only workers that have ended are counted.
        get_reusable_executor().shutdown(wait=True)
    return cpu_seconds() - before, wall


def cpu_seconds() -> float:
    """Those of this process, and of its workers that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main() -> None:
    X, splits, n_jobs = pickle.load(sys.stdin.buffer)
    if splits:
        grid = {"n_clusters": list(N_CLUSTERS)}
        estimator = KernelPowerKMeans(random_state=0)
        model = ClusterSearch(estimator, grid, n_splits=splits, random_state=0, n_jobs=n_jobs)
    else:
        model = KernelPowerKMeans(10, n_swaps=0, random_state=0)
    found = [seconds_of(model, X) for _ in range(1 if splits else N_FITS)]
    print(json.dumps([*np.median(found, axis=0), len(np.unique(model.labels_))]))


if __name__ == "__main__":
    main()
