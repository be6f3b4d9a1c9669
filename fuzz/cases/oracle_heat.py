"""Small problems of heat kernels against the definitions of `fuzz.definitions_heat`."""

from itertools import permutations
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import scipy.sparse

import kernelmeans.heat.density
from fuzz import Case, Refused, Rng
from fuzz.cases.oracle import check_fit
from fuzz.definitions import DRAWS, Long, close, means, relative_rounding, spread
from fuzz.definitions_heat import (
    count_large,
    edge_weights,
    heat,
    pair_count,
    pieces,
    rounded_eigenpairs,
    solve_time,
    spectrum,
)
from fuzz.draw import pick
from fuzz.judge import require
from kernelmeans import KernelKMeans, KernelPowerKMeans

WEIGHT = 1
#: Times that are tried, in units of the one with as many states as clusters.
TIMES = 1.0, 2.0, 4.0
#: Changes of eigenvalues and of inner products of features by rounding, above which nothing is
#: compared.
MOST_ROUNDING = 1e-3


class Graph(NamedTuple):
    """A graph and what it says of its rows; None in place of one that ties do not define.

    Attributes
    ----------
    A : ndarray of shape (n, n)
        Edges.
    lost : list of ndarray
        Pieces that are no clusters.
    kept : list of ndarray
        The others.
    n_neighbors : int or None
        Neighbours of a row in it, itself included.
    power, dimension : float or None
        How much the density of rows counts, and the intrinsic dimension that it follows.
    rounded : list of tuple
        Edges, power and dimension of distances that are rounded at random.
    """

    A: Any
    lost: list[Any]
    kept: list[Any]
    n_neighbors: int | None
    power: Any = None
    dimension: Any = None
    rounded: Any = ()


def case(rng: Rng) -> Case:
    n, k = int(rng.integers(4, 22)), int(rng.integers(1, 5))
    source, X, new = pick(rng, rows, rows, edges, stored)(rng, n)
    start = rng.permutation(n)[:k]
    options = source | {"t": pick(rng, "auto", "auto", "states", 1e-6, 0.3, 1.0, 3.0, 20.0)}
    if pick(rng, True, True, False):
        kind: Any = KernelPowerKMeans
        options |= {"s0": pick(rng, -1.0, -0.5, -3.0, -20.0), "eta": pick(rng, 1.04, 1.0, 1.5)}
    else:
        kind = KernelKMeans
    model = kind(k, **options, init=start, n_swaps=pick(rng, 0, 0, 3), random_state=0)
    weight = pick(rng, None, rng.uniform(0.1, 3, n), rng.integers(1, 4, n).astype(float))
    words = f"{model!r}\nX = {X!r}\nnew = {new!r}\nsample_weight = {weight!r}"
    per = pick(rng, 100, 100, 1, 2)
    words += f"\nPER_SURROUNDING = {per}"

    def checked() -> None:
        # Few rows have no surroundings.
        with patch.object(kernelmeans.heat.density, "PER_SURROUNDING", per):
            check(model, X, new, weight, start, per)

    return Case(words, checked)


def rows(rng: Rng, n: int) -> tuple[dict[str, Any], Any, Any]:
    """Rows of numbers without ties, in one place or in groups."""
    p = pick(rng, 1, 2, 3, 25)
    X = rng.normal(size=(n + 3, p)) * rng.lognormal(0, pick(rng, 0, 0, 2), (n + 3, 1))
    X = X + pick(rng, 0, 0, 4, 20) * rng.integers(3, size=(n + 3, 1))
    X = (X * pick(rng, 1, 1, 1e-3, 1e3) + pick(rng, 0, 0, 10)).astype(pick(rng, "f8", "f8", "f4"))
    # Directions of single numbers are ties.
    metric = "euclidean" if p == 1 else pick(rng, "euclidean", "euclidean", "cosine")
    return {"kernel": "heat", "metric": metric} | of_neighbors(rng, n), X[:n], X[n:]


def of_neighbors(rng: Rng, n: int) -> dict[str, Any]:
    """Parameters of graphs of neighbours."""
    density = pick(rng, "auto", "auto", "auto", "auto", 0, 0.5, 3.0, 16.0)
    return {"n_neighbors": pick(rng, "auto", "auto", 2, 3, 5, n), "density": density}


def edges(rng: Rng, n: int) -> tuple[dict[str, Any], Any, Any]:
    """Edges of any weights between some of the rows, and those of new rows."""
    A = rng.lognormal(0, pick(rng, 0, 0.5, 1), (n + 3, n))
    A *= rng.random((n + 3, n)) < pick(rng, 0.05, 0.1, 0.3, 1)
    A[:n] += A[:n].T
    A[n:, rng.integers(n)] += 1  # each new row needs an edge
    A = A.astype(pick(rng, "f8", "f8", "f4"))
    A[0, 1] = A[1, 0] = 1
    return {"kernel": "graph"}, A[:n], A[n:]


def stored(rng: Rng, n: int) -> tuple[dict[str, Any], Any, Any]:
    """Distances to some of the rows, stored for each row."""
    D = rng.lognormal(0, pick(rng, 1, 1, 3), (n + 3, n))
    D[:n] += D[:n].T
    D *= rng.random(D.shape) >= pick(rng, 0, 0, 0.05)  # zeros are stored as well
    ranks = np.argsort(np.argsort(D, axis=1), axis=1)
    places = np.nonzero(ranks < rng.integers(2, n + 1))
    D = scipy.sparse.csr_array((D[places], places), D.shape)
    return {"kernel": "heat", "metric": "precomputed"} | of_neighbors(rng, n), D[:n], D[n:]


def check(model: Any, X: Any, new: Any, weight: Any, start: Any, per: int) -> None:
    """Compare the numbers of a fit with their definitions."""
    n, k = X.shape[0], max(2, model.n_clusters)
    model.fit(X, sample_weight=weight)
    v = np.ones(n, Long) if weight is None else weight.astype(X.dtype).astype(Long)
    far = None if model.kernel == "graph" else squares(model, X, X)
    graph = given_graph(X, k) if far is None else neighbor_graph(model, X, far, k, per)
    if graph is None:
        raise Refused("ties do not define the graph")
    require(model.n_pieces_ == len(graph.lost + graph.kept), f"n_pieces_ {model.n_pieces_}")
    require(model.n_neighbors_ == graph.n_neighbors, f"n_neighbors_ {model.n_neighbors_}")
    check_density(model, graph)
    values, vectors = spectrum(graph.A, graph.kept)
    rounding = 40 * n * Long(np.finfo(np.float64).eps)
    found = heat(values, vectors, k, model.t_)
    if found is None or rounding * found[2] > 1e-7:
        raise Refused("rounding decides the features")
    F, norms, slope = found
    moved, changed = by_rounding(graph, values, F, k, model.t_)
    rounding += moved
    if model.t in ("auto", "states"):
        chosen = 1.0
        if model.times_ is not None:
            times, cut, entropy = (model.times_[name] for name in ("t", "cut", "entropy"))
            worth = [cut[i] / entropy[i] if entropy[i] else np.inf for i in range(len(TIMES))]
            chosen = TIMES[int(np.argmin([0.68 * worth[0], *worth[1:]]))]
            close("times_", times, model.t_ / chosen * np.array(TIMES), 1e-12 * times.max())
        number = model.t_ / chosen
        check_time(number, values[: pair_count(k)], k, len(graph.kept), rounding)
    values = values[: len(model.eigenvalues_)]
    close("eigenvalues_", model.eigenvalues_, values, rounding)
    require(F.shape[1] == len(values), f"eigenvalues_ {values} are not all that count")
    walks = norms / np.sqrt(graph.A.sum(axis=1))
    usual = np.median(walks[norms > 0])
    F = np.column_stack([walks, apart(model, graph, F, far, k)])
    walks, F = np.hsplit(completed(model, X, graph, F, far), [1])
    eps = Long(np.finfo(X.dtype).eps)
    small = 200 * eps + slope * (rounding - moved) + changed
    relative = relative_rounding(eps)
    check_fit(model, F @ F.T, v, start, small, relative, lambda: model.transform(X))
    # Vertices that are not kept count as much as most.
    walks = np.where(walks > 0, walks, usual)[:, 0]
    check_new(model, X, new, F, walks, v, small)


def squares(model: Any, X: Any, Y: Any) -> Any:
    """Squared distances of rows; infinite where they are not stored."""
    if scipy.sparse.issparse(X):
        stored = X.tocoo()
        found = np.full(X.shape, np.inf, Long)
        found[stored.row, stored.col] = stored.data.astype(Long) ** 2
        return found
    X, Y = X.astype(Long), Y.astype(Long)
    if model.metric == "cosine":
        X, Y = (Z / np.sqrt((Z**2).sum(axis=1, keepdims=True)) for Z in (X, Y))
    return ((X[:, None] - Y[None]) ** 2).sum(axis=-1)


def check_density(model: Any, graph: Graph) -> None:
    """Compare the power of the density, and the dimension."""
    for name, number in (("density_", graph.power), ("dimension_", graph.dimension)):
        found = getattr(model, name)
        require((found is None) == (number is None), f"{name}: {found} is not {number}")
        if number is not None:
            rounded = [getattr(graph, name[:-1].replace("density", "power"))]
            rounded += [one[1 if name == "density_" else 2] for one in graph.rounded]
            close(name, found, number, 1e-12 * number + spread(rounded))


def by_rounding(graph: Graph, values: Any, F: Any, k: int, t: Any) -> tuple[Any, Any]:
    """What the rounding of distances changes of eigenvalues, and of inner products of features."""
    if not graph.rounded:
        return Long(0), Long(0)
    moved, changed = [], []
    for A, _, _ in graph.rounded:
        own, vectors = spectrum(A, graph.kept, rounded_eigenpairs)
        found = heat(own, vectors, k, t)
        if found is None or found[0].shape != F.shape:
            raise Refused("rounding decides the features")
        moved.append(np.abs(own - values).max())
        changed.append(np.abs(found[0] @ found[0].T - F @ F.T).max())
    if 4 * max(moved + changed) > MOST_ROUNDING:
        raise Refused("rounding decides the features")
    return 4 * max(moved), 4 * max(changed)


def given_graph(X: Any, k: int) -> Graph | None:
    """The mean of both directions, with a loop at each row without edges."""
    A = (X + X.T).astype(Long) / 2
    A[np.diag_indices(len(A))] += A.sum(axis=1) == 0
    return in_pieces(A, k, None)


def neighbor_graph(model: Any, X: Any, far: Any, k: int, per: int) -> Graph | None:
    """The graph of nearest neighbours: (B + B.T) / 2, where B has the row itself too."""
    n = len(far)
    far = far.copy()
    np.fill_diagonal(far, -1)
    most = int(np.isfinite(far).sum(axis=1).max())
    auto = model.n_neighbors == "auto"
    usual = int(np.clip(round(1 + np.log2(n / k)), 2, 25))
    if model.metric != "precomputed" and X.shape[1] == 1:
        usual = max(usual, min(2 * usual, n // k))
    count = usual if auto else model.n_neighbors
    count = min(count, most)
    for number in (count, min(2 * count, most)):
        near = nearest(model, X, far, number)
        if near is None:
            return None
        if not auto or count_large(pieces(near + near.T), k) <= k:
            break
    found = in_pieces(near + near.T, k, number)
    if found is None:
        return None
    if (
        auto
        and model.metric != "precomputed"
        and len(found.kept) == k > groups(found, far).max() + 1
    ):
        more = links(model, X, found, far)
        if more is None:
            return None
        near = np.maximum(near, more)
    weighed = [edge_weights(D, model.density, per) for D in rounded_distances(model, X, far)]
    edges = [(near * W, power, dimension) for W, power, dimension in weighed]
    graphs = [((B + B.T) / 2, power, dimension) for B, power, dimension in edges]
    found = in_pieces(graphs[0][0], k, number)
    if found is None:
        return None
    _, power, dimension = graphs[0]
    return found._replace(power=power, dimension=dimension, rounded=graphs[1:] if power > 0 else [])


def rounded_distances(model: Any, X: Any, far: Any) -> list[Any]:
    """Distances, and as rounding may change them."""
    rng = np.random.default_rng(0)
    with np.errstate(invalid="ignore"):
        D = np.sqrt(far)
    np.fill_diagonal(D, np.inf)
    eps, double = (Long(np.finfo(dtype).eps) for dtype in (X.dtype, np.float64))
    relative = 4 * eps
    if model.metric != "precomputed":
        # Rows are rounded where they are searched, and so are squares of their norms.
        size = 1 if model.metric == "cosine" else D[np.isfinite(D)].max()
        ratio = size / D
        relative = 4 * eps * (1 + ratio) + 8 * double * ratio**2
    return [D] + [D * (1 + relative * rng.uniform(-1, 1, D.shape)) for _ in range(DRAWS)]


def nearest(model: Any, X: Any, far: Any, count: int) -> Any:
    """Which are so many of the nearest in each row; None if ties, up to rounding, leave it open."""
    ordered = np.sort(far, axis=1)
    if count < far.shape[1]:
        # Squares of rows of norm 1, or of rows that are moved to their middle, are rounded.
        largest = 1 if model.metric == "cosine" else ordered[np.isfinite(ordered)].max()
        last, following = ordered[:, count - 1], ordered[:, count]
        known = np.isfinite(following)
        tied = following[known] - last[known] <= 100 * np.finfo(X.dtype).eps * largest
        if tied.any():
            return None
    ranks = np.argsort(np.argsort(far, axis=1), axis=1)
    return ((ranks < count) & np.isfinite(far)).astype(Long)


def in_pieces(A: Any, k: int, n_neighbors: int | None) -> Graph | None:
    """A graph and its pieces; None if equal sizes do not say which are kept."""
    found = pieces(A)
    kept = min(count_large(found, k), k)
    if kept < len(found) and len(found[kept - 1]) == len(found[kept]):
        return None
    return Graph(A, found[kept:], found[:kept], n_neighbors)


def check_time(found: Any, values: Any, k: int, n_pieces: int, rounding: Any) -> None:
    """Compare the time with that at which there are as many states as clusters."""
    exact = solve_time(values[n_pieces:], k - n_pieces)
    # It is found to 1e-9 of itself, and moves with the eigenvalues.
    moved = rounding / (1 - values[n_pieces]) if exact else 0
    close("t_", found, exact, exact * (2e-9 + moved))


def groups(graph: Graph, far: Any) -> Any:
    """The group of each piece that is kept; near ones are in one."""
    group = np.arange(len(graph.kept))
    if len(group) == 1:
        return group
    assert graph.n_neighbors is not None
    D = np.sqrt(np.maximum(far, 0))
    np.fill_diagonal(D, -1)
    ordered = np.sort(D, axis=1)
    reach = np.quantile(ordered[:, graph.n_neighbors - 1], 0.99)
    last = ordered[:, min(2 * graph.n_neighbors, len(D)) - 1]
    near = np.full((len(group), len(group)), False)
    for i, j in permutations(range(len(group)), 2):
        pair = np.ix_(graph.kept[i], graph.kept[j])
        least = (D / np.minimum(reach, last[:, None]))[pair].min()
        if abs(least - 1) < MOST_ROUNDING:
            raise Refused("rounding decides which pieces are near")
        near[i, j] = least < 1
    # Of two near pieces one is not the largest, whose own nearest rows are not looked at.
    sizes = np.array([len(piece) for piece in graph.kept])
    if (near != near.T).any() and (sizes == sizes[0]).sum() > 1:
        raise Refused("equal sizes leave open which piece is the largest")
    for i, j in zip(*np.nonzero(near), strict=True):
        if i:
            group[group == group[j]] = group[i]
    return np.unique(group, return_inverse=True)[1]


def links(model: Any, X: Any, graph: Graph, far: Any) -> Any:
    """Which edges to twice as many neighbours lead to another piece, and are not far."""
    assert graph.n_neighbors is not None
    near = nearest(model, X, far, min(2 * graph.n_neighbors, len(far)))
    if near is None:
        return None
    piece = np.zeros(len(far), int)
    for number, rows in enumerate(graph.lost + graph.kept):
        piece[rows] = number
    D = np.sqrt(np.maximum(far, 0))
    reach = np.quantile(np.sort(D, axis=1)[:, graph.n_neighbors - 1], 0.99)
    across = near * (piece[:, None] != piece)
    if (np.abs(D / reach - 1)[across > 0] < MOST_ROUNDING).any():
        raise Refused("rounding decides which rows are near")
    return across * (reach >= D)


def apart(model: Any, graph: Graph, F: Any, far: Any, k: int) -> Any:
    """Features with a mark for each group of near pieces, if these are fewer than clusters."""
    if model.t != "auto" or len(graph.kept) == k:
        return F
    group = np.arange(len(graph.kept))
    if model.kernel == "heat" and model.metric != "precomputed":
        group = groups(graph, far)
    sizes = np.bincount(group, weights=[len(piece) for piece in graph.kept])
    if len(sizes) == 1:
        return F
    marks = np.zeros((len(F), len(sizes)), F.dtype)
    for own, piece in zip(group, graph.kept, strict=True):
        marks[piece, own] = np.sqrt(sizes.sum() / sizes.min())
    F = np.column_stack([F, marks])
    norms = np.sqrt((F**2).sum(axis=1, keepdims=True))
    return F / np.where(norms > 0, norms, 1)


def completed(model: Any, X: Any, graph: Graph, F: Any, far: Any) -> Any:
    """Features of all rows, those of pieces that are not kept included."""
    if model.kernel == "heat" and model.metric != "precomputed":
        inside = np.concatenate(graph.kept)
        F = F.copy()
        for piece in graph.lost:
            # They are those of the kept row that is nearest to the piece.
            between = far[np.ix_(piece, inside)]
            F[piece] = F[inside[between.min(axis=0).argmin()]]
        return F
    if graph.lost:
        # No edge says where they belong: they are one group.
        F = np.column_stack([F, np.isin(np.arange(len(F)), np.concatenate(graph.lost))])
    # Rows with the same edges, or the same stored distances, have the same features.
    given = X if far is None else far
    _, first, places = np.unique(given, axis=0, return_index=True, return_inverse=True)
    return F[first[places.ravel()]]


def check_new(model: Any, X: Any, new: Any, F: Any, walks: Any, v: Any, small: Any) -> None:
    """Compare distances of new rows, whose features are a mean of those of the rows near them.

    Each counts by the norm of the end of its random walk.
    """
    k = model.n_clusters
    if len(np.unique(model.labels_)) < k or not np.isneginf(model.power_history_[-1]):
        return
    if model.kernel == "graph":
        W = new.astype(Long)
        # A new row that equals a row of X is that row.
        equal = (new[:, None] == X[None]).all(axis=-1)
        known = equal.any(axis=1)
        W[known] = np.eye(len(X))[equal[known].argmax(axis=1)]
    else:
        W = nearest(model, X, squares(model, new, X), model.n_neighbors_)
    if W is None or walks.min() < 1e-12 * walks.max():
        return
    W = W * walks
    features = W / W.sum(axis=1, keepdims=True) @ F
    norms = np.sqrt((features**2).sum(axis=1, keepdims=True))
    if norms.min() < 1e-2:
        return  # they cancel each other out
    centroids = means(model.labels_, v, k) @ F
    exact = 1 + (centroids**2).sum(axis=1) - 2 * features / norms @ centroids.T
    allowed = 20 * small / norms.min()
    close("transform(new)", model.transform(new) ** 2, np.maximum(exact, 0), allowed)
