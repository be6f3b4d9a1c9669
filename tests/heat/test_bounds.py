"""Truncated heat kernels: how far they are from those of all eigenpairs."""

import numpy as np
import pytest
import scipy.linalg
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs
from sklearn.neighbors import KNeighborsTransformer, kneighbors_graph

import oracle
from data import blobs, cloud
from kernelmeans import KernelKMeans, KernelPowerKMeans, MultiKernelPowerKMeans
from kernelmeans.estimators.kernels import resolve_kernel
from kernelmeans.heat.basis import NEGLIGIBLE, WHOLE_ROWS, solve_time
from kernelmeans.heat.eigenpairs import pair_count

EIGHT = make_blobs(160, centers=8, cluster_std=2.0, random_state=2)[0]
APART = make_blobs(160, centers=4, cluster_std=0.3, random_state=0)[0]
#: Two pieces, and a third of few rows that joins them.
DEBRIS = np.concatenate(
    [0.2 * cloud(190, 2), 0.2 * cloud(190, 2, 1) + 9, 0.01 * cloud(8, 2, 2) + [5, 0]]
)
WEIGHT = np.random.default_rng(0).choice([0, 0.5, 1, 3], 160)
#: Rows, clusters, sample weights and parameters.
CASES = {
    "one piece": (EIGHT, 8, None, {}),
    "several pieces": (APART, 6, None, {}),
    "a short time": (EIGHT, 4, None, {"t": 2.0}),
    "a long time": (APART, 4, None, {"t": 1e4}),
    "repeated rows": (np.repeat(EIGHT[:80], 1 + np.arange(80) % 3, axis=0), 5, None, {}),
    "weights": (EIGHT, 8, WEIGHT, {}),
    "rows that join others": (DEBRIS, 2, None, {"n_neighbors": 8}),
    "single precision": (EIGHT.astype(np.float32), 8, None, {}),
    "no means": (EIGHT, 8, None, {"eta": 1, "max_iter": 3}),
}


def spectrum(A):
    """Eigenpairs of D^-1/2 A D^-1/2, in descending order."""
    roots = np.sqrt(A.sum(axis=1))
    values, vectors = np.linalg.eigh(A / roots[:, None] / roots)
    return values[::-1], vectors[:, ::-1]


def graph_of(rows, n_neighbors):
    B = kneighbors_graph(rows, n_neighbors, include_self=True).toarray()
    return (B + B.T) / 2


def weighted_graph_of(rows, n_neighbors):
    return oracle.neighbor_graph(cdist(rows, rows), n_neighbors)


def full_kernel(A, t):
    """The cosine form of expm(-2 t (I - S)), and its diagonal before that."""
    roots = np.sqrt(A.sum(axis=1))
    H = scipy.linalg.expm(-2 * t * (np.eye(len(A)) - A / roots[:, None] / roots))
    diagonal = np.diagonal(H)
    return H / np.sqrt(np.outer(diagonal, diagonal)), diagonal


def residuals_of(A, k, t):
    """The fraction of the diagonal of expm(-2 t (I - S)) beside the eigenpairs in use."""
    values, vectors = spectrum(A)
    weights = np.exp(-2 * t * (1 - values))
    rank = np.arange(len(A))
    used = (rank < k) | (rank < pair_count(k)) & (weights > NEGLIGIBLE)
    return 1 - vectors[:, used] ** 2 @ weights[used] / full_kernel(A, t)[1]


def nodes_of(X, weight, n_neighbors, joined):
    """The graph of distinct rows, and the node whose part each row of X has."""
    counting = X if weight is None else X[weight > 0]
    rows = np.unique(counting, axis=0)
    source = np.arange(len(rows))
    if joined:
        # They are one piece, at the one end that is nearest.
        few = (cdist(rows, X[-8:]) == 0).any(axis=1)
        distances = cdist(rows[few], rows[~few])
        source[few] = np.flatnonzero(~few)[distances.min(axis=0).argmin()]
    return weighted_graph_of(rows, n_neighbors), source[cdist(X, rows).argmin(axis=1)]


def assert_bounds(model, K, residuals, weight=None, slack=1e-9):
    """The exact cost of the labels is within the bounds, and the residual between them."""
    weight = np.ones(len(K)) if weight is None else weight
    some, total = weight > 0, weight.sum()
    cost = oracle.hard_cost(K[np.ix_(some, some)], model.labels_[some], weight[some])
    low, high = model.inertia_bounds_
    assert high >= low
    assert low - slack * total <= cost <= high + slack * total
    assert model.approximation_error_ == pytest.approx(weight @ residuals / total, abs=slack)
    assert high - low == pytest.approx(weight @ residuals, abs=slack * total)


@pytest.mark.filterwarnings("ignore:The best restart did not converge")
@pytest.mark.parametrize("estimator", [KernelPowerKMeans, KernelKMeans])
@pytest.mark.parametrize("name", CASES)
def test_the_cost_under_all_eigenpairs_is_within_the_bounds(estimator, name):
    X, k, weight, given = CASES[name]
    if estimator is KernelKMeans:
        given = {key: value for key, value in given.items() if key != "eta"} | {"kernel": "heat"}
    model = estimator(k, random_state=0, **given).fit(X, sample_weight=weight)
    A, nodes = nodes_of(X, weight, model.n_neighbors_, name == "rows that join others")
    K, residuals = full_kernel(A, model.t_)[0], residuals_of(A, k, model.t_)
    count, piece = connected_components(A)
    if 1 < count < k and "t" not in given:
        apart = len(A) / np.bincount(piece).min()
        K = (K + apart * (piece[:, None] == piece)) / (1 + apart)
        residuals = residuals / (1 + apart)
    K, residuals = K[np.ix_(nodes, nodes)], residuals[nodes]
    slack = 1e-9 if X.dtype == np.float64 else 1e-6
    assert_bounds(model, K, residuals, weight, slack)
    assert "bounds" not in model.approximation_reason_
    assert model.n_pieces_ == {"one piece": 1, "rows that join others": 3}.get(
        name, model.n_pieces_
    )


def given_graph(name):
    """Edges, and for how many clusters and which time."""
    if name == "rows that are alike":
        near = graph_of(EIGHT[:60], 6)
        return np.kron(near, np.ones((2, 2))), 4, 2.0
    if name == "two in a ring have one eigenvalue":
        return np.roll(np.eye(40), 1, axis=0) + np.roll(np.eye(40), -1, axis=0), 4, 1.0
    A = np.zeros((63, 63))
    A[:60, :60] = graph_of(EIGHT[:60], 6)
    return A, 4, "auto"


@pytest.mark.filterwarnings("ignore:kernel='graph'. the graph is in")
@pytest.mark.parametrize(
    "name", ["rows that are alike", "two in a ring have one eigenvalue", "rows without edges"]
)
def test_bounds_of_given_graphs(name):
    A, k, t = given_graph(name)
    model = KernelPowerKMeans(k, kernel="graph", t=t, random_state=0).fit(A)
    A = A + np.diag(A.sum(axis=1) == 0)
    K, _ = full_kernel(A, model.t_)
    residuals = residuals_of(A, k, model.t_)
    if name == "rows without edges":
        # They are one group.
        K[60:, 60:], residuals[60:] = 1, 0
    # Of two in a ring either may be a leading pair, but the sum of the residuals is the same.
    assert_bounds(model, K, residuals)


def test_bounds_by_given_distances():
    D = KNeighborsTransformer(n_neighbors=12).fit_transform(EIGHT)
    model = KernelPowerKMeans(5, metric="precomputed", n_neighbors=9, random_state=0).fit(D)
    A = weighted_graph_of(EIGHT, 9)
    assert_bounds(model, full_kernel(A, model.t_)[0], residuals_of(A, 5, model.t_))


def test_equal_rows_whose_features_would_differ_have_none():
    A = np.kron(graph_of(EIGHT[:6], 4), np.ones((2, 2)))
    # Of twelve eigenpairs all count after so short a time, but rows that are alike share features.
    model = KernelPowerKMeans(4, kernel="graph", t=0.5, random_state=0).fit(A)
    assert model.approximation_error_ is model.inertia_bounds_ is None
    assert "rows with equal edges have equal eigenvectors" in model.approximation_reason_
    cost = oracle.hard_cost(full_kernel(A, 0.5)[0], model.labels_)
    assert abs(cost - model.inertia_) > 0.1


@pytest.mark.parametrize("scaling", ["unit-variance", "cosine"])
def test_several_kernels(scaling):
    kernels = [{"kernel": "heat", "n_neighbors": 6}, {"kernel": "heat", "n_neighbors": 12}, "rbf"]
    model = MultiKernelPowerKMeans(8, kernels=kernels, kernel_scaling=scaling, random_state=0)
    model.fit(EIGHT, sample_weight=WEIGHT)
    Ks, residuals = [], []
    for kernel in model.kernels_[:2]:
        A, nodes = nodes_of(EIGHT, WEIGHT, kernel.parameters["n_neighbors"], False)
        t = kernel.parameters["t"]
        Ks.append(full_kernel(A, t)[0][np.ix_(nodes, nodes)])
        residuals.append(residuals_of(A, 8, t)[nodes])
    rbf = resolve_kernel(kernel="rbf", X=EIGHT, gamma=model.kernels_[2].parameters["gamma"])
    factors = model.kernel_weights_ * model.kernel_factors_
    K = np.tensordot(factors, [*Ks, rbf(EIGHT, EIGHT)], 1)
    some = WEIGHT > 0
    low, high = model.inertia_bounds_
    assert low < oracle.hard_cost(K[np.ix_(some, some)], model.labels_[some], WEIGHT[some]) < high
    assert high - low == pytest.approx(WEIGHT @ (factors[:2] @ residuals), rel=1e-6)
    total = WEIGHT @ np.diagonal(K)
    assert model.approximation_error_ == pytest.approx((high - low) / total, rel=1e-6)


@pytest.mark.parametrize("kernels", [["heat", "rbf"], "neighbors"])
def test_one_kernel_without_bounds_leaves_none(kernels):
    model = MultiKernelPowerKMeans(3, kernels=kernels, random_state=0).fit(cloud(WHOLE_ROWS + 1))
    assert model.approximation_error_ is model.inertia_bounds_ is None
    said = [
        f"no piece has more than {WHOLE_ROWS} rows" in one for one in model.approximation_reason_
    ]
    assert said == [name == "heat" for name in (kernel.name for kernel in model.kernels_)]


def test_larger_pieces_have_none():
    model = KernelPowerKMeans(4, random_state=0).fit(cloud(WHOLE_ROWS + 1))
    assert model.approximation_error_ is model.inertia_bounds_ is None
    assert f"no piece has more than {WHOLE_ROWS} rows" in model.approximation_reason_
    assert KernelPowerKMeans(4, random_state=0).fit(cloud(WHOLE_ROWS)).inertia_bounds_ is not None


def test_a_row_whose_heat_is_rounded_to_nothing_leaves_none():
    edges = np.diag([1e-10, 1e22, 1e21, 0, 1], 1)
    model = KernelPowerKMeans(2, kernel="graph", t=1e4, random_state=0).fit(edges + edges.T)
    assert model.approximation_error_ is model.inertia_bounds_ is None
    assert "vanish beside others" in model.approximation_reason_


def test_labels_and_costs_are_the_same_without_bounds(monkeypatch):
    with_bounds = KernelPowerKMeans(8, random_state=0).fit(EIGHT)
    monkeypatch.setattr("kernelmeans.heat.basis.WHOLE_ROWS", 0)
    without = KernelPowerKMeans(8, random_state=0).fit(EIGHT)
    assert without.inertia_bounds_ is None
    assert with_bounds.inertia_ == without.inertia_
    assert (with_bounds.labels_ == without.labels_).all()


def test_the_time_counts_the_states_of_leading_pairs():
    X, _ = blobs(160, k=6, spread=1.5)
    model = KernelPowerKMeans(6, random_state=0).fit(X)
    values, _ = spectrum(weighted_graph_of(X, model.n_neighbors_))
    leading = values[: pair_count(6)]
    assert model.t_ == pytest.approx(solve_time(leading, 6, model.n_pieces_), rel=1e-6)
    assert model.t_ < solve_time(values, 6, model.n_pieces_)
