"""The same rows in other forms: data frames, arrays of other libraries, files, Dask and sparse.

Masked arrays have such a form too as long as nothing is masked.
"""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import dask.array
import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse
import zarr
from sklearn.base import clone
from zarr.core.sync import cleanup_resources

from fuzz import Case, Failure, Refused, Rng
from fuzz.draw import budget, pick, plain_rows, rarely, scrambled, weights
from fuzz.judge import is_refusal, promised, require
from fuzz.sound import check_finite, unchanged
from kernelmeans import KernelKMeans, KernelPowerKMeans, MultiKernelPowerKMeans, PowerKMeans
from kernelmeans.rows import open_rows

try:
    import torch
except ImportError:
    torch = None  # type: ignore[assignment]

WEIGHT = 2


def case(rng: Rng) -> Case:
    n, p, k = int(rng.integers(2, 60)), int(rng.integers(1, 5)), int(rng.integers(1, 5))
    if rarely(rng, 20):
        n *= 40  # several blocks
    X = (plain_rows(rng, n, p) + pick(rng, 0, 0, 100)).astype(pick(rng, "f8", "f8", "f4"))
    given: dict[str, Any] = {"n_swaps": pick(rng, 0, 0, 2), "random_state": int(rng.integers(99))}
    low = {"approximation": pick(rng, "landmarks", "rpcholesky"), "n_components": 5}
    views = [("rbf", [0]), ("linear", slice(0, p))]
    if rarely(rng, 12):
        given["memory_budget"] = budget(rng)
    model: Any = pick(
        rng,
        lambda: PowerKMeans(k, **given),
        lambda: KernelPowerKMeans(k, kernel=pick(rng, "heat", "linear", "cosine"), **given),
        lambda: KernelPowerKMeans(k, kernel=pick(rng, "rbf", "laplacian"), **low, **given),
        lambda: KernelPowerKMeans(k, kernel="rbf", cache_kernel=bool(rng.integers(2)), **given),
        lambda: KernelPowerKMeans(k, kernel="rbf", approximation="rff", **given),
        lambda: KernelPowerKMeans(k, approximation="landmarks", **given),
        lambda: MultiKernelPowerKMeans(k, kernels=pick(rng, "neighbors", "widths"), **given),
        lambda: MultiKernelPowerKMeans(k, kernels=views, **pick(rng, {}, low), **given),
        lambda: KernelKMeans(k, kernel=pick(rng, "rbf", "heat"), **given),
    )()
    weight, form = weights(rng, n), pick(rng, *SAME, *OTHER, sparse, sparse)
    words = f"{form.__name__} {model!r}\nX = {X!r}\nsample_weight = {weight!r}"
    return Case(words, lambda: check(form, model, X, weight))


def check(form: Callable[[Any], Any], model: Any, X: Any, weight: Any) -> None:
    """Compare a fit and its answers with those of a plain array."""
    try:
        with dask.config.set(scheduler="synchronous"):
            compare(form, model, X, weight)
    finally:
        cleanup_resources()  # threads of zarr


def compare(form: Callable[[Any], Any], model: Any, X: Any, weight: Any) -> None:
    """Check the fits to both."""
    small = rounding(model, X)
    X = scipy.sparse.csr_array(X) if form is sparse else X
    plain = clone(model).fit(X, sample_weight=weight)
    other = form(X)
    with promised():
        distances = plain.transform(X)
        allowed = 1e-3 * distances.max() + 2 * np.sqrt(plain._floor) + small
        found = np.asarray(plain.transform(other))
        np.testing.assert_allclose(found, distances, rtol=1e-3, atol=allowed)
        check_labels(plain.predict(other), distances, allowed)
        if form is masked:
            check_masked(plain, model, X, weight)
    again = clone(model)
    with unchanged(again, other) if form is sparse else nullcontext():
        again.fit(other, sample_weight=weight)
    with promised():
        check_finite(again)
        check_labels(again.predict(X), np.asarray(again.transform(X)), allowed)
        # scikit-learn makes float64 of float32 in data frames of polars.
        if form in SAME and again.certainty_.dtype == X.dtype:
            np.testing.assert_array_equal(again.labels_, plain.labels_, "labels_")
            require(again.inertia_ == plain.inertia_, f"{again.inertia_} {plain.inertia_}")


def check_masked(fitted: Any, model: Any, X: Any, weight: Any) -> None:
    """What is masked is refused: a value in a fit and afterwards, and a weight."""
    holed = masked(X)
    holed[len(X) // 2, 0] = np.ma.masked
    ones = np.ma.array(np.ones(len(X)), mask=holed.mask[:, 0])
    questions: dict[str, Callable[[], Any]] = {
        "fit": lambda: clone(model).fit(holed, sample_weight=weight),
        "weights": lambda: clone(model).fit(X, sample_weight=ones),
        "predict": lambda: fitted.predict(holed),
        "transform": lambda: fitted.transform(holed),
        "score": lambda: fitted.score(holed),
    }
    for name, ask in questions.items():
        try:
            ask()
        except Exception as error:
            require(is_refusal(error) and "mask" in str(error), f"{name}: {error!r}")
        else:
            raise Failure(f"{name}: a masked value is used")


def rounding(model: Any, X: Any) -> float:
    """That of a distance, generously; of most kernels no distance is larger than 1.5."""
    is_linear = isinstance(model, PowerKMeans) or getattr(model, "kernel", "") == "linear"
    size = np.square(X - X.mean(axis=0)).sum(axis=1).max() if is_linear else 1.0
    return float(30 * np.sqrt(np.finfo(X.dtype).eps * size))


def check_labels(labels: Any, distances: Any, allowed: float) -> None:
    """Each row has its nearest centroid, up to rounding."""
    labels = np.asarray(labels)
    own = distances[np.arange(len(labels)), labels]
    require((own <= distances.min(axis=1) + 2 * allowed).all(), f"labels {labels} {distances}")


def pandas(X: Any) -> Any:
    return pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])


def polars(X: Any) -> Any:
    return pl.DataFrame(X, schema=[f"c{j}" for j in range(X.shape[1])])


def masked(X: Any) -> Any:
    return np.ma.array(X.copy(), mask=np.zeros(X.shape, bool))


def sparse(X: Any) -> Any:
    """Like no CSR matrix should be, of one that is as it should be."""
    return scrambled(np.random.default_rng(X.nnz), X)


def read_only(X: Any) -> Any:
    X = X.copy()
    X.flags.writeable = False
    return X


def strided(X: Any) -> Any:
    whole = np.empty((2 * len(X), X.shape[1] + 1), X.dtype)
    whole[::2, 1:] = X
    return whole[::2, 1:]


def tensor(X: Any) -> Any:
    if torch is None:
        raise Refused("PyTorch is not installed")
    return torch.from_numpy(X.copy())


def npy(X: Any) -> Any:
    np.save("X.npy", X)
    return open_rows("X.npy")


def memory_map(X: Any) -> Any:
    np.save("X.npy", X)
    return np.load("X.npy", mmap_mode="r")


def parquet(X: Any) -> Any:
    polars(X).write_parquet("X.parquet", row_group_size=7)
    return open_rows("X.parquet")


def zarr_folder(X: Any) -> Any:
    array = zarr.create_array("X.zarr", shape=X.shape, dtype=X.dtype, chunks=(5, X.shape[1]))
    array[:] = X
    return open_rows("X.zarr")


def dask_array(X: Any) -> Any:
    chunks = max(1, len(X) // 3), X.shape[1]
    return dask.array.from_array(X, chunks)  # type: ignore[no-untyped-call]


#: Forms of which nothing is computed in another order, and the others.
SAME = (pandas, polars, read_only, strided, masked, sparse)
OTHER = (tensor, npy, memory_map, parquet, zarr_folder, dask_array)
