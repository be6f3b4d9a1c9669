"""The program of one process of embeddings.py: a fit, its seconds and its memory.

It reads what to fit from its input, writes labels into a file and the figures to its output. Rivals
run in another environment, so nothing but NumPy and scikit-learn is imported by all.
"""

import json
import re
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from sklearn.cluster import KMeans, MiniBatchKMeans

from peak import Peak

#: Rows of the fit before the clock starts, which compiles, and from which k-means takes batches.
SMALL, BATCHES = 5000, 500_000
#: A budget that no fit keeps, so that it says what it takes.
NO_MEMORY = "1MB"


def ours(k: int, metric: str, seed: int, **parameters: Any) -> Any:
    from kernelmeans import KernelPowerKMeans

    return KernelPowerKMeans(k, metric=metric, random_state=seed, **parameters)


def evoc(k: int, metric: str, seed: int, n_rows: int) -> Any:
    """By cosine, whatever the metric: EVoC has no other."""
    from evoc import EVoC

    return EVoC(approx_n_clusters=k, random_state=seed)


class UmapHdbscan:
    """As UMAP's page on clustering has it; the smallest cluster is a tenth of the mean one.

    There is no seed: with one UMAP would use a single core.
    """

    def __init__(self, k: int, metric: str, seed: int, n_rows: int) -> None:
        from hdbscan import HDBSCAN
        from umap import UMAP

        self._umap = UMAP(n_neighbors=30, min_dist=0.0, n_components=2, metric=metric)
        least = max(5, n_rows // (10 * k))
        self._hdbscan = HDBSCAN(min_samples=10, min_cluster_size=least, core_dist_n_jobs=-1)

    def fit_predict(self, X: np.ndarray) -> np.ndarray:
        """Clusters of the rows' map, and -1 for rows without."""
        return self._hdbscan.fit_predict(self._umap.fit_transform(X))


def k_means(k: int, metric: str, seed: int, n_rows: int) -> Any:
    return (MiniBatchKMeans if n_rows > BATCHES else KMeans)(k, random_state=seed)


OURS: Mapping[str, Callable[..., Any]] = {
    "default": ours,
    "graph": partial(ours, approximation=None),
    "anchors": partial(ours, approximation="landmarks"),
}
RIVALS: Mapping[str, Callable[..., Any]] = {"EVoC": evoc, "UMAP+HDBSCAN": UmapHdbscan}
METHODS = {**OURS, **RIVALS, "k-means": k_means}


def stated(model: Any, X: np.ndarray) -> int | None:
    """Bytes that a fit says it takes before it takes them, or None."""
    try:
        model.set_params(memory_budget=NO_MEMORY).fit(X)
    except MemoryError as error:
        found = re.search(r"\((\d+) bytes\)", str(error))
        return int(found[1]) if found else None
    return None


def fit(X: np.ndarray, method: str, k: int, metric: str, seed: int) -> tuple[np.ndarray, Any, dict]:
    """Labels, the model, and the figures."""
    if method in OURS:
        build: Callable[..., Any] = partial(OURS[method], k, metric, seed)
    else:
        build = partial(METHODS[method], k, metric, seed, len(X))
    if method in RIVALS:
        build().fit_predict(X[:SMALL])
    model = build()
    with Peak() as peak:
        clock, processors = time.perf_counter(), time.process_time()
        labels = model.fit_predict(X)
        figures = {
            "clock": time.perf_counter() - clock,
            "processors": time.process_time() - processors,
        }
    figures["added"] = peak.added
    if method in OURS:
        figures["stated"] = stated(build(), X)
        figures["held"] = model.approximation_
    return labels, model, figures


def main() -> None:
    asked = json.load(sys.stdin)
    X, new = np.load(asked.pop("file")), asked.pop("new", None)
    out = asked.pop("labels")
    labels, model, figures = fit(X, **asked)
    if new is not None:
        rows = np.load(new)
        clock = time.perf_counter()
        predicted = model.predict(rows)
        figures["predict"] = time.perf_counter() - clock
        figures["same"] = bool(np.array_equal(labels, model.predict(X)))
        labels = np.concatenate([labels, predicted])
    np.save(out, labels)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
