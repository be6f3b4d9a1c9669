"""Heat kernels on graphs that are found or given: connected or not, weighted, with lone nodes."""

from typing import Any

import numpy as np
import scipy.sparse
from scipy.sparse import find
from scipy.sparse.csgraph import connected_components
from sklearn.neighbors import kneighbors_graph, radius_neighbors_graph

from fuzz import Case, Rng
from fuzz.draw import graph, pick, plain_rows, rarely, scrambled, weights
from fuzz.judge import require
from fuzz.sound import check_fit
from kernelmeans import KernelKMeans, KernelPowerKMeans

WEIGHT = 2


def case(rng: Rng) -> Case:
    n, k = int(rng.integers(3, 60)), int(rng.integers(1, 6))
    kind = pick(rng, KernelPowerKMeans, KernelPowerKMeans, KernelKMeans)
    source, X = pick(rng, neighbors, given, given, distances)(rng, n)
    if scipy.sparse.issparse(X) and rarely(rng, 2):
        X = scrambled(rng, X.tocsr())
    model = kind(
        k,
        **source,
        n_neighbors=pick(rng, "auto", "auto", 2, 3, 7, n, n + 1),
        t=pick(rng, "auto", "auto", 1e-6, 1.0, 30.0, 1e6),
        density=pick(rng, "auto", "auto", "auto", 0, 0.5, 3.0, 16),
        approximation=pick(rng, "auto", "auto", None, "landmarks"),
        n_components=pick(rng, "auto", "auto", 5, 0.9),
        n_swaps=pick(rng, 0, 2, "auto") if kind is KernelPowerKMeans else "auto",
        random_state=int(rng.integers(99)),
    )
    weight = weights(rng, n)

    def check() -> None:
        check_fit(model, X, weight, rng)
        check_graph(model, X, weight is None or (weight > 0).all())

    return Case(f"{model!r}\nX = {X!r}\nsample_weight = {weight!r}", check)


def neighbors(rng: Rng, n: int) -> tuple[dict[str, str], Any]:
    """Rows, maybe in far groups or with duplicates; also sparse."""
    X = plain_rows(rng, n, int(rng.integers(1, 4)))
    X = X + pick(rng, 0, 0, 1e4) * rng.integers(3, size=(n, 1))
    X = X[rng.integers(n, size=n)] if rarely(rng, 4) else X
    metric = pick(rng, "euclidean", "euclidean", "cosine")
    X = scipy.sparse.csr_array(X) if rarely(rng, 3) else X
    return {"kernel": "heat", "metric": metric}, X


def given(rng: Rng, n: int) -> tuple[dict[str, str], Any]:
    """Edges: at random, of neighbours, of blocks, a path, or a star."""
    X = plain_rows(rng, n, 2)
    blocks = scipy.sparse.block_diag([np.ones((m, m)) for m in (n // 3, n - n // 3)])
    path = scipy.sparse.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1])
    star = np.zeros((n, n))
    star[0, 1:] = star[1:, 0] = 1
    near = kneighbors_graph(X, min(4, n - 1))
    A = pick(rng, graph(rng, n), near + near.T, blocks, path, star)
    return {"kernel": "graph"}, pick(rng, A, scipy.sparse.csr_array(A))


def distances(rng: Rng, n: int) -> tuple[dict[str, str], Any]:
    """Distances to neighbours, some of which may have none."""
    X = plain_rows(rng, n, 2)
    D = pick(
        rng,
        lambda: kneighbors_graph(X, min(5, n - 1), mode="distance"),
        lambda: kneighbors_graph(X, min(5, n), mode="distance", include_self=True),
        lambda: radius_neighbors_graph(X, 0.5, mode="distance"),
        lambda: scipy.sparse.random_array((n, n), density=0.2, rng=rng),
    )()
    return {"kernel": "heat", "metric": "precomputed"}, D


def check_graph(model: Any, X: Any, complete: bool) -> None:
    """Eigenvalues are those of a random walk, and pieces of a complete graph those of SciPy."""
    eigenvalues = model.eigenvalues_
    require((np.diff(eigenvalues) <= 1e-9).all(), f"eigenvalues_ rise: {eigenvalues}")
    require(np.abs(eigenvalues).max() <= 1 + 1e-6, f"eigenvalues_ {eigenvalues}")
    require(np.isfinite(model.t_) and model.t_ >= 0, f"t_ {model.t_}")
    exact = complete and model.approximation_ != "landmarks"
    if exact and model.kernel == "graph" and np.ptp(np.log(find(X)[2])) < np.log(1e3):
        pieces, _ = connected_components(scipy.sparse.csr_array(X), directed=False)
        require(model.n_pieces_ == pieces, f"n_pieces_ {model.n_pieces_} and {pieces} by SciPy")
