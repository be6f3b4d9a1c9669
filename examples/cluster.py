"""Kernel power k-means of a Dask array, on a cluster that is started here.

Needs the extra dask; the progress bar needs scikit-learn 1.9 and rich. To use a cluster that is
running already, give its scheduler instead of starting one, ``Client("tcp://address:8786")``. Every
fit and every prediction goes to the workers of the client in use. They must have the same versions
of kernelmeans and NumPy as this process. Chunks of rows are the pieces of work: some tens
of megabytes each, at least as many as there are threads, and small enough that a chunk with its
features fits into half of a worker's memory. ``persist()`` keeps them on the workers. Without it
they are computed again by each pass that needs rows, and an array that began in this process is
sent out again each time. Operations on all pairs of rows are refused, for instance
``approximation=None`` with a kernel that is neither linear nor cosine. ``approximation="auto"``
takes landmarks by itself. The heat kernel then has anchors, however few the rows.
"""

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from kernelmeans import KernelPowerKMeans

K, CHUNK, N_CHUNKS = 6, 20_000, 10


def ring_and_blobs(block_id: tuple[int, int]) -> np.ndarray:
    """A chunk of rows, computed by the worker that needs it: a ring, and blobs inside."""
    rng = np.random.default_rng(block_id)
    cluster = rng.integers(K, size=CHUNK)
    angle = 2 * np.pi * np.where(cluster == 0, rng.random(CHUNK), cluster / (K - 1))
    radius = np.where(cluster == 0, 6, 2.5)
    X = radius * np.stack([np.cos(angle), np.sin(angle)]) + rng.normal(0, 0.3, (2, CHUNK))
    return X.T.astype(np.float32)


def main() -> None:
    chunks = ((CHUNK,) * N_CHUNKS, (2,))
    X = da.map_blocks(ring_and_blobs, chunks=chunks, dtype=np.float32, meta=np.empty((0, 0), "f4"))
    model = KernelPowerKMeans(
        K, kernel="rbf", gamma=0.5, approximation="landmarks", n_components=200, random_state=0
    )
    try:
        from sklearn.callback import ProgressBar

        model.set_callbacks(ProgressBar())
    except ImportError:
        print("No progress bar: it needs scikit-learn 1.9 and rich.")
    with LocalCluster(n_workers=2, threads_per_worker=1) as cluster, Client(cluster):
        model.fit(X.persist())
        labels = model.predict(X)
        print(labels)
        print("rows in each cluster:", da.bincount(labels, minlength=K).compute())
    # The model no longer needs the cluster.
    print("the middle of the first blob is in cluster", model.predict([[2.5, 0.0]])[0])


if __name__ == "__main__":
    main()
