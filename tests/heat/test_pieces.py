"""Graphs in pieces: fewer, as many and more than clusters."""

import warnings

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from numpy.testing import assert_array_equal
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import contingency_matrix
from sklearn.neighbors import KNeighborsTransformer, NearestNeighbors, kneighbors_graph

import data
from kernelmeans import KernelKMeans, KernelPowerKMeans
from kernelmeans._memory import remembering
from kernelmeans.heat import DistancesKernel, HeatKernel, auto_neighbors
from kernelmeans.heat.neighbors import NearestRows
from kernelmeans.heat.pieces import (
    find_connection,
    find_pieces,
    grouped,
    join,
    links,
    with_rest,
    without_near,
)


def groups(*sizes, distance=100.0, seed=0):
    """Tight groups of rows at growing distances along a line, and the group of each row."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    return np.c_[distance * y**1.5, 0 * y] + rng.standard_normal((len(y), 2)), y


def fitted(X, k, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return KernelPowerKMeans(k, kernel="heat", random_state=0, **parameters).fit(X)


@pytest.mark.parametrize("parameters", [{}, {"n_neighbors": 3}])
def test_six_points_in_two_groups(parameters):
    model = fitted([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]], 2, **parameters)
    assert model.n_neighbors_ == 3
    assert model.n_pieces_ == 2
    assert adjusted_rand_score(model.labels_, [0, 0, 0, 1, 1, 1]) == 1


@pytest.mark.parametrize("sizes", [(40, 40, 40), (100, 30, 12), (60, 60), (900, 15, 10)])
def test_as_many_pieces_as_clusters_are_the_clusters(sizes):
    X, y = groups(*sizes)
    model = fitted(X, len(sizes), n_neighbors=6)
    assert model.n_pieces_ == len(sizes)
    assert adjusted_rand_score(model.labels_, y) == 1


def test_pieces_that_chance_parted_are_no_clusters():
    """The tip of a moon is a piece, and the rest is one too: two pieces for two clusters."""
    X, y = make_moons(120, noise=0.08, random_state=2)
    usual = auto_neighbors(120, 2)
    parted = fitted(X, 2, n_neighbors=usual)
    assert parted.n_pieces_ == 2
    assert adjusted_rand_score(parted.labels_, y) < 0.2
    model = fitted(X, 2)
    assert (model.n_pieces_, model.n_neighbors_) == (1, usual)
    assert adjusted_rand_score(model.labels_, y) > 0.95


def test_links_join_near_pieces_alone():
    corners = np.repeat([[0, 0], [1.15, 0], [50, 50]], 60, axis=0)
    X, n_neighbors = corners + np.random.default_rng(0).random((180, 2)), 4
    nearest = NearestRows(X, "euclidean")
    pieces = find_pieces(nearest.graph(n_neighbors), 9)
    found = links(pieces, nearest, n_neighbors).tocoo()
    far = NearestNeighbors(n_neighbors=n_neighbors - 1).fit(X).kneighbors()[0][:, -1]
    edges = kneighbors_graph(X, 2 * n_neighbors - 1, mode="distance").tocoo()
    across = pieces.labels[edges.row] != pieces.labels[edges.col]
    across &= edges.data <= np.quantile(far, 0.99)
    expected = set(zip(edges.row[across], edges.col[across], strict=True))
    assert set(zip(found.row, found.col, strict=True)) == expected
    assert len(expected) > 0
    assert not any(found.row // 120 != found.col // 120)
    plain, linked = (nearest.graph(n_neighbors, links=one) for one in (None, found.tocsr()))
    more = scipy.sparse.coo_array((np.ones(found.nnz), found.coords), found.shape).toarray()
    np.testing.assert_allclose(linked.toarray(), plain.toarray() + (more + more.T) / 2)


def test_a_link_of_length_zero_is_an_edge():
    nearest = NearestRows(np.array([[0.0], [1.0], [10.0], [11.0]]), "euclidean")
    link = scipy.sparse.csr_array(([0.0], ([1], [2])), (4, 4))
    assert link.nnz == 1
    assert nearest.graph(2, links=link)[1, 2] == nearest.graph(2)[0, 0] / 2 > 0


def crumbs(*gaps):
    """A line that is dense and then sparse, and a dozen rows beside it at each distance."""
    line = np.r_[np.arange(0, 150, 0.1), np.arange(150, 650)]
    heights = 0.001 * data.cloud(len(line), 1)[:, 0]  # equal ones would be a column of few values
    beside = [
        [[place, gap]] + 0.01 * np.random.default_rng(0).standard_normal((12 + number, 2))
        for number, (place, gap) in enumerate(zip((50, 100), gaps, strict=False))
    ]
    return NearestRows(np.r_[np.c_[line, heights], *beside], "euclidean")


@pytest.mark.parametrize(("gap", "kept"), [(1.5, 1), (20.0, 2)])
def test_small_pieces_are_debris_unless_they_are_far(gap, kept):
    nearest = crumbs(gap)
    found = find_pieces(nearest.graph(8), 4)
    assert found.n_kept == 2
    pieces = without_near(found, 4, nearest, 8)
    assert pieces.n_kept == pieces.n_large == kept
    assert_array_equal(pieces.labels, found.labels)
    assert_array_equal(pieces.sizes, found.sizes)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_rows_of_a_near_crumb_belong_to_what_is_beside_it(metric, dtype):
    X = crumbs(1.5).rows.astype(dtype)
    model = fitted(X, 4, n_neighbors=8, density=0, metric=metric)
    assert model.n_pieces_ == 2
    assert_array_equal(model.labels_[2000:], model.labels_[500])
    assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("far", [0, 1e8, 1e10])
def test_a_row_that_is_very_far_hides_no_group(far):
    X, y = groups(3000, 15, distance=30.0)
    X = np.r_[X, [[far, far]]]
    model = fitted(X, 2, n_neighbors=10)
    assert adjusted_rand_score(y, model.labels_[:-1]) == 1


@pytest.mark.slow
def test_fits_that_share_a_graph_may_keep_other_pieces_of_it():
    # 17 rows are a twentieth of the mean of six clusters. Beside them the 12 rows are not far.
    near, far = ([50, height] + 0.01 * data.cloud(size, 2) for size, height in ((17, 3), (12, 6)))
    X = np.r_[crumbs().rows, near, far]
    found = {}
    for k in (5, 6):
        with remembering(found) as found:
            kernel = HeatKernel(8, density=0).fit(X, n_clusters=k)
        assert_array_equal(
            kernel.features(X), HeatKernel(8, density=0).fit(X, n_clusters=k).features(X)
        )


def test_far_pieces_come_before_near_ones():
    nearest = crumbs(20.0, 1.5)
    pieces = without_near(find_pieces(nearest.graph(8), 4), 4, nearest, 8)
    assert_array_equal(pieces.sizes, [2000, 12, 13])
    assert_array_equal(np.bincount(pieces.labels), pieces.sizes)
    assert pieces.n_kept == 2
    source = join(pieces, nearest)
    assert_array_equal(source[2000:2012], np.arange(2000, 2012))
    # The others go to the row of the line that is nearest.
    assert_array_equal(source[2012:], 1000)


def test_fewer_pieces_than_clusters_are_parted_where_heat_is_slow():
    X, y = groups(60, 60)
    X[y == 1, 1] += np.where(np.arange(60) % 2, 5.0, -5.0)
    expected = np.where(y == 0, 0, 1 + (X[:, 1] > 0))
    model = fitted(X, 3, n_neighbors=40)
    assert model.n_pieces_ == 2
    assert adjusted_rand_score(model.labels_, expected) == 1


@pytest.mark.parametrize("form", ["rows", "single precision", "anchors", "graph"])
@pytest.mark.parametrize(
    "n_clusters", [7, *(pytest.param(k, marks=pytest.mark.slow) for k in (9, 12))]
)
def test_no_cluster_holds_rows_of_two_far_pieces(form, n_clusters):
    """Though to leave a large one whole costs more than to join the small ones."""
    X, y = groups(12, 15, 34, 100, 300, 500)
    given = {}
    if form == "single precision":
        X = X.astype(np.float32)
    if form == "anchors":
        given = {"approximation": "landmarks", "n_components": 300}
    if form == "graph":
        X, given = kneighbors_graph(X, 10), {"kernel": "graph"}
        X = X.maximum(X.T)
    model = KernelPowerKMeans(n_clusters, **{"kernel": "heat", "random_state": 0} | given).fit(X)
    pieces_of = contingency_matrix(model.labels_, y) > 0
    assert_array_equal(pieces_of.sum(axis=1), np.ones(n_clusters))


@pytest.mark.parametrize("n_clusters", [3, 4, 5])
def test_pieces_are_put_apart_if_they_are_fewer_than_clusters(n_clusters):
    X, y = groups(30, 60, 90)
    kernel = HeatKernel().fit(X, n_clusters=n_clusters)
    t, n_neighbors = kernel.parameters["t"], kernel.parameters["n_neighbors"]
    plain = HeatKernel(t=t, n_neighbors=n_neighbors).fit(X, n_clusters=n_clusters).values(X, X)
    # 180 rows, and 30 in the smallest piece.
    weight = 6.0 * (n_clusters > 3)
    expected = (plain + weight * (y[:, None] == y)) / (1 + weight)
    np.testing.assert_allclose(kernel.values(X, X), expected, atol=1e-9)


def test_near_pieces_are_in_one_group():
    """A gap of 0.05 parts them, where rows are 0.01 apart; elsewhere gaps of 0.1 are usual."""
    lines = 0.01 * np.arange(40), 0.44 + 0.01 * np.arange(30), 5 + 0.1 * np.arange(20)
    nearest = NearestRows(np.concatenate(lines)[:, None], "euclidean")
    pieces = find_pieces(nearest.graph(5), 4)
    assert_array_equal(pieces.sizes, [40, 30, 20])
    found = grouped(pieces, nearest, 5)
    assert_array_equal(found.group, [0, 0, 1])
    # 90 rows are in two groups, and 20 in the smaller one.
    marks = np.sqrt(4.5) * np.repeat(np.eye(2), [70, 20], axis=0)
    np.testing.assert_allclose(found.marks, marks)


def test_more_pieces_than_clusters_join_what_is_nearest():
    X, y = groups(60, 50, 20, 10)
    with pytest.warns(UserWarning, match=r"in 4 pieces \(of 60, 50, 20, 10 rows\)") as caught:
        model = KernelPowerKMeans(2, kernel="heat", n_neighbors=5, random_state=0).fit(X)
    assert "more than n_clusters=2" in str(caught[0].message)
    assert "Raise n_neighbors to 21, the smallest" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert model.n_pieces_ == 4
    # The groups lie on a line, the two small ones behind the second.
    assert adjusted_rand_score(model.labels_, y > 0) == 1
    assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("seed", range(3))
def test_the_smallest_connection_is_that_of_all_graphs(metric, seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, 25, size=rng.integers(3, 8))
    centres = 5 * rng.standard_normal((len(sizes), 3))
    X = np.repeat(centres, sizes, axis=0) + 0.3 * rng.standard_normal((sizes.sum(), 3))
    nearest = NearestRows(X, metric)
    for n_neighbors, k in ((2, 3), (4, 2), (5, 1)):
        numbers = range(n_neighbors + 1, len(X) + 1)
        large = [find_pieces(nearest.graph(m), k).n_large for m in numbers]
        expected = next(m for m, count in zip(numbers, large, strict=True) if count <= k)
        assert find_connection(nearest.ranks()[0], n_neighbors, k) == expected


def test_a_node_that_stands_for_many_rows_has_to_be_connected():
    # Two pairs and a single node, which six neighbours connect.
    ends = np.array([[0, 2, 3], [1, 3, 4]], np.int32)  # no longer ones in SciPy before 1.17.1
    ranks = scipy.sparse.csr_array(([2.0, 2.0, 6.0], tuple(ends)), (5, 5))
    # A single row would be debris.
    assert find_connection(ranks, 1, 2) == 2
    assert find_connection(ranks, 1, 2, np.array([1.0, 1, 1, 1, 9])) == 6
    assert find_connection(ranks, 6, 2, np.array([1.0, 1, 1, 1, 9])) is None


def test_a_node_is_no_debris_if_it_stands_for_enough():
    # A pair, and two single nodes.
    ends = np.array([[0, 1], [1, 0]], np.int32)
    graph = scipy.sparse.csr_array(([1.0, 1.0], tuple(ends)), (4, 4))
    assert find_pieces(graph, 3).n_large == 1
    # Sample weights have any unit.
    found = find_pieces(graph, 3, np.array([0.05, 0.05, 0.1, 0.001]))
    assert found.n_large == 2
    assert_array_equal(found.labels, [0, 0, 1, 2])


def test_the_number_that_the_message_tells_is_the_remedy():
    X, _ = groups(60, 50, 20, 10)
    with pytest.warns(UserWarning, match="to 21, the smallest"):
        KernelPowerKMeans(2, kernel="heat", n_neighbors=20, random_state=0).fit(X)
    assert fitted(X, 2, n_neighbors=21).n_pieces_ == 2


def test_many_rows_are_told_how_many_do_not_connect_them(monkeypatch):
    monkeypatch.setattr("kernelmeans.heat.neighbors.MOST_EDGES", 140 * 8)
    X, _ = groups(60, 50, 20, 10)
    model = KernelPowerKMeans(2, kernel="heat", n_neighbors=5, random_state=0)
    with pytest.warns(UserWarning, match="Even n_neighbors=8 leaves more pieces than clusters"):
        model.fit(X)
    # Fewer are tried than the graph has.
    monkeypatch.setattr("kernelmeans.heat.neighbors.MOST_EDGES", 140 * 4)
    with pytest.warns(UserWarning, match="Even n_neighbors=5 leaves more pieces than clusters"):
        model.fit(X)


@pytest.mark.parametrize(("n", "density"), [(30, 0), (300, 0), (300, "auto")])
def test_single_rows_far_from_all_others_are_tied_to_the_nearest(n, density):
    X = np.r_[np.linspace(0, 1, n), 2.0 ** np.arange(8, 16)][:, None]
    graph = NearestRows(X, "euclidean").graph(3)
    assert (graph.count_nonzero(axis=1) >= 3).all()
    model = fitted(X, 2, n_neighbors=3, density=density)
    assert model.n_pieces_ == 1
    assert_array_equal(model.labels_[n:], model.labels_[n - 1])
    assert_array_equal(model.predict(X), model.labels_)


def test_debris_joins_what_is_nearest_without_a_word():
    X, y = groups(400, 400, 4, 4, distance=20.0)
    model = fitted(X, 2, n_neighbors=4)
    assert model.n_pieces_ >= 4
    assert adjusted_rand_score(model.labels_, y > 0) == 1


def test_auto_takes_more_neighbours_where_the_graph_is_torn():
    X = np.linspace(0, 1, 40)[:, None] ** 3 * 100
    X = np.vstack([X, X + 1000])
    model = fitted(X, 2)
    assert model.n_pieces_ == 2
    assert adjusted_rand_score(model.labels_, X[:, 0] > 500) == 1


def test_an_outlier_belongs_to_what_is_nearest():
    X, y = groups(50, 50)
    X = np.vstack([X, [[400.0, 0.0]]])
    model = fitted(X, 2, n_neighbors=5)
    assert adjusted_rand_score(model.labels_, np.r_[y, 1]) == 1


@pytest.mark.parametrize("parameters", [{}, {"n_neighbors": 2}])
def test_all_rows_equal(parameters):
    model = KernelPowerKMeans(2, kernel="heat", random_state=0, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one cluster of two, and one different row
        labels = model.fit_predict(np.ones((7, 2)))
    assert len(set(labels)) == 1
    assert model.n_pieces_ == 1
    assert model.inertia_ == pytest.approx(0)
    assert_array_equal(model.predict(np.ones((1, 2))), labels[:1])


def test_one_cluster():
    X, _ = groups(30, 30)
    model = fitted(X, 1)
    assert_array_equal(model.labels_, 0)
    # The kernel is not constant all the same.
    assert model.n_pieces_ == 2
    assert model.inertia_ == pytest.approx(30, rel=1e-3)


@pytest.mark.parametrize(("n_rows", "n_neighbors"), [(5, 7), (9, 7 + 3), (13, 2 * 8)])
def test_no_more_neighbours_than_connect_the_pieces(n_rows, n_neighbors):
    """Rows of larger groups have all neighbours in their own: half as many more, or twice."""
    centers = 30 * np.repeat(np.arange(20), n_rows)
    X = np.c_[centers, 0 * centers] + np.random.default_rng(0).standard_normal((20 * n_rows, 2))
    D = KNeighborsTransformer(n_neighbors=30).fit_transform(X)
    for kernel, rows in (HeatKernel(), X), (DistancesKernel(), D):
        assert kernel.fit(rows, n_clusters=2).parameters["n_neighbors"] == n_neighbors
        assert kernel.n_pieces == 1


def test_one_cluster_has_all_pieces_without_a_word():
    X, _ = groups(30, 30, 30, 30)
    model = KernelPowerKMeans(1, random_state=0).fit(X)
    assert model.n_pieces_ == 4
    assert_array_equal(model.labels_, 0)


@pytest.mark.parametrize("estimator", [KernelPowerKMeans, KernelKMeans])
def test_as_many_clusters_as_rows(estimator):
    X, _ = groups(2, 2, 2)
    model = estimator(6, kernel="heat", random_state=0).fit(X)
    assert len(set(model.labels_)) == 6
    assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("n_neighbors", [8, 10])
def test_fewer_neighbours_than_rows(n_neighbors):
    X, _ = groups(4, 4)
    message = f"n_neighbors={n_neighbors} is not less than the number of distinct rows, 8"
    with pytest.warns(UserWarning, match=message):
        model = KernelPowerKMeans(2, n_neighbors=n_neighbors, random_state=0).fit(X)
    assert model.n_neighbors_ == 8
    assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_few_rows(n):
    model = fitted(np.arange(n)[:, None] ** 2.0, 2)
    assert 2 <= model.n_neighbors_ <= n
    assert len(set(model.labels_)) == 2


def test_a_lost_piece_goes_as_a_whole():
    X, y = groups(30, 30, 10)
    nearest = NearestRows(X, "euclidean")
    pieces = find_pieces(nearest.graph(4), 2)
    source = join(pieces, nearest)
    assert_array_equal(source[y < 2], np.flatnonzero(y < 2))
    (target,) = set(source[y == 2])
    distances = np.linalg.norm(X[y == 2][:, None] - X[y < 2], axis=2)
    assert target == distances.min(axis=0).argmin()


def test_a_piece_that_is_cut_off_gets_its_neighbours_features():
    X, y = groups(30, 30, 10)
    with pytest.warns(UserWarning, match="3 pieces"):
        kernel = HeatKernel(4).fit(X, n_clusters=2)
    assert (kernel(X[y == 2], X[y == 1]) > 0.9).all()
    assert (abs(kernel(X[y == 2], X[y == 0])) < 1e-12).all()


def test_rows_that_are_not_kept_are_a_group_of_their_own():
    graph = scipy.sparse.csr_array(
        scipy.linalg.block_diag(*(np.ones((size, size)) for size in (40, 30, 1, 1)))
    )
    pieces = find_pieces(graph, 2)
    features = np.eye(2)[np.repeat([0, 1, 0], [40, 30, 2])] * pieces.kept[:, None]
    kernel = with_rest(features, pieces) @ with_rest(features, pieces).T
    group = np.repeat([0, 1, 2], [40, 30, 2])
    assert_array_equal(kernel, group[:, None] == group)
