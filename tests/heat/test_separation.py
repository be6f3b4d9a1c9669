"""How many neighbours of a cluster are in others."""

import dask.array
import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neighbors import KNeighborsTransformer, kneighbors_graph

from data import blobs, cloud
from kernelmeans import KernelKMeans, KernelPowerKMeans, MultiKernelPowerKMeans, PowerKMeans
from kernelmeans.heat import auto_neighbors
from kernelmeans.heat.separation import (
    cluster_shares,
    conductances,
    edges_between,
    warn_if_hardly,
)
from kernelmeans.rows import open_rows


def pairs_of(X, k):
    near = kneighbors_graph(X, auto_neighbors(len(X), k) - 1).toarray() > 0
    return (near | near.T).astype(float)


def by_loops(A, labels, k):
    """cut(S, rest) / min(vol S, vol rest)."""
    found = []
    for cluster in range(k):
        inside = labels == cluster
        cut = sum(A[i, j] for i in np.flatnonzero(inside) for j in np.flatnonzero(~inside))
        least = min(A[inside].sum(), A[~inside].sum())
        found.append(cut / least if least else 1.0)
    return found


@pytest.mark.parametrize("kernel", ["heat", "rbf", "linear"])
@pytest.mark.parametrize("estimator", [KernelPowerKMeans, KernelKMeans])
def test_it_is_the_conductance_of_the_graph_of_neighbours(estimator, kernel):
    X, _ = blobs(150, k=3, spread=2.5)
    model = estimator(3, kernel=kernel, random_state=0).fit(X)
    expected = by_loops(pairs_of(X, 3), model.labels_, 3)
    assert_allclose(model.separation_, expected)
    assert 0 < min(expected) < max(expected) < 1


def test_power_k_means():
    X, _ = blobs(150, k=3, spread=2.5)
    model = PowerKMeans(3, random_state=0).fit(X)
    assert_allclose(model.separation_, by_loops(pairs_of(X, 3), model.labels_, 3))


def test_graphs_and_distances():
    X, _ = blobs(150, k=3, spread=2.5)
    distances = KNeighborsTransformer(n_neighbors=30).fit_transform(X)
    model = KernelPowerKMeans(3, metric="precomputed", random_state=0).fit(distances)
    assert_allclose(model.separation_, by_loops(pairs_of(X, 3), model.labels_, 3))
    graph = kneighbors_graph(X, 9, mode="distance")
    graph.data = np.exp(-graph.data)
    graph = (graph + graph.T).toarray()
    model = KernelPowerKMeans(3, kernel="graph", random_state=0).fit(graph)
    assert_allclose(model.separation_, by_loops(graph, model.labels_, 3))


def test_equal_rows_and_rows_without_weight_do_not_count():
    X, _ = blobs(150, k=3, spread=2.5)
    known = KernelPowerKMeans(3, random_state=0).fit(X)
    other = np.concatenate([X, X[:50], cloud(20)])
    weight = np.repeat([1.0, 0.0], [200, 20])
    for kernel in ("heat", "rbf"):
        model = KernelPowerKMeans(3, kernel=kernel, random_state=0)
        found = model.fit(other, sample_weight=weight)
        assert_allclose(found.separation_, by_loops(pairs_of(X, 3), found.labels_[:150], 3))
    assert len(known.separation_) == 3


def test_it_follows_the_numbers_of_clusters():
    X, _ = blobs(150, k=3, spread=2.5)
    model = KernelPowerKMeans(3, random_state=0).fit(X)
    before = model.separation_.copy()
    model.renumber([2, 0, 1])
    assert_array_equal(model.separation_[[2, 0, 1]], before)
    assert len(set(before)) == 3
    assert len(model.fit(X[:100]).separation_) == 3


def test_clusters_apart_and_a_single_one():
    X, _ = blobs(150, k=3, spread=0.1)
    assert KernelPowerKMeans(3, random_state=0).fit(X).separation_.max() == 0
    assert_array_equal(KernelPowerKMeans(1, random_state=0).fit(X).separation_, [0])


def test_kernel_matrices_have_none():
    X, _ = blobs(150, k=3)
    assert KernelPowerKMeans(3, kernel="precomputed").fit(X @ X.T).separation_ is None
    stack = np.stack([X @ X.T, X @ X.T + 1])
    assert MultiKernelPowerKMeans(3, kernels="precomputed").fit(stack).separation_ is None


def test_several_kernels_have_that_of_the_graphs_of_their_views():
    X, _ = blobs(150, p=4, k=3, spread=2.5)
    kernels = [({"kernel": "heat"}, [0, 1]), ({"kernel": "rbf"}, [0, 1]), ("linear", [1, 2, 3])]
    model = MultiKernelPowerKMeans(3, kernels=kernels, random_state=0).fit(X)
    graphs = [pairs_of(X[:, :2], 3), pairs_of(X[:, 1:], 3)]
    mean = sum(graph / graph.sum() for graph in graphs)
    assert_allclose(model.separation_, by_loops(mean, model.labels_, 3))
    one = MultiKernelPowerKMeans(3, random_state=0).fit(X)
    assert_allclose(one.separation_, by_loops(pairs_of(X, 3), one.labels_, 3))


@pytest.mark.parametrize("kernel", ["heat", "rbf"])
def test_chunks_and_rows_on_disk_have_that_of_rows_in_memory(tmp_path, kernel):
    X, _ = blobs(150, k=3, spread=2.5)
    np.save(tmp_path / "X.npy", X)
    for rows in (
        dask.array.from_array(X, chunks=(50, -1)),
        open_rows(tmp_path / "X.npy"),
    ):
        model = KernelPowerKMeans(
            3, kernel=kernel, approximation="landmarks", memory_budget="1 MiB", random_state=0
        ).fit(rows)
        labels = np.asarray(model.labels_)
        assert_allclose(model.separation_, by_loops(pairs_of(X, 3), labels, 3))


def test_an_empty_cluster_is_none():
    A = scipy.sparse.csr_array(np.ones((4, 4)) - np.eye(4))
    own = cluster_shares(np.arange(4), np.array([0, 0, 2, 2]), 4, 3)
    assert_allclose(conductances(edges_between(A, own)), [2 / 3, 1, 2 / 3])


def test_no_neighbours_are_elsewhere_where_others_have_no_edges():
    # Three vertices without edges become a cluster.
    graph = scipy.sparse.csr_array(np.pad(np.ones((30, 30)) - np.eye(30), (0, 3)))
    with pytest.warns(UserWarning, match="in 4 pieces"):
        model = KernelPowerKMeans(2, kernel="graph", random_state=0).fit(graph)
    assert model.separation_.tolist() == [0, 1]


def test_verbose_says_it(capsys):
    X, _ = blobs(150, k=3, spread=2.5)
    model = KernelPowerKMeans(3, random_state=0, verbose=1).fit(X)
    worst = model.separation_.argmax()
    told = f"at most {model.separation_.max() * 100:.1f} %, of cluster {worst}"
    assert told in capsys.readouterr().out


def test_a_cluster_that_is_hardly_one_is_named():
    X = cloud(200, 400)
    with pytest.warns(UserWarning, match=r"Cluster \d is hardly one: \d\d % of the neighbours"):
        model = KernelPowerKMeans(8, random_state=0).fit(X)
    assert model.separation_.max() > 0.5


def test_the_warning_is_true_of_a_cluster_with_most_rows():
    # Nearly all of the few edges of the others lead to the large cluster.
    between = np.array([[90, 8], [8, 2]])
    separation = conductances(between)
    assert separation.tolist() == [0.8, 0.8]
    assert between[0, 1] / between[0].sum() < 0.1
    said = r"Cluster 0 .*: 80 % of the neighbours of its rows, or of all other rows if those have f"
    with pytest.warns(UserWarning, match=said):
        warn_if_hardly(separation, np.repeat([0, 1], [90, 10]))


@pytest.mark.slow
def test_such_a_cluster_of_chunks_is_named_too():
    X = dask.array.from_array(cloud(400, 400), chunks=(100, -1))
    with pytest.warns(UserWarning, match=r"Cluster \d is hardly one"):
        KernelPowerKMeans(8, random_state=0, approximation="landmarks", n_components=40).fit(X)


def test_clusters_of_a_few_rows_are_not_looked_at():
    KernelPowerKMeans(8, random_state=0).fit(cloud(40, 400))


def test_many_clusters_of_a_few_rows_are_named_together():
    separation, labels = np.r_[[0.9] * 49, 0.1], np.r_[np.arange(147) % 49, [49] * 50]
    with pytest.warns(UserWarning, match=r"Most clusters have fewer than 10 rows, and 90 % of"):
        warn_if_hardly(separation, labels)
    # A table of a few rows, good crumbs, empty clusters, and repeated rows, which have no edges
    # among them.
    warn_if_hardly(np.ones(10), np.arange(90) % 10)
    warn_if_hardly(separation / 2, labels)
    warn_if_hardly(np.ones(3), np.zeros(200, np.intp))
    warn_if_hardly(np.ones(50), np.arange(200) % 50)
    with pytest.warns(UserWarning, match=r"100 % of their"):
        warn_if_hardly(np.ones(200), np.arange(200))
