"""Heat kernels against dense matrix exponentials, and what holds for any of them."""

import tracemalloc

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize

import oracle
from data import blobs, cloud, fit_anchors
from kernelmeans import KernelPowerKMeans
from kernelmeans.heat import DistancesKernel, HeatKernel
from kernelmeans.heat.basis import NEGLIGIBLE
from kernelmeans.heat.eigenpairs import leading_pairs, pair_count


def normalized_graph(X, n_neighbors, metric="euclidean", density="auto"):
    rows = normalize(X) if metric == "cosine" else X
    A = oracle.neighbor_graph(cdist(rows, rows), n_neighbors, density)
    roots = np.sqrt(A.sum(axis=1))
    return A / roots[:, None] / roots


def spectrum(X, n_neighbors):
    return scipy.linalg.eigvalsh(normalized_graph(X, n_neighbors))[::-1]


def expected_kernel(X, n_neighbors, t, metric="euclidean", density="auto"):
    """The definition: cosine form of expm(-2 t (I - S))."""
    S = normalized_graph(X, n_neighbors, metric, density)
    H = scipy.linalg.expm(-2 * t * (np.eye(len(X)) - S))
    lengths = np.sqrt(np.diag(H))
    return H / lengths[:, None] / lengths


@pytest.mark.parametrize("density", ["auto", 0, 1.5])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("make", [cloud, lambda: blobs(80, k=4)[0]])
def test_it_is_the_cosine_form_of_the_matrix_exponential(make, metric, density):
    X = make()
    kernel = HeatKernel(6, 0.8, metric, density).fit(X, n_clusters=40)  # all eigenpairs
    assert_allclose(kernel(X, X), expected_kernel(X, 6, 0.8, metric, density), atol=1e-12)


@pytest.mark.parametrize(("density", "most", "mean"), [(0, 0.06, 0.005), ("auto", 0.4, 0.01)])
def test_longer_times_lose_only_what_is_negligible(density, most, mean):
    X = cloud(150)
    kernel = HeatKernel(6, 12.0, density=density).fit(X, n_clusters=5)
    assert 5 < kernel.eigenvalues.size < pair_count(5)
    assert (np.exp(-24 * (1 - kernel.eigenvalues)) > NEGLIGIBLE).all()
    # Rows in sparse places have small features, before these are scaled.
    lost = np.abs(kernel(X, X) - expected_kernel(X, 6, 12.0, density=density))
    assert lost.max() < most
    assert lost.mean() < mean


def test_there_are_as_many_pairs_as_clusters_however_long():
    kernel = HeatKernel(6, 12.0).fit(cloud(150), n_clusters=40)
    assert kernel.eigenvalues.size == 40
    assert np.exp(-24 * (1 - kernel.eigenvalues[-1])) < NEGLIGIBLE


def test_short_times_have_the_leading_pairs():
    X = cloud(150)
    kernel = HeatKernel(6, 0.1).fit(X, n_clusters=5)
    assert kernel.eigenvalues.size == pair_count(5)
    assert_allclose(kernel.eigenvalues, spectrum(X, 6)[: pair_count(5)], atol=1e-12)


@pytest.mark.parametrize("t", [1e9, 1e300])
@pytest.mark.parametrize("n", [50, 500])
def test_heat_stays_in_its_pieces_however_long(n, t):
    X = np.concatenate([cloud(n), cloud(n, seed=1) + 100])
    kernel = HeatKernel(12, t).fit(X, n_clusters=2)
    assert_allclose(kernel(X, X), np.kron(np.eye(2), np.ones((n, n))), atol=1e-12)


def test_large_graphs_are_no_other_than_small_ones(monkeypatch):
    X = blobs(300, k=3)[0]
    dense = HeatKernel(8).fit(X, n_clusters=6)
    monkeypatch.setattr("kernelmeans.heat.eigenpairs.DENSE_ROWS", 20)
    lanczos = HeatKernel(8).fit(X, n_clusters=6)
    assert lanczos.parameters["t"] == pytest.approx(dense.parameters["t"], rel=1e-6)
    assert_allclose(lanczos(X, X), dense(X, X), atol=1e-6)


@pytest.mark.parametrize("n_clusters", [2, 5, 9])
def test_as_many_states_are_apart_as_clusters(n_clusters):
    X = cloud(90)
    t = HeatKernel(5, t="states").fit(X, n_clusters=n_clusters).parameters["t"]
    values = spectrum(X, 5)[: pair_count(n_clusters)]
    assert np.exp(-2 * t * (1 - values)).sum() == pytest.approx(n_clusters, rel=1e-6)


def test_a_second_fit_is_like_the_first():
    kernel = HeatKernel().fit(cloud(40), n_clusters=2)
    fresh = HeatKernel().fit(cloud(90), n_clusters=7)
    assert kernel.fit(cloud(90), n_clusters=7).parameters == fresh.parameters


def test_rows_have_length_one():
    X = cloud(200)
    new = np.random.default_rng(1).standard_normal((50, 3)) * 3
    kernel = HeatKernel().fit(X, n_clusters=4)
    for rows in (X, new):
        assert_allclose((kernel.features(rows) ** 2).sum(axis=1), 1, rtol=1e-12)
        assert_allclose(kernel.diagonal(rows), 1)


@pytest.mark.parametrize("density", ["auto", 0])
def test_walks_of_new_rows_begin_at_their_neighbours(density):
    X, new = cloud(100), cloud(20, seed=1)
    kernel = HeatKernel(7, 0.8, density=density).fit(X, n_clusters=50)  # all eigenpairs
    edges = NearestNeighbors(n_neighbors=7).fit(X).kneighbors_graph(new).toarray()
    expected = oracle.kernel_of_new_rows(oracle.neighbor_graph(cdist(X, X), 7, density), edges, 0.8)
    assert_allclose(kernel(new, X), expected, atol=1e-12)


def test_new_rows_of_a_wide_cluster_are_not_lost_to_a_dense_one_in_it():
    rng, y = np.random.default_rng(0), np.repeat([0, 1], 500)
    X = rng.standard_normal((1000, 6)) * np.array([0.3, 2.0])[y][:, None]
    model = KernelPowerKMeans(2, random_state=0).fit(X[::2])
    found = adjusted_rand_score(y[::2], model.labels_)
    assert found > 0.85
    assert adjusted_rand_score(y[1::2], model.predict(X[1::2])) > found - 0.1


def test_an_equal_row_is_the_training_row():
    X = blobs(100)[0]
    X[0] = [0.0, 1.0, 2.0]
    kernel = HeatKernel(7, 0.5).fit(X, n_clusters=3)
    own = kernel.features(X)
    assert_array_equal(kernel.features(np.array([[-0.0, 1.0, 2.0]])), own[:1])
    assert_array_equal(kernel.features(X[::-3].copy()), own[::-3])
    assert_array_equal(kernel.features(scipy.sparse.csr_array(X)), own)
    # Nearly equal is not equal: that row is the mean of several.
    assert abs(kernel.features(X[:1] + 1e-9) - own[:1]).max() > 0.01


def test_the_order_of_the_rows_does_not_matter():
    X = cloud(120)
    order = np.random.default_rng(3).permutation(len(X))
    one, other = (HeatKernel().fit(rows, n_clusters=4) for rows in (X, X[order]))
    assert_array_equal(other.features(X), one.features(X))


def test_copies_of_rows_are_not_seen_by_the_graph():
    X = cloud(80)
    one = HeatKernel().fit(X, n_clusters=4)
    other = HeatKernel().fit(np.repeat(X, np.arange(80) % 4 + 1, axis=0), n_clusters=4)
    assert_array_equal(other.features(X), one.features(X))


def test_rows_of_no_weight_are_new_rows():
    X = cloud(80)
    weight = np.ones(80)
    weight[::5] = 0
    one = HeatKernel().fit(X[weight > 0], n_clusters=4)
    other = HeatKernel().fit(X, weight, n_clusters=4)
    assert_array_equal(other.features(X), one.features(X))


@pytest.mark.parametrize("scale", [1e-200, 1e150])
def test_units_and_origin_do_not_matter(scale):
    X = np.round(cloud(100), 6)
    plain = HeatKernel(6).fit(X, n_clusters=4)
    for moved in (X * scale, X + 1e5):
        kernel = HeatKernel(6).fit(moved, n_clusters=4)
        assert_allclose(kernel(moved, moved), plain(X, X), atol=1e-6)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_sparse_rows_are_dense_ones(metric):
    X = scipy.sparse.random_array((150, 30), density=0.3, rng=np.random.default_rng(0)).tocsr()
    sparse = HeatKernel(8, 2.0, metric).fit(X, n_clusters=3)
    dense = HeatKernel(8, 2.0, metric).fit(X.toarray(), n_clusters=3)
    new = scipy.sparse.random_array((9, 30), density=0.3, rng=np.random.default_rng(1)).tocsr()
    assert_allclose(sparse(X, new), dense(X.toarray(), new.toarray()), atol=1e-9)
    assert_array_equal(sparse.features(X.toarray()), sparse.features(X))


def test_stored_zeros_of_sparse_rows_do_not_count():
    X = scipy.sparse.csr_array(np.round(cloud(50), 1))
    kernel = HeatKernel().fit(X, n_clusters=3)
    places = (np.r_[X.data, 0.0], np.r_[X.indices, 0], np.r_[X.indptr[:-1], X.nnz + 1])
    padded = scipy.sparse.csr_array(places, shape=X.shape)
    assert_array_equal(kernel.features(padded), kernel.features(X))


def test_the_cosine_ignores_the_norms_of_rows():
    X = cloud(100)
    unit = normalize(X)
    kernel = HeatKernel(6, 0.8, metric="cosine").fit(X, n_clusters=50)
    longer = X * np.random.default_rng(0).uniform(1.5, 30, (100, 1))
    # They are new rows, at distance 0 of those that they are multiples of.
    near = NearestNeighbors(n_neighbors=6, metric="cosine").fit(X).kneighbors_graph(longer)
    graph = oracle.neighbor_graph(cdist(unit, unit), 6)
    expected = oracle.kernel_of_new_rows(graph, near.toarray(), 0.8)
    assert_allclose(kernel(longer, X), expected, atol=1e-12)


def test_single_precision_stays():
    X = cloud(100).astype(np.float32)
    kernel = HeatKernel(6).fit(X, n_clusters=3)
    assert kernel.features(X).dtype == np.float32
    accurate = HeatKernel(6).fit(X.astype(np.float64), n_clusters=3)
    assert_allclose(kernel(X, X), accurate(X, X), atol=1e-5)


def rare_words():
    """4000 sparse rows of 300 columns."""
    return scipy.sparse.random_array(
        (4000, 300), density=0.05, format="csr", rng=np.random.default_rng(0)
    )


def answers():
    """4000 rows of six numbers and 60 columns of yes and no."""
    yes = np.random.default_rng(0).integers(0, 2, (4000, 60))
    return np.c_[blobs(4000, k=8, p=6)[0], 4.0 * yes]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "parameters", "k"),
    [
        (lambda: blobs(4000, k=10, p=100)[0], {}, 10),
        (lambda: blobs(6000, k=2, p=3)[0], {}, 2),
        (lambda: blobs(1500, k=60, p=4)[0], {}, 60),
        (lambda: blobs(4000, k=8, p=6)[0], {"n_neighbors": 400}, 8),
        (lambda: blobs(4000, k=8, p=6)[0], {"density": 0}, 8),
        (lambda: blobs(4000, k=8, p=1)[0], {}, 8),
        (rare_words, {}, 8),
        (answers, {}, 8),
    ],
    ids=["wide", "narrow", "many clusters", "many neighbours", "flat", "line", "sparse", "answers"],
)
def test_a_fit_takes_no_more_memory_than_it_says(make, parameters, k):
    X = make()
    kernel = HeatKernel(**parameters)
    said = kernel.fit_bytes(X, k)
    HeatKernel().fit(X[:500], n_clusters=k)  # modules that are loaded late
    tracemalloc.start()
    try:
        kernel.fit(X, n_clusters=k)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert said / 4 < peak < said


def test_complete_graphs_whose_eigenvalues_are_equal():
    n = 20
    S = scipy.sparse.csr_array((np.ones((n, n)) - np.eye(n)) / (n - 1))
    values, vectors = leading_pairs(S, np.arange(n), 16)
    assert_allclose(values, [1, *[-1 / (n - 1)] * 15], atol=1e-12)
    assert_allclose(S @ vectors, vectors * values, atol=1e-12)
    assert_allclose(vectors.T @ vectors, np.eye(16), atol=1e-12)


@pytest.mark.parametrize(
    "parameters", [{"n_neighbors": "atuo"}, {"t": "atuo"}, {"density": "atuo"}]
)
@pytest.mark.parametrize("kernel", [HeatKernel, DistancesKernel])
def test_words_that_are_not_known_are_refused(kernel, parameters):
    (name,) = parameters
    with pytest.raises(ValueError, match=f"{name}='atuo'.*'auto'"):
        kernel(**parameters)


def test_distances_to_the_nearest_row():
    X, new = cloud(60), cloud(20, seed=1) * 3
    kernel = HeatKernel(6).fit(X, n_clusters=3)
    apart = np.linalg.norm(X[:, None] - X, axis=2) + np.diag(np.full(60, np.inf))
    away = np.linalg.norm(new[:, None] - X, axis=2).min(axis=1)
    found, own = kernel.distances_to_nearest(new), kernel.distances_to_nearest(X, training=True)
    # Up to a common factor.
    assert_allclose(found / away, own[0] / apart[0].min(), rtol=1e-9)
    assert_allclose(own / apart.min(axis=1), own[0] / apart[0].min(), rtol=1e-9)


def test_distances_between_few_rows():
    kernel = HeatKernel().fit(np.array([[1.0], [4.0], [4.0]]), n_clusters=2)
    found = kernel.distances_to_nearest(np.array([[1.0], [4.0], [7.0]]), training=True)
    # A copy is the same training row; the next one to it is at 1.
    assert found[0] == found[1] > 0
    assert_allclose(kernel.distances_to_nearest(np.array([[4.0], [7.0]])), [0, found[0]])
    single = HeatKernel().fit(np.ones((3, 1)), n_clusters=2)
    assert_array_equal(single.distances_to_nearest(np.ones((3, 1)), training=True), 0)


def test_the_time_of_anchors_is_the_one_that_is_given():
    X = cloud(300)
    short, long = (fit_anchors(HeatKernel(t=t), X, 3, 30) for t in (0.5, 3.0))
    assert (short.parameters["t"], long.parameters["t"]) == (0.5, 3.0)
    assert len(long.eigenvalues) < len(short.eigenvalues)


def test_distances_to_the_nearest_anchor():
    X = cloud(400)
    kernel = fit_anchors(HeatKernel(), X, 3, 30)
    near = kernel.distances_to_nearest(X, training=True)
    assert_allclose(near, kernel.distances_to_nearest(X))
    assert kernel.distances_to_nearest(X + 50).min() > near.max()
